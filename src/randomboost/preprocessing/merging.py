"""Merging of equal samples, and a canonical order of samples.

A sample of weight 2 and the same sample given twice lead to the same model bit for bit, and the
order of the samples does not matter.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..runtime.compiling import kernel

_MISSING = 0.5772156649015329  # stands for a missing value


@kernel
def _dense_keys(X: NDArray, direction: NDArray, keys: NDArray) -> None:
    for i in range(X.shape[0]):
        total = 0.0
        for j in range(X.shape[1]):
            value = X[i, j]
            total += (value if value == value else _MISSING) * direction[j]
        keys[i] = total


def row_keys(X: Any) -> NDArray:
    """Return one number per row: equal rows have equal numbers, others almost never."""
    direction = np.random.default_rng(20130207).standard_normal(X.shape[1])
    if sp.issparse(X):
        return X.astype(np.float64) @ direction
    keys = np.empty(X.shape[0])
    _dense_keys(X, direction, keys)
    return keys


def _differ(X: Any, rows: NDArray[np.int64], others: NDArray[np.int64]) -> bool:
    first, second = X[rows], X[others]
    if sp.issparse(X):
        return bool((first != second).nnz)
    unequal = first != second
    return bool(unequal.any() and not (np.isnan(first) & np.isnan(second))[unequal].all())


def distinct_rows(X: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Find equal rows.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        Data.

    Returns
    -------
    tuple of ndarray or None
        The number of one row for every distinct row, and which of these every row equals; None
        if all rows are distinct.
    """
    distinct, first, inverse = np.unique(row_keys(X), return_index=True, return_inverse=True)
    if len(distinct) == X.shape[0] or _differ(X, np.arange(X.shape[0]), first[inverse]):
        return None
    return first, inverse


def merge_samples(
    X: Any, class_numbers: NDArray[np.int64], sample_weight: NDArray
) -> tuple[Any, NDArray[np.int64], NDArray]:
    """Merge samples that are equal in features and class, adding up their weights.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        Data.
    class_numbers : ndarray of int64
        Class numbers.
    sample_weight : ndarray of float64
        Weights.

    Returns
    -------
    tuple
        Data, class numbers and weights of the distinct samples, in an order that does not depend
        on the original one.
    """
    keys = row_keys(X)
    order = np.lexsort((sample_weight, class_numbers, keys))  # weights: sums are rounded alike
    keys, numbers = keys[order], class_numbers[order]
    begins = np.ones(len(order), dtype=bool)
    begins[1:] = (keys[1:] != keys[:-1]) | (numbers[1:] != numbers[:-1])
    first = order[begins][np.cumsum(begins) - 1]
    if _differ(X, order, first):
        begins[:] = True
    chosen = order[begins]
    weights = np.add.reduceat(sample_weight[order], np.flatnonzero(begins))
    return X[chosen], class_numbers[chosen], weights
