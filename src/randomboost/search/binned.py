"""Stump search over columns kept as bin numbers (histograms).

With `max_bins` the bins are quantiles and a search is approximate; without it every distinct
value has a bin of its own and a search is exact, which suits raw features with few distinct
values.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..projections.points import FeaturePoints, ProjectedPoints
from ..runtime.compiling import kernel
from ..runtime.memory import check_memory
from ..runtime.parallel import ThreadTeam
from .fixed_point import TIE_BITS, edges, to_fixed_point
from .sorted import _BLOCK_VALUES, _LARGEST, argsort_rows, midpoints

_FEW_VALUES = 400_000  # below this a second thread does not pay


@kernel
def _assign_bins(
    values: NDArray, order: NDArray, max_bins: int, bins: NDArray, last_of_bin: NDArray
) -> int:
    """Find the bin of every point and the last sorted position of every bin.

    A bin ends at the first change of value after it has its share of the points, or at any change
    while there are enough bins for all values that are left. Returns the number of bins.
    """
    n = len(values)
    bin_number = 0
    changes_left = 0
    for i in range(1, n):
        if values[order[i - 1]] < values[order[i]]:
            changes_left += 1
    for i in range(n):
        bins[order[i]] = bin_number
        if i + 1 < n and values[order[i]] < values[order[i + 1]]:
            left = max_bins - bin_number
            begun = last_of_bin[bin_number - 1] + 1 if bin_number > 0 else 0
            full = (i + 1 - begun) * left >= n - begun
            if left > 1 and (full or changes_left < left):
                last_of_bin[bin_number] = i
                bin_number += 1
            changes_left -= 1
    last_of_bin[bin_number] = n - 1
    return bin_number + 1


@kernel
def scan_binned(
    bins: NDArray,
    n_bins: NDArray,
    weights: NDArray,
    columns: NDArray,
    lowest: NDArray,
    highest: NDArray,
    start: int,
    stop: int,
) -> None:
    """Extreme prefix sums of the weights over the bins, for `columns[start:stop]`."""
    n = bins.shape[1]
    width = n_bins.max()
    even = np.empty(width, np.int64)
    odd = np.empty(width, np.int64)
    for at in range(start, stop):
        row = bins[columns[at]]
        even[:] = 0
        odd[:] = 0
        i = 0
        while i + 1 < n:  # two histograms: neighbours in the same bin do not wait for each other
            even[row[i]] += weights[i]
            odd[row[i + 1]] += weights[i + 1]
            i += 2
        if i < n:
            even[row[i]] += weights[i]
        prefix = np.int64(0)
        low = _LARGEST
        high = -_LARGEST
        for b in range(n_bins[columns[at]] - 1):
            prefix += even[b] + odd[b]
            low = min(low, prefix)
            high = max(high, prefix)
        lowest[at] = low
        highest[at] = high


@kernel
def _search_few(
    bins: NDArray, n_bins: NDArray, weights: NDArray, columns: NDArray, tie_bits: int
) -> tuple[int, int]:
    """Best column and cut on one thread, by the same rule as `scan_binned` and `edges`."""
    n = bins.shape[1]
    sums = np.empty(n_bins.max(), np.int64)
    total = weights.sum()
    half = np.int64(1) << (tie_bits - 1)
    best_coarse = np.int64(-1)
    best_column = -1
    best_cut = -1
    for column in columns:
        sums[: n_bins[column]] = 0
        for i in range(n):
            sums[bins[column, i]] += weights[i]
        prefix = np.int64(0)
        best_here = np.int64(-1)
        cut_here = -1
        for b in range(n_bins[column] - 1):
            prefix += sums[b]
            edge = abs(total - 2 * prefix)
            if edge > best_here:
                best_here = edge
                cut_here = b
        if cut_here >= 0 and (best_here + half) >> tie_bits > best_coarse:
            best_coarse = (best_here + half) >> tie_bits
            best_column = column
            best_cut = cut_here
    return best_column, best_cut


@kernel
def _search_gini(
    bins: NDArray, n_bins: NDArray, weights: NDArray, columns: NDArray
) -> tuple[int, int]:
    """Column and cut with the largest ``(sum c)^2 / sum |c|``, summed over both sides.

    That is the cut with the lowest weighted Gini impurity of the signs of c.
    """
    n = bins.shape[1]
    width = 2 * n_bins.max()
    sums = np.empty(4 * width)  # by bin and sign; four where neighbours would wait for each other
    size = np.abs(weights)
    sign = (weights < 0).astype(np.int64)
    spread = sign + width * (np.arange(n) & 3)  # the place of a point within its bin
    mass = size.sum()
    total = weights.sum()
    best = -1.0
    best_column = -1
    best_cut = -1
    for column in columns:
        n_here = n_bins[column]
        lanes = 4 if n_here <= 64 else 1
        sums[: (lanes - 1) * width + 2 * n_here] = 0.0
        row = bins[column]
        place = spread if lanes == 4 else sign
        for i in range(n):
            sums[2 * np.int64(row[i]) + place[i]] += size[i]
        left = 0.0
        left_mass = 0.0
        for b in range(n_here - 1):
            for lane in range(lanes):
                positive = sums[lane * width + 2 * b]
                negative = sums[lane * width + 2 * b + 1]
                left += positive - negative
                left_mass += positive + negative
            right_mass = mass - left_mass
            if left_mass > 0 and right_mass > 0:
                gain = left * left / left_mass + (total - left) ** 2 / right_mass
                if gain > best * (1.0 + 1e-12):
                    best = gain
                    best_column = column
                    best_cut = b
    return best_column, best_cut


class BinnedColumns:
    """All columns of a point set as bin numbers.

    Parameters
    ----------
    points : ProjectedPoints or FeaturePoints
        The points.
    team : ThreadTeam
        Threads.
    max_bins : int or None
        Maximum number of bins per column; None for one per distinct value.

    Attributes
    ----------
    bins : ndarray of shape (n_columns, n_points)
        Bin of every point, in the order of the values.
    n_bins : ndarray of shape (n_columns,)
        Number of bins of every column.
    thresholds : list of ndarray
        For every column the cuts between its bins.
    """

    def __init__(
        self, points: ProjectedPoints | FeaturePoints, team: ThreadTeam, max_bins: int | None
    ) -> None:
        self.points = points
        self._team = team
        n_columns, n_points = points.n_columns, points.n_points
        limit = n_points if max_bins is None else min(max_bins, n_points)
        kind = np.uint8 if limit <= 1 << 8 else np.uint16 if limit <= 1 << 16 else np.uint32
        check_memory(
            n_columns * n_points * np.dtype(kind).itemsize,
            f"the bins of {n_columns:,} features of {n_points:,} samples",
            'use fewer samples or features, or search="histogram" with max_bins=256',
        )
        self.bins = np.empty((n_columns, n_points), dtype=kind)
        self.n_bins = np.ones(n_columns, np.int64)
        self.thresholds: list[NDArray] = [np.empty(0)] * n_columns
        block = max(1, min(n_columns, _BLOCK_VALUES // n_points))

        def assign(number: int) -> None:
            start, stop = number * block, min((number + 1) * block, n_columns)
            order = np.empty((stop - start, n_points), np.uint32)
            last_of_bin = np.empty(limit, np.int64)
            values = points.block(np.arange(start, stop))
            argsort_rows(values, order)
            for row, by_value, v in zip(values, order, range(start, stop), strict=True):
                n_bins = _assign_bins(row, by_value, limit, self.bins[v], last_of_bin)
                ends = last_of_bin[: n_bins - 1]
                self.n_bins[v] = n_bins
                self.thresholds[v] = midpoints(row[by_value[ends]], row[by_value[ends + 1]])

        team.for_each(assign, -(-n_columns // block))

    def search(self, weights: NDArray, columns: NDArray[np.int64]) -> tuple[int, float] | None:
        """Find the stump with the largest absolute edge among the cuts between bins.

        Parameters
        ----------
        weights : ndarray of shape (n_points,)
            Signed weights of the points, not all zero.
        columns : ndarray of int64
            Columns to search.

        Returns
        -------
        tuple of (column, threshold) or None
            None if no column has two bins.
        """
        fixed = to_fixed_point(weights)
        n_values = len(columns) * self.points.n_points
        if n_values < _FEW_VALUES:  # one call: what follows would cost more than the search
            column, cut = _search_few(self.bins, self.n_bins, fixed, columns, TIE_BITS)
            return None if column < 0 else (column, float(self.thresholds[column][cut]))
        lowest = np.empty(len(columns), np.int64)
        highest = np.empty(len(columns), np.int64)

        def scan(start: int, stop: int) -> None:
            scan_binned(self.bins, self.n_bins, fixed, columns, lowest, highest, start, stop)

        self._team.run(scan, len(columns), grain=1 + 100_000 // self.points.n_points)
        reached = edges(lowest, highest, int(fixed.sum()))
        reached[self.n_bins[columns] < 2] = -1
        at = int(reached.argmax())
        if reached[at] < 0:
            return None
        column = int(columns[at])
        sums = np.zeros(int(self.n_bins[column]), np.int64)
        np.add.at(sums, self.bins[column], fixed)
        prefix = np.cumsum(sums)[:-1]
        cut = int(np.abs(2 * prefix - fixed.sum()).argmax())
        return column, float(self.thresholds[column][cut])

    def search_gini(self, weights: NDArray, columns: NDArray[np.int64]) -> tuple[int, float] | None:
        """Find the cut with the lowest weighted Gini impurity, as a decision tree would.

        Parameters
        ----------
        weights : ndarray of shape (n_points,)
            Signed weights of the points, not all zero.
        columns : ndarray of int64
            Columns to search.

        Returns
        -------
        tuple of (column, threshold) or None
            None if no column has two bins.
        """
        column, cut = _search_gini(self.bins, self.n_bins, weights, columns)
        return None if column < 0 else (int(column), float(self.thresholds[column][cut]))
