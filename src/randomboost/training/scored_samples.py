"""Samples that trees do not learn from: those that are held out, and validation data."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..ensembles.sparse_trees import SparseTrees
from ..runtime.parallel import ThreadTeam
from ..trees.growth import SketchedTree
from ..trees.leaves import Leaves
from ..trees.sparse_scores import DENSE, Prior, SparseScores, cross_entropy
from .member_rows import leaf_places
from .temperature import tempered_loss


class ScoredSamples:
    """Samples that trees do not learn from, and their scores so far.

    Parameters
    ----------
    bins : ndarray of uint8 of shape (n_samples, n_directions)
        The samples.
    y : ndarray of int64
        Their class numbers.
    weight : ndarray or None
        Their weights.
    prior : Prior
        Scores before the first tree.
    begin : ndarray of float32 of shape (n_samples, n_classes) or None
        What is added to the prior.
    """

    def __init__(
        self,
        bins: NDArray,
        y: NDArray[np.int64],
        weight: NDArray | None,
        prior: Prior,
        begin: NDArray[np.float32] | None = None,
    ) -> None:
        self._bins = bins
        self.y = np.ascontiguousarray(y, dtype=np.int64)
        self.weight = np.ones(len(y)) if weight is None else weight
        self.scores = SparseScores(prior, len(y), begin)
        self._scale = 1.0

    def add(self, grown: SketchedTree, vectors: Leaves, share: float, team: ThreadTeam) -> None:
        """Add a tree, or a share of it, to the scores."""
        places = leaf_places(self._bins, grown, team)
        values = vectors.values * np.float32(share)
        self.scores.add(places, vectors.starts, vectors.classes, values, team)

    def go_on_from(self, trees: SparseTrees, X: Any, team: ThreadTeam) -> None:
        """Add the trees of a model, as if they had been grown while the samples were held out.

        Parameters
        ----------
        trees : SparseTrees
            The trees.
        X : ndarray or CSR matrix
            The samples.
        team : ThreadTeam
            Threads.
        """
        for _ in trees.added_to(self.scores, X, team):
            self.tempered_loss(team)  # its factor is improved from tree to tree

    def loss(self, team: ThreadTeam) -> float:
        """Return the mean cross-entropy."""
        return cross_entropy(self.scores, self.y, self.weight, team)

    def tempered_loss(self, team: ThreadTeam) -> float:
        """Return the mean cross-entropy after a correction of the temperature.

        Where there are many classes, it is left out.
        """
        if len(self.scores.prior.scores) > DENSE:
            return self.loss(team)
        loss, self._scale = tempered_loss(self.scores.values, self.y, self.weight, self._scale)
        return loss
