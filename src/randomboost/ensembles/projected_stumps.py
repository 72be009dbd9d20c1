"""Scores of RBoost-rank with stumps: projection, comparison and weighted sum in one kernel.

For every sample and class the T projected values live in a small buffer only. Sums run in the
order of features and of rounds, exactly as in training, so that scores of training samples are
those of the fit bit for bit, whatever the block of rows or the number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..projections.matrices import GaussianProjection, mixed_rows
from ..runtime.compiling import kernel
from ..runtime.parallel import ThreadTeam
from ..weak_learners.hypotheses import Stumps

_BLOCK_BYTES = 1 << 27  # directions of one block of rounds: at most 128 MB
_ROUNDS = 256  # rounds whose projected values share one buffer


@kernel
def _project_pair(
    first: NDArray, second: NDArray, directions: NDArray, values_1: NDArray, values_2: NDArray
) -> None:
    """Values of two rows along all directions (d, rounds), summed in the order of the features."""
    n_features, n_rounds = directions.shape
    for t in range(n_rounds):
        values_1[t] = 0
        values_2[t] = 0
    j = 0
    while j + 4 <= n_features:
        a0, a1, a2, a3 = first[j], first[j + 1], first[j + 2], first[j + 3]
        b0, b1, b2, b3 = second[j], second[j + 1], second[j + 2], second[j + 3]
        p0, p1 = directions[j], directions[j + 1]
        p2, p3 = directions[j + 2], directions[j + 3]
        for t in range(n_rounds):
            values_1[t] = values_1[t] + a0 * p0[t] + a1 * p1[t] + a2 * p2[t] + a3 * p3[t]
            values_2[t] = values_2[t] + b0 * p0[t] + b1 * p1[t] + b2 * p2[t] + b3 * p3[t]
        j += 4
    while j < n_features:
        a0, b0 = first[j], second[j]
        p0 = directions[j]
        for t in range(n_rounds):
            values_1[t] = values_1[t] + a0 * p0[t]
            values_2[t] = values_2[t] + b0 * p0[t]
        j += 1


@kernel
def _add_scores_dense(
    X: NDArray, directions: NDArray, thresholds: NDArray, left: NDArray, right: NDArray,
    scores: NDArray, start: int, stop: int,
) -> None:  # fmt: skip
    """Add a block of rounds to ``scores[r, start:stop]``; directions are (k, d, rounds).

    Four rows go side by side: every sum has to wait for itself, but not for the others.
    """
    n_classes, _, n_rounds = directions.shape
    values = np.empty((4, n_rounds), directions.dtype)
    for r in range(n_classes):
        for i in range(start, stop, 4):
            last = stop - 1
            i1, i2, i3 = min(i + 1, last), min(i + 2, last), min(i + 3, last)
            _project_pair(X[i], X[i1], directions[r], values[0], values[1])
            if i + 2 < stop:
                _project_pair(X[i2], X[i3], directions[r], values[2], values[3])
            s0, s1, s2, s3 = scores[r, i], scores[r, i1], scores[r, i2], scores[r, i3]
            for t in range(n_rounds):
                limit, low, high = thresholds[t], left[t], right[t]
                s0 += high if values[0, t] > limit else low
                s1 += high if values[1, t] > limit else low
                s2 += high if values[2, t] > limit else low
                s3 += high if values[3, t] > limit else low
            if i + 3 < stop:
                scores[r, i3] = s3
            if i + 2 < stop:
                scores[r, i2] = s2
            if i + 1 < stop:
                scores[r, i1] = s1
            scores[r, i] = s0


@kernel
def _add_scores_sparse(
    data: NDArray, indices: NDArray, indptr: NDArray, directions: NDArray, thresholds: NDArray,
    left: NDArray, right: NDArray, scores: NDArray, start: int, stop: int,
) -> None:  # fmt: skip
    """Do the same for rows of a CSR matrix."""
    n_classes, _, n_rounds = directions.shape
    value = np.empty(n_rounds, directions.dtype)
    for r in range(n_classes):
        for i in range(start, stop):
            for t in range(n_rounds):
                value[t] = 0
            for e in range(indptr[i], indptr[i + 1]):
                x = data[e]
                p = directions[r, indices[e]]
                for t in range(n_rounds):
                    value[t] = value[t] + x * p[t]
            score = scores[r, i]
            for t in range(n_rounds):
                score += right[t] if value[t] > thresholds[t] else left[t]
            scores[r, i] = score


class StumpScorer:
    """Computes ``F_r(x) = sum_t w_t h_t(P^(r) x)`` for stumps.

    The directions of the chosen dimensions are made from the seed once and kept while they are
    small, else made again block by block.

    Parameters
    ----------
    projection : GaussianProjection
        The class-wise matrices.
    stumps : Stumps
        The weak classifiers.
    weights : ndarray of shape (n_rounds,)
        Their weights.
    n_features : int
        Number of features.
    dtype : dtype
        Precision of the data that the model was trained on.
    """

    def __init__(
        self,
        projection: GaussianProjection,
        stumps: Stumps,
        weights: NDArray,
        n_features: int,
        dtype: np.dtype,
    ) -> None:
        self._projection = projection
        self._stumps = stumps
        self._thresholds = stumps.thresholds.astype(dtype)
        self._left = weights * stumps.left
        self._right = weights * stumps.right
        self._n_features = n_features
        self._dtype = dtype
        self._bytes_a_round = projection.n_classes * n_features * dtype.itemsize
        self._rounds = max(1, min(_ROUNDS, _BLOCK_BYTES // self._bytes_a_round))
        self._kept: dict[int, NDArray] = {}

    def _directions(self, start: int) -> NDArray:
        if start in self._kept:
            return self._kept[start]
        columns = self._stumps.columns[start : start + self._rounds].astype(np.int64)
        shape = (0, self._n_features)
        made = self._projection.rows(np.maximum(columns, 0), shape, self._dtype)
        for t in range(start, start + len(columns)):
            mix = self._stumps.combinations.get(t)
            if mix is not None:
                made[:, t - start] = mixed_rows(
                    self._projection, mix.columns, mix.coefficients, self._n_features
                )
        directions = np.ascontiguousarray(made.transpose(0, 2, 1))
        if self._bytes_a_round * len(self._stumps) <= _BLOCK_BYTES:
            self._kept[start] = directions
        return directions

    def scores(self, X: Any, team: ThreadTeam) -> NDArray:
        """Return the scores, shape (n_classes, n_samples).

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
            Scaled data.
        team : ThreadTeam
            Threads.

        Returns
        -------
        ndarray of float64
            The scores.
        """
        n_samples = X.shape[0]
        scores = np.zeros((self._projection.n_classes, n_samples))
        for start in range(0, len(self._stumps), self._rounds):
            directions = self._directions(start)
            part = slice(start, start + directions.shape[2])
            thresholds, left, right = self._thresholds[part], self._left[part], self._right[part]

            def add(
                first: int, last: int, rounds: tuple = (directions, thresholds, left, right)
            ) -> None:
                if sp.issparse(X):
                    _add_scores_sparse(X.data, X.indices, X.indptr, *rounds, scores, first, last)
                else:
                    _add_scores_dense(X, *rounds, scores, first, last)

            team.run(add, n_samples, grain=1 + 1_000_000 // directions.size)
        return scores
