"""Point sets: what a weak learner is trained on, as columns of values over points.

A *point* is a pair (class r, sample i) for RBoost-rank, with the values ``P^(r) x_i`` in the n
projected dimensions, and simply a sample for methods that work on the features themselves.
Signed weights over classes and samples are folded onto points before a search, and outputs on
points are unfolded back.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import block_diag

from ..preprocessing.merging import distinct_rows
from ..runtime.compiling import kernel
from ..runtime.parallel import ThreadTeam
from .matrices import GaussianProjection, mixed_rows

_FEW_VALUES = 100_000  # below this a second thread does not pay


@kernel
def project_row(features: NDArray, direction: NDArray, out: NDArray) -> None:
    """``out[i] = direction . x_i`` for features (d, m), summed in the order of the features.

    Prediction sums in the same order, so that both see the same bits.
    """
    n_features, n_samples = features.shape
    for i in range(n_samples):
        out[i] = 0
    j = 0
    while j + 4 <= n_features:
        p0, p1, p2, p3 = direction[j], direction[j + 1], direction[j + 2], direction[j + 3]
        x0, x1, x2, x3 = features[j], features[j + 1], features[j + 2], features[j + 3]
        for i in range(n_samples):
            out[i] = out[i] + p0 * x0[i] + p1 * x1[i] + p2 * x2[i] + p3 * x3[i]
        j += 4
    while j < n_features:
        p0 = direction[j]
        x0 = features[j]
        for i in range(n_samples):
            out[i] = out[i] + p0 * x0[i]
        j += 1


@kernel
def _project_dense(features: NDArray, directions: NDArray, out: NDArray) -> None:
    """``out[q, i] = directions[q] . x_i``."""
    for q in range(directions.shape[0]):
        project_row(features, directions[q], out[q])


@kernel
def _project_sparse(
    data: NDArray, indices: NDArray, indptr: NDArray, directions: NDArray, out: NDArray
) -> None:
    """Project the rows of a CSR matrix; skipping zeros does not change the bits of a sum."""
    for q in range(directions.shape[0]):
        direction = directions[q]
        for i in range(len(indptr) - 1):
            out[q, i] = 0
            for e in range(indptr[i], indptr[i + 1]):
                out[q, i] += data[e] * direction[indices[e]]


def project(features: Any, directions: NDArray, team: ThreadTeam | None = None) -> NDArray:
    """Project samples on directions, bit for bit as prediction does.

    Parameters
    ----------
    features : ndarray of shape (n_features, n_samples) or CSR matrix of (n_samples, n_features)
        The samples.
    directions : ndarray of shape (n_directions, n_features)
        The directions.
    team : ThreadTeam or None
        Threads.

    Returns
    -------
    ndarray of shape (n_directions, n_samples)
        The values.
    """
    directions = np.ascontiguousarray(directions)
    dtype = np.result_type(features.dtype, directions.dtype)
    sparse = sp.issparse(features)
    out = np.empty((len(directions), features.shape[0 if sparse else 1]), dtype=dtype)

    def work(start: int, stop: int) -> None:
        rows = directions[start:stop], out[start:stop]
        if sparse:
            _project_sparse(features.data, features.indices, features.indptr, *rows)
        else:
            _project_dense(features, *rows)

    if team is None:
        work(0, len(directions))
    else:
        team.run(work, len(directions), grain=1 + _FEW_VALUES // max(1, out.shape[1]))
    return out


def _moments(values: NDArray, weights: NDArray) -> tuple[NDArray, NDArray]:
    """Return the weighted mean and covariance of the rows of `values`."""
    weights = weights / weights.sum()
    mean = values @ weights
    centred = values - mean[:, None]
    return mean, (centred * weights) @ centred.T


class ProjectedPoints:
    """The k m points ``P^(r) x_i``, equal samples merged into one.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        Scaled data.
    projection : GaussianProjection
        The class-wise matrices.
    merge : bool
        Merge equal samples: their projections are equal in every dimension, so no threshold
        separates them.
    """

    def __init__(self, X: Any, projection: GaussianProjection, *, merge: bool = True) -> None:
        self.projection = projection
        self.dtype = X.dtype
        self.n_samples, self.n_features = X.shape
        self._merged = distinct_rows(X) if merge else None
        if self._merged is not None:
            X = X[self._merged[0]]
        self._zero_rows = np.flatnonzero(abs(X).sum(axis=1) == 0)
        self.features = X if sp.issparse(X) else np.ascontiguousarray(X.T)
        self.n_points = projection.n_classes * X.shape[0]
        self.n_columns = projection.n_projections
        self._last_column: tuple[int, NDArray] = -1, np.empty(0)

    def in_single_precision(self) -> ProjectedPoints:
        """Return the same points with dense features in single precision, for approximate searches.

        Sparse features, and values out of the range of single precision, are left as they are.
        """
        if sp.issparse(self.features) or self.dtype == np.float32:
            return self
        if not 1e-20 < np.abs(self.features).max(initial=0.0) < 1e20:
            return self
        rough = copy(self)
        rough.dtype = np.dtype(np.float32)
        rough.features = self.features.astype(np.float32)
        rough._last_column = -1, np.empty(0)
        return rough

    def directions(self, indices: NDArray[np.int64]) -> NDArray:
        """Return the rows of all matrices, shape (n_classes, len(indices), n_features)."""
        return self.projection.rows(indices, (0, self.n_features), self.dtype)

    def block(self, indices: NDArray[np.int64]) -> NDArray:
        """Return the values of several dimensions by BLAS, shape (len(indices), n_points).

        Rounding differs from `column` in the last bits.
        """
        rows = self.directions(indices).transpose(1, 0, 2).reshape(-1, self.n_features)
        if sp.issparse(self.features):
            values = np.ascontiguousarray((self.features @ rows.T).T)
        else:
            values = rows @ self.features
        return values.reshape(len(indices), self.n_points)

    def column(self, index: int, team: ThreadTeam | None = None) -> NDArray:
        """Return the values of one dimension, shape (n_points,), bit for bit as prediction.

        The last column is cached: a round uses its winner several times.
        """
        last, values = self._last_column
        if last != index:
            values = project(self.features, self.directions(np.array([index]))[:, 0], team)
            values = values.reshape(-1)
            self._last_column = index, values
        return values

    def along(self, directions: NDArray) -> NDArray:
        """Return the values along one direction per class, shape (n_points,)."""
        return project(self.features, directions).reshape(-1)

    def combine(self, columns: NDArray[np.int64], coefficients: NDArray) -> NDArray:
        """Return the directions of a linear combination, shape (n_classes, n_features)."""
        mixed = mixed_rows(self.projection, columns, coefficients, self.n_features)
        return mixed.astype(self.dtype)

    def basis(self, columns: NDArray[np.int64]) -> NDArray | None:
        """Return B with values ``B z`` in some columns, if z is shorter than the values.

        z has the features at the place of the class of the point and 0 elsewhere.
        """
        length = self.max_rank(columns)
        if sp.issparse(self.features) or length == len(columns):
            return None
        rows = self.projection.rows(columns, (0, self.n_features), np.float64)
        return rows.transpose(1, 0, 2).reshape(len(columns), length)

    def max_rank(self, columns: NDArray[np.int64]) -> int:
        """Return the maximum rank of the values in some columns."""
        return min(len(columns), self.projection.n_classes * self.n_features)

    def _class_moments(self, weights: NDArray) -> tuple[NDArray, NDArray]:
        """Return the contributions of every class to the weighted means of x and of x x'."""
        weights = weights.reshape(self.projection.n_classes, -1) / weights.sum()
        squares = np.stack([(self.features * weight) @ self.features.T for weight in weights])
        return weights @ self.features.T, squares

    def basis_moments(self, weights: NDArray) -> tuple[NDArray, NDArray]:
        """Return weighted mean and covariance of the z of `basis`, for weights >= 0."""
        means, squares = self._class_moments(weights)
        mean = means.ravel()
        return mean, block_diag(*squares) - np.outer(mean, mean)

    def moments(self, weights: NDArray, columns: NDArray[np.int64]) -> tuple[NDArray, NDArray]:
        """Return weighted mean and covariance of some columns, for weights >= 0.

        Computed from the k moment matrices of the features if that is less work than from the
        projected values: k (D d^2 + D^2 d) instead of D^2 k m.
        """
        sparse = sp.issparse(self.features)
        if sparse or self.n_features * (self.n_features + len(columns)) > len(columns) * (
            self.n_points // self.projection.n_classes
        ):
            return _moments(self.block(columns), weights)
        means, squares = self._class_moments(weights)
        rows = self.projection.rows(columns, (0, self.n_features), np.float64)
        mean = np.einsum("rvj,rj->v", rows, means)
        square = np.zeros((len(columns), len(columns)))
        for row, own in zip(rows, squares, strict=True):
            square += row @ own @ row.T
        return mean, square - np.outer(mean, mean)

    def fold(self, weights: NDArray) -> NDArray:
        """Sum (n_classes, n_samples) weights over merged samples, shape (n_points,).

        A sample of zeros is at 0 for every class, so its weights are summed up on one point.
        """
        if self._merged is not None:
            distinct, inverse = len(self._merged[0]), self._merged[1]
            weights = np.stack([np.bincount(inverse, row, distinct) for row in weights])
        if len(self._zero_rows):
            weights = weights.copy()
            together = weights[:, self._zero_rows].sum(axis=0)
            weights[:, self._zero_rows] = 0.0
            weights[0, self._zero_rows] = together
        return weights.reshape(-1)

    def unfold(self, outputs: NDArray) -> NDArray:
        """Expand (n_points,) outputs to all samples, shape (n_classes, n_samples)."""
        outputs = outputs.reshape(self.projection.n_classes, -1)
        return outputs if self._merged is None else outputs[:, self._merged[1]]


class FeaturePoints:
    """The samples themselves: one point per sample, one column per feature.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Scaled data.
    """

    def __init__(self, X: NDArray) -> None:
        self.features = np.ascontiguousarray(X.T)
        self.dtype = X.dtype
        self.n_columns, self.n_points = self.features.shape

    def block(self, indices: NDArray[np.int64]) -> NDArray:
        """Return the values of several features, shape (len(indices), n_points)."""
        return self.features[indices]

    def column(self, index: int) -> NDArray:
        """Return the values of one feature, shape (n_points,)."""
        return self.features[index]

    def along(self, directions: NDArray) -> NDArray:
        """Return the values along one direction of shape (1, n_features), shape (n_points,)."""
        return project(self.features, directions).reshape(-1)

    def combine(self, columns: NDArray[np.int64], coefficients: NDArray) -> NDArray:
        """Return the direction of a linear combination, shape (1, n_features)."""
        direction = np.zeros((1, self.n_columns))
        direction[0, columns] = coefficients
        return direction.astype(self.dtype)

    def basis(self, columns: NDArray[np.int64]) -> None:
        """Return None: features have no shorter form."""

    def max_rank(self, columns: NDArray[np.int64]) -> int:
        """Return the maximum rank of the values in some columns."""
        return len(columns)

    def moments(self, weights: NDArray, columns: NDArray[np.int64]) -> tuple[NDArray, NDArray]:
        """Return weighted mean and covariance of some features, for weights >= 0."""
        return _moments(self.features[columns], weights)
