"""Standard scaling of the features, learned from weighted training data.

Random projections mix the features, so that their scales matter, as they do for a linear model.
Unlike scikit-learn's StandardScaler this one works at the ends of the floating-point range, because
every column is first divided by its largest absolute value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

_FEWEST = 10  # samples whose means and standard deviations are compared
_FAR, _WIDE = 5.0, 20.0  # standard deviations apart, factor between them
_MANY = 0.25  # share of the features


def _divided(X: Any, divisors: NDArray) -> Any:
    """Return a CSR matrix in double precision with its columns divided."""
    out = sp.csr_array(X, dtype=np.float64, copy=True)
    out.data /= divisors[out.indices]
    return out


def _sparse_variance(X: Any, weight: NDArray, mean: NDArray) -> NDArray:
    """Weighted variance of the columns of a CSR matrix in two passes; the weights sum to 1."""
    stored, squares = X.copy(), X.copy()
    stored.data = np.ones_like(X.data)
    squares.data = (X.data - mean[X.indices]) ** 2
    zeros = np.maximum(1.0 - np.asarray(stored.T @ weight).ravel(), 0.0)
    zeros[np.bincount(X.indices, minlength=X.shape[1]) == X.shape[0]] = 0.0
    return np.asarray(squares.T @ weight).ravel() + zeros * mean**2


@dataclass(frozen=True)
class StandardScaling:
    """Maps a column x to ``(x / peak - center) / spread``; sparse columns are not centred.

    Parameters
    ----------
    peak : ndarray of shape (n_features,)
        Largest absolute value of every column (1 for a zero column).
    center : ndarray of shape (n_features,)
        Weighted mean of the columns divided by their peak (0 for sparse data).
    spread : ndarray of shape (n_features,)
        Weighted standard deviation of the same (1 for a constant column).
    """

    peak: NDArray
    center: NDArray
    spread: NDArray

    @classmethod
    def learn(cls, X: Any, sample_weight: NDArray) -> StandardScaling:
        """Learn the scaling from training data.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
            Training data.
        sample_weight : ndarray of shape (n_samples,)
            Weights of the samples.

        Returns
        -------
        StandardScaling
            The scaling.
        """
        weight = sample_weight / sample_weight.sum()
        sparse = sp.issparse(X)
        if not sparse and np.isnan(X).any():
            return cls._learn_with_missing(X, sample_weight)
        peak = abs(X).max(axis=0)
        peak = np.asarray(peak.todense() if sparse else peak, dtype=np.float64).ravel()
        peak[peak == 0] = 1.0
        if sparse:
            unit = _divided(X, peak)
            mean = np.asarray(unit.T @ weight).ravel()
            center = np.zeros_like(mean)
            variance = _sparse_variance(unit, weight, mean)
        else:
            unit = X / peak
            mean = center = unit[0] + weight @ (unit - unit[0])
            variance = weight @ (unit - mean) ** 2
        spread = np.sqrt(np.maximum(variance, 0.0))
        spread[spread <= 10 * np.finfo(np.float64).eps] = 1.0
        return cls(peak, center, spread)

    @classmethod
    def _learn_with_missing(cls, X: NDArray, sample_weight: NDArray) -> StandardScaling:
        """Learn every column from the samples in which it is not missing."""
        peak, center, spread = np.ones((3, X.shape[1]))
        center[:] = 0.0
        for j, column in enumerate(X.T):
            known = ~np.isnan(column)
            if known.any():
                part = cls.learn(column[known, None], sample_weight[known])
                peak[j], center[j], spread[j] = part.peak[0], part.center[0], part.spread[0]
        return cls(peak, center, spread)

    def apply(self, X: Any) -> Any:
        """Scale data into a new array (or CSR matrix) of the same dtype.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
            Data.

        Returns
        -------
        ndarray or CSR matrix
            The scaled data.
        """
        if sp.issparse(X) and self.center.any():
            X = X.toarray()  # learned from dense data: centring fills the zeros
        if sp.issparse(X):
            return _divided(_divided(X, self.peak), self.spread).astype(X.dtype)
        scaled = X / self.peak
        scaled -= self.center
        scaled /= self.spread
        return scaled.astype(X.dtype, copy=False)


def on_another_scale(X: Any, other: Any) -> bool:
    """Return whether data looks as if it were scaled otherwise.

    Parameters
    ----------
    X, other : ndarray or CSR matrix of shape (n_samples, n_features)
        Training data and other data with the same features.

    Returns
    -------
    bool
        Whether a quarter of the features that vary have a mean or a standard deviation far from
        that of X. Fewer than ten samples tell nothing.
    """
    if other.shape[0] < _FEWEST:
        return False
    (mean, spread), (other_mean, other_spread) = _moments(X), _moments(other)
    varies = spread > 0
    with np.errstate(over="ignore"):
        far = np.abs(other_mean - mean) > _FAR * spread
        far |= other_spread > _WIDE * spread
        far |= (_WIDE * other_spread < spread) & (other_spread > 0)
    return bool(far[varies].sum() > _MANY * max(varies.sum(), 1))


def _moments(X: Any) -> tuple[NDArray, NDArray]:
    """Return means and standard deviations of columns, without missing values."""
    if sp.issparse(X):
        n, d = X.shape
        values, columns = X.data.astype(np.float64), X.indices
        peak = np.zeros(d)
        np.maximum.at(peak, columns, np.abs(values))
        peak[peak == 0] = 1.0
        unit = values / peak[columns]
        mean = np.bincount(columns, unit, d) / n
        squares = np.bincount(columns, (unit - mean[columns]) ** 2, d)
        variance = (squares + (n - np.bincount(columns, minlength=d)) * mean**2) / n
        return mean * peak, np.sqrt(variance) * peak
    X = X.astype(np.float64, copy=False)
    known = ~np.isnan(X)
    count = np.maximum(known.sum(axis=0), 1)
    peak = np.maximum(np.where(known, np.abs(X), 0).max(axis=0), np.finfo(np.float64).tiny)
    unit = np.where(known, X / peak, 0.0)
    mean = unit.sum(axis=0) / count
    variance = np.where(known, (unit - mean) ** 2, 0.0).sum(axis=0) / count
    return mean * peak, np.sqrt(variance) * peak
