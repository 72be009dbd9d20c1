"""Search of some projected dimensions by sums over the cells of their grids, without bins.

In one pass over the points of a dimension, a few classes at a time, the points are projected, laid
over the grid of cells (`grid`), and their weights summed up by cell. Bins are merged from cells, so
the bins of points are not needed. A second pass over the chosen dimension finds the values on
either side of its cut. The stump is the same as with stored bins.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..projections.points import ProjectedPoints, project
from ..runtime.compiling import kernel
from ..runtime.parallel import ThreadTeam
from .grid import CELLS_PER_BIN, cells_of, cells_per_unit, ends, group_cells, sampled_points, span
from .heaviest import N_BUCKETS, add_masses, first_heavy, min_size

_POINTS_AT_A_TIME = 1 << 17  # of whole classes
_NUMBERS_AT_A_TIME = 1 << 21  # of directions, and of cells: at most 50 MB of sums
_BYTES_PER_SAMPLE = 10  # besides its values: the cell and two weights, for one class at a time


@kernel
def _bucket_masses(weights: NDArray, unit: float) -> NDArray:
    """Sum up the absolute weights, in units, by bucket."""
    masses = np.zeros(N_BUCKETS)
    sizes = np.empty(weights.shape[1], np.float32)
    for r in range(weights.shape[0]):
        for i in range(len(sizes)):
            sizes[i] = abs(weights[r, i]) / unit
        add_masses(sizes, masses)
    return masses


@kernel
def _add_to_cells(
    values: NDArray,
    low: float,
    scale: float,
    weights: NDArray,
    unit: float,
    least: float,
    sums: NDArray,
) -> None:
    """Sum up by cell: points, weights of at least `least` units, all weights."""
    n_cells = len(sums)
    n = values.shape[1]
    cells = np.empty(n, np.uint16)
    heavy = np.empty(n, np.int32)
    whole = np.empty(n, np.int32)
    for r in range(len(values)):
        cells_of(values[r], low, scale, n_cells, cells)
        for i in range(n):
            size = abs(weights[r, i]) / unit
            units = np.int32(size + 0.5)
            whole[i] = -units if weights[r, i] < 0 else units
            heavy[i] = whole[i] if np.float32(size) >= least else 0
        for i in range(n):
            sums[cells[i], 0] += 1
            sums[cells[i], 1] += heavy[i]
            sums[cells[i], 2] += whole[i]


@kernel
def _around_cut(
    rough: NDArray, low: float, scale: float, n_cells: int, cut: int, values: NDArray
) -> tuple[float, float]:
    """Largest value of the points up to a cell and smallest value of those after it."""
    cells = np.empty(rough.shape[1], np.uint16)
    below = -np.inf
    above = np.inf
    for r in range(len(rough)):
        cells_of(rough[r], low, scale, n_cells, cells)
        for i in range(len(cells)):
            value = np.float64(values[r, i])
            inside = cells[i] <= cut
            below = max(below, value if inside else -np.inf)
            above = min(above, np.inf if inside else value)
    return below, above


@dataclass(frozen=True)
class _Found:
    """The best cut of a dimension: its grid, and the cell after which it is cut."""

    edge: int
    column: int
    directions: NDArray
    low: float
    scale: float
    cut: int


class SummedPart:
    """The dimensions of projected points, projected again for every search.

    Parameters
    ----------
    points : ProjectedPoints
        The points.
    rough : ProjectedPoints
        The same, in single precision where possible, for grids and cells.
    team : ThreadTeam
        Threads.
    max_bins : int
        Number of bins per dimension, at most 256.

    Attributes
    ----------
    bytes_per_thread : int
        Memory of a thread.
    """

    def __init__(
        self, points: ProjectedPoints, rough: ProjectedPoints, team: ThreadTeam, max_bins: int
    ) -> None:
        self._points = points
        self._rough = rough
        self._team = team
        self._max_bins = max_bins
        self._n_cells = CELLS_PER_BIN * max_bins
        self._n_classes = points.projection.n_classes
        self._n_samples = points.n_points // self._n_classes
        step = max(1, _POINTS_AT_A_TIME // self._n_samples)
        from sklearn.utils import gen_batches  # not at the start of a process that only compiles

        self._pieces = list(gen_batches(self._n_classes, step))
        bytes_per_sample = rough.dtype.itemsize * min(step, self._n_classes) + _BYTES_PER_SAMPLE
        self.bytes_per_thread = bytes_per_sample * self._n_samples
        self._classes, samples = sampled_points(points)
        features: Any = rough.features
        self._few = (
            features[samples]
            if sp.issparse(features)
            else np.ascontiguousarray(features[:, samples])
        )

    def search(
        self, weights: NDArray, unit: float, spared: float, columns: NDArray[np.int64]
    ) -> tuple[int, float, float] | None:
        """Choose a column by the heaviest points, and its cut between bins by all of them.

        Parameters
        ----------
        weights : ndarray of shape (n_points,)
            Signed weights c of the points.
        unit : float
            Weights are rounded to multiples of this.
        spared : float
            Maximum weight of the points that are ignored at first, in units.
        columns : ndarray of int64
            Columns to search; of equal edges the first one wins.

        Returns
        -------
        tuple of (column, below, above) or None
            The values on either side of the cut; None if the column has one bin only.
        """
        weights = weights.reshape(self._n_classes, self._n_samples)
        masses = np.zeros((len(self._pieces), N_BUCKETS))

        def weigh(piece: int) -> None:
            masses[piece] = _bucket_masses(weights[self._pieces[piece]], unit)

        self._team.for_each(weigh, len(self._pieces))
        least = min_size(first_heavy(masses.sum(axis=0), spared))
        best = max(self._best_cuts(columns, weights, unit, least), key=lambda found: found.edge)
        return None if best.cut < 0 else (best.column, *self._values_at_cut(best))

    def _best_cuts(
        self, columns: NDArray[np.int64], weights: NDArray, unit: float, least: np.float32
    ) -> Iterator[_Found]:
        """Yield the best cut of every column."""
        from sklearn.utils import gen_batches

        a_column = max(self._n_classes * self._points.n_features, self._n_cells * len(self._pieces))
        together = max(1, _NUMBERS_AT_A_TIME // a_column)
        for part in gen_batches(len(columns), together):
            directions = self._rough.directions(columns[part]).transpose(1, 0, 2)
            grids = [self._grid(own) for own in directions]
            sums = self._add_up(directions, grids, weights, unit, least)
            for column, *found in zip(columns[part].tolist(), directions, grids, sums, strict=True):
                yield self._cut(column, *found)

    def _add_up(
        self,
        directions: NDArray,
        grids: list[tuple[float, float]],
        weights: NDArray,
        unit: float,
        least: np.float32,
    ) -> NDArray[np.int64]:
        """Return the sums of some columns by cell, as `_add_to_cells` computes them."""
        n_pieces = len(self._pieces)
        sums = np.zeros((len(directions), n_pieces, self._n_cells, 3), np.int64)

        def add_up(number: int) -> None:
            v, at = divmod(number, n_pieces)
            piece = self._pieces[at]
            values = project(self._rough.features, directions[v, piece])
            _add_to_cells(values, *grids[v], weights[piece], unit, least, sums[v, at])

        self._team.for_each(add_up, len(directions) * n_pieces)
        return sums.sum(axis=1)

    def _grid(self, directions: NDArray) -> tuple[float, float]:
        """Return where the grid of a column begins, and its cells per unit of value."""
        low, high = span(project(self._few, directions[self._classes]).ravel())
        if not low < high:  # the sample is too uniform: use the range of all values
            low, high = np.inf, -np.inf
            for piece in self._pieces:
                values = project(self._rough.features, directions[piece])
                low, high = ends(values.ravel(), low, high)
        return low, cells_per_unit(low, high, self._n_cells)

    def _cut(
        self, column: int, directions: NDArray, grid: tuple[float, float], sums: NDArray[np.int64]
    ) -> _Found:
        """Return the largest edge of a column by the heavy points, and the best cut by all."""
        counts, heavy, whole = np.ascontiguousarray(sums.T)
        bin_of_cell = np.empty(self._n_cells, np.uint8)
        group_cells(counts, self._points.n_points, self._max_bins, bin_of_cell)
        last_cells = np.flatnonzero(np.diff(bin_of_cell))  # of every bin but the last
        if not len(last_cells):
            return _Found(-1, column, directions, *grid, -1)
        edges = [
            np.abs(by_cell.sum() - 2 * by_cell.cumsum()[last_cells]) for by_cell in (heavy, whole)
        ]
        cut = int(last_cells[edges[1].argmax()])
        return _Found(int(edges[0].max()), column, directions, *grid, cut)

    def _values_at_cut(self, found: _Found) -> tuple[float, float]:
        """Return the values on either side of a cut."""
        values = self._points.column(found.column, self._team)
        values = values.reshape(self._n_classes, self._n_samples)
        around = np.empty((len(self._pieces), 2))

        def look(at: int) -> None:
            piece = self._pieces[at]
            rough = project(self._rough.features, found.directions[piece])
            grid = found.low, found.scale, self._n_cells
            around[at] = _around_cut(rough, *grid, found.cut, values[piece])

        self._team.for_each(look, len(self._pieces))
        return float(around[:, 0].max()), float(around[:, 1].min())
