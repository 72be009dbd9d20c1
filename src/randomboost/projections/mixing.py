"""Values of samples along directions: single features and mixtures of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray

from ..runtime.compiling import ZERO, kernel
from ..runtime.parallel import ThreadTeam
from .products import add_product, padded, wide

ROWS = 64  # samples that are projected side by side
_WIDE = 4  # features from which on mixtures of all of them are computed as a product


class Mixtures(NamedTuple):
    """Directions as `mix_rows` takes them.

    Parameters
    ----------
    starts : ndarray of shape (n_directions + 1,)
        First entry of every direction; those that mix all features have none.
    features : ndarray of shape (n_entries,)
        Feature of every entry, rising in a direction.
    coefficients : ndarray of shape (n_entries,)
        Its coefficient.
    full : ndarray of int64 of shape (n_full,)
        Numbers of the directions that mix all features.
    matrix : ndarray of shape (at least n_full, n_features)
        Their coefficients, and rows of zeros.
    """

    starts: NDArray
    features: NDArray
    coefficients: NDArray
    full: NDArray[np.int64]
    matrix: NDArray


def as_mixtures(rows: Any, dtype: DTypeLike) -> Mixtures:
    """Return directions as `mix_rows` takes them.

    Parameters
    ----------
    rows : CSR matrix of shape (n_directions, n_features)
        Directions.
    dtype : dtype
        Precision of the data.

    Returns
    -------
    Mixtures
        The directions.
    """
    sizes, d = np.diff(rows.indptr), rows.shape[1]
    is_full = (sizes == d) & (d >= _WIDE) & rows.has_canonical_format
    full = np.flatnonzero(is_full)
    matrix = padded(rows.data[np.repeat(is_full, sizes)].reshape(-1, d).astype(dtype))
    kept = ~np.repeat(is_full, sizes)
    starts = np.concatenate([[0], np.cumsum(np.where(is_full, 0, sizes))])
    coefficients = rows.data[kept].astype(dtype)
    return Mixtures(starts, rows.indices[kept].astype(np.int64), coefficients, full, matrix)


@kernel(inline="always")
def _mix(
    block: NDArray, features: NDArray, coefficients: NDArray, first: int, last: int, n: int,
    total: NDArray,
) -> None:  # fmt: skip
    """Compute a mixture of features for a block (n_features, n); terms are added one by one."""
    if first == last:
        for i in range(n):
            total[i] = 0
        return
    column, c = block[features[first]], coefficients[first]
    for i in range(n):
        total[i] = c * column[i]
    pairs = last - (last - first - 1) % 2
    for e in range(first + 1, pairs, 2):
        one, other = block[features[e]], block[features[e + 1]]
        c, k = coefficients[e], coefficients[e + 1]
        for i in range(n):
            total[i] = (total[i] + c * one[i]) + k * other[i]
    for e in range(pairs, last):
        column, c = block[features[e]], coefficients[e]
        for i in range(n):
            total[i] += c * column[i]


@kernel
def mix_rows(
    X: NDArray, begin: int, n: int, mixtures: tuple, block: NDArray, sums: NDArray, at: int,
    out: NDArray,
) -> None:  # fmt: skip
    """``out[v, at + i]``: value of row ``begin + i`` along v, for at most `ROWS` rows.

    NaN counts as 0 in a mixture, and is kept of a single feature. ``block`` and ``sums`` are room
    for the features, and for the directions of all features, by row.
    """
    starts, features, coefficients, full, matrix = mixtures
    missing = False
    for i in range(n):
        for j in range(X.shape[1]):
            x = X[begin + i, j]
            missing |= x != x
            block[j, i] = x if x == x else 0
    for v in range(len(starts) - 1):
        values = out[v, at : at + n]  # contiguous, which ``out[:, ...][v]`` is not
        first, last = starts[v], starts[v + 1]
        if last - first == 1 and missing:
            for i in range(n):
                values[i] = coefficients[first] * X[begin + i, features[first]]
        else:
            _mix(block, features, coefficients, first, last, n, values)
    if len(full) > 0:
        whole = wide(n)
        sums[:, :whole] = 0
        add_product(matrix, ZERO, X.shape[1], block, whole, sums)
        for e in range(len(full)):
            values = out[full[e], at : at + n]
            for i in range(n):
                values[i] = sums[e, i]


@kernel
def _project(X: NDArray, mixtures: tuple, first: int, last: int, out: NDArray) -> None:
    """``out[v, i]``: value of row i along v, for rows first .. last."""
    block = np.zeros((X.shape[1], ROWS), X.dtype)
    sums = np.empty((len(mixtures[4]), ROWS), X.dtype)
    for begin in range(first, last, ROWS):
        mix_rows(X, begin, min(ROWS, last - begin), mixtures, block, sums, begin, out)


def project(X: Any, rows: Any, team: ThreadTeam) -> NDArray:
    """Return the values of samples along directions; those of a sample depend on no other one.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        Scaled data.
    rows : CSR matrix of shape (n_directions, n_features)
        Directions.
    team : ThreadTeam
        Threads.

    Returns
    -------
    ndarray of shape (n_directions, n_samples), of the type of X
        The values.
    """
    if sp.issparse(X):
        return np.ascontiguousarray((X @ rows.T).toarray().T.astype(X.dtype, copy=False))
    out = np.empty((rows.shape[0], X.shape[0]), dtype=X.dtype)
    mixtures = tuple(as_mixtures(rows, X.dtype))

    def work(first: int, last: int) -> None:
        _project(X, mixtures, first, last, out)

    team.run(work, X.shape[0], grain=1 + 200_000 // max(rows.nnz, 1))
    return out
