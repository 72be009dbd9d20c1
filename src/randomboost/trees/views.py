"""How trees see samples: through directions that all classes share, or class by class."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..projections.class_codes import class_codes
from ..projections.directions import Directions, project
from ..projections.matrices import class_wise_mixtures
from ..projections.points import ProjectedPoints
from ..projections.projection_arrays import (
    directions_from_arrays,
    directions_to_arrays,
    projection_from_arrays,
    projection_to_arrays,
)
from ..runtime.checked_arrays import Arrays, Taken, count, floats, ints, need
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

    @property
    def drawn_from(self) -> Any:
        """What a warm start compares with its parameters."""
        return self

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

    def dense_arrays(self, used: NDArray[np.int64]) -> Arrays:
        """Return some directions as arrays for a file."""
        rows = self.along(used)
        return {
            "dense.sizes": ints(np.diff(rows.indptr)),
            "dense.features": ints(rows.indices),
            "dense.coefficients": floats(rows.data),
        }

    def mixtures(self, used: NDArray[np.int64], dtype: np.dtype) -> dict[str, Any]:
        """Return how values along some directions are made (see `ensembles.base.PlainTables`)."""

        def rows(numbers: NDArray[np.int64]) -> Any:
            return self.directions.rows(used[numbers]).astype(dtype)

        return {"n_views": 1, "rows": rows}


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

    @property
    def drawn_from(self) -> Any:
        """What a warm start compares with its parameters."""
        return self.projection

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

    def dense_arrays(self, used: NDArray[np.int64]) -> Arrays:
        """Return some rows of all matrices as arrays for a file."""
        return {"dense.rows": floats(self.projection.rows(used, (0, self.n_features), np.float64))}

    def mixtures(self, used: NDArray[np.int64], dtype: np.dtype) -> dict[str, Any]:
        """Return how values of every class are made (see `ensembles.base.PlainTables`)."""
        return class_wise_mixtures(self.projection, used, {}, self.n_features, dtype)


def view_to_arrays(view: SharedView | ClassView) -> tuple[dict[str, Any], Arrays]:
    """Return a view as JSON and arrays.

    Parameters
    ----------
    view : SharedView or ClassView
        The view.

    Returns
    -------
    tuple of (dict, dict of str to ndarray)
        What `view_from_arrays` takes.
    """
    if isinstance(view, ClassView):
        inner, arrays = projection_to_arrays(view.projection)
        return {"kind": "class-wise", "projection": inner}, arrays
    described, arrays = directions_to_arrays(view.directions)
    return {"kind": "shared", "seed": view.seed} | described, arrays


def view_from_arrays(
    described: Any, taken: Taken, n_classes: int, n_features: int
) -> SharedView | ClassView:
    """Return the view that `view_to_arrays` was given.

    Parameters
    ----------
    described : object
        JSON.
    taken : Taken
        The arrays.
    n_classes, n_features : int
        Numbers of classes and features.

    Returns
    -------
    SharedView or ClassView
        The view.
    """
    need(isinstance(described, dict), "it does not say how its trees see samples")
    kind = described.get("kind")
    if kind == "class-wise":
        inner = described.get("projection")
        return ClassView(projection_from_arrays(inner, taken, n_classes, n_features), n_features)
    need(kind == "shared", "its trees see samples in no known way")
    directions = directions_from_arrays(described, taken, n_features)
    return SharedView(count(described, "seed", 2**63 - 1), n_classes, directions)
