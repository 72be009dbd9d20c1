"""Scores that are weighted sums of similarities to landmarks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..explain.landmark_contributions import explain_landmarks, landmark_importances
from ..projections.landmarks import Landmarks, WeightedSums, bent
from ..runtime.checked_arrays import Arrays, Taken, floats, need
from ..runtime.parallel import ThreadTeam
from .base import ModelShape
from .plain_tables import LandmarkTable, PlainTables
from .start import Start


@dataclass(frozen=True)
class LandmarkScores(Start):
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

    name = "landmarks"
    landmarks: Landmarks
    coefficients: NDArray[np.float32]
    share: float

    @cached_property
    def _sums(self) -> WeightedSums:
        return WeightedSums(self.landmarks, self.coefficients)

    @property
    def n_landmarks(self) -> int:
        """Number of landmarks."""
        return len(self.landmarks)

    def taken(self, X: Any) -> NDArray:
        """Return sparse input as an array: similarities need all features."""
        return X if isinstance(X, np.ndarray) else X.toarray()

    def scores(self, X: Any, team: ThreadTeam) -> NDArray[np.float32]:
        """Return the scores of prepared features."""
        return self._sums.of(X, team).astype(np.float32)

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

    def to_arrays(self) -> Arrays:
        """Return the arrays of a file by name."""
        return {
            "landmarks.points": self.landmarks.points,
            "landmarks.weights": self.landmarks.weights,
            "landmarks.coefficients": self.coefficients,
            "landmarks.about": floats(np.array([self.landmarks.width, self.share])),
        }

    @classmethod
    def from_arrays(cls, taken: Taken, shape: ModelShape) -> LandmarkScores:
        """Return the scores that `to_arrays` was given."""
        points = taken.single("landmarks.points", None, shape.n_features)
        need(len(points) > 0, "it has no landmarks")
        weights = taken.single("landmarks.weights", shape.n_features)
        coefficients = taken.single("landmarks.coefficients", len(points), shape.n_classes)
        width, share = taken.real("landmarks.about", 2).tolist()
        need(width >= 0, "the similarity to its landmarks does not fall")
        need(0 <= share <= 1, "the share of its landmarks is none")
        return cls(Landmarks(points, weights, width), coefficients, share)

    def in_tables(self, tables: PlainTables) -> PlainTables:
        """Return the tables of trees with those of the scores."""
        landmarks = self.landmarks
        table = LandmarkTable(
            landmarks.points,
            landmarks.weights,
            landmarks.width,
            landmarks.squares,
            self.coefficients,
        )
        return replace(tables, landmarks=table)
