"""Exact stump search over projected dimensions, at a fraction of the work of a plain scan.

Three steps, each on fewer dimensions than the one before:

1. an upper bound on the edge of every dimension, from histograms kept between rounds (`kept`) or
   from the heaviest points alone;
2. for dimensions whose bound reaches the best edge so far, the histogram of all points: the edges
   at the ends of the bins, and a bound on those inside;
3. for the few candidates that are left, the exact search inside the bins that matter.

With ``exact=False`` only the ends of the bins are searched, without step 3; a search of a part of
the dimensions chooses one of them by step 1 alone, by its edge on the heaviest points, because the
next search looks at other dimensions anyway. The bins (`grid`) are kept in memory if they fit, else
recomputed for every search, or not computed at all if a part of many points is searched (`summed`);
the stump is the same.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dasum

from ..projections.points import ProjectedPoints
from ..runtime.compiling import kernel
from ..runtime.memory import check_memory
from ..runtime.parallel import ThreadTeam
from .fixed_point import TIE_BITS, coarsened, to_fixed_point
from .grid import bin_columns, bin_values, fine_bins
from .heaviest import heavy_from
from .kept import LANES, KeptHistograms
from .sorted import midpoints
from .summed import SummedPart

EXACT_BINS = 128  # of an exact search, where bins only save work
HISTOGRAM_BINS = 64  # of a search between bins
_FIRST_LOOK = 8  # dimensions that are searched first, for a good edge to compare with
_TIE = 2.0**TIE_BITS  # edges that differ by less may count as equal
_UNITS = float(2**29)  # absolute sum of packed weights: sums fit into 32 bits
_TINY = float(np.finfo(np.float64).tiny)
_SAFETY = 1.0 + 1e-12  # allows for rounding in bounds
_LAG = 0.2  # weight of the points left out at first, as a share of the best edge
_NEGLIGIBLE = 0.1  # share of the weight that a search of a part ignores
_ALL = np.empty(0, np.uint32)  # no point numbers: all points
_STREAMED_BYTES = 3  # per point and thread
_MANY_POINTS = 50_000  # above this finer bins are used: sorting one would take too long
_FINE_CELLS = 1 << 16
_SUMMED_POINTS = 200_000  # from here on a part that is not stored is summed up without bins
_BATCH_BYTES = 1 << 26  # bins that a thread computes at a time if they are not stored


@kernel(fastmath={"reassoc"})
def _weigh(
    weights: NDArray, unit: float, spared: float
) -> tuple[NDArray, NDArray, NDArray, float, float]:
    """Weights in units, and the points that carry all but about `spared` units.

    A packed weight is in the upper 32 bits if it is positive, else in the lower ones. Returns the
    packed weights, the heavy points, their packed weights, and bounds on the error of an edge, in
    units: the weight of the other points, and the loss by rounding.
    """
    n = len(weights)
    packed = np.empty(n, np.int64)
    sizes = np.empty(n, np.float32)
    lost = 0.0
    for i in range(n):
        size = abs(weights[i]) / unit
        whole = np.int64(np.int32(size + 0.5))
        lost += abs(size - whole)
        packed[i] = whole if weights[i] < 0 else whole << 32
        sizes[i] = size
    buckets, first = heavy_from(sizes, spared)
    left_out = 0.0
    for i in range(n):
        left_out += 0.0 if buckets[i] >= first else abs(weights[i]) / unit
    points = np.empty(n, np.uint32)
    chosen = np.empty(n, np.int64)
    count = 0
    for i in range(n):  # without branches, which would be hard to predict
        points[count] = i
        chosen[count] = packed[i]
        count += buckets[i] >= first and packed[i] != 0
    return packed, points[:count], chosen[:count], left_out, lost


@kernel
def _add_up(
    bins: NDArray, rows: NDArray, packed: NDArray, points: NDArray, histograms: NDArray
) -> None:
    """Histograms of some points of four rows of bins, or of all points if none is given.

    Four rows at a time, so that additions do not wait for each other.
    """
    row0, row1, row2, row3 = bins[rows[0]], bins[rows[1]], bins[rows[2]], bins[rows[3]]
    sums0, sums1, sums2, sums3 = histograms[0], histograms[1], histograms[2], histograms[3]
    for b in range(histograms.shape[1]):
        sums0[b] = sums1[b] = sums2[b] = sums3[b] = 0
    for i in range(len(packed)):
        point = points[i] if len(points) > 0 else np.uint32(i)
        weight = packed[i]
        sums0[row0[point]] += weight
        sums1[row1[point]] += weight
        sums2[row2[point]] += weight
        sums3[row3[point]] += weight


@kernel
def _scan(
    bins: NDArray,
    last_bins: NDArray,
    rows: NDArray,
    packed: NDArray,
    points: NDArray,
    reached: NDArray,
    bounds: NDArray,
    start: int,
    stop: int,
) -> None:
    """Edges of ``rows[start:stop]`` of the bins over the given points, or all if none is given.

    `reached` is the largest absolute edge at the end of a bin (-1 where there is one bin only),
    `bounds`, unless it is empty, an upper bound on the edge of any cut.
    """
    whole = np.int64(0)
    for i in range(len(packed)):
        whole += packed[i]
    total = (whole >> 32) - (whole & 0xFFFFFFFF)
    histograms = np.empty((4, 256), np.int64)
    positive = np.empty(256, np.int32)
    negative = np.empty(256, np.int32)
    prefix = np.empty(256, np.int32)
    four = np.empty(4, np.int64)
    for first in range(start, stop, 4):
        for j in range(4):
            four[j] = rows[min(first + j, stop - 1)]
        _add_up(bins, four, packed, points, histograms)
        for at in range(first, min(first + 4, stop)):
            histogram = histograms[at - first]
            n_bins = last_bins[rows[at]] + 1
            for b in range(n_bins):
                positive[b] = histogram[b] >> 32
                negative[b] = histogram[b] & 0xFFFFFFFF
            so_far = np.int32(0)
            for b in range(n_bins):
                so_far += positive[b] - negative[b]
                prefix[b] = so_far
            if len(bounds) > 0:
                low = high = np.int32(0)
                for b in range(n_bins):
                    low = min(low, prefix[b] - positive[b])
                    high = max(high, prefix[b] + negative[b])
                bounds[at] = max(total - 2 * low, 2 * high - total)
            low = np.int32(2**30)
            high = np.int32(-(2**30))
            for b in range(n_bins - 1):
                low = min(low, prefix[b])
                high = max(high, prefix[b])
            reached[at] = max(total - 2 * low, 2 * high - total) if n_bins > 1 else -1


@kernel
def _sums_before(
    bins: NDArray, last_bin: int, weights: NDArray, before: NDArray, wanted: NDArray
) -> None:
    """Sum up the weights before every bin; find the bins inside which the best cut could be."""
    n_bins = last_bin + 1
    positive = np.zeros(n_bins, np.int64)
    negative = np.zeros(n_bins, np.int64)
    for i in range(len(weights)):
        if weights[i] < 0:
            negative[bins[i]] += weights[i]
        else:
            positive[bins[i]] += weights[i]
    before[0] = 0
    for b in range(n_bins):
        before[b + 1] = before[b] + positive[b] + negative[b]
    total = before[n_bins]
    best = np.int64(-1)
    for b in range(last_bin):
        best = max(best, abs(total - 2 * before[b + 1]))
    for b in range(n_bins):
        low = abs(total - 2 * (before[b] + negative[b]))
        high = abs(total - 2 * (before[b] + positive[b]))
        wanted[b] = max(low, high) >= best


@kernel
def _cut_between_bins(
    bins: NDArray, last_bin: int, weights: NDArray, values: NDArray
) -> tuple[np.int64, float, float]:
    """Find the first of the best cuts between bins: its edge, and the values below and above."""
    sums = np.zeros(last_bin + 1, np.int64)
    for i in range(len(weights)):
        sums[bins[i]] += weights[i]
    total = sums.sum()
    prefix = np.int64(0)
    best = np.int64(-1)
    cut = -1
    for b in range(last_bin):
        prefix += sums[b]
        if abs(total - 2 * prefix) > best:
            best = abs(total - 2 * prefix)
            cut = b
    below = -np.inf
    above = np.inf
    for i in range(len(values)):
        inside = bins[i] <= cut
        below = max(below, values[i] if inside else -np.inf)
        above = min(above, np.inf if inside else values[i])
    return best, below, above


@kernel
def _walk(
    members: NDArray, bins: NDArray, weights: NDArray, values: NDArray, before: NDArray, total: int
) -> tuple[np.int64, float, float]:
    """First of the best cuts between different values, for points in the order of their values.

    Points of unwanted bins are left out: a cut beside such a bin has less than the best edge.
    Returns the edge and the two values, which are equal if there is no cut.
    """
    best = np.int64(-1)
    below = values[members[0]]
    above = below
    prefix = np.int64(0)
    for at in range(len(members) - 1):
        here = members[at]
        following = members[at + 1]
        if at == 0 or bins[members[at - 1]] != bins[here]:
            prefix = before[bins[here]]
        prefix += weights[here]
        edge = abs(total - 2 * prefix)
        if edge > best and values[here] < values[following]:
            best = edge
            below = values[here]
            above = values[following]
    return best, below, above


class ProjectedColumns:
    """The dimensions of projected points, prepared for searches.

    Parameters
    ----------
    points : ProjectedPoints
        The points.
    team : ThreadTeam
        Threads.
    exact : bool
        Search all cuts instead of those between bins, and, in a search of a part of the
        dimensions, by all points instead of the heaviest.
    max_bins : int
        Number of bins per dimension, at most 256.
    searched : int
        Number of dimensions that a search looks at.
    searches : int
        Approximate number of searches.
    max_memory : int
        Bytes that the bins may take.

    Attributes
    ----------
    form : {"kept", "stored", "streamed"}
        Where the bins are: in memory with histograms kept between searches, in memory, or
        recomputed for every search.
    """

    def __init__(
        self,
        points: ProjectedPoints,
        team: ThreadTeam,
        *,
        exact: bool,
        max_bins: int = EXACT_BINS,
        searched: int,
        searches: int,
        max_memory: int,
    ) -> None:
        self.points = points
        self._team = team
        self._exact = exact
        self._part = not exact and searched < points.n_columns
        # a choice by some points and bins does not need the last digits of the values
        self._rough = points.in_single_precision() if self._part else points
        self._max_bins = max_bins
        self._best = 0.0  # edge of the last search
        self._kept: KeptHistograms | None = None
        self._summed: SummedPart | None = None
        n_columns, n_points = points.n_columns, points.n_points
        stored = n_columns * n_points
        kept = stored + KeptHistograms.bytes_needed(n_columns, n_points)
        self._bytes = 0
        if searched == n_columns and kept <= max_memory:
            self.form = "kept"
            self._bytes = kept
            self._kept = KeptHistograms(n_columns, n_points, max_bins, team)
        elif stored <= max_memory and searched * searches >= n_columns:
            self.form = "stored"
            self._bytes = stored
        else:
            self.form = "streamed"
            needed = _STREAMED_BYTES * n_points
            if self._part and n_points >= _SUMMED_POINTS:
                self._summed = SummedPart(points, self._rough, team, max_bins)
                needed = self._summed.bytes_per_thread
            check_memory(
                needed * team.n_threads,
                f"the dimensions of {n_points:,} points that are searched at the same time",
                "raise max_memory, lower n_jobs, or use fewer samples",
                max_memory,
            )
            return
        self._bins = np.empty((n_columns, n_points), np.uint8)
        self._last_bins = np.empty(n_columns, np.int64)

        def make(number: int) -> None:
            part = slice(number * LANES, min((number + 1) * LANES, n_columns))
            columns = np.arange(part.start, part.stop)
            bin_columns(self._rough, columns, max_bins, self._bins[part], self._last_bins[part])
            if self._kept is not None:
                self._kept.put(number, self._bins[part])

        team.for_each(make, -(-n_columns // LANES))

    def describe(self) -> str:
        """Describe how the dimensions are searched."""
        points = f"{self.points.n_columns:,} dimensions of {self.points.n_points:,} points"
        kind = "exact" if self._exact else "histogram"
        if self.form == "streamed":
            return f"{kind} search, {points} projected again every round"
        return f"{kind} search, {points} binned once ({self._bytes / 2**20:,.0f} MiB)"

    def search(self, weights: NDArray, columns: NDArray[np.int64]) -> tuple[int, float] | None:
        """Find the stump with the largest absolute edge (rankWeak).

        Parameters
        ----------
        weights : ndarray of shape (n_points,)
            Signed weights c of the points, not all zero.
        columns : ndarray of int64
            Columns to search, rising; of equal edges the first column wins.

        Returns
        -------
        tuple of (column, threshold) or None
            None if no column has two different values.
        """
        if self.points.n_points < 2:
            return None
        if self._part:
            return self._search_part(weights, columns)
        fixed = to_fixed_point(weights)
        unit = float(np.abs(fixed).sum()) / _UNITS
        packed, heavy, chosen, left_out, lost = _weigh(fixed, unit, _LAG * self._best / unit)
        reached = np.full(len(columns), -1.0)
        if self._kept is not None and len(columns) == self.points.n_columns:
            bounds = _SAFETY * self._kept.upper_bounds(fixed, int(fixed.sum()))
        elif self.form == "stored":
            limits = self._scan(chosen, columns, heavy)[1]
            bounds = _SAFETY * unit * (limits + lost + left_out)
        else:
            bounds = np.full(len(columns), np.inf)
        looked_at = np.zeros(len(columns), bool)
        promising = np.argpartition(-bounds, min(_FIRST_LOOK, len(bounds)) - 1)[:_FIRST_LOOK]
        while len(promising):
            promising.sort()
            ends, limits = self._scan(packed, columns[promising])
            reached[promising], bounds[promising] = unit * ends, unit * (limits + lost) * _SAFETY
            looked_at[promising] = True
            best = reached.max() - unit * lost - _TIE
            promising = np.flatnonzero(~looked_at & (bounds >= best))
        if self._kept is not None:
            self._kept.note_scanned(int(looked_at.sum()))
        if not self._exact:
            bounds = np.where(reached < 0, -np.inf, reached + unit * lost)
        candidates = np.flatnonzero(bounds >= max(reached.max() - unit * lost - _TIE, 0.0))
        return self._decide(fixed, columns[candidates], bounds[candidates])

    def _search_part(
        self, weights: NDArray, columns: NDArray[np.int64]
    ) -> tuple[int, float] | None:
        """Choose a column by the heaviest points, and its cut between bins by all of them."""
        unit = max(float(dasum(weights)) / _UNITS, _TINY)  # without an array of absolute values
        spared = _NEGLIGIBLE * _UNITS
        if self._summed is not None:
            found = self._summed.search(weights, unit, spared, columns)
            if found is None:
                return None
            column, below, above = found
        else:
            packed, heavy, chosen, _, _ = _weigh(weights, unit, spared)
            column = int(columns[self._scan(chosen, columns, heavy, bounded=False)[0].argmax()])
            if self.form == "streamed":
                made, last_bins = self._make_bins(np.array([column]))
                bins, last_bin = made[0], last_bins[0]
            else:
                bins, last_bin = self._bins[column], self._last_bins[column]
            if last_bin == 0:
                return None
            whole = (packed >> 32) - (packed & 0xFFFFFFFF)
            _, below, above = _cut_between_bins(bins, last_bin, whole, self.points.column(column))
        if below == above:
            return None
        # points next to the cut may be in the wrong bin by the last digit of single precision
        low, high = (self.points.dtype.type(end) for end in sorted((below, above)))
        return column, float(midpoints(low, high))

    def _make_bins(self, columns: NDArray) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Return the bins of some columns and the last bin of each."""
        bins = np.empty((len(columns), self.points.n_points), np.uint8)
        last_bins = np.empty(len(columns), np.int64)
        bin_columns(self._rough, columns, self._max_bins, bins, last_bins)
        return bins, last_bins

    def _scan(
        self,
        packed: NDArray[np.int64],
        columns: NDArray,
        points: NDArray = _ALL,
        *,
        bounded: bool = True,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return edges between bins and, if `bounded`, bounds on all edges, over some points."""
        reached = np.empty(len(columns), np.int64)
        bounds = np.empty(len(columns) if bounded else 0, np.int64)
        if self.form == "streamed":
            share = -(-len(columns) // (2 * self._team.n_threads))
            batch = max(1, min(share, _BATCH_BYTES // self.points.n_points))

            def stream(number: int) -> None:
                part = slice(number * batch, (number + 1) * batch)
                out = reached[part], bounds[part]
                bins, last_bins = self._make_bins(columns[part])
                _scan(bins, last_bins, np.arange(len(bins)), packed, points, *out, 0, len(bins))

            self._team.for_each(stream, -(-len(columns) // batch))
            return reached, bounds

        def scan(start: int, stop: int) -> None:
            tables = self._bins, self._last_bins, columns, packed, points
            _scan(*tables, reached, bounds, start, stop)

        self._team.run(scan, len(columns), grain=1 + 200_000 // len(packed))
        return reached, bounds

    def _decide(
        self, fixed: NDArray[np.int64], columns: NDArray, bounds: NDArray
    ) -> tuple[int, float] | None:
        """Find the best cut of columns whose edges do not exceed the bounds."""
        best, column, threshold = 0, -1, 0.0
        for at in np.argsort(-bounds, kind="stable"):
            if bounds[at] < (best - 1) * _TIE:
                break
            found = self._cut(fixed, int(columns[at]))
            if found is None:
                continue
            if column < 0 or found[0] > best or (found[0] == best and columns[at] < column):
                best, column, threshold = found[0], int(columns[at]), found[1]
        if column < 0:
            return None
        self._best = best * _TIE
        if self._kept is not None:
            self._kept.note_best(self._best)
        return column, threshold

    def _cut(self, fixed: NDArray[np.int64], column: int) -> tuple[int, float] | None:
        """Return the coarsened edge and the threshold of the best cut of one column."""
        values = self.points.column(column)
        if self._exact and len(values) > _MANY_POINTS:
            row, last_bin = fine_bins(values, _FINE_CELLS)
        elif self.form == "streamed":
            row, last_bin = bin_values(self.points, values, self._max_bins)
        else:
            row, last_bin = self._bins[column], self._last_bins[column]
        if self._exact:
            before, wanted = np.empty(last_bin + 2, np.int64), np.empty(last_bin + 1, bool)
            _sums_before(row, last_bin, fixed, before, wanted)
            members = np.flatnonzero(wanted[row])
            members = members[np.argsort(values[members], kind="stable")]
            edge, below, above = _walk(members, row, fixed, values, before, before[-1])
        else:
            edge, below, above = _cut_between_bins(row, last_bin, fixed, values)
        if not -np.inf < below < above:
            return None
        kind = values.dtype.type
        return int(coarsened(edge)), float(midpoints(kind(below), kind(above)))
