"""Bins of projected dimensions, one byte per point, made without sorting.

A column is laid over a fine grid of cells; neighbouring cells are then merged into bins of about
equal numbers of points. The order of bins is exactly that of the values: all points of a lower bin
have lower values.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..projections.points import ProjectedPoints, project_row
from ..runtime.compiling import kernel

MAX_BINS = 256
CELLS_PER_BIN = 8
_SAMPLE = 256  # points that determine the grid
_LEAST_WIDTH = 1e-290  # of a grid that has a scale


@kernel
def span(sample: NDArray) -> tuple[float, float]:
    """Find the ends of the grid of a column from a sample of its values.

    It covers the middle 90 % of the sample and half as much on either side; values further out
    fall into the outermost cells. Where the middle has no width, both ends are the same.
    """
    n_out = len(sample) // 20 + 1  # smallest and largest values, which are kept sorted
    least = np.empty(n_out, sample.dtype)
    most = np.empty(n_out, sample.dtype)
    for i in range(len(sample)):
        value = sample[i]
        if i < n_out or value < least[n_out - 1]:
            j = min(i, n_out - 1)
            while j > 0 and least[j - 1] > value:
                least[j] = least[j - 1]
                j -= 1
            least[j] = value
        if i < n_out or value > most[n_out - 1]:
            j = min(i, n_out - 1)
            while j > 0 and most[j - 1] < value:
                most[j] = most[j - 1]
                j -= 1
            most[j] = value
    low = np.float64(least[n_out - 1])
    high = np.float64(most[n_out - 1])
    margin = 0.5 * (high - low) if high - low > _LEAST_WIDTH else 0.0
    return (low - margin, high + margin) if margin > 0.0 else (low, low)


@kernel
def cells_per_unit(low: float, high: float, n_cells: int) -> float:
    """Compute the number of cells per unit of value."""
    width = high - low
    return min(n_cells / width, 1e300) if width > 0.0 and width < np.inf else 0.0


@kernel
def cells_of(values: NDArray, low: float, scale: float, n_cells: int, cells: NDArray) -> None:
    """Cell of every value; through int32, for which processors have an instruction."""
    last = n_cells - 1.0
    for i in range(len(values)):
        place = (np.float64(values[i]) - low) * scale
        cells[i] = np.uint16(np.int32(min(max(place, 0.0), last)))


@kernel
def ends(values: NDArray, low: float, high: float) -> tuple[float, float]:
    """Widen an interval so that it holds all values."""
    for i in range(len(values)):
        low = min(low, np.float64(values[i]))
        high = max(high, np.float64(values[i]))
    return low, high


@kernel
def fine_bins(values: NDArray, n_cells: int) -> tuple[NDArray[np.uint16], np.int64]:
    """Use the cells of an even grid over all values as bins; return them and the last one."""
    low, high = ends(values, np.inf, -np.inf)
    scale = cells_per_unit(low, high, n_cells)
    bins = np.empty(len(values), np.uint16)
    last = np.int64(0)
    for i in range(len(values)):
        place = (np.float64(values[i]) - low) * scale
        bins[i] = np.uint16(min(max(place, 0.0), n_cells - 1.0))
        last = max(last, np.int64(bins[i]))
    return bins, last


@kernel
def group_cells(counts: NDArray, n: int, max_bins: int, bin_of_cell: NDArray) -> int:
    """Merge cells with these counts of n points into bins; return the last bin.

    A bin ends when it has its share of the points, or at any cell while there are enough bins for
    all cells that are left.
    """
    left = 0
    for cell in range(len(counts)):
        left += counts[cell] > 0
    before = np.int64(0)  # points in the cells before, times max_bins
    full = n  # value of `before` at which the current bin has its share
    current = 0
    for cell in range(len(counts)):
        count = counts[cell]
        ends = before >= full or left < max_bins - current
        if ends and count > 0 and before > 0 and current < max_bins - 1:
            current += 1
            full += n
        left -= count > 0
        before += count * max_bins
        bin_of_cell[cell] = current
    return current


@kernel
def _bins_of(
    cells: NDArray, max_bins: int, counts: NDArray, bin_of_cell: NDArray, bins: NDArray
) -> int:
    """Merge cells into bins and find the bin of every point; return the last bin."""
    n = len(cells)
    counts[:] = 0
    for i in range(n):
        counts[cells[i]] += 1
    last = group_cells(counts, n, max_bins, bin_of_cell)
    for i in range(n):
        bins[i] = bin_of_cell[cells[i]]
    return last


@kernel
def _bin_projections(
    features: NDArray,
    directions: NDArray,
    classes: NDArray,
    few: NDArray,
    max_bins: int,
    bins: NDArray,
    last_bins: NDArray,
) -> None:
    """Project dense features (d, m) on directions (k, columns, d) and bin every column.

    Only the values of one class are in memory at a time, so the grid comes from the features `few`
    of some samples, for the given classes.
    """
    n_classes, n_columns, _ = directions.shape
    n_samples = features.shape[1]
    n_few = few.shape[1]
    sample = np.empty(len(classes) * n_few, features.dtype)
    row = np.empty(n_samples, features.dtype)
    cells = np.empty(n_classes * n_samples, np.uint16)
    n_cells = CELLS_PER_BIN * max_bins
    counts = np.empty(n_cells, np.int32)
    bin_of_cell = np.empty(n_cells, np.uint8)
    for v in range(n_columns):
        for c in range(len(classes)):
            project_row(few, directions[classes[c], v], sample[c * n_few : (c + 1) * n_few])
        low, high = span(sample)
        if not low < high:  # the sample is too uniform: use the range of all values
            low = np.inf
            high = -np.inf
            for r in range(n_classes):
                project_row(features, directions[r, v], row)
                low, high = ends(row, low, high)
        scale = cells_per_unit(low, high, n_cells)
        for r in range(n_classes):
            project_row(features, directions[r, v], row)
            cells_of(row, low, scale, n_cells, cells[r * n_samples : (r + 1) * n_samples])
        last_bins[v] = _bins_of(cells, max_bins, counts, bin_of_cell, bins[v])


@kernel
def _bin_values(values: NDArray, sample: NDArray, max_bins: int, bins: NDArray) -> int:
    """Bin one column of known values; return the last bin."""
    low, high = span(sample)
    if not low < high:
        low, high = ends(values, np.inf, -np.inf)
    n_cells = CELLS_PER_BIN * max_bins
    cells = np.empty(len(values), np.uint16)
    cells_of(values, low, cells_per_unit(low, high, n_cells), n_cells, cells)
    counts = np.empty(n_cells, np.int32)
    bin_of_cell = np.empty(n_cells, np.uint8)
    return _bins_of(cells, max_bins, counts, bin_of_cell, bins)


def sampled_points(points: ProjectedPoints) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return some classes and some samples, whose points determine the grid."""
    n_classes = points.projection.n_classes
    n_samples = points.n_points // n_classes
    classes = np.unique(np.linspace(0, n_classes - 1, min(n_classes, 32)).astype(np.int64))
    few = min(n_samples, -(-_SAMPLE // len(classes)))
    return classes, np.unique(np.linspace(0, n_samples - 1, few).astype(np.int64))


def bin_values(
    points: ProjectedPoints, values: NDArray, max_bins: int
) -> tuple[NDArray[np.uint8], int]:
    """Return the bins of one column whose values are known, and its last bin.

    Parameters
    ----------
    points : ProjectedPoints
        The points.
    values : ndarray of shape (n_points,)
        Their values.
    max_bins : int
        Maximum number of bins, at most `MAX_BINS`.

    Returns
    -------
    tuple of (ndarray, int)
        As a row of `bin_columns`.
    """
    classes, samples = sampled_points(points)
    sampled = (
        classes[:, None] * (points.n_points // points.projection.n_classes) + samples
    ).ravel()
    bins = np.empty(len(values), np.uint8)
    return bins, _bin_values(values, values[sampled], max_bins, bins)


def bin_columns(
    points: ProjectedPoints,
    columns: NDArray[np.int64],
    max_bins: int,
    bins: NDArray[np.uint8],
    last_bins: NDArray[np.int64],
) -> None:
    """Find the bins of some columns.

    Parameters
    ----------
    points : ProjectedPoints
        The points.
    columns : ndarray of int64
        Columns to bin.
    max_bins : int
        Maximum number of bins, at most `MAX_BINS`.
    bins : ndarray of shape (n_columns, n_points)
        Receives the bins.
    last_bins : ndarray of shape (n_columns,)
        Receives the last bin of every column. Bin 0 and the last one hold points.
    """
    features: Any = points.features
    if sp.issparse(features):
        for at, column in enumerate(columns):
            bins[at], last_bins[at] = bin_values(points, points.column(int(column)), max_bins)
    else:
        directions = points.directions(columns)
        classes, samples = sampled_points(points)
        few = np.ascontiguousarray(features[:, samples])
        _bin_projections(features, directions, classes, few, max_bins, bins, last_bins)
