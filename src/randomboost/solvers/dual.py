"""Totally corrective weights by the dual problems (rankDual), (AppDual2) and (logDual).

The primal problem is ``min_w R(A w) + nu 1^T w`` over 0 <= w <= L, where A holds the margins of all
pairs (sample, wrong class) with one weight alone. Its dual is ``max_u -R*(-u) - L 1^T max(A^T u -
nu, 0)`` over u >= 0, with ``sum u = 1`` where R is the logarithm of a sum of exponentials. It is
solved by Newton's method with logarithmic barriers that shrink; w are the multipliers of its
constraints ``A^T u <= nu``, so that every point has a duality gap, which ends the iteration.

One step costs O(pairs * weights^2): it is for small problems, and to check the other solver.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..losses import Loss
from .risk import PairwiseRisk

MOST_ENTRIES = 20_000_000  # of the matrix A
_FARTHEST = 700.0  # margin; exp overflows beyond it
_HALVINGS = 55  # of an interval of margins
_SHRINKAGE = 0.2  # of the barriers
_MOST_STEPS = 25  # between two reductions of the barriers
_MOST_CUTS = 40  # of a step
_NEGLIGIBLE = 1e-7  # of the largest weight
_CLOSE_TO_THE_PATH = 1e-6  # slope, in units of the barriers, at which these shrink


@dataclass(frozen=True)
class DualSolution:
    """A primal and a dual point, and the values of both.

    Parameters
    ----------
    weights : ndarray of shape (n_weights,)
        The weights w.
    dual : ndarray of shape (n_pairs,)
        The dual weights u.
    primal_value, dual_value : float
        The values; they differ by the duality gap.
    """

    weights: NDArray
    dual: NDArray
    primal_value: float
    dual_value: float

    @property
    def gap(self) -> float:
        """Return the duality gap, an upper bound of the distance from the least primal value."""
        return self.primal_value - self.dual_value


class DualProblem:
    """The dual of a risk with an l1 penalty, over given margins.

    Parameters
    ----------
    risk : PairwiseRisk
        The risk; its loss must have `conjugate`.
    responses : ndarray of shape (n_weights, n_classes, n_samples)
        Scores of all classes and samples with one weight of 1 and the others 0.
    nu : float
        Weight of the penalty.
    largest : float
        Largest value of a weight.
    """

    def __init__(self, risk: PairwiseRisk, responses: NDArray, nu: float, largest: float) -> None:
        _, k, m = responses.shape
        own = responses[:, risk.y, np.arange(m)]
        wrong = np.ones((k, m), dtype=bool)
        wrong[risk.y, np.arange(m)] = False
        self._responses = responses
        self._matrix = (own[:, None, :] - responses)[:, wrong].T  # pairs x weights
        self._share = risk.factor * np.broadcast_to(risk.sample_weight, (k, m))[wrong]
        self._risk, self._nu, self._largest = risk, nu, largest
        self._sums_to_one = risk.form == "log-sum-exp"
        with np.errstate(over="ignore"):
            steepest = -float(risk.loss.derivative(np.array([-_FARTHEST]))[0])
        self._upper = steepest * self._share  # dual weights of margins of minus infinity

    def solve(self, tolerance: float) -> DualSolution:
        """Return the solution.

        Parameters
        ----------
        tolerance : float
            Duality gap at which the iteration ends.

        Returns
        -------
        DualSolution
            The solution.
        """
        dual = np.minimum(self._share, self._upper) / 2
        if self._sums_to_one:
            dual = self._share / self._share.sum()
        barrier = max(self._nu, 1e-3 * tolerance) * self._largest / 10
        smallest = 1e-2 * tolerance / sum(self._matrix.shape)
        best = self._at(dual, self._weights(dual, barrier)[0])
        while best.gap > tolerance and barrier > smallest:
            for _ in range(_MOST_STEPS):
                step, slope = self._newton(dual, barrier)
                dual = self._move(dual, step, slope, barrier)
                if -slope < _CLOSE_TO_THE_PATH * barrier:
                    break
            found = self._at(dual, self._weights(dual, barrier)[0])
            best = min(best, found, key=lambda solution: solution.gap)
            barrier *= _SHRINKAGE
        return best

    def _weights(self, dual: NDArray, barrier: float) -> tuple[NDArray, NDArray]:
        """Return the multipliers ``w = argmin w s - barrier (log w + log(L - w))``, and L - w.

        s are the slacks of the constraints. The smaller one of w and L - w is computed, so that
        nothing cancels.
        """
        slack = (self._nu - self._matrix.T @ dual) * self._largest
        near = 2 * barrier * self._largest
        near = near / (np.abs(slack) + 2 * barrier + np.hypot(slack, 2 * barrier))
        far = self._largest - near
        return np.where(slack > 0, near, far), np.where(slack > 0, far, near)

    def _margins(self, dual: NDArray) -> NDArray:
        """Return the margins rho at which the loss has the slope -u, by bisection (KKT)."""
        wanted = -dual / self._share
        low, high = np.full(len(dual), -_FARTHEST), np.full(len(dual), _FARTHEST)
        with np.errstate(over="ignore"):
            for _ in range(_HALVINGS):
                middle = 0.5 * (low + high)
                below = self._risk.loss.derivative(middle) < wanted
                low, high = np.where(below, middle, low), np.where(below, high, middle)
        return 0.5 * (low + high)

    def _newton(self, dual: NDArray, barrier: float) -> tuple[NDArray, float]:
        """Return Newton's step and the slope along it, which is negative."""
        weights, rest = self._weights(dual, barrier)
        margins = self._margins(dual)
        above = self._upper - dual
        gradient = self._matrix @ weights - margins + barrier * (1 / above - 1 / dual)
        width = 1e-5 * np.maximum(1.0, np.abs(margins))
        slopes = self._risk.loss.derivative
        bend = (slopes(margins + width) - slopes(margins - width)) / (2 * width)
        diagonal = 1.0 / (np.maximum(bend, 1e-300) * self._share)
        diagonal += barrier * (dual**-2.0 + above**-2.0)
        stiffness = barrier * (weights**-2.0 + rest**-2.0)
        scaled = self._matrix / np.sqrt(diagonal)[:, None]
        core = np.diag(stiffness) + scaled.T @ scaled

        def solved(right: NDArray) -> NDArray:
            inner = np.linalg.solve(core, self._matrix.T @ (right / diagonal))
            return (right - self._matrix @ inner) / diagonal

        step = -solved(gradient)
        if self._sums_to_one:
            ones = solved(np.ones(len(dual)))
            step -= ones * step.sum() / ones.sum()
        return step, float(gradient @ step)

    def _move(self, dual: NDArray, step: NDArray, slope: float, barrier: float) -> NDArray:
        """Return the point after a step that stays inside and lowers the function.

        The function is convex: where the slope has turned by little, it has fallen.
        """
        room = np.where(step < 0, dual, self._upper - dual)
        ratio = float(np.max(np.abs(step) / np.maximum(room, 1e-300), initial=1e-300))
        length = min(1.0, 0.9 / ratio)
        for _ in range(_MOST_CUTS):
            new = dual + length * step
            if self._gradient(new, barrier) @ step <= 0.5 * abs(slope):
                return new
            length *= 0.5
        return dual

    def _gradient(self, dual: NDArray, barrier: float) -> NDArray:
        weights = self._weights(dual, barrier)[0]
        barriers = barrier * (1 / (self._upper - dual) - 1 / dual)
        return self._matrix @ weights - self._margins(dual) + barriers

    def _at(self, dual: NDArray, weights: NDArray) -> DualSolution:
        """Return the values of both problems at a point."""
        scores = np.tensordot(weights, self._responses, 1)
        primal = self._risk.evaluate(scores)[0] + self._nu * float(weights.sum())
        conjugate: Any = self._risk.loss
        value = -float(self._share @ conjugate.conjugate(-dual / self._share))
        value += self._risk.constant - (1.0 if self._sums_to_one else 0.0)
        violation = np.maximum(self._matrix.T @ dual - self._nu, 0.0)
        value -= self._largest * float(violation.sum())
        return DualSolution(weights, dual, primal, value)


def solve_dual(
    risk: PairwiseRisk, responses: NDArray, nu: float, *, largest: float, tolerance: float
) -> NDArray:
    """Return the weights that minimise the risk with an l1 penalty, by the dual problem.

    Parameters
    ----------
    risk, responses, nu, largest
        As for `DualProblem`.
    tolerance : float
        Duality gap to be reached.

    Returns
    -------
    ndarray of shape (n_weights,)
        The weights; those that the barriers alone keep above 0 are 0.
    """
    found = DualProblem(risk, responses, nu, largest).solve(tolerance)
    small = found.weights < _NEGLIGIBLE * found.weights.max()
    return np.where(small, 0.0, found.weights)


def check_dual(loss: Loss, n_entries: int) -> None:
    """Raise where the dual problem cannot be solved.

    Parameters
    ----------
    loss : Loss
        The loss.
    n_entries : int
        Entries of the matrix of margins.

    Raises
    ------
    ValueError
        If the loss has no conjugate, or the problem is too large.
    """
    option = "solver_options={'problem': 'dual'}"
    if not callable(getattr(loss, "conjugate", None)):
        raise ValueError(f"{option} needs a loss with conjugate(dual): loss={loss!r} has none")
    if n_entries > MOST_ENTRIES:
        raise ValueError(
            f"{option} is for small problems: {n_entries:,} margins of samples, classes and "
            f"weights are more than {MOST_ENTRIES:,}; leave 'problem' out"
        )
