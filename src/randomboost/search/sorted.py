"""Exact stump search over columns kept as sorted orders, 2 bytes per point.

Only the order of the points is kept; values are computed again for the column that wins a round.
The scan ignores equal values: a cut between them can only give too large an edge. The winner is
checked against its values and searched again if its cut is not a real one, until a winner is
confirmed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..projections.points import FeaturePoints, ProjectedPoints
from ..runtime.compiling import kernel
from ..runtime.memory import check_memory
from ..runtime.parallel import ThreadTeam
from .fixed_point import edges, mass, to_fixed_point

_BLOCK_VALUES = 1 << 21  # values that a thread projects and sorts at a time: 16 MB of doubles
_FEW_VALUES = 1 << 18
_RADIX_BITS = 11
_BUCKETS = 1 << _RADIX_BITS
_LARGEST = np.int64(2**61)  # no sum of fixed-point weights is larger


@kernel
def _sort_keys(values: NDArray, keys: NDArray) -> None:
    """Order-preserving 32-bit keys: the bits of a float32, with the negative half reversed."""
    bits = values.astype(np.float32).view(np.uint32)
    for i in range(len(bits)):
        word = np.int64(bits[i])
        keys[i] = 2**32 - 1 - word if word >= 2**31 else word + 2**31


@kernel
def _radix_pass(
    keys: NDArray,
    points: NDArray,
    to_keys: NDArray,
    to_points: NDArray,
    counts: NDArray,
    shift: int,
) -> None:
    """One stable counting sort on 11 bits of the keys."""
    counts[:] = 0
    for i in range(len(keys)):
        counts[(keys[i] >> shift) & (_BUCKETS - 1)] += 1
    begin = 0
    for bucket in range(_BUCKETS):
        size = counts[bucket]
        counts[bucket] = begin
        begin += size
    for i in range(len(keys)):
        bucket = (keys[i] >> shift) & (_BUCKETS - 1)
        to_keys[counts[bucket]] = keys[i]
        to_points[counts[bucket]] = points[i]
        counts[bucket] += 1


@kernel
def _insert(values: NDArray, points: NDArray) -> bool:
    """Finish an almost sorted order by insertion; False if that is too much work."""
    moves = 0
    for i in range(1, len(points)):
        point = points[i]
        j = i
        while j > 0 and values[points[j - 1]] > values[point]:
            points[j] = points[j - 1]
            j -= 1
        points[j] = point
        moves += i - j
        if moves > 8 * len(points):
            return False
    return True


@kernel
def _radix_sort_rows(values: NDArray, order: NDArray, finished: NDArray) -> None:
    """Sort rows by three radix passes on 32-bit keys, then by insertion where keys are equal.

    `finished` is False for rows whose insertion was too much work.
    """
    n_rows, n = values.shape
    keys = np.empty(n, np.int64)
    spare_keys = np.empty(n, np.int64)
    here = np.empty(n, np.int64)
    there = np.empty(n, np.int64)
    counts = np.empty(_BUCKETS, np.int64)
    for v in range(n_rows):
        _sort_keys(values[v], keys)
        for i in range(n):
            here[i] = i
        for shift in range(0, 33, _RADIX_BITS):
            _radix_pass(keys, here, spare_keys, there, counts, shift)
            keys, spare_keys = spare_keys, keys
            here, there = there, here
        finished[v] = _insert(values[v], here)
        for i in range(n):
            order[v, i] = here[i]


def argsort_rows(values: NDArray, order: NDArray) -> None:
    """Sort every row, keeping the order of equal values.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n)
        The rows.
    order : ndarray of shape (n_rows, n)
        Receives the positions of the rising values.
    """
    if values.size < _FEW_VALUES:  # not worth compiling a kernel for
        order[:] = np.argsort(values, axis=1, kind="stable")
        return
    finished = np.empty(len(values), bool)
    _radix_sort_rows(values, order, finished)
    for v in np.flatnonzero(~finished):  # a large offset and a small variation
        order[v] = np.argsort(values[v], kind="stable")


@kernel
def scan_sorted(
    order: NDArray,
    weights: NDArray,
    columns: NDArray,
    lowest: NDArray,
    highest: NDArray,
    start: int,
    stop: int,
) -> None:
    """Extreme prefix sums of the weights along `order`, for `columns[start:stop]`.

    Two columns go side by side, which hides the latency of additions.
    """
    n = order.shape[1]
    at = start
    while at < stop:
        first = order[columns[at]]
        second = order[columns[min(at + 1, stop - 1)]]
        sum_1 = np.int64(0)
        sum_2 = np.int64(0)
        low_1 = low_2 = _LARGEST
        high_1 = high_2 = -_LARGEST
        for i in range(n - 1):  # a cut after the last point is no cut
            sum_1 += weights[first[i]]
            sum_2 += weights[second[i]]
            low_1 = min(low_1, sum_1)
            low_2 = min(low_2, sum_2)
            high_1 = max(high_1, sum_1)
            high_2 = max(high_2, sum_2)
        lowest[at] = low_1
        highest[at] = high_1
        if at + 1 < stop:
            lowest[at + 1] = low_2
            highest[at + 1] = high_2
        at += 2


@kernel
def _cut(order: NDArray, weights: NDArray, values: NDArray, total: int) -> tuple[float, float]:
    """Best cut of one column: the largest value below it and the smallest above."""
    n = len(order)
    best = np.int64(-1)
    position = -1
    prefix = np.int64(0)
    for i in range(n - 1):
        prefix += weights[order[i]]
        edge = abs(total - 2 * prefix)
        if edge > best:
            best = edge
            position = i
    below = values[order[0]]
    above = values[order[n - 1]]
    for i in range(n):
        value = values[order[i]]
        if i <= position:
            below = max(below, value)
        else:
            above = min(above, value)
    return below, above


@kernel
def best_threshold(values: NDArray, weights: NDArray) -> tuple[float, float]:
    """Best cut of one column, also with equal values, as (below, above).

    ``below == above`` if all values are equal.
    """
    order = np.argsort(values, kind="mergesort")
    n = len(order)
    total = weights.sum()
    best = np.int64(-1)
    below = values[order[0]]
    above = below
    prefix = np.int64(0)
    for i in range(n - 1):
        prefix += weights[order[i]]
        if values[order[i]] < values[order[i + 1]] and abs(total - 2 * prefix) > best:
            best = abs(total - 2 * prefix)
            below = values[order[i]]
            above = values[order[i + 1]]
    return below, above


def midpoints(below: NDArray, above: NDArray) -> NDArray:
    """Return thresholds with ``below <= threshold < above`` in the precision of the values.

    Parameters
    ----------
    below, above : ndarray
        Neighbouring values, ``below < above``.

    Returns
    -------
    ndarray
        The midpoints, or `below` if there is no number between.
    """
    middle = below + (above - below) / 2
    return np.where(middle < above, middle, below)


class SortedColumns:
    """All columns of a point set as sorted orders.

    Parameters
    ----------
    points : ProjectedPoints or FeaturePoints
        The points.
    team : ThreadTeam
        Threads.
    """

    def __init__(self, points: ProjectedPoints | FeaturePoints, team: ThreadTeam) -> None:
        self.points = points
        self._team = team
        n_columns, n_points = points.n_columns, points.n_points
        kind = np.uint16 if n_points <= 1 << 16 else np.uint32
        check_memory(
            n_columns * n_points * np.dtype(kind).itemsize,
            f"the sorted orders of {n_columns:,} dimensions of {n_points:,} points",
            'use search="exact", which finds the same stumps, or lower n_projections',
        )
        self.order = np.empty((n_columns, n_points), dtype=kind)
        block = max(1, min(n_columns, _BLOCK_VALUES // n_points))

        def sort(number: int) -> None:
            start, stop = number * block, min((number + 1) * block, n_columns)
            argsort_rows(points.block(np.arange(start, stop)), self.order[start:stop])

        team.for_each(sort, -(-n_columns // block))

    def search(self, weights: NDArray, columns: NDArray[np.int64]) -> tuple[int, float] | None:
        """Find the stump with the largest absolute edge (rankWeak).

        Parameters
        ----------
        weights : ndarray of shape (n_points,)
            Signed weights c of the points, not all zero.
        columns : ndarray of int64
            Columns to search.

        Returns
        -------
        tuple of (column, threshold) or None
            None if no column has two different values.
        """
        if self.points.n_points < 2:
            return None
        fixed = to_fixed_point(weights)
        total = int(fixed.sum())
        lowest = np.empty(len(columns), np.int64)
        highest = np.empty(len(columns), np.int64)

        def scan(start: int, stop: int) -> None:
            scan_sorted(self.order, fixed, columns, lowest, highest, start, stop)

        self._team.run(scan, len(columns), grain=1 + 100_000 // self.points.n_points)
        promised = edges(lowest, highest, total)
        while True:
            at = int(promised.argmax())
            if promised[at] < 0:
                return None
            values = self.points.column(int(columns[at]))
            below, above = _cut(self.order[columns[at]], fixed, values, total)
            if not below < above:
                below, above = best_threshold(values, fixed)
            if below < above:
                threshold = float(midpoints(values.dtype.type(below), values.dtype.type(above)))
                reached = mass(fixed, values > threshold)
                if reached >= promised[at]:
                    return int(columns[at]), threshold
                promised[at] = reached
            else:
                promised[at] = -1
