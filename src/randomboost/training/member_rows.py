"""The samples that a member learns from: what a round computes of them.

`Member` decides by sums over the samples, which are whole numbers: so the samples may as well be in
several places.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..runtime.parallel import ThreadTeam
from ..trees.growth import SketchedTree, SketchRules, grow_sketched_tree
from ..trees.lanes import empty_lanes, n_lanes
from ..trees.leaf_sums import LeafSamples, LeafSums
from ..trees.leaves import LeafRules, Leaves, find_leaves, make_leaves
from ..trees.sketching import (
    Sketches,
    pack_sketches,
    sketch,
    total_loss,
    total_sizes,
)
from ..trees.sparse_scores import DENSE, Prior, SparseScores
from ..trees.splitting import bins_used
from ..trees.whole_round import RoundRunner, draw_rows


def leaf_places(bins: NDArray, grown: SketchedTree, team: ThreadTeam) -> NDArray[np.int32]:
    """Return the leaf of every sample; leaves are numbered in the order of the nodes.

    Parameters
    ----------
    bins : ndarray of uint8 of shape (n_samples, n_directions)
        The samples.
    grown : SketchedTree
        The tree.
    team : ThreadTeam
        Threads.

    Returns
    -------
    ndarray of int32 of shape (n_samples,)
        Numbers of leaves.
    """
    numbers = np.cumsum(grown.columns < 0) - 1
    leaves = np.empty(len(bins), dtype=np.int32)

    def work(first: int, last: int) -> None:
        find_leaves(bins, grown.columns, grown.cuts, grown.left, numbers, leaves, first, last)

    team.run(work, len(bins), grain=512)
    return leaves


class RoundSums(NamedTuple):
    """Sums over samples at the beginning of a round.

    Parameters
    ----------
    loss : int
        Sum of their losses, in units of ``1 / LOSS_UNITS``.
    n_taken : int
        Number of samples that the tree is grown on.
    sizes : ndarray of int64 of shape (n_sketches + 1,)
        See `sketching.total_sizes`.
    """

    loss: int
    n_taken: int
    sizes: NDArray[np.int64]


class Growth(NamedTuple):
    """How a tree is to be grown.

    Parameters
    ----------
    units : tuple of float
        Units of the sketches and of the curvatures.
    bounds : ndarray of int64 of shape (2,)
        The first direction to draw from and the one past the last, then given ones.
    n_drawn : int
        Directions that are drawn at every node.
    rules : SketchRules
        What the tree may look like.
    key : int
        Seed of its draws.
    """

    units: tuple[float, float]
    bounds: NDArray[np.int64]
    n_drawn: int
    rules: SketchRules
    key: int


class MemberRows:
    """Samples on this machine, and their scores so far.

    Parameters
    ----------
    bins : ndarray of uint8 of shape (n_samples, n_directions)
        The samples.
    y : ndarray of int64
        Class numbers.
    weight : ndarray
        Weights, mean 1.
    keys : ndarray of uint64
        Keys of the samples, by which they are drawn.
    prior : Prior
        Scores before the first tree.
    n_sketches : int
        Number of sketches.
    team : ThreadTeam
        Threads; they do not change a tree.
    begin : ndarray of float32 of shape (n_samples, n_classes) or None
        What is added to the prior.
    """

    def __init__(
        self,
        bins: NDArray[np.uint8],
        y: NDArray[np.int64],
        weight: NDArray,
        keys: NDArray[np.uint64],
        prior: Prior,
        n_sketches: int,
        team: ThreadTeam,
        begin: NDArray[np.float32] | None = None,
    ) -> None:
        self._bins, self._keys, self._team = bins, keys, team
        self.y = np.ascontiguousarray(y, dtype=np.int64)
        self._weight = weight.astype(np.float32)
        self.scores = SparseScores(prior, len(y), begin)
        self._n_lanes = n_lanes(n_sketches)
        self._words: NDArray[np.int32] | None = None
        self.runner: RoundRunner | None = None
        if team.n_threads == 1 and len(prior.scores) <= DENSE:
            self.runner = RoundRunner(bins, self.y, self._weight, keys, prior)
        self._sketches: Sketches
        self._rows: NDArray[np.uint32]
        self._places: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.y)

    @cached_property
    def _used(self) -> NDArray[np.int64]:
        return bins_used(self._bins)

    def sketch(self, matrix: NDArray[np.float32], key: int, share: float) -> RoundSums:
        """Begin a round: sketch the gradients, and draw samples.

        Parameters
        ----------
        matrix : ndarray of float32 of shape (n_classes, n_sketches)
            The sketching matrix.
        key : int
            Seed of the draws.
        share : float
            Share of the samples to draw.

        Returns
        -------
        RoundSums
            Sums over the samples.
        """
        self._sketches = sketch(self.scores, self.y, self._weight, matrix, self._team)
        if share >= 1.0:
            return self.take_all()
        rows = np.empty(len(self) + 1, dtype=np.uint32)
        n = draw_rows(self._keys, np.uint64(key), np.uint64(share * 2.0**64), rows)
        return self._take(rows[:n])

    def take_all(self) -> RoundSums:
        """Let the tree of this round be grown on all samples."""
        return self._take(np.arange(len(self), dtype=np.uint32))

    def _take(self, rows: NDArray[np.uint32]) -> RoundSums:
        self._rows = rows
        sizes = total_sizes(self._sketches, rows, self._team)
        return RoundSums(total_loss(self._sketches, self._team), len(rows), sizes)

    def _packed(self, growth: Growth) -> tuple[NDArray[np.uint32], NDArray[np.int32]]:
        """Return the samples that were taken, and their lanes."""
        rows, width = self._rows, self._n_lanes
        if self._words is None:
            self._words = empty_lanes(2 * len(self), width)
        words = self._words[: 2 * len(rows)].reshape(2, len(rows), width)
        pack_sketches(self._sketches, rows, growth.units, words[0], self._team)
        return np.stack([rows, rows]), words

    def grow(self, growth: Growth) -> SketchedTree:
        """Grow a tree on the samples that were taken.

        Parameters
        ----------
        growth : Growth
            How to grow it.

        Returns
        -------
        SketchedTree
            The tree.
        """
        return grow_sketched_tree(
            self._bins,
            *self._packed(growth),
            growth.rules,
            growth.bounds,
            growth.n_drawn,
            growth.key,
            self._team,
            self._used,
        )

    def _leaf_samples(self, grown: SketchedTree, largest_step: float) -> LeafSamples:
        """Return the samples in the order of the leaves of a tree."""
        self._places = leaf_places(self._bins, grown, self._team)
        taken = np.zeros(len(self), dtype=np.bool_)
        taken[self._rows] = True
        n_leaves = int((grown.columns < 0).sum())
        return LeafSamples(
            self.scores, self._sketches, self.y, self._weight, self._places, taken,
            n_leaves, largest_step,
        )  # fmt: skip

    def sum_leaves(self, grown: SketchedTree, largest_step: float) -> LeafSums:
        """Return sums over the samples of every leaf.

        Parameters
        ----------
        grown : SketchedTree
            The tree.
        largest_step : float
            Bound of Newton's step for a class that a sample belongs to.

        Returns
        -------
        LeafSums
            The sums.
        """
        return self._leaf_samples(grown, largest_step).sums(self._team)

    def make_leaves(self, grown: SketchedTree, rules: LeafRules) -> tuple[Leaves, NDArray]:
        """Return the vectors of a tree's leaves, and what they would gain.

        Parameters
        ----------
        grown : SketchedTree
            The tree.
        rules : LeafRules
            How leaf vectors are made.

        Returns
        -------
        tuple
            The vectors, and the gains on the samples taken and on the others.
        """
        return make_leaves(self._leaf_samples(grown, rules.largest_step), rules, self._team)

    def add(self, vectors: Leaves) -> None:
        """Add the tree whose leaves were made last to the scores.

        Parameters
        ----------
        vectors : Leaves
            The vectors of its leaves.
        """
        places = self._places
        self.scores.add(places, vectors.starts, vectors.classes, vectors.values, self._team)
