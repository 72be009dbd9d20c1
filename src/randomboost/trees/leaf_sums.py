"""Sums of gradients and hessians over the samples of every leaf, by class.

They are whole numbers, so neither the order of the samples nor the place where they are added up
matters. Classes that no sample of a leaf has touched share two numbers: with ``p_r = share_r * z``
for a sample's ``z = exp(-peak) / total``, their gradient is ``share_r * sum(z)``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..runtime.compiling import ZERO, kernel
from ..runtime.exact_sums import group_sums
from ..runtime.ordering import sort_numbers
from ..runtime.parallel import ThreadTeam
from .sketching import Sketches
from .sparse_scores import SparseScores, exponential

UNIT = 2.0**32  # sums of weighted probabilities are whole numbers of 1 / UNIT
COVER_UNITS = np.float32(2.0**24)  # sums of weights are whole numbers of 1 / COVER_UNITS
_FEW = 12  # one in so many classes: up to this their numbers are sorted, else all are looked at
_BLOCK, _LEAVES_OF_A_BLOCK = (
    1 << 16,
    16,
)  # entries of a block, and leaves with all classes, at least


@kernel
def _derive(
    scores: NDArray, n: int, peak: np.float32, inverse: np.float32, scale: np.float32, p: NDArray,
    gradients: NDArray, hessians: NDArray,
) -> None:  # fmt: skip
    """Probabilities of a sample's classes; gradients and hessians in units."""
    for t in range(n):
        p[t] = exponential(scores[t] - peak) * inverse
    for t in range(n):
        gradients[t] = np.int64(p[t] * scale)
        hessians[t] = np.int64((p[t] - p[t] * p[t]) * scale)


@kernel
def _take_off(
    classes: NDArray, n: int, z: np.float32, scale: np.float32, shares: NDArray, gradients: NDArray,
    hessians: NDArray,
) -> None:  # fmt: skip
    """Take off what a sample's classes would have if they were not touched."""
    for t in range(n):
        p = shares[classes[t]] * z
        gradients[t] -= np.int64(p * scale)
        hessians[t] -= np.int64((p - p * p) * scale)


@kernel
def _touch(
    r: int, stamp: int, stamps: NDArray, sums_g: NDArray, sums_h: NDArray, touched: NDArray, n: int
) -> int:
    """Note that a class is one of a leaf; return how many there are."""
    if stamps[r] != stamp:
        stamps[r] = stamp
        sums_g[r] = 0
        sums_h[r] = 0
        touched[n] = r
        n += 1
    return n


@kernel
def _scatter(
    classes: NDArray, count: int, gradients: NDArray, hessians: NDArray, stamp: int,
    stamps: NDArray, sums_g: NDArray, sums_h: NDArray, touched: NDArray, n: int,
) -> int:  # fmt: skip
    """Add the gradients and hessians of a sample; return how many classes a leaf has now."""
    for t in range(np.uint64(count)):
        r = np.uint64(classes[t])
        old = stamps[r] == stamp
        stamps[r] = stamp
        touched[n] = r
        n += 0 if old else 1
        sums_g[r] = (sums_g[r] if old else 0) + gradients[t]
        sums_h[r] = (sums_h[r] if old else 0) + hessians[t]
    return n


@kernel
def _sum_leaf(
    rows: NDArray, classes: NDArray, values: NDArray, counts: NDArray, y: NDArray, weight: NDArray,
    normalisers: NDArray, shares: NDArray, floor: np.float32, stamp: int, stamps: NDArray,
    sums_g: NDArray, sums_h: NDArray, touched: NDArray, n: int,
    room: tuple[NDArray, NDArray, NDArray], rest: NDArray,
) -> int:  # fmt: skip
    """Sum up gradients and hessians of a leaf's samples, less those of untouched classes.

    ``rest`` are the sums of z and z**2 that make up for them. Returns the number of classes that
    differ from untouched ones, `n` of them before.
    """
    p, gradients, hessians = room
    for e in range(len(rows)):
        i = rows[e]
        peak, inverse = normalisers[i, 0], np.float32(1) / normalisers[i, 1]
        z = normalisers[i, 2] * inverse
        scale = weight[i] * np.float32(UNIT)
        count = np.int64(counts[i])
        mine, true = classes[i], y[i]
        _derive(values[i], count, peak, inverse, scale, p, gradients, hessians)
        own = shares[true] * z
        rest[0] += np.int64(z * scale)
        rest[1] += np.int64(z * z * scale)
        _take_off(mine, count, z, scale, shares, gradients, hessians)
        n = _scatter(mine, count, gradients, hessians, stamp, stamps, sums_g, sums_h, touched, n)
        for t in range(count):
            own = p[t] if mine[t] == true else own
        n = _touch(true, stamp, stamps, sums_g, sums_h, touched, n)
        sums_g[true] -= np.int64(scale)
        more = max(floor - own, np.float32(0)) * (np.float32(1) - own)
        sums_h[true] += np.int64(more * scale)  # bounds the step of the true class
    return n


@kernel(inline="always")
def _sum_dense_leaf(
    rows: NDArray, probabilities: NDArray, y: NDArray, weight: NDArray, floor: np.float32,
    sums_g: NDArray, sums_h: NDArray,
) -> None:  # fmt: skip
    """Add gradients and hessians of a leaf's samples that have the scores of all classes."""
    for e in range(len(rows)):
        i = rows[e]
        true, p = y[i], probabilities[i]
        scale = weight[i] * np.float32(UNIT)
        for r in range(len(p)):
            sums_g[r] += np.int64(p[r] * scale)
            sums_h[r] += np.int64((p[r] - p[r] * p[r]) * scale)
        own = p[true]
        sums_g[true] -= np.int64(scale)
        more = max(floor - own, np.float32(0)) * (np.float32(1) - own)
        sums_h[true] += np.int64(more * scale)  # bounds the step of the true class


@kernel
def sum_dense_leaves(
    rows: NDArray, starts: NDArray, middles: NDArray, probabilities: NDArray, y: NDArray,
    weight: NDArray, floor: np.float32, first: int, last: int, places: NDArray, sums: NDArray,
    rest: NDArray,
) -> int:  # fmt: skip
    """Do what `_sum_leaves` does for samples that have the scores of all classes."""
    k = probabilities.shape[1]
    sums_g, sums_h = np.empty(k, np.int64), np.empty(k, np.int64)
    entry = ZERO
    for leaf in range(first, last):
        sums_g[:] = 0
        sums_h[:] = 0
        for column in range(4):
            rest[leaf, column] = 0
        if starts[leaf] == starts[leaf + 1]:  # its samples are elsewhere
            continue
        for part in range(2):  # the samples taken, then the others
            begin = middles[leaf] if part else starts[leaf]
            end = starts[leaf + 1] if part else middles[leaf]
            _sum_dense_leaf(rows[begin:end], probabilities, y, weight, floor, sums_g, sums_h)
            for r in range(k):
                sums[entry + r, 2 * part], sums[entry + r, 2 * part + 1] = sums_g[r], sums_h[r]
        for r in range(k):
            places[entry + r] = leaf * k + r
        entry += k
    return entry


@kernel
def _sum_leaves(
    rows: NDArray, starts: NDArray, middles: NDArray, classes: NDArray, values: NDArray,
    counts: NDArray, y: NDArray, weight: NDArray, normalisers: NDArray, shares: NDArray,
    floor: np.float32, first: int, last: int, places: NDArray, sums: NDArray, rest: NDArray,
) -> int:  # fmt: skip
    """Fill in the sums of some leaves; return the number of entries."""
    n_classes = len(shares)
    stamps, touched = np.empty(n_classes, np.int64), np.empty(n_classes + 1, np.int64)
    sums_g, sums_h = np.empty(n_classes, np.int64), np.empty(n_classes, np.int64)
    inner_g, inner_h = np.empty(n_classes, np.int64), np.empty(n_classes, np.int64)
    for r in range(n_classes):
        stamps[r] = -1
        inner_g[r] = inner_h[r] = 0
    size = classes.shape[1]
    room = np.empty(size, np.float32), np.empty(size, np.int64), np.empty(size, np.int64)
    shared = np.empty(2, np.int64)
    n_entries = 0
    for leaf in range(first, last):
        shared[0] = shared[1] = 0
        n = ZERO
        for part in range(2):  # the samples taken, then the others
            begin = middles[leaf] if part else starts[leaf]
            end = starts[leaf + 1] if part else middles[leaf]
            n = _sum_leaf(
                rows[begin:end], classes, values, counts, y, weight, normalisers, shares, floor,
                leaf, stamps, sums_g, sums_h, touched, n, room, shared,
            )  # fmt: skip
            rest[leaf, 2 * part], rest[leaf, 2 * part + 1] = shared[0], shared[1]
            if part == 0:
                for e in range(n):
                    r = touched[e]
                    inner_g[r], inner_h[r] = sums_g[r], sums_h[r]
        if n > n_classes // _FEW:
            n = ZERO
            for r in range(n_classes):
                touched[n] = r
                n += stamps[r] == leaf
        else:
            sort_numbers(touched, n)
        for e in range(n):
            r = touched[e]
            places[n_entries] = leaf * n_classes + r
            sums[n_entries, 0], sums[n_entries, 1] = inner_g[r], inner_h[r]
            sums[n_entries, 2], sums[n_entries, 3] = sums_g[r], sums_h[r]
            inner_g[r], inner_h[r] = 0, 0
            n_entries += 1
    return n_entries


@kernel
def sort_by_leaf(
    leaves: NDArray, taken: NDArray, n_leaves: int, starts: NDArray, middles: NDArray, out: NDArray
) -> None:
    """Put samples into the order of their leaves, in each those that are taken first."""
    starts[:] = 0
    middles[:] = 0
    for i in range(len(leaves)):
        starts[leaves[i] + 1] += 1
        middles[leaves[i]] += taken[i]
    for leaf in range(n_leaves):
        starts[leaf + 1] += starts[leaf]
        middles[leaf] += starts[leaf]
    first, second = starts[:-1].copy(), middles.copy()
    for i in range(len(leaves)):
        leaf = leaves[i]
        places = first if taken[i] else second
        out[places[leaf]] = i
        places[leaf] += 1


class LeafSums(NamedTuple):
    """Sums over the samples of every leaf.

    Parameters
    ----------
    places : ndarray of int64 of shape (n_entries,)
        Leaf times the number of classes, plus class, of every entry; rising.
    sums : ndarray of int64 of shape (n_entries, 4)
        Gradients and hessians of the samples taken, and of all samples.
    rest : ndarray of int64 of shape (n_leaves, 6)
        What untouched classes share, of the samples taken (2) and of all (2); the number of
        samples that were not taken, and the weight of all.
    """

    places: NDArray[np.int64]
    sums: NDArray[np.int64]
    rest: NDArray[np.int64]

    @classmethod
    def joined(cls, parts: list[LeafSums]) -> LeafSums:
        """Return the sums of all parts."""
        every = np.concatenate([part.sums for part in parts])
        places, groups = np.unique(
            np.concatenate([part.places for part in parts]), return_inverse=True
        )
        sums = [group_sums(np.ascontiguousarray(each), groups, len(places)) for each in every.T]
        rest = np.sum([part.rest for part in parts], axis=0)
        return cls(places, np.stack(sums, axis=1), rest)


class LeafSamples:
    """Samples in the order of their leaves.

    Parameters
    ----------
    scores : SparseScores
        Scores of all samples.
    sketches : Sketches
        What is known of them in this round.
    y : ndarray of int64
        Class numbers.
    weight : ndarray of float32
        Weights, mean 1.
    leaves : ndarray of int32
        Number of every sample's leaf.
    taken : ndarray of bool
        The samples that the tree was grown on; its leaves learn from all of them.
    n_leaves : int
        Number of leaves.
    largest_step : float
        Bound of Newton's step for a class that a sample belongs to.
    """

    def __init__(
        self,
        scores: SparseScores,
        sketches: Sketches,
        y: NDArray[np.int64],
        weight: NDArray[np.float32],
        leaves: NDArray[np.int32],
        taken: NDArray[np.bool_],
        n_leaves: int,
        largest_step: float,
    ) -> None:
        self.prior, self.n_leaves = scores.prior, n_leaves
        starts, middles = np.empty(n_leaves + 1, dtype=np.int64), np.empty(n_leaves, dtype=np.int64)
        ordered = np.empty(len(y), dtype=np.uint32)
        sort_by_leaf(leaves, taken, n_leaves, starts, middles, ordered)
        most = np.minimum(np.diff(starts) * (scores.classes.shape[1] + 1), len(scores.prior.scores))
        self._ends = np.concatenate([[0], np.cumsum(most)])  # of the entries that there may be
        self.rest = np.empty((n_leaves, 6), dtype=np.int64)
        self.rest[:, 4] = starts[1:] - middles
        covers = np.rint(weight * COVER_UNITS).astype(np.int64)
        self.rest[:, 5] = group_sums(covers, leaves, n_leaves)
        order, floor = (ordered, starts, middles), np.float32(1.0 / largest_step)
        self._dense = len(sketches.probabilities) > 0
        self._arguments: tuple[Any, ...] = (*order, sketches.probabilities, y, weight, floor)
        if not self._dense:
            self._arguments = (
                *order, scores.classes, scores.values, scores.counts, y, weight,
                sketches.normalisers, scores.prior.shares, floor,
            )  # fmt: skip

    def blocks(self, n_threads: int) -> NDArray[np.int64]:
        """Return the first leaves of blocks that are worth a thread, and the number of leaves."""
        least = max(_BLOCK, _LEAVES_OF_A_BLOCK * len(self.prior.scores))
        parts = max(1, -(-int(self._ends[-1]) // least))  # there may be no samples here
        if n_threads > 1:
            parts = max(parts, 4 * n_threads)
        parts = min(parts, self.n_leaves)
        bounds = np.searchsorted(self._ends, np.arange(parts + 1) * (self._ends[-1] / parts))
        bounds[-1] = self.n_leaves
        return bounds

    def add_up(self, first: int, last: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return places and sums of some leaves, and fill in what their other classes share.

        Parameters
        ----------
        first, last : int
            The first leaf, and the one past the last.

        Returns
        -------
        tuple of ndarray
            As in `LeafSums`.
        """
        size = int(self._ends[last] - self._ends[first])
        places, sums = np.empty(size, dtype=np.int64), np.empty((size, 4), dtype=np.int64)
        add_up = sum_dense_leaves if self._dense else _sum_leaves
        n = add_up(*self._arguments, first, last, places, sums, self.rest)
        return places[:n], sums[:n]

    def sums(self, team: ThreadTeam) -> LeafSums:
        """Return the sums of all leaves.

        Parameters
        ----------
        team : ThreadTeam
            Threads; they do not change the sums.

        Returns
        -------
        LeafSums
            The sums.
        """
        bounds = self.blocks(team.n_threads)
        found = [(np.empty(0, np.int64), np.empty((0, 4), np.int64))] * (len(bounds) - 1)

        def work(block: int) -> None:
            found[block] = self.add_up(*bounds[block : block + 2])

        team.for_each(work, len(found))
        places, sums = map(np.concatenate, zip(*found, strict=True))
        return LeafSums(places, sums, self.rest)
