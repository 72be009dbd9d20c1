"""Trees that all classes share, and the scores that they give.

A node is visited once for a sample, not once for every class: the classes that are still at a
node are the bits of a word, and a split sends some of the bits right. Nodes are worked through
in their order, parents first, for a block of samples at a time, which the compiler turns into
vector instructions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compiling import kernel
from ..parallel import ThreadTeam
from .codes import class_masks

_WORD = 32  # classes that share a word
_FEW_CLASSES = 16
_DE_BRUIJN = np.uint32(0x077CB531)  # its 5-bit windows all differ, so they tell a bit's place
_PLACES = np.zeros(_WORD, dtype=np.int64)
for _place in range(_WORD):
    _PLACES[((0x077CB531 << _place) & 0xFFFFFFFF) >> 27] = _place
_BLOCK = 512  # samples that go through a tree side by side


@dataclass(frozen=True)
class Tree:
    """One tree with outputs in [-1, 1].

    Parameters
    ----------
    columns : ndarray of int32 of shape (n_nodes,)
        Direction of every split, -1 for a leaf.
    codes : ndarray of int32
        Number of the class code of every split.
    thresholds : ndarray of float64
        Cuts.
    left : ndarray of int32
        Left child of every split, -1 for a leaf; the right child comes next to it.
    values : ndarray of float32
        Outputs of the leaves.
    gains : ndarray of float32
        What every split gained in training.
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


@kernel
def _split(here, values, begin, limit, low, change, stay, go, n):
    """Send classes right: those of `low`, changed by `change` where a value is above the limit."""
    for i in range(n):
        bits = here[i] & (low ^ (change if values[begin + i] > limit else np.uint32(0)))
        go[i] = bits
        stay[i] = here[i] ^ bits


@kernel
def _add_output(here, bit, output, total, n):
    """Add a leaf's output where the class of a bit is there."""
    for i in range(n):
        total[i] += output if here[i] & bit else np.float32(0)


@kernel
def _add_leaf(here, reach, output, n, sums):
    """Add a leaf's output to the sums of the classes that are there.

    Few classes are tried one by one for all samples, of many only those that are there.
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
            sums[_PLACES[np.uint32(lowest * _DE_BRUIJN) >> np.uint32(27)], i] += output
            bits ^= lowest


@kernel
def _add_scores(values, columns, limits, below, above, left, outputs, starts, scores, first, last):
    """Add trees to ``scores[:, first:last]`` of up to 32 classes.

    ``values[column, i] > limit`` sends the classes of `above` right, else those of `below`.
    """
    n_classes = len(scores)
    largest = 0
    for t in range(len(starts) - 1):
        largest = max(largest, starts[t + 1] - starts[t])
    block = min(_BLOCK, last - first)
    here = np.empty((largest, block), np.uint32)
    reach = np.empty(largest, np.uint32)  # the classes that can come to a node
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
            here[0] = everyone
            for node in range(starts[t + 1] - start):
                child = left[start + node]
                if child < 0:
                    _add_leaf(here[node], reach[node], outputs[start + node], n, sums)
                    continue
                column = columns[start + node]
                limit = limits[start + node]
                low = below[start + node]
                change = low ^ above[start + node]
                reach[child] = reach[node]
                reach[child + 1] = reach[node] & (low | above[start + node])
                _split(
                    here[node], values[column], begin, limit, low, change, here[child],
                    here[child + 1], n,
                )  # fmt: skip
        for r in range(n_classes):
            for i in range(n):
                scores[r, begin + i] = sums[r, i]


def add_scores(
    trees: Any,
    weights: NDArray,
    values: NDArray,
    limits: NDArray,
    codes: NDArray[np.uint8],
    scores: NDArray[np.float32],
    team: ThreadTeam,
    starts: NDArray[np.int64] | None = None,
) -> None:
    """Add the weighted outputs of trees to scores.

    Parameters
    ----------
    trees : Tree or Forest
        One tree or many.
    weights : ndarray of shape (n_trees,)
        Their weights.
    values : ndarray of shape (n_directions, n_samples)
        What the splits look at: values, or bins.
    limits : ndarray
        The cut of every node in the same terms.
    codes : ndarray of uint8 of shape (n_codes, n_classes)
        Class codes.
    scores : ndarray of float32 of shape (n_classes, n_samples)
        Scores, changed in place.
    team : ThreadTeam
        Threads.
    starts : ndarray of int64 or None
        Where each tree's nodes begin, for many trees.
    """
    if starts is None:
        starts = np.array([0, len(trees.columns)])
    factor = np.repeat(weights.astype(np.float32), np.diff(starts))
    outputs = (trees.values * factor).astype(np.float32)
    numbers = np.maximum(trees.codes, 0)
    cuts = limits.astype(values.dtype)
    for lowest in range(0, len(scores), _WORD):
        part = scores[lowest : lowest + _WORD]
        masks = class_masks(codes, lowest, lowest + len(part))
        below, above = masks[:, 0][numbers], masks[:, 1][numbers]

        def work(first: int, last: int, args: tuple = (below, above), part: NDArray = part) -> None:
            _add_scores(
                values, trees.columns, cuts, *args, trees.left, outputs, starts, part, first,
                last,
            )  # fmt: skip

        team.run(work, scores.shape[1], grain=1 + 2_000_000 // max(len(outputs) * len(part), 1))
