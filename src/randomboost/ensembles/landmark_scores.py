"""Scores that are weighted sums of similarities to landmarks."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..explain.landmark_contributions import explain_landmarks, landmark_importances
from ..projections.landmarks import Landmarks, WeightedSums, bent
from ..runtime.parallel import ThreadTeam


@dataclass(frozen=True)
class LandmarkScores:
    """Scores ``sum_v similarity_v(x) c_vr`` of the classes r.

    Parameters
    ----------
    landmarks : Landmarks
        The landmarks v.
    coefficients : ndarray of float32 of shape (n_landmarks, n_classes)
        The coefficients c.
    share : float
        Part of the loss of the prior that these scores remove, on samples they do not know.
    """

    landmarks: Landmarks
    coefficients: NDArray[np.float32]
    share: float

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @cached_property
    def _sums(self) -> WeightedSums:
        return WeightedSums(self.landmarks, self.coefficients)

    def equals(self, other: Any) -> bool:
        """Return whether these are the scores of other ones, bit for bit."""
        mine, theirs = self.landmarks, other.landmarks
        return (
            (mine.width, self.share) == (theirs.width, other.share)
            and np.array_equal(mine.points, theirs.points)
            and np.array_equal(mine.weights, theirs.weights)
            and np.array_equal(self.coefficients, other.coefficients)
        )

    def sums(self, X: Any, team: ThreadTeam) -> NDArray:
        """Return the scores in double precision; see `scores`."""
        return self._sums.of(X, team)

    def scores(self, X: Any, team: ThreadTeam) -> NDArray[np.float32]:
        """Return the scores of prepared features.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Scaled data.
        team : ThreadTeam
            Threads.

        Returns
        -------
        ndarray of float32 of shape (n_classes, n_samples)
            The scores.
        """
        return self.sums(X, team).astype(np.float32)

    def contributions(self, X: Any, classes: NDArray[np.int64]) -> tuple[NDArray, NDArray]:
        """Return integrated gradients, from the means of the features on."""
        points, table = self._points, self.coefficients.astype(np.float64)
        if table.shape[1] == 2:
            table = table - table[:, ::-1]
        Z = bent(X) * self.landmarks.weights.astype(np.float64)
        found = [
            explain_landmarks(Z, points, self.landmarks.width, table[:, column].T)
            for column in classes.T
        ]
        contributions, bases = (np.stack(part, axis=-1) for part in zip(*found, strict=True))
        return contributions, bases

    def importances(self) -> NDArray:
        """Return how much the scores vary with every feature."""
        coefficients = self.coefficients.astype(np.float64)
        return landmark_importances(self._points, self.landmarks.width, coefficients)

    @property
    def _points(self) -> NDArray:
        return self.landmarks.points.astype(np.float64)

    def largest_margin(self) -> float:
        """Return a bound of the difference between any two scores of a row.

        A difference of scores is a function of the space that belongs to the similarity: no value
        exceeds its norm there.
        """
        points, C = self._points, self.coefficients.astype(np.float64)
        squares = (points**2).sum(axis=1)
        distances = np.maximum(squares[:, None] + squares - 2.0 * points @ points.T, 0.0)
        products = C.T @ np.exp(-self.landmarks.width * distances) @ C
        norms = np.diag(products)
        return float(np.sqrt(np.maximum(norms[:, None] + norms - 2.0 * products, 0.0).max()))

    def with_classes(self, numbers: NDArray[np.int64], n_classes: int) -> LandmarkScores:
        """Return the scores with further classes, which have none."""
        coefficients = np.zeros((len(self.landmarks), n_classes), dtype=np.float32)
        coefficients[:, numbers] = self.coefficients
        return LandmarkScores(self.landmarks, coefficients, self.share)
