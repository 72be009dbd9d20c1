"""Objectives of trees: the loss of scores, with a gradient and a hessian for every point.

"softmax" is the cross-entropy of the class probabilities. All other losses are losses of pairwise
margins (see `losses`), summed over the wrong classes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from ..losses import SOFTMAX, ExponentialLoss, get_loss
from ..runtime.compiling import kernel

_LARGEST_STEP = np.float32(10.0)  # Newton step of a true class with a probability near 0
_BLOCK = 512  # samples that are processed together


class Derivatives(NamedTuple):
    """A loss and its derivatives.

    Parameters
    ----------
    loss : float
        Mean loss.
    gradients, hessians : ndarray of float32 of shape (n_classes, n_samples)
        First derivative by every score, and (a bound on) the second.
    """

    loss: float
    gradients: NDArray[np.float32]
    hessians: NDArray[np.float32]


@kernel
def _add_row(total: NDArray, row: NDArray) -> None:
    for i in range(len(row)):
        total[i] += row[i]


@kernel
def _derive_row(
    p: NDArray, total: NDArray, weight: NDArray, factor: float, hessians: NDArray
) -> None:
    """Turn ``exp(F)`` of a class into its probabilities; compute its hessians."""
    for i in range(len(p)):
        p[i] /= total[i]
        hessians[i] = (np.float32(1) - p[i]) * p[i] * (factor * weight[i])


@kernel
def _weigh_row(p: NDArray, weight: NDArray) -> None:
    for i in range(len(p)):
        p[i] *= weight[i]


@kernel
def _derive(
    p: NDArray,
    y: NDArray,
    weight: NDArray,
    factor: float,
    total: NDArray,
    others: NDArray,
    hessians: NDArray,
) -> None:
    """Turn ``exp(F)`` into the gradients of the cross-entropy; compute its hessians.

    `total` and `others`, zeros at first, become the sums of ``exp(F)`` and of the probabilities of
    the wrong classes.
    """
    n_classes, n_samples = p.shape
    for begin in range(0, n_samples, _BLOCK):
        end = min(begin + _BLOCK, n_samples)
        sums, weights = total[begin:end], weight[begin:end]
        for r in range(n_classes):
            _add_row(sums, p[r, begin:end])
        for r in range(n_classes):
            _derive_row(p[r, begin:end], sums, weights, factor, hessians[r, begin:end])
        # 1 - p loses all digits where p is close to 1; the sum of the others does not
        for i in range(begin, end):
            p[y[i], i] = 0
        for r in range(n_classes):
            _add_row(others[begin:end], p[r, begin:end])
            _weigh_row(p[r, begin:end], weights)
        for i in range(begin, end):
            size = others[i] * weight[i]
            p[y[i], i] = -size
            hessians[y[i], i] = max(hessians[y[i], i], size / _LARGEST_STEP)


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
        self._arrays: tuple[NDArray, NDArray] | None = None

    def loss(self, scores: NDArray) -> float:
        """Return the mean loss of scores (n_classes, n_samples)."""
        losses = logsumexp(scores, axis=0) - scores[self._y, self._samples]
        return float(np.average(losses, weights=self._weight))

    def derivatives(self, scores: NDArray) -> Derivatives:
        """Return loss, gradients and hessians at scores (n_classes, n_samples).

        The next call reuses the arrays.
        """
        if self._arrays is None:
            self._arrays = np.empty_like(scores), np.empty_like(scores)
        p, hessians = self._arrays
        np.subtract(scores, scores.max(axis=0), out=p)
        own = p[self._y, self._samples].astype(np.float64)
        np.exp(p, out=p)
        total, others = np.zeros_like(p[:2])
        _derive(p, self._y, self._weight, self._factor, total, others, hessians)
        loss = float(np.average(np.log(total) - own, weights=self._weight))
        return Derivatives(loss, p, hessians)


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
        """Return the mean loss, or its logarithm for the exponential loss."""
        margins = self._margins(scores)
        if isinstance(self._loss, ExponentialLoss):
            margins[self._y, self._samples] = np.inf
            shares = self._weight / (self._pairs * self._weight.sum())
            return float(logsumexp(-margins, b=shares))
        values = self._loss.value(margins)
        values[self._y, self._samples] = 0
        return float(np.average(values.sum(axis=0) / self._pairs, weights=self._weight))

    def derivatives(self, scores: NDArray) -> Derivatives:
        """Return loss, gradients and hessians at scores (n_classes, n_samples)."""
        margins = self._margins(scores)
        loss = self.loss(scores)
        if isinstance(self._loss, ExponentialLoss):
            # derivatives of the logarithm, times the number of samples
            margins[self._y, self._samples] = np.inf  # may be far from the others
            gradient = np.exp(-margins - (loss + np.log(self._pairs))) * self._weight
            hessian = gradient
        else:
            gradient = -self._loss.derivative(margins) * (self._weight / self._pairs)
            hessian = gradient
            if hasattr(self._loss, "second_derivative"):
                hessian = self._loss.second_derivative(margins) * (self._weight / self._pairs)
        parts = []
        for part, sign in ((gradient, -1), (hessian, 1)):
            out = part.astype(np.float32)
            out[self._y, self._samples] = 0
            out[self._y, self._samples] = sign * out.sum(axis=0)
            parts.append(out)
        return Derivatives(loss, *parts)


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
