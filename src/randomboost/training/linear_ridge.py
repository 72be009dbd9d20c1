"""Linear scores to start boosting from where data is sparse and wide, as texts are.

The indicators of the classes are regressed on the features, with a ridge penalty, by conjugate
gradients for all classes at once. As for landmarks, boosting goes on from scores that do not know
the labels of their samples.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..ensembles.linear_scores import LinearScores, plain_csr
from ..runtime.parallel import ThreadTeam
from .out_of_fold import N_PARTS, best_factor, split, trusted_factor

_MOST_SAMPLES = 50_000  # that a regression is fitted to
_TRIED_SAMPLES = 6000  # while settings are compared
_POWERS = (0.0, 0.25, 0.5)  # of the share of the samples that have a feature, as its weight
_PENALTIES = (3.0, 1.0, 10.0, 0.3, 30.0)  # in units of the mean squared length of a sample
_MOST_STEPS, _TOLERANCE = 30, 1e-2  # of conjugate gradients; of what is left of the right side


class Setting(NamedTuple):
    """A setting of the regression.

    Parameters
    ----------
    power : float
        Features are weighted by this power of the share of the samples where they are not 0.
    penalty : float
        Ridge penalty.
    """

    power: float
    penalty: float


def solve(multiply: Callable[[NDArray], NDArray], right: NDArray) -> NDArray:
    """Solve systems of one matrix, symmetric and positive definite, by conjugate gradients.

    Parameters
    ----------
    multiply : callable
        Returns the product of the matrix and its argument.
    right : ndarray of shape (n, n_systems)
        The right sides.

    Returns
    -------
    ndarray of shape (n, n_systems)
        The solutions; what is left of a right side has at most a hundredth of its length, unless
        30 steps were not enough.
    """

    def products(one: NDArray, other: NDArray) -> NDArray:
        return np.einsum("jr,jr->r", one, other)

    tiny = np.finfo(np.float64).tiny
    solution, left, direction = np.zeros_like(right), right.copy(), right.copy()
    squares = products(left, left)
    enough = _TOLERANCE**2 * squares
    for _ in range(_MOST_STEPS):
        if (squares <= enough).all():
            break
        image = multiply(direction)
        step = squares / np.maximum(products(direction, image), tiny)
        solution += step * direction
        left -= step * image
        before, squares = squares, products(left, left)
        direction *= squares / np.maximum(before, tiny)
        direction += left
    return solution


class _Regression:
    """Regressions on weighted features, each without one part of the samples."""

    def __init__(
        self,
        X: Any,
        y: NDArray[np.int64],
        weight: NDArray,
        n_classes: int,
        power: float,
    ) -> None:
        self.parts, self.y = split(len(y), N_PARTS), y
        self.share = weight / weight.sum()
        self.prior = np.bincount(y, self.share, n_classes)
        self._targets = np.eye(n_classes)[y] - self.prior
        present = sp.csr_array(((X.data != 0).astype(np.float64), X.indices, X.indptr), X.shape)
        self.weights = np.minimum(present.T @ self.share, 1.0) ** power
        self._X = sp.csr_array((X.data * self.weights[X.indices], X.indices, X.indptr), X.shape)
        self.means = self._X.T @ self.share
        squares = (self._X * self._X).T @ self.share - self.means**2
        self._unit = max(float(np.maximum(squares, 0.0).sum()), np.finfo(np.float64).tiny)

    def coefficients(self, penalty: float, without: int | None = None) -> NDArray:
        """Return the coefficients of the regression, without a part of the samples."""
        weight = (len(self.y) * self.share)[:, None]
        if without is not None:
            weight[self.parts[without]] = 0.0
        X, means = self._X, self.means[:, None]

        def back(values: NDArray) -> NDArray:
            """Return centred features, transposed, times values of the samples."""
            return X.T @ values - means * values.sum(axis=0)

        def multiply(vectors: NDArray) -> NDArray:
            found = X @ vectors - (means * vectors).sum(axis=0)
            return back(weight * found) + penalty * self._unit * vectors

        return solve(multiply, back(weight * self._targets))

    def predict_part(self, penalty: float, number: int) -> NDArray:
        """Return what a part of the samples is predicted by the others."""
        found = self.coefficients(penalty, number)
        return self._X[self.parts[number]] @ found - (self.means[:, None] * found).sum(axis=0)

    def loss(self, penalty: float) -> float:
        """Return the lowest log loss of the predictions of the first part."""
        rows = self.parts[0]
        share = self.share[rows] / self.share[rows].sum()
        return best_factor(self.predict_part(penalty, 0), self.prior, self.y[rows], share)[1]


def _choose(
    X: Any, y: NDArray[np.int64], weight: NDArray, n_classes: int, team: ThreadTeam
) -> Setting:
    """Return the setting with the lowest loss on samples that were left out.

    The power is chosen for a middle penalty, then the penalty.
    """
    tried = [_Regression(X, y, weight, n_classes, power) for power in _POWERS]
    losses: dict[Setting, float] = {}

    def attempt(settings: list[Setting]) -> Setting:
        new = [setting for setting in settings if setting not in losses]

        def work(number: int) -> None:
            power, penalty = new[number]
            losses[new[number]] = tried[_POWERS.index(power)].loss(penalty)

        team.for_each(work, len(new))
        return min(settings, key=losses.__getitem__)

    power = attempt([Setting(power, _PENALTIES[0]) for power in _POWERS]).power
    return attempt([Setting(power, penalty) for penalty in _PENALTIES])


def n_linear_samples(n_samples: int) -> int:
    """Return the number of samples that linear scores are fitted to.

    Parameters
    ----------
    n_samples : int
        Number of all samples.

    Returns
    -------
    int
        All, but at most 50000.
    """
    return min(n_samples, _MOST_SAMPLES)


def learn_linear_start(
    X: Any,
    y: NDArray[np.int64],
    weight: NDArray,
    n_classes: int,
    n_samples: int,
    team: ThreadTeam,
) -> tuple[LinearScores, NDArray[np.float32]]:
    """Fit linear scores to start boosting from.

    Parameters
    ----------
    X : CSR matrix or ndarray of shape (n, n_features)
        Scaled data of samples in random order.
    y : ndarray of int64
        Class numbers.
    weight : ndarray
        Weights.
    n_classes : int
        Number of classes.
    n_samples : int
        Number of all training samples.
    team : ThreadTeam
        Threads; they do not change the scores.

    Returns
    -------
    tuple of (LinearScores, ndarray of float32 of shape (n, n_classes))
        Scores of all other samples, and scores of these samples that do not know their labels.
    """
    X, few = plain_csr(X), slice(0, _TRIED_SAMPLES)
    power, penalty = _choose(X[few], y[few], weight[few], n_classes, team)
    regression = _Regression(X, y, weight, n_classes, power)
    found = np.empty((len(y), n_classes))
    whole = []

    def work(number: int) -> None:
        if number == N_PARTS:
            whole.append(regression.coefficients(penalty))
        else:
            found[regression.parts[number]] = regression.predict_part(penalty, number)

    team.for_each(work, N_PARTS + 1)
    factor, removed = trusted_factor(found, regression.prior, y, regression.share, n_samples)
    weights = regression.weights
    limits = np.zeros(X.shape[1])
    np.maximum.at(limits, X.indices, np.abs(X.data))
    means = np.divide(regression.means, weights, out=np.zeros_like(weights), where=weights > 0)
    scores = LinearScores(
        (factor * weights[:, None] * whole[0]).astype(np.float32),
        means.astype(np.float32),
        limits.astype(np.float32),
        removed,
    )
    return scores, (factor * found).astype(np.float32)
