"""Histograms of all dimensions, kept from round to round and updated where needed.

For every dimension the positive and the negative weight in each of 64 bins are kept, for weights
that may lag behind the true ones. A round updates only the points whose weight has changed most, in
all dimensions, until the remaining lag cannot change any prefix sum by more than a part of the best
edge. The kept histograms then bound the edge of every dimension from above: the prefix sum at a
bin, plus what the points of the bin could add, plus the lag. Few dimensions pass this bound.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..runtime.compiling import kernel
from ..runtime.parallel import ThreadTeam
from .heaviest import heavy_from

LANES = 64  # dimensions side by side: the bins of one point are one cache line
_BINS = 64
_ROW = 2 * _BINS * LANES  # histogram entries of one block: bin, sign, lane
_AHEAD = 32  # points whose bins are fetched together, which hides the latency of memory
_UNITS = float(2**28)  # absolute sum of the kept weights when they are reset
_INITIAL_LAG = 0.2  # share of the best edge by which prefix sums may lag
_MAX_LAG = 0.5
_BALANCE = 10  # with the lag, the work of scanning grows faster than that of updating falls


@kernel
def _interleave(bins: NDArray, shift: Any, block: NDArray) -> None:
    """Write bins (columns, points) as ``block[point, lane]``, in coarser bins."""
    n_columns, n_points = bins.shape
    for start in range(0, n_points, 64):
        stop = min(start + 64, n_points)
        for lane in range(n_columns):
            row = bins[lane]
            for i in range(start, stop):
                block[i, lane] = row[i] >> shift
    for lane in range(n_columns, block.shape[1]):
        for i in range(n_points):
            block[i, lane] = 0


def _common_scale(weights: NDArray, kept: NDArray, scale: float) -> float:
    """Return the scale at which most true weights equal the kept ones: a median ratio."""
    step = max(1, len(weights) // 512)
    weights, kept = weights[::step], kept[::step]
    known = (kept != 0) & (weights != 0)
    if not known.any():
        return scale
    ratios = scale * weights[known] / kept[known]
    order = np.argsort(ratios)
    mass = np.cumsum(np.abs(kept[known])[order], dtype=np.float64)
    ratio = float(ratios[order[np.searchsorted(mass, 0.5 * mass[-1])]])
    return scale / ratio if ratio > 0 else scale


@kernel
def _refresh(
    weights: NDArray,
    kept: NDArray,
    scale: float,
    tolerated: float,
    points: NDArray,
    signs: NDArray,
    changes: NDArray,
) -> tuple[int, float, float]:
    """Update the kept weights that lag most; list the changes; return their number and the lags.

    The lags are bounds on what the other weights could add to a prefix sum, and subtract from it,
    in kept units.
    """
    n = len(weights)
    gaps = np.empty(n, np.float32)
    for i in range(n):
        gaps[i] = abs(scale * weights[i] - kept[i])
    buckets, first = heavy_from(gaps, 2.0 * tolerated)
    n_moves = 0
    up = 0.0
    down = 0.0
    for i in range(n):
        if buckets[i] >= first:
            new = np.int32(np.rint(scale * weights[i]))
            old = kept[i]
            if new != old:
                if (new < 0) != (
                    old < 0
                ) and old != 0:  # from the bins of one sign to those of the other
                    points[n_moves] = i
                    signs[n_moves] = old < 0
                    changes[n_moves] = -old
                    n_moves += 1
                    old = np.int32(0)
                if new != old:
                    points[n_moves] = i
                    signs[n_moves] = new < 0
                    changes[n_moves] = new - old
                    n_moves += 1
                kept[i] = new
        gap = scale * weights[i] - kept[i]
        if gap > 0:
            up += gap
        else:
            down -= gap
    return n_moves, up, down


@kernel
def _move(
    blocks: NDArray,
    histograms: NDArray,
    points: NDArray,
    signs: NDArray,
    changes: NDArray,
    start: int,
    stop: int,
) -> None:
    """Add the changes to the histograms of the blocks start .. stop.

    A word of `blocks` holds the bins of eight dimensions.
    """
    n_moves = len(points)
    words = LANES // 8
    fetched = np.empty((_AHEAD, words), np.uint64)
    for b in range(start, stop):
        histogram = histograms[b]
        block = blocks[b]
        for first in range(0, n_moves, _AHEAD):
            count = min(_AHEAD, n_moves - first)
            for u in range(count):
                source = block[points[first + u]]
                target = fetched[u]
                for w in range(words):
                    target[w] = source[w]
            for u in range(count):
                change = changes[first + u]
                base = np.uint64(signs[first + u] * LANES)
                for w in range(words):
                    word = fetched[u, w]
                    for j in range(8):
                        bin_number = (word >> np.uint64(8 * j)) & np.uint64(255)
                        place = bin_number * np.uint64(2 * LANES) + base + np.uint64(8 * w + j)
                        histogram[place] += change


@kernel
def _extremes(
    histograms: NDArray, lowest: NDArray, highest: NDArray, start: int, stop: int
) -> None:
    """Bounds on the prefix sums inside all bins, for the blocks start .. stop."""
    prefix = np.empty(LANES, np.int32)
    for b in range(start, stop):
        histogram = histograms[b]
        low = lowest[b]
        high = highest[b]
        for lane in range(LANES):
            prefix[lane] = low[lane] = high[lane] = 0
        for q in range(0, _ROW, 2 * LANES):
            positive = histogram[q : q + LANES]
            negative = histogram[q + LANES : q + 2 * LANES]
            for lane in range(LANES):
                high[lane] = max(high[lane], prefix[lane] + positive[lane])
                low[lane] = min(low[lane], prefix[lane] + negative[lane])
                prefix[lane] += positive[lane] + negative[lane]


class KeptHistograms:
    """Upper bounds on the edges of all dimensions, from histograms kept between rounds.

    Parameters
    ----------
    n_columns, n_points : int
        Numbers of dimensions and points.
    max_bins : int
        Number of bins of the columns that `put` receives.
    team : ThreadTeam
        Threads.
    """

    def __init__(self, n_columns: int, n_points: int, max_bins: int, team: ThreadTeam) -> None:
        self._n_columns = n_columns
        self._team = team
        n_blocks = -(-n_columns // LANES)
        self._blocks = np.empty((n_blocks, n_points, LANES), np.uint8)
        self._words = self._blocks.view(np.uint64)
        self._histograms = np.zeros((n_blocks, _ROW), np.int32)
        self._shift = np.uint8(max(0, (max_bins - 1).bit_length() - (_BINS - 1).bit_length()))
        self._kept = np.zeros(n_points, np.int32)
        self._scale = 0.0
        self._tolerated = 0.0  # in units of the true weights
        self._lag = _INITIAL_LAG
        self._moved = 0
        self._moves = (
            np.empty(2 * n_points, np.int64),
            np.empty(2 * n_points, np.int64),
            np.empty(2 * n_points, np.int32),
        )

    @staticmethod
    def bytes_needed(n_columns: int, n_points: int) -> int:
        """Return the bytes of all histograms and bins."""
        n_blocks = -(-n_columns // LANES)
        return n_blocks * (LANES * n_points + 4 * _ROW) + 44 * n_points

    def put(self, number: int, bins: NDArray[np.uint8]) -> None:
        """Store the bins of the block of `LANES` columns with the given number."""
        _interleave(bins, self._shift, self._blocks[number])

    def note_scanned(self, n_columns: int) -> None:
        """Balance the two kinds of work: scanning columns and updating points."""
        scanned, moved = n_columns * len(self._kept), self._moved * self._n_columns
        self._lag = min(self._lag * (1.05 if _BALANCE * scanned < moved else 0.95), _MAX_LAG)

    def note_best(self, edge: float) -> None:
        """Set how far weights may lag from the best edge of a round."""
        self._tolerated = 0.5 * self._lag * edge

    def upper_bounds(self, weights: NDArray[np.int64], total: int) -> NDArray:
        """Return an upper bound on the best edge of every column.

        Parameters
        ----------
        weights : ndarray of int64
            Signed weights of the points in fixed point.
        total : int
            Their sum.

        Returns
        -------
        ndarray of float64
            The bounds, in the units of the weights.
        """
        mass = float(np.abs(weights).sum())
        scale = _common_scale(weights, self._kept, self._scale)
        if not _UNITS / 16 <= scale * mass <= 4 * _UNITS:
            self._histograms[:] = 0
            self._kept[:] = 0
            scale = _UNITS / mass
        self._scale = scale
        n_moves, up, down = _refresh(
            weights, self._kept, scale, scale * self._tolerated, *self._moves
        )
        moves = [part[:n_moves] for part in self._moves]
        self._moved = n_moves
        n_blocks = len(self._blocks)
        lowest = np.empty((n_blocks, LANES), np.int32)
        highest = np.empty((n_blocks, LANES), np.int32)

        def refresh(start: int, stop: int) -> None:
            _move(self._words, self._histograms, *moves, start, stop)
            _extremes(self._histograms, lowest, highest, start, stop)

        self._team.run(refresh, n_blocks)
        low = lowest.ravel()[: self._n_columns] - (down + 1.0)  # 1 for the rounding of the lags
        high = highest.ravel()[: self._n_columns] + (up + 1.0)
        return np.maximum(total - 2.0 * low / scale, 2.0 * high / scale - total)
