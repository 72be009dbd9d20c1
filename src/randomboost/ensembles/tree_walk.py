"""Kernels that predict with sparse trees: the leaves of rows, and what their classes add up to."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..runtime.compiling import kernel
from ..runtime.ordering import sort_numbers
from ..trees.sparse_scores import exponential

Room = tuple[NDArray, NDArray, NDArray, NDArray]  # what a thread works with; see `make_room`
_TILE = 16  # rows whose scores are copied together


@kernel
def walk(
    values: NDArray, columns: NDArray, limits: NDArray, children: NDArray, root: int,
    rows: NDArray, leaves: NDArray, active: NDArray, nodes: NDArray,
) -> None:  # fmt: skip
    """Fill in the leaf of some rows of a block; ``children`` of a leaf is -1 - its number."""
    n = len(rows)
    for e in range(n):
        active[e] = rows[e]
        nodes[e] = root
    if children[root] < 0:
        for e in range(n):
            leaves[rows[e]] = -1 - children[root]
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
def find_leaves(
    values: NDArray, columns: NDArray, limits: NDArray, children: NDArray, roots: NDArray,
    leaves: NDArray,
) -> None:  # fmt: skip
    """Fill in the leaf of every row (second axis) in every tree."""
    n = values.shape[1]
    rows, active, nodes = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    for i in range(n):
        rows[i] = i
    for t in range(len(roots)):
        walk(values, columns, limits, children, roots[t], rows, leaves[t], active, nodes)


@kernel
def _add_leaves(
    leaves: NDArray, i: int, starts: NDArray, classes: NDArray, steps: NDArray, units: NDArray,
    scores: NDArray,
) -> None:  # fmt: skip
    """Add the leaves of a row to its scores."""
    for t in range(len(units)):
        leaf = np.uint64(leaves[t, i])
        unit = units[t]
        for e in range(np.uint64(starts[leaf]), np.uint64(starts[leaf + np.uint64(1)])):
            scores[np.uint64(classes[e])] += np.float32(steps[e]) * unit


@kernel
def fill_scores(
    leaves: NDArray, starts: NDArray, classes: NDArray, steps: NDArray, units: NDArray,
    prior: NDArray, begin: int, out: NDArray,
) -> None:  # fmt: skip
    """Scores of the rows of a block, all classes."""
    tile = np.empty((_TILE, len(prior)), np.float32)
    n = leaves.shape[1]
    for first in range(0, n, _TILE):
        last = min(first + _TILE, n)
        for i in range(first, last):
            scores = tile[i - first]
            for r in range(len(prior)):
                scores[r] = prior[r]
            _add_leaves(leaves, i, starts, classes, steps, units, scores)
        for r in range(len(prior)):
            for i in range(first, last):
                out[r, begin + i] = tile[i - first, r]


@kernel
def make_room(prior: NDArray) -> Room:
    """Scores of all classes, which are touched, a list of those, and powers of their scores.

    Between two rows the scores are the prior and no class is touched, see `clear`.
    """
    n = len(prior)
    touched = np.empty(n + 1, np.int64)  # one more is written than there are
    return prior.copy(), np.zeros(n, np.bool_), touched, np.empty(n, np.float32)


@kernel
def add_touched(
    leaves: NDArray, i: int, starts: NDArray, classes: NDArray, steps: NDArray, units: NDArray,
    scores: NDArray, known: NDArray, touched: NDArray, n: int, first: int, last: int,
) -> int:  # fmt: skip
    """Add leaves of a row to its scores; list their classes after the n known ones, count all."""
    for t in range(first, last):
        leaf = np.uint64(leaves[t, i])
        unit = units[t]
        for e in range(np.uint64(starts[leaf]), np.uint64(starts[leaf + np.uint64(1)])):
            r = np.uint64(classes[e])
            touched[n] = r
            n += 0 if known[r] else 1
            known[r] = True
            scores[r] += np.float32(steps[e]) * unit
    return n


@kernel
def clear(touched: NDArray, n: int, prior: NDArray, scores: NDArray, known: NDArray) -> None:
    """Make room for the next row."""
    for e in range(n):
        r = np.uint64(touched[e])
        scores[r] = prior[r]
        known[r] = False


@kernel
def _sum_powers(
    touched: NDArray, n: int, scores: NDArray, shares: NDArray, scale: float, shift: float,
    peak: np.float32, powers: NDArray,
) -> float:  # fmt: skip
    """Return the sum of ``exp(scale * (score - peak))`` over all classes.

    An untouched class r has ``exp(scale * score) = shares[r] * exp(shift)``.
    """
    factor = np.float32(scale)
    for e in range(n):
        powers[e] = factor * (scores[np.uint64(touched[e])] - peak)
    for e in range(n):
        powers[e] = exponential(powers[e])
    total, others = 0.0, 1.0
    for e in range(n):
        total += powers[e]
        others -= shares[np.uint64(touched[e])]
    if n < len(shares):
        total += max(others, 0.0) * math.exp(shift - scale * peak)
    return total


@kernel
def _insert(r: int, score: np.float32, labels: NDArray, scores: NDArray, n: int) -> int:
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
def _find_best(
    touched: NDArray, n: int, scores: NDArray, known: NDArray, prior: NDArray, order: NDArray,
    labels: NDArray, tops: NDArray,
) -> None:  # fmt: skip
    """Fill in the best classes of a row, and their scores."""
    found = 0
    for e in range(n):
        r = touched[e]
        if found < len(labels) or scores[r] >= tops[found - 1]:
            found = _insert(r, scores[r], labels, tops, found)
    more = 0
    for e in range(len(prior)):
        r = order[e]
        if more == len(labels) or (found == len(labels) and prior[r] < tops[found - 1]):
            break
        if not known[r]:
            found = _insert(r, prior[r], labels, tops, found)
            more += 1


@kernel
def fill_best(
    leaves: NDArray, starts: NDArray, classes: NDArray, steps: NDArray, units: NDArray,
    prior: NDArray, order: NDArray, shares: NDArray, shift: float, scale: float, room: Room,
    begin: int, labels: NDArray, tops: NDArray, normalisers: NDArray,
) -> None:  # fmt: skip
    """Best classes of rows, and the logarithm of the sum of ``exp(scale * score)``."""
    scores, known, touched, powers = room
    for i in range(leaves.shape[1]):
        n = add_touched(
            leaves, i, starts, classes, steps, units, scores, known, touched, 0, 0, len(units)
        )
        _find_best(touched, n, scores, known, prior, order, labels[begin + i], tops[begin + i])
        peak = max(prior[order[0]], tops[begin + i, 0])
        total = _sum_powers(touched, n, scores, shares, scale, shift, peak, powers)
        normalisers[begin + i] = scale * peak + math.log(total)
        clear(touched, n, prior, scores, known)


@kernel
def count_touched(
    leaves: NDArray, starts: NDArray, classes: NDArray, room: Room, begin: int, counts: NDArray
) -> None:
    """Count the classes that the leaves of the rows of a block touch."""
    _, known, touched, _ = room
    for i in range(leaves.shape[1]):
        n = 0
        for t in range(leaves.shape[0]):
            leaf = np.uint64(leaves[t, i])
            for e in range(np.uint64(starts[leaf]), np.uint64(starts[leaf + np.uint64(1)])):
                r = np.uint64(classes[e])
                touched[n] = r
                n += 0 if known[r] else 1
                known[r] = True
        for e in range(n):
            known[touched[e]] = False
        counts[begin + i] = n


@kernel
def fill_probabilities(
    leaves: NDArray, starts: NDArray, classes: NDArray, steps: NDArray, units: NDArray,
    prior: NDArray, order: NDArray, shares: NDArray, shift: float, scale: float, room: Room,
    begin: int, ends: NDArray, labels: NDArray, probabilities: NDArray,
) -> None:  # fmt: skip
    """Probabilities of the touched classes, rising in a row; row i ends at ``ends[i + 1]``."""
    scores, known, touched, powers = room
    factor = np.float32(scale)
    for i in range(leaves.shape[1]):
        n = add_touched(
            leaves, i, starts, classes, steps, units, scores, known, touched, 0, 0, len(units)
        )
        peak = prior[order[0]]
        for e in range(n):
            peak = max(peak, scores[np.uint64(touched[e])])
        total = _sum_powers(touched, n, scores, shares, scale, shift, peak, powers)
        sort_numbers(touched, n)
        first = ends[begin + i]
        for e in range(n):
            r = touched[e]
            labels[first + e] = r
            probabilities[first + e] = exponential(factor * (scores[r] - peak)) / total
        clear(touched, n, prior, scores, known)
