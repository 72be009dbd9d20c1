"""``randomboost predict``: predictions of the rows of a file, some rows at a time."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..reading import DataError, Rows, label_strings, open_rows
from ..runtime.units import format_seconds
from ..runtime.writing import whole_file
from .console import Terminal, first_names
from .outputs import check_writable
from .saved import SavedModel, unused_columns

_PROBABILITY = "probability_"
_PROBABILITIES = 2_000_000  # in memory at a time


def predict(
    terminal: Terminal,
    model_path: str,
    path: str,
    *,
    out: str | None,
    proba: bool,
    copy: Sequence[str],
    format: str | None,
    header: bool,
) -> None:
    """Write the predictions of the rows of a file.

    Parameters
    ----------
    terminal : Terminal
        Where to print messages.
    model_path, path : str
        The model and the data.
    out : str or None
        File for the predictions; None for standard output.
    proba : bool
        Also write probabilities.
    copy : sequence of str
        Columns to copy.
    format, header
        As in `randomboost.reading.open_rows`.
    """
    saved = SavedModel(model_path)
    _check_output(out, model_path, path)
    counts: Counter[str] = Counter()
    began = time.perf_counter()
    with open_rows(path, format=format, header=header) as rows:
        _check_copied(copy, rows)
        columns, extra = saved.matched(rows)
        for remark in unused_columns([name for name in extra if name not in copy]):
            terminal.message(remark)
        names = [*copy, "prediction"]
        if proba:
            names += [f"{_PROBABILITY}{label}" for label in saved.classes]
        with _open_output(out, names, lines=terminal.as_json) as output:
            most = max(1, _PROBABILITIES // len(saved.classes)) if proba else None
            for frame, features in _pieces(saved.chunks(rows, columns, copy), most):
                labels = saved.model.predict(features)
                parts = [label_strings(frame[name]) for name in copy]
                parts.append(labels)
                if proba:
                    parts += list(saved.model.predict_proba(features).T)
                output.write(parts)
                counts.update(str(label) for label in labels)
            if not counts:
                raise DataError(f"{rows.name} has no rows")
    for remark in [*rows.remarks, *saved.remarks()]:
        terminal.message(remark)
    n_rows = counts.total()
    seconds = time.perf_counter() - began
    if out is not None:
        by_class = first_names([f"{label} {counts[str(label)]}" for label in saved.classes], 10)
        terminal.message(f"{out}: {n_rows} rows in {format_seconds(seconds)} ({by_class})")
    if terminal.as_json and out is not None:
        terminal.result(
            {
                "out": out,
                "rows": n_rows,
                "predicted": {str(label): counts[str(label)] for label in saved.classes},
                "columns_left_out": extra,
                "unknown_categories": {k: n for k, n in saved.unknown.items() if n},
                "seconds": seconds,
            }
        )


def _pieces(chunks: Iterator[tuple[Any, Any]], most: int | None) -> Iterator[tuple[Any, Any]]:
    """Yield chunks of at most so many rows."""
    for frame, features in chunks:
        step = most or len(frame)
        for first in range(0, len(frame), step):
            rows = slice(first, first + step)
            yield frame.iloc[rows], features[rows]


def _check_output(out: str | None, *inputs: str) -> None:
    if out is None:
        return
    check_writable(out)
    path = Path(out)
    if any(path.exists() and Path(name).exists() and path.samefile(name) for name in inputs):
        raise DataError(f"the predictions cannot replace {out}, which is an input")


def _check_copied(copy: Sequence[str], rows: Rows) -> None:
    unknown = [name for name in copy if name not in (rows.names or ())]
    if unknown:
        raise DataError(f"--copy {unknown[0]!r}: there is no such column in {rows.name}")


# -- output ------------------------------------------------------------------------------------


class _CsvOutput:
    """Rows of a CSV file.

    Parameters
    ----------
    stream : text file
        Where to write them.
    names : list of str
        Names of the columns.
    """

    def __init__(self, stream: Any, names: list[str]) -> None:
        self._rows = csv.writer(stream, lineterminator="\n")
        self._rows.writerow(names)

    def write(self, columns: list[Any]) -> None:
        """Write rows, given as columns."""
        self._rows.writerows(zip(*(column.tolist() for column in columns), strict=True))


class _JsonOutput:
    """Rows as JSON objects, one per line.

    Parameters
    ----------
    stream : text file
        Where to write them.
    names : list of str
        Names of the columns; those of the probabilities are the keys of one object.
    """

    def __init__(self, stream: Any, names: list[str]) -> None:
        self._stream = stream
        self._names = names

    def write(self, columns: list[Any]) -> None:
        """Write rows, given as columns."""
        for row in zip(*(column.tolist() for column in columns), strict=True):
            entry: dict[str, Any] = {}
            for name, value in zip(self._names, row, strict=True):
                if isinstance(value, float) and name.startswith(_PROBABILITY):
                    group = entry.setdefault("probabilities", {})
                    group[name.removeprefix(_PROBABILITY)] = value
                else:
                    entry[name] = value
            self._stream.write(json.dumps(entry, ensure_ascii=False) + "\n")


class _ParquetOutput:
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
def _open_output(path: str | None, names: list[str], *, lines: bool) -> Iterator[Any]:
    """Open standard output, or a file that appears only when it is complete.

    Parameters
    ----------
    path : str or None
        A file: Parquet if it ends in .parquet or .pq, JSON lines if it ends in .jsonl, else CSV,
        compressed if it ends in .gz; None for standard output.
    names : list of str
        Names of the columns.
    lines : bool
        Whether standard output gets JSON lines instead of CSV.

    Yields
    ------
    _CsvOutput or _JsonOutput or _ParquetOutput
        Takes the rows.
    """
    if path is None:
        yield (_JsonOutput if lines else _CsvOutput)(sys.stdout, names)
        sys.stdout.flush()
        return
    text = _JsonOutput if path.removesuffix(".gz").endswith(".jsonl") else _CsvOutput
    with whole_file(path) as name:
        if path.endswith((".parquet", ".pq")):
            output = _ParquetOutput(str(name), names)
            try:
                yield output
            finally:
                output.close()
        elif path.endswith(".gz"):
            with gzip.open(name, "wb") as packed, io.TextIOWrapper(packed, "utf-8") as stream:
                yield text(stream, names)
        else:
            with open(name, "w", encoding="utf-8", newline="") as stream:
                yield text(stream, names)
