"""The samples of a member in several places: what each computes, and how it is put together.

The places may be actors of a cluster or objects of this process: all that is needed is a function
that asks all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..runtime.parallel import ThreadTeam
from ..trees.growth import SketchedTree
from ..trees.lanes import n_lanes
from ..trees.leaf_sums import LeafSums
from ..trees.leaves import LeafRules, Leaves, leaves_of_sums
from ..trees.shared_growth import PlacedTree, Wave, WaveSums, grow_shared_tree
from ..trees.sparse_scores import Prior
from .member_rows import Growth, MemberRows, RoundSums, leaf_places


class ShardRows(MemberRows):
    """Samples of a member in one of several places; see `MemberRows` for the parameters."""

    _tree: PlacedTree | None = None
    n_added = 0

    def add(self, vectors: Leaves) -> None:
        """Add the tree whose leaves were found last to the scores."""
        super().add(vectors)
        self.n_added += 1

    def begin_round(
        self, n_trees: int, last: Leaves | None, matrix: NDArray, key: int, share: float
    ) -> RoundSums:
        """Add the last tree to the scores, and begin the next round as `sketch` does.

        Parameters
        ----------
        n_trees : int
            Number of trees so far.
        last : Leaves or None
            The leaf vectors of the last tree; they are added unless there are all trees already.
        matrix, key, share
            As for `sketch`.

        Returns
        -------
        RoundSums
            Sums over the samples.
        """
        if last is not None and self.n_added < n_trees:
            self.add(last)
        return self.sketch(matrix, key, share)

    def begin_tree(self, growth: Growth, wave: Wave) -> WaveSums:
        """Begin to grow a tree together with other places.

        Parameters
        ----------
        growth : Growth
            How to grow it.
        wave : Wave
            What to look at first: the root.

        Returns
        -------
        WaveSums
            Sums over the samples.
        """
        _, bounds, n_drawn, rules, key = growth
        packed = self._packed(growth)
        room = np.empty(0, dtype=np.int32) if self._tree is None else self._tree.room
        self._tree = PlacedTree(self._bins, *packed, rules, bounds, n_drawn, key, self._team, room)
        return self._tree.advance(wave)

    def advance(self, wave: Wave) -> WaveSums:
        """Split nodes of the tree, and return sums over the samples of new ones."""
        assert self._tree is not None
        return self._tree.advance(wave)

    def part(self, place: int, n_places: int) -> NDArray[np.int32]:
        """Return the histograms of the nodes that a place searches."""
        assert self._tree is not None
        return self._tree.part(place, n_places)

    def search(
        self, place: int, n_places: int, totals: NDArray[np.int32], others: list[NDArray[np.int32]]
    ) -> NDArray:
        """Find the best cuts of the nodes that this place searches; see `PlacedTree.search`."""
        assert self._tree is not None
        return self._tree.search(place, n_places, totals, others)

    def replay(self, trees: list[tuple[SketchedTree, Leaves]]) -> None:
        """Add trees to the scores, as if they had been grown here.

        Parameters
        ----------
        trees : list of tuple
            Trees and the vectors of their leaves.
        """
        for grown, vectors in trees:
            self._places = leaf_places(self._bins, grown, self._team)
            self.add(vectors)


class SharedRows:
    """The samples of a member, in several places; it is used like `MemberRows`.

    Parameters
    ----------
    ask : callable
        ``ask(method, *arguments)`` calls a method of the `ShardRows` in every place, and returns
        what they return, in the order of the places. For ``ask("search", totals)`` every place gets
        its part of the histograms from all others, and then searches it.
    n_samples, n_places : int
        Numbers of samples and of places.
    prior : Prior
        Scores before the first tree.
    n_sketches : int
        Number of sketches.
    team : ThreadTeam
        Threads of this process.
    """

    def __init__(
        self,
        ask: Callable[..., list[Any]],
        n_samples: int,
        n_places: int,
        prior: Prior,
        n_sketches: int,
        team: ThreadTeam,
    ) -> None:
        self._ask, self._n_samples, self._n_places = ask, n_samples, n_places
        self._prior, self._width, self._team = prior, n_lanes(n_sketches), team
        self._n_taken = self._n_trees = 0
        self.runner = None  # whole rounds are for samples in one place
        self._last: Leaves | None = None

    def __len__(self) -> int:
        return self._n_samples

    def _joined(self, parts: list[RoundSums]) -> RoundSums:
        losses, taken, sizes = zip(*parts, strict=True)
        self._n_taken = sum(taken)
        return RoundSums(sum(losses), self._n_taken, np.sum(sizes, axis=0))

    def sketch(self, matrix: NDArray[np.float32], key: int, share: float) -> RoundSums:
        """Begin a round; see `MemberRows.sketch`."""
        last, self._last = self._last, None
        call = "begin_round", self._n_trees, last, matrix, key, share
        return self._joined(self._ask(*call))

    def take_all(self) -> RoundSums:
        """Let the tree of this round be grown on all samples."""
        return self._joined(self._ask("take_all"))

    def grow(self, growth: Growth) -> SketchedTree:
        """Grow a tree on the samples that were taken; see `MemberRows.grow`."""
        if self._n_places == 1:
            return self._ask("grow", growth)[0]

        def ask(wave: Wave) -> list[WaveSums]:
            if wave.split.shape[1]:
                return self._ask("advance", wave)
            return self._ask("begin_tree", growth, wave)

        _, bounds, n_drawn, rules, key = growth

        def search(totals: NDArray[np.int32]) -> list[NDArray]:
            return self._ask("search", totals)

        return grow_shared_tree(
            ask, search, self._n_taken, self._width, rules, bounds, n_drawn, key, self._team
        )

    def make_leaves(self, grown: SketchedTree, rules: LeafRules) -> tuple[Leaves, NDArray]:
        """Return the vectors of a tree's leaves, and what they would gain."""
        if self._n_places == 1:
            return self._ask("make_leaves", grown, rules)[0]
        sums = LeafSums.joined(self._ask("sum_leaves", grown, rules.largest_step))
        return leaves_of_sums(sums, self._prior, rules, self._team)

    def add(self, vectors: Leaves) -> None:
        """Add a tree to the scores: the places are told when the next round begins."""
        self._last = vectors
        self._n_trees += 1
