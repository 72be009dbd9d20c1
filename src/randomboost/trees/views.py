"""How trees see samples: through directions that all classes share, or class by class."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..parallel import ThreadTeam
from ..points import ProjectedPoints
from .codes import class_codes
from .directions import Directions, project
from .forest import Forest, add_scores

_BLOCK_BYTES = 1 << 22  # values of the samples that are scored together


class SharedView:
    """Directions shared by all classes, with a class code at every split.

    Parameters
    ----------
    seed : int
        Seed of the codes.
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
        """Return how many rows of values samples have."""
        return n_samples

    def along(self, indices: NDArray[np.int64]) -> Any:
        """Return some directions in the form that `values` wants."""
        return self.directions.rows(indices)

    def values(self, X: Any, along: Any, team: ThreadTeam) -> NDArray:
        """Return values along some directions, (number of them, n_rows)."""
        return project(X, along, team)

    def energies(self, indices: NDArray[np.int64]) -> NDArray:
        """Return the share of every feature in some directions, (len(indices), n_features)."""
        squares = self.directions.rows(indices).power(2).toarray()
        return squares / squares.sum(axis=1, keepdims=True)


class ClassView:
    """A random matrix for every class, as in the paper: each point is a row of its own.

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
        """Return how many rows of values samples have."""
        return n_samples * self.n_classes

    def along(self, indices: NDArray[np.int64]) -> Any:
        """Return some directions in the form that `values` wants."""
        return indices

    def values(self, X: Any, along: Any, team: ThreadTeam) -> NDArray:
        """Return values along some directions, (number of them, n_rows)."""
        if not sp.issparse(X) and np.isnan(X).any():
            X = np.nan_to_num(X, nan=0.0)  # every feature is part of a mixture
        points = ProjectedPoints(X, self.projection, merge=False)
        return np.stack([points.column(v) for v in along])

    def energies(self, indices: NDArray[np.int64]) -> NDArray:
        """Return the share of every feature in some directions, (len(indices), n_features)."""
        rows = self.projection.rows(indices, (0, self.n_features), np.float64)
        squares = (rows**2).sum(axis=0)
        return squares / squares.sum(axis=1, keepdims=True)


class ForestScorer:
    """Computes the scores ``baseline_r + sum_t w_t h_t(x, r)`` of trees.

    Parameters
    ----------
    view : SharedView or ClassView
        How the trees see samples.
    forest : Forest
        The trees.
    weights : ndarray
        Their weights.
    baseline : ndarray of shape (n_classes,)
        Scores before the first tree.
    """

    def __init__(self, view: Any, forest: Forest, weights: NDArray, baseline: NDArray) -> None:
        self._arguments = view, forest, weights, baseline
        self._view, self._forest, self._weights = view, forest, weights
        self._baseline = baseline.astype(np.float32)
        self._used, columns = np.unique(forest.columns, return_inverse=True)
        shift = int(self._used[0] < 0)
        self._used = self._used[shift:].astype(np.int64)
        self._columns = (columns - shift).astype(np.int32)
        self._along = view.along(self._used)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._arguments

    def _start(self, n_samples: int) -> NDArray[np.float32]:
        return np.repeat(self._baseline[:, None], n_samples, axis=1)

    def _flat(self, scores: NDArray) -> NDArray:
        return scores if self._view.by_class else scores.reshape(1, -1)

    def scores(self, X: Any, team: ThreadTeam) -> NDArray:
        """Return the scores, shape (n_classes, n_samples), float32.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
            Scaled data.
        team : ThreadTeam
            Threads.

        Returns
        -------
        ndarray
            The scores.
        """
        n_samples = X.shape[0]
        out = np.empty((len(self._baseline), n_samples), dtype=np.float32)
        forest = self._forest
        renamed = _Columns(forest, self._columns)
        together = max(512, _BLOCK_BYTES // (8 * len(self._used) * self._view.n_rows(1)))
        alone = ThreadTeam(1)  # a block is one thread's, so that its values stay in the cache

        def work(first: int, last: int) -> None:
            for begin in range(first, last, together):
                end = min(begin + together, last)
                values = self._view.values(X[begin:end], self._along, alone)
                scores = self._start(end - begin)
                add_scores(
                    renamed, self._weights, values, forest.thresholds, self._view.codes,
                    self._flat(scores), alone, forest.starts,
                )  # fmt: skip
                out[:, begin:end] = scores

        team.run(work, n_samples, grain=256)
        return out

    def staged(self, X: Any, team: ThreadTeam) -> Iterator[NDArray]:
        """Yield the scores after every tree.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
            Scaled data.
        team : ThreadTeam
            Threads.

        Yields
        ------
        ndarray of shape (n_classes, n_samples)
            The scores.
        """
        values = self._view.values(X, self._along, team)
        scores = self._start(X.shape[0])
        starts = self._forest.starts
        for t, tree in enumerate(self._forest):
            renamed = _Columns(tree, self._columns[starts[t] : starts[t + 1]])
            add_scores(
                renamed, self._weights[t : t + 1], values, tree.thresholds, self._view.codes,
                self._flat(scores), team,
            )  # fmt: skip
            yield scores.copy()


class _Columns:
    """Trees whose columns have other numbers: those of the directions in use."""

    def __init__(self, trees: Any, columns: NDArray[np.int32]) -> None:
        self.columns, self.codes = columns, trees.codes
        self.left, self.values = trees.left, trees.values
