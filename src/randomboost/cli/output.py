"""Predictions on the output stream or in a file that appears when it is complete."""

from __future__ import annotations

import csv
import gzip
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..runtime.writing import whole_file


class CsvOutput:
    """Rows of a CSV file.

    Parameters
    ----------
    stream : text file
        Where they go.
    names : list of str
        Names of the columns.
    """

    def __init__(self, stream: Any, names: list[str]) -> None:
        self._rows = csv.writer(stream, lineterminator="\n")
        self._rows.writerow(names)

    def write(self, columns: list[Any]) -> None:
        """Write rows, given as columns."""
        self._rows.writerows(zip(*(column.tolist() for column in columns), strict=True))


class ParquetOutput:
    """Rows of a Parquet file.

    Parameters
    ----------
    path : str
        The file.
    names : list of str
        Names of the columns.
    """

    def __init__(self, path: str, names: list[str]) -> None:
        self._path = path
        self._names = names
        self._writer: Any = None

    def write(self, columns: list[Any]) -> None:
        """Write rows, given as columns."""
        import pyarrow as pa
        from pyarrow import parquet

        table = pa.table(dict(zip(self._names, map(pa.array, columns), strict=True)))
        if self._writer is None:
            self._writer = parquet.ParquetWriter(self._path, table.schema)
        self._writer.write_table(table)

    def close(self) -> None:
        """Finish the file."""
        if self._writer is not None:
            self._writer.close()


@contextmanager
def open_output(path: str | None, names: list[str]) -> Iterator[Any]:
    """Open the output of predictions.

    Parameters
    ----------
    path : str or None
        A file that ends in .csv, .csv.gz, .parquet or anything else (CSV); None for the output
        stream.
    names : list of str
        Names of the columns.

    Yields
    ------
    CsvOutput or ParquetOutput
        Takes the rows.
    """
    if path is None:
        yield CsvOutput(sys.stdout, names)
        sys.stdout.flush()
        return
    with whole_file(path) as name:
        if path.endswith((".parquet", ".pq")):
            output = ParquetOutput(str(name), names)
            try:
                yield output
            finally:
                output.close()
        elif path.endswith(".gz"):
            with gzip.open(name, "wb") as packed, io.TextIOWrapper(packed, "utf-8") as stream:
                yield CsvOutput(stream, names)
        else:
            with open(name, "w", encoding="utf-8", newline="") as stream:
                yield CsvOutput(stream, names)
