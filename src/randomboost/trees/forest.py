"""Trees that all classes share, and the scores that they give.

A node is visited once per sample, not once per class: the classes that reach a node are the bits
of a word, and a split sends some of the bits right. Nodes are visited parents first, for a block of
samples at a time, so that the compiler can use vector instructions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..projections.class_codes import class_masks
from ..runtime.compiling import kernel
from ..runtime.parallel import ThreadTeam

_WORD = 32  # classes that share a word
_FEW_CLASSES = 16
_FEW_SAMPLES = 8  # samples that are scored one by one
_DE_BRUIJN = np.uint32(0x077CB531)  # all its 5-bit windows differ, so they identify a bit
_PLACES = np.zeros(_WORD, dtype=np.int64)
for _place in range(_WORD):
    _PLACES[((0x077CB531 << _place) & 0xFFFFFFFF) >> 27] = _place
_BLOCK = 1024  # samples that are scored side by side


@dataclass(frozen=True)
class Tree:
    """One tree with outputs in [-1, 1].

    Parameters
    ----------
    columns : ndarray of int32 of shape (n_nodes,)
        Direction of every split, -1 for a leaf.
    codes : ndarray of int32
        Class code of every split, by number.
    thresholds : ndarray of float64
        Cuts.
    left : ndarray of int32
        Left child of every split, -1 for a leaf; the right child follows it.
    values : ndarray of float32
        Outputs of the leaves.
    gains : ndarray of float32
        Gain of every split in training.
    """

    columns: NDArray[np.int32]
    codes: NDArray[np.int32]
    thresholds: NDArray
    left: NDArray[np.int32]
    values: NDArray[np.float32]
    gains: NDArray[np.float32]


class Forest(Sequence[Tree]):
    """Many trees as arrays, one after the other: what a model stores.

    Parameters
    ----------
    trees : sequence of Tree
        The trees in the order of the rounds.
    """

    def __init__(self, trees: Sequence[Tree]) -> None:
        sizes = [len(tree.columns) for tree in trees]
        self.starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        for name in Tree.__dataclass_fields__:
            setattr(self, name, np.concatenate([getattr(tree, name) for tree in trees]))

    columns: NDArray[np.int32]
    codes: NDArray[np.int32]
    thresholds: NDArray
    left: NDArray[np.int32]
    values: NDArray[np.float32]
    gains: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[t] for t in range(*index.indices(len(self)))]
        t = range(len(self))[index]
        part = slice(self.starts[t], self.starts[t + 1])
        return Tree(*(getattr(self, name)[part] for name in Tree.__dataclass_fields__))

    def columns_in_use(self) -> NDArray[np.int64]:
        """Return the directions that some split looks at, rising."""
        return np.unique(self.columns[self.columns >= 0]).astype(np.int64)


@kernel(inline="always")
def _split(
    here: NDArray,
    values: NDArray,
    limit: Any,
    low: Any,
    change: Any,
    stay: NDArray,
    go: NDArray,
    n: int,
) -> None:
    """Send classes right: those of `low`, flipped by `change` if a value is above the limit."""
    for i in range(n):
        bits = here[i] & (low ^ (change if values[i] > limit else np.uint32(0)))
        go[i] = bits
        stay[i] = here[i] ^ bits


@kernel(inline="always")
def _add_output(here: NDArray, bit: Any, output: Any, total: NDArray, n: int) -> None:
    """Add the output of a leaf to the samples whose class, a bit, is there."""
    for i in range(n):
        total[i] += output if here[i] & bit else np.float32(0)


@kernel(inline="always")
def _place_of(bit: Any) -> int:
    """Position of the only bit of a word."""
    return _PLACES[np.uint32(bit * _DE_BRUIJN) >> np.uint32(27)]


@kernel(inline="always")
def _add_leaf(here: NDArray, reach: Any, output: Any, n: int, sums: NDArray) -> None:
    """Add the output of a leaf to the sums of the classes that are there.

    With few classes, every class is tried for all samples; with many, only those that are there.
    """
    if len(sums) <= _FEW_CLASSES:
        for r in range(len(sums)):
            bit = np.uint32(1) << np.uint32(r)
            if reach & bit:
                _add_output(here, bit, output, sums[r], n)
        return
    for i in range(n):
        bits = here[i]
        while bits:
            lowest = bits & (np.uint32(0) - bits)
            sums[_place_of(lowest), i] += output
            bits ^= lowest


@kernel
def _lay_out(left: NDArray, starts: NDArray, order: NDArray, slots: NDArray) -> int:
    """Find an order of the nodes of trees and slots for their words; return the number of slots.

    Trees are visited depth first, so that the words in use are few and stay in the fastest cache.
    The slot of a node is free again when its children have theirs.
    """
    most = 0
    for t in range(len(starts) - 1):
        start, size = starts[t], starts[t + 1] - starts[t]
        free = np.empty(size + 1, np.int64)
        for e in range(size + 1):
            free[e] = size - e  # the lowest slot is the last one
        n_free = size
        slots[start] = free[n_free]
        waiting = np.empty(size, np.int64)
        waiting[0] = 0
        n_waiting = 1
        for e in range(size):
            n_waiting -= 1
            node = waiting[n_waiting]
            order[start + e] = node
            child = left[start + node]
            if child >= 0:
                for side in range(2):
                    n_free -= 1
                    slots[start + child + side] = free[n_free]
                    most = max(most, free[n_free])
                    waiting[n_waiting] = child + side
                    n_waiting += 1
            free[n_free] = slots[start + node]
            n_free += 1
    return most + 1


@kernel
def _add_scores(
    values: NDArray,
    columns: NDArray,
    limits: NDArray,
    below: NDArray,
    above: NDArray,
    left: NDArray,
    outputs: NDArray,
    starts: NDArray,
    order: NDArray,
    slots: NDArray,
    n_slots: int,
    scores: NDArray,
    first: int,
    last: int,
) -> None:
    """Add trees to ``scores[:, first:last]`` of up to 32 classes.

    ``values[column, i] > limit`` sends the classes of `above` right, else those of `below`.
    """
    n_classes = len(scores)
    largest = 0
    for t in range(len(starts) - 1):
        largest = max(largest, starts[t + 1] - starts[t])
    block = min(_BLOCK, last - first)
    here = np.empty((n_slots, block), np.uint32)
    reach = np.empty(largest, np.uint32)  # the classes that can reach a node
    everyone = np.uint32((np.uint64(1) << np.uint64(n_classes)) - np.uint64(1))
    sums = np.empty((n_classes, block), np.float32)
    for begin in range(first, last, block):
        n = min(block, last - begin)
        for r in range(n_classes):
            for i in range(n):
                sums[r, i] = scores[r, begin + i]
        for t in range(len(starts) - 1):
            start = starts[t]
            reach[0] = everyone
            here[slots[start]] = everyone
            for e in range(start, starts[t + 1]):
                node = order[e]
                words = here[slots[start + node]]
                child = left[start + node]
                if child < 0:
                    _add_leaf(words, reach[node], outputs[start + node], n, sums)
                    continue
                low = below[start + node]
                change = low ^ above[start + node]
                reach[child] = reach[node]
                reach[child + 1] = reach[node] & (low | above[start + node])
                _split(
                    words, values[columns[start + node], begin : begin + n], limits[start + node],
                    low, change, here[slots[start + child]], here[slots[start + child + 1]], n,
                )  # fmt: skip
        for r in range(n_classes):
            for i in range(n):
                scores[r, begin + i] = sums[r, i]


@kernel
def _add_scores_of_few(
    values: NDArray,
    columns: NDArray,
    limits: NDArray,
    below: NDArray,
    above: NDArray,
    left: NDArray,
    outputs: NDArray,
    starts: NDArray,
    scores: NDArray,
) -> None:
    """Do the same for single samples, skipping the nodes that none of their classes reaches.

    A class reaches one leaf per tree, so the sums are the same bit for bit.
    """
    n_classes, n_samples = scores.shape
    everyone = np.uint32((np.uint64(1) << np.uint64(n_classes)) - np.uint64(1))
    nodes = np.empty(
        2 * _WORD, np.int64
    )  # waiting nodes have different classes, but for the last one
    words = np.empty(2 * _WORD, np.uint32)
    for i in range(n_samples):
        for t in range(len(starts) - 1):
            nodes[0] = starts[t]
            words[0] = everyone
            n_waiting = 1
            while n_waiting > 0:
                n_waiting -= 1
                node = nodes[n_waiting]
                bits = words[n_waiting]
                child = left[node]
                if child < 0:
                    while bits:
                        lowest = bits & (np.uint32(0) - bits)
                        scores[_place_of(lowest), i] += outputs[node]
                        bits ^= lowest
                    continue
                right = values[columns[node], i] > limits[node]
                go = bits & (above[node] if right else below[node])
                if go != bits:
                    nodes[n_waiting] = starts[t] + child
                    words[n_waiting] = bits ^ go
                    n_waiting += 1
                if go != 0:
                    nodes[n_waiting] = starts[t] + child + 1
                    words[n_waiting] = go
                    n_waiting += 1


class TreePredictor:
    """Trees prepared for scoring samples.

    Parameters
    ----------
    trees : Tree or Forest
        One tree or many.
    weights : ndarray of shape (n_trees,)
        Their weights.
    limits : ndarray
        The cut of every node: thresholds for values, bin numbers for bins.
    codes : ndarray of uint8 of shape (n_codes, n_classes)
        Class codes.
    """

    def __init__(
        self, trees: Tree | Forest, weights: NDArray, limits: NDArray, codes: NDArray[np.uint8]
    ) -> None:
        starts = trees.starts if isinstance(trees, Forest) else np.array([0, len(trees.columns)])
        factor = np.repeat(weights.astype(np.float32), np.diff(starts))
        outputs = (trees.values * factor).astype(np.float32)
        order, slots = np.empty((2, len(outputs)), dtype=np.int64)
        n_slots = _lay_out(trees.left, starts, order, slots)
        self._columns, self._limits = trees.columns, limits
        self._rest = trees.left, outputs, starts, order, slots, n_slots
        self._masks = []
        for lowest in range(0, codes.shape[1], _WORD):
            masks = class_masks(codes, lowest, min(lowest + _WORD, codes.shape[1]))
            self._masks.append(masks[np.maximum(trees.codes, 0)].T.copy())

    def add(self, values: NDArray, scores: NDArray[np.float32], team: ThreadTeam) -> None:
        """Add the weighted outputs of the trees to scores.

        Parameters
        ----------
        values : ndarray of shape (n_directions, n_samples)
            Values or bins along the directions of the splits.
        scores : ndarray of float32 of shape (n_classes, n_samples)
            Scores, changed in place.
        team : ThreadTeam
            Threads.
        """
        cuts = self._limits.astype(values.dtype, copy=False)
        for number, (below, above) in enumerate(self._masks):
            part = scores[number * _WORD : (number + 1) * _WORD]
            if part.shape[1] <= _FEW_SAMPLES:
                nodes = self._columns, cuts, below, above, *self._rest[:3]
                _add_scores_of_few(values, *nodes, part)
                continue

            def work(first: int, last: int, args: tuple = (below, above, part)) -> None:
                below, above, part = args
                _add_scores(
                    values, self._columns, cuts, below, above, *self._rest, part, first, last
                )

            n_nodes = len(self._columns)
            team.run(work, scores.shape[1], grain=1 + 2_000_000 // max(n_nodes * len(part), 1))
