"""Where a split of a tree is chosen: histograms of drawn splits, and the gain of every cut.

At a node some pairs of a direction and a class code are drawn. For each of them a histogram of the
gradients by bin, one for the classes that go right above the cut and one for those that go right
below it, gives the gain of every cut. Kernels work on the points of a node, which lie side by side
(see `growth`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..projections.class_codes import ABOVE, BELOW, LEFT
from ..runtime.compiling import kernel
from ..runtime.parallel import ThreadTeam
from ..runtime.random_stream import scrambled

# columns of the arrays `splits` and `sums` of a tree that is being grown
COLUMN, CODE, CUT = 0, 1, 2
GAIN, GRADIENT, HESSIAN = 0, 1, 2
NO_SPLIT = -1
LOWER_HALF = np.int64(0xFFFFFFFF)
_TOGETHER = 16  # drawn splits whose histograms are filled together


@kernel
def draw_splits(
    key: Any,
    node: int,
    n_drawn: int,
    directions: NDArray,
    n_codes: int,
    columns: NDArray,
    codes: NDArray,
) -> None:
    """Draw directions from a range, and class codes, for a node."""
    size = np.uint64(directions[1] - directions[0])
    for j in range(n_drawn):
        bits = scrambled(key + np.uint64(node) * np.uint64(1 << 24) + np.uint64(j))
        columns[j] = directions[0] + np.int64((bits >> np.uint64(32)) % size)
        codes[j] = np.int64((bits & np.uint64(0xFFFFFFFF)) % np.uint64(n_codes))


@kernel
def find_runs(classes: NDArray, begin: int, end: int, runs: NDArray) -> int:
    """Find where the points of every class begin among those of a node; return the number.

    In every node points are ordered by class. The last entry is the end.
    """
    n = 0
    place = begin
    while place < end:
        runs[n] = place
        n += 1
        low, high, step = place, place + 1, 1  # low is of this class
        while high < end and classes[high] == classes[place]:
            low = high
            high += step
            step *= 2
        high = min(high, end)
        while high - low > 1:
            middle = (low + high) // 2
            if classes[middle] == classes[place]:
                low = middle
            else:
                high = middle
        place = high
    runs[n] = end
    return n


@kernel
def _fill(
    histogram: NDArray, column: NDArray, rows: NDArray, amounts: NDArray, begin: int, end: int
) -> None:
    """Add the amounts of some points to their bins."""
    for p in range(np.uint32(begin), np.uint32(end)):
        histogram[np.uint32(column[np.uint32(rows[p])])] += amounts[p]


@kernel
def _fill_four(
    h1: NDArray,
    column1: NDArray,
    h2: NDArray,
    column2: NDArray,
    h3: NDArray,
    column3: NDArray,
    h4: NDArray,
    column4: NDArray,
    rows: NDArray,
    amounts: NDArray,
    begin: int,
    end: int,
) -> None:
    """Add the amounts of some points to their bins along four directions."""
    for p in range(np.uint32(begin), np.uint32(end)):
        row = np.uint32(rows[p])
        amount = amounts[p]
        h1[np.uint32(column1[row])] += amount
        h2[np.uint32(column2[row])] += amount
        h3[np.uint32(column3[row])] += amount
        h4[np.uint32(column4[row])] += amount


@kernel
def _fill_histograms(
    bins: NDArray,
    codes: NDArray,
    rows: NDArray,
    classes: NDArray,
    amounts: NDArray,
    runs: NDArray,
    columns: NDArray,
    drawn_codes: NDArray,
    histograms: NDArray,
    ways: NDArray,
    active: NDArray,
) -> None:
    """Fill the histograms (split, way, bin) of drawn splits, up to four at a time.

    Points of classes that always go left are in none. `ways` and `active` are room
    for the way of a class at every split, and for the splits at which it has one.
    """
    for j in range(len(columns)):
        for way in range(2):
            histogram = histograms[j, way]
            for b in range(len(histogram)):
                histogram[b] = 0
    for e in range(len(runs) - 1):
        begin, end = runs[e], runs[e + 1]
        n = 0
        for j in range(len(columns)):
            way = codes[drawn_codes[j], classes[begin]]
            ways[n], active[n] = way - 1, j
            n += way != LEFT
        j = 0
        while j + 4 <= n:
            _fill_four(
                histograms[active[j], ways[j]],
                bins[columns[active[j]]],
                histograms[active[j + 1], ways[j + 1]],
                bins[columns[active[j + 1]]],
                histograms[active[j + 2], ways[j + 2]],
                bins[columns[active[j + 2]]],
                histograms[active[j + 3], ways[j + 3]],
                bins[columns[active[j + 3]]],
                rows,
                amounts,
                begin,
                end,
            )
            j += 4
        while j < n:
            histogram, column = histograms[active[j], ways[j]], bins[columns[active[j]]]
            _fill(histogram, column, rows, amounts, begin, end)
            j += 1


@kernel(inline="always")
def _right_sums(histogram: NDArray, right_g: NDArray, right_h: NDArray) -> None:
    """Gradients and hessians right of every cut, in units."""
    above, below = histogram[ABOVE - 1], histogram[BELOW - 1]
    right = np.int64(0)
    for b in range(len(above)):
        right += above[b]
    for b in range(len(right_g)):
        right += below[b] - above[b]
        right_g[b] = right >> 32
        right_h[b] = right & LOWER_HALF


@kernel(inline="always")
def _find_gains(
    right_g: NDArray,
    right_h: NDArray,
    sums: NDArray,
    limits: NDArray,
    unit: NDArray,
    gains: NDArray,
) -> None:
    """Gain of every cut of a drawn split."""
    ridge, min_hessian = limits[0], limits[1]
    unit_g, unit_h = unit[0], unit[1]
    total_g, total_h = sums[GRADIENT], sums[HESSIAN]
    before = total_g * total_g / (total_h + ridge)
    for b in range(len(gains)):
        g, h = right_g[b] * unit_g, right_h[b] * unit_h
        left_g, left_h = total_g - g, total_h - h
        gain = g * g * (left_h + ridge) + left_g * left_g * (h + ridge)
        gain = gain / ((h + ridge) * (left_h + ridge)) - before
        gains[b] = gain if min(h, left_h) >= min_hessian else 0.0


@kernel(inline="always")
def _drop_thin_cuts(counts: NDArray, n_points: int, min_points: float, gains: NDArray) -> None:
    """Set the gain of cuts that leave fewer than `min_points` points on a side to 0."""
    above, below = counts[ABOVE - 1], counts[BELOW - 1]
    right = np.int64(0)
    for b in range(len(above)):
        right += above[b]
    for b in range(len(gains)):
        right += below[b] - above[b]
        if min(right, n_points - right) < min_points:
            gains[b] = 0.0


@kernel(inline="always")
def find_best_split(
    bins: NDArray,
    codes: NDArray,
    rows: NDArray,
    classes: NDArray,
    pairs: NDArray,
    begin: int,
    end: int,
    columns: NDArray,
    drawn_codes: NDArray,
    first: int,
    last: int,
    sums: NDArray,
    limits: NDArray,
    unit: NDArray,
    n_bins: int,
    found: NDArray,
    split: NDArray,
) -> None:
    """Find the best of some drawn splits of a node; `sums` are its gradient and hessian.

    `limits` are the ridge penalty, and the smallest sum of hessians and number of points on a side.
    """
    min_points = limits[2]
    runs = np.empty(codes.shape[1] + 1, np.int64)
    runs = runs[: find_runs(classes, begin, end, runs) + 1]
    histograms = np.empty((_TOGETHER, 2, n_bins), np.int64)
    counts = np.empty((_TOGETHER if min_points > 1 else 0, 2, n_bins), np.int64)
    ones = np.empty(end if min_points > 1 else 0, np.int64)
    for p in range(len(ones)):
        ones[p] = 1
    ways, active = np.empty(_TOGETHER + 1, np.int64), np.empty(_TOGETHER + 1, np.int64)
    right_g, right_h = np.empty(n_bins, np.int32), np.empty(n_bins, np.int32)  # below 2**31
    gains = np.empty(n_bins)
    found[0] = 0.0
    split[COLUMN] = NO_SPLIT
    for start in range(first, last, _TOGETHER):
        stop = min(start + _TOGETHER, last)
        drawn = columns[start:stop], drawn_codes[start:stop]
        _fill_histograms(bins, codes, rows, classes, pairs, runs, *drawn, histograms, ways, active)
        if min_points > 1:
            _fill_histograms(bins, codes, rows, classes, ones, runs, *drawn, counts, ways, active)
        for j in range(start, stop):
            _right_sums(histograms[j - start], right_g, right_h)
            _find_gains(right_g, right_h, sums, limits, unit, gains)
            if min_points > 1:
                _drop_thin_cuts(counts[j - start], end - begin, min_points, gains)
            for b in range(n_bins - 1):
                if gains[b] > found[0]:
                    found[0] = gains[b]
                    split[COLUMN] = columns[j]
                    split[CODE] = drawn_codes[j]
                    split[CUT] = b


def search_in_parallel(
    bins: NDArray,
    codes: NDArray,
    points: tuple[NDArray, ...],
    span: NDArray,
    sums: NDArray,
    split: NDArray,
    limits: NDArray,
    unit: NDArray,
    n_bins: int,
    directions: NDArray,
    n_drawn: int,
    key: int,
    node: int,
    team: ThreadTeam,
) -> None:
    """Find the best split of a large node, the drawn splits divided among the threads.

    Parameters
    ----------
    bins, codes, points, unit, directions, n_drawn, key, team
        As for `growth.grow_tree`.
    span : ndarray of shape (2,)
        The first point of the node, and the one past the last.
    sums : ndarray of shape (3,)
        Gain, gradient and hessian of the node; the gain is filled in.
    split : ndarray of shape (5,)
        Its direction, code and cut are filled in.
    limits : ndarray of shape (3,)
        Ridge penalty, smallest sum of hessians and smallest number of points on a side.
    n_bins : int
        Number of bins.
    node : int
        Number of the node.
    """
    columns = np.empty(n_drawn, dtype=np.int64)
    drawn = np.empty(n_drawn, dtype=np.int64)
    draw_splits(np.uint64(key), node, n_drawn, directions, len(codes), columns, drawn)
    results: list[tuple[float, int, NDArray]] = []

    def work(first: int, last: int) -> None:
        found, best = np.zeros(1), np.empty(5, dtype=np.int32)
        find_best_split(
            bins, codes, *points, span[0], span[1], columns, drawn, first, last, sums, limits,
            unit, n_bins, found, best,
        )  # fmt: skip
        results.append((float(found[0]), -first, best))

    team.run(work, n_drawn)
    gain, _, best = max(results, key=lambda result: result[:2])
    sums[GAIN] = gain
    split[:3] = best[:3]
