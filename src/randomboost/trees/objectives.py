"""Losses of the scores as trees see them: a value, and gradient and curvature by point.

"softmax" is the cross-entropy of the class probabilities. Every other loss is one of pairwise
margins (see `losses`), summed over the classes other than the true one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from ..losses import SOFTMAX, ExponentialLoss, get_loss

_LARGEST_STEP = np.float32(10.0)  # Newton's step where a true class has next to no chance yet


class Slopes(NamedTuple):
    """A loss and its derivatives.

    Parameters
    ----------
    loss : float
        Mean loss.
    gradients, hessians : ndarray of float32 of shape (n_classes, n_samples)
        First derivative by every score, and (a bound of) the second.
    """

    loss: float
    gradients: NDArray[np.float32]
    hessians: NDArray[np.float32]


class Softmax:
    """The cross-entropy of ``softmax(F)``.

    Parameters
    ----------
    y : ndarray of int64 of shape (n_samples,)
        Class numbers.
    n_classes : int
        Number of classes.
    sample_weight : ndarray
        Weights, mean 1.
    """

    def __init__(self, y: NDArray[np.int64], n_classes: int, sample_weight: NDArray) -> None:
        self._y, self._weight = y, sample_weight.astype(np.float32)
        self._samples = np.arange(len(y))
        self._factor = np.float32(n_classes / (n_classes - 1))
        totals = np.bincount(y, sample_weight, n_classes)
        self.baseline = np.log(np.maximum(totals, 0.5) / totals.sum())

    def loss(self, scores: NDArray) -> float:
        """Return the mean loss of scores (n_classes, n_samples)."""
        chances = logsumexp(scores, axis=0) - scores[self._y, self._samples]
        return float(np.average(chances, weights=self._weight))

    def slopes(self, scores: NDArray) -> Slopes:
        """Return loss, gradients and hessians at scores (n_classes, n_samples)."""
        p = scores - scores.max(axis=0)
        own = p[self._y, self._samples].astype(np.float64)
        np.exp(p, out=p)
        total = p.sum(axis=0)
        loss = float(np.average(np.log(total) - own, weights=self._weight))
        p /= total
        hessians = 1 - p
        hessians *= p
        hessians *= self._factor * self._weight
        # 1 - p loses all digits where p is close to 1; the sum of the others does not
        p[self._y, self._samples] = 0
        p[self._y, self._samples] = -p.sum(axis=0)
        p *= self._weight
        own_slope = -p[self._y, self._samples] / _LARGEST_STEP
        hessians[self._y, self._samples] = np.maximum(hessians[self._y, self._samples], own_slope)
        return Slopes(loss, p, hessians)


class Pairwise:
    """The sum of a loss over the margins ``F_y - F_r``.

    Parameters
    ----------
    loss : Loss
        The loss of a margin.
    y, n_classes, sample_weight
        As for `Softmax`.
    """

    def __init__(
        self, loss: Any, y: NDArray[np.int64], n_classes: int, sample_weight: NDArray
    ) -> None:
        self._loss = loss
        self._y, self._weight = y, sample_weight
        self._samples = np.arange(len(y))
        self._pairs = n_classes - 1
        self.baseline = np.zeros(n_classes)

    def _margins(self, scores: NDArray) -> NDArray:
        scores = scores.astype(np.float64)
        return scores[self._y, self._samples] - scores

    def loss(self, scores: NDArray) -> float:
        """Return the mean loss; for the exponential one its logarithm."""
        margins = self._margins(scores)
        if isinstance(self._loss, ExponentialLoss):
            margins[self._y, self._samples] = np.inf
            shares = self._weight / (self._pairs * self._weight.sum())
            return float(logsumexp(-margins, b=shares))
        values = self._loss.value(margins)
        values[self._y, self._samples] = 0
        return float(np.average(values.sum(axis=0) / self._pairs, weights=self._weight))

    def slopes(self, scores: NDArray) -> Slopes:
        """Return loss, gradients and hessians at scores (n_classes, n_samples)."""
        margins = self._margins(scores)
        loss = self.loss(scores)
        if isinstance(self._loss, ExponentialLoss):
            # the slopes of the logarithm, times the number of samples
            margins[self._y, self._samples] = np.inf  # may be far from the others
            slope = np.exp(-margins - (loss + np.log(self._pairs))) * self._weight
            curve = slope
        else:
            slope = -self._loss.derivative(margins) * (self._weight / self._pairs)
            curve = slope
            if hasattr(self._loss, "second_derivative"):
                curve = self._loss.second_derivative(margins) * (self._weight / self._pairs)
        parts = []
        for part, sign in ((slope, -1), (curve, 1)):
            out = part.astype(np.float32)
            out[self._y, self._samples] = 0
            out[self._y, self._samples] = sign * out.sum(axis=0)
            parts.append(out)
        return Slopes(loss, *parts)


def make_objective(
    loss: Any, y: NDArray[np.int64], n_classes: int, sample_weight: NDArray
) -> Softmax | Pairwise:
    """Return the objective for the parameter `loss`.

    Parameters
    ----------
    loss : str or object
        "softmax", or as for `losses.get_loss`.
    y : ndarray of int64
        Class numbers.
    n_classes : int
        Number of classes.
    sample_weight : ndarray
        Weights of any scale.

    Returns
    -------
    Softmax or Pairwise
        The objective.
    """
    weight = sample_weight / sample_weight.mean()
    if isinstance(loss, str) and loss == SOFTMAX:
        return Softmax(y, n_classes, weight)
    return Pairwise(get_loss(loss), y, n_classes, weight)
