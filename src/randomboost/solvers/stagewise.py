"""Stage-wise weights: only the newest weight w_t is chosen, the earlier ones stay."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from ..losses import ExponentialLoss
from ..runtime.compiling import kernel
from .corrective import LARGEST_WEIGHT
from .risk import PairwiseRisk

_MIN_MASS = 1e-6  # whatever the number of samples, because weights may stand for copies


@kernel(fastmath={"reassoc"})
def _pair_masses(signed: NDArray, outputs: NDArray, y: NDArray) -> tuple[float, float]:
    """Weight of the pairs with ``delta h > 0`` and of those with ``delta h < 0``."""
    gained = 0.0
    lost = 0.0
    own = np.empty(len(y), outputs.dtype)
    for i in range(len(y)):
        own[i] = outputs[y[i], i]
    for r in range(signed.shape[0]):
        for i in range(len(y)):
            gained -= signed[r, i] if outputs[r, i] < own[i] else 0.0
            lost -= signed[r, i] if outputs[r, i] > own[i] else 0.0
    return gained, lost


def discrete_weight(gained: float, lost: float) -> float:
    """Return ``log(Q+ / Q-) / 4`` (stagewise3).

    Both sums are bounded below by a small number, so that the weight is finite.

    Parameters
    ----------
    gained, lost : float
        Normalised weight of the pairs with ``delta h = 2`` and ``delta h = -2``.

    Returns
    -------
    float
        The weight w_t.
    """
    return 0.25 * np.log(max(gained, _MIN_MASS) / max(lost, _MIN_MASS))


def real_weight(edge: float) -> float:
    """Return ``log((1 + b) / (1 - b)) / 4`` (stagewise5).

    The paper bounds ``exp(-w h)`` for h in [-1, 1]; the difference ``delta h`` of two outputs in
    [-1, 1] spans [-2, 2], so b is half the edge and the weight is halved too.

    Parameters
    ----------
    edge : float
        ``sum_ir u_ir delta h(i, r)`` with weights u that sum to 1.

    Returns
    -------
    float
        The weight w_t.
    """
    half = min(0.5 * edge, 1.0 - 1e-12)
    return 0.25 * np.log((1.0 + half) / (1.0 - half))


def line_search(risk: PairwiseRisk, scores: NDArray, outputs: NDArray) -> float:
    """Return the weight that minimises the risk along one weak learner, for any loss.

    Parameters
    ----------
    risk : PairwiseRisk
        The risk.
    scores, outputs : ndarray of shape (n_classes, n_samples)
        Scores so far and the outputs of the new weak learner.

    Returns
    -------
    float
        The weight w_t >= 0.
    """

    def edge(weight: float) -> float:
        return float((risk.evaluate(scores + weight * outputs)[1] * outputs).sum())

    at_zero = edge(0.0)
    if at_zero <= 0:
        return 0.0
    small = 1e-12 * at_zero  # ends where the loss becomes flat, not beyond
    if edge(LARGEST_WEIGHT) >= small:
        return LARGEST_WEIGHT
    return float(brentq(lambda weight: edge(weight) - small, 0.0, LARGEST_WEIGHT, xtol=1e-10))


def stagewise_weight(
    risk: PairwiseRisk, scores: NDArray, signed: NDArray, outputs: NDArray, *, discrete: bool
) -> float:
    """Return the weight of the newest weak learner by the formula for its kind.

    Parameters
    ----------
    risk : PairwiseRisk
        The risk; closed forms exist for the exponential loss.
    scores, signed, outputs : ndarray of shape (n_classes, n_samples)
        Scores so far, signed weights there, and the outputs of the new weak learner.
    discrete : bool
        Whether the outputs are -1 or +1 only.

    Returns
    -------
    float
        The weight w_t.
    """
    if not isinstance(risk.loss, ExponentialLoss):
        return line_search(risk, scores, outputs)
    if not discrete:
        return real_weight(float((signed * outputs).sum()))
    return discrete_weight(*_pair_masses(signed, outputs, risk.y))
