"""A few quasi-Newton steps a round, from where the last round ended.

The same method as L-BFGS-B in its simplest form: two-loop recursion on the free variables, a
projected step, backtracking. It is not SciPy's because it has to keep its curvature pairs from
round to round, when a weight is added, and because a call must cost little: a round makes a few
steps only. Full solves are SciPy's (`corrective`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..compiling import kernel
from .corrective import LARGEST_WEIGHT

_ENOUGH = 1e-4  # share of the predicted fall that a step must bring
_MOST_CUTS = 8

Objective = Callable[[NDArray], tuple[float, NDArray]]


@kernel
def _dot(first, second, free):
    """Inner product over the free variables."""
    total = 0.0
    for i in range(len(free)):
        if free[i]:
            total += first[i] * second[i]
    return total


@kernel
def _add(target, factor, vector, free):
    """``target += factor vector`` on the free variables."""
    for i in range(len(free)):
        if free[i]:
            target[i] += factor * vector[i]


@kernel
def _direct(steps, turns, direction, free, typical):
    """Turn the downhill direction into a quasi-Newton one, by the two-loop recursion.

    `steps` and `turns` hold differences of w and of the gradient, the newest last.
    """
    n_pairs = len(steps)
    curvatures = np.zeros(n_pairs)
    shares = np.zeros(n_pairs)
    scale = 0.0
    for q in range(n_pairs - 1, -1, -1):
        size = _dot(turns[q], turns[q], free)
        curvature = _dot(steps[q], turns[q], free)
        if curvature > 1e-12 * size * typical * typical:
            scale = curvature / size if scale == 0.0 else scale
            curvatures[q] = curvature
            shares[q] = _dot(steps[q], direction, free) / curvature
            _add(direction, -shares[q], turns[q], free)
    if scale == 0.0:
        scale = typical / max(np.sqrt(_dot(direction, direction, free)), 1e-300)
    for i in range(len(direction)):
        direction[i] *= scale
    for q in range(n_pairs):
        if curvatures[q] > 0.0:
            across = _dot(turns[q], direction, free) / curvatures[q]
            _add(direction, shares[q] - across, steps[q], free)


class WarmSolver:
    """Minimises a smooth convex function over 0 <= w <= largest, a few steps at a time.

    Parameters
    ----------
    typical : float
        Typical size of an entry of w; the largest is `corrective.LARGEST_WEIGHT` times that.
    pairs : int
        Number of curvature pairs kept.
    """

    def __init__(self, typical: float = 1.0, pairs: int = 5) -> None:
        self._pairs = pairs
        self._largest = LARGEST_WEIGHT * typical
        self._typical = typical
        self._steps = np.empty((0, 0))
        self._turns = np.empty((0, 0))

    def grow(self, n_weights: int) -> None:
        """Make room for further weights, about which nothing is known yet."""
        room = ((0, 0), (0, n_weights - self._steps.shape[1]))
        self._steps, self._turns = np.pad(self._steps, room), np.pad(self._turns, room)

    def _forget(self) -> None:
        self._steps, self._turns = self._steps[:0], self._turns[:0]

    def _note(self, step: NDArray, turn: NDArray) -> None:
        self._steps = np.vstack([self._steps[1 - self._pairs :], step])
        self._turns = np.vstack([self._turns[1 - self._pairs :], turn])

    def _direction(self, gradient: NDArray, free: NDArray[np.bool_]) -> NDArray:
        direction = np.where(free, -gradient, 0.0)
        _direct(self._steps, self._turns, direction, free, self._typical)
        return direction

    def improve(
        self,
        objective: Objective,
        weights: NDArray,
        value: float,
        gradient: NDArray,
        *,
        iterations: int,
        tolerance: float,
    ) -> tuple[NDArray, float, NDArray]:
        """Make some steps.

        Parameters
        ----------
        objective : callable
            Returns value and gradient at w.
        weights, value, gradient
            Where to begin, and the objective there.
        iterations : int
            Largest number of steps.
        tolerance : float
            A step that lowers the value by less is the last.

        Returns
        -------
        tuple of (ndarray, float, ndarray)
            Weights, value and gradient at the end. The value is never above that at the start.
        """
        self.grow(len(weights))
        for _ in range(iterations):
            free = np.where(gradient >= 0, weights > 0, weights < self._largest)
            direction = self._direction(gradient, free)
            if gradient @ direction >= 0:
                self._forget()
                direction = self._direction(gradient, free)
            found = self._search(objective, weights, value, gradient, direction)
            if found is None:
                self._forget()
                break
            self._note(found[0] - weights, found[2] - gradient)
            fall = value - found[1]
            weights, value, gradient = found
            if fall < tolerance:
                break
        return weights, value, gradient

    def _search(
        self,
        objective: Objective,
        weights: NDArray,
        value: float,
        gradient: NDArray,
        direction: NDArray,
    ) -> tuple[NDArray, float, NDArray] | None:
        """Shorten a step until it lowers the value enough; None where no step does."""
        step = 1.0
        for _ in range(_MOST_CUTS):
            new = np.clip(weights + step * direction, 0.0, self._largest)
            slope = gradient @ (new - weights)
            if slope >= 0:
                return None
            new_value, new_gradient = objective(new)
            if new_value <= value + _ENOUGH * slope:
                return new, new_value, new_gradient
            curve = new_value - value - slope
            step *= min(max(-0.5 * slope / curve, 0.1), 0.5)
        return None
