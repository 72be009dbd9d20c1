"""Convex losses of a pairwise margin rho, smooth and falling.

A loss is any object with `value` and `derivative`, both elementwise on arrays, and, for the dual
problem, `conjugate`. Solvers work with any of them.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, xlogy


@runtime_checkable
class Loss(Protocol):
    """The interface of a loss.

    Two attributes are optional: ``proba_scale`` (default 1), the factor s for which
    ``softmax(s F)`` are the class probabilities at the minimum of the expected loss; and the method
    ``conjugate(dual)``, the convex conjugate ``sup_rho dual * rho - value(rho)``.
    """

    def value(self, margins: NDArray) -> NDArray:
        """Return the loss of every margin."""
        ...

    def derivative(self, margins: NDArray) -> NDArray:
        """Return the derivative of the loss at every margin."""
        ...


class ExponentialLoss:
    """The exponential loss ``exp(-rho)`` of AdaBoost and RankBoost.

    Its sum over pairs is minimised through its logarithm (rankPrimal).
    """

    # E exp(-rho) is smallest at rho = log(p_y / p_r) / 2
    proba_scale = 2.0

    def value(self, margins: NDArray) -> NDArray:
        """Return ``exp(-margins)``."""
        return np.exp(-margins)

    def derivative(self, margins: NDArray) -> NDArray:
        """Return ``-exp(-margins)``."""
        return -np.exp(-margins)

    def conjugate(self, dual: NDArray) -> NDArray:
        """Return ``-dual log(-dual) + dual`` for dual <= 0."""
        return xlogy(-dual, -dual) + dual


class LogisticLoss:
    """The logistic loss ``log(1 + exp(-rho))``."""

    proba_scale = 1.0

    def value(self, margins: NDArray) -> NDArray:
        """Return ``log(1 + exp(-margins))``."""
        return np.logaddexp(0.0, -margins)

    def derivative(self, margins: NDArray) -> NDArray:
        """Return ``-1 / (1 + exp(margins))``."""
        return -expit(-margins)

    def conjugate(self, dual: NDArray) -> NDArray:
        """Return the negative entropy of -dual for -1 <= dual <= 0 (logDual)."""
        return xlogy(-dual, -dual) + xlogy(1.0 + dual, 1.0 + dual)


LOSSES: dict[str, type] = {"exponential": ExponentialLoss, "logistic": LogisticLoss}


def get_loss(loss: Any) -> Loss:
    """Return the loss object for a name or for a user's own object.

    Parameters
    ----------
    loss : str or object
        "exponential", "logistic", or an object with the methods of `Loss`.

    Returns
    -------
    Loss
        The loss.

    Raises
    ------
    ValueError
        If the name is unknown, or the object lacks a method or is not a decreasing function.
    """
    if isinstance(loss, str):
        if loss not in LOSSES:
            raise ValueError(f"loss={loss!r} is unknown: use one of {sorted(LOSSES)} or an object")
        return LOSSES[loss]()
    if isinstance(loss, type):
        raise ValueError(f"loss={loss.__name__} is a class: pass an object, {loss.__name__}()")
    missing = [m for m in ("value", "derivative") if not callable(getattr(loss, m, None))]
    if missing:
        raise ValueError(
            f"loss={loss!r} lacks the method(s) {', '.join(missing)}: pass 'exponential', "
            "'logistic' or an object with value(margins) and derivative(margins)"
        )
    probe = np.array([-1.0, 0.0, 1.0])
    value, derivative = (
        np.asarray(loss.value(probe)),
        np.asarray(loss.derivative(probe.copy())),
    )
    if value.shape != probe.shape or derivative.shape != probe.shape:
        raise ValueError(f"loss={loss!r} must return an array of the same shape as its argument")
    if not (np.isfinite(value).all() and np.isfinite(derivative).all() and (derivative <= 0).all()):
        raise ValueError(
            f"loss={loss!r} must be finite and must not rise with the margin: its values at -1, 0, "
            f"1 are {value}, its derivatives {derivative}"
        )
    return loss
