"""Signed weights as 62-bit integers, so that every sum in a search is exact.

A search adds up signed weights in many orders: sorted, by bin, in blocks, on several threads.
With integers the sums do not depend on the order, so the chosen stump does not either.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..runtime.compiling import kernel

_BITS = 61  # the absolute weights add up to less than 2**61; twice that still fits into int64
TIE_BITS = 25  # edges that agree to about 1e-11 of the whole mass count as equal


@kernel
def _rounded(weights: NDArray, factor: float) -> NDArray[np.int64]:
    """Whole numbers nearest to the weights times a factor."""
    out = np.empty(len(weights), np.int64)
    for i in range(len(weights)):
        out[i] = np.int64(np.rint(weights[i] * factor))
    return out


def to_fixed_point(weights: NDArray) -> NDArray[np.int64]:
    """Return the weights in units of a power of two, about 2**-61 of their absolute sum.

    Sums that differ by rounding only have the same power: their usual value, 2, is not near a
    place where it changes.

    Parameters
    ----------
    weights : ndarray
        Signed weights, not all zero.

    Returns
    -------
    ndarray of int64
        The rounded weights.
    """
    exponent = math.frexp(1.5 * float(np.abs(weights).sum()))[1]
    shift = _BITS - exponent
    if abs(shift) < 1000:  # the power of two is representable: multiplying by it is exact
        return _rounded(weights, 2.0**shift)
    return np.rint(np.ldexp(weights, shift)).astype(np.int64)


def coarsened(edge: Any) -> Any:
    """Return edges in units so large that rounding does not separate equal ones.

    Parameters
    ----------
    edge : int or ndarray of int64
        Edges in fixed point, >= 0.

    Returns
    -------
    int or ndarray of int64
        The coarse edges.
    """
    return (edge + (1 << (TIE_BITS - 1))) >> TIE_BITS


def edges(lowest: NDArray[np.int64], highest: NDArray[np.int64], total: int) -> NDArray[np.int64]:
    """Return the best edge of each column from its extreme prefix sums.

    A stump with +1 above its threshold has the edge ``total - 2 prefix``, the opposite stump
    the negative of that. Edges are coarsened so that rounding does not decide between equal ones.

    Parameters
    ----------
    lowest, highest : ndarray of int64
        Smallest and largest prefix sum of every column.
    total : int
        Sum of all weights.

    Returns
    -------
    ndarray of int64
        The coarsened edges.
    """
    return coarsened(np.maximum(total - 2 * lowest, 2 * highest - total))


def mass(weights: NDArray[np.int64], outputs_positive: NDArray[np.bool_]) -> int:
    """Return the coarsened edge of a stump, given where its output is +1.

    Parameters
    ----------
    weights : ndarray of int64
        Signed weights in fixed point.
    outputs_positive : ndarray of bool
        Points above the threshold.

    Returns
    -------
    int
        Comparable with `edges`.
    """
    edge = 2 * int(weights[outputs_positive].sum()) - int(weights.sum())
    return coarsened(abs(edge))
