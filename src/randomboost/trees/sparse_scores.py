"""Scores that differ from the prior in few classes.

A sample's score is the prior plus a sum of sparse leaf vectors, so only the classes that some
leaf touched differ from the prior. They are kept as lists (class, score) a sample, in the order
of the classes; softmax and the loss are exact over all classes at the cost of the touched ones.
Where there are few classes the lists hold all of them from the start, which is the dense form.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..runtime.compiling import kernel
from ..runtime.parallel import ThreadTeam

DENSE = 64  # number of classes up to which every sample has the scores of all from the start
_GROWTH = 1.5  # by which the room for touched classes grows
_LOG2_E, _LN2_HIGH, _LN2_LOW = (
    np.float32(1.44269504),
    np.float32(0.693359375),
    np.float32(-2.12194440e-4),
)
_ROOT_HALF = np.float32(0.70710678)
_LEAST_EXPONENT = np.float32(-87.0)
_ROUNDING = 1e-6  # by which the logarithm of a sum of shares in single precision may differ from 0


@kernel
def exponential(x: np.float32) -> np.float32:
    """``exp(x)`` for x <= 0 in single precision, by operations that are the same everywhere."""
    x = max(x, _LEAST_EXPONENT)
    whole = np.float32(math.floor(x * _LOG2_E + np.float32(0.5)))
    f = x - whole * _LN2_HIGH
    f = f - whole * _LN2_LOW
    y = np.float32(1.9875691500e-4)
    y = y * f + np.float32(1.3981999507e-3)
    y = y * f + np.float32(8.3334519073e-3)
    y = y * f + np.float32(4.1665795894e-2)
    y = y * f + np.float32(1.6666665459e-1)
    y = y * f + np.float32(5.0000001201e-1)
    y = y * f * f + f + np.float32(1.0)
    return y * np.int32((np.int32(whole) + 127) << 23).view(np.float32)


@kernel
def logarithm(x: np.float32) -> np.float32:
    """``log(x)`` for positive normal x in single precision, likewise."""
    bits = np.float32(x).view(np.int32)
    exponent = np.float32((bits >> 23) - 126)
    f = np.int32((bits & 0x7FFFFF) | 0x3F000000).view(np.float32)
    small = f < _ROOT_HALF
    exponent -= np.float32(1) if small else np.float32(0)
    f = (f + f if small else f) - np.float32(1)
    square = f * f
    y = np.float32(7.0376836292e-2)
    y = y * f - np.float32(1.1514610310e-1)
    y = y * f + np.float32(1.1676998740e-1)
    y = y * f - np.float32(1.2420140846e-1)
    y = y * f + np.float32(1.4249322787e-1)
    y = y * f - np.float32(1.6668057665e-1)
    y = y * f + np.float32(2.0000714765e-1)
    y = y * f - np.float32(2.4999993993e-1)
    y = y * f + np.float32(3.3333331174e-1)
    y = y * f * square
    y += exponent * _LN2_LOW
    y -= np.float32(0.5) * square
    return f + y + exponent * _LN2_HIGH


class Prior(NamedTuple):
    """Scores of the classes before the first tree.

    Parameters
    ----------
    scores : ndarray of float32 of shape (n_classes,)
        Logarithms of the shares of the classes.
    shares : ndarray of float32
        ``exp(scores)``.
    order : ndarray of int64
        The classes by falling share.
    """

    scores: NDArray[np.float32]
    shares: NDArray[np.float32]
    order: NDArray[np.int64]

    def tempered(self, scale: float) -> tuple[NDArray[np.float32], float]:
        """Return the shares of ``softmax(scale * scores)``, and the logarithm of their divisor."""
        if scale == 1.0:
            return self.shares, 0.0
        exact = scale * self.scores.astype(np.float64)
        divisor = exact.max() + math.log(np.exp(exact - exact.max()).sum())
        return np.exp(exact - divisor).astype(np.float32), divisor


def make_prior(scores: NDArray) -> Prior:
    """Return a prior with given scores.

    Parameters
    ----------
    scores : ndarray of shape (n_classes,)
        Scores before the first tree.

    Returns
    -------
    Prior
        The prior, its shares adding up to 1. From its scores the same prior is made again.
    """
    exact = scores.astype(np.float64)
    total = exact.max() + math.log(np.exp(exact - exact.max()).sum())
    if abs(total) > _ROUNDING:
        exact -= total
    rounded = exact.astype(np.float32)
    shares = np.exp(rounded.astype(np.float64))
    order = np.argsort(-rounded, kind="stable")
    return Prior(rounded, (shares / shares.sum()).astype(np.float32), order)


class SparseScores:
    """Scores of samples: the classes that differ from the prior, in rising order.

    Parameters
    ----------
    prior : Prior
        The scores of all other classes.
    n_samples : int
        Number of samples.
    begin : ndarray of float32 of shape (n_samples, n_classes) or None
        What is added to the prior, with at most `DENSE` classes.
    """

    def __init__(
        self, prior: Prior, n_samples: int, begin: NDArray[np.float32] | None = None
    ) -> None:
        self.prior = prior
        n_classes = len(prior.scores)
        kind = np.uint16 if n_classes <= 2**16 else np.uint32
        dense = n_classes <= DENSE
        self.counts = np.full(n_samples, n_classes if dense else 0, dtype=np.int32)
        room = n_classes if dense else min(n_classes, DENSE)
        self.classes = np.empty((n_samples, room), dtype=kind)
        self.values = np.empty((n_samples, room), dtype=np.float32)
        if dense:
            self.classes[:] = np.arange(n_classes)
            self.values[:] = prior.scores
        if begin is not None:
            self.values += begin

    def add(
        self, leaves: NDArray, starts: NDArray, classes: NDArray, values: NDArray, team: ThreadTeam
    ) -> None:
        """Add a leaf's vector to every sample.

        Parameters
        ----------
        leaves : ndarray of int32 of shape (n_samples,)
            Number of every sample's leaf.
        starts : ndarray of int64
            Where the classes of every leaf begin; the last entry is their end.
        classes, values : ndarray
            Classes of the leaves, rising in every leaf, and what is added to their scores.
        team : ThreadTeam
            Threads.
        """
        values = values.astype(np.float32, copy=False)
        needed = np.zeros(len(leaves), dtype=np.int32)
        n_classes = len(self.prior.scores)

        def count(first: int, last: int) -> None:
            _count_touched(
                self.classes, self.counts, n_classes, leaves, starts, classes, needed, first, last
            )

        if self.classes.shape[1] < n_classes:
            team.run(count, len(leaves), grain=256)
            if len(needed) and needed.max() > self.classes.shape[1]:
                self._enlarge(int(needed.max()))

        def merge(first: int, last: int) -> None:
            _merge(
                self.classes, self.values, self.counts, self.prior.scores, leaves, starts, classes,
                values, first, last,
            )  # fmt: skip

        team.run(merge, len(leaves), grain=256)

    def _enlarge(self, needed: int) -> None:
        """Make room for more touched classes."""
        n_classes = len(self.prior.scores)
        room = min(n_classes, max(needed, int(_GROWTH * self.classes.shape[1])))
        for name in ("classes", "values"):
            old = getattr(self, name)
            new = np.empty((len(old), room), dtype=old.dtype)
            new[:, : old.shape[1]] = old
            setattr(self, name, new)

    def best(self, team: ThreadTeam) -> NDArray[np.int64]:
        """Return the class with the largest score of every sample."""
        out = np.empty(len(self.counts), dtype=np.int64)

        def work(first: int, last: int) -> None:
            _find_best(
                self.classes, self.values, self.counts, self.prior.scores, self.prior.order, out,
                first, last,
            )  # fmt: skip

        team.run(work, len(out), grain=1024)
        return out

    def dense(self) -> NDArray[np.float32]:
        """Return the scores of all classes, shape (n_classes, n_samples)."""
        out = np.repeat(self.prior.scores[None, :], len(self.counts), axis=0)
        for i, n in enumerate(self.counts):
            out[i, self.classes[i, :n]] = self.values[i, :n]
        return np.ascontiguousarray(out.T)


@kernel
def _count_touched(
    classes: NDArray, counts: NDArray, n_classes: int, leaves: NDArray, starts: NDArray,
    new: NDArray, needed: NDArray, first: int, last: int,
) -> None:  # fmt: skip
    """Count the touched classes of samples when their leaf is added."""
    for i in range(first, last):
        begin, end = starts[leaves[i]], starts[leaves[i] + 1]
        n = counts[i]
        if n == n_classes:
            needed[i] = n
            continue
        mine = classes[i]
        both = 0
        a = 0
        for e in range(begin, end):
            r = new[e]
            while a < n and mine[a] < r:
                a += 1
            both += a < n and mine[a] == r
        needed[i] = n + end - begin - both


@kernel
def _add_to_known(
    mine: NDArray, scores: NDArray, n: int, new: NDArray, amounts: NDArray, begin: int, end: int
) -> bool:
    """Add a leaf to the classes that a sample has already; return whether there are others."""
    missing = False
    a = 0
    for e in range(begin, end):
        while a < n and mine[a] < new[e]:
            a += 1
        if a < n and mine[a] == new[e]:
            scores[a] += amounts[e]
        else:
            missing = True
    return missing


@kernel
def _insert(
    mine: NDArray, scores: NDArray, n: int, new: NDArray, amounts: NDArray, begin: int, end: int,
    prior: NDArray, room_r: NDArray, room_v: NDArray,
) -> int:  # fmt: skip
    """Insert the classes of a leaf that a sample does not have yet; return how many it has now."""
    a = 0
    n_out = 0
    e = begin
    while a < n or e < end:
        if e == end or (a < n and mine[a] <= new[e]):
            e += e < end and mine[a] == new[e]
            room_r[n_out], room_v[n_out] = mine[a], scores[a]
            a += 1
        else:
            room_r[n_out], room_v[n_out] = new[e], prior[new[e]] + amounts[e]
            e += 1
        n_out += 1
    for e in range(n_out):
        mine[e], scores[e] = room_r[e], room_v[e]
    return n_out


@kernel
def _merge(
    classes: NDArray, values: NDArray, counts: NDArray, prior: NDArray, leaves: NDArray,
    starts: NDArray, new: NDArray, amounts: NDArray, first: int, last: int,
) -> None:  # fmt: skip
    """Add the vectors of leaves to the lists of samples."""
    room_r = np.empty(classes.shape[1], classes.dtype)
    room_v = np.empty(classes.shape[1], np.float32)
    for i in range(first, last):
        begin, end = starts[leaves[i]], starts[leaves[i] + 1]
        mine, scores, n = classes[i], values[i], counts[i]
        if n == len(prior):
            for e in range(begin, end):
                scores[new[e]] += amounts[e]
        elif _add_to_known(mine, scores, n, new, amounts, begin, end):
            counts[i] = _insert(mine, scores, n, new, amounts, begin, end, prior, room_r, room_v)


@kernel
def _find_best(
    classes: NDArray, values: NDArray, counts: NDArray, prior: NDArray, order: NDArray,
    out: NDArray, first: int, last: int,
) -> None:  # fmt: skip
    """Class of the largest score; the lowest class number where several have it."""
    for i in range(first, last):
        best = np.int64(-1)
        top = np.float32(-np.inf)
        for e in range(counts[i]):
            if values[i, e] > top:
                top = values[i, e]
                best = np.int64(classes[i, e])
        if counts[i] < len(prior):
            for e in range(len(order)):
                r = order[e]
                if prior[r] < top:
                    break
                low, high = 0, counts[i]
                while low < high:
                    middle = (low + high) // 2
                    if classes[i, middle] < r:
                        low = middle + 1
                    else:
                        high = middle
                touched = low < counts[i] and classes[i, low] == r
                if not touched and (prior[r] > top or r < best):
                    top = prior[r]
                    best = r
        out[i] = best


@kernel(fastmath={"reassoc"})
def softmax_row(
    classes: NDArray, values: NDArray, n: int, shares: NDArray, top_prior: np.float32,
    powers: NDArray,
) -> tuple[np.float32, np.float32, np.float32]:  # fmt: skip
    """Fill in ``exp(F - peak)`` of the touched classes.

    Returns
    -------
    tuple of float
        The peak, the sum over all classes, and ``exp(-peak)``, or 0 where all classes are
        touched: an untouched class r has ``shares[r] * exp(-peak)``.
    """
    peak = top_prior
    for e in range(n):
        peak = max(peak, values[e])
    total = np.float32(0)
    for e in range(n):
        power = exponential(values[e] - peak)
        powers[e] = power
        total += power
    if n == len(shares):
        return peak, total, np.float32(0)
    touched = 0.0
    for e in range(n):
        touched += shares[classes[e]]
    others = np.float32(max(1.0 - touched, 0.0))
    scale = np.float32(math.exp(-peak))
    return peak, total + others * scale, scale


@kernel
def _add_losses(
    classes: NDArray, values: NDArray, counts: NDArray, y: NDArray, prior_scores: NDArray,
    shares: NDArray, top_prior: np.float32, losses: NDArray, first: int, last: int,
) -> None:  # fmt: skip
    """Cross-entropy of samples."""
    powers = np.empty(classes.shape[1], np.float32)
    for i in range(first, last):
        n = counts[i]
        peak, total, _ = softmax_row(classes[i], values[i], n, shares, top_prior, powers)
        own = prior_scores[y[i]]
        for e in range(n):
            if classes[i, e] == y[i]:
                own = values[i, e]
        losses[i] = math.log(total) + peak - own


def cross_entropy(
    scores: SparseScores, y: NDArray[np.int64], weight: NDArray, team: ThreadTeam
) -> float:
    """Return the mean cross-entropy of scores.

    Parameters
    ----------
    scores : SparseScores
        The scores.
    y : ndarray of int64
        Class numbers.
    weight : ndarray
        Weights of the samples.
    team : ThreadTeam
        Threads.

    Returns
    -------
    float
        The weighted mean.
    """
    losses = np.empty(len(y))
    prior = scores.prior
    top = prior.scores.max()

    def work(first: int, last: int) -> None:
        _add_losses(
            scores.classes, scores.values, scores.counts, y, prior.scores, prior.shares, top,
            losses, first, last,
        )  # fmt: skip

    team.run(work, len(y), grain=256)
    return float(np.average(losses, weights=weight))
