"""Bins of the values that trees are grown on: one byte a sample and direction.

A missing value is below every number and has a bin of its own: where a direction has missing
values its first edge is -inf, which every number is above.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..compiling import kernel
from ..parallel import ThreadTeam

_SAMPLE = 2048  # values that decide where the edges are


@kernel
def _between(lower, upper, edges, n):
    """Add an edge between two values, in their precision; return the number of edges.

    In that precision edges compare with values alike in training and in prediction.
    """
    edges[n] = np.float64(lower) / 2 + np.float64(upper) / 2
    if not edges[n] < upper:  # rounded up
        edges[n] = lower
    return n + 1 if n == 0 or edges[n] > edges[n - 1] else n


@kernel
def _cut(ordered, max_bins, edges):
    """Put edges between ordered values; return their number."""
    last = len(ordered) - 1
    distinct = 1
    for i in range(last):
        distinct += ordered[i + 1] != ordered[i]
    n = 0
    if distinct <= max_bins:
        for i in range(last):
            if ordered[i + 1] != ordered[i]:
                n = _between(ordered[i], ordered[i + 1], edges, n)
        return n
    for b in range(1, max_bins):
        place = b * last // max_bins
        above = place
        while above < last and ordered[above] == ordered[place]:
            above += 1
        while ordered[above - 1] == ordered[above]:  # the largest value: cut below it
            above -= 1
        n = _between(ordered[above - 1], ordered[above], edges, n)
    return n


def find_edges(values: NDArray, max_bins: int) -> NDArray:
    """Return rising edges that cut values into at most `max_bins` bins of about equal size.

    Parameters
    ----------
    values : ndarray of shape (n_samples,)
        The values, NaN where missing.
    max_bins : int
        Largest number of bins, the one of missing values included.

    Returns
    -------
    ndarray of float64
        Edges; a value is in bin b where it is above just b of them.
    """
    missing = np.isnan(values)
    head = []
    if missing.any():
        values, head, max_bins = values[~missing], [-np.inf], max_bins - 1
    if len(values) > _SAMPLE:
        values = values[:: len(values) // _SAMPLE]
    edges = np.empty(max_bins, dtype=values.dtype)
    n = _cut(np.sort(values), max_bins, edges) if len(values) else 0
    return np.concatenate([head, edges[:n].astype(np.float64)])


@kernel
def _code_row(values, edges, size, codes):
    """Bin of every value: the number of edges below it; `edges` is padded to `size` - 1."""
    for i in range(len(values)):
        value = values[i]
        place = 0
        step = size // 2
        while step > 0:
            if value > edges[place + step - 1]:
                place += step
            step //= 2
        codes[i] = place


def bin_values(
    values: NDArray, edges: list[NDArray], team: ThreadTeam, max_bins: int
) -> NDArray[np.uint8]:
    """Return the bins of many directions.

    Parameters
    ----------
    values : ndarray of shape (n_directions, n_samples)
        Values by direction.
    edges : list of ndarray
        Edges of every direction, fewer than `max_bins` each.
    team : ThreadTeam
        Threads.
    max_bins : int
        Largest number of bins.

    Returns
    -------
    ndarray of uint8 of shape (n_directions, n_samples)
        The bins.
    """
    codes = np.empty(values.shape, dtype=np.uint8)
    size = 1 << int(np.ceil(np.log2(max(max_bins, 2))))
    padded = np.full((len(edges), size - 1), np.inf)
    for row, edge in zip(padded, edges, strict=True):
        row[: len(edge)] = edge

    def work(first: int, last: int) -> None:
        for v in range(first, last):
            _code_row(values[v], padded[v], size, codes[v])

    team.run(work, len(values))
    return codes
