"""How trees see samples: through directions that all classes share, or class by class."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..projections.class_codes import class_codes
from ..projections.directions import Directions, project
from ..projections.points import ProjectedPoints
from ..runtime.parallel import ThreadTeam


class SharedView:
    """Directions shared by all classes, with a class code at every split.

    Parameters
    ----------
    seed : int
        Seed of the class codes.
    n_classes : int
        Number of classes.
    directions : Directions
        The directions.
    """

    by_class = True

    def __init__(self, seed: int, n_classes: int, directions: Directions) -> None:
        self.seed, self.n_classes, self.directions = seed, n_classes, directions
        self.codes = class_codes(seed, n_classes)
        self.n_directions, self.starts = len(directions), directions.starts
        self.weights = directions.weights

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.seed, self.n_classes, self.directions)

    def n_rows(self, n_samples: int) -> int:
        """Return the number of rows of values of some samples."""
        return n_samples

    def along(self, indices: NDArray[np.int64]) -> Any:
        """Return some directions in the form that `values` takes."""
        return self.directions.rows(indices)

    def values(self, X: Any, along: Any, team: ThreadTeam) -> NDArray:
        """Return values along some directions, (number of them, n_rows)."""
        return project(X, along, team)

    def by_row(self, scores: NDArray) -> NDArray:
        """Return scores (n_classes, n_samples) as (classes of a row, n_rows)."""
        return scores

    def energies(self, indices: NDArray[np.int64]) -> NDArray:
        """Return the share of every feature in some directions, (len(indices), n_features)."""
        squares = self.directions.rows(indices).power(2).toarray()
        return squares / squares.sum(axis=1, keepdims=True)


class ClassView:
    """A random matrix for every class, as in the paper: every point is a row of its own.

    Parameters
    ----------
    projection : Projection
        The class-wise matrices.
    n_features : int
        Number of features.
    """

    by_class = False

    def __init__(self, projection: Any, n_features: int) -> None:
        self.projection, self.n_features = projection, n_features
        self.seed, self.n_classes = projection.seed, projection.n_classes
        self.codes = class_codes(self.seed, 1)
        self.n_directions = projection.n_projections
        self.starts, self.weights = np.array([0, self.n_directions]), np.ones(1)

    def n_rows(self, n_samples: int) -> int:
        """Return the number of rows of values of some samples."""
        return n_samples * self.n_classes

    def along(self, indices: NDArray[np.int64]) -> Any:
        """Return some directions in the form that `values` takes."""
        return indices

    def values(self, X: Any, along: Any, team: ThreadTeam) -> NDArray:
        """Return values along some directions, (number of them, n_rows)."""
        if not sp.issparse(X) and np.isnan(X).any():
            X = np.nan_to_num(X, nan=0.0)  # every direction mixes all features
        points = ProjectedPoints(X, self.projection, merge=False)
        return np.stack([points.column(v) for v in along])

    def by_row(self, scores: NDArray) -> NDArray:
        """Return scores (n_classes, n_samples) as (classes of a row, n_rows)."""
        return scores.reshape(1, -1)

    def energies(self, indices: NDArray[np.int64]) -> NDArray:
        """Return the share of every feature in some directions, (len(indices), n_features)."""
        rows = self.projection.rows(indices, (0, self.n_features), np.float64)
        squares = (rows**2).sum(axis=0)
        return squares / squares.sum(axis=1, keepdims=True)
