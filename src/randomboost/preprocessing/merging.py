"""Merging of equal samples, and a canonical order of samples: that of a hash of their features.

A sample of weight 2 and the same sample given twice lead to the same model bit for bit, and the
order of the samples does not matter.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..runtime.compiling import kernel
from ..runtime.random_stream import scrambled

_TOGETHER = 1 << 14  # rows that are moved at a time
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MISSING = np.uint64(0x7FF8000000000000)  # bits that stand for every missing value


@kernel
def _hash_value(value: Any, column: int) -> np.uint64:
    """Return the part of a row's hash that a value has; 0 for zeros, which CSR leaves out."""
    number = np.float64(value)
    bits = number.view(np.uint64) if number == number else _MISSING
    found = scrambled(bits + np.uint64(column + 1) * _GOLDEN)
    return np.uint64(0) if number == 0.0 else found


@kernel
def _hash_dense(X: NDArray, hashes: NDArray) -> None:
    for i in range(X.shape[0]):
        total = np.uint64(0)
        for j in range(X.shape[1]):
            total += _hash_value(X[i, j], j)
        hashes[i] = scrambled(total)


@kernel
def _hash_sparse(starts: NDArray, columns: NDArray, values: NDArray, hashes: NDArray) -> None:
    for i in range(len(hashes)):
        total = np.uint64(0)
        for e in range(starts[i], starts[i + 1]):
            total += _hash_value(values[e], columns[e])
        hashes[i] = scrambled(total)


def row_hashes(X: Any) -> NDArray[np.uint64]:
    """Return a hash of every row: equal rows have equal ones, others almost never.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        Data; NaN equals NaN, and -0 equals 0.

    Returns
    -------
    ndarray of uint64 of shape (n_samples,)
        The hashes.
    """
    hashes = np.empty(X.shape[0], dtype=np.uint64)
    if sp.issparse(X):
        _hash_sparse(X.indptr, X.indices, X.data, hashes)
    else:
        _hash_dense(X, hashes)
    return hashes


@kernel
def _join(hashes: NDArray, class_numbers: NDArray, keys: NDArray) -> None:
    for i in range(len(hashes)):
        keys[i] = scrambled(hashes[i] + np.uint64(class_numbers[i] + 1) * _GOLDEN)


def sample_keys(hashes: NDArray[np.uint64], class_numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return a number of every sample by its content, which decides what chance does with it.

    Parameters
    ----------
    hashes : ndarray of uint64
        Hashes of the features.
    class_numbers : ndarray of int64
        Class numbers.

    Returns
    -------
    ndarray of uint64
        The keys.
    """
    keys = np.empty(len(hashes), dtype=np.uint64)
    _join(hashes, class_numbers, keys)
    return keys


def _dense_rows(X: Any, rows: NDArray[np.int64]) -> NDArray:
    """Return some rows, with a number in place of missing values."""
    found = X[rows].toarray() if sp.issparse(X) else X[rows]
    return np.where(np.isnan(found), np.inf, found)


def _differ(X: Any, rows: NDArray[np.int64], others: NDArray[np.int64]) -> bool:
    moved = rows != others
    return bool((_dense_rows(X, rows[moved]) != _dense_rows(X, others[moved])).any())


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
    distinct, first, inverse = np.unique(row_hashes(X), return_index=True, return_inverse=True)
    if len(distinct) == X.shape[0] or _differ(X, np.arange(X.shape[0]), first[inverse]):
        return None
    return first, inverse


def _ranks(X: Any, rows: NDArray[np.int64], firsts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return numbers that tell rows of one hash apart: 0 unless their contents differ."""
    if not _differ(X, rows, firsts):
        return np.zeros(len(rows), dtype=np.int64)
    content = np.ascontiguousarray(_dense_rows(X, rows))
    return np.unique(content, axis=0, return_inverse=True)[1].ravel()


def canonical_order(
    X: Any, hashes: NDArray[np.uint64], class_numbers: NDArray[np.int64], sample_weight: NDArray
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return an order of samples that depends on their contents only.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        Data.
    hashes : ndarray of uint64
        Hashes of its rows.
    class_numbers : ndarray of int64
        Class numbers.
    sample_weight : ndarray of float64
        Weights.

    Returns
    -------
    order : ndarray of int64
        The samples by hash, class and weight.
    begins : ndarray of bool
        Whether a sample, in this order, differs from the one before in features or class.
    """
    order = np.argsort(hashes)
    ordered = hashes[order]
    begins = np.ones(len(order), dtype=bool)
    begins[1:] = ordered[1:] != ordered[:-1]
    tied = ~begins
    tied[:-1] |= ~begins[1:]
    places = np.flatnonzero(tied)
    if len(places):
        rows = order[places]
        groups = np.cumsum(begins[places]) - 1
        firsts = rows[np.flatnonzero(begins[places])][groups]
        ranks = _ranks(X, rows, firsts)
        # by weight at last, so that sums of weights are rounded alike
        again = np.lexsort((sample_weight[rows], class_numbers[rows], ranks, groups))
        rows, ranks, groups = rows[again], ranks[again], groups[again]
        order[places] = rows
        same = np.zeros(len(rows), dtype=bool)
        for each in (groups, ranks, class_numbers[rows]):
            same[1:] |= each[1:] != each[:-1]
        same[0] = True
        begins[places] = same
    return order, begins


def without(X: Any, rows: NDArray[np.bool_]) -> Any:
    """Return data without some rows; a dense array is overwritten, which saves memory.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        Data.
    rows : ndarray of bool of shape (n_samples,)
        The rows to leave out.

    Returns
    -------
    ndarray or CSR matrix
        The other rows.
    """
    if sp.issparse(X):
        return X[~rows]
    kept = np.flatnonzero(~rows)
    for first in range(0, len(kept), _TOGETHER):
        some = kept[first : first + _TOGETHER]
        X[first : first + len(some)] = X[some]
    return X[: len(kept)]


def merge_samples(
    X: Any, class_numbers: NDArray[np.int64], sample_weight: NDArray
) -> tuple[Any, NDArray[np.int64], NDArray, NDArray[np.uint64]]:
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
        on the original one, and the hashes of their features.
    """
    hashes = row_hashes(X)
    order, begins = canonical_order(X, hashes, class_numbers, sample_weight)
    chosen = order[begins]
    weights = np.add.reduceat(sample_weight[order], np.flatnonzero(begins))
    return X[chosen], class_numbers[chosen], weights, hashes[chosen]
