"""Growing one tree with vector leaves on the samples, by sketches of their gradients.

Splits are searched along some directions that are drawn at every node (see `splitting`). The
tree is grown best first in waves: of the leaves that can be split, the better half is split
together, so that threads share the work of a wave. All sums are whole numbers, so neither the
threads nor the order of the samples change a tree.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..runtime.compiling import ZERO, kernel
from ..runtime.ordering import kth_largest
from ..runtime.parallel import ThreadTeam
from ..runtime.random_stream import scrambled
from .lanes import CURVATURE, add_lanes, copy_lanes, expect, lane_kind, square_sum, subtract_lanes
from .splitting import Room, bins_used, draw_directions, make_room, search_cuts

COLUMN, CUT, CHILD, BEGIN, MIDDLE, END, DEPTH = 0, 1, 2, 3, 4, 5, 6
_PLACES = 7  # columns of a table of nodes
NONE = -1
_AHEAD = 24  # samples that the cache fetches before they are moved
_ALONE = 150_000  # samples times drawn directions below which one thread grows the tree
PIECE = 8  # directions of a node that are one piece of work
_SPLIT_COST = 400  # what a search costs beside its samples, in samples times directions
_LEFT_SALT, _RIGHT_SALT = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1B54A32D192ED03)


@kernel
def _search_pieces(
    bins: NDArray, rows: NDArray, words: NDArray, nodes: NDArray, keys: NDArray, totals: NDArray,
    rules: NDArray, directions: NDArray, n_drawn: int, room: Room, first_node: int, work: NDArray,
    pieces: NDArray, results: NDArray,
) -> None:  # fmt: skip
    """Search pieces of work (node, directions) of a range; the best of every node is noted.

    ``work[e]`` is the first piece of node ``first_node + e``.
    """
    drawn = np.empty(n_drawn, np.int64)
    node = 0
    piece = pieces[0]
    while piece < pieces[1]:
        last = min(work[node + 1], pieces[1])
        if last > piece:
            place = first_node + node
            draw_directions(keys[place], directions, n_drawn, drawn)
            side = nodes[place, DEPTH] & 1
            begin = (piece - work[node]) * PIECE
            end = min((last - work[node]) * PIECE, n_drawn)
            search_cuts(
                bins, rows[side], words[side], nodes[place, BEGIN], nodes[place, END],
                totals, place, drawn[begin:end], rules, room, results[node],
            )  # fmt: skip
            piece = last
        node += 1


@kernel
def _part_node(bins: NDArray, rows: NDArray, words: NDArray, node: NDArray, kind: int) -> None:
    """Move the samples of a node to its children, into the other half of the memory."""
    side = node[DEPTH] & 1
    cut = np.uint8(node[CUT])
    column, low, high = np.uint64(node[COLUMN]), node[BEGIN], node[MIDDLE]
    source, target = rows[side], rows[1 - side]
    before, after = words[side], words[1 - side]
    for p in range(node[BEGIN], node[END]):
        expect(bins, np.int64(source[min(p + _AHEAD, len(source) - 1)]), node[COLUMN])
        row = source[p]
        right = np.int64(bins[np.uint64(row), column] > cut)
        to = high if right else low
        target[to] = row
        copy_lanes(after, to, before, p, kind)
        high += right
        low += 1 - right


@kernel
def sum_up(words: NDArray, begin: int, end: int, totals: NDArray, node: int, kind: int) -> None:
    """Totals of the lanes of some samples."""
    totals[node] = 0
    for p in range(begin, end):
        add_lanes(totals, node, words, p, kind)


@kernel
def make_children(nodes: NDArray, keys: NDArray, node: int, child: int) -> None:
    """Fill in what is known of the two children of a node."""
    for which in range(2):
        nodes[child + which, BEGIN] = nodes[node, MIDDLE if which else BEGIN]
        nodes[child + which, END] = nodes[node, END if which else MIDDLE]
        nodes[child + which, DEPTH] = nodes[node, DEPTH] + 1
        nodes[child + which, CHILD] = NONE
        nodes[child + which, COLUMN] = NONE
        keys[child + which] = scrambled(keys[node] + (_RIGHT_SALT if which else _LEFT_SALT))
    nodes[node, CHILD] = child


@kernel
def part_nodes(
    bins: NDArray, rows: NDArray, words: NDArray, nodes: NDArray, keys: NDArray, totals: NDArray,
    chosen: NDArray, n_before: int, first: int, last: int, kind: int,
) -> None:  # fmt: skip
    """Split some of the chosen nodes: their samples, and what is known of their children."""
    for e in range(first, last):
        node = chosen[e]
        _part_node(bins, rows, words, nodes[node], kind)
        child = n_before + 2 * e
        side = (nodes[node, DEPTH] & 1) ^ 1
        smaller = nodes[node, MIDDLE] - nodes[node, BEGIN] > nodes[node, END] - nodes[node, MIDDLE]
        make_children(nodes, keys, node, child)
        few = child + (1 if smaller else 0)
        sum_up(words[side], nodes[few, BEGIN], nodes[few, END], totals, few, kind)
        other = child + (0 if smaller else 1)
        copy_lanes(totals, other, totals, node, kind)
        subtract_lanes(totals, other, totals, few, kind)


@kernel
def choose_nodes(
    nodes: NDArray, gains: NDArray, n_nodes: int, max_leaves: int, chosen: NDArray
) -> int:
    """Choose the leaves to split next, the better half, and earlier ones of equal gain."""
    n_open = ZERO
    found = np.empty(n_nodes, np.float64)
    for node in range(n_nodes):
        if nodes[node, CHILD] == NONE and gains[node] > 0.0:
            found[n_open] = gains[node]
            n_open += 1
    n = min((n_open + 1) // 2, max_leaves - (n_nodes + 1) // 2)
    if n <= 0:
        return 0
    least = kth_largest(found, n_open, n)
    equal = n  # how many nodes of the least gain are chosen
    for e in range(n_open):
        equal -= found[e] > least
    taken = 0
    for node in range(n_nodes):
        if nodes[node, CHILD] == NONE and gains[node] > 0.0 and gains[node] >= least:
            last_ones = gains[node] == least
            if not last_ones or equal > 0:
                chosen[taken] = node
                taken += 1
            equal -= last_ones
    return n


@kernel
def note_results(
    nodes: NDArray, gains: NDArray, totals: NDArray, results: NDArray, first: int, last: int,
    rules: NDArray,
) -> None:  # fmt: skip
    """Note the best cuts of nodes; ``results`` has a row a thread, in the order of directions."""
    for node in range(first, last):
        best = results[0, node - first]
        for thread in range(1, len(results)):
            if results[thread, node - first, 0] > best[0]:
                best = results[thread, node - first]
        before = square_sum(totals, node) / (np.float64(totals[node, CURVATURE]) + rules[0])
        gains[node] = 0.0
        if best[1] >= 0 and best[0] > before * (1.0 + 1e-9):
            gains[node] = best[0] - before
            nodes[node, COLUMN] = np.int64(best[1])
            nodes[node, CUT] = np.int64(best[2])
            nodes[node, MIDDLE] = nodes[node, BEGIN] + np.int64(best[3])


@kernel
def lay_out_work(
    nodes: NDArray, first: int, last: int, rules: NDArray, max_depth: int, n_drawn: int,
    work: NDArray,
) -> None:  # fmt: skip
    """Fill in the first piece of work of every node; nodes that cannot be split have none."""
    pieces = (n_drawn + PIECE - 1) // PIECE
    n = 0
    for node in range(first, last):
        work[node - first] = n
        if nodes[node, DEPTH] < max_depth and nodes[node, END] - nodes[node, BEGIN] >= 2 * rules[1]:
            n += pieces
    work[last - first] = n


@kernel
def note_places(nodes: NDArray, n_nodes: int, rows: NDArray, places: NDArray) -> int:
    """Fill in the leaf of every sample that a tree was grown on; return the number of leaves.

    Leaves are numbered in the order of the nodes.
    """
    leaf = ZERO
    for node in range(n_nodes):
        if nodes[node, CHILD] == NONE:
            of_node = rows[nodes[node, DEPTH] & 1]
            for p in range(nodes[node, BEGIN], nodes[node, END]):
                places[of_node[p]] = leaf
            leaf += 1
    return leaf


@kernel
def grow_alone(
    bins: NDArray, rows: NDArray, words: NDArray, nodes: NDArray, keys: NDArray, totals: NDArray,
    gains: NDArray, rules: NDArray, directions: NDArray, n_drawn: int, room: Room, max_leaves: int,
    max_depth: int,
) -> int:  # fmt: skip
    """Grow a whole tree; return its number of nodes."""
    chosen = np.empty(max_leaves, np.int64)
    work = np.empty(2 * max_leaves, np.int64)
    pieces = np.empty(2, np.int64)
    results = np.empty((1, 2 * max_leaves, 4), np.float64)
    first, n_nodes = ZERO, ZERO + 1
    while (n_nodes + 1) // 2 < max_leaves:
        for e in range(n_nodes - first):
            results[0, e, 0], results[0, e, 1] = 0.0, NONE
        lay_out_work(nodes, first, n_nodes, rules, max_depth, n_drawn, work)
        pieces[0], pieces[1] = 0, work[n_nodes - first]
        _search_pieces(
            bins, rows, words, nodes, keys, totals, rules, directions, n_drawn, room, first,
            work, pieces, results[0],
        )  # fmt: skip
        note_results(nodes, gains, totals, results, first, n_nodes, rules)
        n = choose_nodes(nodes, gains, n_nodes, max_leaves, chosen)
        if n == 0:
            break
        part_nodes(bins, rows, words, nodes, keys, totals, chosen, n_nodes, ZERO, n, room[5])
        first = n_nodes
        n_nodes += 2 * n
    return n_nodes


class SketchRules(NamedTuple):
    """What a tree may look like.

    Parameters
    ----------
    max_leaves, max_depth : int
        Largest number of leaves and of splits on a path.
    min_samples_leaf : int
        Least number of samples of a leaf.
    ridge : float
        Ridge penalty, in units of the curvature.
    n_bins : int
        Number of bins.
    """

    max_leaves: int
    max_depth: int
    min_samples_leaf: int
    ridge: float
    n_bins: int

    @property
    def limits(self) -> NDArray:
        """Ridge penalty and least number of samples, as kernels take them."""
        return np.array([max(self.ridge, 1e-9), max(self.min_samples_leaf, 1)], dtype=np.float64)


class SketchedTree(NamedTuple):
    """A tree as it was grown; parents come before their children.

    Parameters
    ----------
    columns : ndarray of int32 of shape (n_nodes,)
        Direction of every split, -1 for a leaf.
    cuts : ndarray of int32
        Samples of a bin above it go right.
    left : ndarray of int32
        Left child, -1 for a leaf; the right child comes next to it.
    gains : ndarray of float64
        What every split gains, in units of the sketches; 0 for a leaf.
    """

    columns: NDArray[np.int32]
    cuts: NDArray[np.int32]
    left: NDArray[np.int32]
    gains: NDArray


def _shares(costs: NDArray, n_threads: int) -> list[tuple[int, int]]:
    """Cut a range of items into contiguous parts of about equal cost."""
    ends = np.cumsum(costs)
    marks = ends[-1] * np.arange(1, n_threads) / n_threads
    cuts = [0, *(np.searchsorted(ends, marks) + 1).tolist(), len(costs)]
    cuts = np.minimum(np.maximum.accumulate(cuts), len(costs)).tolist()
    return list(pairwise(cuts))


def grow_sketched_tree(
    bins: NDArray[np.uint8],
    rows: NDArray[np.uint32],
    words: NDArray[np.int32],
    rules: SketchRules,
    directions: NDArray[np.int64],
    n_drawn: int,
    key: int,
    team: ThreadTeam,
    used: NDArray[np.int64] | None = None,
) -> SketchedTree:
    """Grow a tree.

    Parameters
    ----------
    bins : ndarray of uint8 of shape (n_samples, n_directions)
        Bins of all samples along all directions.
    rows : ndarray of uint32 of shape (2, n)
        The samples to grow the tree on in ``rows[0]``; ``rows[1]`` is room to work in.
    words : ndarray of int32 of shape (2, n, n_lanes)
        Their lanes in ``words[0]``: curvature, count and sketches; the sum over all samples of the
        absolute values of every lane must be below 2**31. ``words[1]`` is room to work in.
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
    used : ndarray of int64 or None
        What `splitting.bins_used` returns; None to find it.

    Returns
    -------
    SketchedTree
        The tree; a single leaf where no split gains anything.
    """
    nodes, keys, totals = make_nodes(rules.max_leaves, rows.shape[1], key, words.shape[2])
    sum_up(words[0], 0, rows.shape[1], totals, 0, lane_kind(words.shape[2]))
    gains = np.zeros(len(nodes))
    limits = rules.limits
    used = bins_used(bins) if used is None else used
    n_drawn = int(min(n_drawn, directions[1] - directions[0]))
    data = bins, rows, words, nodes, keys, totals
    if team.n_threads == 1 or rows.shape[1] * n_drawn < _ALONE:
        n_nodes = grow_alone(
            *data,
            gains,
            limits,
            directions,
            n_drawn,
            make_room(words.shape[2], rules.n_bins, used),
            rules.max_leaves,
            rules.max_depth,
        )
    else:
        n_nodes = _grow_together(*data, gains, limits, directions, n_drawn, rules, team, used)
    return as_tree(nodes[:n_nodes], gains[:n_nodes])


def make_nodes(
    max_leaves: int, n_samples: int, key: int, width: int
) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.int32]]:
    """Return tables of the nodes of a tree that has only its root.

    Parameters
    ----------
    max_leaves : int
        Largest number of leaves.
    n_samples : int
        Number of samples.
    key : int
        Seed of the tree's draws.
    width : int
        Number of lanes.

    Returns
    -------
    tuple of ndarray
        Nodes, keys of their draws, and room for the totals of their samples' lanes.
    """
    size = 2 * max_leaves - 1
    nodes = np.full((size, _PLACES), NONE, dtype=np.int64)
    nodes[0, [BEGIN, END, DEPTH]] = 0, n_samples, 0
    keys = np.full(size, key, dtype=np.uint64)
    return nodes, keys, np.zeros((size, width), dtype=np.int32)


def as_tree(nodes: NDArray[np.int64], gains: NDArray) -> SketchedTree:
    """Return a tree that is grown.

    Parameters
    ----------
    nodes : ndarray of int64
        Its nodes.
    gains : ndarray
        What their splits gain.

    Returns
    -------
    SketchedTree
        The tree.
    """
    leaf = nodes[:, CHILD] == NONE
    columns, cuts, left = np.where(leaf, NONE, nodes[:, :3].T).astype(np.int32)
    return SketchedTree(columns, cuts, left, np.where(leaf, 0.0, gains))


def grow_in_waves(
    nodes: NDArray,
    totals: NDArray,
    gains: NDArray,
    n_drawn: int,
    rules: SketchRules,
    search: Callable[[int, int, NDArray], NDArray],
    split: Callable[[NDArray, int], None],
) -> int:
    """Grow a tree from its root, wave by wave.

    Parameters
    ----------
    nodes, totals, gains : ndarray
        The nodes (see `make_nodes`) and the gains of their splits, filled in.
    n_drawn : int
        Directions that are drawn at every node.
    rules : SketchRules
        What the tree may look like.
    search : callable
        ``search(first, last, work)`` returns the best cuts of the nodes from `first` to `last`, as
        `note_results` takes them; `work` is their work, see `lay_out_work`.
    split : callable
        ``split(chosen, n_nodes)`` splits nodes; their children come after all `n_nodes`.

    Returns
    -------
    int
        Number of nodes.
    """
    chosen, limits = np.empty(rules.max_leaves, dtype=np.int64), rules.limits
    first, n_nodes = 0, 1
    while (n_nodes + 1) // 2 < rules.max_leaves:
        work = np.empty(n_nodes - first + 1, dtype=np.int64)
        lay_out_work(nodes, first, n_nodes, limits, rules.max_depth, n_drawn, work)
        results = search(first, n_nodes, work)
        note_results(nodes, gains, totals, results, first, n_nodes, limits)
        n = int(choose_nodes(nodes, gains, n_nodes, rules.max_leaves, chosen))
        if n == 0:
            break
        split(chosen[:n], n_nodes)
        first = n_nodes
        n_nodes += 2 * n
    return n_nodes


def no_cuts(n_threads: int, n_nodes: int) -> NDArray:
    """Return results of a search that found nothing, for every thread and node."""
    results = np.zeros((n_threads, n_nodes, 4))
    results[:, :, 1] = NONE
    return results


def _grow_together(
    bins: NDArray,
    rows: NDArray,
    words: NDArray,
    nodes: NDArray,
    keys: NDArray,
    totals: NDArray,
    gains: NDArray,
    limits: NDArray,
    directions: NDArray,
    n_drawn: int,
    rules: SketchRules,
    team: ThreadTeam,
    used: NDArray[np.int64],
) -> int:
    """Do what `grow_alone` does, every wave's work shared among threads."""
    kind = lane_kind(words.shape[2])
    rooms = [make_room(words.shape[2], rules.n_bins, used) for _ in range(team.n_threads)]

    def search(first: int, last: int, work: NDArray) -> NDArray:
        results = no_cuts(team.n_threads, last - first)
        spans = nodes[first:last, END] - nodes[first:last, BEGIN]
        costs = np.repeat(spans * PIECE + _SPLIT_COST, np.diff(work))
        parts = _shares(costs, team.n_threads) if work[-1] else []

        def search_part(thread: int) -> None:
            _search_pieces(
                bins, rows, words, nodes, keys, totals, limits, directions, n_drawn,
                rooms[thread], first, work, np.array(parts[thread]), results[thread],
            )  # fmt: skip

        team.for_each(search_part, len(parts))
        return results

    def split(chosen: NDArray, n_nodes: int) -> None:
        parts = _shares(nodes[chosen, END] - nodes[chosen, BEGIN], team.n_threads)

        def split_part(thread: int) -> None:
            part_nodes(
                bins, rows, words, nodes, keys, totals, chosen, n_nodes, *parts[thread], kind
            )

        team.for_each(split_part, team.n_threads)

    return grow_in_waves(nodes, totals, gains, n_drawn, rules, search, split)
