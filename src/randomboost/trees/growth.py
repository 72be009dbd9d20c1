"""Growing one tree, shared by all classes, on points (sample, class) with gradients.

The tree is grown best first: the leaf whose split gains most is split next (`splitting` chooses
the splits). Kernels work on the points of a node, which lie side by side.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..projections.class_codes import BELOW, LEFT
from ..runtime.compiling import kernel
from ..runtime.parallel import ThreadTeam
from ..runtime.random_stream import scrambled
from .splitting import (
    CODE,
    COLUMN,
    CUT,
    GAIN,
    GRADIENT,
    HESSIAN,
    LOWER_HALF,
    NO_SPLIT,
    draw_splits,
    find_best_split,
    find_runs,
    search_in_parallel,
)

_LEFT_CHILD = 3  # column of `splits`, followed by that of the right child
_PARALLEL = 1 << 15  # nodes with more points are searched by all threads
_LARGEST = 2.0**31 - 2.0**20  # largest sum in units, less what rounding may add
_MIN_RIDGE = 1e-12  # an empty side of a cut has no hessian to divide by


@kernel
def _sizes(gradients: NDArray, hessians: NDArray) -> tuple[float, float]:
    """Sum of the absolute gradients, and of the hessians."""
    total_g = 0.0
    total_h = 0.0
    for r in range(gradients.shape[0]):
        for i in range(gradients.shape[1]):
            total_g += abs(gradients[r, i])
            total_h += hessians[r, i]
    return total_g, total_h


def find_units(
    gradients: NDArray[np.float32], hessians: NDArray[np.float32], factor: float
) -> tuple[NDArray, float]:
    """Return units for gradients and hessians in which sums stay below 2**31.

    Parameters
    ----------
    gradients, hessians : ndarray of shape (n_classes, n_samples)
        Derivatives of the loss.
    factor : float
        By what factor sampling may raise the sums.

    Returns
    -------
    tuple of (ndarray, float)
        The units of gradients and of hessians, and the sum of the absolute gradients.
    """
    sizes = _sizes(gradients, hessians)
    return np.maximum(sizes, 1e-30) * (factor / _LARGEST), sizes[0]


@kernel
def mass_below(gradients: NDArray, taken: NDArray, low: float) -> float:
    """Sum of the absolute gradients below `low` of the samples `taken`."""
    lost: Any = 0.0
    for r in range(len(gradients)):
        row = gradients[r]
        for i in range(len(row)):
            size = abs(row[i])
            lost += (size if size < low else np.float32(0)) * np.float32(taken[i])
    return lost


@kernel
def _find_samples(gradients: NDArray, taken: NDArray, low: float, samples: NDArray) -> np.int64:
    """Find the samples with an absolute gradient of at least `low`; return their number."""
    n = np.uint32(0)
    for i in range(len(gradients)):  # always written, which needs no branch
        samples[n] = i
        n += np.uint32(abs(gradients[i]) >= low) & np.uint32(taken[i])
    return np.int64(n)


@kernel
def select_points(
    gradients: NDArray,
    hessians: NDArray,
    taken: NDArray,
    low: float,
    high: float,
    key: Any,
    by_class: bool,
    unit: NDArray,
    rows: NDArray,
    classes: NDArray,
    pairs: NDArray,
) -> np.int64:
    """Fill in the points to grow a tree on; return their number.

    Points with an absolute gradient below `low` are left out; those between `low` and `high` are
    sampled with a probability proportional to it, for which their weight makes up. Gradient and
    hessian are rounded to multiples of `unit` and share one word, the gradient in its upper half,
    so that a histogram adds both at once and exactly. The arrays have room for one more point.
    """
    n_classes, n_samples = gradients.shape
    samples = np.empty(n_samples + 1, np.uint32)
    unit_g, unit_h = 1.0 / unit[0], 1.0 / unit[1]
    n = np.uint32(0)
    for r in range(n_classes):
        g, h = gradients[r], hessians[r]
        begin = n
        for e in range(_find_samples(g, taken, low, samples)):
            i = samples[e]
            size = abs(g[i])
            uniform = (scrambled(key + np.uint64(r * n_samples + i)) >> np.uint64(40)) / 2.0**24
            factor = high / size if size < high else 1.0
            rows[n] = i if by_class else r * n_samples + i
            whole_g = np.int64(np.rint(g[i] * factor * unit_g))
            whole_h = np.int64(np.rint(h[i] * factor * unit_h))
            pairs[n] = (whole_g << 32) + whole_h
            n += np.uint32(uniform * high < size) | np.uint32(size >= high)
        classes[begin:n] = r if by_class else 0
    return np.int64(n)


@kernel(inline="always")
def _sum_up(pairs: NDArray, begin: int, end: int, unit: NDArray, sums: NDArray) -> None:
    total = np.int64(0)
    for p in range(begin, end):
        total += pairs[p]
    sums[GRADIENT] = (total >> 32) * unit[0]
    sums[HESSIAN] = (total & LOWER_HALF) * unit[1]


@kernel
def _partition_run(
    column: NDArray,
    cut: Any,
    flip: Any,
    rows: NDArray,
    pairs: NDArray,
    begin: int,
    end: int,
    kept: Any,
    spare_rows: NDArray,
    spare_pairs: NDArray,
    moved: Any,
) -> tuple[Any, Any]:
    """Partition points of one class: those at most the cut stay, or with `flip` the others.

    Every point is written to both sides, which avoids branches that are hard to predict.
    """
    for p in range(np.uint32(begin), np.uint32(end)):
        row, pair = rows[p], pairs[p]
        right = np.uint32(column[np.uint32(row)] > cut) ^ flip
        rows[kept], pairs[kept] = row, pair
        spare_rows[moved], spare_pairs[moved] = row, pair
        kept += np.uint32(1) - right
        moved += right
    return kept, moved


@kernel
def _partition(
    bins: NDArray,
    codes: NDArray,
    rows: NDArray,
    classes: NDArray,
    pairs: NDArray,
    begin: int,
    end: int,
    split: NDArray,
    spare: tuple[NDArray, ...],
) -> np.int64:
    """Put the points of a node that go left first; return where the others begin.

    The order of the points is kept on both sides.
    """
    column = bins[split[COLUMN]]
    code = codes[split[CODE]]
    cut = np.uint8(split[CUT])
    spare_rows, spare_classes, spare_pairs = spare
    runs = np.empty(codes.shape[1] + 1, np.int64)
    kept, moved = np.uint64(begin), np.uint64(0)
    for e in range(find_runs(classes, begin, end, runs)):
        first, last = runs[e], runs[e + 1]
        number = classes[first]
        was_kept, was_moved = kept, moved
        if code[number] == LEFT:
            for p in range(first, last):
                rows[kept], pairs[kept] = rows[p], pairs[p]
                kept += np.uint32(1)
        else:
            kept, moved = _partition_run(
                column, cut, np.uint32(code[number] == BELOW), rows, pairs, first, last, kept,
                spare_rows, spare_pairs, moved,
            )  # fmt: skip
        classes[was_kept:kept] = number
        spare_classes[was_moved:moved] = number
    middle = np.int64(kept)
    for e in range(moved):
        rows[middle + e] = spare_rows[e]
        classes[middle + e] = spare_classes[e]
        pairs[middle + e] = spare_pairs[e]
    return middle


@kernel
def _grow(
    bins: NDArray,
    codes: NDArray,
    rows: NDArray,
    classes: NDArray,
    pairs: NDArray,
    spare: tuple[NDArray, ...],
    splits: NDArray,
    sums: NDArray,
    spans: NDArray,
    depths: NDArray,
    state: NDArray,
    key: Any,
    n_drawn: int,
    directions: NDArray,
    limits: NDArray,
    unit: NDArray,
    n_bins: int,
    max_leaves: int,
    max_depth: int,
    most_points: int,
) -> None:
    """Grow until done, or until a node with more than `most_points` points is to be searched.

    ``state`` holds the number of nodes and the first one that is not searched: the node that the
    caller has to search, or the number of nodes at the end.
    """
    columns = np.empty(n_drawn, np.int64)
    drawn_codes = np.empty(n_drawn, np.int64)
    while True:
        while state[1] < state[0]:
            node = state[1]
            begin, end = spans[node]
            _sum_up(pairs, begin, end, unit, sums[node])
            if depths[node] < max_depth and end - begin > 1 and state[0] < 2 * max_leaves - 1:
                if end - begin > most_points:
                    return
                draw_splits(key, node, n_drawn, directions, len(codes), columns, drawn_codes)
                find_best_split(
                    bins, codes, rows, classes, pairs, begin, end, columns, drawn_codes, 0,
                    n_drawn, sums[node], limits, unit, n_bins, sums[node], splits[node],
                )  # fmt: skip
            state[1] += 1
        if state[0] >= 2 * max_leaves - 1:
            return
        best = NO_SPLIT
        gain = 0.0
        for node in range(state[0]):
            if splits[node, _LEFT_CHILD] == NO_SPLIT and sums[node, GAIN] > gain:
                best = node
                gain = sums[node, GAIN]
        if best == NO_SPLIT:
            return
        begin, end = spans[best]
        middle = _partition(bins, codes, rows, classes, pairs, begin, end, splits[best], spare)
        for side in range(2):
            child = state[0] + side
            splits[best, _LEFT_CHILD + side] = child
            spans[child, 0] = begin if side == 0 else middle
            spans[child, 1] = middle if side == 0 else end
            depths[child] = depths[best] + 1
        state[0] += 2


class Rules(NamedTuple):
    """Limits on the growth of a tree.

    Parameters
    ----------
    max_leaves, max_depth : int
        Largest number of leaves and of splits on a path.
    ridge : float
        Ridge penalty of the leaf values.
    min_hessian, min_points : float
        Smallest sum of hessians and smallest number of points on a side of a split.
    n_bins : int
        Number of bins.
    """

    max_leaves: int
    max_depth: int
    ridge: float
    min_hessian: float
    min_points: float
    n_bins: int


class GrownTree(NamedTuple):
    """A tree on bins.

    Parameters
    ----------
    splits : ndarray of int32 of shape (n_nodes, 5)
        Direction (-1 for a leaf), class code, cut, left child, right child; parents come first.
    values : ndarray of float64 of shape (n_nodes,)
        Newton's step for every node.
    gains : ndarray of float64 of shape (n_nodes,)
        Gain of every split.
    """

    splits: NDArray[np.int32]
    values: NDArray
    gains: NDArray


def grow_tree(
    bins: NDArray[np.uint8],
    codes: NDArray[np.uint8],
    points: tuple[NDArray, ...],
    spare: tuple[NDArray, ...],
    unit: NDArray,
    rules: Rules,
    directions: NDArray[np.int64],
    n_drawn: int,
    key: int,
    team: ThreadTeam,
) -> GrownTree:
    """Grow a tree.

    Parameters
    ----------
    bins : ndarray of uint8 of shape (n_directions, n_rows)
        Bins of the rows.
    codes : ndarray of uint8 of shape (n_codes, n_classes)
        Class codes.
    points : tuple of ndarray
        Row, class, and gradient and hessian of every point (see `select_points`); they are
        reordered.
    spare : tuple of ndarray
        Working memory of the same length and types as `points`.
    unit : ndarray of shape (2,)
        Units of the gradients and of the hessians.
    rules : Rules
        Limits on its growth.
    directions : ndarray of int64 of shape (2,)
        The first direction to draw from, and the one past the last.
    n_drawn : int
        Number of splits (a direction and a class code) that are tried at every node.
    key : int
        Seed of this tree's draws.
    team : ThreadTeam
        Threads; they do not change the tree.

    Returns
    -------
    GrownTree
        The tree; a single node if no split has a gain.
    """
    rows, classes, pairs = points
    size = 2 * rules.max_leaves - 1
    splits = np.full((size, 5), NO_SPLIT, dtype=np.int32)
    sums = np.zeros((size, 3))
    spans = np.zeros((size, 2), dtype=np.int64)
    depths = np.zeros(size, dtype=np.int64)
    spans[0, 1] = len(rows)
    state = np.array([1, 0])
    ridge = max(rules.ridge, _MIN_RIDGE)
    limits = np.array([ridge, rules.min_hessian, rules.min_points])
    most_points = _PARALLEL if team.n_threads > 1 else len(rows)
    while True:
        _grow(
            bins, codes, rows, classes, pairs, spare, splits, sums, spans, depths, state,
            np.uint64(key), n_drawn, directions, limits, unit, rules.n_bins,
            rules.max_leaves, rules.max_depth, most_points,
        )  # fmt: skip
        node = int(state[1])
        if node == state[0]:
            break
        search_in_parallel(
            bins, codes, points, spans[node], sums[node], splits[node], limits, unit,
            rules.n_bins, directions, n_drawn, key, node, team,
        )  # fmt: skip
        state[1] += 1
    n_nodes = int(state[0])
    splits[:n_nodes, :3][splits[:n_nodes, _LEFT_CHILD] == NO_SPLIT] = NO_SPLIT
    values = -sums[:n_nodes, GRADIENT] / (sums[:n_nodes, HESSIAN] + ridge)
    return GrownTree(splits[:n_nodes], values, sums[:n_nodes, GAIN])
