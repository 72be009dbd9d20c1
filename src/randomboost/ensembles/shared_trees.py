"""Boosted trees that all classes share: ``F_r(x) = baseline_r + sum_t w_t h_t(x, r)``.

Values along the directions in use are computed block by block, so that they stay in the cache
while samples go through the trees.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..runtime.checked_arrays import Arrays, Taken, floats, ints, need
from ..runtime.parallel import ThreadTeam
from ..trees.forest import Forest, Tree, TreePredictor
from ..trees.forest_arrays import forest_from_arrays, forest_to_arrays
from ..trees.views import ClassView, SharedView, view_from_arrays, view_to_arrays
from .base import Ensemble, ModelShape, as_shares
from .plain_tables import PlainTables, TreeTable

_BLOCK_BYTES = 1 << 22  # values of the samples that are scored together


def _renumbered(tree: Tree, used: NDArray[np.int64]) -> Tree:
    """Return a tree whose columns are places among the directions in use."""
    places = np.where(tree.columns < 0, -1, np.searchsorted(used, tree.columns))
    return replace(tree, columns=places.astype(np.int32))


class SharedTrees(Ensemble):
    """Trees on directions with class codes, or on the class-wise projections of the paper.

    Parameters
    ----------
    view : SharedView or ClassView
        How the trees see samples.
    forest : Forest
        The trees, with outputs in [-1, 1].
    weights : ndarray of shape (n_rounds,)
        Their weights.
    baseline : ndarray of shape (n_classes,)
        Scores before the first tree.
    state : dict of str to ndarray
        What a trainer needs to continue as if it had not stopped.
    """

    kind = "shared trees"

    def __init__(
        self,
        view: SharedView | ClassView,
        forest: Forest,
        weights: NDArray,
        baseline: NDArray,
        state: dict[str, NDArray],
    ) -> None:
        self.view, self.forest, self.weights = view, forest, weights
        self.baseline, self.state = baseline, state

    def __getstate__(self) -> dict[str, Any]:
        names = ("view", "forest", "weights", "baseline", "state")
        return {name: getattr(self, name) for name in names}

    @property
    def n_rounds(self) -> int:
        """Number of trees."""
        return len(self.forest)

    @property
    def takes_missing(self) -> bool:
        """Trees take missing values."""
        return True

    @cached_property
    def _used(self) -> NDArray[np.int64]:
        return self.forest.columns_in_use()

    @cached_property
    def _along(self) -> Any:
        return self.view.along(self._used)

    @cached_property
    def _compact(self) -> Forest:
        return Forest([_renumbered(tree, self._used) for tree in self.forest])

    @cached_property
    def _predictor(self) -> TreePredictor:
        return TreePredictor(self._compact, self.weights, self._compact.thresholds, self.view.codes)

    def _start(self, n_samples: int) -> NDArray[np.float32]:
        return np.repeat(self.baseline.astype(np.float32)[:, None], n_samples, axis=1)

    def scores(self, X: Any, team: ThreadTeam) -> NDArray:
        """Return the scores, shape (n_classes, n_samples), float32."""
        n_samples = X.shape[0]
        out = np.empty((len(self.baseline), n_samples), dtype=np.float32)
        together = max(1024, _BLOCK_BYTES // (8 * len(self._used) * self.view.n_rows(1)))
        alone = ThreadTeam(1)  # a block is one thread's, so that its values stay in the cache
        along, predictor = self._along, self._predictor

        def work(first: int, last: int) -> None:
            for begin in range(first, last, together):
                end = min(begin + together, last)
                values = self.view.values(X[begin:end], along, alone)
                scores = self._start(end - begin)
                predictor.add(values, self.view.by_row(scores), alone)
                out[:, begin:end] = scores

        team.run(work, n_samples, grain=256)
        return out

    def staged_scores(self, X: Any, team: ThreadTeam) -> Iterator[NDArray]:
        """Yield the scores after every tree."""
        values = self.view.values(X, self._along, team)
        scores = self._start(X.shape[0])
        for t, tree in enumerate(self._compact):
            predictor = TreePredictor(
                tree, self.weights[t : t + 1], tree.thresholds, self.view.codes
            )
            predictor.add(values, self.view.by_row(scores), team)
            yield scores.copy()

    def largest_margin(self) -> float:
        """Return ``2 sum_t w_t`` and the spread of the baseline."""
        return 2.0 * float(np.abs(self.weights).sum()) + float(np.ptp(self.baseline))

    def importances(self, n_features: int) -> NDArray:
        """Return the share of every feature in the directions, weighted by what splits gained."""
        used, columns = np.unique(self.forest.columns, return_inverse=True)
        gains = np.bincount(columns, self.forest.gains)[used >= 0]
        return as_shares(gains @ self.view.energies(used[used >= 0].astype(np.int64)))

    def to_arrays(self, *, dense: bool) -> tuple[dict[str, Any], Arrays]:
        """Return the ensemble as JSON and arrays; with `dense` also the directions in use."""
        described, arrays = view_to_arrays(self.view)
        arrays |= forest_to_arrays(self.forest)
        arrays |= {"weights": self.weights, "baseline": floats(self.baseline)}
        arrays |= {f"state.{key}": values for key, values in self.state.items()}
        if dense:
            arrays["dense.numbers"] = ints(self._used)
            arrays |= self.view.dense_arrays(self._used)
        return {"view": described}, arrays

    @classmethod
    def from_arrays(cls, described: dict[str, Any], taken: Taken, shape: ModelShape) -> SharedTrees:
        """Return the ensemble that `to_arrays` was given."""
        k, n_rounds = shape.n_classes, shape.n_rounds
        view = view_from_arrays(described.get("view"), taken, k, shape.n_features)
        trees = forest_from_arrays(taken, view.n_directions)
        need(len(trees) == n_rounds, "the number of rounds does not fit")
        fits = all((tree.codes < len(view.codes)).all() for tree in trees)
        need(fits, "a split has no class code")
        names = taken.names("state.")
        state = {name.removeprefix("state."): taken.real_matrix(name) for name in names}
        families = state.get("families", np.empty((3, len(view.weights))))
        fits = families.shape == (3, len(view.weights)) and state.get("low", np.empty(())).ndim == 0
        need(fits, "its parts do not fit together")
        weights, baseline = taken.real("weights", n_rounds), taken.real("baseline", k)
        return cls(view, Forest(trees), weights, baseline, state)

    def tables(self, shape: ModelShape) -> PlainTables:
        """Return the trees with their weights multiplied in."""
        forest, used = self.forest, self._used
        places = np.where(forest.columns >= 0, np.searchsorted(used, forest.columns), -1)
        factor = np.repeat(self.weights.astype(np.float32), np.diff(forest.starts))
        shared = self.view.by_class
        trees = TreeTable(
            forest.starts,
            places.astype(np.int64),
            forest.thresholds.astype(shape.dtype),
            forest.left.astype(np.int64),
            (forest.values * factor).astype(np.float32),
            np.maximum(forest.codes, 0).astype(np.int64) if shared else None,
            self.view.codes if shared else None,
        )
        return PlainTables(
            stumps=None,
            trees=trees,
            n_values=len(used),
            votes=None,
            baseline=self.baseline.astype(np.float32),
            **self.view.mixtures(used, shape.dtype),
        )
