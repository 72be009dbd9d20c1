"""Tables that stay in a Parquet file, of which a column or some rows are read at a time."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from . import delimited
from .errors import DataError
from .rows import open_rows, parquet_file, to_pandas
from .sources import STDIN, Source, open_source

_SAMPLE = "sklearn:"


class TableSize(NamedTuple):
    """How large a table is.

    Parameters
    ----------
    n_rows, n_columns : int
        Numbers of rows and columns; the rows of a CSV file are estimated from its beginning.
    n_bytes : int
        Bytes of its cells.
    """

    n_rows: int
    n_columns: int
    n_bytes: int


def table_size(path: str, *, format: str | None = None, header: bool = True) -> TableSize | None:
    """Return how large the table of a file is, without reading it.

    Parameters
    ----------
    path : str
        The file.
    format : str or None
        Its format; None to detect it.
    header : bool
        Whether the first row of a CSV file has the names.

    Returns
    -------
    TableSize or None
        The size; None where it is not known: standard input, compressed files, formats that
        are only read as a whole.
    """
    if path == STDIN or path.startswith(_SAMPLE):
        return None
    with open_source(path, format) as source:
        if source.format == "parquet":
            file = parquet_file(source, path)
            meta = file.metadata
            groups = (meta.row_group(place) for place in range(meta.num_row_groups))
            n_bytes = max(
                sum(group.total_byte_size for group in groups), 8 * meta.num_rows * meta.num_columns
            )
            return TableSize(meta.num_rows, len(file.schema_arrow.names), n_bytes)
        if source.format != "csv" or source.compressed:
            return None
        n_bytes = Path(path).stat().st_size
        n_columns = len(delimited.find_dialect(source, header=header).names)
        lines = source.beginning.count(b"\n") + source.beginning.count(b"\r") or 1
        return TableSize(round(n_bytes * lines / len(source.beginning)), n_columns, n_bytes)


class StoredTable:
    """A table in a Parquet file.

    Parameters
    ----------
    path : Path
        The file; no two of its columns have the same name.
    name : str
        Path or name of the source, for messages.
    columns : list of str
        Names of the columns.
    remarks : list of str
        Remarks on how the table was read.
    """

    def __init__(self, path: Path, name: str, columns: list[str], remarks: list[str]) -> None:
        self._path, self.name, self.columns, self.remarks = path, name, columns, remarks

    def drop(self, columns: str) -> StoredTable:
        """Return the table without a column."""
        left = [name for name in self.columns if name != columns]
        return StoredTable(self._path, self.name, left, self.remarks)

    def __getitem__(self, name: str) -> Any:
        """Return a column, as it would be in the table as a whole."""
        with open_source(str(self._path), "parquet") as source:
            table = parquet_file(source, str(self._path)).read(columns=[name])
            return to_pandas(table, self.name)[name]

    def parts(self, names: Collection[str]) -> Iterator[Any]:
        """Yield some rows at a time.

        Parameters
        ----------
        names : collection of str
            The columns to read.

        Yields
        ------
        DataFrame
            The rows.
        """
        with open_rows(str(self._path), format="parquet") as rows:
            n_read = 0
            for frame in rows.chunks(set(names)):
                frame.index += n_read
                n_read += len(frame)
                yield frame


def open_stored(
    path: str, folder: str, *, format: str | None = None, header: bool = True
) -> StoredTable:
    """Open a table whose columns are read one at a time.

    Parameters
    ----------
    path : str
        The file, or ``-`` for standard input.
    folder : str
        Folder for a copy of a CSV file as Parquet.
    format : str or None
        Format of the file; None to detect it.
    header : bool
        Whether the first row of a CSV file has the names.

    Returns
    -------
    StoredTable
        The table.
    """
    if path.startswith(_SAMPLE):
        raise DataError(f"{path} is in memory: leave out --out-of-core")
    with open_source(path, format) as source:
        if source.format == "csv":
            return _copied(source, Path(folder) / "table.parquet", header)
        if source.format != "parquet" or path == STDIN:
            raise DataError(
                f"{source.name} ({source.format}) is read as a whole: to train out of core, pass a "
                "Parquet or CSV file"
            )
        empty = parquet_file(source, path).schema_arrow.empty_table()
        _, renamed = delimited.unique_names(empty.column_names)
        if renamed:
            raise DataError(
                f"{source.name} has several columns of one name, which can only be told apart in "
                "memory: rename them to train out of core"
            )
        columns = list(to_pandas(empty, source.name).columns)  # without the index
        return StoredTable(Path(path), source.name, columns, [])


def _copied(source: Source, copy: Path, header: bool) -> StoredTable:
    """Write the cells of a CSV file to a Parquet file, some rows at a time."""
    import pyarrow as pa
    from pyarrow import parquet

    dialect, n_rows = delimited.find_dialect(source, header=header), 0
    schema = pa.schema([(name, pa.string()) for name in dialect.names])
    with parquet.ParquetWriter(copy, schema) as writer:
        for batch in delimited.read_rows(source, dialect):
            writer.write_batch(batch)
            n_rows += batch.num_rows
    if not n_rows:
        raise DataError(f"{source.name} has column names but no rows: is it the right file?")
    return StoredTable(copy, source.name, list(dialect.names), list(dialect.remarks))
