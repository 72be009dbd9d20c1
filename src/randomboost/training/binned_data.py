"""Samples as trees see them: their bins along all directions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..projections.directions import Directions, project
from ..runtime.compiling import kernel
from ..runtime.parallel import ThreadTeam
from ..trees.binning import bin_values, find_edges, sample_step

_BLOCK_BYTES = 1 << 26  # values of the directions that are binned together
_TILE = 64  # samples and directions that are transposed together


@kernel
def _transpose(coded: NDArray, bins: NDArray, first_column: int, first: int, last: int) -> None:
    """Copy bins (directions, samples) to columns of (samples, directions)."""
    for begin in range(first, last, _TILE):
        end = min(begin + _TILE, last)
        for column in range(0, len(coded), _TILE):
            stop = min(column + _TILE, len(coded))
            for i in range(begin, end):
                for v in range(column, stop):
                    bins[i, first_column + v] = coded[v, i]


class BinnedData:
    """Samples as the trees see them: a byte for every direction.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        Scaled data.
    directions : Directions
        The directions.
    max_bins : int
        Number of bins.
    team : ThreadTeam
        Threads.
    edges : ndarray of shape (n_directions, max_bins - 1) or None
        Edges of the bins; None to find them.
    """

    def __init__(
        self,
        X: Any,
        directions: Directions,
        max_bins: int,
        team: ThreadTeam,
        edges: NDArray | None = None,
    ) -> None:
        m, n_directions = X.shape[0], len(directions)
        self.bins = np.empty((m, n_directions), dtype=np.uint8)
        self.edges = np.empty((n_directions, max_bins - 1)) if edges is None else edges
        step = sample_step(m)
        together = max(1, _BLOCK_BYTES // (8 * max(m, 1)))
        for first in range(0, n_directions, together):
            last = min(first + together, n_directions)
            values = project(X, directions.rows(np.arange(first, last)), team)
            coded = np.empty(values.shape, dtype=np.uint8)

            def code(
                begin: int,
                end: int,
                values: NDArray = values,
                coded: NDArray = coded,
                first: int = first,
            ) -> None:
                if edges is None:
                    missing = np.isnan(values[begin:end]).any(axis=1)
                    found = find_edges(values[begin:end, ::step], max_bins, missing)
                    self.edges[first + begin : first + end] = found
                found = self.edges[first + begin : first + end]
                bin_values(values[begin:end], found, coded[begin:end])

            def copy(begin: int, end: int, coded: NDArray = coded, first: int = first) -> None:
                _transpose(coded, self.bins, first, begin, end)

            team.run(code, last - first)
            team.run(copy, m, grain=_TILE)
