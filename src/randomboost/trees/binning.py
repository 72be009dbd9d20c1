"""Bins of the values that trees are grown on: one byte per sample and direction.

A missing value counts as below every number and has a bin of its own: a direction with missing
values has the first edge -inf.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..runtime.compiling import ZERO, kernel

_SAMPLE = 2048  # values that determine the edges
_SPARE = 4  # times as many samples are looked at, since values may be missing
_CELLS = 4  # cells per edge, which tell the edges that are close to a value


@kernel
def _between(lower: Any, upper: Any, edges: NDArray, n: int) -> int:
    """Add an edge between two values, in their precision; return the number of edges.

    So values compare with edges alike in training and in prediction.
    """
    edges[n] = np.float64(lower) / 2 + np.float64(upper) / 2
    if not edges[n] < upper:  # rounded up
        edges[n] = lower
    return n + 1 if n == 0 or edges[n] > edges[n - 1] else n


@kernel
def _cut(ordered: NDArray, max_bins: int, edges: NDArray) -> int:
    """Find edges between sorted values; return their number."""
    last = len(ordered) - 1
    distinct = 1
    for i in range(last):
        distinct += ordered[i + 1] != ordered[i]
    n = ZERO
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


def sample_step(n_samples: int) -> int:
    """Return the distance between the samples that determine the edges.

    Parameters
    ----------
    n_samples : int
        Number of samples.

    Returns
    -------
    int
        At least 1.
    """
    return max(1, n_samples // (_SPARE * _SAMPLE))


@kernel
def _cut_rows(ordered: NDArray, max_bins: int, edges: NDArray) -> None:
    """Find the edges of every row of sorted values; those that are left over become infinite."""
    for v in range(len(ordered)):
        n = _cut(ordered[v], max_bins, edges[v])
        for j in range(n, edges.shape[1]):
            edges[v, j] = np.inf


def _quantiles(values: NDArray, max_bins: int) -> NDArray:
    """Return the edges of rows without missing values, of shape (n_directions, max_bins - 1)."""
    n = values.shape[1]
    if not n:
        return np.full((len(values), max_bins - 1), np.inf)
    edges = np.empty((len(values), max_bins), dtype=values.dtype)
    _cut_rows(np.sort(values[:, :: max(1, n // _SAMPLE)], axis=1), max_bins, edges)
    return edges[:, :-1]


def find_edges(values: NDArray, max_bins: int, missing: NDArray[np.bool_]) -> NDArray:
    """Return rising edges that cut the values of directions into bins of about equal size.

    Parameters
    ----------
    values : ndarray of shape (n_directions, n_samples)
        The values, NaN where missing.
    max_bins : int
        Maximum number of bins, including that of missing values.
    missing : ndarray of bool of shape (n_directions,)
        Whether missing values of a direction have a bin of their own.

    Returns
    -------
    ndarray of float64 of shape (n_directions, max_bins - 1)
        Edges; a value above exactly b of them is in bin b. With fewer bins the last edges are
        infinite.
    """
    edges = np.empty((len(values), max_bins - 1))
    whole = values if not missing.any() else values[~missing]
    edges[~missing] = _quantiles(whole, max_bins)
    for v in np.flatnonzero(missing):
        known = values[v, ~np.isnan(values[v])]
        edges[v, 0] = -np.inf
        edges[v, 1:] = _quantiles(known[None], max_bins - 1)[0]
    return edges


@kernel
def _cell(value: Any, low: float, scale: float, n_cells: int) -> np.int64:
    """Return the cell of a value among cells of equal width; a larger value has no lower one."""
    place = (np.float64(value) - low) * scale
    if place < n_cells:
        return np.int64(place) if place > 0.0 else ZERO
    return np.int64(n_cells)


@kernel
def _fill_cells(edges: NDArray, first: int, last: int, cells: NDArray) -> tuple[float, float]:
    """Fill in how many edges are in lower cells; return the lowest value and cells per unit.

    The edges between ``first`` and ``last`` are finite. Where they are too close together or too
    far apart to tell cells, all of them are in the first one.
    """
    n_cells = len(cells) - 2
    low = width = 0.0
    if last > first:
        low = np.float64(edges[first])
        width = np.float64(edges[last - 1]) - low
    scale = n_cells / width if width > 0.0 else 0.0
    scale = scale if scale < np.inf else 0.0
    e = first
    for cell in range(len(cells)):
        while e < last and _cell(edges[e], low, scale, n_cells) < cell:
            e += 1
        cells[cell] = e
    return low, scale


@kernel
def _bin_rows(values: NDArray, edges: NDArray, bins: NDArray) -> None:
    """Bin of every value: the number of its row's edges below it.

    A value is compared with the edges in its cell only, mostly none or one.
    """
    n_edges = edges.shape[1]
    n_cells = _CELLS * n_edges
    cells = np.empty(n_cells + 2, np.uint8)
    for v in range(len(values)):
        row = edges[v]
        first, last = ZERO, ZERO + n_edges
        while first < last and row[first] == -np.inf:
            first += 1
        while first < last and row[last - 1] == np.inf:
            last -= 1
        low, scale = _fill_cells(row, first, last, cells)
        for i in range(values.shape[1]):
            value = values[v, i]
            below = ZERO
            if value > -np.inf:  # neither missing nor below every edge
                cell = _cell(value, low, scale, n_cells)
                below, above = np.int64(cells[cell]), np.int64(cells[cell + 1])
                while below < above:
                    middle = (below + above) >> 1
                    if value > row[middle]:
                        below = middle + 1
                    else:
                        above = middle
            bins[v, i] = below


def bin_values(values: NDArray, edges: NDArray, bins: NDArray[np.uint8]) -> None:
    """Find the bins of values.

    Parameters
    ----------
    values : ndarray of shape (n_directions, n_samples)
        The values, NaN where missing.
    edges : ndarray of shape (n_directions, n_edges)
        Edges of the bins.
    bins : ndarray of uint8 of shape (n_directions, n_samples)
        The bins, filled in.
    """
    _bin_rows(values, edges.astype(values.dtype), bins)
