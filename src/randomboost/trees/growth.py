"""Growing one tree, shared by all classes, on points (sample, class) with gradients.

The tree is grown best first: the leaf whose split gains most is split next. At every node some
pairs of a direction and a class code are drawn; a histogram of the gradients by bin, one for
the classes that go right above the cut and one for those that go right below it, gives the gain
of every cut. Kernels work on the points of a node, which lie side by side.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..projections.class_codes import ABOVE, BELOW, LEFT
from ..runtime.compiling import kernel
from ..runtime.parallel import ThreadTeam
from ..runtime.random_stream import scrambled

# columns of Growth.splits and of Growth.sums
_COLUMN, _CODE, _CUT, _LEFT, _RIGHT = 0, 1, 2, 3, 4
_GAIN, _GRADIENT, _HESSIAN = 0, 1, 2
_PARALLEL = 1 << 15  # points of a node from which on threads share its search
_TOGETHER = 16  # drawn splits whose histograms are filled together
_NONE = -1
_LARGEST = 2.0**31 - 2.0**20  # whole numbers that a sum may reach, less what rounding may add
_LEAST_RIDGE = 1e-12  # an empty side of a cut has no curvature to divide by
_LOWER_HALF = np.int64(0xFFFFFFFF)


@kernel
def _sizes(gradients, hessians):
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
    """Return what one unit stands for so that sums stay below 2**31.

    Parameters
    ----------
    gradients, hessians : ndarray of shape (n_classes, n_samples)
        Derivatives of the loss.
    factor : float
        By how much drawing points may raise the sums.

    Returns
    -------
    tuple of (ndarray, float)
        The units of gradients and of hessians, and the sum of the absolute gradients.
    """
    sizes = _sizes(gradients, hessians)
    return np.maximum(sizes, 1e-30) * (factor / _LARGEST), sizes[0]


@kernel
def mass_below(gradients, taken, low):
    """Sum of the gradients of the samples `taken` that are below `low`."""
    lost = 0.0
    for r in range(len(gradients)):
        row = gradients[r]
        for i in range(len(row)):
            size = abs(row[i])
            lost += (size if size < low else np.float32(0)) * np.float32(taken[i])
    return lost


@kernel
def _find_samples(gradients, taken, low, samples):
    """Fill in the samples with a gradient of at least `low`; return their number."""
    n = np.uint32(0)
    for i in range(len(gradients)):  # written whether it counts or not: there is no branch
        samples[n] = i
        n += np.uint32(abs(gradients[i]) >= low) & np.uint32(taken[i])
    return np.int64(n)


@kernel
def select_points(gradients, hessians, taken, low, high, key, by_class, unit, rows, classes, pairs):
    """Fill in the points to grow a tree on; return their number.

    Points of a gradient below `low` are left out; those between `low` and `high` are taken with
    a chance in proportion to the gradient, which is made up for by their weight. Gradient and
    hessian are rounded to whole numbers of `unit` and share one word, the gradient in its upper
    half, so that a histogram adds both at once and without error. The arrays to fill have room
    for one point more than there are.
    """
    n_classes, n_samples = gradients.shape
    samples = np.empty(n_samples + 1, np.uint32)
    unit_g, unit_h = 1.0 / unit[0], 1.0 / unit[1]
    n = np.uint32(0)
    for r in range(n_classes):
        slopes, curves = gradients[r], hessians[r]
        begin = n
        for e in range(_find_samples(slopes, taken, low, samples)):
            i = samples[e]
            size = abs(slopes[i])
            chance = (scrambled(key + np.uint64(r * n_samples + i)) >> np.uint64(40)) / 2.0**24
            factor = high / size if size < high else 1.0
            rows[n] = i if by_class else r * n_samples + i
            whole_g = np.int64(np.rint(slopes[i] * factor * unit_g))
            whole_h = np.int64(np.rint(curves[i] * factor * unit_h))
            pairs[n] = (whole_g << 32) + whole_h
            n += np.uint32(chance * high < size) | np.uint32(size >= high)
        classes[begin:n] = r if by_class else 0
    return np.int64(n)


@kernel
def _draw(key, node, n_drawn, directions, n_codes, columns, codes):
    """Draw directions out of a range, and codes, for a node."""
    size = np.uint64(directions[1] - directions[0])
    for j in range(n_drawn):
        bits = scrambled(key + np.uint64(node) * np.uint64(1 << 24) + np.uint64(j))
        columns[j] = directions[0] + np.int64((bits >> np.uint64(32)) % size)
        codes[j] = np.int64((bits & np.uint64(0xFFFFFFFF)) % np.uint64(n_codes))


@kernel
def _find_runs(classes, begin, end, runs):
    """Note where the points of every class begin among those of a node; return how many do.

    Points are in the order of their classes, in every node. The last entry is the end.
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
def _fill(histogram, column, rows, amounts, begin, end):
    """Add the amounts of some points to their bins."""
    for p in range(np.uint32(begin), np.uint32(end)):
        histogram[np.uint32(column[np.uint32(rows[p])])] += amounts[p]


@kernel
def _fill_four(h1, column1, h2, column2, h3, column3, h4, column4, rows, amounts, begin, end):
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
    bins, codes, rows, classes, amounts, runs, columns, drawn_codes, histograms, ways, active
):
    """Fill the histograms (split, way, bin) of drawn splits, up to four at a time.

    Points of classes that go left whatever their value are in none. `ways` and `active` are room
    for the way of a class at every split, and for the splits where it has one.
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
def _right_sums(histogram, right_g, right_h):
    """Gradients and hessians right of every cut, in units."""
    above, below = histogram[ABOVE - 1], histogram[BELOW - 1]
    right = np.int64(0)
    for b in range(len(above)):
        right += above[b]
    for b in range(len(right_g)):
        right += below[b] - above[b]
        right_g[b] = right >> 32
        right_h[b] = right & _LOWER_HALF


@kernel(inline="always")
def _find_gains(right_g, right_h, sums, rules, unit, gains):
    """Gain of every cut of a drawn split."""
    ridge, min_hessian = rules[0], rules[1]
    unit_g, unit_h = unit[0], unit[1]
    total_g, total_h = sums[_GRADIENT], sums[_HESSIAN]
    before = total_g * total_g / (total_h + ridge)
    for b in range(len(gains)):
        g, h = right_g[b] * unit_g, right_h[b] * unit_h
        left_g, left_h = total_g - g, total_h - h
        gain = g * g * (left_h + ridge) + left_g * left_g * (h + ridge)
        gain = gain / ((h + ridge) * (left_h + ridge)) - before
        gains[b] = gain if min(h, left_h) >= min_hessian else 0.0


@kernel(inline="always")
def _drop_thin_cuts(counts, n_points, min_points, gains):
    """Set the gain of cuts to 0 that leave fewer points than wanted on a side."""
    above, below = counts[ABOVE - 1], counts[BELOW - 1]
    right = np.int64(0)
    for b in range(len(above)):
        right += above[b]
    for b in range(len(gains)):
        right += below[b] - above[b]
        if min(right, n_points - right) < min_points:
            gains[b] = 0.0


@kernel(inline="always")
def _search(
    bins, codes, rows, classes, pairs, begin, end, columns, drawn_codes, first, last, sums, rules,
    unit, n_bins, found, split,
):  # fmt: skip
    """Find the best of some drawn splits of a node; `sums` are its gradient and hessian."""
    min_points = rules[2]
    runs = np.empty(codes.shape[1] + 1, np.int64)
    runs = runs[: _find_runs(classes, begin, end, runs) + 1]
    histograms = np.empty((_TOGETHER, 2, n_bins), np.int64)
    counts = np.empty((_TOGETHER if min_points > 1 else 0, 2, n_bins), np.int64)
    ones = np.empty(end if min_points > 1 else 0, np.int64)
    for p in range(len(ones)):
        ones[p] = 1
    ways, active = np.empty(_TOGETHER + 1, np.int64), np.empty(_TOGETHER + 1, np.int64)
    right_g, right_h = np.empty(n_bins, np.int32), np.empty(n_bins, np.int32)  # below 2**31
    gains = np.empty(n_bins)
    found[0] = 0.0
    split[_COLUMN] = _NONE
    for start in range(first, last, _TOGETHER):
        stop = min(start + _TOGETHER, last)
        drawn = columns[start:stop], drawn_codes[start:stop]
        _fill_histograms(bins, codes, rows, classes, pairs, runs, *drawn, histograms, ways, active)
        if min_points > 1:
            _fill_histograms(bins, codes, rows, classes, ones, runs, *drawn, counts, ways, active)
        for j in range(start, stop):
            _right_sums(histograms[j - start], right_g, right_h)
            _find_gains(right_g, right_h, sums, rules, unit, gains)
            if min_points > 1:
                _drop_thin_cuts(counts[j - start], end - begin, min_points, gains)
            for b in range(n_bins - 1):
                if gains[b] > found[0]:
                    found[0] = gains[b]
                    split[_COLUMN] = columns[j]
                    split[_CODE] = drawn_codes[j]
                    split[_CUT] = b


@kernel(inline="always")
def _sum_up(pairs, begin, end, unit, sums):
    total = np.int64(0)
    for p in range(begin, end):
        total += pairs[p]
    sums[_GRADIENT] = (total >> 32) * unit[0]
    sums[_HESSIAN] = (total & _LOWER_HALF) * unit[1]


@kernel
def _part_run(column, cut, flip, rows, pairs, begin, end, kept, spare_rows, spare_pairs, moved):
    """Part points of one class: those at most the cut are kept, or with `flip` the others.

    Every point is written to both sides, so that there is no branch to be guessed wrong.
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
def _part(bins, codes, rows, classes, pairs, begin, end, split, spare):
    """Put the points of a node that go left first; return where the others begin.

    Either part keeps the order of the points.
    """
    column = bins[split[_COLUMN]]
    code = codes[split[_CODE]]
    cut = np.uint8(split[_CUT])
    spare_rows, spare_classes, spare_pairs = spare
    runs = np.empty(codes.shape[1] + 1, np.int64)
    kept, moved = np.uint64(begin), np.uint64(0)
    for e in range(_find_runs(classes, begin, end, runs)):
        first, last = runs[e], runs[e + 1]
        number = classes[first]
        was_kept, was_moved = kept, moved
        if code[number] == LEFT:
            for p in range(first, last):
                rows[kept], pairs[kept] = rows[p], pairs[p]
                kept += np.uint32(1)
        else:
            kept, moved = _part_run(
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
    bins, codes, rows, classes, pairs, spare, splits, sums, spans, depths, state, key, n_drawn,
    directions, rules, unit, n_bins, max_leaves, max_depth, most_points,
):  # fmt: skip
    """Grow until done, or until a node of more than `most_points` is to be searched.

    ``state`` holds the number of nodes and the first one not searched; it is left where a
    search is wanted of the caller, and equal to the number of nodes at the end.
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
                _draw(key, node, n_drawn, directions, len(codes), columns, drawn_codes)
                _search(
                    bins, codes, rows, classes, pairs, begin, end, columns, drawn_codes, 0,
                    n_drawn, sums[node], rules, unit, n_bins, sums[node], splits[node],
                )  # fmt: skip
            state[1] += 1
        if state[0] >= 2 * max_leaves - 1:
            return
        best = _NONE
        gain = 0.0
        for node in range(state[0]):
            if splits[node, _LEFT] == _NONE and sums[node, _GAIN] > gain:
                best = node
                gain = sums[node, _GAIN]
        if best == _NONE:
            return
        begin, end = spans[best]
        middle = _part(bins, codes, rows, classes, pairs, begin, end, splits[best], spare)
        for side in range(2):
            child = state[0] + side
            splits[best, _LEFT + side] = child
            spans[child, 0] = begin if side == 0 else middle
            spans[child, 1] = middle if side == 0 else end
            depths[child] = depths[best] + 1
        state[0] += 2


class Rules(NamedTuple):
    """What a tree may look like.

    Parameters
    ----------
    max_leaves, max_depth : int
        Largest number of leaves and of splits on a path.
    ridge : float
        Ridge penalty of the leaf values.
    min_hessian, min_points : float
        Least sum of hessians, and least number of points, on either side of a split.
    n_bins : int
        Number of bins.
    """

    max_leaves: int
    max_depth: int
    ridge: float
    min_hessian: float
    min_points: float
    n_bins: int


class Grown(NamedTuple):
    """A tree as it was grown.

    Parameters
    ----------
    splits : ndarray of int32 of shape (n_nodes, 5)
        Direction (-1 for a leaf), code, cut, left child, right child; parents come first.
    values : ndarray of float64 of shape (n_nodes,)
        Newton's step for every node.
    gains : ndarray of float64 of shape (n_nodes,)
        What every split gains.
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
) -> Grown:
    """Grow a tree.

    Parameters
    ----------
    bins : ndarray of uint8 of shape (n_directions, n_rows)
        Bins of the rows.
    codes : ndarray of uint8 of shape (n_codes, n_classes)
        Class codes.
    points : tuple of ndarray
        Row, class, and gradient and hessian of every point (see `select_points`); they are put
        into another order.
    spare : tuple of ndarray
        As long as `points`, to work with.
    unit : ndarray of shape (2,)
        What one unit of the gradients and of the hessians stands for.
    rules : Rules
        What the tree may look like.
    directions : ndarray of int64 of shape (2,)
        The first direction to look at, and the one past the last.
    n_drawn : int
        Splits (a direction and a code) that are tried at every node.
    key : int
        Seed of this tree's draws.
    team : ThreadTeam
        Threads; they do not change the tree.

    Returns
    -------
    Grown
        The tree; a single node where no split gains anything.
    """
    rows, classes, pairs = points
    size = 2 * rules.max_leaves - 1
    splits = np.full((size, 5), _NONE, dtype=np.int32)
    sums = np.zeros((size, 3))
    spans = np.zeros((size, 2), dtype=np.int64)
    depths = np.zeros(size, dtype=np.int64)
    spans[0, 1] = len(rows)
    state = np.array([1, 0])
    ridge = max(rules.ridge, _LEAST_RIDGE)
    limits_on = np.array([ridge, rules.min_hessian, rules.min_points])
    most_points = _PARALLEL if team.n_threads > 1 else len(rows)
    while True:
        _grow(
            bins, codes, rows, classes, pairs, spare, splits, sums, spans, depths, state,
            np.uint64(key), n_drawn, directions, limits_on, unit, rules.n_bins,
            rules.max_leaves, rules.max_depth, most_points,
        )  # fmt: skip
        node = int(state[1])
        if node == state[0]:
            break
        _search_in_parallel(
            bins, codes, points, spans[node], sums[node], splits[node], rules, limits_on, unit,
            directions, n_drawn, key, node, team,
        )  # fmt: skip
        state[1] += 1
    n_nodes = int(state[0])
    splits[:n_nodes, :3][splits[:n_nodes, _LEFT] == _NONE] = _NONE
    values = -sums[:n_nodes, _GRADIENT] / (sums[:n_nodes, _HESSIAN] + ridge)
    return Grown(splits[:n_nodes], values, sums[:n_nodes, _GAIN])


def _search_in_parallel(
    bins: NDArray,
    codes: NDArray,
    points: tuple[NDArray, ...],
    span: NDArray,
    sums: NDArray,
    split: NDArray,
    rules: Rules,
    limits_on: NDArray,
    unit: NDArray,
    directions: NDArray,
    n_drawn: int,
    key: int,
    node: int,
    team: ThreadTeam,
) -> None:
    """Search a large node, its drawn splits shared among the threads."""
    columns = np.empty(n_drawn, dtype=np.int64)
    drawn = np.empty(n_drawn, dtype=np.int64)
    _draw(np.uint64(key), node, n_drawn, directions, len(codes), columns, drawn)
    results: list[tuple[float, int, NDArray]] = []

    def work(first: int, last: int) -> None:
        found, best = np.zeros(1), np.empty(5, dtype=np.int32)
        _search(
            bins, codes, *points, span[0], span[1], columns, drawn, first, last, sums, limits_on,
            unit, rules.n_bins, found, best,
        )  # fmt: skip
        results.append((float(found[0]), -first, best))

    team.run(work, n_drawn)
    gain, _, best = max(results, key=lambda result: result[:2])
    sums[_GAIN] = gain
    split[:3] = best[:3]
