"""Training data that does not fit in memory: its features in files, some rows at a time."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from ..reading import (
    Column,
    Leak,
    feature_table,
    features_of,
    leak_rows,
    leaks_among,
    open_stored,
    table_size,
)
from ..reading.columns import CATEGORY
from ..runtime.memory import available_memory
from .data import (
    ColumnPlan,
    TrainingTable,
    plan_columns,
    read_training_table,
    row_digests,
)

_PART_CELLS = 1_000_000  # of the rows that a fit reads at a time
_CLASS = "class"
_LABELS = 100_000  # that are hashed together
_SUFFIX = ".large"


def lack_of_memory(path: str, format: str | None, header: bool) -> tuple[float, float] | None:
    """Return the bytes that training on a table takes in memory, if there are fewer.

    Parameters
    ----------
    path : str
        The file.
    format, header
        As in `randomboost.reading.read_table`.

    Returns
    -------
    tuple of float or None
        The bytes that it would take, and those that may be used; None if they suffice, or are
        not known.
    """
    size, free = table_size(path, format=format, header=header), available_memory()
    if size is None or free is None:
        return None
    # the table as it is read and as pandas has it; features, merged and scaled; bins and scores
    needed = 2.0 * size.n_bytes + size.n_rows * (3.0 * 8 * size.n_columns + 400)
    return (needed, 0.9 * free) if needed > 0.9 * free else None


def large_folder(beside: Path) -> TemporaryDirectory[str]:
    """Make a folder for the files of a fit, beside the model; those of killed runs are removed.

    Parameters
    ----------
    beside : Path
        The model file.

    Returns
    -------
    TemporaryDirectory
        The folder.
    """
    for old in beside.parent.glob(f".{beside.name}.*{_SUFFIX}"):
        shutil.rmtree(old, ignore_errors=True)
    return TemporaryDirectory(prefix=f".{beside.name}.", suffix=_SUFFIX, dir=beside.parent)


def read_columns(
    path: str, target: str | None, *, out_of_core: bool | None, **reading: Any
) -> TrainingTable:
    """Read a table for the decisions about its columns.

    Parameters
    ----------
    path : str
        The file.
    target : str or None
        Name or number of the target column.
    out_of_core : bool or None
        Whether to read it in parts; None to do so if it does not fit in memory.
    **reading : object
        Further parameters of `read_training_table`.

    Returns
    -------
    TrainingTable
        The table.
    """
    if out_of_core is None:
        out_of_core = lack_of_memory(path, reading["format"], reading["header"]) is not None
    if not out_of_core:
        return read_training_table(path, target, **reading)
    with TemporaryDirectory(prefix="randomboost-") as folder:
        return read_large_table(path, target, folder, **reading)


class FeatureFiles:
    """Rows of features with their classes, in many small Feather files.

    Parameters
    ----------
    folder : Path
        Folder of the files, which is made.
    columns : list of Column
        The features.
    """

    def __init__(self, folder: Path, columns: list[Column]) -> None:
        import pyarrow as pa

        folder.mkdir()
        self._folder = folder
        self.names = [column.name for column in columns]
        self._categories = [column.name for column in columns if column.kind == CATEGORY]
        kinds = [pa.string() if name in self._categories else pa.float64() for name in self.names]
        fields = [(str(place), kind) for place, kind in enumerate(kinds)]  # names may be odd ones
        self._schema = pa.schema([*fields, (_CLASS, pa.int32())])
        self._rows = max(1, _PART_CELLS // len(self._schema))  # of a file
        self._waiting: list[Any] = []
        self.sizes: list[int] = []  # numbers of rows of the files

    def add(self, X: Any, codes: Any) -> None:
        """Add some rows.

        Parameters
        ----------
        X : DataFrame
            Features.
        codes : ndarray of int32
            Class numbers.
        """
        import pyarrow as pa

        cells = [*(pa.array(X[name], from_pandas=True) for name in self.names), pa.array(codes)]
        kinds = zip(cells, self._schema.types, strict=True)
        table = pa.table([each.cast(kind) for each, kind in kinds], schema=self._schema)
        self._waiting.append(table)
        while sum(map(len, self._waiting)) >= self._rows:
            self._put(self._rows)

    def finish(self) -> None:
        """Write what is left."""
        if n_left := sum(map(len, self._waiting)):
            self._put(n_left)
        self._waiting = []

    def _put(self, n_rows: int) -> None:
        import pyarrow as pa
        from pyarrow import feather

        table = pa.concat_tables(self._waiting)
        path = self._path(len(self.sizes))
        feather.write_feather(table.slice(0, n_rows).combine_chunks(), path, compression="zstd")
        self.sizes.append(n_rows)
        self._waiting = [table.slice(n_rows)] if len(table) > n_rows else []

    def _path(self, part: int) -> str:
        return str(self._folder / f"{part}.feather")

    def features(self, part: int) -> Any:
        """Return the features of a part.

        Parameters
        ----------
        part : int
            Number of the part.

        Returns
        -------
        DataFrame
            Columns of type float64 and category.
        """
        frame = self._read(part, self._schema.names[:-1]).to_pandas()
        frame.columns = self.names
        return frame.astype(dict.fromkeys(self._categories, "category"))

    def codes(self, part: int) -> Any:
        """Return the class numbers of a part.

        Parameters
        ----------
        part : int
            Number of the part.

        Returns
        -------
        ndarray of int32
            The numbers.
        """
        return self._read(part, [_CLASS]).column(0).to_numpy()

    def _read(self, part: int, columns: list[str]) -> Any:
        from pyarrow import feather

        return feather.read_table(
            self._path(part), columns=columns, use_threads=False, memory_map=False
        )


@dataclass
class LargeTable(TrainingTable):
    """Training data in files; X is not there, and y neither.

    Parameters
    ----------
    classes, codes : ndarray
        The classes, and that of every row.
    train, test : FeatureFiles
        The rows to train on, and those that are held out.
    missing : ndarray of int
        Number of missing values of every feature.
    levels : dict of str to set
        The categories of the features that have some.
    hashed : str
        Digest of features and labels.
    """

    classes: Any
    codes: Any
    train: FeatureFiles
    test: FeatureFiles
    missing: Any
    levels: dict[str, set[str]]
    hashed: str

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.codes)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    def gaps(self) -> Any:
        """Return the number of missing values of every feature."""
        return self.missing

    def n_levels(self, name: str) -> int:
        """Return the number of categories of a feature."""
        return len(self.levels[name])

    def digest(self) -> str:
        """Return a digest of features and labels."""
        return self.hashed


def read_large_table(
    path: str,
    target: str | None,
    folder: str,
    choose_held: Callable[[Any], Any] | None = None,
    *,
    format: str | None = None,
    header: bool = True,
    **choices: Any,
) -> LargeTable:
    """Choose the features of a table, and write them to files.

    Columns are chosen one after another, then all are read some rows at a time.

    Parameters
    ----------
    path : str
        The file, or ``-``.
    target : str or None
        Name or number of the target column.
    folder : str
        Where to write files.
    choose_held : callable or None
        Returns the rows to hold out, for the class numbers of all rows.
    format, header
        As in `randomboost.reading.read_table`.
    **choices : object
        Further parameters of `plan_columns`.

    Returns
    -------
    LargeTable
        The data.
    """
    table = open_stored(path, folder, format=format, header=header)
    plan = plan_columns(table, table.name, table.remarks, target, **choices)
    codes = plan.codes.astype(np.int32)
    is_held = np.zeros(len(codes), dtype=bool)
    if choose_held is not None:
        is_held[choose_held(codes)] = True
    columns = features_of(plan.decisions)
    train, test = (FeatureFiles(Path(folder) / each, columns) for each in ("train", "test"))
    facts = _Facts(columns, leak_rows(len(codes)))
    for X, rows in _features(table, plan, columns):
        facts.add(X, rows)
        held = is_held[rows]
        for files, which in ((train, ~held), (test, held)):
            if which.any():
                files.add(X[which], codes[rows][which])
    train.finish()
    test.finish()
    decisions, remarks = plan.finished(facts.leaks(plan.classes[codes[facts.looked_at]]))
    hashed = facts.digest(plan.classes, codes)
    return LargeTable(
        None, None, table.name, plan.target.name, decisions, remarks, plan.classes, codes, train,
        test, facts.missing, facts.levels, hashed,
    )  # fmt: skip


def _features(table: Any, plan: ColumnPlan, columns: list[Column]) -> Iterator[tuple[Any, slice]]:
    """Yield features of some rows, and which of the rows that have a target they are."""
    n_read, n_known = 0, 0
    for frame in table.parts([column.name for column in columns]):
        known = plan.known[n_read : n_read + len(frame)]
        n_read += len(frame)
        X = feature_table(frame if known.all() else frame[known], columns)
        yield X, slice(n_known, n_known + len(X))
        n_known += len(X)


class _Facts:
    """What is found out about features while they are read.

    Parameters
    ----------
    columns : list of Column
        The features.
    looked_at : ndarray of int
        Rows among which columns that predict the target are looked for.
    """

    def __init__(self, columns: list[Column], looked_at: Any) -> None:
        self.looked_at = looked_at
        self.missing = np.zeros(len(columns), dtype=np.int64)
        self.levels: dict[str, set[str]] = {
            column.name: set() for column in columns if column.kind == CATEGORY
        }
        self._hash = hashlib.sha256()
        self._sorted = np.sort(looked_at)
        self._names = [column.name for column in columns]
        # features of these rows
        self._numbers = np.empty((len(looked_at), len(columns) - len(self.levels)))
        self._texts: dict[str, list[Any]] = {name: [] for name in self.levels}

    def add(self, X: Any, rows: slice) -> None:
        """Take note of the features of some rows."""
        self.missing += X.isna().to_numpy().sum(axis=0)
        for name, levels in self.levels.items():
            levels.update(X[name].cat.categories)
        self._hash.update(row_digests(X))
        first, last = np.searchsorted(self._sorted, [rows.start, rows.stop])
        some = X.iloc[self._sorted[first:last] - rows.start]
        for name in self.levels:
            self._texts[name] += some[name].tolist()
        self._numbers[first:last] = some.drop(columns=list(self.levels))

    def leaks(self, y: Any) -> list[Leak]:
        """Return the columns that predict the target by themselves, for labels of some rows."""
        import pandas as pd

        names = [name for name in self._names if name not in self.levels]
        some = pd.DataFrame(self._numbers, columns=names)
        for name, cells in self._texts.items():
            some[name] = pd.Categorical(cells, sorted(self.levels[name]))
        order = np.searchsorted(self._sorted, self.looked_at)
        return leaks_among(some[self._names].iloc[order], y)

    def digest(self, classes: Any, codes: Any) -> str:
        """Return the digest of features and labels; see `TrainingTable.digest`."""
        names, between = [str(label) for label in classes], ""
        for first in range(0, len(codes), _LABELS):
            part = codes[first : first + _LABELS].tolist()
            self._hash.update((between + "\0".join(names[code] for code in part)).encode())
            between = "\0"
        return self._hash.hexdigest()
