"""Losses that trees are tested with, and their values in a slow and plain form."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from randomboost.losses import ExponentialLoss, LogisticLoss


class SquaredHinge:
    """A loss of a user's own, with a curvature."""

    def value(self, margins):
        return np.maximum(2 - margins, 0.0) ** 2

    def derivative(self, margins):
        return -2 * np.maximum(2 - margins, 0.0)

    def second_derivative(self, margins):
        return np.where(margins < 2, 2.0, 0.0)


class Plain:
    """The logistic loss with no more than a loss must have."""

    def value(self, margins):
        return LogisticLoss().value(margins)

    def derivative(self, margins):
        return LogisticLoss().derivative(margins)


LOSSES = {
    "softmax": "softmax",
    "exponential": "exponential",
    "logistic": "logistic",
    "own": SquaredHinge(),
    "own without curvature": Plain(),
}


def plain_loss(loss, scores, y, weight):
    """The mean loss, one sample after the other."""
    total = 0.0
    k, m = scores.shape
    for i in range(m):
        margins = [scores[y[i], i] - scores[r, i] for r in range(k) if r != y[i]]
        if loss == "softmax":
            value = logsumexp(scores[:, i]) - scores[y[i], i]
        else:
            named = {"exponential": ExponentialLoss(), "logistic": LogisticLoss()}
            value = np.mean(named.get(loss, loss).value(np.array(margins)))
        total += weight[i] * value
    total /= weight.sum()
    return np.log(total) if loss == "exponential" else total
