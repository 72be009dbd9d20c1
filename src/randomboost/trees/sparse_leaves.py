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
from ..runtime.parallel import ThreadTeam
from .sketching import SparseScores, exponential

_UNIT = 2.0**36  # sums of weighted probabilities are whole numbers of 1 / _UNIT
_LARGEST_CODE = 32767  # of a quantised value


@kernel
def find_leaves(bins, columns, cuts, left, numbers, leaves, first, last):
    """Fill in the number of the leaf that every sample comes to."""
    for i in range(first, last):
        node = np.int64(0)
        of_row = bins[i]
        while columns[node] >= 0:
            node = left[node] + np.int64(of_row[np.uint64(columns[node])] > cuts[node])
        leaves[i] = numbers[node]


@kernel
def _add_class(r, gradient, hessian, stamp, stamps, sums, touched, n):
    """Add to the sums of a class; return how many classes there are now."""
    if stamps[r] != stamp:
        stamps[r] = stamp
        sums[r, 0] = 0
        sums[r, 1] = 0
        touched[n] = r
        n += 1
    sums[r, 0] += np.int64(np.rint(gradient * _UNIT))
    sums[r, 1] += np.int64(np.rint(hessian * _UNIT))
    return n


@kernel
def _sum_leaf(
    rows, classes, values, counts, y, weight, normalisers, shares, floor, stamp, stamps, sums,
    touched, powers, rest,
):  # fmt: skip
    """Sum up gradients and hessians of a leaf's samples, less those of untouched classes.

    ``rest`` are the sums of z and z**2 that make up for them. Returns the number of classes that
    differ from untouched ones.
    """
    n = 0
    rest[0] = 0
    rest[1] = 0
    for e in range(len(rows)):
        i = rows[e]
        peak, total, scale = normalisers[i]
        inverse = np.float64(weight[i]) / np.float64(total)
        once = np.float64(1) / np.float64(total)
        z = np.float64(scale) * once
        rest[0] += np.int64(np.rint(weight[i] * z * _UNIT))
        rest[1] += np.int64(np.rint(weight[i] * z * z * _UNIT))
        count = counts[i]
        mine, scores = classes[i], values[i]
        for t in range(count):
            powers[t] = exponential(scores[t] - peak)
        true, own = np.int64(y[i]), np.float64(shares[y[i]]) * z
        for t in range(count):
            r = np.int64(mine[t])
            p = powers[t] * once
            base = shares[r] * z
            if r == true:
                own = p
            n = _add_class(
                r, weight[i] * (p - base), weight[i] * (p * (1.0 - p) - base * (1.0 - base)),
                stamp, stamps, sums, touched, n,
            )  # fmt: skip
        more = max(floor - own, 0.0) * (1.0 - own)  # the step of a true class is bounded by this
        n = _add_class(true, -np.float64(weight[i]), weight[i] * more, stamp, stamps, sums, touched, n)
    return n


@kernel
def _make_leaf(
    touched, n, stamp, stamps, sums, rest, shares, order, rules, candidates, gains, steps, out_r,
    out_v,
):  # fmt: skip
    """Choose the classes of a leaf and their steps; return how many."""
    ridge, rate, most, least_share = rules[0], rules[1], np.int64(rules[2]), rules[3]
    z, zz = rest[0] / _UNIT, rest[1] / _UNIT
    for e in range(n):
        candidates[e] = touched[e]
    extra = 0
    for e in range(len(order)):  # the best of the untouched classes have the largest shares
        if extra == most or z <= 0.0:
            break
        if stamps[order[e]] != stamp:
            candidates[n + extra] = order[e]
            extra += 1
    top = 0.0
    for e in range(n + extra):
        r = candidates[e]
        g = shares[r] * z
        h = g - np.float64(shares[r]) ** 2 * zz
        if e < n:
            g += sums[r, 0] / _UNIT
            h += sums[r, 1] / _UNIT
        h = max(h, 0.0)
        steps[e] = -g / (h + ridge)
        gains[e] = g * g / (h + ridge)
        top = max(top, gains[e])
    n += extra
    least = least_share * top
    if n > most:
        least = max(least, np.partition(gains[:n], n - most)[n - most])
    kept = 0
    chosen = np.empty(n, np.int64)
    for e in range(n):
        chosen[e] = candidates[e] * np.int64(1 << 32) + e
    chosen.sort()
    for e in range(n):
        place = chosen[e] & np.int64(0xFFFFFFFF)
        if gains[place] >= least and kept < most and steps[place] != 0.0:
            out_r[kept] = candidates[place]
            out_v[kept] = rate * steps[place]
            kept += 1
    return kept


@kernel
def _make_leaves(
    rows, starts, classes, values, counts, y, weight, normalisers, shares, order, rules, sizes,
    out_classes, out_values, first, last,
):  # fmt: skip
    """Make the vectors of some leaves."""
    n_classes = len(shares)
    stamps = np.full(n_classes, -1, np.int64)
    sums = np.empty((n_classes, 2), np.int64)
    touched = np.empty(n_classes, np.int64)
    candidates = np.empty(n_classes + 1, np.int64)
    gains, steps = np.empty(n_classes + 1), np.empty(n_classes + 1)
    powers = np.empty(classes.shape[1], np.float32)
    rest = np.zeros(2, np.int64)
    for leaf in range(first, last):
        n = _sum_leaf(
            rows[starts[leaf] : starts[leaf + 1]], classes, values, counts, y, weight, normalisers,
            shares, rules[4], leaf, stamps, sums, touched, powers, rest,
        )  # fmt: skip
        sizes[leaf] = _make_leaf(
            touched, n, leaf, stamps, sums, rest, shares, order, rules, candidates, gains, steps,
            out_classes[leaf], out_values[leaf],
        )  # fmt: skip


@kernel
def _sort_by_leaf(leaves, rows, n_leaves, starts, out):
    """Put some samples into the order of their leaves."""
    starts[:] = 0
    for e in range(len(rows)):
        starts[leaves[rows[e]] + 1] += 1
    for leaf in range(n_leaves):
        starts[leaf + 1] += starts[leaf]
    places = starts[:-1].copy()
    for e in range(len(rows)):
        leaf = leaves[rows[e]]
        out[places[leaf]] = rows[e]
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


class Leaves(NamedTuple):
    """Sparse vectors of the leaves of a tree.

    Parameters
    ----------
    starts : ndarray of int64 of shape (n_leaves + 1,)
        Where the classes of every leaf begin.
    classes : ndarray of uint16 or uint32
        Classes, rising in every leaf.
    codes : ndarray of int16
        Values in units of `unit`.
    unit : float
        A float32 number.
    """

    starts: NDArray[np.int64]
    classes: NDArray
    codes: NDArray[np.int16]
    unit: np.float32

    @property
    def values(self) -> NDArray[np.float32]:
        """Return what is added to the scores."""
        return self.codes.astype(np.float32) * self.unit


def make_leaves(
    scores: SparseScores,
    normalisers: NDArray[np.float32],
    y: NDArray[np.int64],
    weight: NDArray[np.float32],
    leaves: NDArray[np.int32],
    rows: NDArray[np.uint32],
    n_leaves: int,
    rules: LeafRules,
    team: ThreadTeam,
) -> Leaves:
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
    rows : ndarray of uint32
        The samples to learn from.
    n_leaves : int
        Number of leaves.
    rules : LeafRules
        How leaf vectors are made.
    team : ThreadTeam
        Threads.

    Returns
    -------
    Leaves
        The vectors.
    """
    n_classes = len(scores.prior.scores)
    most = min(rules.n_classes, n_classes)
    starts, ordered = np.empty(n_leaves + 1, dtype=np.int64), np.empty_like(rows)
    _sort_by_leaf(leaves, rows, n_leaves, starts, ordered)
    sizes = np.zeros(n_leaves, dtype=np.int64)
    out_classes = np.empty((n_leaves, most), dtype=scores.classes.dtype)
    out_values = np.empty((n_leaves, most))
    limits = np.array(
        [max(rules.ridge, 1e-9), rules.rate, most, rules.least_share, 1.0 / rules.largest_step]
    )

    def work(leaf: int) -> None:
        first, last = ends[leaf], ends[leaf + 1]
        _make_leaves(
            ordered, starts, scores.classes, scores.values, scores.counts, y, weight, normalisers,
            scores.prior.shares, scores.prior.order, limits, sizes, out_classes, out_values,
            first, last,
        )  # fmt: skip

    parts = min(n_leaves, 4 * team.n_threads if team.n_threads > 1 else 1)
    ends = np.searchsorted(starts, np.arange(parts + 1) * (len(rows) / parts))
    ends[-1] = n_leaves
    team.for_each(work, parts)
    kept = np.arange(most) < sizes[:, None]
    values = out_values[kept]
    unit = np.float32(max(float(np.abs(values).max(initial=0.0)), 1e-30) / _LARGEST_CODE)
    codes = np.rint(values / np.float64(unit)).clip(-_LARGEST_CODE, _LARGEST_CODE)
    return Leaves(
        np.concatenate([[0], np.cumsum(sizes)]), out_classes[kept], codes.astype(np.int16), unit
    )
