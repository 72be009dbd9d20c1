"""Encoding of categories as numbers that trees can split, without telling them the classes.

The classes get scores along the axes of a correspondence analysis (`class_axes`), and a level
becomes the mean scores of its samples: levels with similar classes are neighbours. With few samples
a level, these means would give away the class of every single one of them. So where a column has
many levels, training samples get the means of the *other* folds, as new samples do, and an axis is
used only where these means predict the scores of the samples: a column may become several numbers,
or none. Equal samples are in the same fold.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import orthogonal_procrustes

from ..runtime.parallel import OneBlasThread
from .class_axes import PRIOR, class_scores
from .encoding import Codebook, Reading, TableEncoding, put_together
from .merging import row_keys

_FOLDS = 5
_FEW_LEVELS = 16  # up to which all samples of a level give its numbers, also for themselves
_MANY_SAMPLES = 100  # samples a level from which on they do so for axes that are useful
_AXES, _AXES_OF_FEW = 8, 3
_LEVELS_AN_AXIS = 4  # of a column with few levels: more axes would be noise beside the first ones
_SURE = 4.5  # about three standard errors, since every pair of samples counts twice
_COPIES = 4.0  # of a row on average, from which on rows are no single observations


def learn_encoding(
    data: Reading, labels: NDArray[np.int64], weight: NDArray
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

    Returns
    -------
    encoding : TableEncoding
        How new data is encoded.
    encoded : ndarray of shape (n_samples, n_encoded)
        The training data, which is not what `TableEncoding.apply` gives: columns with many levels
        are encoded without the sample itself.
    """
    values = data.values
    keys = row_keys(values)
    order = np.lexsort((weight, labels, keys))  # sums do not depend on the order of the samples
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    folds = _folds(keys[order], weight)
    columns = _learn_columns(data, order, labels, weight, folds)
    n_features = values.shape[1] + sum(each.training.shape[1] - 1 for each in columns.values())
    if not n_features:  # numbers that are not sure are better than none
        columns = _learn_columns(data, order, labels, weight, None)
    codebooks = {
        column: Codebook(name, levels, np.arange(float(len(levels)))[:, None])
        for column, (name, levels) in data.orders.items()
    }
    for column, (name, levels) in data.categories.items():
        kept = np.flatnonzero(columns[column].kept)
        known = [levels[level] for level in kept]
        codebooks[column] = Codebook(name, known, columns[column].values[kept])
    encoding = TableEncoding(dict(sorted(codebooks.items())), values.shape[1])
    parts = {column: each.training[back] for column, each in columns.items()}
    return encoding, put_together(values, parts)


def _learn_columns(
    data: Reading,
    order: NDArray[np.int64],
    labels: NDArray[np.int64],
    weight: NDArray,
    folds: NDArray[np.int64] | None,
) -> dict[int, _Column]:
    """Return what is learned of all columns of categories, from samples in a given order."""
    return {
        column: _learn_column(
            data.values[order, column], len(levels), labels[order], weight[order], folds
        )
        for column, (_, levels) in data.categories.items()
    }


def _folds(keys: NDArray, weight: NDArray) -> NDArray[np.int64] | None:
    """Return the fold of every row by its content, None where few rows are repeated often."""
    distinct, inverse = np.unique(keys, return_inverse=True)
    copies = weight.sum() if np.array_equal(weight, np.round(weight)) else len(keys)
    if copies >= _COPIES * len(distinct):
        return None
    bits = distinct.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)  # the golden ratio: hashing
    return ((bits >> np.uint64(33)) % _FOLDS).astype(np.int64)[inverse]


class _Column(NamedTuple):
    kept: NDArray[np.bool_]  # levels
    values: NDArray
    training: NDArray


def _learn_column(
    numbers: NDArray,
    n_levels: int,
    labels: NDArray[np.int64],
    weight: NDArray,
    folds: NDArray[np.int64] | None,
) -> _Column:
    """Return the numbers of the levels of a column, and those of its samples."""
    known = np.flatnonzero(~np.isnan(numbers))
    levels, labels, weight = numbers[known].astype(np.int64), labels[known], weight[known]
    parts = None if folds is None or n_levels <= _FEW_LEVELS else folds[known]
    sure = parts is None or _tells_classes(levels, labels, weight, parts)
    if n_levels < 2 or not sure:
        return _missing_or_not(numbers, n_levels)
    n_axes = _AXES if parts is not None else min(_AXES_OF_FEW, -(-n_levels // _LEVELS_AN_AXIS))
    scores = class_scores(levels, labels, weight, n_axes)
    values = _means(levels, scores[labels], weight, n_levels)
    useful = np.ones(scores.shape[1], dtype=bool)
    found, seen = values[levels], np.ones(len(levels), dtype=bool)
    if parts is not None:
        others, seen, useful = _cross_fit(levels, labels, weight, parts, scores, n_levels)
        found = found if n_levels * _MANY_SAMPLES <= len(known) else others
    if not useful.any():
        return _missing_or_not(numbers, n_levels)
    training = np.full((len(numbers), int(useful.sum())), np.nan)
    training[known[seen]] = found[seen][:, useful]
    kept = np.bincount(levels[seen], minlength=n_levels) > 0
    return _Column(kept, values[:, useful], training)


def _missing_or_not(numbers: NDArray, n_levels: int) -> _Column:
    """Return a column of which only the gaps are told, if it has some: else one without numbers."""
    missing = np.isnan(numbers)
    n_parts = int(missing.any())
    training = np.where(missing, np.nan, 0.0)[:, None][:, :n_parts]
    kept = np.full(n_levels, n_parts > 0)
    return _Column(kept, np.zeros((n_levels, n_parts)), training)


def _means(levels: NDArray[np.int64], scores: NDArray, weight: NDArray, n: int) -> NDArray:
    """Return the mean scores of every level, drawn towards 0."""
    counts = np.bincount(levels, weight, n)
    totals = np.empty((n, scores.shape[1]))
    for axis, each in enumerate(scores.T):
        totals[:, axis] = np.bincount(levels, weight * each, n)
    return totals / (counts + PRIOR)[:, None]


def _cross_fit(
    levels: NDArray[np.int64],
    labels: NDArray[np.int64],
    weight: NDArray,
    folds: NDArray[np.int64],
    scores: NDArray,
    n_levels: int,
) -> tuple[NDArray, NDArray[np.bool_], NDArray[np.bool_]]:
    """Return what the other folds say of every sample, whether they do, and which axes are useful.

    The axes are those of the other folds too, rotated to fit `scores`. An axis is useful where
    the means of a level go with the scores of its samples in the fold that is left out.
    """
    n_axes = scores.shape[1]
    means, products = np.zeros((len(levels), n_axes)), np.zeros((len(levels), n_axes))
    seen = np.zeros(len(levels), dtype=bool)
    for fold in range(_FOLDS):
        inside = folds == fold
        if inside.all() or not inside.any():
            continue
        there = levels[~inside], labels[~inside], weight[~inside]
        axes = _rotated(class_scores(*there, n_axes), scores, np.bincount(labels, weight))
        found = _means(there[0], axes[there[1]], there[2], n_levels)
        seen[inside] = np.isin(levels[inside], there[0])
        means[inside] = found[levels[inside]]
        products[inside] = means[inside] * axes[labels[inside]]
    products *= weight[:, None]
    useful = products.sum(axis=0) > _SURE * np.sqrt((products**2).sum(axis=0))
    return means, seen, useful


def _tells_classes(
    levels: NDArray[np.int64],
    labels: NDArray[np.int64],
    weight: NDArray,
    folds: NDArray[np.int64],
) -> bool:
    """Return whether samples of a level are of the same class more often than others are.

    It looks at pairs of samples in different folds, and knows no axes, which chance might turn
    to the classes of the samples where there are many classes.
    """
    by_class = np.bincount(labels, weight)
    share, metric = by_class / by_class.sum(), 1.0 / (by_class + PRIOR)
    expected = (share * metric)[labels]
    every = _sum_of_others(levels, folds, weight)
    same = _sum_of_others(levels * len(by_class) + labels, folds, weight)
    surplus = same * metric[labels] - every * expected + every * (share**2 @ metric)
    surplus -= _sum_of_others(levels, folds, weight * expected)
    surplus *= weight / (np.bincount(levels, weight)[levels] + PRIOR)
    return bool(surplus.sum() > _SURE * np.sqrt((surplus**2).sum()))


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
