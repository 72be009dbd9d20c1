"""Sketches of gradients: what the trees of a round see of the loss.

The gradients of softmax, one a class, are multiplied by a fresh random matrix of few columns. With
sparse scores (see `sparse_scores`) that costs as much as the touched classes, and is exact.
"""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import helmert

from ..runtime.compiling import kernel
from ..runtime.parallel import ThreadTeam
from ..runtime.random_stream import SKETCH_STREAM, normals
from .lanes import COUNT, CURVATURE, FIRST, MOST_SKETCHES
from .sparse_scores import DENSE, SparseScores, exponential, logarithm, softmax_row

_LARGEST = 30  # sums of absolute values stay below two to this power
_LEAST_TRACE = np.float32(1e-6)  # of the hessian of a sample
SIZE_UNITS = 2.0**24  # sums of absolute sketches are whole numbers of 1 / SIZE_UNITS
_LEAST_SHARE = np.float32(1e-37)  # that the logarithm of a probability is taken of
_BLOCK = 64  # samples of a block
LOSS_UNITS = 2.0**28  # and those of losses of 1 / LOSS_UNITS


@kernel
def _sketch(
    classes: NDArray, values: NDArray, counts: NDArray, y: NDArray, weight: NDArray,
    shares: NDArray, top_prior: np.float32, matrix: NDArray, offset: NDArray, square: np.float32,
    normalisers: NDArray, gradients: NDArray, curvatures: NDArray, losses: NDArray, first: int,
    last: int,
) -> None:  # fmt: skip
    """Softmax, sketched gradients, curvature and loss of samples.

    ``offset`` is the sum of ``shares[r] * matrix[r]`` and ``square`` that of the squared shares.
    """
    q = matrix.shape[1]
    powers = np.empty(classes.shape[1], np.float32)
    sums = np.empty(q, np.float32)
    for i in range(first, last):
        n = counts[i]
        mine, true = classes[i], y[i]
        peak, total, scale = softmax_row(mine, values[i], n, shares, top_prior, powers)
        normalisers[i, 0], normalisers[i, 1], normalisers[i, 2] = peak, total, scale
        own = shares[true] * scale
        squares = square * scale * scale
        for j in range(q):
            sums[j] = offset[j] * scale
        for e in range(n):
            r = mine[e]
            p = powers[e]
            base = shares[r] * scale
            if r == true:
                own = p
            squares += p * p - base * base
            step = p - base
            for j in range(q):
                sums[j] += step * matrix[r, j]
        inverse = np.float32(1) / total
        for j in range(q):
            gradients[i, j] = weight[i] * (sums[j] * inverse - matrix[true, j])
        p = min(own * inverse, np.float32(1))
        losses[i] = -math.log(max(p, np.float32(1e-37))) * weight[i]
        trace = np.float32(1) - squares * inverse * inverse
        curvatures[i] = weight[i] * max(trace, _LEAST_TRACE)


@kernel(inline="always")
def _softmax_block(scores: NDArray, n: int, totals: NDArray) -> None:
    """Make probabilities of the scores (class, sample) of a block of samples.

    All inner loops are over samples: they are vectorised, and the sums of a sample are in the
    order of the classes.
    """
    for i in range(n):
        totals[i] = scores[0, i]
    for r in range(1, len(scores)):
        for i in range(n):
            totals[i] = max(totals[i], scores[r, i])
    for r in range(len(scores)):
        mine = scores[r]
        for i in range(n):
            mine[i] = exponential(mine[i] - totals[i])
    totals[:] = 0
    for r in range(len(scores)):
        for i in range(n):
            totals[i] += scores[r, i]
    for r in range(len(scores)):
        for i in range(n):
            scores[r, i] /= totals[i]


@kernel(inline="always")
def _project_block(
    shares: NDArray, n: int, matrix: NDArray, own: NDArray, squares: NDArray, sums: NDArray
) -> None:
    """Sketch the gradients of a block of samples with given probabilities (class, sample)."""
    k, q = matrix.shape
    for i in range(n):
        squares[i] = 0
        for j in range(q):
            sums[j, i] = -matrix[own[i], j]
    for r in range(k):
        mine = shares[r]
        for i in range(n):
            squares[i] += mine[i] * mine[i]
        for j in range(q):
            factor, target = matrix[r, j], sums[j]
            for i in range(n):
                target[i] += factor * mine[i]


@kernel
def sketch_dense(
    values: NDArray, y: NDArray, weight: NDArray, matrix: NDArray, probabilities: NDArray,
    gradients: NDArray, curvatures: NDArray, losses: NDArray, first: int, last: int,
) -> None:  # fmt: skip
    """Do what `_sketch` does for samples that have the scores of all classes, in blocks."""
    k, q = matrix.shape
    scores, sums = np.empty((k, _BLOCK), np.float32), np.empty((q, _BLOCK), np.float32)
    totals, squares = np.empty(_BLOCK, np.float32), np.empty(_BLOCK, np.float32)
    for begin in range(first, last, _BLOCK):
        n = min(_BLOCK, last - begin)
        own = y[begin : begin + n]
        for i in range(n):
            for r in range(k):
                scores[r, i] = values[begin + i, r]
        _softmax_block(scores, n, totals)
        _project_block(scores, n, matrix, own, squares, sums)
        for i in range(n):
            row, share = begin + i, weight[begin + i]
            for r in range(k):
                probabilities[row, r] = scores[r, i]
            for j in range(q):
                gradients[row, j] = share * sums[j, i]
            totals[i] = min(max(scores[own[i], i], _LEAST_SHARE), np.float32(1))
            curvatures[row] = share * max(np.float32(1) - squares[i], _LEAST_TRACE)
        for i in range(n):
            losses[begin + i] = -logarithm(totals[i]) * weight[begin + i]


class Sketches(NamedTuple):
    """What trees see of the loss in one round.

    Parameters
    ----------
    gradients : ndarray of float32 of shape (n_samples, n_sketches)
        Sketched gradients.
    curvatures : ndarray of float32 of shape (n_samples,)
        Trace of the hessian of every sample.
    losses : ndarray of float32 of shape (n_samples,)
        Weighted cross-entropy of every sample.
    normalisers : ndarray of float32 of shape (n_samples, 3)
        Largest score, sum of ``exp(F - largest)``, and ``exp(-largest)``; the last one is 0 where
        all classes are touched. None of them is filled in if there are probabilities.
    probabilities : ndarray of float32 of shape (n_samples, n_classes)
        Those of all classes, where samples have the scores of all; else it has no rows.
    """

    gradients: NDArray[np.float32]
    curvatures: NDArray[np.float32]
    losses: NDArray[np.float32]
    normalisers: NDArray[np.float32]
    probabilities: NDArray[np.float32]

    @classmethod
    def empty(cls, n_samples: int, n_sketches: int, n_classes: int) -> Sketches:
        """Return sketches that are to be filled in."""
        m, dense = n_samples, n_classes <= DENSE
        return cls(
            np.empty((m, n_sketches), dtype=np.float32),
            np.empty(m, dtype=np.float32),
            np.empty(m, dtype=np.float32),
            np.empty((0 if dense else m, 3), dtype=np.float32),
            np.empty((m if dense else 0, n_classes), dtype=np.float32),
        )


@cache
def _zero_sum_basis(n_classes: int) -> NDArray[np.float32]:
    """Return Helmert's basis of the vectors whose entries sum to 0."""
    return helmert(n_classes).T.astype(np.float32, order="C")


def n_used(n_sketches: int, n_classes: int) -> int:
    """Return how many sketches are used: at most one less than there are classes, and 62.

    Parameters
    ----------
    n_sketches, n_classes : int
        The number asked for, and the number of classes.

    Returns
    -------
    int
        At least 1.
    """
    return max(1, min(n_sketches, n_classes - 1, MOST_SKETCHES))


def sketch_matrix(key: int, n_classes: int, n_sketches: int) -> NDArray[np.float32]:
    """Return the random matrix that sketches the gradients of a round.

    Parameters
    ----------
    key : int
        Seed of the round.
    n_classes, n_sketches : int
        Its shape.

    Returns
    -------
    ndarray of float32 of shape (n_classes, at most n_sketches)
        Normal numbers of variance ``1 / n_sketches``; where there are enough sketches, an
        orthonormal basis of the vectors whose entries sum to 0, as those of gradients do.
    """
    if n_sketches >= n_classes - 1:
        return _zero_sum_basis(n_classes)
    rows = np.arange(n_classes)
    scale = 1.0 / math.sqrt(n_sketches)
    drawn = normals(key, SKETCH_STREAM, 1, rows, (0, n_sketches), scale=scale)
    return drawn[0].astype(np.float32)


def sketch(
    scores: SparseScores,
    y: NDArray[np.int64],
    weight: NDArray[np.float32],
    matrix: NDArray[np.float32],
    team: ThreadTeam,
) -> Sketches:
    """Return sketched gradients of the cross-entropy, and what else a round needs.

    Parameters
    ----------
    scores : SparseScores
        The scores.
    y : ndarray of int64
        Class numbers.
    weight : ndarray of float32
        Weights of the samples.
    matrix : ndarray of float32 of shape (n_classes, n_sketches)
        The sketching matrix.
    team : ThreadTeam
        Threads.

    Returns
    -------
    Sketches
        Arrays by sample.
    """
    prior, m = scores.prior, len(y)
    matrix = np.ascontiguousarray(matrix)
    # BLAS would sum as its threads are, and limiting them takes long
    offset = (prior.shares.astype(np.float64)[:, None] * matrix).sum(axis=0).astype(np.float32)
    square = np.float32((prior.shares.astype(np.float64) ** 2).sum())
    out = Sketches.empty(m, matrix.shape[1], len(prior.scores))
    top = prior.scores.max()

    def work(first: int, last: int) -> None:
        if len(out.probabilities):
            sketch_dense(
                scores.values, y, weight, matrix, out.probabilities, out.gradients,
                out.curvatures, out.losses, first, last,
            )  # fmt: skip
            return
        _sketch(
            scores.classes, scores.values, scores.counts, y, weight, prior.shares,
            top, matrix, offset, square, out.normalisers, out.gradients,
            out.curvatures, out.losses, first, last,
        )  # fmt: skip

    team.run(work, m, grain=256)
    return out


@kernel
def add_sizes(
    gradients: NDArray, curvatures: NDArray, rows: NDArray, first: int, last: int, sums: NDArray
) -> None:
    """Add up the absolute sketches and the curvatures of some samples, rounded up."""
    q = gradients.shape[1]
    scale = np.float32(SIZE_UNITS)
    for e in range(first, last):
        i = rows[e]
        sums[q] += np.int64(curvatures[i] * scale) + 1
        for j in range(q):
            sums[j] += np.int64(abs(gradients[i, j]) * scale) + 1


@kernel
def sum_losses(losses: NDArray, first: int, last: int) -> np.int64:
    """Sum of losses, in units."""
    total = np.int64(0)
    for i in range(first, last):
        total += np.int64(np.rint(np.float64(losses[i]) * LOSS_UNITS))
    return total


def total_loss(sketches: Sketches, team: ThreadTeam) -> int:
    """Return the sum of the losses of all samples, in units of ``1 / LOSS_UNITS``.

    Parameters
    ----------
    sketches : Sketches
        Sketches of the samples.
    team : ThreadTeam
        Threads.

    Returns
    -------
    int
        The sum.
    """
    parts = []

    def work(first: int, last: int) -> None:
        parts.append(int(sum_losses(sketches.losses, first, last)))

    team.run(work, len(sketches.losses), grain=1 << 15)
    return sum(parts)


def total_sizes(
    sketches: Sketches, rows: NDArray[np.uint32], team: ThreadTeam
) -> NDArray[np.int64]:
    """Return the sums of the absolute sketches and of the curvatures of some samples.

    Parameters
    ----------
    sketches : Sketches
        Sketches of all samples.
    rows : ndarray of uint32
        The samples to take.
    team : ThreadTeam
        Threads.

    Returns
    -------
    ndarray of int64 of shape (n_sketches + 1,)
        The sums, for `find_units`.
    """
    parts = []

    def work(first: int, last: int) -> None:
        sums = np.zeros(sketches.gradients.shape[1] + 1, dtype=np.int64)
        add_sizes(sketches.gradients, sketches.curvatures, rows, first, last, sums)
        parts.append(sums)

    team.run(work, len(rows), grain=4096)
    return np.sum(parts, axis=0) if parts else np.zeros(sketches.gradients.shape[1] + 1, np.int64)


@kernel
def size_unit(size: int) -> float:
    """Return the power of two in which sums of so large absolute values stay below 2**31."""
    return math.ldexp(1.0, math.frexp(1.5 * size / SIZE_UNITS)[1] - _LARGEST)


def find_units(sizes: NDArray[np.int64]) -> tuple[float, float]:
    """Return units in which all sums stay below 2**31.

    Parameters
    ----------
    sizes : ndarray of int64 of shape (n_sketches + 1,)
        What `total_sizes` returned, added up over all parts of the samples.

    Returns
    -------
    tuple of float
        Powers of two: what one unit of the sketches and one of the curvatures stands for.
    """
    return size_unit(int(sizes[:-1].max())), size_unit(int(sizes[-1]))


@kernel
def pack_rows(
    gradients: NDArray, curvatures: NDArray, rows: NDArray, factor_g: float, factor_h: float,
    words: NDArray, first: int, last: int,
) -> None:  # fmt: skip
    """Round the sketches of some samples to whole numbers."""
    q = gradients.shape[1]
    for e in range(first, last):
        i = rows[e]
        words[e, CURVATURE] = np.int32(np.rint(curvatures[i] * factor_h))
        words[e, COUNT] = 1
        for j in range(q):
            words[e, FIRST + j] = np.int32(np.rint(gradients[i, j] * factor_g))
        for lane in range(FIRST + q, words.shape[1]):
            words[e, lane] = 0


def pack_sketches(
    sketches: Sketches,
    rows: NDArray[np.uint32],
    units: tuple[float, float],
    words: NDArray[np.int32],
    team: ThreadTeam,
) -> None:
    """Round sketches to whole numbers.

    Parameters
    ----------
    sketches : Sketches
        Sketches of all samples.
    rows : ndarray of uint32
        The samples to take.
    units : tuple of float
        Units of the sketches and of the curvatures, see `find_units`.
    words : ndarray of int32 of shape (len(rows), n_lanes)
        Filled in; see `growth.grow_sketched_tree`.
    team : ThreadTeam
        Threads.
    """
    factor_g, factor_h = 1.0 / units[0], 1.0 / units[1]

    def work(first: int, last: int) -> None:
        pack_rows(
            sketches.gradients, sketches.curvatures, rows, factor_g, factor_h, words, first, last
        )

    team.run(work, len(rows), grain=4096)
