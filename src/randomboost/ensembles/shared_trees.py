"""Scores of trees: values along the directions in use, and the trees' outputs, block by block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..runtime.parallel import ThreadTeam
from ..trees.forest import Forest, Tree, TreePredictor

_BLOCK_BYTES = 1 << 22  # values of the samples that are scored together


def _renumbered(tree: Tree, used: NDArray[np.int64]) -> Tree:
    """Return a tree whose columns are places among the directions in use."""
    places = np.where(tree.columns < 0, -1, np.searchsorted(used, tree.columns))
    return replace(tree, columns=places.astype(np.int32))


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
        self._view, self._weights = view, weights
        self._baseline = baseline.astype(np.float32)
        used = np.unique(forest.columns[forest.columns >= 0]).astype(np.int64)
        self._along, self._n_used = view.along(used), len(used)
        self._forest = Forest([_renumbered(tree, used) for tree in forest])
        self._passage = TreePredictor(self._forest, weights, self._forest.thresholds, view.codes)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._arguments

    def _start(self, n_samples: int) -> NDArray[np.float32]:
        return np.repeat(self._baseline[:, None], n_samples, axis=1)

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
        together = max(1024, _BLOCK_BYTES // (8 * self._n_used * self._view.n_rows(1)))
        alone = ThreadTeam(1)  # a block is one thread's, so that its values stay in the cache

        def work(first: int, last: int) -> None:
            for begin in range(first, last, together):
                end = min(begin + together, last)
                values = self._view.values(X[begin:end], self._along, alone)
                scores = self._start(end - begin)
                self._passage.add(values, self._view.by_row(scores), alone)
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
        for t, tree in enumerate(self._forest):
            passage = TreePredictor(
                tree, self._weights[t : t + 1], tree.thresholds, self._view.codes
            )
            passage.add(values, self._view.by_row(scores), team)
            yield scores.copy()
