"""Quadratic models over bounds, for the steps of Newton's method (`newton`).

A model of many weights and few votes is nearly linear in many directions, which projected steps
do not get along; an interior-point method does.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cholesky
from scipy.linalg.lapack import dpotrs

from ..runtime.compiling import kernel

_RIDGES = (1e-12, 1e-9, 1e-6)  # of the mean curvature
_SWEEPS = 20  # over the coordinates, before the model is solved for the free ones
_MOST_STEPS = 20  # projected on the bounds
_MOST_BARRIERS = 40
_SMALL = 1e-9  # of the largest entry of the gradient: rounding


def minimum(hessian: NDArray, gradient: NDArray, weights: NDArray, largest: float) -> NDArray:
    """Return the minimum over the bounds of a quadratic model of a function.

    The Hessian may be singular: a ridge is added, as small as the factorisations allow.

    Parameters
    ----------
    hessian : ndarray of shape (n_weights, n_weights)
        Positive semidefinite.
    gradient : ndarray of shape (n_weights,)
        Gradient at `weights`.
    weights : ndarray of shape (n_weights,)
        Point inside the bounds at which the model is made.
    largest : float
        Upper bound; the lower one is 0.

    Returns
    -------
    ndarray of shape (n_weights,)
        The minimum; `weights` if there is no factorisation with any ridge.
    """
    unit = max(float(np.trace(hessian)) / len(hessian), 1e-300)
    for ridge in _RIDGES:
        stiff = hessian.copy()
        stiff[np.diag_indices_from(stiff)] += ridge * unit
        try:
            return _stiff_minimum(stiff, gradient, weights, largest)
        except LinAlgError:
            continue
    return weights


@kernel
def _descend(
    hessian: NDArray, gradient: NDArray, point: NDArray, largest: float, sweeps: int
) -> None:
    """Minimise a quadratic function over 0 <= point <= largest, coordinate by coordinate.

    `gradient` and `point` are changed.
    """
    for _ in range(sweeps):
        moved = 0.0
        for v in range(len(point)):
            new = point[v] - gradient[v] / hessian[v, v]
            new = min(max(new, 0.0), largest)
            step = new - point[v]
            if step != 0.0:
                point[v] = new
                row = hessian[v]
                for u in range(len(point)):
                    gradient[u] += step * row[u]
                moved = max(moved, abs(step))
        if moved == 0.0:
            break


def _solved(factor: NDArray, right: NDArray) -> NDArray:
    """Solve with a lower Cholesky factor."""
    return dpotrs(factor, right, lower=1)[0]


def _factor(matrix: NDArray) -> NDArray:
    return cholesky(matrix, lower=True, overwrite_a=True, check_finite=False)


def _stiff_minimum(
    hessian: NDArray, gradient: NDArray, weights: NDArray, largest: float
) -> NDArray:
    """Return the minimum over the bounds of a model with a positive definite Hessian.

    Coordinate descent finds most of the entries that are 0, and projected Newton steps of the model
    the others. Where these do not get on, as along directions in which the model is nearly linear,
    an interior-point method starts again.
    """
    point, slope = weights.copy(), gradient.copy()
    _descend(hessian, slope, point, largest, _SWEEPS)
    found = _projected_steps(hessian, gradient, point, slope, largest)
    if found is None:
        point = _interior_minimum(hessian, gradient, weights, largest)
        slope = gradient + hessian @ (point - weights)
        found = _projected_steps(hessian, gradient, point, slope, largest)
    return point if found is None else found


def _projected_steps(
    hessian: NDArray, gradient: NDArray, point: NDArray, slope: NDArray, largest: float
) -> NDArray | None:
    """Return the minimum of the model by Newton steps from a point; None if they do not reach it.

    `slope` is the gradient of the model at the point.
    """
    small = _SMALL * float(np.abs(gradient).max())
    for _ in range(_MOST_STEPS):
        free = np.flatnonzero(
            ((point > 0) | (slope < -small)) & ((point < largest) | (slope > small))
        )
        if not len(free):
            return point
        part = hessian[free]
        factor = _factor(part[:, free])
        step = -_solved(factor, slope[free])
        new = np.clip(point[free] + step, 0.0, largest)
        move = new - point[free]
        whole = bool((new == point[free] + step).all())
        expected, turn = float(slope[free] @ move), move @ part
        if expected + 0.5 * float(turn[free] @ move) > 0.25 * expected:
            return None
        point[free] = new
        slope = slope + turn
        leaves = ((point == 0) & (slope < -small)) | ((point == largest) & (slope > small))
        if whole and not leaves.any():
            return point
    return None


def _interior_minimum(
    hessian: NDArray, gradient: NDArray, weights: NDArray, largest: float
) -> NDArray:
    """Return about the minimum over the bounds of the model, by a primal-dual method.

    Entries that are nearer to a bound than the multiplier of that bound to 0 are set to it.
    """
    scale = max(float(weights.max()), 1e-3 * largest)
    point = np.clip(weights, 1e-2 * scale, largest - 1e-2 * scale)
    slope = gradient + hessian @ (point - weights)
    size = float(np.abs(slope).mean()) + 1e-300
    low, high = np.full(len(point), size), np.full(len(point), size)
    for _ in range(_MOST_BARRIERS):
        room = largest - point
        barrier = float(low @ point + high @ room) / (2 * len(point))
        wrong = slope - low + high
        if barrier <= 1e-13 * size * scale and np.abs(wrong).max() <= 1e-10 * size:
            break
        matrix = hessian.copy()
        matrix[np.diag_indices_from(matrix)] += low / point + high / room
        factor = _factor(matrix)
        # a step to the bounds shows how far the barriers can be lowered
        step = -_solved(factor, slope)
        low_step = -low - low / point * step
        high_step = -high + high / room * step
        length = _inside(point, room, low, high, step, low_step, high_step)
        after = (low + length * low_step) @ (point + length * step)
        after += (high + length * high_step) @ (room - length * step)
        target = barrier * (float(after) / (2 * len(point)) / barrier) ** 3
        low_turn, high_turn = target - low_step * step, target + high_step * step
        step = -_solved(factor, slope - low_turn / point + high_turn / room)
        low_step = low_turn / point - low - low / point * step
        high_step = high_turn / room - high + high / room * step
        length = 0.99 * _inside(point, room, low, high, step, low_step, high_step)
        point, low, high = point + length * step, low + length * low_step, high + length * high_step
        slope = slope + length * (hessian @ step)
    point = np.where(point / scale < low / size, 0.0, point)
    return np.where((largest - point) / scale < high / size, largest, point)


def _inside(
    point: NDArray,
    room: NDArray,
    low: NDArray,
    high: NDArray,
    step: NDArray,
    low_step: NDArray,
    high_step: NDArray,
) -> float:
    """Return the longest step, at most 1, that leaves all of the given positive."""
    falls = [
        float(np.max(-change / now))
        for now, change in ((point, step), (room, -step), (low, low_step), (high, high_step))
    ]
    return 1.0 / max(1.0, *falls)
