"""Searching the best cut of a node of a sketched tree, in histograms of whole numbers.

A sample is a row of lanes (see `lanes`): its curvature, its count 1, and sketches of its gradient.
Histograms are added up without error, so neither threads nor the order of samples matter.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..runtime.compiling import ZERO, kernel
from ..runtime.random_stream import scrambled
from .lanes import COUNT, add_lanes, cut_gain, empty_lanes, expect, lane_kind, scan_cuts

TOGETHER = 32  # directions whose histograms are filled together
BLOCK = 1024  # samples whose bins are gathered together
_GAP = 72  # bytes between the directions of a block, which else share the places of a cache
_AHEAD = 12  # samples between the one that is read and the one that the cache fetches
_LINE = 64  # bytes of a line of the cache
_CutRoom = tuple[NDArray, NDArray]
# what a search works with, see `make_room`
Room = tuple[NDArray, NDArray, NDArray, NDArray, _CutRoom, np.signedinteger, NDArray]
_FEW = 2  # a node with so many bins per sample, or more, has the bins in use noted
_SALT = np.uint64(0x9E3779B97F4A7C15)
_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)  # its 6-bit windows all differ: they tell a bit's place
_BIT_PLACES = np.zeros(64, dtype=np.int64)
for _place in range(64):
    _BIT_PLACES[((0x03F79D71B4CB0A89 << _place) & 0xFFFFFFFFFFFFFFFF) >> 58] = _place


@kernel
def _gather(
    bins: NDArray, columns: NDArray, rows: NDArray, begin: int, end: int, local: NDArray
) -> None:
    """Copy the bins of some samples along some directions, (direction, sample)."""
    n = len(columns)
    first, last = columns[0], columns[n - 1]
    for p in range(np.uint64(begin), np.uint64(end)):
        later = np.int64(rows[min(p + np.uint64(_AHEAD), np.uint64(end - 1))])
        for column in range(first, last + _LINE, _LINE):
            expect(bins, later, min(column, last))
        of_row = bins[np.uint64(rows[p])]
        for j in range(len(columns)):
            local[j, p - np.uint64(begin)] = of_row[np.uint64(columns[j])]


@kernel
def _fill_two(
    bins1: NDArray, bins2: NDArray, histograms: NDArray, first1: int, first2: int, words: NDArray,
    begin: int, end: int, kind: int,
) -> None:  # fmt: skip
    """Add samples to the histograms of two directions, which begin at given rows."""
    for p in range(begin, end):
        add_lanes(histograms, first1 + np.int64(bins1[p - begin]), words, p, kind)
        add_lanes(histograms, first2 + np.int64(bins2[p - begin]), words, p, kind)


@kernel
def _fill_pair(
    local: NDArray, j: int, histograms: NDArray, row: int, n_bins: int, words: NDArray, begin: int,
    end: int, kind: int,
) -> None:  # fmt: skip
    """Add samples to the histograms of direction j and the next, if any, which begin at a row."""
    if j + 1 < len(local):
        _fill_two(local[j], local[j + 1], histograms, row, row + n_bins, words, begin, end, kind)
    else:
        for p in range(begin, end):
            add_lanes(histograms, row + np.int64(local[j, p - begin]), words, p, kind)


@kernel
def fill_all(
    bins: NDArray, columns: NDArray, rows: NDArray, words: NDArray, begin: int, end: int,
    local: NDArray, histograms: NDArray, row: int, n_bins: int, kind: int,
) -> None:  # fmt: skip
    """Fill the histograms of a node, which begin at a row, a block of its samples at a time."""
    n = len(columns)
    for first in range(begin, end, BLOCK):
        last = min(first + BLOCK, end)
        _gather(bins, columns, rows, first, last, local)
        for j in range(0, n, 2):
            _fill_pair(local[:n], j, histograms, row + j * n_bins, n_bins, words, first, last, kind)


@kernel
def _note_bins(bins: NDArray, n_samples: int, noted: NDArray, places: NDArray) -> int:
    """Fill in the places of the bins that are in use, rising; return how many there are."""
    for p in range(n_samples):
        b = np.uint64(bins[p])
        noted[b >> np.uint64(6)] |= np.uint64(1) << (b & np.uint64(63))
    n = 0
    for word in range(len(noted)):
        left = noted[word]
        noted[word] = np.uint64(0)
        while left:
            lowest = left & (np.uint64(0) - left)
            places[n] = word * 64 + _BIT_PLACES[(lowest * _DE_BRUIJN) >> np.uint64(58)]
            n += 1
            left ^= lowest
    return n


@kernel
def try_direction(
    histograms: NDArray, row: int, places: NDArray, n: int, totals: NDArray, node: int,
    rules: NDArray, room: _CutRoom, column: int, result: NDArray, kind: int,
) -> None:  # fmt: skip
    """Find the best cut of one direction, whose histogram begins at a row; clear it.

    It is chosen in single precision; directions are compared in double precision.
    """
    sums, gains = room
    ridge, least = np.float32(rules[0]), np.float32(rules[1])
    best = scan_cuts(histograms, row, places, n, totals, node, ridge, least, sums, gains, kind)
    if best > 0:
        cut = 0
        while gains[cut] != best:
            cut += 1
        gain = cut_gain(totals, node, sums, cut, rules[0])
        if gain > result[0]:
            result[0], result[1], result[2] = gain, column, places[cut]
            result[3] = sums[cut, COUNT]


@kernel
def draw_directions(key: np.uint64, directions: NDArray, n_drawn: int, drawn: NDArray) -> None:
    """Fill in `n_drawn` directions: different ones out of a range, rising, and some given ones.

    `directions` has the range, the first one and the one past the last, and then those that are
    looked at in any case.
    """
    n = directions[1] - directions[0]
    n_given = len(directions) - 2
    n_drawn -= n_given
    for place in range(n_given):
        drawn[n_drawn + place] = directions[2 + place]
    taken = 0
    bits = np.uint64(0)
    for v in range(n):
        if v & 3 == 0:
            bits = scrambled(key + np.uint64(v) * _SALT)
        if (bits & np.uint64(0xFFFF)) * np.uint64(n - v) < np.uint64(n_drawn - taken) << np.uint64(
            16
        ):
            drawn[taken] = directions[0] + v
            taken += 1
            if taken == n_drawn:
                return
        bits >>= np.uint64(16)


@kernel
def search_cuts(
    bins: NDArray, rows: NDArray, words: NDArray, begin: int, end: int, totals: NDArray, node: int,
    columns: NDArray, rules: NDArray, room: Room, result: NDArray,
) -> None:  # fmt: skip
    """Find the best cut of a node along some directions; ``result``: gain, direction, cut, left."""
    histograms, places, noted, local, rest, kind, used = room
    n_bins, m = len(places), end - begin
    small = m <= BLOCK  # two histograms at a time, which stay in the cache
    for start in range(0, len(columns), TOGETHER):
        chosen = columns[start : start + TOGETHER]
        if small:
            _gather(bins, chosen, rows, begin, end, local)
        else:
            fill_all(bins, chosen, rows, words, begin, end, local, histograms, 0, n_bins, kind)
        for j in range(len(chosen)):
            at = j
            if small:
                at = j & 1
                if at == 0:
                    mine = local[: len(chosen)]
                    _fill_pair(mine, j, histograms, ZERO, n_bins, words, begin, end, kind)
            n = used[chosen[j]]
            few = m <= min(BLOCK, n // _FEW)
            if few:
                n = _note_bins(local[j], m, noted, places)
            try_direction(
                histograms, at * n_bins, places, n, totals, node, rules, rest, chosen[j], result,
                kind,
            )  # fmt: skip
            if few:  # the places of all bins again
                for e in range(n):
                    places[e] = e


def empty_block() -> NDArray[np.uint8]:
    """Return room for the bins of a block of samples.

    Returns
    -------
    ndarray of uint8 of shape (TOGETHER, more than BLOCK)
        The array, not filled in.
    """
    return np.empty((TOGETHER, BLOCK + _GAP), dtype=np.uint8)


def make_room(width: int, n_bins: int, used: NDArray[np.int64]) -> Room:
    """Return arrays that a search works with; it leaves them as it found them.

    Parameters
    ----------
    width, n_bins : int
        Number of lanes, and of bins.
    used : ndarray of int64 of shape (n_directions,)
        Number of bins along every direction, see `bins_used`.

    Returns
    -------
    tuple
        Histograms (all 0), places of the bins, bins in use (none), bins of a block of samples,
        sums and gains by cut, the kind of the lanes, and `used`.
    """
    histograms = empty_lanes(TOGETHER * n_bins, width)
    histograms[:] = 0
    noted = np.zeros((n_bins + 63) // 64, dtype=np.uint64)
    rest = empty_lanes(n_bins, width), np.empty(n_bins, dtype=np.float32)
    return histograms, np.arange(n_bins), noted, empty_block(), rest, lane_kind(width), used


def bins_used(bins: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return how many bins there are along every direction: few where it has few values.

    Parameters
    ----------
    bins : ndarray of uint8 of shape (n_samples, n_directions)
        Bins of the samples.

    Returns
    -------
    ndarray of int64 of shape (n_directions,)
        The numbers.
    """
    return bins.max(axis=0, initial=0).astype(np.int64) + 1
