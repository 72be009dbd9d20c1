"""Trees that go on from scores of another model: a fitted ensemble of both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..runtime.checked_arrays import Arrays, Taken
from ..runtime.parallel import ThreadTeam
from .base import Ensemble, ModelShape, as_shares
from .landmark_average import LandmarkAverage
from .linear_scores import LinearScores
from .plain_tables import PlainTables
from .sparse_trees import SparseTrees
from .start import Start


class StartedTrees(Ensemble):
    """Scores of a model, and trees that were trained to improve them.

    Parameters
    ----------
    start : Start
        What training started from.
    trees : SparseTrees
        The trees.
    """

    start_kind: ClassVar[type[Start]]
    takes_missing = True
    is_sparse = True
    explains = True
    takes_new_classes = True

    def __init__(self, start: Start, trees: SparseTrees) -> None:
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

    def with_classes(self, numbers: NDArray[np.int64], totals: NDArray) -> StartedTrees:
        """Return the ensemble with further classes."""
        start = self.start.with_classes(numbers, len(totals))
        return type(self)(start, self.trees.with_classes(numbers, totals))

    def scores(self, X: Any, team: ThreadTeam) -> NDArray[np.float32]:
        """Return the scores of all classes, shape (n_classes, n_samples), float32."""
        X = self.start.taken(X)
        return self.trees.scores(X, team) + self.start.scores(X, team)

    def best(self, X: Any, team: ThreadTeam) -> NDArray[np.int64]:
        """Return the class with the largest score."""
        X = self.start.taken(X)
        return self.trees.best_from(self.start.scores(X, team), X, team)

    def staged_scores(self, X: Any, team: ThreadTeam) -> Iterator[NDArray[np.float32]]:
        """Yield the scores of all classes after every round."""
        X = self.start.taken(X)
        begin = self.start.scores(X, team)
        for scores in self.trees.staged_scores(X, team):
            yield scores + begin

    def contributions(
        self, X: Any, classes: NDArray[np.int64], team: ThreadTeam
    ) -> tuple[NDArray, NDArray]:
        """Return what features contribute to scores, and the scores that are expected without."""
        X = self.start.taken(X)
        of_trees, base = self.trees.contributions(X, classes, team)
        of_start, more = self.start.contributions(X, classes)
        return of_trees + of_start, base + more

    def importances(self, n_features: int) -> NDArray:
        """Return the share of every feature in what the start and the trees gained."""
        start = as_shares(self.start.importances())
        trees = self.trees.importances(n_features)
        share = self.start.share if trees.any() else 1.0
        return as_shares(share * start + (1.0 - share) * trees)

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
    ) -> StartedTrees:
        """Return the ensemble that `to_arrays` was given."""
        trees = SparseTrees.from_arrays(described, taken, shape)
        return cls(cls.start_kind.from_arrays(taken, shape), trees)

    def tables(self, shape: ModelShape) -> PlainTables:
        """Return the trees with their vector leaves, and what they start from."""
        return self.start.in_tables(self.trees.tables(shape))


class LandmarkTrees(StartedTrees):
    """Means of scores of landmarks, which take the mean for a missing value, and trees."""

    kind = "landmarks and trees"
    start_kind = LandmarkAverage
    start: LandmarkAverage


class LinearTrees(StartedTrees):
    """Linear scores and trees."""

    kind = "linear scores and trees"
    start_kind = LinearScores
    start: LinearScores


def apart(ensemble: SparseTrees | StartedTrees) -> tuple[Start | None, SparseTrees]:
    """Return what an ensemble of trees starts from, if that is not the prior, and its trees.

    Parameters
    ----------
    ensemble : SparseTrees or StartedTrees
        The ensemble.

    Returns
    -------
    tuple of (Start or None, SparseTrees)
        Its parts.
    """
    if isinstance(ensemble, StartedTrees):
        return ensemble.start, ensemble.trees
    return None, ensemble


def together(start: Start | None, trees: SparseTrees) -> SparseTrees | StartedTrees:
    """Return the ensemble of what trees start from and the trees.

    Parameters
    ----------
    start : Start or None
        What they start from; None for the prior.
    trees : SparseTrees
        The trees.

    Returns
    -------
    SparseTrees or StartedTrees
        The ensemble.
    """
    if start is None:
        return trees
    kind = LinearTrees if isinstance(start, LinearScores) else LandmarkTrees
    return kind(start, trees)
