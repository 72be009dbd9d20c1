"""A whole round in one kernel: for one thread, and samples that have the scores of all classes.

Rounds on small data take less than a millisecond. Python between the kernels would take as long,
and the members of a bag, each in a thread, would wait for its lock. The steps are those of the
other modules, and so are the trees.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..runtime.compiling import ZERO, kernel
from ..runtime.random_stream import scrambled
from .growth import (
    BEGIN,
    CHILD,
    COLUMN,
    CUT,
    DEPTH,
    END,
    NONE,
    SketchedTree,
    SketchRules,
    as_tree,
    grow_alone,
    make_nodes,
    note_places,
    sum_up,
)
from .lanes import empty_lanes, n_lanes
from .leaf_sums import COVER_UNITS, sort_by_leaf, sum_dense_leaves
from .leaves import LeafRules, Leaves, make_vectors, quantise
from .sketching import Sketches, add_sizes, pack_rows, size_unit, sketch_dense, sum_losses
from .sparse_scores import Prior
from .splitting import bins_used, make_room


@kernel
def draw_rows(keys: NDArray, key: np.uint64, limit: np.uint64, rows: NDArray) -> int:
    """Fill in the samples whose draw is below a limit; return how many."""
    n = 0
    for i in range(len(keys)):
        rows[n] = i
        n += scrambled(keys[i] + key) <= limit
    return n


@kernel(inline="always")
def _begin(
    y: NDArray, weight: NDArray, keys: NDArray, values: NDArray, key: np.uint64, limit: np.uint64,
    matrix: NDArray, sketches: tuple, samples: tuple, sums: NDArray, units: NDArray,
) -> int:  # fmt: skip
    """Sketch the gradients, draw samples and fill in their lanes; return how many."""
    probabilities, gradients, curvatures, losses = sketches
    rows, words = samples[0], samples[1]
    m, q = gradients.shape
    sketch_dense(values, y, weight, matrix, probabilities, gradients, curvatures, losses, ZERO, m)
    sums[q + 1] = sum_losses(losses, ZERO, m)
    drawn = samples[2]
    n = draw_rows(keys, key, limit, drawn)
    sums[: q + 1] = 0
    add_sizes(gradients, curvatures, drawn, ZERO, n, sums)
    largest = sums[0]
    for j in range(q):
        largest = max(largest, sums[j])
    units[0], units[1] = size_unit(largest), size_unit(sums[q])
    factors = 1.0 / units[0], 1.0 / units[1]
    pack_rows(gradients, curvatures, drawn, factors[0], factors[1], words[0], ZERO, n)
    for e in range(n):
        rows[0, e] = drawn[e]
    return n


@kernel(inline="always")
def _place(
    bins: NDArray, nodes: NDArray, n_nodes: int, rows: NDArray, numbers: NDArray, taken: NDArray,
    places: NDArray,
) -> int:  # fmt: skip
    """Find the leaf of every sample; return the number of leaves."""
    places[:] = NONE
    n_leaves = note_places(nodes, n_nodes, rows, places)
    leaf = 0
    for node in range(n_nodes):
        numbers[node] = leaf
        leaf += nodes[node, CHILD] == NONE
    for i in range(len(places)):
        taken[i] = places[i] != NONE
        if not taken[i]:
            node, of_row = ZERO, bins[i]
            while nodes[node, CHILD] != NONE:
                right = of_row[np.uint64(nodes[node, COLUMN])] > nodes[node, CUT]
                node = nodes[node, CHILD] + np.int64(right)
            places[i] = numbers[node]
    return n_leaves


@kernel(shared=True)
def _end(
    y: NDArray, weight: NDArray, covers: NDArray, values: NDArray, probabilities: NDArray,
    places: NDArray, taken: NDArray, ordered: NDArray, n_leaves: int, rules: NDArray,
    shares: NDArray, order: NDArray, tables: tuple, out: tuple,
) -> np.float32:  # fmt: skip
    """Make the vectors of the leaves, and add them to the scores; return their unit."""
    starts, middles, entries, sums, rest, entry_starts, sizes, vectors, amounts = tables
    out_starts, out_classes, steps, out_covers, gains = out
    sort_by_leaf(places, taken, n_leaves, starts, middles, ordered)
    k = probabilities.shape[1]
    for leaf in range(n_leaves):
        rest[leaf, 4], rest[leaf, 5] = starts[leaf + 1] - middles[leaf], 0
        entry_starts[leaf] = leaf * k
        gains[leaf, 0] = gains[leaf, 1] = 0.0
    entry_starts[n_leaves] = n_leaves * k
    for i in range(len(places)):
        rest[places[i], 5] += covers[i]
    floor = np.float32(rules[4])
    sum_dense_leaves(
        ordered, starts, middles, probabilities, y, weight, floor, ZERO, n_leaves, entries, sums,
        rest,
    )  # fmt: skip
    make_vectors(
        entries, sums, rest, entry_starts, shares, order, rules, sizes, gains, vectors, amounts,
        ZERO, n_leaves,
    )  # fmt: skip
    unit = quantise(sizes, amounts, rest[:, 5], n_leaves, out_starts, steps, out_covers)
    for leaf in range(n_leaves):
        for e in range(sizes[leaf]):
            out_classes[out_starts[leaf] + e] = vectors[leaf, e]
    for i in range(len(places)):
        leaf, mine = places[i], values[i]
        for e in range(out_starts[leaf], out_starts[leaf + 1]):
            mine[out_classes[e]] += np.float32(steps[e]) * unit
    return unit


@kernel
def _run_round(
    bins: NDArray, of_samples: tuple, values: NDArray, key: np.uint64, limit: np.uint64,
    matrix: NDArray, sketches: tuple, samples: tuple, nodes: tuple, room: tuple,
    directions: NDArray, n_drawn: int, max_leaves: int, max_depth: int, limits: NDArray,
    settled: float, rules: NDArray, prior: tuple, tables: tuple, out: tuple, sums: NDArray,
    units: NDArray,
) -> int:  # fmt: skip
    """Run a round; return the number of nodes of its tree.

    Where that is 1 there is no tree, and where it is 0 nothing is left to learn.
    """
    y, weight, covers, keys = of_samples
    rows, words, ordered, taken, places = samples
    tree, node_keys, totals, gains, numbers = nodes
    n = _begin(y, weight, keys, values, key, limit, matrix, sketches, samples, sums, units)
    sums[-1] = n
    if np.float64(sums[len(sums) - 2]) < settled:
        return 0
    if n == 0:
        return 1
    tree[0, COLUMN], tree[0, CHILD] = NONE, NONE
    tree[0, BEGIN], tree[0, END], tree[0, DEPTH] = 0, n, 0
    node_keys[0] = key
    sum_up(words[0], ZERO, n, totals, ZERO, room[5])
    own = np.empty(2, np.float64)
    own[0], own[1] = max(limits[0] / units[1], 1e-9), limits[1]
    n_nodes = grow_alone(
        bins, rows, words, tree, node_keys, totals, gains, own, directions, n_drawn, room,
        max_leaves, max_depth,
    )  # fmt: skip
    if n_nodes > 1:
        n_leaves = _place(bins, tree, n_nodes, rows, numbers, taken, places)
        units[2] = _end(
            y, weight, covers, values, sketches[0], places, taken, ordered, n_leaves, rules,
            prior[0], prior[1], tables, out,
        )  # fmt: skip
    return n_nodes


class Round(NamedTuple):
    """What a round came to.

    Parameters
    ----------
    loss : int
        Sum of the losses before it, in units of ``1 / LOSS_UNITS``.
    n_taken : int
        Number of samples that the tree was grown on.
    unit : float
        What a unit of the gains of its splits stands for.
    tree : SketchedTree or None
        The tree; None where there is none, and nothing was changed.
    leaves : Leaves or None
        The vectors of its leaves.
    gains : ndarray
        What these would gain on the samples taken and on the others, see `leaves.make_leaves`.
    """

    loss: int
    n_taken: int
    unit: float
    tree: SketchedTree | None
    leaves: Leaves | None
    gains: NDArray


class RoundRunner:
    """Runs whole rounds, in memory that it keeps.

    Parameters
    ----------
    bins : ndarray of uint8 of shape (n_samples, n_directions)
        The samples.
    y : ndarray of int64
        Class numbers.
    weight : ndarray of float32
        Weights, mean 1.
    keys : ndarray of uint64
        Keys of the samples, by which they are drawn.
    prior : Prior
        Scores before the first tree.
    """

    def __init__(
        self,
        bins: NDArray[np.uint8],
        y: NDArray[np.int64],
        weight: NDArray[np.float32],
        keys: NDArray[np.uint64],
        prior: Prior,
    ) -> None:
        covers = np.rint(weight * COVER_UNITS).astype(np.int64)
        self._bins, self._samples = bins, (y, weight, covers, keys)
        self._used = bins_used(bins)
        self._prior = prior.shares, prior.order
        self._room: tuple[Any, ...] = ()
        self._made_for: tuple[int, ...] = ()

    def _make_room(self, q: int, max_leaves: int, n_bins: int, leaf_classes: int) -> None:
        """Make room for rounds of given sizes."""
        wanted = q, max_leaves, n_bins, leaf_classes
        if self._made_for == wanted:
            return
        self._made_for = wanted
        m, k = len(self._samples[0]), len(self._prior[0])
        width, most = n_lanes(q), min(leaf_classes, k)
        leaves, size = max_leaves, max_leaves * k
        found = Sketches.empty(m, q, k)
        sketches = found.probabilities, found.gradients, found.curvatures, found.losses
        samples = (
            np.empty((2, m), dtype=np.uint32), empty_lanes(2, m, width),
            np.empty(m + 1, dtype=np.uint32), np.empty(m, dtype=np.bool_),
            np.empty(m, dtype=np.int32),
        )  # fmt: skip
        nodes = (
            *make_nodes(leaves, m, 0, width),
            np.zeros(2 * leaves - 1),
            np.empty(2 * leaves - 1, dtype=np.int64),
        )
        tables = (
            np.empty(leaves + 1, dtype=np.int64), np.empty(leaves, dtype=np.int64),
            np.empty(size, dtype=np.int64), np.empty((size, 4), dtype=np.int64),
            np.empty((leaves, 6), dtype=np.int64), np.empty(leaves + 1, dtype=np.int64),
            np.empty(leaves, dtype=np.int64), np.empty((leaves, most), dtype=np.uint16),
            np.empty((leaves, most)),
        )  # fmt: skip
        out = (
            np.empty(leaves + 1, dtype=np.int64), np.empty(leaves * most, dtype=np.uint16),
            np.empty(leaves * most, dtype=np.int16), np.empty(leaves, dtype=np.uint16),
            np.empty((leaves, 2)),
        )  # fmt: skip
        sums = np.empty(q + 3, dtype=np.int64), np.empty(3)
        self._room = (
            sketches,
            samples,
            nodes,
            make_room(width, n_bins, self._used),
            tables,
            out,
            sums,
        )

    def prepare_end(self, values: NDArray[np.float32], q: int, rules: LeafRules) -> None:
        """Compile the end of a round, which does not depend on the sizes of trees.

        Parameters
        ----------
        values : ndarray of float32 of shape (n_samples, n_classes)
            Scores of the samples.
        q : int
            Number of sketches.
        rules : LeafRules
            How leaf vectors are made.
        """
        self._make_room(q, 2, 2, rules.n_classes)
        sketches, samples, *_, tables, out, _ = self._room
        _, _, ordered, taken, places = samples
        _end.prepare(
            *self._samples[:3], values, sketches[0], places, taken, ordered, 0,
            rules.limits(values.shape[1]), *self._prior, tables, out,
        )  # fmt: skip

    def run(
        self,
        values: NDArray[np.float32],
        matrix: NDArray[np.float32],
        key: int,
        share: float,
        directions: NDArray[np.int64],
        n_drawn: int,
        tree_rules: SketchRules,
        leaf_rules: LeafRules,
        settled: float,
    ) -> Round:
        """Run a round.

        Parameters
        ----------
        values : ndarray of float32 of shape (n_samples, n_classes)
            Scores of the samples, to which the tree is added.
        matrix : ndarray of float32 of shape (n_classes, n_sketches)
            The sketching matrix.
        key : int
            Seed of the draws.
        share : float
            Share of the samples to draw.
        directions : ndarray of int64
            The first direction to draw from and the one past the last, then those that every node
            looks at.
        n_drawn : int
            Directions that every node looks at, given and drawn ones.
        tree_rules : SketchRules
            What the tree may look like; its ridge penalty is in units of the loss.
        leaf_rules : LeafRules
            How leaf vectors are made.
        settled : float
            Sum of losses below which there is no tree.

        Returns
        -------
        Round
            What it came to.
        """
        n_classes, q = matrix.shape
        self._make_room(q, tree_rules.max_leaves, tree_rules.n_bins, leaf_rules.n_classes)
        sketches, samples, nodes, room, tables, out, (sums, units) = self._room
        limit = np.uint64(2**64 - 1) if share >= 1.0 else np.uint64(share * 2.0**64)
        n_nodes = _run_round(
            self._bins, self._samples, values, np.uint64(key), limit, matrix, sketches, samples,
            nodes, room, directions, int(min(n_drawn, directions[1] - directions[0])),
            tree_rules.max_leaves, tree_rules.max_depth, tree_rules.limits, settled,
            leaf_rules.limits(n_classes), self._prior, tables, out, sums, units,
        )  # fmt: skip
        loss, n_taken = (int(number) for number in sums[-2:])
        unit = units[0] ** 2 / units[1] if n_nodes else 0.0
        if n_nodes <= 1:
            return Round(loss, n_taken, unit, None, None, np.zeros(2))
        n_leaves = (n_nodes + 1) // 2
        starts, classes, steps, covers, gains = out
        end = starts[n_leaves]
        leaves = Leaves(
            starts[: n_leaves + 1].copy(), classes[:end].copy(), steps[:end].copy(),
            np.float32(units[2]), covers[:n_leaves].copy(),
        )  # fmt: skip
        tree = as_tree(nodes[0][:n_nodes], nodes[3][:n_nodes])
        return Round(loss, n_taken, unit, tree, leaves, gains[:n_leaves].sum(axis=0))
