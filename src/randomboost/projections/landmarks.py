"""Similarities to landmarks: training samples that all others are compared with.

Features are bent, so that values far from the mean do not decide alone, and weighted. The
similarity to a landmark falls with the squared distance between what comes of it, as
``exp(-width * distance)``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..runtime.compiling import kernel
from ..runtime.parallel import ThreadTeam

_ROWS = 64  # samples that are compared side by side
_BEND = 3.0  # standard deviations that no bent value reaches
_FAR = 1e8  # standard deviations from which on a bent value is at its limit
_LOG2_E, _LN2_HIGH, _LN2_LOW = 1.4426950408889634, 0.6931471803691238, 1.9082149292705877e-10
_LEAST_EXPONENT = -708.0


@kernel
def _exponential(x: float) -> float:
    """``exp(x)`` for x <= 0, by operations that are the same everywhere."""
    x = max(x, _LEAST_EXPONENT)
    whole = math.floor(x * _LOG2_E + 0.5)
    f = x - whole * _LN2_HIGH
    f = f - whole * _LN2_LOW
    y = 1.0 / 39916800.0  # Taylor's series: |f| is at most ln(2) / 2
    y = y * f + 1.0 / 3628800.0
    y = y * f + 1.0 / 362880.0
    y = y * f + 1.0 / 40320.0
    y = y * f + 1.0 / 5040.0
    y = y * f + 1.0 / 720.0
    y = y * f + 1.0 / 120.0
    y = y * f + 1.0 / 24.0
    y = y * f + 1.0 / 6.0
    y = y * f + 0.5
    y = y * f + 1.0
    y = y * f + 1.0
    return y * np.int64((np.int64(whole) + 1023) << 52).view(np.float64)


@kernel
def _bend(x: float) -> float:
    """Bring x closer to 0 than `_BEND`; where x is small it hardly changes. Missing: 0."""
    if x != x:
        return 0.0
    t = x / _BEND
    if abs(t) > _FAR:
        return math.copysign(_BEND, x)
    return x / math.sqrt(1.0 + t * t)


@kernel
def _bend_rows(
    X: NDArray, weights: NDArray, first: int, n: int, block: NDArray, norms: NDArray
) -> None:
    """Bent and weighted features (n_features, n) of a block of samples, and their squared norms."""
    for i in range(n):
        norms[i] = 0.0
    for j in range(len(weights)):
        row = block[j]
        for i in range(n):
            value = weights[j] * _bend(np.float64(X[first + i, j]))
            row[i] = value
            norms[i] += value * value


@kernel
def _compare(
    block: NDArray, norms: NDArray, n: int, points: NDArray, squares: NDArray, width: float,
    similarities: NDArray,
) -> None:  # fmt: skip
    """Similarities (n_landmarks, n) of a block; ``points`` has a multiple of four rows."""
    for v in range(0, len(points), 4):
        s0, s1 = similarities[v], similarities[v + 1]
        s2, s3 = similarities[v + 2], similarities[v + 3]
        for i in range(n):
            s0[i] = s1[i] = s2[i] = s3[i] = 0.0
        for j in range(points.shape[1]):
            p0, p1, p2, p3 = points[v, j], points[v + 1, j], points[v + 2, j], points[v + 3, j]
            row = block[j]
            for i in range(n):
                s0[i] += p0 * row[i]
                s1[i] += p1 * row[i]
                s2[i] += p2 * row[i]
                s3[i] += p3 * row[i]
        for e in range(4):
            row = similarities[v + e]
            for i in range(n):
                distance = max(norms[i] + squares[v + e] - 2.0 * row[i], 0.0)
                row[i] = _exponential(-width * distance)


@kernel
def _fill_similarities(
    X: NDArray, weights: NDArray, points: NDArray, squares: NDArray, width: float, first: int,
    last: int, out: NDArray,
) -> None:  # fmt: skip
    """``out[i, v]``: similarity of sample i to landmark v."""
    block, norms = np.empty((len(weights), _ROWS)), np.empty(_ROWS)
    similarities = np.empty((len(points), _ROWS))
    for begin in range(first, last, _ROWS):
        n = min(_ROWS, last - begin)
        _bend_rows(X, weights, begin, n, block, norms)
        _compare(block, norms, n, points, squares, width, similarities)
        for i in range(n):
            for v in range(out.shape[1]):
                out[begin + i, v] = similarities[v, i]


@kernel
def _add_weighted(
    X: NDArray, weights: NDArray, points: NDArray, squares: NDArray, width: float,
    coefficients: NDArray, first: int, last: int, out: NDArray,
) -> None:  # fmt: skip
    """``out[r, i]``: sum over the landmarks of similarity times coefficient r."""
    block, norms = np.empty((len(weights), _ROWS)), np.empty(_ROWS)
    similarities = np.empty((len(points), _ROWS))
    sums = np.empty((out.shape[0], _ROWS))
    for begin in range(first, last, _ROWS):
        n = min(_ROWS, last - begin)
        _bend_rows(X, weights, begin, n, block, norms)
        _compare(block, norms, n, points, squares, width, similarities)
        for r in range(len(sums)):
            total = sums[r]
            for i in range(n):
                total[i] = 0.0
            for v in range(len(coefficients)):
                row, c = similarities[v], coefficients[v, r]
                for i in range(n):
                    total[i] += c * row[i]
        for r in range(len(sums)):
            for i in range(n):
                out[r, begin + i] = sums[r, i]


def bent(X: NDArray) -> NDArray:
    """Return features as landmarks see them, before they are weighted.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Scaled data; missing values count as 0, the mean.

    Returns
    -------
    ndarray of float64
        ``x / sqrt(1 + (x / 3)**2)``: close to x within a standard deviation, and below 3.
    """
    t = np.nan_to_num(X, nan=0.0).astype(np.float64) / _BEND
    far = np.abs(t) > _FAR
    return _BEND * np.where(far, np.sign(t), t / np.sqrt(1.0 + np.where(far, 0.0, t) ** 2))


class Landmarks:
    """Samples that all others are compared with.

    Parameters
    ----------
    points : ndarray of float32 of shape (n_landmarks, n_features)
        Their bent and weighted features.
    weights : ndarray of float32 of shape (n_features,)
        Weights of the features.
    width : float
        How fast the similarity falls with the squared distance.
    """

    def __init__(
        self, points: NDArray[np.float32], weights: NDArray[np.float32], width: float
    ) -> None:
        self.points, self.weights, self.width = points, weights, float(width)
        padded = np.zeros((-(-len(points) // 4) * 4, points.shape[1]))
        padded[: len(points)] = points
        self._arrays = weights.astype(np.float64), padded, (padded**2).sum(axis=1), self.width

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.points, self.weights, self.width)

    def __len__(self) -> int:
        return len(self.points)

    @property
    def squares(self) -> NDArray:
        """Squared norms of the landmarks."""
        return self._arrays[2][: len(self)]

    def similarities(self, X: NDArray, team: ThreadTeam) -> NDArray:
        """Return the similarities of samples to all landmarks.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Scaled data.
        team : ThreadTeam
            Threads.

        Returns
        -------
        ndarray of float64 of shape (n_samples, n_landmarks)
            Numbers between 0 and 1.
        """
        out = np.empty((X.shape[0], len(self)))

        def work(first: int, last: int) -> None:
            _fill_similarities(X, *self._arrays, first, last, out)

        team.run(work, X.shape[0], grain=_ROWS)
        return out

    def weighted(self, X: NDArray, coefficients: NDArray, team: ThreadTeam) -> NDArray:
        """Return weighted sums of similarities; those of a sample depend on no other one.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Scaled data.
        coefficients : ndarray of shape (n_landmarks, n_sums)
            The weights.
        team : ThreadTeam
            Threads.

        Returns
        -------
        ndarray of float64 of shape (n_sums, n_samples)
            The sums.
        """
        coefficients = np.ascontiguousarray(coefficients, dtype=np.float64)
        out = np.empty((coefficients.shape[1], X.shape[0]))

        def work(first: int, last: int) -> None:
            _add_weighted(X, *self._arrays, coefficients, first, last, out)

        team.run(work, X.shape[0], grain=_ROWS)
        return out
