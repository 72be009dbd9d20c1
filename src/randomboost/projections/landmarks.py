"""Similarities to landmarks: training samples that all others are compared with.

Features are bent, so that values far from the mean do not decide alone, and weighted. The
similarity to a landmark falls with the squared distance between what comes of it, as
``exp(-width * distance)``.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..runtime.compiling import ZERO, kernel
from ..runtime.parallel import ThreadTeam
from .products import add_product, padded, wide

_ROWS = 64  # samples that are compared side by side
_WORTH, _POWER = 6_000_000, 30  # products worth another thread; those that a power is worth
_FEW = 8  # samples up to which landmarks are compared side by side instead
_LANDMARKS = 128  # landmarks that they are compared with at a time; a multiple of four
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
def _bend_rows(
    X: NDArray, weights: NDArray, first: int, n: int, block: NDArray, norms: NDArray
) -> None:
    """Bent and weighted features (n_features, n) of a block of samples, and their squared norms.

    Bent values are closer to 0 than `_BEND`, and small ones hardly change. Missing ones are 0.
    """
    for i in range(n):
        for j in range(len(weights)):
            block[j, i] = X[first + i, j]
    for i in range(n):
        norms[i] = 0.0
    for j in range(len(weights)):
        row, weight = block[j], weights[j]
        for i in range(n):
            x = row[i]
            t = x / _BEND
            y = math.copysign(_BEND, x) if abs(t) > _FAR else x / math.sqrt(1.0 + t * t)
            value = weight * (y if x == x else 0.0)
            row[i] = value
            norms[i] += value * value


@kernel
def _compare(
    block: NDArray, norms: NDArray, n: int, points: NDArray, squares: NDArray, width: float,
    first: int, last: int, similarities: NDArray,
) -> None:  # fmt: skip
    """Similarities (last - first, n) of a block to some landmarks, a multiple of four."""
    some = similarities[: last - first]
    some[:, :n] = 0.0
    add_product(points[first:last], ZERO, len(block), block, n, some)
    for v in range(first, last):
        row, square = some[v - first], squares[v]
        for i in range(n):
            distance = max(norms[i] + square - 2.0 * row[i], 0.0)
            row[i] = _exponential(-width * distance)


@kernel
def _fill_similarities(
    X: NDArray, weights: NDArray, points: NDArray, squares: NDArray, width: float, first: int,
    last: int, out: NDArray,
) -> None:  # fmt: skip
    """``out[i, v]``: similarity of sample i to landmark v."""
    block, norms = np.zeros((len(weights), _ROWS)), np.zeros(_ROWS)
    similarities = np.empty((min(len(points), _LANDMARKS), _ROWS))
    for begin in range(first, last, _ROWS):
        n = min(_ROWS, last - begin)
        _bend_rows(X, weights, begin, n, block, norms)
        for low in range(0, len(points), _LANDMARKS):
            high = min(low + _LANDMARKS, len(points))
            whole = wide(n)
            _compare(block, norms, whole, points, squares, width, low, high, similarities)
            for i in range(n):
                for v in range(low, min(high, out.shape[1])):
                    out[begin + i, v] = similarities[v - low, i]


@kernel
def _add_weighted(
    X: NDArray, weights: NDArray, points: NDArray, squares: NDArray, width: float,
    factors: NDArray, first: int, last: int, out: NDArray,
) -> None:  # fmt: skip
    """``out[r, i]``: sum over the landmarks v of similarity times ``factors[r, v]``."""
    block, norms = np.zeros((len(weights), _ROWS)), np.zeros(_ROWS)
    similarities = np.empty((min(len(points), _LANDMARKS), _ROWS))
    sums = np.empty((len(factors), _ROWS))
    for begin in range(first, last, _ROWS):
        n = min(_ROWS, last - begin)
        whole = wide(n)
        _bend_rows(X, weights, begin, n, block, norms)
        sums[:, :whole] = 0.0
        for low in range(0, len(points), _LANDMARKS):
            high = min(low + _LANDMARKS, len(points))
            _compare(block, norms, whole, points, squares, width, low, high, similarities)
            add_product(factors, low, high - low, similarities, whole, sums)
        for r in range(len(out)):
            for i in range(n):
                out[r, begin + i] = sums[r, i]


@kernel
def _add_weighted_few(
    X: NDArray, weights: NDArray, columns: NDArray, squares: NDArray, width: float,
    coefficients: NDArray, out: NDArray,
) -> None:  # fmt: skip
    """As `_add_weighted`, of few samples: landmarks (``columns``) side by side instead of those."""
    block, norms = np.zeros((len(weights), len(X))), np.zeros(len(X))
    _bend_rows(X, weights, ZERO, len(X), block, norms)
    rows = np.zeros((-(-len(X) // 4) * 4, len(weights)))
    for i in range(len(X)):
        for j in range(len(weights)):
            rows[i, j] = block[j, i]
    similarities = np.zeros((len(rows), len(squares)))
    add_product(rows, ZERO, len(weights), columns, len(squares), similarities)
    for i in range(len(X)):
        row = similarities[i]
        for v in range(len(row)):
            row[v] = _exponential(-width * max(norms[i] + squares[v] - 2.0 * row[v], 0.0))
    sums = np.zeros((len(rows), coefficients.shape[1]))
    add_product(similarities, ZERO, len(coefficients), coefficients, sums.shape[1], sums)
    for r in range(len(out)):
        for i in range(len(X)):
            out[r, i] = sums[i, r]


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
        all_points = padded(points.astype(np.float64))
        squares = (all_points**2).sum(axis=1)
        self._arrays = weights.astype(np.float64), all_points, squares, self.width

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
        """Return weighted sums of similarities; see `WeightedSums`.

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
        return WeightedSums(self, coefficients).of(X, team)


class WeightedSums:
    """Weighted sums of similarities to landmarks; those of a sample depend on no other one.

    Parameters
    ----------
    landmarks : Landmarks
        The landmarks.
    coefficients : ndarray of shape (n_landmarks, n_sums)
        The weights.
    """

    def __init__(self, landmarks: Landmarks, coefficients: NDArray) -> None:
        self._landmarks, self._coefficients = landmarks, coefficients

    @cached_property
    def _factors(self) -> NDArray:
        """The weights with a row for each sum."""
        points = self._landmarks._arrays[1]
        factors = np.zeros((self._coefficients.shape[1], len(points)))
        factors[:, : len(self._landmarks)] = self._coefficients.T
        return padded(factors)

    @cached_property
    def _columns(self) -> tuple[NDArray, NDArray]:
        """The landmarks and the weights for few samples: a column for each landmark, and sum."""
        points = self._landmarks.points.T.astype(np.float64, order="C")
        return points, np.ascontiguousarray(self._coefficients, dtype=np.float64)

    def of(self, X: NDArray, team: ThreadTeam) -> NDArray:
        """Return the sums of samples.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Scaled data.
        team : ThreadTeam
            Threads.

        Returns
        -------
        ndarray of float64 of shape (n_sums, n_samples)
            The sums.
        """
        out = np.empty((self._coefficients.shape[1], X.shape[0]))
        weights, points, squares, width = self._landmarks._arrays
        if X.shape[0] <= _FEW:
            columns, coefficients = self._columns
            _add_weighted_few(
                X, weights, columns, self._landmarks.squares, width, coefficients, out
            )
            return out

        def work(first: int, last: int) -> None:
            _add_weighted(X, weights, points, squares, width, self._factors, first, last, out)

        per_row = len(points) * (points.shape[1] + len(out) + _POWER)
        team.run(work, X.shape[0], grain=max(_ROWS, _WORTH // per_row))
        return out
