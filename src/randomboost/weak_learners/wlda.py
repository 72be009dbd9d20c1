"""Weighted Fisher linear discriminant analysis, then a stump (table exp_proj_wlda)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve

from ..projections.points import FeaturePoints, ProjectedPoints
from ..search.fixed_point import to_fixed_point
from ..search.sorted import best_threshold, midpoints
from .hypotheses import Combination, Stump
from .stump import StumpLearner, make_stump

DIMENSIONS_PER_ROUND = 1000  # the paper's number of dimensions of one LDA
# ridge penalty, as a multiple of the mean variance of the dimensions that points fill
_RIDGE = {FeaturePoints: 1e-4, ProjectedPoints: 1.0}
_LEAST_RIDGE = 1e-4  # that makes the matrix invertible


class WLDALearner:
    """A stump on the direction ``(S1 + S2)^-1 (mu1 - mu2)``, besides the plain columns.

    The two classes of the analysis are the points of positive and of negative weight; means and
    covariances are weighted by its absolute value. A multiple of the identity, the ridge penalty,
    is added to ``S1 + S2``. It is small for features. Projected points fill only some dimensions,
    k times the number of features, which are many for the number of samples: there it is the mean
    variance of these.

    Parameters
    ----------
    points : Points
        The points.
    stumps : StumpLearner
        Searches the plain columns; the better of the two stumps is chosen.
    plain : bool, default=False
        Whether the ridge penalty is no larger than it must be, for projected points too.
    """

    discrete = True

    def __init__(self, points: Any, stumps: StumpLearner, *, plain: bool = False) -> None:
        self._points = points
        self._stumps = stumps
        self._ridge = _LEAST_RIDGE if plain else _RIDGE[type(points)]

    def _direction(self, weights: NDArray, columns: NDArray[np.int64]) -> NDArray | None:
        """Return the discriminant, or None if unscaled data is too large to be squared.

        Values that are a product B z of fewer numbers z have ``S = B S_z B'``, and
        ``(B S_z B' + ridge)^-1 B = B (S_z B'B + ridge)^-1`` is a smaller problem.
        """
        basis = self._points.basis(columns)
        with np.errstate(over="ignore", invalid="ignore"):
            sides = np.maximum(weights, 0.0), np.maximum(-weights, 0.0)
            if basis is None:
                moments = [self._points.moments(side, columns) for side in sides]
            else:
                moments = [self._points.basis_moments(side) for side in sides]
            means, covariances = zip(*moments, strict=True)
            scatter = covariances[0] + covariances[1]
            spread = np.stack(means, axis=1)
            if basis is not None:
                scatter, spread = scatter @ (basis.T @ basis), basis @ spread
            size = np.trace(scatter) + 1e-6 * np.square(spread).sum()
        if not (np.isfinite(scatter).all() and np.isfinite(size)):
            return None
        ridge = self._ridge * size / self._points.max_rank(columns)
        ridge = max(ridge, np.finfo(np.float64).tiny)
        scatter.flat[:: len(scatter) + 1] += ridge
        difference = means[0] - means[1]
        if basis is None:
            direction = solve(scatter, difference, assume_a="pos")
        else:
            direction = basis @ solve(scatter, difference)
        return direction / max(np.abs(direction).max(), np.finfo(np.float64).tiny)

    def fit(
        self, weights: NDArray, columns: NDArray[np.int64], rng: np.random.Generator
    ) -> tuple[Stump, float] | None:
        """Return the better of the best plain stump and the stump on the LDA direction.

        Parameters
        ----------
        weights : ndarray of shape (n_points,)
            Signed weights, not all zero.
        columns : ndarray of int64
            Columns to search, and to draw the dimensions of the analysis from.
        rng : numpy.random.Generator
            Draws those dimensions.

        Returns
        -------
        tuple of (Stump, float) or None
            None if all columns are constant.
        """
        plain = self._stumps.fit(weights, columns, rng)
        if plain is None or not ((weights > 0).any() and (weights < 0).any()):
            return plain
        if len(columns) > DIMENSIONS_PER_ROUND:
            columns = np.sort(rng.choice(columns, DIMENSIONS_PER_ROUND, replace=False))
        direction = self._direction(weights, columns)
        if direction is None:
            return plain
        mix = Combination(columns, direction)
        values = self._points.along(self._points.combine(mix.columns, mix.coefficients))
        below, above = best_threshold(values, to_fixed_point(weights))
        if not below < above:
            return plain
        cut = float(midpoints(values.dtype.type(below), values.dtype.type(above)))
        joined = make_stump(self._points, weights, -1, cut, real=False, combination=mix)
        return joined if joined[1] > plain[1] else plain
