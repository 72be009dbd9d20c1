"""The temperature of probabilities, from the scores of a held-out part."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

_RANGE = 0.1, 4.0  # of the factor


def find_scale(scores: NDArray, y: NDArray[np.int64], weight: NDArray | None) -> float:
    """Return the factor s for which ``softmax(s F)`` has the lowest log loss.

    Parameters
    ----------
    scores : ndarray of shape (n_classes, n_samples)
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
    F, own = scores.T.astype(np.float64), np.arange(len(y))

    def loss(logarithm: float) -> float:
        chances = log_softmax(np.exp(logarithm) * F, axis=1)[own, y]
        return -float(np.average(chances, weights=weight))

    bounds = np.log(_RANGE)
    found = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-3})
    return float(np.exp(found.x))
