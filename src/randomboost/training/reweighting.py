"""The weights of AdaBoost: multiplied by the exponential of the margins, summing to 1."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LEAST_MASS = 1e-6  # lower bound of a share of weight, so that votes stay finite


class ExponentialWeights:
    """Weights of samples, or of pairs of a dichotomy and a sample, that sum to 1.

    Parameters
    ----------
    weight : ndarray
        The weights before the first round, of any scale.
    """

    def __init__(self, weight: NDArray) -> None:
        self.values = weight / weight.sum()
        self.log_loss = 0.0

    def update(self, margins: NDArray) -> None:
        """Multiply by ``exp(-margins)``, which the newest weak classifier adds, and normalise."""
        self.values = self.values * np.exp(-margins)
        total = self.values.sum()
        self.values /= total
        self.log_loss += float(np.log(total))


def log_ratio(gained: float, lost: float) -> float:
    """Return ``log(gained / lost) / 2`` with neither taken below `LEAST_MASS`.

    Parameters
    ----------
    gained, lost : float
        Shares of weight.

    Returns
    -------
    float
        The weight of a vote.
    """
    return 0.5 * float(np.log(max(gained, LEAST_MASS) / max(lost, LEAST_MASS)))
