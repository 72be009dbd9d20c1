"""Leaf vectors of samples in several places, which send their sums by leaf and class."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..runtime.compiling import kernel
from ..runtime.exact_sums import group_sums
from ..runtime.ordering import sort_numbers
from .leaves import (
    LeafRules,
    Leaves,
    as_leaves,
    find_leaf_gains,
    leaf_covers,
    make_leaf,
    sort_by_leaf,
    sum_leaf,
)
from .sparse_scores import Prior, SparseScores


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


@kernel
def _sum_leaves(
    rows: NDArray, starts: NDArray, middles: NDArray, classes: NDArray, values: NDArray,
    counts: NDArray, y: NDArray, weight: NDArray, normalisers: NDArray, shares: NDArray,
    floor: np.float32, places: NDArray, sums: NDArray, rest: NDArray,
) -> int:  # fmt: skip
    """Fill in the sums of all leaves; return the number of entries."""
    n_classes = len(shares)
    stamps = np.full(n_classes, -1, np.int64)
    sums_g, sums_h = np.empty(n_classes, np.int64), np.empty(n_classes, np.int64)
    inner_g, inner_h = np.zeros(n_classes, np.int64), np.zeros(n_classes, np.int64)
    touched = np.empty(n_classes + 1, np.int64)  # one more is written than there are
    size = classes.shape[1]
    room = np.empty(size, np.float32), np.empty(size, np.int64), np.empty(size, np.int64)
    n_entries = 0
    for leaf in range(len(middles)):
        n = sum_leaf(
            rows[starts[leaf] : middles[leaf]], classes, values, counts, y, weight, normalisers,
            shares, floor, leaf, stamps, sums_g, sums_h, touched, np.int64(0), room, rest[leaf, :2],
        )  # fmt: skip
        for e in range(n):
            inner_g[touched[e]], inner_h[touched[e]] = sums_g[touched[e]], sums_h[touched[e]]
        rest[leaf, 2:4] = rest[leaf, :2]
        n = sum_leaf(
            rows[middles[leaf] : starts[leaf + 1]], classes, values, counts, y, weight,
            normalisers, shares, floor, leaf, stamps, sums_g, sums_h, touched, n, room,
            rest[leaf, 2:4],
        )  # fmt: skip
        sort_numbers(touched, n)
        for e in range(n):
            r = touched[e]
            places[n_entries] = leaf * n_classes + r
            sums[n_entries, 0], sums[n_entries, 1] = inner_g[r], inner_h[r]
            sums[n_entries, 2], sums[n_entries, 3] = sums_g[r], sums_h[r]
            inner_g[r], inner_h[r] = 0, 0
            n_entries += 1
    return n_entries


def sum_leaves(
    scores: SparseScores,
    normalisers: NDArray[np.float32],
    y: NDArray[np.int64],
    weight: NDArray[np.float32],
    leaves: NDArray[np.int32],
    taken: NDArray[np.bool_],
    n_leaves: int,
    largest_step: float,
) -> LeafSums:
    """Return sums over the samples of every leaf.

    Parameters
    ----------
    scores, normalisers, y, weight, leaves, taken, n_leaves
        As for `leaves.make_leaves`.
    largest_step : float
        Bound of Newton's step for a class that a sample belongs to.

    Returns
    -------
    LeafSums
        The sums.
    """
    n_classes = len(scores.prior.scores)
    starts, middles = np.empty(n_leaves + 1, dtype=np.int64), np.empty(n_leaves, dtype=np.int64)
    ordered = np.empty(len(y), dtype=np.uint32)
    sort_by_leaf(leaves, taken, n_leaves, starts, middles, ordered)
    most = np.minimum(np.diff(starts) * (scores.classes.shape[1] + 1), n_classes).sum()
    places, sums = np.empty(most, dtype=np.int64), np.empty((most, 4), dtype=np.int64)
    rest = np.zeros((n_leaves, 6), dtype=np.int64)
    n = _sum_leaves(
        ordered, starts, middles, scores.classes, scores.values, scores.counts, y, weight,
        normalisers, scores.prior.shares, np.float32(1.0 / largest_step), places, sums, rest,
    )  # fmt: skip
    rest[:, 4] = starts[1:] - middles
    rest[:, 5] = leaf_covers(leaves, weight, n_leaves)
    return LeafSums(places[:n].copy(), sums[:n].copy(), rest)


@kernel
def _make_leaves(
    places: NDArray, sums: NDArray, rest: NDArray, starts: NDArray, shares: NDArray,
    order: NDArray, rules: NDArray, sizes: NDArray, gains: NDArray, out_classes: NDArray,
    out_values: NDArray,
) -> None:  # fmt: skip
    """Make the vectors of all leaves."""
    n_classes = len(shares)
    stamps = np.full(n_classes, -1, np.int64)
    sums_g, sums_h = np.empty(n_classes, np.int64), np.empty(n_classes, np.int64)
    inner_g, inner_h = np.empty(n_classes, np.int64), np.empty(n_classes, np.int64)
    touched = np.empty(n_classes + 1, np.int64)
    room = np.empty(n_classes + 1, np.int64), np.empty(n_classes + 1), np.empty(n_classes + 1)
    for leaf in range(len(sizes)):
        n = starts[leaf + 1] - starts[leaf]
        for e in range(n):
            entry = starts[leaf] + e
            r = places[entry] - leaf * n_classes
            touched[e], stamps[r] = r, leaf
            inner_g[r], inner_h[r] = sums[entry, 0], sums[entry, 1]
            sums_g[r], sums_h[r] = sums[entry, 2], sums[entry, 3]
        if rest[leaf, 4] > 0:
            find_leaf_gains(
                touched, n, inner_g, inner_h, rest[leaf, :2], sums_g, sums_h, rest[leaf, 2:4],
                shares, rules, gains[leaf],
            )  # fmt: skip
        sizes[leaf] = make_leaf(
            touched, n, leaf, stamps, sums_g, sums_h, rest[leaf, 2:4], shares, order, rules, room,
            out_classes[leaf], out_values[leaf],
        )  # fmt: skip


def leaves_of_sums(found: LeafSums, prior: Prior, rules: LeafRules) -> tuple[Leaves, NDArray]:
    """Return the vectors of a tree's leaves.

    Parameters
    ----------
    found : LeafSums
        Sums over all samples.
    prior : Prior
        Scores before the first tree.
    rules : LeafRules
        How leaf vectors are made.

    Returns
    -------
    tuple
        As `leaves.make_leaves` returns for samples in one place.
    """
    n_classes, n_leaves = len(prior.scores), len(found.rest)
    limits = rules.limits(n_classes)
    most = int(limits[2])
    starts = np.searchsorted(found.places, np.arange(n_leaves + 1) * n_classes)
    gains, sizes = np.zeros((n_leaves, 2)), np.zeros(n_leaves, dtype=np.int64)
    kind = np.uint16 if n_classes <= 2**16 else np.uint32
    classes, values = np.empty((n_leaves, most), dtype=kind), np.empty((n_leaves, most))
    _make_leaves(
        found.places, found.sums, found.rest, starts, prior.shares, prior.order, limits, sizes,
        gains, classes, values,
    )  # fmt: skip
    return as_leaves(sizes, classes, values, found.rest[:, 5]), gains.sum(axis=0)
