"""Trees with sparse vector leaves: a fitted ensemble whose cost a row does not grow with k.

A row costs T (depth + classes of a leaf). Rows are worked through in blocks: the values along the
directions in use, the leaf of every tree, then the leaves' classes, added to the prior.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..projections.directions import Directions, project
from ..runtime.compiling import kernel
from ..runtime.parallel import ThreadTeam
from ..trees.sparse_leaves import Leaves
from ..trees.sparse_scores import exponential, make_prior

_ROWS = 256  # rows that go through the trees together
_TILE = 16  # rows whose scores are copied together
_WORTH = 200  # trees times rows from which on threads share the work: one block at least


class SparseTree(NamedTuple):
    """One tree.

    Parameters
    ----------
    columns : ndarray of int32 of shape (n_nodes,)
        Direction of every split, -1 for a leaf.
    thresholds : ndarray of float64
        Cuts; larger values go right.
    left : ndarray of int32
        Left child of every split, -1 for a leaf; the right child comes next to it.
    gains : ndarray of float32
        What every split gained in training.
    leaves : Leaves
        Vectors of the leaves, in the order of the nodes.
    """

    columns: NDArray[np.int32]
    thresholds: NDArray
    left: NDArray[np.int32]
    gains: NDArray[np.float32]
    leaves: Leaves


@kernel
def _walk(values, columns, limits, children, root, leaves, active, nodes):
    """Fill in the leaf of every row of a block; ``children`` of a leaf is -1 - its number."""
    n = values.shape[1]
    for i in range(n):
        active[i] = i
        nodes[i] = root
    if children[root] < 0:
        for i in range(n):
            leaves[i] = -1 - children[root]
        return
    while n > 0:
        kept = 0
        for e in range(n):
            i = active[e]
            node = np.uint64(nodes[e])
            right = values[np.uint64(columns[node]), np.uint64(i)] > limits[node]
            child = children[node] + (1 if right else 0)
            down = children[np.uint64(child)]
            leaves[i] = -1 - down  # right once the row is at a leaf
            active[kept] = i
            nodes[kept] = child
            kept += 1 if down >= 0 else 0
        n = kept


@kernel
def _find_leaves(values, columns, limits, children, roots, leaves):
    """Fill in the leaf of every row (second axis) in every tree."""
    active = np.empty(values.shape[1], np.int64)
    nodes = np.empty(values.shape[1], np.int64)
    for t in range(len(roots)):
        _walk(values, columns, limits, children, roots[t], leaves[t], active, nodes)


@kernel
def _add_leaves(leaves, i, starts, classes, codes, units, scores):
    """Add the leaves of a row to its scores."""
    for t in range(len(units)):
        leaf = np.uint64(leaves[t, i])
        unit = units[t]
        for e in range(np.uint64(starts[leaf]), np.uint64(starts[leaf + np.uint64(1)])):
            scores[np.uint64(classes[e])] += np.float32(codes[e]) * unit


@kernel
def _fill_scores(leaves, starts, classes, codes, units, prior, begin, out):
    """Scores of the rows of a block, all classes."""
    tile = np.empty((_TILE, len(prior)), np.float32)
    n = leaves.shape[1]
    for first in range(0, n, _TILE):
        last = min(first + _TILE, n)
        for i in range(first, last):
            scores = tile[i - first]
            for r in range(len(prior)):
                scores[r] = prior[r]
            _add_leaves(leaves, i, starts, classes, codes, units, scores)
        for r in range(len(prior)):
            for i in range(first, last):
                out[r, begin + i] = tile[i - first, r]


@kernel
def _add_touched(leaves, i, starts, classes, codes, units, prior, stamp, stamps, scores, touched):
    """Scores of the classes that a row's leaves touch; return how many there are."""
    n = 0
    for t in range(len(units)):
        leaf = np.uint64(leaves[t, i])
        unit = units[t]
        for e in range(np.uint64(starts[leaf]), np.uint64(starts[leaf + np.uint64(1)])):
            r = np.uint64(classes[e])
            old = stamps[r] == stamp
            stamps[r] = stamp
            touched[n] = r
            n += 0 if old else 1
            scores[r] = (scores[r] if old else prior[r]) + np.float32(codes[e]) * unit
    return n


@kernel
def _insert(r, score, labels, scores, n):
    """Insert a class into the best ones, by falling score, then rising class; return how many."""
    place = n
    while place > 0 and (
        scores[place - 1] < score or (scores[place - 1] == score and labels[place - 1] > r)
    ):
        place -= 1
    if place == len(labels):
        return n
    last = min(n, len(labels) - 1)
    for e in range(last, place, -1):
        labels[e], scores[e] = labels[e - 1], scores[e - 1]
    labels[place], scores[place] = r, score
    return min(n + 1, len(labels))


@kernel
def _fill_best(
    leaves, starts, classes, codes, units, prior, shares, order, begin, labels, tops, normalisers
):
    """Best classes of the rows of a block, and the logarithm of the sum of ``exp(score)``."""
    n_classes = len(prior)
    stamps = np.full(n_classes, -1, np.int64)
    scores = np.empty(n_classes, np.float32)
    touched = np.empty(n_classes + 1, np.int64)
    for i in range(leaves.shape[1]):
        n = _add_touched(
            leaves, i, starts, classes, codes, units, prior, i, stamps, scores, touched
        )
        label, top = labels[begin + i], tops[begin + i]
        found = 0
        peak = prior[order[0]]
        for e in range(n):
            r = touched[e]
            peak = max(peak, scores[r])
            if found < len(label) or scores[r] >= top[found - 1]:
                found = _insert(r, scores[r], label, top, found)
        more = 0
        for e in range(n_classes):
            r = order[e]
            if more == len(label) or (found == len(label) and prior[r] < top[found - 1]):
                break
            if stamps[r] != i:
                found = _insert(r, prior[r], label, top, found)
                more += 1
        total, others = 0.0, 1.0
        for e in range(n):
            total += exponential(scores[touched[e]] - peak)
            others -= shares[touched[e]]
        if n < n_classes:
            total += max(others, 0.0) * math.exp(-np.float64(peak))
        normalisers[begin + i] = peak + math.log(total)


class SparseTrees(Sequence[SparseTree]):
    """Fitted trees with sparse vector leaves: scores ``prior_r + sum_t leaf_t(x)_r``.

    Parameters
    ----------
    directions : Directions
        What the trees compare with their cuts.
    starts : ndarray of int64 of shape (n_trees + 1,)
        First node of every tree.
    columns, thresholds, left, gains : ndarray of shape (n_nodes,)
        As in `SparseTree`, tree after tree; columns and children as int16 where they fit.
    leaf_starts : ndarray of int32 of shape (n_leaves + 1,)
        First entry of every leaf, in the order of the nodes.
    classes : ndarray of uint16 or uint32 of shape (n_entries,)
        Class of every entry.
    codes : ndarray of int16 of shape (n_entries,)
        Value of every entry in units of its tree.
    units : ndarray of float32 of shape (n_trees,)
        The units.
    prior : ndarray of float32 of shape (n_classes,)
        Scores before the first tree.
    state : ndarray
        What a trainer needs to go on as if it had not stopped.
    """

    def __init__(
        self,
        directions: Directions,
        starts: NDArray[np.int64],
        columns: NDArray,
        thresholds: NDArray,
        left: NDArray,
        gains: NDArray[np.float32],
        leaf_starts: NDArray[np.int32],
        classes: NDArray,
        codes: NDArray[np.int16],
        units: NDArray[np.float32],
        prior: NDArray[np.float32],
        state: NDArray,
    ) -> None:
        self.directions, self.starts = directions, starts
        self.columns, self.thresholds, self.left, self.gains = columns, thresholds, left, gains
        self.leaf_starts, self.classes, self.codes = leaf_starts, classes, codes
        self.units, self.prior, self.state = units, prior, state
        self._prior = make_prior(prior)
        self._used = np.unique(columns[columns >= 0]).astype(np.int64)
        self._along = directions.rows(self._used) if len(self._used) else None
        self._places = np.searchsorted(self._used, columns).astype(np.int32)
        leaf = columns < 0
        self._children = (left + np.repeat(starts[:-1], np.diff(starts))).astype(np.int32)
        self._children[leaf] = -1 - np.arange(leaf.sum(), dtype=np.int32)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (
            self.directions, self.starts, self.columns, self.thresholds, self.left, self.gains,
            self.leaf_starts, self.classes, self.codes, self.units, self.prior, self.state,
        )  # fmt: skip

    @classmethod
    def pack(
        cls, directions: Directions, trees: Sequence[SparseTree], prior: NDArray, state: NDArray
    ) -> SparseTrees:
        """Return an ensemble of trees.

        Parameters
        ----------
        directions : Directions
            Their directions.
        trees : sequence of SparseTree
            The trees in the order of the rounds, one at least.
        prior : ndarray of float32 of shape (n_classes,)
            Scores before the first one.
        state : ndarray
            The trainer's state after the last one.

        Returns
        -------
        SparseTrees
            The ensemble.
        """
        sizes = [len(tree.columns) for tree in trees]
        short = np.int16 if max(max(sizes), len(directions)) < 2**15 else np.int32
        counts = np.concatenate([np.diff(tree.leaves.starts) for tree in trees])
        return cls(
            directions,
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            np.concatenate([tree.columns for tree in trees]).astype(short),
            np.concatenate([tree.thresholds for tree in trees]),
            np.concatenate([tree.left for tree in trees]).astype(short),
            np.concatenate([tree.gains for tree in trees]),
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
            np.concatenate([tree.leaves.classes for tree in trees]),
            np.concatenate([tree.leaves.codes for tree in trees]),
            np.array([tree.leaves.unit for tree in trees], dtype=np.float32),
            prior,
            state,
        )

    def __len__(self) -> int:
        return len(self.units)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[t] for t in range(*index.indices(len(self)))]
        t = range(len(self))[index]
        nodes = slice(self.starts[t], self.starts[t + 1])
        columns, left = (part[nodes].astype(np.int32) for part in (self.columns, self.left))
        first = int((self.columns[: self.starts[t]] < 0).sum())
        ends = self.leaf_starts[first : first + int((columns < 0).sum()) + 1]
        entries = slice(ends[0], ends[-1])
        starts = (ends - ends[0]).astype(np.int64)
        leaves = Leaves(starts, self.classes[entries], self.codes[entries], self.units[t])
        return SparseTree(columns, self.thresholds[nodes], left, self.gains[nodes], leaves)

    @property
    def n_classes(self) -> int:
        """Return the number of classes."""
        return len(self.prior)

    def truncated(self, n_trees: int) -> SparseTrees:
        """Return the first trees as an ensemble."""
        if n_trees >= len(self):
            return self
        return self.pack(self.directions, self[:n_trees], self.prior, 0 * self.state)

    def _leaves(self, X: Any, team: ThreadTeam) -> NDArray[np.int32]:
        """Return the leaf of every row of a block in every tree, (n_trees, n_rows)."""
        leaves = np.empty((len(self), X.shape[0]), dtype=np.int32)
        if self._along is None:
            values = np.empty((1, X.shape[0]), dtype=X.dtype)
        else:
            values = project(X, self._along, team)
        limits = self.thresholds.astype(values.dtype, copy=False)
        _find_leaves(values, self._places, limits, self._children, self.starts[:-1], leaves)
        return leaves

    def _blocks(self, X: Any, work: Any, team: ThreadTeam) -> None:
        """Call ``work(begin, leaves)`` for blocks of rows."""
        alone = ThreadTeam(1)
        n = X.shape[0]

        def block(number: int) -> None:
            begin = number * _ROWS
            work(begin, self._leaves(X[begin : begin + _ROWS], alone))

        n_blocks = -(-n // _ROWS)
        if len(self) * n < _WORTH * _ROWS:
            team = alone
        team.for_each(block, n_blocks)

    @property
    def _entries(self) -> tuple[NDArray, ...]:
        return self.leaf_starts, self.classes, self.codes, self.units

    def scores(self, X: Any, team: ThreadTeam) -> NDArray[np.float32]:
        """Return the scores of all classes.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
            Scaled data.
        team : ThreadTeam
            Threads.

        Returns
        -------
        ndarray of float32 of shape (n_classes, n_samples)
            The scores.
        """
        out = np.empty((self.n_classes, X.shape[0]), dtype=np.float32)

        def work(begin: int, leaves: NDArray) -> None:
            _fill_scores(leaves, *self._entries, self.prior, begin, out)

        self._blocks(X, work, team)
        return out

    def staged_scores(self, X: Any, team: ThreadTeam) -> Iterator[NDArray[np.float32]]:
        """Yield the scores of all classes after every tree.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
            Scaled data.
        team : ThreadTeam
            Threads.

        Yields
        ------
        ndarray of float32 of shape (n_classes, n_samples)
            The scores.
        """
        leaves = self._leaves(X, team)
        scores = np.repeat(self.prior[:, None], X.shape[0], axis=1)
        rows = np.arange(X.shape[0])
        for t, unit in enumerate(self.units):
            sizes = self.leaf_starts[leaves[t] + 1] - self.leaf_starts[leaves[t]]
            firsts = np.repeat(self.leaf_starts[leaves[t]], sizes)
            offsets = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            entries = firsts + offsets
            amounts = self.codes[entries].astype(np.float32) * unit
            scores[self.classes[entries], np.repeat(rows, sizes)] += amounts
            yield scores.copy()

    def top(
        self, X: Any, n: int, team: ThreadTeam
    ) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray]:
        """Return the best classes, without an array of all scores.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
            Scaled data.
        n : int
            How many classes, at most all.
        team : ThreadTeam
            Threads.

        Returns
        -------
        tuple of ndarray
            Class numbers and scores, (n_samples, n), by falling score, and the logarithm of the
            sum of ``exp(score)`` over all classes, (n_samples,): a class has the probability
            ``exp(score - logarithm)``.
        """
        n = min(n, self.n_classes)
        labels = np.empty((X.shape[0], n), dtype=np.int64)
        tops = np.empty((X.shape[0], n), dtype=np.float32)
        normalisers = np.empty(X.shape[0])

        def work(begin: int, leaves: NDArray) -> None:
            _fill_best(
                leaves, *self._entries, self.prior, self._prior.shares, self._prior.order, begin,
                labels, tops, normalisers,
            )  # fmt: skip

        self._blocks(X, work, team)
        return labels, tops, normalisers

    def predict(self, X: Any, team: ThreadTeam) -> NDArray[np.int64]:
        """Return the class number with the largest score of every row.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
            Scaled data.
        team : ThreadTeam
            Threads.

        Returns
        -------
        ndarray of int64 of shape (n_samples,)
            Class numbers.
        """
        return self.top(X, 1, team)[0][:, 0]

    def importances(self, n_features: int) -> NDArray:
        """Return the share of every feature in what the splits gained.

        Parameters
        ----------
        n_features : int
            Number of features.

        Returns
        -------
        ndarray of shape (n_features,)
            Shares that add up to 1, or zeros where there is no split.
        """
        out = np.zeros(n_features)
        if self._along is None:
            return out
        split = self.columns >= 0
        gains = np.bincount(self._places[split], self.gains[split], len(self._used))
        squares = self._along.power(2)
        lengths = np.asarray(squares.sum(axis=1)).ravel()
        out = np.asarray(squares.T @ (gains / lengths)).ravel()
        return out / out.sum() if out.sum() > 0 else out

    def largest_margin(self) -> float:
        """Return a bound of the difference between any two scores of a row."""
        total = float(np.ptp(self.prior))
        for tree in self:
            values = tree.leaves.values
            total += float(values.max(initial=0.0)) - float(values.min(initial=0.0))
        return total
