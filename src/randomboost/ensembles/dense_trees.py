"""Trees with vector leaves for few classes: leaves as rows of a table, rows in step through trees.

Blocks of rows go through a tree level by level, for as many levels as the tree has; a leaf is its
own child. Where only the best class is asked for, a row leaves once no further tree can change it:
when its best class r leads every class s by more than the remaining trees can take from r and add
to s. When that is looked at changes the time, not the labels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..projections.mixing import ROWS, Mixtures, as_mixtures, mix_rows
from ..runtime.compiling import kernel
from ..runtime.parallel import ThreadTeam

MOST_CLASSES = 64  # with more, most values of a leaf's row would be 0
_LANES = 8  # the classes of a table are a multiple of this
_FEWEST, _GROWTH = 8, 5  # trees between looks at the leads: 8, later a fifth of those before
_ROWS = 64  # rows that go through the trees together
_CHUNK = 512  # rows that a thread takes at a time, at most
_WORTH = 50_000  # trees times rows from which on threads share the work


@kernel
def _walk(
    values: NDArray, columns: NDArray, limits: NDArray, children: NDArray, root: int, depth: int,
    rows: NDArray, n: int, nodes: NDArray,
) -> None:  # fmt: skip
    """Find the leaves of some rows of a block in a tree."""
    flat, width = values.reshape(-1), np.uint64(values.shape[1])
    for e in range(n):
        nodes[e] = root
    for _ in range(depth):
        for e in range(n):
            node = np.uint64(nodes[e])
            right = flat[np.uint64(columns[node]) * width + np.uint64(rows[e])] > limits[node]
            nodes[e] = children[node] + (1 if right else 0)


@kernel
def _add_leaves(
    nodes: NDArray, rows: NDArray, n: int, numbers: NDArray, steps: NDArray, unit: np.float32,
    scores: NDArray,
) -> None:  # fmt: skip
    """Add the leaves of some rows to their scores."""
    for e in range(n):
        score = scores[np.uint64(rows[e])]
        leaf = steps[np.uint64(numbers[np.uint64(nodes[e])])]
        for first in range(0, len(leaf), _LANES):
            for lane in range(_LANES):
                r = np.uint64(first + lane)
                score[r] += np.float32(leaf[r]) * unit


@kernel
def _look(
    scores: NDArray, begin: NDArray, up: NDArray, down: NDArray, slack: float
) -> tuple[int, bool]:
    """Return the class with the largest score, the first of several, and whether it stays so."""
    best, top = 0, scores[0] + begin[0]
    for r in range(1, len(scores)):
        score = scores[r] + begin[r]
        if score > top:
            best, top = r, score
    lost = down[best] + slack
    n_safe = 0
    for r in range(len(scores)):
        lead = np.float64(top) - np.float64(scores[r] + begin[r])
        n_safe += 1 if lead > lost + up[r] else 0
    own = 1 if np.float64(0) > lost + up[best] else 0
    return best, n_safe - own == len(scores) - 1


@kernel
def _stay(
    rows: NDArray, n: int, scores: NDArray, begin: NDArray, up: NDArray, down: NDArray,
    slack: NDArray, labels: NDArray,
) -> int:  # fmt: skip
    """Fill in the best class of some rows so far; return how many are not safe, the first ones."""
    kept = 0
    for e in range(n):
        i = rows[e]
        labels[i], safe = _look(scores[i], begin[i], up, down, slack[i])
        rows[kept] = i
        kept += 0 if safe else 1
    return kept


@kernel
def _begin(
    prior: NDArray, start: NDArray, first: int, n: int, largest: float, scores: NDArray,
    begin: NDArray, slack: NDArray, rows: NDArray,
) -> None:  # fmt: skip
    """Fill in what a block of rows begins with."""
    for i in range(n):
        rows[i] = i
        for r in range(len(prior)):
            scores[i, r] = prior[r]
        peak = np.float32(0)
        for r in range(len(start)):
            begin[i, r] = start[r, first + i]
            peak = max(peak, abs(begin[i, r]))
        slack[i] = (largest + peak) * 2.0**-21  # start is added, and a lead found, with rounding


@kernel
def find_classes(
    X: NDArray, first: int, last: int, mixtures: tuple, nodes: tuple, leaves: tuple, up: NDArray,
    down: NDArray, largest: float, start: NDArray, offset: int, labels: NDArray, out: NDArray,
) -> None:  # fmt: skip
    """Best class of rows first .. last with ``start`` added, or, if ``out`` has rows, the scores.

    Row i of X is row ``offset + i`` of the other arrays. Scores in ``out`` are those of the trees
    by themselves; no row leaves early where they are asked for.
    """
    limits, columns, children, numbers, roots, depths = nodes
    steps, units, prior = leaves
    n_trees, n_classes, wants_scores = len(units), len(prior), len(out) > 0
    block, sums = np.zeros((X.shape[1], ROWS), X.dtype), np.empty((len(mixtures[4]), ROWS), X.dtype)
    values = np.empty((max(len(mixtures[0]) - 1, 1), _ROWS), X.dtype)
    shape = (_ROWS, n_classes)
    scores, begin = np.empty(shape, np.float32), np.zeros(shape, np.float32)
    rows, places, slack = np.empty(_ROWS, np.int32), np.empty(_ROWS, np.int32), np.empty(_ROWS)
    for low in range(first, last, _ROWS):
        n, place = min(_ROWS, last - low), offset + low
        for more in range(0, n, ROWS):
            some = min(ROWS, n - more)
            mix_rows(X, low + more, some, mixtures, block, sums, more, values)
        _begin(prior, start, place, n, largest, scores, begin, slack, rows)
        t, left = 0, n
        while t < n_trees and left > 0:
            stop = n_trees
            if not wants_scores:
                left = _stay(rows, left, scores, begin, up[t], down[t], slack, labels[place:])
                stop = min(t + max(_FEWEST, t // _GROWTH), n_trees)
            for tree in range(t, stop):
                root, depth = roots[tree], depths[tree]
                _walk(values, columns, limits, children, root, depth, rows, left, places)
                _add_leaves(places, rows, left, numbers, steps, units[tree], scores)
            t = stop
        if wants_scores:
            for r in range(len(out)):
                for i in range(n):
                    out[r, place + i] = scores[i, r]
        else:
            _stay(rows, left, scores, begin, up[t], down[t], slack, labels[place:])


class DenseTrees:
    """What `find_classes` needs of trees.

    Parameters
    ----------
    trees : SparseTrees
        The trees, of at most `MOST_CLASSES` classes.
    """

    def __init__(self, trees: Any) -> None:
        k, n_leaves = trees.n_classes, len(trees.leaf_starts) - 1
        sizes = np.diff(trees.leaf_starts)
        steps = np.zeros((n_leaves, -(-k // _LANES) * _LANES), dtype=np.int16)
        steps[np.repeat(np.arange(n_leaves), sizes), trees.classes] = trees.steps
        prior = np.full(steps.shape[1], -np.inf, dtype=np.float32)
        prior[:k] = trees.prior
        self._n_classes, self._leaves = k, (steps, trees.units, prior)
        is_leaf, places = trees.columns < 0, np.arange(len(trees.columns), dtype=np.int32)
        columns = np.where(is_leaf, 0, trees._places).astype(np.int32)
        children = np.where(is_leaf, places, trees._children).astype(np.int32)
        numbers = (np.cumsum(is_leaf) - 1).astype(np.int32)
        roots = trees.starts[:-1].astype(np.int32)
        self._nodes = columns, children, numbers, roots, _depths(is_leaf, children, roots)
        self._limits = np.where(is_leaf, np.inf, trees.thresholds)
        self._limits_of: dict[np.dtype, NDArray] = {}
        self._along = trees._along
        self._mixtures: dict[np.dtype, Mixtures] = {}
        self._bounds = lead_bounds(steps, trees.units, trees._leaf_ranges, trees.prior)

    def scores(self, X: Any, team: ThreadTeam) -> NDArray[np.float32]:
        """Return the scores of all classes.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
            Prepared features.
        team : ThreadTeam
            Threads.

        Returns
        -------
        ndarray of float32 of shape (n_classes, n_samples)
            The scores.
        """
        out = np.empty((self._n_classes, X.shape[0]), dtype=np.float32)
        self._find(X, np.empty((0, 0), dtype=np.float32), np.empty(0, dtype=np.int64), out, team)
        return out

    def best(self, X: Any, start: NDArray | None, team: ThreadTeam) -> NDArray[np.int64]:
        """Return the class with the largest score, the first of several.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
            Prepared features.
        start : ndarray of float32 of shape (n_classes, n_samples) or None
            What is added to the scores of the trees.
        team : ThreadTeam
            Threads.

        Returns
        -------
        ndarray of int64 of shape (n_samples,)
            The classes.
        """
        labels = np.empty(X.shape[0], dtype=np.int64)
        none = np.empty((0, 0), dtype=np.float32)
        self._find(X, none if start is None else start, labels, none, team)
        return labels

    def _find(
        self, X: Any, start: NDArray, labels: NDArray, out: NDArray, team: ThreadTeam
    ) -> None:
        n, is_sparse = X.shape[0], sp.issparse(X)
        chunk = min(-(-n // (2 * team.n_threads * _ROWS)) * _ROWS, _CHUNK)
        mixtures = tuple(self._mixed(X.dtype, is_sparse))
        if X.dtype not in self._limits_of:  # where data is in double precision they may not fit
            self._limits_of[X.dtype] = self._limits.astype(X.dtype)
        nodes = self._limits_of[X.dtype], *self._nodes
        rest = mixtures, nodes, self._leaves, *self._bounds, start

        def work(number: int) -> None:
            first, last, offset, rows = number * chunk, min((number + 1) * chunk, n), 0, X
            if is_sparse:  # what the directions make of the rows is dense, not the rows
                rows = self._projected(X[first:last])
                first, last, offset = 0, last - first, first
            find_classes(rows, first, last, *rest, offset, labels, out)

        if n * len(self._leaves[1]) < _WORTH:
            team = ThreadTeam(1)
        team.for_each(work, -(-n // chunk) if n else 0)

    def _projected(self, X: Any) -> NDArray:
        """Return the values of sparse rows along the directions, row by row."""
        if self._along is None:
            return np.empty((X.shape[0], 0), dtype=X.dtype)
        return (X @ self._along.T).toarray().astype(X.dtype, copy=False)

    def _mixed(self, dtype: np.dtype, is_sparse: bool) -> Mixtures:
        """Return the directions, or those that leave projected rows as they are."""
        if self._along is None:
            return as_mixtures(sp.csr_array((0, 1)), dtype)
        if is_sparse:
            return as_mixtures(sp.eye_array(self._along.shape[0], format="csr"), dtype)
        if dtype not in self._mixtures:
            self._mixtures[dtype] = as_mixtures(self._along, dtype)
        return self._mixtures[dtype]


def _depths(
    is_leaf: NDArray[np.bool_], children: NDArray[np.int32], roots: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Return the number of splits above the lowest leaf of every tree."""
    depths = np.zeros(len(roots), dtype=np.int32)
    trees, nodes = np.arange(len(roots)), roots
    while True:
        inner = ~is_leaf[nodes]
        if not inner.any():
            return depths
        trees, left = trees[inner], children[nodes[inner]]
        depths[np.unique(trees)] += 1
        trees, nodes = np.concatenate([trees, trees]), np.concatenate([left, left + 1])


def lead_bounds(
    steps: NDArray[np.int16], units: NDArray, leaf_ranges: NDArray, prior: NDArray
) -> tuple[NDArray, NDArray, float]:
    """Return what the trees from t on add to and take from every class at most.

    Parameters
    ----------
    steps : ndarray of int16 of shape (n_leaves, at least n_classes)
        Leaves in units of their trees.
    units : ndarray of float32 of shape (n_trees,)
        The units.
    leaf_ranges : ndarray of int64 of shape (n_trees + 1,)
        First leaf of every tree, and the number of leaves.
    prior : ndarray of float32 of shape (n_classes,)
        Scores before the first tree.

    Returns
    -------
    up, down : ndarray of float64 of shape (n_trees + 1, at least n_classes)
        The bounds, for t = 0 to n_trees; `down` includes what sums may be off by.
    largest : float
        A score that none exceeds.
    """
    unit = units[:, None].astype(np.float64)
    high = np.maximum(np.maximum.reduceat(steps, leaf_ranges[:-1], axis=0), 0) * unit
    low = np.maximum(-np.minimum.reduceat(steps, leaf_ranges[:-1], axis=0).astype(int), 0) * unit
    up, down = np.zeros((2, len(units) + 1, steps.shape[1]))
    up[:-1], down[:-1] = (np.cumsum(part[::-1], axis=0)[::-1] for part in (high, low))
    largest = float(np.abs(prior).max()) + float(np.maximum(high, low).max(axis=1).sum())
    # Scores are sums in single precision: an addition changes a score by at most half a unit in the
    # last place, 2^-24 of the largest score that there can be; products with a unit do as much. Two
    # scores of n additions each are off by n 2^-22 of it; twice as much also covers that these
    # bounds are rounded sums, in double precision.
    down += np.arange(len(units), -1, -1)[:, None] * 2.0**-21 * largest
    if not largest < float(np.finfo(np.float32).max) / 2:  # scores may be infinite
        down[:] = np.inf
    return up, down, largest
