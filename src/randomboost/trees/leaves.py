"""Leaf vectors of sketched trees: Newton's step on the unsketched gradients, few classes a leaf."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..runtime.compiling import ZERO, kernel
from ..runtime.ordering import kth_largest, sort_numbers
from ..runtime.parallel import ThreadTeam
from .leaf_sums import UNIT, LeafSamples, LeafSums
from .sparse_scores import Prior

_LARGEST_STEP_NUMBER = 32767  # of a quantised value
_LARGEST_COVER = 65535  # that of the leaf with most samples
_GRAIN = 20_000  # leaves times classes that are worth a thread


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
def _step(share: float, z: float, zz: float, sum_g: int, sum_h: int) -> tuple[float, float]:
    """Gradient and hessian of a class."""
    g = share * z + sum_g / UNIT
    return g, max(share * z - share * share * zz + sum_h / UNIT, 0.0)


@kernel
def _choose_classes(
    touched: NDArray, n: int, stamp: int, stamps: NDArray, sums_g: NDArray, sums_h: NDArray,
    rest: NDArray, shares: NDArray, order: NDArray, rules: NDArray,
    room: tuple[NDArray, NDArray, NDArray],
) -> int:  # fmt: skip
    """Fill in the classes that may be kept, their gains and steps; return how many."""
    ridge, most = rules[0], np.int64(rules[2])
    candidates, gains, steps = room
    z, zz = rest[2] / UNIT, rest[3] / UNIT
    top = 0.0
    for e in range(n):
        r = touched[e]
        g, h = _step(np.float64(shares[r]), z, zz, sums_g[r], sums_h[r])
        candidates[e] = r
        steps[e] = -g / (h + ridge)
        gains[e] = g * g / (h + ridge)
        top = max(top, gains[e])
    least = rules[3] * top
    kept = ZERO
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
def _make_leaf(
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
    kept = ZERO
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
def _find_gains(
    touched: NDArray, n: int, inner_g: NDArray, inner_h: NDArray, sums_g: NDArray, sums_h: NDArray,
    rest: NDArray, shares: NDArray, rules: NDArray, gains: NDArray,
) -> None:  # fmt: skip
    """Fill in what the step learnt from a leaf's first samples gains on them, and on others.

    The classes are in rising order, so that sums are the same in whatever order they were found.
    """
    ridge, rate = rules[0], rules[1]
    z, zz = rest[0] / UNIT, rest[1] / UNIT
    z_all, zz_all = rest[2] / UNIT, rest[3] / UNIT
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
def make_vectors(
    places: NDArray, sums: NDArray, rest: NDArray, starts: NDArray, shares: NDArray,
    order: NDArray, rules: NDArray, sizes: NDArray, gains: NDArray, out_classes: NDArray,
    out_values: NDArray, first: int, last: int,
) -> None:  # fmt: skip
    """Make the vectors of some leaves, whose entries begin at ``starts``."""
    n_classes = len(shares)
    stamps, touched = np.empty(n_classes, np.int64), np.empty(n_classes + 1, np.int64)
    for r in range(n_classes):
        stamps[r] = -1
    sums_g, sums_h = np.empty(n_classes, np.int64), np.empty(n_classes, np.int64)
    inner_g, inner_h = np.empty(n_classes, np.int64), np.empty(n_classes, np.int64)
    room = (
        np.empty(n_classes + 1, np.int64), np.empty(n_classes + 1, np.float64),
        np.empty(n_classes + 1, np.float64),
    )  # fmt: skip
    for leaf in range(first, last):
        begin = starts[leaf - first]
        n = starts[leaf - first + 1] - begin
        for e in range(n):
            entry = begin + e
            r = places[entry] - leaf * n_classes
            touched[e], stamps[r] = r, leaf
            inner_g[r], inner_h[r] = sums[entry, 0], sums[entry, 1]
            sums_g[r], sums_h[r] = sums[entry, 2], sums[entry, 3]
        if rest[leaf, 4] > 0:
            _find_gains(
                touched, n, inner_g, inner_h, sums_g, sums_h, rest[leaf], shares, rules, gains[leaf]
            )
        sizes[leaf] = _make_leaf(
            touched, n, leaf, stamps, sums_g, sums_h, rest[leaf], shares, order, rules, room,
            out_classes[leaf], out_values[leaf],
        )  # fmt: skip


@kernel
def quantise(
    sizes: NDArray, values: NDArray, weights: NDArray, n_leaves: int, starts: NDArray,
    steps: NDArray, covers: NDArray,
) -> np.float32:  # fmt: skip
    """Round the values and the weights of leaves to the numbers that a model stores.

    Returns the unit of the steps.
    """
    largest, heaviest = 1e-30, np.int64(1)
    starts[0] = 0
    for leaf in range(n_leaves):
        for e in range(sizes[leaf]):
            largest = max(largest, abs(values[leaf, e]))
        heaviest = max(heaviest, weights[leaf])
        starts[leaf + 1] = starts[leaf] + sizes[leaf]
    unit = np.float32(largest / _LARGEST_STEP_NUMBER)
    for leaf in range(n_leaves):
        for e in range(sizes[leaf]):
            step = np.rint(values[leaf, e] / np.float64(unit))
            step = min(max(step, -_LARGEST_STEP_NUMBER), _LARGEST_STEP_NUMBER)
            steps[starts[leaf] + e] = np.int16(step)
        share = np.rint(weights[leaf] * (_LARGEST_COVER / heaviest))
        covers[leaf] = np.uint16(max(share, 1.0))
    return unit


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


class _Vectors:
    """The vectors of the leaves of a tree, while they are made."""

    def __init__(self, n_leaves: int, prior: Prior, rules: LeafRules) -> None:
        n_classes = len(prior.scores)
        self._prior, self._limits = prior, rules.limits(n_classes)
        most = int(self._limits[2])
        self._gains, self._sizes = np.zeros((n_leaves, 2)), np.zeros(n_leaves, dtype=np.int64)
        kind = np.uint16 if n_classes <= 2**16 else np.uint32
        self._classes = np.empty((n_leaves, most), dtype=kind)
        self._values = np.empty((n_leaves, most))

    def make(self, found: LeafSums, first: int, last: int) -> None:
        """Make those of some leaves, of which there are sums."""
        prior = self._prior
        ends = np.arange(first, last + 1) * len(prior.scores)
        make_vectors(
            found.places, found.sums, found.rest, np.searchsorted(found.places, ends),
            prior.shares, prior.order, self._limits, self._sizes, self._gains, self._classes,
            self._values, first, last,
        )  # fmt: skip

    def finished(self, rest: NDArray[np.int64]) -> tuple[Leaves, NDArray]:
        """Return the vectors of all leaves, and what they gain."""
        sizes, n_leaves = self._sizes, len(self._sizes)
        starts = np.empty(n_leaves + 1, dtype=np.int64)
        steps = np.empty(int(sizes.sum()), dtype=np.int16)
        covers = np.empty(n_leaves, dtype=np.uint16)
        unit = quantise(sizes, self._values, rest[:, 5].copy(), n_leaves, starts, steps, covers)
        kept = np.arange(self._classes.shape[1]) < sizes[:, None]
        leaves = Leaves(starts, self._classes[kept], steps, np.float32(unit), covers)
        return leaves, self._gains.sum(axis=0)


def leaves_of_sums(
    found: LeafSums, prior: Prior, rules: LeafRules, team: ThreadTeam
) -> tuple[Leaves, NDArray]:
    """Return the vectors of a tree's leaves.

    Parameters
    ----------
    found : LeafSums
        Sums over all samples.
    prior : Prior
        Scores before the first tree.
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
    n_leaves = len(found.rest)
    vectors = _Vectors(n_leaves, prior, rules)

    def work(first: int, last: int) -> None:
        vectors.make(found, first, last)

    team.run(work, n_leaves, grain=1 + _GRAIN // len(prior.scores))
    return vectors.finished(found.rest)


def make_leaves(samples: LeafSamples, rules: LeafRules, team: ThreadTeam) -> tuple[Leaves, NDArray]:
    """Return the vectors of a tree's leaves, whose samples are all in one place.

    With many classes the sums of all leaves would take more memory than the scores, so some
    leaves are made at a time.

    Parameters
    ----------
    samples : LeafSamples
        The samples.
    rules : LeafRules
        How leaf vectors are made.
    team : ThreadTeam
        Threads.

    Returns
    -------
    tuple
        As `leaves_of_sums`.
    """
    vectors, bounds = (
        _Vectors(samples.n_leaves, samples.prior, rules),
        samples.blocks(team.n_threads),
    )

    def work(block: int) -> None:
        first, last = bounds[block : block + 2]
        vectors.make(LeafSums(*samples.add_up(first, last), samples.rest), first, last)

    team.for_each(work, len(bounds) - 1)
    return vectors.finished(samples.rest)
