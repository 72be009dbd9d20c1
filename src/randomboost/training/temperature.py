"""The temperature of probabilities, from the scores of a held-out part."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

_RANGE = 0.1, 4.0  # of the factor
_CAUTION = 2.0  # samples that speak for the factor 1, as it were
_STEPS = 2  # of Newton's method


def find_scale(scores: NDArray, y: NDArray[np.int64], weight: NDArray | None) -> float:
    """Return the factor s for which ``softmax(s F)`` has the lowest log loss, with some caution.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classes)
        Scores F of samples that the model was not fitted to.
    y : ndarray of int64
        Their class numbers.
    weight : ndarray or None
        Their weights.

    Returns
    -------
    float
        The factor: below 1 where the scores are overconfident.
    """
    F, own = scores.astype(np.float64), np.arange(len(y))

    def loss(logarithm: float) -> float:
        chances = log_softmax(np.exp(logarithm) * F, axis=1)[own, y]
        caution = _CAUTION / len(y) * logarithm**2  # few samples cannot speak for a large factor
        return caution - float(np.average(chances, weights=weight))

    bounds = np.log(_RANGE)
    found = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-3})
    return float(np.exp(found.x))


def tempered_loss(
    scores: NDArray[np.float32], y: NDArray[np.int64], weight: NDArray, scale: float
) -> tuple[float, float]:
    """Return the log loss of ``softmax(s F)`` for a factor s near the best one, and the factor.

    Overconfident scores have a high log loss, though they may put the classes in the right order:
    what scores know is seen after their temperature is corrected. The factor is improved by two
    steps of Newton's method from that of the round before.

    Parameters
    ----------
    scores : ndarray of float32 of shape (n_samples, n_classes)
        Scores F.
    y : ndarray of int64
        Class numbers.
    weight : ndarray
        Weights.
    scale : float
        Factor to start from.

    Returns
    -------
    tuple of float
        The loss, and the improved factor.
    """
    F = scores - scores.max(axis=1, keepdims=True)
    own = F[np.arange(len(y)), y]
    share = weight / weight.sum()
    for step in range(_STEPS + 1):
        powers = np.exp(np.float32(scale) * F)
        totals = powers.sum(axis=1)
        loss = float(share @ (np.log(totals) - scale * own))
        if step == _STEPS:
            return loss, scale
        powers /= totals[:, None]
        mean = (powers * F).sum(axis=1)
        spread = (powers * F**2).sum(axis=1) - mean**2
        slope, curvature = float(share @ (mean - own)), float(share @ spread)
        scale = float(np.clip(scale - slope / max(curvature, 1e-9), 0.7 * scale, 1.4 * scale))
        scale = float(np.clip(scale, *_RANGE))
    raise AssertionError
