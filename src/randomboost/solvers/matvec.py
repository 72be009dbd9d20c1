"""Products of a matrix of weak-learner outputs, or of projections, with a vector.

The matrix may be int8 or float32; sums have the precision of the vector, and the matrix is not
copied.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..runtime.compiling import kernel
from ..runtime.parallel import ThreadTeam

_GRAIN = 1 << 18  # matrix entries below which a second thread does not pay
_TILE = 2048  # columns of the result that stay in the first-level cache


@kernel
def _weighted_sum(
    matrix: NDArray, rows: NDArray, weights: NDArray, out: NDArray, start: int, stop: int
) -> None:
    """``out[start:stop] = sum_q weights[q] matrix[rows[q], start:stop]``.

    Inner loops count from 0, on slices: only then the compiler knows that no index is negative, and
    uses vector instructions.
    """
    for low in range(start, stop, _TILE):
        high = min(low + _TILE, stop)
        sums = out[low:high]
        for p in range(len(sums)):
            sums[p] = 0
        q = 0
        while q + 4 <= len(rows):
            w0, w1, w2, w3 = weights[q], weights[q + 1], weights[q + 2], weights[q + 3]
            r0, r1 = matrix[rows[q], low:high], matrix[rows[q + 1], low:high]
            r2, r3 = matrix[rows[q + 2], low:high], matrix[rows[q + 3], low:high]
            for p in range(len(sums)):
                sums[p] += w0 * r0[p] + w1 * r1[p] + w2 * r2[p] + w3 * r3[p]
            q += 4
        while q < len(rows):
            w0 = weights[q]
            r0 = matrix[rows[q], low:high]
            for p in range(len(sums)):
                sums[p] += w0 * r0[p]
            q += 1


@kernel(fastmath={"reassoc"})
def _dots(
    matrix: NDArray, rows: NDArray, vector: NDArray, out: NDArray, start: int, stop: int
) -> None:
    """``out[q] = matrix[rows[q]] . vector`` for start <= q < stop; vectorised sums."""
    n = len(vector)
    for q in range(start, stop):
        row = matrix[rows[q]]
        total = vector.dtype.type(0)
        for p in range(n):
            total += row[p] * vector[p]
        out[q] = total


def weighted_sum(
    matrix: NDArray, rows: NDArray[np.int64], weights: NDArray, n_columns: int, team: ThreadTeam
) -> NDArray:
    """Return ``sum_q weights[q] matrix[rows[q], :n_columns]``.

    Parameters
    ----------
    matrix : ndarray of shape (n_rows, at least n_columns)
        Rows of outputs or of projections.
    rows : ndarray of int64
        Rows to add.
    weights : ndarray
        Their weights; sums have the same precision.
    n_columns : int
        Number of columns to sum up.
    team : ThreadTeam
        Threads.

    Returns
    -------
    ndarray of shape (n_columns,)
        The sum.
    """
    out = np.empty(n_columns, weights.dtype)

    def add(start: int, stop: int) -> None:
        _weighted_sum(matrix, rows, weights, out, start, stop)

    team.run(add, n_columns, grain=1 + _GRAIN // max(len(rows), 1))
    return out


def dots(matrix: NDArray, rows: NDArray[np.int64], vector: NDArray, team: ThreadTeam) -> NDArray:
    """Return ``matrix[rows, :len(vector)] @ vector``.

    Parameters
    ----------
    matrix : ndarray
        Rows of outputs or of projections.
    rows : ndarray of int64
        Rows to multiply.
    vector : ndarray
        The vector; sums have the same precision.
    team : ThreadTeam
        Threads.

    Returns
    -------
    ndarray of shape (len(rows),)
        The products.
    """
    out = np.empty(len(rows), vector.dtype)

    def multiply(start: int, stop: int) -> None:
        _dots(matrix, rows, vector, out, start, stop)

    team.run(multiply, len(rows), grain=1 + _GRAIN // max(len(vector), 1))
    return out


class OutputRows:
    """Outputs of all weak classifiers on one point set, a growing matrix with one row per round.

    Parameters
    ----------
    dtype : dtype
        int8 for discrete weak classifiers.
    """

    def __init__(self, dtype: type) -> None:
        self._dtype = dtype
        self._rows: NDArray | None = None
        self._n_rows = 0

    def append(self, outputs: NDArray) -> None:
        """Add the outputs of the newest weak classifier."""
        if self._rows is None:
            self._rows = np.empty((64, outputs.size), self._dtype)
        elif self._n_rows == len(self._rows):
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
        self._rows[self._n_rows] = outputs.reshape(-1)
        self._n_rows += 1

    def matrix(self) -> NDArray:
        """Return the outputs of all weak classifiers, one row per round."""
        assert self._rows is not None
        return self._rows[: self._n_rows]

    def scores(self, weights: NDArray, team: ThreadTeam) -> NDArray:
        """Return ``sum_t weights[t] h_t`` on every point."""
        assert self._rows is not None
        rows = np.flatnonzero(weights)
        return weighted_sum(self._rows, rows, weights[rows], self._rows.shape[1], team)

    def edges(self, signed: NDArray, team: ThreadTeam) -> NDArray:
        """Return the edge of every weak classifier."""
        assert self._rows is not None
        return dots(self._rows, np.arange(self._n_rows), signed.reshape(-1), team)
