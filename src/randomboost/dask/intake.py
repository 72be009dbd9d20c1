"""From Dask collections to the pieces of shards: tasks that run once for every partition.

A first pass reads partitions as numbers and reports what they hold: labels, levels of categories.
When all are known, a second one divides the rows by their hashes.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from ..preprocessing.encoding import Reading, read_training
from ..preprocessing.labels import distinct_labels
from ..preprocessing.merging import row_hashes
from .storage import FileRows

Levels = dict[int, tuple[Hashable, list[Any]]]


class Part(NamedTuple):
    """A partition as numbers: categories have the numbers of its own levels.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_columns)
        Numbers.
    categories, orders : dict
        Levels by column, see `Reading`.
    labels : ndarray
        Labels.
    weight : ndarray of float64
        Weights.
    """

    values: NDArray
    categories: Levels
    orders: Levels
    labels: NDArray
    weight: NDArray


class PartFacts(NamedTuple):
    """What a partition holds.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    single : bool
        Whether its numbers are in single precision.
    labels : ndarray
        The distinct labels.
    categories, orders : dict
        The levels of rows with a positive weight, by column.
    texts, numbers : list of int
        Columns of categories, and columns that have numbers.
    """

    n_rows: int
    single: bool
    labels: NDArray
    categories: Levels
    orders: Levels
    texts: list[int]
    numbers: list[int]


def read_part(X: Any, y: Any, weight: Any, categorical: Any) -> Part:
    """Read a partition.

    Parameters
    ----------
    X, y, weight : array or table
        The partition; `weight` may be None.
    categorical : "from_dtype" or array-like
        Columns to take for categories.

    Returns
    -------
    Part
        The partition as numbers.
    """
    labels = np.asarray(y)
    labels = labels[:, 0] if labels.ndim == 2 and labels.shape[1] == 1 else labels
    n = X.shape[0]
    if labels.ndim != 1 or len(labels) != n:
        raise ValueError(
            f"a partition of X has {n} rows but that of y has shape {labels.shape}: divide both "
            "alike, for example by y.rechunk(X.chunks[0]) or y.repartition(divisions=X.divisions)"
        )
    weights = np.ones(n) if weight is None else np.asarray(weight, dtype=np.float64).reshape(-1)
    if len(weights) != n:
        raise ValueError(
            f"a partition of X has {n} rows but that of sample_weight has {len(weights)}: divide "
            "both alike"
        )
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise ValueError("sample_weight has negative or infinite weights: weights are >= 0")
    if not n:
        return Part(np.empty((0, X.shape[1])), {}, {}, labels, weights)
    reading = read_training(X, categorical)
    if reading is None:
        reading = Reading(X, {}, {})
    checks: dict[str, Any] = {"dtype": [np.float64, np.float32], "order": "C"}
    values = check_array(reading.values, input_name="X", ensure_all_finite="allow-nan", **checks)
    if _has_missing(labels):
        raise ValueError("y has missing labels: leave out samples whose label is missing")
    return Part(values, reading.categories, reading.orders, labels, weights)


def _has_missing(labels: NDArray) -> bool:
    if labels.dtype.kind == "f":
        return bool(np.isnan(labels).any())
    if labels.dtype != object:
        return False
    return any(x is None or type(x).__name__ == "NAType" or x != x for x in labels.tolist())


def part_facts(part: Part, without: list[Any]) -> PartFacts:
    """Report what a partition holds.

    Parameters
    ----------
    part : Part
        The partition.
    without : list
        Labels of classes of weight 0.

    Returns
    -------
    PartFacts
        The report.
    """
    used = part.weight > 0
    if without:
        used &= ~np.isin(part.labels, without)
    reading = Reading(part.values, part.categories, part.orders).with_rows(part.values[used])
    some = range(part.values.shape[1]) if len(part.values) else range(0)
    texts = [*part.categories, *part.orders]
    numbers = [j for j in some if j not in texts and not np.isnan(part.values[:, j]).all()]
    return PartFacts(
        len(part.values),
        part.values.dtype == np.float32,
        distinct_labels(part.labels, "y"),
        reading.categories,
        part.orders,
        texts,
        numbers,
    )


class Tables(NamedTuple):
    """What is known of all partitions together.

    Parameters
    ----------
    classes : ndarray
        Class labels.
    categories, orders : dict
        Levels by column.
    dtype : dtype
        Precision of the numbers.
    n_columns : int
        Number of columns.
    """

    classes: NDArray
    categories: Levels
    orders: Levels
    dtype: np.dtype
    n_columns: int

    @property
    def reading(self) -> Reading:
        """The columns of categories, without rows."""
        return Reading(np.empty((0, self.n_columns)), self.categories, self.orders)


def join_facts(facts: list[PartFacts], names: list[Any]) -> Tables:
    """Put together what partitions hold.

    Parameters
    ----------
    facts : list of PartFacts
        The reports of all partitions.
    names : list
        Names of the columns.

    Returns
    -------
    Tables
        What is known of all.
    """
    facts = [each for each in facts if each.n_rows]
    if not facts:
        raise ValueError("X has no rows: at least two classes are needed to fit")
    texts = {column for each in facts for column in each.texts}
    for each in facts:
        mixed = texts & set(each.numbers)
        if mixed:
            raise ValueError(
                f"column {names[min(mixed)]!r} of X has text or categories in some partitions and "
                "numbers in others: give it one type, for example by astype"
            )
    categories: Levels = {}
    orders: Levels = {}
    for column in sorted(texts):
        name = names[column]
        found = [each.orders[column][1] for each in facts if column in each.orders]
        if found:
            if any(levels != found[0] for levels in found):
                raise ValueError(
                    f"column {name!r} of X has ordered categories that differ between partitions: "
                    "use X.categorize()"
                )
            orders[column] = name, found[0]
        else:
            every = {
                level for each in facts for level in each.categories.get(column, (name, []))[1]
            }
            ordered = sorted(every, key=lambda level: (str(type(level)), str(level)))
            categories[column] = name, ordered
    classes = distinct_labels(np.concatenate([each.labels for each in facts]), "y")
    single = all(each.single for each in facts)
    dtype = np.dtype(np.float32 if single else np.float64)
    return Tables(classes, categories, orders, dtype, len(names))


class Piece(NamedTuple):
    """Rows of a partition that belong to one shard.

    Parameters
    ----------
    values : ndarray or FileRows of shape (n_rows, n_columns)
        Numbers.
    labels : ndarray of int64
        Class numbers.
    weight : ndarray of float64
        Weights.
    hashes : ndarray of uint64
        Hashes of the rows.
    ends : tuple of int
        The ends of the ranges of hashes that the rows are ordered by: one range in memory.
    """

    values: Any
    labels: NDArray[np.int64]
    weight: NDArray
    hashes: NDArray[np.uint64]
    ends: tuple[int, ...]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.labels)

    def range(self, number: int) -> Piece:
        """Return the rows of a range of hashes, in memory."""
        first, last = self.ends[number - 1] if number else 0, self.ends[number]
        rows = slice(first, last)
        in_file = isinstance(self.values, FileRows)
        values = self.values.read(first, last) if in_file else self.values[rows]
        return Piece(
            values, self.labels[rows], self.weight[rows], self.hashes[rows], (last - first,)
        )


class Division(NamedTuple):
    """How partitions are divided.

    Parameters
    ----------
    n_shards : int
        Number of shards.
    n_ranges : int
        Ranges of hashes of a shard, which are merged one after another.
    folder : str or None
        Folder for the rows; None to keep them in memory.
    """

    n_shards: int
    n_ranges: int = 1
    folder: str | None = None


def divide_part(part: Part, tables: Tables, factors: NDArray, division: Division) -> list[Piece]:
    """Divide the rows of a partition by their hashes.

    Parameters
    ----------
    part : Part
        The partition.
    tables : Tables
        What is known of all partitions.
    factors : ndarray of shape (n_classes,)
        Factors of the classes; samples of those that are 0 are left out.
    division : Division
        How to divide them.

    Returns
    -------
    list of Piece
        The rows of every shard.
    """
    labels = np.searchsorted(tables.classes, part.labels) if len(part.labels) else part.labels
    labels = labels.astype(np.int64)
    used = np.flatnonzero((part.weight > 0) & (factors[labels] > 0))
    values = part.values[used].astype(tables.dtype, copy=False)
    for column, (_, levels) in tables.categories.items():
        own = part.categories.get(column)
        if own is not None:
            places = {level: place for place, level in enumerate(levels)}
            numbers = np.array([places.get(level, np.nan) for level in own[1]] or [np.nan])
            known = ~np.isnan(values[:, column])
            values[known, column] = numbers[values[known, column].astype(np.int64)]
    labels, weight, hashes = labels[used], part.weight[used], row_hashes(values)
    n_shards, n_ranges, folder = division
    ranges = shard_of(hashes, n_shards * n_ranges)
    order = np.argsort(ranges, kind="stable")
    ends = np.cumsum(np.bincount(ranges, minlength=n_shards * n_ranges))
    found = []
    for shard in range(n_shards):
        own_ends = ends[shard * n_ranges : (shard + 1) * n_ranges]
        first = int(ends[shard * n_ranges - 1]) if shard else 0
        rows = order[first : own_ends[-1]]
        kept = values[rows] if folder is None else FileRows.of(values[rows], folder)
        parts = tuple((own_ends - first).tolist())
        found.append(Piece(kept, labels[rows], weight[rows], hashes[rows], parts))
    return found


def shard_of(hashes: NDArray[np.uint64], n_shards: int) -> NDArray[np.int64]:
    """Return the shard of every row: shards are ranges of hashes.

    Parameters
    ----------
    hashes : ndarray of uint64
        Hashes of rows.
    n_shards : int
        Number of shards.

    Returns
    -------
    ndarray of int64
        Numbers of shards.
    """
    upper = hashes >> np.uint64(32)
    return ((upper * np.uint64(n_shards)) >> np.uint64(32)).astype(np.int64)
