"""Searching the best cut of a node of a sketched tree, in histograms of packed whole numbers.

A sample is a few whole numbers: its curvature, its count 1, and q sketches of its gradient, two
of which share a word, so that a histogram adds both at once and without error. Four words make a
plane; what does not fit into the first plane is in further ones.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..runtime.compiling import kernel
from ..runtime.random_stream import scrambled

WORDS = 4  # words of a plane
TOGETHER = 8  # directions whose histograms are filled together
BLOCK = 1024  # samples whose bins are gathered together
_NONE = -1
_CutRoom = tuple[NDArray, NDArray, NDArray, NDArray]
Room = tuple[NDArray, NDArray, NDArray, NDArray, _CutRoom]  # what a search works with
_SMALL = 2  # a node with at most so many samples a bin and plane has the bins in use noted
_SALT = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.int64(32)
_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)  # its 6-bit windows all differ: they tell a bit's place
_BIT_PLACES = np.zeros(64, dtype=np.int64)
for _place in range(64):
    _BIT_PLACES[((0x03F79D71B4CB0A89 << _place) & 0xFFFFFFFFFFFFFFFF) >> 58] = _place


@kernel
def packed(upper: int, lower: int) -> np.int64:
    """Put two whole numbers into one word, so that sums of words are sums of both."""
    return (np.int64(upper) << _HALF) + np.int64(lower)


@kernel
def lower_half(word: np.int64) -> np.int64:
    """Return the lower number of a word, |number| < 2**31."""
    return (word << _HALF) >> _HALF


@kernel
def upper_half(word: np.int64) -> np.int64:
    """Return the upper number of a word."""
    return (word - lower_half(word)) >> _HALF


@kernel
def _gather(
    bins: NDArray, columns: NDArray, rows: NDArray, begin: int, end: int, local: NDArray
) -> None:
    """Copy the bins of some samples along some directions, (direction, sample)."""
    for p in range(np.uint64(begin), np.uint64(end)):
        of_row = bins[np.uint64(rows[p])]
        for j in range(len(columns)):
            local[j, p - np.uint64(begin)] = of_row[np.uint64(columns[j])]


@kernel
def _fill(bins: NDArray, histogram: NDArray, words: NDArray, begin: int, end: int) -> None:
    """Add samples to the histogram of one direction."""
    for p in range(np.uint64(begin), np.uint64(end)):
        b = np.uint64(bins[p - np.uint64(begin)])
        histogram[b, 0] += words[p, 0]
        histogram[b, 1] += words[p, 1]
        histogram[b, 2] += words[p, 2]
        histogram[b, 3] += words[p, 3]


@kernel
def _fill_four(
    bins1: NDArray, bins2: NDArray, bins3: NDArray, bins4: NDArray, h1: NDArray, h2: NDArray,
    h3: NDArray, h4: NDArray, words: NDArray, begin: int, end: int,
) -> None:  # fmt: skip
    """Add samples to the histograms of four directions."""
    for p in range(np.uint64(begin), np.uint64(end)):
        e = p - np.uint64(begin)
        b1, b2, b3, b4 = (
            np.uint64(bins1[e]), np.uint64(bins2[e]), np.uint64(bins3[e]), np.uint64(bins4[e]),
        )  # fmt: skip
        w0, w1, w2, w3 = words[p, 0], words[p, 1], words[p, 2], words[p, 3]
        h1[b1, 0] += w0
        h1[b1, 1] += w1
        h1[b1, 2] += w2
        h1[b1, 3] += w3
        h2[b2, 0] += w0
        h2[b2, 1] += w1
        h2[b2, 2] += w2
        h2[b2, 3] += w3
        h3[b3, 0] += w0
        h3[b3, 1] += w1
        h3[b3, 2] += w2
        h3[b3, 3] += w3
        h4[b4, 0] += w0
        h4[b4, 1] += w1
        h4[b4, 2] += w2
        h4[b4, 3] += w3


@kernel
def fill_all(
    bins: NDArray, columns: NDArray, rows: NDArray, words: NDArray, begin: int, end: int,
    local: NDArray, histograms: NDArray,
) -> None:  # fmt: skip
    """Fill the histograms (direction, plane) of a node, a block of its samples at a time."""
    n = len(columns)
    for first in range(begin, end, BLOCK):
        last = min(first + BLOCK, end)
        _gather(bins, columns, rows, first, last, local)
        for plane in range(words.shape[0]):
            part = words[plane]
            j = 0
            while j + 4 <= n:
                _fill_four(
                    local[j], local[j + 1], local[j + 2], local[j + 3], histograms[j, plane],
                    histograms[j + 1, plane], histograms[j + 2, plane], histograms[j + 3, plane],
                    part, first, last,
                )  # fmt: skip
                j += 4
            while j < n:
                _fill(local[j], histograms[j, plane], part, first, last)
                j += 1


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
def _sum_left(histogram: NDArray, places: NDArray, n: int, sums: NDArray) -> None:
    """Sum up the words left of every cut; clear the histogram."""
    w0 = w1 = w2 = w3 = np.int64(0)
    zero = np.int64(0)
    for e in range(n):
        b = np.uint64(places[e])
        w0, w1 = w0 + histogram[b, 0], w1 + histogram[b, 1]
        w2, w3 = w2 + histogram[b, 2], w3 + histogram[b, 3]
        histogram[b, 0] = zero
        histogram[b, 1] = zero
        histogram[b, 2] = zero
        histogram[b, 3] = zero
        sums[0, e] = w0
        sums[1, e] = w1
        sums[2, e] = w2
        sums[3, e] = w3


@kernel
def _add_squares(words: NDArray, total: np.int64, n: int, low: NDArray, high: NDArray) -> None:
    """Add the squares of two sketches on both sides of every cut."""
    upper, lower = np.float64(upper_half(total)), np.float64(lower_half(total))
    for e in range(n):
        a, b = np.float64(upper_half(words[e])), np.float64(lower_half(words[e]))
        low[e] += a * a + b * b
        high[e] += (upper - a) * (upper - a) + (lower - b) * (lower - b)


@kernel
def _find_gains(
    words: NDArray,
    total: np.int64,
    n: int,
    rules: NDArray,
    low: NDArray,
    high: NDArray,
    gains: NDArray,
) -> None:
    """Gain of every cut, from the words of curvature and count."""
    ridge, least = rules[0], rules[1]
    curvature, count = np.float64(upper_half(total)), np.float64(lower_half(total))
    for e in range(n):
        h, m = np.float64(upper_half(words[e])), np.float64(lower_half(words[e]))
        gain = low[e] / (h + ridge) + high[e] / (curvature - h + ridge)
        gains[e] = gain if (m >= least) & (count - m >= least) else 0.0


@kernel
def try_direction(
    histograms: NDArray, places: NDArray, n: int, totals: NDArray, rules: NDArray, room: _CutRoom,
    column: int, result: NDArray,
) -> None:  # fmt: skip
    """Find the best cut of one direction; clear its histograms."""
    sums, low, high, gains = room
    for e in range(n):
        low[e] = 0.0
        high[e] = 0.0
    for plane in range(len(histograms) - 1, -1, -1):  # the first one is the last: it has the rest
        _sum_left(histograms[plane], places, n, sums)
        for word in range(1 if plane == 0 else 0, WORDS):
            _add_squares(sums[word], totals[plane, word], n, low, high)
    _find_gains(sums[0], totals[0, 0], n, rules, low, high, gains)
    best, place = result[0], _NONE
    for e in range(n - 1):
        if gains[e] > best:
            best = gains[e]
            place = e
    if place >= 0:
        result[0], result[1], result[2] = best, column, places[place]
        result[3] = lower_half(sums[0, place])


@kernel
def draw_directions(key: np.uint64, directions: NDArray, n_drawn: int, drawn: NDArray) -> None:
    """Fill in `n_drawn` different directions out of a range, in rising order."""
    n = directions[1] - directions[0]
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
    bins: NDArray, rows: NDArray, words: NDArray, begin: int, end: int, totals: NDArray,
    columns: NDArray, rules: NDArray, room: Room, result: NDArray,
) -> None:  # fmt: skip
    """Find the best cut of a node along some directions; ``result``: gain, direction, cut, left."""
    histograms, places, noted, local, rest = room
    n_bins = histograms.shape[2]
    small = end - begin <= min(BLOCK, _SMALL * n_bins * len(words))
    for start in range(0, len(columns), TOGETHER):
        chosen = columns[start : start + TOGETHER]
        fill_all(bins, chosen, rows, words, begin, end, local, histograms)
        for j in range(len(chosen)):
            n = n_bins
            if small:
                n = _note_bins(local[j], end - begin, noted, places)
            try_direction(histograms[j], places, n, totals, rules, rest, chosen[j], result)
            if small:  # the places of all bins again
                for e in range(n):
                    places[e] = e


def make_room(n_planes: int, n_bins: int) -> Room:
    """Return arrays that a search works with; it leaves them as it found them.

    Parameters
    ----------
    n_planes, n_bins : int
        Number of planes of words, and of bins.

    Returns
    -------
    tuple
        Histograms (all 0), places of the bins, bins in use (none), bins of a block of samples, and
        sums and gains by cut.
    """
    sums = np.empty((WORDS, n_bins), dtype=np.int64)
    rest = sums, np.empty(n_bins), np.empty(n_bins), np.empty(n_bins)
    histograms = np.zeros((TOGETHER, n_planes, n_bins, WORDS), dtype=np.int64)
    noted = np.zeros((n_bins + 63) // 64, dtype=np.uint64)
    local = np.empty((TOGETHER, BLOCK), dtype=np.uint8)
    return histograms, np.arange(n_bins), noted, local, rest
