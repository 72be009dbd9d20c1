"""Trees that go on from scores of landmarks: a fitted ensemble of both."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..runtime.checked_arrays import Arrays, Taken
from ..runtime.parallel import ThreadTeam
from .base import Ensemble, ModelShape, as_shares
from .landmark_average import LandmarkAverage
from .plain_tables import PlainTables
from .sparse_trees import SparseTrees


class LandmarkTrees(Ensemble):
    """Scores of landmarks, and trees that were trained to improve them.

    Parameters
    ----------
    start : LandmarkAverage
        What training started from.
    trees : SparseTrees
        The trees.
    """

    kind = "landmarks and trees"
    takes_missing = True  # the mean for landmarks
    is_sparse = True
    explains = True
    takes_new_classes = True

    def __init__(self, start: LandmarkAverage, trees: SparseTrees) -> None:
        self.start, self.trees = start, trees

    @property
    def n_rounds(self) -> int:
        """Number of rounds."""
        return self.trees.n_rounds

    @property
    def n_members(self) -> int:
        """Number of trees of a round."""
        return self.trees.n_members

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return self.trees.n_trees

    @property
    def weights(self) -> NDArray:  # type: ignore[override]
        """The most that each round adds to or takes from a score."""
        return self.trees.weights

    def with_classes(self, numbers: NDArray[np.int64], totals: NDArray) -> LandmarkTrees:
        """Return the ensemble with further classes."""
        start = self.start.with_classes(numbers, len(totals))
        return LandmarkTrees(start, self.trees.with_classes(numbers, totals))

    def scores(self, X: Any, team: ThreadTeam) -> NDArray[np.float32]:
        """Return the scores of all classes, shape (n_classes, n_samples), float32."""
        X = _dense(X)
        return self.trees.scores(X, team) + self.start.scores(X, team)

    def best(self, X: Any, team: ThreadTeam) -> NDArray[np.int64]:
        """Return the class with the largest score."""
        X = _dense(X)
        return self.trees.best_from(self.start.scores(X, team), X, team)

    def staged_scores(self, X: Any, team: ThreadTeam) -> Iterator[NDArray[np.float32]]:
        """Yield the scores of all classes after every round."""
        X = _dense(X)
        begin = self.start.scores(X, team)
        for scores in self.trees.staged_scores(X, team):
            yield scores + begin

    def contributions(
        self, X: Any, classes: NDArray[np.int64], team: ThreadTeam
    ) -> tuple[NDArray, NDArray]:
        """Return what features contribute to scores, and the scores that are expected without."""
        X = _dense(X)
        of_trees, base = self.trees.contributions(X, classes, team)
        of_landmarks, more = self.start.contributions(X, classes)
        return of_trees + of_landmarks, base + more

    def importances(self, n_features: int) -> NDArray:
        """Return the share of every feature in what landmarks and trees gained."""
        landmarks = as_shares(self.start.importances())
        trees = self.trees.importances(n_features)
        share = self.start.share if trees.any() else 1.0
        return as_shares(share * landmarks + (1.0 - share) * trees)

    def largest_margin(self) -> float:
        """Return a bound of the difference between any two scores of a row."""
        return self.trees.largest_margin() + self.start.largest_margin()

    def to_arrays(self, *, dense: bool) -> tuple[dict[str, Any], Arrays]:
        """Return the ensemble as JSON and arrays."""
        described, arrays = self.trees.to_arrays(dense=dense)
        return described, arrays | self.start.to_arrays()

    @classmethod
    def from_arrays(
        cls, described: dict[str, Any], taken: Taken, shape: ModelShape
    ) -> LandmarkTrees:
        """Return the ensemble that `to_arrays` was given."""
        trees = SparseTrees.from_arrays(described, taken, shape)
        return cls(LandmarkAverage.from_arrays(taken, shape), trees)

    def tables(self, shape: ModelShape) -> PlainTables:
        """Return the trees with their vector leaves, and the landmarks."""
        return replace(self.trees.tables(shape), landmarks=self.start.tables())


def _dense(X: Any) -> NDArray:
    """Return sparse input as an array: similarities need all features."""
    return X if isinstance(X, np.ndarray) else X.toarray()


def apart(ensemble: SparseTrees | LandmarkTrees) -> tuple[LandmarkAverage | None, SparseTrees]:
    """Return what an ensemble of trees starts from, if that is not the prior, and its trees.

    Parameters
    ----------
    ensemble : SparseTrees or LandmarkTrees
        The ensemble.

    Returns
    -------
    tuple of (LandmarkAverage or None, SparseTrees)
        Its parts.
    """
    if isinstance(ensemble, LandmarkTrees):
        return ensemble.start, ensemble.trees
    return None, ensemble


def together(start: LandmarkAverage | None, trees: SparseTrees) -> SparseTrees | LandmarkTrees:
    """Return the ensemble of what trees start from and the trees.

    Parameters
    ----------
    start : LandmarkAverage or None
        What they start from; None for the prior.
    trees : SparseTrees
        The trees.

    Returns
    -------
    SparseTrees or LandmarkTrees
        The ensemble.
    """
    return trees if start is None else LandmarkTrees(start, trees)
