"""Encoding of categories as numbers that trees can split, without telling them the classes.

The classes get scores along the axes of a correspondence analysis (`class_axes`), and a level
becomes the mean scores of its samples: levels with similar classes are neighbours. With few samples
a level, these means would give away the class of every single one of them. So where a column has
many levels, training samples get the means of the *other* folds, as new samples do, and an axis is
used only where these means predict the scores of the samples: a column may become several numbers,
or none. Equal samples are in the same fold.

All of this is learned from the weights of the samples by level, class and fold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import orthogonal_procrustes

from ..runtime.exact_sums import as_whole, finest_unit, group_sums
from ..runtime.parallel import OneBlasThread
from .class_axes import PRIOR, class_scores
from .encoding import Codebook, Reading, TableEncoding, put_together
from .merging import row_hashes
from .row_choice import draw

_FOLDS = 5
_FEW_LEVELS = 16  # up to which all samples of a level give its numbers, also for themselves
_MANY_SAMPLES = 100  # samples a level from which on they do so for axes that are useful
_AXES, _AXES_OF_FEW = 8, 3
_LEVELS_AN_AXIS = 4  # of a column with few levels: more axes would be noise beside the first ones
_SURE = 4.5  # about three standard errors, since every pair of samples counts twice
_COPIES = 4.0  # of a row on average, from which on rows are no single observations
_MIXED = 0.25  # copies of another class for a row, from which on the same holds


class Rows(NamedTuple):
    """What is known of the training samples as a whole.

    Parameters
    ----------
    n_rows, n_distinct : int
        Number of samples, and of those that differ in their features.
    peak, total : float
        Largest weight, and the sum of all weights.
    whole : bool
        Whether all weights are whole numbers.
    """

    n_rows: int
    n_distinct: int
    peak: float
    total: float
    whole: bool

    @classmethod
    def of(cls, hashes: NDArray[np.uint64], weight: NDArray) -> Rows:
        """Return what is known of samples with these hashes and weights."""
        whole = bool(np.array_equal(weight, np.round(weight)))
        peak = float(weight.max(initial=0.0))
        return cls(len(weight), len(np.unique(hashes)), peak, float(weight.sum()), whole)

    @classmethod
    def joined(cls, parts: Sequence[Rows]) -> Rows:
        """Return what is known of all parts; samples of two parts differ."""
        n_rows, n_distinct, peaks, totals, whole = zip(*parts, strict=True)
        return cls(sum(n_rows), sum(n_distinct), max(peaks), float(sum(totals)), all(whole))

    @property
    def in_folds(self) -> bool:
        """Whether there are folds: not where few rows are repeated often, with other classes.

        Copies with the same class are weights: the row is still a single observation.
        """
        copies = self.total if self.whole else self.n_rows
        mixed = self.n_rows - self.n_distinct >= _MIXED * self.n_distinct
        return copies < _COPIES * self.n_distinct or not mixed

    @property
    def unit(self) -> float:
        """The unit of the weights in cells."""
        return finest_unit(self.peak, self.n_rows)


class Cells(NamedTuple):
    """Samples of a column by level, class and fold.

    Parameters
    ----------
    places : ndarray of int64 of shape (n_cells,)
        Numbers of the cells that have samples, rising.
    sums : ndarray of int64 of shape (3, n_cells)
        Number of samples, and the sums of their weights and squared weights, in units.
    n_missing : int
        Number of samples without a level.
    """

    places: NDArray[np.int64]
    sums: NDArray[np.int64]
    n_missing: int

    @classmethod
    def of(
        cls,
        numbers: NDArray,
        labels: NDArray[np.int64],
        weight: NDArray,
        folds: NDArray[np.int64],
        n_classes: int,
        rows: Rows,
    ) -> Cells:
        """Return the cells of samples with the levels `numbers`."""
        known = np.flatnonzero(~np.isnan(numbers))
        places = (numbers[known].astype(np.int64) * n_classes + labels[known]) * _FOLDS
        places, groups = np.unique(places + folds[known], return_inverse=True)
        amounts = [
            np.ones(len(known), dtype=np.int64),
            as_whole(weight[known], rows.unit),
            as_whole((weight[known] / rows.peak) ** 2, finest_unit(1.0, rows.n_rows)),
        ]
        sums = np.array([group_sums(each, groups, len(places)) for each in amounts])
        return cls(places, sums.reshape(3, -1), len(numbers) - len(known))

    @classmethod
    def joined(cls, parts: Sequence[Cells]) -> Cells:
        """Return the cells of all parts."""
        places, groups = np.unique(
            np.concatenate([each.places for each in parts]), return_inverse=True
        )
        every = np.concatenate([each.sums for each in parts], axis=1)
        sums = np.array([group_sums(each, groups, len(places)) for each in every])
        return cls(places, sums.reshape(3, -1), sum(each.n_missing for each in parts))


class Column(NamedTuple):
    """What is learned of a column.

    Parameters
    ----------
    kept : ndarray of bool of shape (n_levels,)
        The levels that have numbers.
    values : ndarray of shape (n_levels, n_parts)
        The numbers of new samples.
    by_fold : ndarray of shape (n_folds, n_levels, n_parts) or None
        Those of training samples, where they differ; NaN for none.
    """

    kept: NDArray[np.bool_]
    values: NDArray
    by_fold: NDArray | None

    def encode(self, numbers: NDArray, folds: NDArray[np.int64]) -> NDArray:
        """Return the numbers of training samples."""
        out = np.full((len(numbers), self.values.shape[1]), np.nan)
        known = np.flatnonzero(~np.isnan(numbers))
        levels = numbers[known].astype(np.int64)
        if self.by_fold is None:
            out[known] = self.values[levels]
        else:
            out[known] = self.by_fold[folds[known], levels]
        return out


def learn_encoding(
    data: Reading,
    labels: NDArray[np.int64],
    weight: NDArray,
    hashes: NDArray[np.uint64] | None = None,
) -> tuple[TableEncoding, NDArray]:
    """Learn the encoding of training data, and encode it.

    Parameters
    ----------
    data : Reading
        Training data.
    labels : ndarray of int64 of shape (n_samples,)
        Class numbers.
    weight : ndarray of shape (n_samples,)
        Weights of the samples: one of weight 2 counts as two.
    hashes : ndarray of uint64 of shape (n_samples,) or None
        Hashes of the rows; None to make them.

    Returns
    -------
    encoding : TableEncoding
        How new data is encoded.
    encoded : ndarray of shape (n_samples, n_encoded)
        The training data, which is not what `TableEncoding.apply` gives: columns with many levels
        are encoded without the sample itself.
    """
    values = data.values
    hashes = row_hashes(values) if hashes is None else hashes
    rows, folds, n_classes = Rows.of(hashes, weight), find_folds(hashes), int(labels.max()) + 1

    def count(column: int) -> Cells:
        return Cells.of(values[:, column], labels, weight, folds, n_classes, rows)

    columns = learn_columns(data, rows, n_classes, count)
    parts = {place: each.encode(values[:, place], folds) for place, each in columns.items()}
    return make_encoding(data, columns), put_together(values, parts)


def learn_columns(
    data: Reading, rows: Rows, n_classes: int, count: Callable[[int], Cells]
) -> dict[int, Column]:
    """Learn all columns of categories.

    Parameters
    ----------
    data : Reading
        Which columns have categories, and their levels.
    rows : Rows
        What is known of the samples.
    n_classes : int
        Number of classes.
    count : callable
        Returns the cells of a column.

    Returns
    -------
    dict of int to Column
        What is learned, by the position of the column.
    """
    cells = {column: count(column) for column in data.categories}

    def learn(folded: bool) -> dict[int, Column]:
        return {
            column: _learn_column(cells[column], len(levels), n_classes, rows, folded)
            for column, (_, levels) in data.categories.items()
        }

    def has_features(columns: dict[int, Column]) -> bool:
        n_numbers = data.values.shape[1] - len(columns)
        return n_numbers > 0 or any(column.values.shape[1] for column in columns.values())

    columns = learn(rows.in_folds)
    if not has_features(columns):
        columns = learn(False)  # numbers that are not sure are better than none
    if not has_features(columns):  # every column has one level: a model needs some feature
        first = next(iter(columns))
        columns[first] = _missing_or_not(True, len(data.categories[first][1]))
    return columns


def make_encoding(data: Reading, columns: dict[int, Column]) -> TableEncoding:
    """Return how new data is encoded.

    Parameters
    ----------
    data : Reading
        Which columns have categories, and their levels.
    columns : dict of int to Column
        What was learned of them.

    Returns
    -------
    TableEncoding
        The encoding.
    """
    codebooks = {
        column: Codebook(name, levels, np.arange(float(len(levels)))[:, None])
        for column, (name, levels) in data.orders.items()
    }
    for column, (name, levels) in data.categories.items():
        kept = np.flatnonzero(columns[column].kept)
        known = [levels[level] for level in kept]
        codebooks[column] = Codebook(name, known, columns[column].values[kept])
    return TableEncoding(dict(sorted(codebooks.items())), data.values.shape[1])


def find_folds(hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the fold of every row by its content.

    Parameters
    ----------
    hashes : ndarray of uint64
        Hashes of the rows.

    Returns
    -------
    ndarray of int64
        Numbers of folds.
    """
    return (draw(hashes, 0) % np.uint64(_FOLDS)).astype(np.int64)


class _Counted(NamedTuple):
    """Cells, taken apart; `squares` are sums of squared weights."""

    levels: NDArray[np.int64]
    labels: NDArray[np.int64]
    folds: NDArray[np.int64]
    weight: NDArray
    squares: NDArray


def _learn_column(cells: Cells, n_levels: int, n_classes: int, rows: Rows, folded: bool) -> Column:
    """Return the numbers of the levels of a column, and those of its samples."""
    groups, folds = np.divmod(cells.places, _FOLDS)
    levels, labels = np.divmod(groups, n_classes)
    weight = cells.sums[1] * rows.unit
    squares = cells.sums[2] * (finest_unit(1.0, rows.n_rows) * rows.peak**2)
    counted = _Counted(levels, labels, folds, weight, squares)
    folded = folded and n_levels > _FEW_LEVELS
    sure = not folded or _tells_classes(counted)
    if n_levels < 2 or not sure:
        return _missing_or_not(cells.n_missing > 0, n_levels)
    n_axes = _AXES if folded else min(_AXES_OF_FEW, -(-n_levels // _LEVELS_AN_AXIS))
    scores = class_scores(levels, labels, weight, n_axes)
    values = _means(levels, scores[labels], weight, n_levels)
    if not folded:
        kept = np.bincount(levels, minlength=n_levels) > 0
        return Column(kept, values, None)
    by_fold, useful = _cross_fit(counted, scores, n_levels)
    if not useful.any():
        return _missing_or_not(cells.n_missing > 0, n_levels)
    seen = ~np.isnan(by_fold[:, :, 0])
    if n_levels * _MANY_SAMPLES <= cells.sums[0].sum():
        by_fold = np.where(seen[:, :, None], values, np.nan)
    kept = np.bincount(levels[seen[folds, levels]], minlength=n_levels) > 0
    return Column(kept, values[:, useful], by_fold[:, :, useful])


def _missing_or_not(missing: bool, n_levels: int) -> Column:
    """Return a column of which only the gaps are told, if it has some: else one without numbers."""
    return Column(np.full(n_levels, missing), np.zeros((n_levels, int(missing))), None)


def _means(levels: NDArray[np.int64], scores: NDArray, weight: NDArray, n: int) -> NDArray:
    """Return the mean scores of every level, drawn towards 0."""
    counts = np.bincount(levels, weight, n)
    totals = np.empty((n, scores.shape[1]))
    for axis, each in enumerate(scores.T):
        totals[:, axis] = np.bincount(levels, weight * each, n)
    return totals / (counts + PRIOR)[:, None]


def _cross_fit(
    cells: _Counted, scores: NDArray, n_levels: int
) -> tuple[NDArray, NDArray[np.bool_]]:
    """Return what the other folds say of every fold's levels, and which axes are useful.

    The axes are those of the other folds too, rotated to fit `scores`. An axis is useful where
    the means of a level go with the scores of its samples in the fold that is left out.
    """
    levels, labels, folds, weight, squares = cells
    n_axes = scores.shape[1]
    means, products = np.full((_FOLDS, n_levels, n_axes), np.nan), np.zeros((len(levels), n_axes))
    for fold in range(_FOLDS):
        inside = folds == fold
        if inside.all() or not inside.any():
            continue
        there = levels[~inside], labels[~inside], weight[~inside]
        axes = _rotated(class_scores(*there, n_axes), scores, np.bincount(labels, weight))
        found = _means(there[0], axes[there[1]], there[2], n_levels)
        seen = np.unique(there[0])
        means[fold, seen] = found[seen]
        products[inside] = found[levels[inside]] * axes[labels[inside]]
    sums = (weight[:, None] * products).sum(axis=0)  # BLAS would sum as its threads are
    useful = sums > _SURE * np.sqrt((squares[:, None] * products**2).sum(axis=0))
    return means, useful


def _tells_classes(cells: _Counted) -> bool:
    """Return whether samples of a level are of the same class more often than others are.

    It looks at pairs of samples in different folds, and knows no axes, which chance might turn
    to the classes of the samples where there are many classes.
    """
    levels, labels, folds, weight, squares = cells
    by_class = np.bincount(labels, weight)
    share, metric = by_class / by_class.sum(), 1.0 / (by_class + PRIOR)
    expected = (share * metric)[labels]
    every = _sum_of_others(levels, folds, weight)
    same = _sum_of_others(levels * len(by_class) + labels, folds, weight)
    surplus = same * metric[labels] - every * expected + every * (share**2 * metric).sum()
    surplus -= _sum_of_others(levels, folds, weight * expected)
    surplus /= np.bincount(levels, weight)[levels] + PRIOR
    total = (weight * surplus).sum()
    return bool(total > _SURE * np.sqrt((squares * surplus**2).sum()))


def _sum_of_others(
    groups: NDArray[np.int64], folds: NDArray[np.int64], amounts: NDArray
) -> NDArray:
    """Return the sum over the samples of the same group in other folds, for every sample."""
    groups = np.unique(groups, return_inverse=True)[1]
    size = (groups.max() + 1, _FOLDS)
    sums = np.bincount(groups * _FOLDS + folds, amounts, size[0] * size[1]).reshape(size)
    return (sums @ (1.0 - np.eye(_FOLDS)))[groups, folds]


def _rotated(axes: NDArray, scores: NDArray, class_weight: NDArray) -> NDArray:
    """Return axes of a part of the data, turned to those of all data."""
    whole = np.zeros_like(scores)
    whole[: len(axes), : axes.shape[1]] = axes
    by_weight = np.sqrt(class_weight)[:, None]
    with OneBlasThread():
        return whole @ orthogonal_procrustes(by_weight * whole, by_weight * scores)[0]
