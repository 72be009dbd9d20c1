"""Leaf vectors of sketched trees: Newton's step on the unsketched gradients, few classes a leaf.

The sums over the samples of a leaf are whole numbers, so their order does not matter. Classes
that no sample of a leaf has touched share two numbers: with ``p_r = share_r * z`` for a sample's
``z = exp(-peak) / total``, their gradient is ``share_r * sum(z)``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..runtime.compiling import kernel
from ..runtime.exact_sums import group_sums
from ..runtime.ordering import kth_largest, sort_numbers
from ..runtime.parallel import ThreadTeam
from .sparse_scores import SparseScores, exponential

_UNIT = 2.0**32  # sums of weighted probabilities are whole numbers of 1 / _UNIT
_LARGEST_STEP_NUMBER = 32767  # of a quantised value
_LARGEST_COVER = 65535  # that of the leaf with most samples
_COVER_UNITS = np.float32(2.0**24)  # sums of weights are whole numbers of 1 / _COVER_UNITS


@kernel
def find_leaves(
    bins: NDArray, columns: NDArray, cuts: NDArray, left: NDArray, numbers: NDArray,
    leaves: NDArray, first: int, last: int,
) -> None:  # fmt: skip
    """Fill in the number of the leaf that every sample comes to."""
    for i in range(first, last):
        node = np.int64(0)
        of_row = bins[i]
        while columns[node] >= 0:
            node = left[node] + np.int64(of_row[np.uint64(columns[node])] > cuts[node])
        leaves[i] = numbers[node]


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
def _add(sums: NDArray, amounts: NDArray, n: int) -> None:
    for t in range(n):
        sums[t] += amounts[t]


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
def sum_leaf(
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
        scale = weight[i] * np.float32(_UNIT)
        count = np.int64(counts[i])
        mine, true = classes[i], y[i]
        _derive(values[i], count, peak, inverse, scale, p, gradients, hessians)
        own = shares[true] * z
        if count == len(shares):
            if n < count:
                for r in range(count):
                    n = _touch(r, stamp, stamps, sums_g, sums_h, touched, n)
            _add(sums_g, gradients, count)
            _add(sums_h, hessians, count)
            own = p[true]
        else:
            rest[0] += np.int64(z * scale)
            rest[1] += np.int64(z * z * scale)
            _take_off(mine, count, z, scale, shares, gradients, hessians)
            n = _scatter(
                mine, count, gradients, hessians, stamp, stamps, sums_g, sums_h, touched, n
            )
            for t in range(count):
                own = p[t] if mine[t] == true else own
            n = _touch(true, stamp, stamps, sums_g, sums_h, touched, n)
        sums_g[true] -= np.int64(scale)
        more = max(floor - own, np.float32(0)) * (np.float32(1) - own)
        sums_h[true] += np.int64(more * scale)  # bounds the step of the true class
    return n


@kernel
def _step(share: float, z: float, zz: float, sum_g: int, sum_h: int) -> tuple[float, float]:
    """Gradient and hessian of a class."""
    g = share * z + sum_g / _UNIT
    return g, max(share * z - share * share * zz + sum_h / _UNIT, 0.0)


@kernel
def _choose_classes(
    touched: NDArray, n: int, stamp: int, stamps: NDArray, sums_g: NDArray, sums_h: NDArray,
    rest: NDArray, shares: NDArray, order: NDArray, rules: NDArray,
    room: tuple[NDArray, NDArray, NDArray],
) -> int:  # fmt: skip
    """Fill in the classes that may be kept, their gains and steps; return how many."""
    ridge, most = rules[0], np.int64(rules[2])
    candidates, gains, steps = room
    z, zz = rest[0] / _UNIT, rest[1] / _UNIT
    top = 0.0
    for e in range(n):
        r = touched[e]
        g, h = _step(np.float64(shares[r]), z, zz, sums_g[r], sums_h[r])
        candidates[e] = r
        steps[e] = -g / (h + ridge)
        gains[e] = g * g / (h + ridge)
        top = max(top, gains[e])
    least = rules[3] * top
    kept = np.int64(0)
    for e in range(n):
        candidates[kept], gains[kept], steps[kept] = candidates[e], gains[e], steps[e]
        kept += gains[e] >= least
    limit = kept + most
    for e in range(len(order)):  # the best of the untouched classes have the largest shares
        r = order[e]
        share = np.float64(shares[r])
        g = share * z
        h = max(g - share * share * zz, 0.0)
        gain = g * g / (h + ridge)
        if kept == limit or gain < least or gain <= 0.0:
            break
        if stamps[r] != stamp:
            candidates[kept], gains[kept], steps[kept] = r, gain, -g / (h + ridge)
            kept += 1
    return kept


@kernel
def make_leaf(
    touched: NDArray, n: int, stamp: int, stamps: NDArray, sums_g: NDArray, sums_h: NDArray,
    rest: NDArray, shares: NDArray, order: NDArray, rules: NDArray,
    room: tuple[NDArray, NDArray, NDArray], out_r: NDArray, out_v: NDArray,
) -> int:  # fmt: skip
    """Choose the classes of a leaf and their steps; return how many."""
    rate, most = rules[1], int(rules[2])
    candidates, gains, steps = room
    n = _choose_classes(touched, n, stamp, stamps, sums_g, sums_h, rest, shares, order, rules, room)
    least = 0.0
    if n > most:
        copied = np.empty(n, np.float64)
        for e in range(n):
            copied[e] = gains[e]
        least = kth_largest(copied, n, most)
    chosen = np.empty(n, np.int64)
    kept = np.int64(0)
    for e in range(n):
        if gains[e] >= least and steps[e] != 0.0:
            chosen[kept] = candidates[e] * np.int64(1 << 32) + e
            kept += 1
    sort_numbers(chosen, kept)
    kept = min(kept, most)
    for e in range(kept):
        place = chosen[e] & np.int64(0xFFFFFFFF)
        out_r[e] = candidates[place]
        out_v[e] = rate * steps[place]
    return kept


@kernel
def find_leaf_gains(
    touched: NDArray, n: int, inner_g: NDArray, inner_h: NDArray, inner_rest: NDArray,
    sums_g: NDArray, sums_h: NDArray, rest: NDArray, shares: NDArray, rules: NDArray,
    gains: NDArray,
) -> None:  # fmt: skip
    """Fill in what the step learnt from a leaf's first samples gains on them, and on others.

    The classes are in rising order, so that sums are the same in whatever order they were found.
    """
    ridge, rate = rules[0], rules[1]
    z, zz = inner_rest[0] / _UNIT, inner_rest[1] / _UNIT
    z_all, zz_all = rest[0] / _UNIT, rest[1] / _UNIT
    gains[0] = 0.0
    gains[1] = 0.0
    for e in range(n):
        r = touched[e]
        share = np.float64(shares[r])
        g, h = _step(share, z, zz, inner_g[r], inner_h[r])
        g_all, h_all = _step(share, z_all, zz_all, sums_g[r], sums_h[r])
        step = -rate * g / (h + ridge)
        gains[0] -= g * step + 0.5 * h * step * step
        gains[1] -= (g_all - g) * step + 0.5 * (h_all - h) * step * step


@kernel
def _make_leaves(
    rows: NDArray, starts: NDArray, middles: NDArray, classes: NDArray, values: NDArray,
    counts: NDArray, y: NDArray, weight: NDArray, normalisers: NDArray, shares: NDArray,
    order: NDArray, rules: NDArray, sizes: NDArray, gains: NDArray, out_classes: NDArray,
    out_values: NDArray, first: int, last: int,
) -> None:  # fmt: skip
    """Make the vectors of some leaves."""
    n_classes = len(shares)
    stamps = np.full(n_classes, -1, np.int64)
    sums_g, sums_h = np.empty(n_classes, np.int64), np.empty(n_classes, np.int64)
    touched = np.empty(n_classes + 1, np.int64)  # one more is written than there are
    chosen = np.empty(n_classes + 1, np.int64), np.empty(n_classes + 1), np.empty(n_classes + 1)
    size = classes.shape[1]
    room = np.empty(size, np.float32), np.empty(size, np.int64), np.empty(size, np.int64)
    floor = np.float32(rules[4])
    rest = np.zeros(2, np.int64)
    inner_g, inner_h = np.zeros(n_classes, np.int64), np.zeros(n_classes, np.int64)
    inner_rest = np.zeros(2, np.int64)
    for leaf in range(first, last):
        rest[0] = rest[1] = 0
        n = sum_leaf(
            rows[starts[leaf] : middles[leaf]], classes, values, counts, y, weight, normalisers,
            shares, floor, leaf, stamps, sums_g, sums_h, touched, np.int64(0), room, rest,
        )  # fmt: skip
        if starts[leaf + 1] > middles[leaf]:
            inner_rest[0], inner_rest[1] = rest[0], rest[1]
            for e in range(n):
                inner_g[touched[e]], inner_h[touched[e]] = sums_g[touched[e]], sums_h[touched[e]]
            n = sum_leaf(
                rows[middles[leaf] : starts[leaf + 1]], classes, values, counts, y, weight,
                normalisers, shares, floor, leaf, stamps, sums_g, sums_h, touched, n, room, rest,
            )  # fmt: skip
            sort_numbers(touched, n)
            find_leaf_gains(
                touched, n, inner_g, inner_h, inner_rest, sums_g, sums_h, rest, shares, rules,
                gains[leaf],
            )  # fmt: skip
            for e in range(n):
                inner_g[touched[e]], inner_h[touched[e]] = 0, 0
        sizes[leaf] = make_leaf(
            touched, n, leaf, stamps, sums_g, sums_h, rest, shares, order, rules, chosen,
            out_classes[leaf], out_values[leaf],
        )  # fmt: skip


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


class LeafRules(NamedTuple):
    """How leaf vectors are made.

    Parameters
    ----------
    ridge : float
        Ridge penalty.
    rate : float
        Shrinkage.
    n_classes : int
        Most classes of a leaf.
    least_share : float
        A class is left out where it gains less than this share of what the leaf's best one does.
    largest_step : float
        Bound of Newton's step for a class that a sample belongs to.
    """

    ridge: float
    rate: float
    n_classes: int
    least_share: float
    largest_step: float

    def limits(self, n_classes: int) -> NDArray:
        """Return the rules as kernels take them."""
        most = min(self.n_classes, n_classes)
        numbers = max(self.ridge, 1e-9), self.rate, most, self.least_share, 1.0 / self.largest_step
        return np.array(numbers)


class Leaves(NamedTuple):
    """Sparse vectors of the leaves of a tree.

    Parameters
    ----------
    starts : ndarray of int64 of shape (n_leaves + 1,)
        Where the classes of every leaf begin.
    classes : ndarray of uint16 or uint32
        Classes, rising in every leaf.
    steps : ndarray of int16
        Values in units of `unit`.
    unit : float
        A float32 number.
    covers : ndarray of uint16 of shape (n_leaves,)
        Weight of every leaf's training samples, 65535 for that of the heaviest leaf, at least 1.
    """

    starts: NDArray[np.int64]
    classes: NDArray
    steps: NDArray[np.int16]
    unit: np.float32
    covers: NDArray[np.uint16]

    @property
    def values(self) -> NDArray[np.float32]:
        """Return what is added to the scores."""
        return self.steps.astype(np.float32) * self.unit


def make_leaves(
    scores: SparseScores,
    normalisers: NDArray[np.float32],
    y: NDArray[np.int64],
    weight: NDArray[np.float32],
    leaves: NDArray[np.int32],
    taken: NDArray[np.bool_],
    n_leaves: int,
    rules: LeafRules,
    team: ThreadTeam,
) -> tuple[Leaves, NDArray]:
    """Return the vectors of a tree's leaves.

    Parameters
    ----------
    scores : SparseScores
        Scores of all samples.
    normalisers : ndarray
        See `sketching.Sketches`.
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
    rules : LeafRules
        How leaf vectors are made.
    team : ThreadTeam
        Threads.

    Returns
    -------
    tuple
        The vectors (`Leaves`), and what those learnt from the samples taken alone would gain on
        them and on the others, to second order.
    """
    n_classes = len(scores.prior.scores)
    most = min(rules.n_classes, n_classes)
    starts, middles = np.empty(n_leaves + 1, dtype=np.int64), np.empty(n_leaves, dtype=np.int64)
    ordered = np.empty(len(y), dtype=np.uint32)
    sort_by_leaf(leaves, taken, n_leaves, starts, middles, ordered)
    gains = np.zeros((n_leaves, 2))
    sizes = np.zeros(n_leaves, dtype=np.int64)
    out_classes = np.empty((n_leaves, most), dtype=scores.classes.dtype)
    out_values = np.empty((n_leaves, most))
    limits = rules.limits(n_classes)

    def work(part: int) -> None:
        first, last = bounds[part], bounds[part + 1]
        _make_leaves(
            ordered, starts, middles, scores.classes, scores.values, scores.counts, y, weight,
            normalisers, scores.prior.shares, scores.prior.order, limits, sizes, gains,
            out_classes, out_values, first, last,
        )  # fmt: skip

    parts = min(n_leaves, 4 * team.n_threads if team.n_threads > 1 else 1)
    bounds = np.searchsorted(starts, np.arange(parts + 1) * (len(y) / parts))
    bounds[-1] = n_leaves
    team.for_each(work, parts)
    covers = leaf_covers(leaves, weight, n_leaves)
    return as_leaves(sizes, out_classes, out_values, covers), gains.sum(axis=0)


def leaf_covers(leaves: NDArray[np.int32], weight: NDArray, n_leaves: int) -> NDArray[np.int64]:
    """Return the weight of every leaf's samples, in whole units.

    Parameters
    ----------
    leaves : ndarray of int32
        Number of every sample's leaf.
    weight : ndarray of float32
        Weights.
    n_leaves : int
        Number of leaves.

    Returns
    -------
    ndarray of int64 of shape (n_leaves,)
        The weights.
    """
    return group_sums(np.rint(weight * _COVER_UNITS).astype(np.int64), leaves, n_leaves)


def as_leaves(
    sizes: NDArray[np.int64], classes: NDArray, values: NDArray, covers: NDArray[np.int64]
) -> Leaves:
    """Return leaf vectors, rounded to the numbers that a model stores.

    Parameters
    ----------
    sizes : ndarray of int64 of shape (n_leaves,)
        Number of classes of every leaf.
    classes, values : ndarray of shape (n_leaves, most)
        Classes and steps.
    covers : ndarray of int64 of shape (n_leaves,)
        Weights of the leaves' samples.

    Returns
    -------
    Leaves
        The vectors.
    """
    kept = np.arange(classes.shape[1]) < sizes[:, None]
    steps = values[kept]
    unit = np.float32(max(float(np.abs(steps).max(initial=0.0)), 1e-30) / _LARGEST_STEP_NUMBER)
    steps = np.rint(steps / np.float64(unit)).clip(-_LARGEST_STEP_NUMBER, _LARGEST_STEP_NUMBER)
    ends = np.concatenate([[0], np.cumsum(sizes)])
    shares = np.rint(covers * (_LARGEST_COVER / covers.max())).clip(1).astype(np.uint16)
    return Leaves(ends, classes[kept], steps.astype(np.int16), unit, shares)
