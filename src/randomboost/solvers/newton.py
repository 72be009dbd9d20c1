"""Totally corrective weights by Newton's method, for the logistic loss.

Most entries of w are 0 at the minimum, so that the Hessian of the others is small. A step minimises
a quadratic model over the bounds. Its Hessian may be rough (pairs with hardly any curvature are
left out, an earlier one serves where it predicts well), since value and gradient are exact.
L-BFGS-B (`corrective`) needs some hundred evaluations, and ends far from the minimum where nu is
small; these steps need five to fifteen.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..runtime.compiling import kernel
from .bounded_quadratic import minimum
from .risk import PairwiseRisk

_NEGLIGIBLE = 0.01  # share of the mean curvature below which pairs are left out of the Hessian
_TRUSTED = 0.1  # relative error of the predicted fall up to which a Hessian is kept
_MOST_CUTS = 30
_ENOUGH = 1e-4  # share of the predicted decrease that a step must reach
_FEWEST_NEW = 64  # weights that may become positive in one step
_CONSTANT = np.finfo(np.float64).eps  # relative change of the value that is rounding

Evaluation = tuple[float, NDArray, NDArray]  # value, signed weights, gradient


@kernel
def _weighted_differences(
    responses: NDArray,
    places: NDArray,
    pairs: NDArray,
    samples: NDArray,
    y: NDArray,
    roots: NDArray,
    out: NDArray,
) -> None:
    """Scores of the true class less those of a wrong one, for some weights and pairs.

    `pairs` are places in the scores of all classes and samples one after the other.
    """
    own = np.empty(len(y), responses.dtype)
    for a in range(len(places)):
        response, row = responses[places[a]], out[a]
        flat = response.reshape(-1)
        for i in range(len(y)):
            own[i] = response[y[i], i]
        for p in range(len(samples)):
            row[p] = roots[p] * (own[samples[p]] - flat[pairs[p]])


class NewtonSolver:
    """Minimises ``R(F(w)) + nu 1^T w`` over 0 <= w <= largest, where F is linear.

    Parameters
    ----------
    risk : PairwiseRisk
        The risk, of the logistic loss.
    largest : float
        Largest value of a weight.
    """

    def __init__(self, risk: PairwiseRisk, largest: float) -> None:
        self._risk, self._largest = risk, largest
        self._full = risk.factor * risk.sample_weight  # dual weights at margins of minus infinity

    def solve(
        self,
        evaluate: Callable[[NDArray], Evaluation],
        responses: Callable[[NDArray[np.int64]], tuple[NDArray, NDArray[np.int64]]],
        weights: NDArray,
        *,
        lead: tuple[NDArray, NDArray] | None = None,
        slack: float,
        tolerance: float,
        iterations: int,
    ) -> NDArray:
        """Return the minimiser.

        Parameters
        ----------
        evaluate : callable
            Returns value, signed weights and gradient at w.
        responses : callable
            Returns an array of scores of all classes and samples with one weight of 1 and the
            others 0, shape (any number, n_classes, n_samples), and where those of given weights
            stand in it.
        weights : ndarray of shape (n_weights,)
            Where to start.
        lead : tuple of ndarray or None
            Signed weights that stand for the curvature, and the gradient, of a model of the risk
            that replaces it in the first step: where the value at `weights` is far from the
            minimum, a model made elsewhere can be better than that at `weights`.
        slack : float
            How far below 0 an entry of the gradient may be for a weight to stay 0.
        tolerance : float
            Ends the iteration at a predicted fall of the value below this share of it.
        iterations : int
            Maximum number of steps.

        Returns
        -------
        ndarray of shape (n_weights,)
            The weights.
        """
        weights = np.minimum(weights, self._largest)
        value, signed, gradient = evaluate(weights)
        if lead is not None:
            start = self._minimum_of_the_model(*lead, responses, weights, slack)
            found = evaluate(start)
            if found[0] < value:
                weights, (value, signed, gradient) = start, found
        model: tuple[NDArray[np.int64], NDArray] | None = None
        negligible = _NEGLIGIBLE
        for _ in range(iterations):
            active, all_of_them = self._active(weights, gradient, slack)
            if not len(active):
                break
            if model is not None and np.isin(active, model[0]).all():
                kept = np.searchsorted(model[0], active)
                hessian = model[1][np.ix_(kept, kept)]
            else:
                hessian = self._hessian(signed, *responses(active), negligible)
                model = active, hessian
            point = minimum(hessian, gradient[active], weights[active], self._largest)
            move = point - weights[active]
            step = np.zeros(len(weights))
            step[active] = move
            slope = float(gradient @ step)
            expected = -slope - 0.5 * float(move @ (hessian @ move))
            better = self._search(evaluate, weights, value, step, slope)
            if better is None:
                break
            fall = value - better[1]
            weights, value, signed, gradient = better
            if all_of_them and max(fall, -0.5 * slope) <= max(tolerance, _CONSTANT) * abs(value):
                break
            if abs(fall - expected) > _TRUSTED * expected:
                model = None
            if fall < 0.5 * expected:  # the pairs left out are what holds back some directions
                negligible = 0.0
        return weights

    def _minimum_of_the_model(
        self,
        signed: NDArray,
        gradient: NDArray,
        responses: Callable[[NDArray[np.int64]], tuple[NDArray, NDArray[np.int64]]],
        weights: NDArray,
        slack: float,
    ) -> NDArray:
        """Return all weights after one step, whatever the value there."""
        active, _ = self._active(weights, gradient, slack)
        new = weights.copy()
        if len(active):
            hessian = self._hessian(signed, *responses(active))
            new[active] = minimum(hessian, gradient[active], weights[active], self._largest)
        return new

    def _active(
        self, weights: NDArray, gradient: NDArray, slack: float
    ) -> tuple[NDArray[np.int64], bool]:
        """Return the weights of the next step, and whether these are all that should change."""
        positive = np.flatnonzero(weights > 0)
        new = np.flatnonzero((weights == 0) & (gradient < -slack))
        room = max(_FEWEST_NEW, len(positive) // 4)
        if len(new) <= room:
            return np.sort(np.concatenate([positive, new])), True
        new = new[np.argpartition(gradient[new], room)[:room]]
        return np.sort(np.concatenate([positive, new])), False

    def _bend(self, signed: NDArray) -> NDArray:
        """Return the curvature of the loss of all pairs, 0 for the true classes."""
        dual = -signed
        dual[self._risk.y, np.arange(len(self._risk.y))] = 0.0
        return dual * (1.0 - dual / np.maximum(self._full, 1e-300))

    def shifted(self, signed: NDArray, votes: NDArray, outputs: NDArray) -> NDArray:
        """Return what the quadratic model says of the signed weights after a change of scores.

        Parameters
        ----------
        signed : ndarray of shape (n_classes, n_samples)
            Signed weights where the model is made.
        votes : ndarray of shape (n_classes,)
            Votes of a further weak classifier.
        outputs : ndarray of shape (n_samples,)
            Its outputs.

        Returns
        -------
        ndarray of shape (n_classes, n_samples)
            The signed weights.
        """
        y = self._risk.y
        change = self._bend(signed) * ((votes[y] - votes[:, None]) * outputs)
        change[y, np.arange(len(y))] = -change.sum(axis=0)
        return signed + change

    def _hessian(
        self,
        signed: NDArray,
        responses: NDArray,
        places: NDArray[np.int64],
        negligible: float = _NEGLIGIBLE,
    ) -> NDArray:
        """Return the Hessian of the given weights, without pairs of negligible curvature."""
        y = self._risk.y
        flat = self._bend(signed).reshape(-1)
        least = negligible * flat.sum() / max(np.count_nonzero(flat), 1)
        pairs = np.flatnonzero(flat > least)
        samples = pairs % len(y)
        roots = np.sqrt(flat[pairs])
        matrix = np.empty((len(places), len(samples)))
        _weighted_differences(responses, places, pairs, samples, y, roots, matrix)
        return matrix @ matrix.T

    def _search(
        self,
        evaluate: Callable[[NDArray], Evaluation],
        weights: NDArray,
        value: float,
        step: NDArray,
        slope: float,
    ) -> tuple[NDArray, float, NDArray, NDArray] | None:
        """Shorten a step until it lowers the value enough; None if no step does."""
        if slope >= 0:
            return None
        length = 1.0
        for _ in range(_MOST_CUTS):
            new = np.clip(weights + length * step, 0.0, self._largest)
            new_value, signed, gradient = evaluate(new)
            if new_value <= value + _ENOUGH * length * slope:
                return new, new_value, signed, gradient
            slope_there = slope * length
            cut = -0.5 * slope_there / (new_value - value - slope_there)
            length *= min(max(cut, 0.1), 0.5)
        return None
