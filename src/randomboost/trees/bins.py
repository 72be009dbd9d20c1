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
    ordered = np.sort(values).astype(np.float64)
    distinct = ordered[np.flatnonzero(np.diff(ordered, prepend=np.nan) != 0)]
    if len(distinct) > max_bins:
        places = np.arange(1, max_bins) * (len(ordered) - 1) / max_bins
        low = ordered[np.floor(places).astype(np.intp)]
        above = np.minimum(np.searchsorted(distinct, low, side="right"), len(distinct) - 1)
        lower, upper = distinct[above - 1], distinct[above]
    else:
        lower, upper = distinct[:-1], distinct[1:]
    # edges of the precision of the values compare with them alike in training and prediction
    middle = (lower / 2 + upper / 2).astype(values.dtype).astype(np.float64)
    edges = np.unique(np.where(middle < upper, middle, lower))  # may have been rounded up
    return np.concatenate([head, edges])


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
