"""A few quasi-Newton steps per round, warm-started from the round before.

This is L-BFGS-B in its simplest form: two-loop recursion on the free variables, a projected step,
backtracking. SciPy's L-BFGS-B cannot keep its curvature pairs from round to round, when a weight is
added, and a call of it costs more than the few steps of a round. Full solves use it (`corrective`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..runtime.compiling import kernel
from .corrective import LARGEST_WEIGHT

_ENOUGH = 1e-4  # share of the predicted decrease that a step must reach
_MAX_CUTS = 8

Objective = Callable[[NDArray], tuple[float, NDArray]]


@kernel(fastmath={"reassoc"})
def _dot(first: NDArray, second: NDArray, free: NDArray) -> float:
    """Inner product over the free variables."""
    total = 0.0
    for i in range(len(free)):
        total += first[i] * second[i] * free[i]
    return total


@kernel
def _add(target: NDArray, factor: float, vector: NDArray, free: NDArray) -> None:
    """``target += factor vector`` on the free variables."""
    for i in range(len(free)):
        target[i] += factor * vector[i] * free[i]


@kernel
def _direct(
    steps: NDArray,
    turns: NDArray,
    n_pairs: int,
    weights: NDArray,
    gradient: NDArray,
    largest: float,
    typical: float,
    direction: NDArray,
) -> float:
    """Compute a quasi-Newton direction by the two-loop recursion; return its slope.

    The first `n_pairs` rows of `steps` and `turns` hold differences of w and of the gradient, the
    newest last. Variables at a bound that would leave the interval are fixed; the others are free.
    """
    n = len(weights)
    free = np.empty(n)  # 1 or 0
    for i in range(n):
        free[i] = weights[i] > 0 if gradient[i] >= 0 else weights[i] < largest
        direction[i] = -gradient[i] * free[i]
    curvatures = np.zeros(n_pairs)
    shares = np.zeros(n_pairs)
    scale = 0.0
    for q in range(n_pairs - 1, -1, -1):
        step, turn = steps[q], turns[q]
        size = _dot(turn, turn, free)
        curvature = _dot(step, turn, free)
        if curvature > 1e-12 * size * typical * typical:
            scale = curvature / size if scale == 0.0 else scale
            curvatures[q] = curvature
            shares[q] = _dot(step, direction, free) / curvature
            _add(direction, -shares[q], turn, free)
    if scale == 0.0:
        scale = typical / max(np.sqrt(_dot(direction, direction, free)), 1e-300)
    for i in range(n):
        direction[i] *= scale
    for q in range(n_pairs):
        if curvatures[q] > 0.0:
            across = _dot(turns[q], direction, free) / curvatures[q]
            _add(direction, shares[q] - across, steps[q], free)
    return _dot(gradient, direction, free)


@kernel
def _step(
    weights: NDArray,
    length: float,
    direction: NDArray,
    largest: float,
    gradient: NDArray,
    new: NDArray,
) -> float:
    """Make a step inside the bounds; return the predicted change of the value."""
    slope = 0.0
    for i in range(len(weights)):
        new[i] = min(max(weights[i] + length * direction[i], 0.0), largest)
        slope += gradient[i] * (new[i] - weights[i])
    return slope


class WarmSolver:
    """Minimises a smooth convex function over 0 <= w <= largest, a few steps at a time.

    A call may add weights to those of the call before; their curvature is not known yet.

    Parameters
    ----------
    typical : float
        Typical size of an entry of w; the largest is `corrective.LARGEST_WEIGHT` times that.
    pairs : int
        Number of curvature pairs kept.
    """

    def __init__(self, typical: float = 1.0, pairs: int = 5) -> None:
        self._largest = LARGEST_WEIGHT * typical
        self._typical = typical
        self._n_pairs = 0
        self._steps = np.zeros((pairs, 0))  # with room for more weights
        self._turns = np.zeros((pairs, 0))

    def _make_room(self, n_weights: int) -> None:
        missing = n_weights - self._steps.shape[1]
        if missing > 0:
            room = ((0, 0), (0, max(missing, n_weights)))
            self._steps, self._turns = np.pad(self._steps, room), np.pad(self._turns, room)

    def _note(self, step: NDArray, turn: NDArray) -> None:
        """Keep the newest pair, in place of the oldest."""
        if self._n_pairs == len(self._steps):
            self._steps[:-1], self._turns[:-1] = self._steps[1:], self._turns[1:]
            self._n_pairs -= 1
        self._steps[self._n_pairs, : len(step)] = step
        self._turns[self._n_pairs, : len(turn)] = turn
        self._n_pairs += 1

    def _direction(self, weights: NDArray, gradient: NDArray) -> NDArray:
        """Return a descent direction, without the curvature pairs if they give none."""
        direction = np.empty(len(weights))
        limits = self._largest, self._typical
        point = weights, gradient, *limits, direction
        if _direct(self._steps, self._turns, self._n_pairs, *point) >= 0:
            self._n_pairs = 0
            _direct(self._steps, self._turns, 0, *point)
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
            Initial weights, and the objective there.
        iterations : int
            Maximum number of steps.
        tolerance : float
            Stops after a step that lowers the value by less.

        Returns
        -------
        tuple of (ndarray, float, ndarray)
            Weights, value and gradient at the end. The value is at most the initial one.
        """
        self._make_room(len(weights))
        for _ in range(iterations):
            direction = self._direction(weights, gradient)
            found = self._search(objective, weights, value, gradient, direction)
            if found is None:
                self._n_pairs = 0
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
        """Shorten a step until it lowers the value enough; None if no step does."""
        length = 1.0
        for _ in range(_MAX_CUTS):
            new = np.empty(len(weights))
            slope = _step(weights, length, direction, self._largest, gradient, new)
            if slope >= 0:
                return None
            new_value, new_gradient = objective(new)
            if new_value <= value + _ENOUGH * slope:
                return new, new_value, new_gradient
            curve = new_value - value - slope
            length *= min(max(-0.5 * slope / curve, 0.1), 0.5)
        return None
