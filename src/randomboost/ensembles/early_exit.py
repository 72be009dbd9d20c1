"""The best class of rows that leave the trees as soon as no further tree can change it.

After t trees the best class of a row leads every other class by some score. The remaining trees
add at most ``max_r sum_t (largest value of r in t)`` to a class and take at most ``max_r sum_t
(largest negative value of r in t)`` from another: once the lead exceeds both together, the label is
that of all trees. When the leads are looked at changes the time, not the labels.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..runtime.compiling import kernel
from .tree_walk import Room, add_touched, clear, make_room, walk

Lists = tuple[NDArray, NDArray, NDArray]  # touched classes of rows, their scores, how many
_FIRST_LOOK = 0.5  # part of the bound before the first tree at which leads are looked at
_FEWEST = 6  # trees between two looks at the leads


@kernel
def _sum_extremes(
    ends: NDArray, classes: NDArray, steps: NDArray, units: NDArray, n_classes: int,
    rests: NDArray,
) -> float:  # fmt: skip
    """Fill in the most by which the trees from t on change a lead; return the largest value.

    The entries of tree t are those from ``ends[t]`` to ``ends[t + 1]``. Values are products in
    single precision, as they are where they are added to scores.
    """
    up, down = np.zeros(n_classes), np.zeros(n_classes)  # of the trees from t on
    high, low = np.zeros(n_classes), np.zeros(n_classes)  # of tree t
    most_up, most_down, largest = 0.0, 0.0, 0.0
    rests[len(units)] = 0.0
    for t in range(len(units) - 1, -1, -1):
        for e in range(ends[t], ends[t + 1]):
            value, r = np.float32(steps[e]) * units[t], classes[e]
            high[r], low[r] = max(high[r], value), min(low[r], value)
        of_tree = 0.0
        for e in range(ends[t], ends[t + 1]):
            r = classes[e]
            of_tree = max(of_tree, high[r], -low[r])
            up[r] += high[r]
            down[r] -= low[r]
            high[r], low[r] = 0.0, 0.0
            most_up, most_down = max(most_up, up[r]), max(most_down, down[r])
        rests[t] = most_up + most_down
        largest += of_tree
    return largest


def lead_bounds(
    ends: NDArray, classes: NDArray, steps: NDArray, units: NDArray, prior: NDArray
) -> NDArray[np.float64]:
    """Return the leads that the trees from t on cannot make up for, for t = 0 to n_trees.

    Parameters
    ----------
    ends : ndarray of shape (n_trees + 1,)
        First entry of every tree, and the number of entries.
    classes, steps, units, prior : ndarray
        As in `SparseTrees`.

    Returns
    -------
    ndarray of float64 of shape (n_trees + 1,)
        The bounds; a larger lead after t trees is one after all trees.
    """
    bounds = np.empty(len(units) + 1)
    largest = float(np.abs(prior).max()) + _sum_extremes(
        ends, classes, steps, units, len(prior), bounds
    )
    # Scores are sums in single precision: an addition changes a score by at most half a unit in the
    # last place, 2^-24 of the largest score that there can be. Two scores of n additions each are
    # off by n 2^-23 of it; twice as much also covers that the largest score is a rounded sum, and
    # so are these bounds, in double precision.
    left = np.arange(len(units), -1, -1)
    fits = largest < float(np.finfo(np.float32).max) / 2  # else scores may be infinite
    return bounds + left * 2.0**-22 * largest if fits else np.full(len(bounds), np.inf)


def make_lists(prior: NDArray, n_rows: int, width: int) -> tuple[Room, Lists]:
    """Return what a thread works with: room for one row, and for the lists of a block.

    Parameters
    ----------
    prior : ndarray of float32 of shape (n_classes,)
        Scores before the first tree.
    n_rows : int
        Rows of a block.
    width : int
        Largest number of classes of a list.

    Returns
    -------
    tuple
        The room and the lists.
    """
    shape = (n_rows, width)
    lists = np.empty(shape, np.int32), np.empty(shape, np.float32), np.empty(n_rows, np.int64)
    return make_room(prior), lists


@kernel
def _take(lists: Lists, i: int, scores: NDArray, known: NDArray, touched: NDArray) -> int:
    """Take the touched classes of a row out of its list; return how many there are."""
    listed, kept, counts = lists
    for e in range(counts[i]):
        r = np.uint64(listed[i, e])
        touched[e] = r
        known[r] = True
        scores[r] = kept[i, e]
    return counts[i]


@kernel
def _put(lists: Lists, i: int, scores: NDArray, touched: NDArray, n: int) -> None:
    """Put the touched classes of a row into its list."""
    listed, kept, counts = lists
    counts[i] = n
    for e in range(n):
        listed[i, e] = touched[e]
        kept[i, e] = scores[np.uint64(touched[e])]


@kernel
def _leader(
    touched: NDArray, n: int, scores: NDArray, known: NDArray, prior: NDArray, order: NDArray
) -> tuple[int, float]:
    """Return the class with the largest score, the first of several, and its lead."""
    best, top, second = len(prior), np.float32(-np.inf), np.float32(-np.inf)
    for e in range(n):
        r = touched[e]
        score = scores[np.uint64(r)]
        if score > top or (score == top and r < best):
            best, top, second = r, score, top
        elif score > second:
            second = score
    for e in range(len(prior)):  # untouched classes by falling score: two at most
        r = order[e]
        if prior[r] < second:
            break
        if known[r]:
            continue
        if prior[r] > top or (prior[r] == top and r < best):
            best, top, second = r, prior[r], top
        else:
            second = prior[r]
            break
    return best, np.float64(top) - np.float64(second)


@kernel
def _next_look(bounds: NDArray, first: int, wanted: float) -> int:
    """Return the number of trees after which a lead is enough, some more than there were."""
    n_trees = len(bounds) - 1
    t = first + _FEWEST
    while t < n_trees and bounds[t] > wanted:
        t += 1
    return t if t + _FEWEST <= n_trees else n_trees


@kernel
def find_best(
    values: NDArray, columns: NDArray, limits: NDArray, children: NDArray, roots: NDArray,
    starts: NDArray, classes: NDArray, steps: NDArray, units: NDArray, prior: NDArray,
    order: NDArray, bounds: NDArray, room: Room, lists: Lists, begin: int, labels: NDArray,
) -> None:  # fmt: skip
    """Best class of the rows of a block, whose values along directions are given.

    Rows stay until their lead exceeds ``bounds[t]`` after t trees. The next look at the leads of
    those that stay is where the bound has fallen to their mean, so where rows are rarely safe few
    looks are wasted.
    """
    scores, known, touched, _ = room
    n_trees, n = len(units), values.shape[1]
    rows = np.arange(n)
    active, nodes = np.empty_like(rows), np.empty_like(rows)
    leaves = np.empty((n_trees, n), np.int32)
    lists[2][:n] = 0
    first, last = 0, _next_look(bounds, 0, _FIRST_LOOK * bounds[0])
    while n > 0:
        for t in range(first, last):
            walk(values, columns, limits, children, roots[t], rows[:n], leaves[t], active, nodes)
        kept, lacking = 0, 0.0
        for e in range(n):
            i = rows[e]
            found = _take(lists, i, scores, known, touched)
            found = add_touched(
                leaves, i, starts, classes, steps, units, scores, known, touched, found, first, last
            )
            labels[begin + i], lead = _leader(touched, found, scores, known, prior, order)
            if last < n_trees and not lead > bounds[last]:
                _put(lists, i, scores, touched, found)
                lacking += bounds[last] - lead
                rows[kept] = i
                kept += 1
            clear(touched, found, prior, scores, known)
        n = kept
        first, last = last, _next_look(bounds, last, bounds[last] - lacking / max(kept, 1))
