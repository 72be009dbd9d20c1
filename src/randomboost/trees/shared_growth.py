"""Growing one tree on samples in several places, which send histograms of whole numbers.

The tree is that of `growth`: the same nodes are searched along the same directions with the same
sums.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..runtime.compiling import kernel
from ..runtime.parallel import ThreadTeam
from .growth import (
    BEGIN,
    COLUMN,
    CUT,
    DEPTH,
    END,
    MIDDLE,
    NONE,
    PIECE,
    SketchedTree,
    SketchRules,
    as_tree,
    grow_in_waves,
    make_children,
    make_nodes,
    no_cuts,
    part_nodes,
    sum_up,
)
from .lanes import empty_lanes, lane_kind
from .splitting import (
    BLOCK,
    Room,
    draw_directions,
    fill_all,
    make_room,
    try_direction,
)

_MUCH = 1 << 17  # lanes of the bins of a wave from which on places search them themselves


class Wave(NamedTuple):
    """What places with samples are asked for: to split some nodes, and to look at others.

    Parameters
    ----------
    split : ndarray of int64 of shape (3, n_split)
        Numbers of nodes, the direction and the cut of each; their children get the next numbers.
    searched : ndarray of int64
        Numbers of nodes whose histograms are wanted.
    kept : bool
        Whether places keep the histograms, to be searched by the places themselves.
    """

    split: NDArray[np.int64]
    searched: NDArray[np.int64]
    kept: bool


class WaveSums(NamedTuple):
    """What they answer.

    Parameters
    ----------
    totals : ndarray of int32 of shape (2 * n_split, n_lanes)
        Totals of the children's lanes; those of the root where nothing was split.
    histograms : ndarray of int32 of shape (n_searched, n_drawn, n_bins, n_lanes)
        Sums of lanes by bin, along the directions that are drawn at the nodes; none if kept.
    """

    totals: NDArray[np.int32]
    histograms: NDArray[np.int32]

    @classmethod
    def joined(cls, parts: list[WaveSums]) -> WaveSums:
        """Return the sums of all parts; the first one is overwritten."""
        totals, histograms = parts[0].totals.copy(), parts[0].histograms
        if not histograms.flags.writeable:
            histograms = histograms.copy()
        for part in parts[1:]:
            totals += part.totals
            histograms += part.histograms
        return cls(totals, histograms)


@kernel
def _find_middles(bins: NDArray, rows: NDArray, nodes: NDArray, split: NDArray) -> None:
    """Fill in the cuts of nodes, and how many of the samples here are left of them."""
    for e in range(split.shape[1]):
        node = split[0, e]
        nodes[node, COLUMN], nodes[node, CUT] = split[1, e], split[2, e]
        column, cut = np.uint64(split[1, e]), np.uint8(split[2, e])
        source = rows[nodes[node, DEPTH] & 1]
        left = 0
        for p in range(nodes[node, BEGIN], nodes[node, END]):
            left += bins[np.uint64(source[p]), column] <= cut
        nodes[node, MIDDLE] = nodes[node, BEGIN] + left


@kernel
def _fill_histograms(
    bins: NDArray, rows: NDArray, words: NDArray, nodes: NDArray, keys: NDArray, searched: NDArray,
    directions: NDArray, n_drawn: int, n_bins: int, histograms: NDArray, first: int, last: int,
    kind: int,
) -> None:  # fmt: skip
    """Fill in the histograms of a range of pieces (node, directions), row after row."""
    pieces = (n_drawn + PIECE - 1) // PIECE
    drawn = np.empty(n_drawn, np.int64)
    local = np.empty((PIECE, BLOCK), np.uint8)
    before = NONE
    for piece in range(first, last):
        e = piece // pieces
        node = searched[e]
        if e != before:
            draw_directions(keys[node], directions, n_drawn, drawn)
            before = e
        side = nodes[node, DEPTH] & 1
        begin = (piece % pieces) * PIECE
        end = min(begin + PIECE, n_drawn)
        row = (e * n_drawn + begin) * n_bins
        histograms[row : row + (end - begin) * n_bins] = 0
        fill_all(
            bins, drawn[begin:end], rows[side], words[side], nodes[node, BEGIN], nodes[node, END],
            local, histograms, row, n_bins, kind,
        )  # fmt: skip


class PlacedTree:
    """A tree as a place with some of its samples knows it.

    Parameters
    ----------
    bins : ndarray of uint8 of shape (n_samples, n_directions)
        Bins of all samples of the place.
    rows, words : ndarray
        As for `growth.grow_sketched_tree`.
    rules : SketchRules
        What the tree may look like.
    directions : ndarray of int64
        The first direction to draw from and the one past the last, then given ones.
    n_drawn : int
        Directions that are drawn at every node.
    key : int
        Seed of the tree's draws.
    team : ThreadTeam
        Threads.
    room : ndarray of int32
        Memory for histograms; `room` is what may be used for the next tree.
    """

    def __init__(
        self,
        bins: NDArray[np.uint8],
        rows: NDArray[np.uint32],
        words: NDArray[np.int32],
        rules: SketchRules,
        directions: NDArray[np.int64],
        n_drawn: int,
        key: int,
        team: ThreadTeam,
        room: NDArray[np.int32],
    ) -> None:
        self.room = room
        self._bins, self._rows, self._words, self._team = bins, rows, words, team
        self._directions, self._n_bins, self._limits = directions, rules.n_bins, rules.limits
        self._kept: tuple[NDArray[np.int64], NDArray[np.int32]]
        self._n_drawn = int(min(n_drawn, directions[1] - directions[0]))
        tables = make_nodes(rules.max_leaves, rows.shape[1], key, words.shape[2])
        self._nodes, self._keys, self._totals = tables
        self._kind = lane_kind(words.shape[2])
        sum_up(words[0], 0, rows.shape[1], self._totals, 0, self._kind)
        self._n_nodes = 1

    def advance(self, wave: Wave) -> WaveSums:
        """Split nodes, and return sums over the samples of new ones.

        Parameters
        ----------
        wave : Wave
            What to do.

        Returns
        -------
        WaveSums
            The sums.
        """
        n, before = wave.split.shape[1], self._n_nodes
        tables = self._bins, self._rows, self._words, self._nodes, self._keys

        def part(first: int, last: int) -> None:
            _find_middles(self._bins, self._rows, self._nodes, wave.split[:, first:last])
            part_nodes(*tables, self._totals, wave.split[0], before, first, last, self._kind)

        self._team.run(part, n)
        self._n_nodes += 2 * n
        width = self._words.shape[2]
        shape = self._n_drawn, self._n_bins, width
        size = len(wave.searched) * math.prod(shape)
        if len(self.room) < size:
            self.room = empty_lanes(size)
        histograms = self.room[:size].reshape(len(wave.searched), *shape)

        def fill(first: int, last: int) -> None:
            _fill_histograms(
                *tables, wave.searched, self._directions, self._n_drawn, self._n_bins,
                histograms.reshape(-1, width), first, last, self._kind,
            )  # fmt: skip

        self._team.run(fill, len(wave.searched) * -(-self._n_drawn // PIECE))
        first = before if n else 0
        self._kept = wave.searched, histograms
        totals = self._totals[first : self._n_nodes].copy()
        return WaveSums(totals, histograms[:0] if wave.kept else histograms)

    def part(self, place: int, n_places: int) -> NDArray[np.int32]:
        """Return the histograms of the nodes that a place searches.

        Parameters
        ----------
        place, n_places : int
            Number of the place, and how many there are.

        Returns
        -------
        ndarray of int32
            The histograms.
        """
        histograms = self._kept[1]
        return histograms[_share(len(histograms), place, n_places)]

    def search(
        self, place: int, n_places: int, totals: NDArray[np.int32], others: list[NDArray[np.int32]]
    ) -> NDArray:
        """Find the best cuts of the nodes that this place searches.

        Parameters
        ----------
        place, n_places : int
            Number of this place, and how many there are.
        totals : ndarray of int32
            Totals of the lanes of all nodes that are searched.
        others : list of ndarray of int32
            The histograms that the other places have of this place's nodes.

        Returns
        -------
        ndarray of shape (n, 4)
            Gain, direction, cut and number of samples left of it, of every node of this place.
        """
        mine = _share(len(totals), place, n_places)
        histograms = self._kept[1][mine]
        for each in others:
            histograms += each
        keys = self._keys[self._kept[0][mine]]
        parts = keys, totals[mine], self._directions, self._limits
        return search_sums(histograms, *parts, self._team)


def _share(n: int, place: int, n_places: int) -> slice:
    """Return the part of n nodes that a place searches."""
    return slice(n * place // n_places, n * (place + 1) // n_places)


@kernel
def _search_sums(
    histograms: NDArray, keys: NDArray, totals: NDArray, directions: NDArray, n_drawn: int,
    rules: NDArray, room: Room, results: NDArray, first: int, last: int,
) -> None:  # fmt: skip
    """Find the best cuts of some nodes in histograms of all their samples, row after row."""
    n_bins = len(room[1])
    drawn = np.empty(n_drawn, np.int64)
    for e in range(first, last):
        draw_directions(keys[e], directions, n_drawn, drawn)
        for j in range(n_drawn):
            try_direction(
                histograms, (e * n_drawn + j) * n_bins, room[1], n_bins, totals, e, rules, room[4],
                drawn[j], results[e], room[5],
            )  # fmt: skip


def search_sums(
    histograms: NDArray[np.int32],
    keys: NDArray[np.uint64],
    totals: NDArray[np.int32],
    directions: NDArray[np.int64],
    limits: NDArray,
    team: ThreadTeam,
) -> NDArray:
    """Find the best cuts of nodes in histograms of all their samples.

    Parameters
    ----------
    histograms : ndarray of int32 of shape (n, n_drawn, n_bins, n_lanes)
        The histograms; they are cleared.
    keys : ndarray of uint64 of shape (n,)
        Keys of the nodes' draws.
    totals : ndarray of int32 of shape (n, n_lanes)
        Totals of their lanes.
    directions : ndarray of int64
        The first direction to draw from and the one past the last, then given ones.
    limits : ndarray
        See `SketchRules.limits`.
    team : ThreadTeam
        Threads.

    Returns
    -------
    ndarray of shape (n, 4)
        Gain, direction (-1 for none), cut and number of samples left of it.
    """
    results = np.zeros((len(histograms), 4))
    results[:, 1] = NONE

    n_drawn, n_bins, width = histograms.shape[1:]
    flat = histograms.reshape(-1, width)

    def search(first: int, last: int) -> None:
        room = make_room(width, n_bins, np.empty(0, dtype=np.int64))
        _search_sums(flat, keys, totals, directions, n_drawn, limits, room, results, first, last)

    team.run(search, len(histograms))
    return results


def grow_shared_tree(
    ask: Callable[[Wave], list[WaveSums]],
    search: Callable[[NDArray[np.int32]], list[NDArray]],
    n_samples: int,
    width: int,
    rules: SketchRules,
    directions: NDArray[np.int64],
    n_drawn: int,
    key: int,
    team: ThreadTeam,
) -> SketchedTree:
    """Grow a tree on samples in several places.

    Parameters
    ----------
    ask : callable
        Sends a wave to all places, each of which has a `PlacedTree`, and returns their answers.
    search : callable
        Has the places search the nodes of the last wave, given the totals of these; returns what
        `PlacedTree.search` returns in each.
    n_samples : int
        Number of samples in all places.
    width : int
        Number of lanes.
    rules : SketchRules
        What the tree may look like.
    directions : ndarray of int64
        The first direction to draw from and the one past the last, then given ones.
    n_drawn : int
        Directions that are drawn at every node.
    key : int
        Seed of this tree's draws.
    team : ThreadTeam
        Threads; they do not change the tree.

    Returns
    -------
    SketchedTree
        The tree of `growth.grow_sketched_tree`.
    """
    nodes, keys, totals = make_nodes(rules.max_leaves, n_samples, key, width)
    gains, limits = np.zeros(len(nodes)), rules.limits
    n_drawn = int(min(n_drawn, directions[1] - directions[0]))
    last_split = np.empty((3, 0), dtype=np.int64)

    def search_wave(first: int, last: int, work: NDArray) -> NDArray:
        searched = first + np.flatnonzero(np.diff(work))
        kept = len(searched) * n_drawn * width * rules.n_bins > _MUCH
        sums = WaveSums.joined(ask(Wave(last_split, searched, kept)))
        totals[first:last] = sums.totals
        results = no_cuts(1, last - first)
        if kept:
            found = np.concatenate(search(totals[searched]))
        else:
            wanted = keys[searched], totals[searched]
            found = search_sums(sums.histograms, *wanted, directions, limits, team)
        results[0, searched - first] = found
        return results

    def split(chosen: NDArray, n_nodes: int) -> None:
        nonlocal last_split
        for e, node in enumerate(chosen):
            make_children(nodes, keys, node, n_nodes + 2 * e)
        last_split = np.stack([chosen, nodes[chosen, COLUMN], nodes[chosen, CUT]])

    n_nodes = grow_in_waves(nodes, totals, gains, n_drawn, rules, search_wave, split)
    return as_tree(nodes[:n_nodes], gains[:n_nodes])
