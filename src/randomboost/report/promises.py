"""Answers with a promise: sets of classes that hold the true one, and answers above a threshold."""

from __future__ import annotations

import importlib.util
import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

_LEVELS = (0.8, 0.9, 0.95, 0.99)
_THRESHOLDS = (0.5, 0.7, 0.8, 0.9, 0.95, 0.99)
_LEAST_ROWS = 40
_MOST_CELLS = 20_000_000  # of probabilities that sets are made from


class _Given(ClassifierMixin, BaseEstimator):
    """A classifier whose input are the probabilities."""

    def __init__(self, n_classes: int) -> None:
        self.n_classes = n_classes
        self.classes_ = np.arange(n_classes)

    def fit(self, X: NDArray, y: NDArray) -> _Given:
        return self

    def predict(self, X: NDArray) -> NDArray:
        return X.argmax(axis=1)

    def predict_proba(self, X: NDArray) -> NDArray:
        return X


def prediction_sets(shares: NDArray, y: NDArray[np.int64]) -> list[dict[str, float]]:
    """Return how large conformal prediction sets are, and how often they hold the true class.

    One half of the rows calibrates the sets of the other half.

    Parameters
    ----------
    shares : ndarray of shape (n_samples, n_classes)
        Probabilities.
    y : ndarray of int64 of shape (n_samples,)
        True class numbers.

    Returns
    -------
    list of dict
        For every level: "level", "coverage", "size" (mean number of classes) and "single" (share
        of sets with one class). Levels below the accuracy, where sets of one class are enough, and
        those that need more rows are left out. Empty without MAPIE, and with too many rows.
    """
    accuracy = float((shares.argmax(axis=1) == y).mean())
    levels = [level for level in _LEVELS if level > accuracy and len(y) / 2 * (1 - level) >= 2]
    known = importlib.util.find_spec("mapie") is not None
    if not known or len(y) < _LEAST_ROWS or shares.size > _MOST_CELLS or not levels:
        return []
    from mapie.classification import SplitConformalClassifier

    order = np.random.default_rng(0).permutation(len(y))
    halves = np.array_split(order, 2)
    sets = np.zeros((*shares.shape, len(levels)), dtype=bool)
    for calibration, others in (halves, halves[::-1]):
        model = SplitConformalClassifier(_Given(shares.shape[1]), levels, prefit=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a class without a calibration row
            model.conformalize(shares[calibration], y[calibration])
            sets[others] = model.predict_set(shares[others])[1]
    sizes = sets.sum(axis=1)
    held = sets[np.arange(len(y)), y]
    return [
        {
            "level": level,
            "coverage": float(held[:, place].mean()),
            "size": float(sizes[:, place].mean()),
            "single": float((sizes[:, place] == 1).mean()),
        }
        for place, level in enumerate(levels)
    ]


def answers_by_threshold(shares: NDArray, y: NDArray[np.int64]) -> list[dict[str, float]]:
    """Return how often the model would answer, and be right, above a probability.

    Parameters
    ----------
    shares : ndarray of shape (n_samples, n_classes)
        Probabilities.
    y : ndarray of int64 of shape (n_samples,)
        True class numbers.

    Returns
    -------
    list of dict
        For every threshold: "threshold", "answered" (share of the rows) and "accuracy" of those.
    """
    highest, right = shares.max(axis=1), shares.argmax(axis=1) == y
    return [
        {
            "threshold": threshold,
            "answered": float(answered.mean()),
            "accuracy": float(right[answered].mean()),
        }
        for threshold in _THRESHOLDS
        if (answered := highest >= threshold).any()
    ]
