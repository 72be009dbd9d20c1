"""Reading tables of any format, at once or some rows at a time."""

from __future__ import annotations

import io
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from typing import Any

from . import delimited
from .errors import DataError
from .sources import STDIN, Source, open_source

LIBSVM_TARGET = "target"
_SAMPLES = "sklearn:"
_SAMPLE_NAMES = ("breast_cancer", "digits", "iris", "wine")
_CELLS = 1_000_000  # cells in memory at a time while a file is streamed
_BUFFER = 1 << 14  # bytes of a column that are read at a time
_LIBSVM_LINES = 20_000
_MOST_CELLS = 400_000_000  # of a LIBSVM file as a dense table


@dataclass
class Table:
    """A table read from a file.

    Parameters
    ----------
    frame : DataFrame
        The rows.
    name : str
        Path or name of the source.
    remarks : list of str
        Remarks on how the table was read.
    """

    frame: Any
    name: str
    remarks: list[str] = field(default_factory=list)


class Rows:
    """A table that is read some rows at a time.

    Parameters
    ----------
    names : collection of str or None
        Names of its columns; None if any of f0, f1, ... may occur (LIBSVM).
    name : str
        Path or name of the source.
    chunks : callable
        Takes the names of the columns to read, and yields DataFrames.
    remarks : list of str
        Remarks on how the table was read.
    """

    def __init__(
        self, names: Collection[str] | None, name: str, chunks: Any, remarks: Collection[str] = ()
    ) -> None:
        self.names = None if names is None else list(names)
        self.name = name
        self.chunks = chunks
        self.remarks = list(remarks)


def read_table(path: str, *, format: str | None = None, header: bool = True) -> Table:
    """Read a whole table.

    Parameters
    ----------
    path : str
        Path, ``-`` for standard input, or a data set such as ``sklearn:digits``.
    format : str or None
        Format of the file; None to detect it.
    header : bool
        Whether the first row of a CSV file has the names.

    Returns
    -------
    Table
        The table.
    """
    if path.startswith(_SAMPLES):
        return Table(_sample(path.removeprefix(_SAMPLES)), path)
    with open_source(path, format) as source:
        remarks: list[str] = []
        if source.format == "csv":
            dialect = delimited.find_dialect(source, header=header)
            frame, repeated = _without_headers(_csv_table(source, dialect), dialect)
            remarks = dialect.remarks + repeated
        elif source.format == "arff":
            frame = _read_arff(source)
        elif source.format == "libsvm":
            frame = _read_libsvm(source.stream, source.name)
        else:
            table = _read_arrow(source)
            names, renamed = delimited.unique_names(table.column_names)
            remarks = delimited.renaming_remarks(renamed)
            frame = to_pandas(table.rename_columns(names), source.name)
    if not len(frame):
        raise DataError(f"{source.name} has column names but no rows: is it the right file?")
    return Table(frame, source.name, remarks)


@contextmanager
def open_rows(path: str, *, format: str | None = None, header: bool = True) -> Iterator[Rows]:
    """Open a table to be read some rows at a time.

    CSV, LIBSVM, Parquet and Feather files are streamed. ARFF files, and Parquet and Feather from
    standard input, are read at once.

    Parameters
    ----------
    path : str
        Path, ``-`` for standard input, or a data set such as ``sklearn:digits``.
    format : str or None
        Format of the file; None to detect it.
    header : bool
        Whether the first row of a CSV file has the names.

    Yields
    ------
    Rows
        The table.
    """
    if path.startswith(_SAMPLES):
        frame = _sample(path.removeprefix(_SAMPLES))
        yield Rows(frame.columns, path, lambda wanted: iter([frame]))
        return
    with open_source(path, format) as source:
        if source.format == "csv":
            yield _csv_rows(source, header)
        elif source.format == "parquet":
            yield _parquet_rows(source, path)
        elif source.format == "feather":
            yield _feather_rows(source, path)
        elif source.format == "libsvm":
            yield Rows(None, source.name, partial(_libsvm_chunks, source))
        else:
            frame = _read_arff(source)
            yield Rows(frame.columns, source.name, lambda wanted: iter([frame]))


# -- CSV, Parquet, Feather ---------------------------------------------------------------------


def _csv_table(source: Source, dialect: delimited.Dialect) -> Any:
    import pyarrow as pa

    schema = pa.schema([(name, pa.string()) for name in dialect.names])
    table = pa.Table.from_batches(delimited.read_rows(source, dialect), schema)
    return to_pandas(table, source.name)


def _without_headers(frame: Any, dialect: delimited.Dialect) -> tuple[Any, list[str]]:
    """Return the table without rows that repeat the header, and the remark on them.

    Files that were appended to each other have such rows.
    """
    if not dialect.header or not len(frame):
        return frame, []
    again = frame[frame.columns[0]].str.strip() == frame.columns[0]
    if again.any():
        some = frame[again].apply(lambda cells: cells.str.strip().fillna(cells.name))
        again[again] = (some == list(frame.columns)).all(axis=1)  # columns may have no name
    if not again.any():
        return frame, []
    rows = f"{again.sum()} rows repeat" if again.sum() > 1 else "1 row repeats"
    return frame[~again].reset_index(drop=True), [f"{rows} the header: left out"]


def _csv_rows(source: Source, header: bool) -> Rows:
    dialect = delimited.find_dialect(source, header=header)

    def chunks(wanted: Collection[str]) -> Iterator[Any]:
        # rows are counted even if no column is wanted
        only = [name for name in dialect.names if name in wanted] or dialect.names[:1]
        for batch in delimited.read_rows(source, dialect, only=only):
            yield to_pandas(batch, source.name)

    return Rows(dialect.names, source.name, chunks, dialect.remarks)


def _read_arrow(source: Source) -> Any:
    import pyarrow as pa
    from pyarrow import feather, parquet

    try:
        if source.format == "parquet":
            return parquet.ParquetFile(source.seekable()).read()
        return feather.read_table(source.seekable())
    except (pa.ArrowException, OSError) as error:
        raise _damaged(source, error) from error


def _damaged(source: Source, error: Exception) -> DataError:
    return DataError(f"cannot read {source.name} as {source.format}: {str(error).splitlines()[0]}")


def parquet_file(source: Source, path: str) -> Any:
    """Return a Parquet file that reads little more at a time than it is asked for.

    Parameters
    ----------
    source : Source
        The open source.
    path : str
        Path or ``-``.

    Returns
    -------
    pyarrow.parquet.ParquetFile
        The file.
    """
    import pyarrow as pa
    from pyarrow import parquet

    try:
        if path == STDIN:
            return parquet.ParquetFile(source.seekable())
        return parquet.ParquetFile(path, buffer_size=_BUFFER, pre_buffer=False)
    except (pa.ArrowException, OSError) as error:
        raise _damaged(source, error) from error


def _parquet_rows(source: Source, path: str) -> Rows:
    import pyarrow as pa

    file = parquet_file(source, path)
    names, renamed = delimited.unique_names(file.schema_arrow.names)

    def chunks(wanted: Collection[str]) -> Iterator[Any]:
        chosen = [name for name in names if name in wanted]
        only = None if renamed else chosen  # columns of one name cannot be told apart
        rows = max(1, _CELLS // max(1, len(names if renamed else chosen)))
        try:
            for batch in file.iter_batches(rows, columns=only):
                table = pa.Table.from_batches([batch])
                yield to_pandas(
                    table.rename_columns(names).select(chosen) if renamed else table, source.name
                )
        except (pa.ArrowException, OSError) as error:
            raise _damaged(source, error) from error

    return Rows(names, source.name, chunks, delimited.renaming_remarks(renamed))


def _feather_rows(source: Source, path: str) -> Rows:
    import pyarrow as pa
    from pyarrow import feather

    try:
        table = feather.read_table(
            source.seekable() if path == STDIN else path, memory_map=path != STDIN
        )
    except (pa.ArrowException, OSError) as error:
        raise _damaged(source, error) from error
    names, renamed = delimited.unique_names(table.column_names)
    table = table.rename_columns(names)

    def chunks(wanted: Collection[str]) -> Iterator[Any]:
        chosen = [name for name in names if name in wanted]
        rows = max(1, _CELLS // max(1, len(chosen)))
        for start in range(0, table.num_rows, rows):
            yield to_pandas(table.select(chosen).slice(start, rows), source.name)

    return Rows(names, source.name, chunks, delimited.renaming_remarks(renamed))


def to_pandas(table: Any, name: str) -> Any:
    """Return a pandas table; times of day become text.

    Parameters
    ----------
    table : pyarrow.Table or pyarrow.RecordBatch
        The table.
    name : str
        Path or name of the source, for messages.

    Returns
    -------
    DataFrame
        The table, with rows numbered from 0.
    """
    import pyarrow as pa

    if isinstance(table, pa.RecordBatch):
        table = pa.Table.from_batches([table])
    for place, column in enumerate(table.schema):
        if pa.types.is_binary(column.type):
            raise DataError(
                f"column {column.name!r} of {name} is not UTF-8 text: convert the file, for "
                "example with iconv"
            )
        if pa.types.is_time(column.type):
            text = table.column(place).cast(pa.string())
            table = table.set_column(place, column.name, text)
    frame = table.to_pandas(date_as_object=False)
    frame.columns = [str(column) for column in frame.columns]
    return frame.reset_index(drop=True)


# -- ARFF, LIBSVM, scikit-learn ----------------------------------------------------------------


def _read_arff(source: Source) -> Any:
    import pandas as pd
    from scipy.io import arff

    text = io.TextIOWrapper(source.stream, encoding="utf-8", errors="replace")
    try:
        data, meta = arff.loadarff(text)
    except (ValueError, NotImplementedError, StopIteration, IndexError) as error:
        reason = str(error) or "unexpected end of file"
        raise DataError(
            f"cannot read {source.name} as ARFF: {reason}; only dense files with "
            "numeric, nominal and date attributes are supported"
        ) from error
    frame = pd.DataFrame({name: data[name] for name in meta.names()})
    for name, kind in zip(meta.names(), meta.types(), strict=True):
        if kind == "nominal":
            strings = frame[name].map(lambda string: None if string == b"?" else string.decode())
            frame[name] = pd.Categorical(strings)
    return frame


def _load_libsvm(stream: Any, name: str) -> tuple[Any, Any]:
    from sklearn.datasets import load_svmlight_file

    try:
        return load_svmlight_file(stream, zero_based=True)
    except (ValueError, OverflowError) as error:
        raise DataError(
            f"cannot read {name} as LIBSVM: {error}; a row has the form "
            "'<class> <number>:<value> ...'"
        ) from error


def _read_libsvm(stream: Any, name: str) -> Any:
    """Return a table with the target and the columns f1, f2, ..., numbered as in the file."""
    import numpy as np
    import pandas as pd

    X, y = _load_libsvm(stream, name)
    if X.shape[0] * X.shape[1] > _MOST_CELLS:
        raise DataError(
            f"{name} has {X.shape[0]} rows of {X.shape[1]} features, too many for a dense table: "
            "use the Python classes, which take sparse matrices"
        )
    frame = pd.DataFrame(X.toarray(), columns=[f"f{number}" for number in range(X.shape[1])])
    if "f0" in frame and not frame["f0"].any():  # numbers start at 1
        frame = frame.drop(columns="f0")
    y = y.astype(np.int64) if np.array_equal(y, np.round(y)) else y
    return pd.concat([frame, pd.Series(y, name=LIBSVM_TARGET)], axis=1)


def _libsvm_chunks(source: Source, wanted: Collection[str]) -> Iterator[Any]:
    lines = (line for line in source.stream if line.split(b"#")[0].strip())
    for first in lines:
        part = b"".join(chain([first], islice(lines, _LIBSVM_LINES - 1)))
        frame = _read_libsvm(io.BytesIO(part), source.name)
        yield frame.reindex(
            columns=sorted(wanted), fill_value=0.0
        )  # values that are not given are 0


def _sample(name: str) -> Any:
    from sklearn import datasets

    if name not in _SAMPLE_NAMES:
        raise DataError(
            f"there is no data set {name!r}: use one of "
            + ", ".join(_SAMPLES + known for known in _SAMPLE_NAMES)
        )
    data = getattr(datasets, f"load_{name}")(as_frame=True)
    frame = data.frame.copy()
    if name != "digits":
        frame["target"] = data.target_names[data.target.to_numpy()].astype(object)
    return frame
