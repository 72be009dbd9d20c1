"""The search of RBoost-proj: the best stump and the best class code v together (logWeak).

For code v the signed weights of the samples are ``c_iv = sum_r C_ir P_rv``: n sets of weights,
but of rank k. So the sums below every cut are taken once for the k columns of C, and one small
product gives them for all n codes: O(m d k + cuts k n) instead of O(n m (k + d)). Most cuts are
left out of that product by a bound.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..runtime.compiling import kernel
from ..runtime.parallel import ThreadTeam
from .binned import BinnedColumns

_RELATIVE_TIE = 1e-11  # edges this close count as equal; the first one wins
_LONGEST = 256  # cuts that are always evaluated
_ROUNDING = 1e-9  # relative error of a bound
_WORTHWHILE = 1e-3  # a cut must gain this share over no cut at all


@kernel
def _sums_below_cuts(
    bins: NDArray,
    n_bins: NDArray,
    first_cut: NDArray,
    weights: NDArray,
    sums: NDArray,
    start: int,
    stop: int,
) -> None:
    """``sums[cut, r]``: weights of class r below every cut of the features start .. stop."""
    n_samples = bins.shape[1]
    n_classes = weights.shape[1]
    for j in range(start, stop):
        n_cuts = n_bins[j] - 1
        at = first_cut[j]
        for cut in range(n_cuts):
            for r in range(n_classes):
                sums[at + cut, r] = 0.0
        for i in range(n_samples):
            b = np.int64(bins[j, i])
            if b < n_cuts:
                for r in range(n_classes):
                    sums[at + b, r] += weights[i, r]
        for cut in range(1, n_cuts):
            for r in range(n_classes):
                sums[at + cut, r] += sums[at + cut - 1, r]


@kernel
def _largest_edges(sums: NDArray, codes: NDArray, best: NDArray, start: int, stop: int) -> None:
    """``best[v] = max over cuts of |sum_r sums_r codes_rv|``."""
    n_classes, n_codes = codes.shape
    edge = np.empty(n_codes)
    for cut in range(start, stop):
        weight = sums[cut]
        for v in range(n_codes):
            edge[v] = 0.0
        r = 0
        while r + 4 <= n_classes:
            w0, w1, w2, w3 = weight[r], weight[r + 1], weight[r + 2], weight[r + 3]
            p0, p1, p2, p3 = codes[r], codes[r + 1], codes[r + 2], codes[r + 3]
            for v in range(n_codes):
                edge[v] += w0 * p0[v] + w1 * p1[v] + w2 * p2[v] + w3 * p3[v]
            r += 4
        while r < n_classes:
            w0 = weight[r]
            p0 = codes[r]
            for v in range(n_codes):
                edge[v] += w0 * p0[v]
            r += 1
        for v in range(n_codes):
            best[v] = max(best[v], abs(edge[v]))


def first_of_best(values: NDArray) -> int:
    """Return the first position whose value is the largest up to rounding.

    Parameters
    ----------
    values : ndarray
        Values, at least one.

    Returns
    -------
    int
        The position.
    """
    return int(np.argmax(values >= values.max() - _RELATIVE_TIE * np.abs(values).max()))


class JointSearch:
    """Joint search over stumps on features, also constant ones, and over the n codes of a round.

    Parameters
    ----------
    columns : BinnedColumns
        The features.
    team : ThreadTeam
        Threads.
    constant : bool, default=True
        Whether stumps may be constant; they are where no cut gains a thousandth over that.
    """

    def __init__(self, columns: BinnedColumns, team: ThreadTeam, *, constant: bool = True) -> None:
        self._columns = columns
        self._constant = constant
        self._team = team
        n_cuts = columns.n_bins - 1
        self._first_cut = np.concatenate([[0], np.cumsum(n_cuts)])
        self._sums = np.empty((0, 0))
        self._feature = np.repeat(np.arange(len(n_cuts)), n_cuts)

    @property
    def has_stumps(self) -> bool:
        """Whether there is any stump to choose."""
        return self._constant or len(self._feature) > 0

    def edge_sums(self, weights: NDArray) -> NDArray:
        """Return the edge of every cut for each column of weights.

        Parameters
        ----------
        weights : ndarray of shape (n_samples, n_columns)
            Signed weights.

        Returns
        -------
        ndarray of shape (n_cuts + 1, n_columns)
            ``sum_i c_i h(x_i)`` with h = +1 above the cut; the last row is for h = +1 everywhere,
            0 where stumps may not be constant. The next call overwrites it.
        """
        if self._sums.shape[1] != weights.shape[1]:
            self._sums = np.empty((len(self._feature) + 1, weights.shape[1]))
        sums = self._sums
        sums[-1] = 0.0

        def add(start: int, stop: int) -> None:
            _sums_below_cuts(
                self._columns.bins,
                self._columns.n_bins,
                self._first_cut,
                weights,
                sums,
                start,
                stop,
            )

        self._team.run(add, len(self._columns.n_bins), grain=1 + 100_000 // weights.size)
        sums *= -2.0
        sums += weights.sum(axis=0)
        if not self._constant:
            sums[-1] = 0.0
        return sums

    def cut(self, number: int) -> tuple[int, float]:
        """Return (feature, threshold) of a row of `edge_sums`."""
        if number == len(self._feature):
            return 0, -np.inf
        feature = int(self._feature[number])
        return feature, float(self._columns.thresholds[feature][number - self._first_cut[feature]])

    def largest_edges(
        self, weights: NDArray, codes: NDArray, offsets: NDArray, n_best: int = 1
    ) -> tuple[NDArray, NDArray]:
        """Return the largest absolute edge of any stump, exact for the best codes.

        The edge of a cut is at most the norm of its sums times that of the code. So the longest
        sums come first, and of the others only those that could still change the best codes.

        Parameters
        ----------
        weights : ndarray of shape (n_samples, n_classes)
            The signed weights C.
        codes : ndarray of shape (n_classes, n_codes)
            The round's slice P_t of the projections.
        offsets : ndarray of shape (n_codes,)
            Terms to add to the edge of every code.
        n_best : int, default=1
            Number of codes, those with the largest sums of offset and edge, whose edges are exact.

        Returns
        -------
        tuple of ndarray
            The edges, shape (n_codes,), lower bounds for the other codes, and the `edge_sums` of C.
        """
        sums = self.edge_sums(weights)
        lengths = np.sqrt(np.einsum("ij,ij->i", sums, sums))
        longest = np.argsort(-lengths, kind="stable")[:_LONGEST]
        edges = self._scan(sums[longest], codes)
        n_best = min(n_best, len(edges))
        least = np.partition(offsets + edges, -n_best)[-n_best]
        reach = np.sqrt(np.einsum("ij,ij->j", codes, codes))
        needed = np.min((least - offsets)[reach > 0] / reach[reach > 0], initial=np.inf)
        rest = lengths >= (1 - _ROUNDING) * needed if needed > 0 else np.ones(len(sums), bool)
        rest[longest] = False
        return np.maximum(edges, self._scan(sums[rest], codes)), sums

    def _scan(self, sums: NDArray, codes: NDArray) -> NDArray:
        """Return the largest absolute edge of any of the cuts, for every code."""
        partial = [np.zeros(codes.shape[1])]

        def scan(start: int, stop: int) -> None:
            best = np.zeros(codes.shape[1])
            _largest_edges(sums, codes, best, start, stop)
            partial.append(best)

        self._team.run(scan, len(sums), grain=1 + 100_000 // codes.size)
        return np.max(partial, axis=0)

    def stump(self, edge_sums: NDArray, code: NDArray) -> tuple[int, float]:
        """Return (feature, threshold) of the best stump for one code.

        A constant stump, which shifts the scores of the classes, has the threshold -inf.

        Parameters
        ----------
        edge_sums : ndarray of shape (n_cuts, n_classes)
            Second result of `largest_edges`.
        code : ndarray of shape (n_classes,)
            Column v of the codes.

        Returns
        -------
        tuple of (feature, threshold)
            The cut.
        """
        edges = np.abs(edge_sums @ code)
        best = first_of_best(edges)
        if self._constant and edges[-1] >= (1.0 - _WORTHWHILE) * edges[best]:
            best = len(edges) - 1
        return self.cut(best)
