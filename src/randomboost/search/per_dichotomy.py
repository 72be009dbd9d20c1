"""The best stumps of many dichotomies of the same samples, found in one pass over the data.

The signed weights of a sample for all dichotomies lie side by side, so that a sample adds a whole
row to its bin.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..runtime.compiling import kernel
from ..runtime.parallel import ThreadTeam
from .binned import BinnedColumns


@kernel
def _search(
    bins: NDArray,
    n_bins: NDArray,
    weights: NDArray,
    features: NDArray,
    cuts: NDArray,
    edges: NDArray,
    start: int,
    stop: int,
) -> None:
    """Best feature, cut and signed edge of the dichotomies start .. stop."""
    n_features, n_samples = bins.shape
    width = stop - start
    sums = np.empty((n_bins.max(), width))
    total = np.zeros(width)
    best = np.zeros(width)
    for i in range(n_samples):
        for j in range(width):
            total[j] += weights[i, start + j]
    for f in range(n_features):
        sums[: n_bins[f]] = 0.0
        for i in range(n_samples):
            row = sums[bins[f, i]]
            weight = weights[i, start:stop]
            for j in range(width):
                row[j] += weight[j]
        for cut in range(n_bins[f] - 1):
            row = sums[cut]
            following = sums[cut + 1]
            for j in range(width):
                edge = total[j] - 2.0 * row[j]
                if abs(edge) > best[j]:
                    best[j] = abs(edge)
                    edges[start + j] = edge
                    features[start + j] = f
                    cuts[start + j] = cut
                following[j] += row[j]


class DichotomySearch:
    """Finds the best stump for each of many sets of signed weights.

    Parameters
    ----------
    columns : BinnedColumns
        The features.
    team : ThreadTeam
        Threads.
    """

    def __init__(self, columns: BinnedColumns, team: ThreadTeam) -> None:
        self._columns = columns
        self._team = team

    def search(self, weights: NDArray) -> tuple[NDArray, NDArray, NDArray]:
        """Return feature, threshold and signed edge of the best stump of every dichotomy.

        Parameters
        ----------
        weights : ndarray of shape (n_samples, n_dichotomies)
            Signed weights.

        Returns
        -------
        tuple of ndarray of shape (n_dichotomies,)
            The edge is that of a stump with +1 above the threshold; it is 0, and the threshold
            -inf, where no cut has an edge.
        """
        n = weights.shape[1]
        features = np.zeros(n, np.int32)
        cuts = np.full(n, -1, np.int64)
        edges = np.zeros(n)

        def scan(start: int, stop: int) -> None:
            _search(
                self._columns.bins,
                self._columns.n_bins,
                weights,
                features,
                cuts,
                edges,
                start,
                stop,
            )

        self._team.run(scan, n, grain=1 + 200_000 // self._columns.bins.size)
        thresholds = np.array(
            [
                self._columns.thresholds[f][cut] if cut >= 0 else -np.inf
                for f, cut in zip(features, cuts, strict=True)
            ]
        )
        return features, thresholds, edges
