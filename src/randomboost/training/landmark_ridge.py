"""Scores to start boosting from: ridge regression on the similarities to landmarks.

The landmarks are training samples drawn at random. The indicators of the classes are regressed on
the similarities to them; the penalty is the norm of the function that belongs to these (the kernel
ridge regression of Nystroem's method). A factor makes scores of softmax of what it predicts.

Boosting goes on from the scores of the training samples, so they must not know these samples'
labels: they are those of regressions without the part of the data that a sample is in.
"""

from __future__ import annotations

from functools import reduce
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from ..ensembles.landmark_scores import LandmarkScores
from ..projections.landmarks import Landmarks, bent
from ..runtime.parallel import ThreadTeam
from .out_of_fold import N_PARTS, best_factor, split, trusted_factor

_START_SAMPLES, _PER_LANDMARK = 20_000, 20  # that a regression is fitted to, at most
_TRIED_SAMPLES, _TRIED_LANDMARKS, _TRIED_PARTS = 1500, 192, 3  # while settings are compared
_FEW = 1000  # samples up to which settings are compared on several parts instead of one
_REFINED_SAMPLES, _REFINED_LANDMARKS = 4000, 600  # while widths are compared again
_POWERS = (0.0, 0.5, 1.0)  # of the correlation ratio of a feature, as its weight
_WIDTHS = (0.03, 0.1, 0.3, 1.0, 3.0)  # in units of two over the mean squared distance
_PENALTIES = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1)  # for a tenth of the samples
_NUGGET = 1e-6
_ROUNDING = 1e-24  # of the mean square of a feature
_LEAST_RATIO = 1e-3  # of the variance of a feature that classes explain


class Setting(NamedTuple):
    """A setting of the regression.

    Parameters
    ----------
    power : float
        Features are weighted by this power of their correlation ratio.
    width : float
        Width of the similarity.
    penalty : float
        Ridge penalty.
    """

    power: float
    width: float
    penalty: float


def correlation_ratios(Z: NDArray, y: NDArray[np.int64], weight: NDArray) -> NDArray:
    """Return the share of the variance of every feature that the classes explain.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, n_features)
        Features.
    y : ndarray of int64
        Class numbers.
    weight : ndarray
        Weights.

    Returns
    -------
    ndarray of shape (n_features,)
        Between 0.001 and 1.
    """
    share = weight / weight.sum()
    centred = Z - share @ Z
    total = share @ centred**2
    present, place = np.unique(y, return_inverse=True)
    indicator = np.zeros((len(present), len(y)))
    indicator[place, np.arange(len(y))] = share
    between = (1.0 / indicator.sum(axis=1)) @ (indicator @ centred) ** 2
    varies = total > _ROUNDING * (share @ Z**2)  # a constant feature varies by rounding errors
    ratios = np.divide(between, total, out=np.zeros_like(total), where=varies)
    return np.clip(ratios, _LEAST_RATIO, 1.0)


class _Regression:
    """Regressions on the similarities to given landmarks, each without one part of the samples."""

    def __init__(
        self,
        landmarks: Landmarks,
        similarities: NDArray,
        y: NDArray[np.int64],
        weight: NDArray,
        n_classes: int,
        parts: list[slice],
        team: ThreadTeam,
    ) -> None:
        m = len(y)
        self.similarities, self.parts, self.y = similarities, parts, y
        self.share = weight / weight.sum()
        root = np.sqrt(self.share * m)
        self.prior = np.bincount(y, self.share, n_classes)
        targets = np.eye(n_classes)[y] - self.prior
        self._norm = self._norm_matrix(landmarks) * (m / 10)
        grams: list[NDArray] = [np.empty(0)] * len(parts)
        moments = list(grams)

        def work(number: int) -> None:
            rows = parts[number]
            part = similarities[rows] * root[rows, None]
            grams[number] = part.T @ part
            moments[number] = part.T @ (targets[rows] * root[rows, None])

        team.for_each(work, len(parts))
        self._parts = grams, moments
        self._all = reduce(np.add, grams), reduce(np.add, moments)

    @staticmethod
    def _norm_matrix(landmarks: Landmarks) -> NDArray:
        points = landmarks.points.astype(np.float64)
        squares = (points**2).sum(axis=1)
        distances = np.maximum(squares[:, None] + squares - 2.0 * points @ points.T, 0.0)
        matrix = np.exp(-landmarks.width * distances)
        matrix[np.diag_indices(len(matrix))] += _NUGGET
        return matrix

    def coefficients(self, penalty: float, without: int | None = None) -> NDArray:
        """Return the coefficients of the regression, without a part of the samples."""
        gram, moment = self._all
        if without is not None:
            gram, moment = (
                whole - parts[without] for whole, parts in zip(self._all, self._parts, strict=True)
            )
        return _solve(gram + penalty * self._norm, moment)

    def predict_part(self, penalty: float, number: int) -> NDArray:
        """Return what a part of the samples is predicted by the others."""
        return self.similarities[self.parts[number]] @ self.coefficients(penalty, number)

    def loss(self, penalty: float, numbers: range) -> float:
        """Return the lowest log loss of the predictions of some parts."""
        rows = slice(self.parts[numbers[0]].start, self.parts[numbers[-1]].stop)
        found = np.concatenate([self.predict_part(penalty, number) for number in numbers])
        share = self.share[rows] / self.share[rows].sum()
        return best_factor(found, self.prior, self.y[rows], share)[1]


def _solve(matrix: NDArray, targets: NDArray) -> NDArray:
    """Solve a system that is symmetric and positive definite.

    As ``cho_solve(cho_factor(matrix), targets)`` of scipy, whose checks take longer here.
    """
    factor, failed = lapack.dpotrf(matrix, lower=0, clean=0)
    if failed:
        raise np.linalg.LinAlgError("the Gram matrix of the landmarks is not positive definite")
    return lapack.dpotrs(factor, targets, lower=0)[0]


def _best_penalty(tried: _Regression, numbers: range, first: int) -> tuple[float, int]:
    """Return the lowest loss and the number of its penalty, downhill from a first one."""
    losses = {first: tried.loss(_PENALTIES[first], numbers)}
    for step in (-1, 1):
        place = first + step
        while 0 <= place < len(_PENALTIES):
            losses[place] = tried.loss(_PENALTIES[place], numbers)
            if losses[place] >= losses[place - step]:
                break
            place += step
    best = min(losses, key=lambda place: (losses[place], place))
    return losses[best], best


def _make_landmarks(
    Z: NDArray, ratios: NDArray, power: float, width: float, chosen: slice
) -> Landmarks:
    """Return landmarks out of bent features; the width is relative to their mean distance."""
    weights = (ratios**power).astype(np.float32)
    points = Z[chosen] * weights
    distance = 2.0 * float(points.var(axis=0).sum())
    return Landmarks(points.astype(np.float32), weights, 2.0 * width / max(distance, 1e-12))


def _choose(
    X: NDArray, Z: NDArray, y: NDArray[np.int64], weight: NDArray, n_classes: int,
    ratios: NDArray, team: ThreadTeam,
) -> Setting:  # fmt: skip
    """Return the setting with the lowest loss on parts that were left out.

    The power is chosen for a middle width, then the width, then the power again. Penalties are
    compared with their neighbours, from the best one that is known.
    """
    m = len(y)
    parts = split(m, _TRIED_PARTS)
    numbers = range(_TRIED_PARTS if m <= _FEW else 1)
    chosen = slice(0, _TRIED_LANDMARKS)
    found: dict[tuple[float, float], tuple[float, int]] = {}  # loss and number of the penalty
    alone = ThreadTeam(1)

    def attempt(
        powers: tuple[float, ...], widths: tuple[float, ...], first: int
    ) -> tuple[float, float, int]:
        wanted = list(product(powers, widths))
        new = [pair for pair in wanted if pair not in found]

        def work(number: int) -> None:
            landmarks = _make_landmarks(Z, ratios, *new[number], chosen)
            similarities = landmarks.similarities(X, alone)
            tried = _Regression(landmarks, similarities, y, weight, n_classes, parts, alone)
            found[new[number]] = _best_penalty(tried, numbers, first)

        team.for_each(work, len(new))
        best = min(wanted, key=lambda pair: (found[pair][0], wanted.index(pair)))
        return *best, found[best][1]

    power, width, place = attempt(_POWERS, _WIDTHS[2:3], len(_PENALTIES) // 2)
    power, width, place = attempt((power,), _WIDTHS, place)
    power, width, place = attempt(_POWERS, (width,), place)
    return Setting(power, width, _PENALTIES[place])


def _refine(
    setting: Setting, X: NDArray, Z: NDArray, y: NDArray[np.int64], weight: NDArray,
    n_classes: int, ratios: NDArray, n_landmarks: int, team: ThreadTeam,
) -> Setting:  # fmt: skip
    """Return a setting with the width and the penalty that are best with more landmarks.

    More landmarks can make use of narrower similarities than those few that settings are compared
    with.
    """
    parts = split(len(y), N_PARTS)
    numbers = range(_TRIED_PARTS if len(y) <= _FEW else 1)
    place = _WIDTHS.index(setting.width)
    found = []
    for width in _WIDTHS[max(place - 1, 0) : place + 3]:
        landmarks = _make_landmarks(Z, ratios, setting.power, width, slice(0, n_landmarks))
        similarities = landmarks.similarities(X, team)
        tried = _Regression(landmarks, similarities, y, weight, n_classes, parts, team)
        found += [(tried.loss(penalty, numbers), width, penalty) for penalty in _PENALTIES]
    _, width, penalty = min(found)
    return Setting(setting.power, width, penalty)


def n_start_samples(n_samples: int, n_landmarks: int) -> int:
    """Return the number of samples that scores are fitted to.

    Parameters
    ----------
    n_samples, n_landmarks : int
        Numbers of samples and of landmarks.

    Returns
    -------
    int
        All samples, but at most 20000, or 20 for every landmark if these are more.
    """
    return min(n_samples, max(_START_SAMPLES, _PER_LANDMARK * n_landmarks))


def learn_start(
    X: NDArray,
    y: NDArray[np.int64],
    weight: NDArray,
    n_classes: int,
    n_landmarks: int,
    n_samples: int,
    team: ThreadTeam,
    *,
    thorough: bool = False,
) -> tuple[LandmarkScores, NDArray[np.float32]]:
    """Fit scores to start boosting from.

    Parameters
    ----------
    X : ndarray of shape (n, n_features)
        Scaled data of samples in random order.
    y : ndarray of int64
        Class numbers.
    weight : ndarray
        Weights.
    n_classes : int
        Number of classes.
    n_landmarks : int
        Number of landmarks, at most n.
    n_samples : int
        Number of all training samples.
    team : ThreadTeam
        Threads; they do not change the scores.
    thorough : bool
        Whether widths are compared again with more samples and landmarks.

    Returns
    -------
    tuple of (LandmarkScores, ndarray of float32 of shape (n, n_classes))
        Scores of all other samples, and scores of these samples that do not know their labels.
    """
    Z, few = bent(X), slice(0, _TRIED_SAMPLES)
    ratios = correlation_ratios(Z, y, weight)
    setting = _choose(X[few], Z[few], y[few], weight[few], n_classes, ratios, team)
    if thorough:
        few = slice(0, _REFINED_SAMPLES)
        tried = X[few], Z[few], y[few], weight[few]
        several = min(n_landmarks, _REFINED_LANDMARKS)
        setting = _refine(setting, *tried, n_classes, ratios, several, team)
    chosen = slice(0, n_landmarks)
    landmarks = _make_landmarks(Z, ratios, setting.power, setting.width, chosen)
    parts = split(len(y), N_PARTS)
    similarities = landmarks.similarities(X, team)
    regression = _Regression(landmarks, similarities, y, weight, n_classes, parts, team)
    penalty = setting.penalty
    if len(y) > _TRIED_SAMPLES:  # more samples and landmarks need less of one
        penalty = _PENALTIES[_best_penalty(regression, range(1), _PENALTIES.index(penalty))[1]]
    found = np.empty((len(y), n_classes))

    def work(number: int) -> None:
        found[parts[number]] = regression.predict_part(penalty, number)

    team.for_each(work, len(parts))
    factor, share = trusted_factor(found, regression.prior, y, regression.share, n_samples)
    coefficients = (factor * regression.coefficients(penalty)).astype(np.float32)
    scores = LandmarkScores(landmarks, coefficients, share)
    return scores, (factor * found).astype(np.float32)
