"""Standard scaling of the features, learned from weighted training data.

Random projections mix the features, so that their scales matter, as they do for a linear model.
Unlike scikit-learn's StandardScaler this one works at the ends of the floating-point range, because
every column is first divided by its largest absolute value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..runtime.compiling import kernel
from ..runtime.exact_sums import finest_unit

_FEWEST = 10  # samples whose means and standard deviations are compared
_FAR, _WIDE = 5.0, 20.0  # standard deviations apart, factor between them
_MANY = 0.25  # share of the features
_TOGETHER = 1 << 16  # values that are scaled at a time


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


def _no_zeros(spread: NDArray) -> NDArray:
    """Return standard deviations, 1 where they are not more than rounding."""
    return np.where(spread <= 10 * np.finfo(np.float64).eps, 1.0, spread)


@kernel
def _find_range(X: NDArray, low: NDArray, high: NDArray) -> None:
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            value = np.float64(X[i, j])
            low[j] = value if value < low[j] else low[j]
            high[j] = value if value > high[j] else high[j]


def column_range(X: NDArray) -> NDArray:
    """Return the least and the largest value of every column, without missing ones.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Data.

    Returns
    -------
    ndarray of shape (2, n_features)
        The values; (inf, -inf) where there is none.
    """
    out = np.empty((2, X.shape[1]))
    out[0], out[1] = np.inf, -np.inf
    _find_range(X, out[0], out[1])
    return out


class ColumnSpan(NamedTuple):
    """Between which values columns lie.

    Parameters
    ----------
    peak : ndarray of shape (n_features,)
        Largest absolute value, 1 for a column of zeros.
    low, width : ndarray of shape (n_features,)
        The least value, and how far it is to the largest one, divided by the peak.
    """

    peak: NDArray
    low: NDArray
    width: NDArray

    @classmethod
    def of(cls, found: NDArray) -> ColumnSpan:
        """Return the span for what `column_range` found."""
        low, high = np.where(found[0] <= found[1], found, 0.0)
        peak = np.maximum(np.abs(low), np.abs(high))
        peak[peak == 0] = 1.0
        return cls(peak, low / peak, high / peak - low / peak)

    def means(self, sums: NDArray[np.int64]) -> NDArray:
        """Return means from `column_sums`, 0 for columns of one value."""
        return np.where(self.width > 0, sums[0] / np.maximum(sums[1], 1), 0.0)


@kernel
def _add_up(
    X: NDArray, weight: NDArray, unit: float, span: ColumnSpan, means: NDArray, square: bool,
    sums: NDArray,
) -> None:  # fmt: skip
    peak, low, width = span
    for i in range(X.shape[0]):
        w = weight[i] / unit
        for j in range(X.shape[1]):
            value = (X[i, j] / peak[j] - low[j]) / width[j] - means[j]
            if value == value:
                sums[0, j] += np.int64(np.rint(w * (value * value if square else value)))
                sums[1, j] += np.int64(np.rint(w))


def column_sums(
    X: NDArray, weight: NDArray, unit: float, span: ColumnSpan, means: NDArray | None
) -> NDArray[np.int64]:
    """Return weighted sums over the places of samples between the ends of their columns.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Data.
    weight : ndarray of shape (n_samples,)
        Weights of the samples.
    unit : float
        Unit of the sums, see `exact_sums.finest_unit`.
    span : ColumnSpan
        The ends.
    means : ndarray of shape (n_features,) or None
        None: the places, from 0 to 1, are added up; else their squared distances from these.

    Returns
    -------
    ndarray of int64 of shape (2, n_features)
        The sums, and those of the weights, without missing values.
    """
    sums = np.zeros((2, X.shape[1]), dtype=np.int64)
    width = np.where(span.width > 0, span.width, 1.0)
    square = means is not None
    from_ = np.zeros(X.shape[1]) if means is None else means
    _add_up(X, weight, unit, (span.peak, span.low, width), from_, square, sums)
    return sums


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
        if sp.issparse(X):
            return cls._learn_sparse(X, sample_weight / sample_weight.sum())
        span = ColumnSpan.of(column_range(X))
        unit = finest_unit(float(sample_weight.max()), len(sample_weight))
        means = span.means(column_sums(X, sample_weight, unit, span, None))
        squares = column_sums(X, sample_weight, unit, span, means)
        return cls.from_moments(span, means, span.means(squares))

    @classmethod
    def from_moments(cls, span: ColumnSpan, means: NDArray, variances: NDArray) -> StandardScaling:
        """Return the scaling of columns.

        Parameters
        ----------
        span : ColumnSpan
            Between which values the columns lie.
        means, variances : ndarray of shape (n_features,)
            Weighted means and variances of the places in between.

        Returns
        -------
        StandardScaling
            The scaling.
        """
        spread = np.sqrt(variances) * span.width
        return cls(span.peak, span.low + means * span.width, _no_zeros(spread))

    @classmethod
    def _learn_sparse(cls, X: Any, weight: NDArray) -> StandardScaling:
        peak = np.asarray(abs(X).max(axis=0).todense(), dtype=np.float64).ravel()
        peak[peak == 0] = 1.0
        unit = _divided(X, peak)
        mean = np.asarray(unit.T @ weight).ravel()
        variance = _sparse_variance(unit, weight, mean)
        spread = np.sqrt(np.maximum(variance, 0.0))
        return cls(peak, np.zeros_like(mean), _no_zeros(spread))

    @property
    def keeps_zeros(self) -> bool:
        """Whether zeros stay zeros: whether it was learned from sparse data."""
        return not self.center.any()

    def apply(self, X: Any, overwrite: bool = False) -> Any:
        """Scale data into an array (or CSR matrix) of the same dtype.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
            Data.
        overwrite : bool
            Whether dense data may be overwritten, which saves the memory of another array.

        Returns
        -------
        ndarray or CSR matrix
            The scaled data.
        """
        if sp.issparse(X) and not self.keeps_zeros:
            X = X.toarray()  # learned from dense data: centring fills the zeros
        if sp.issparse(X):
            return _divided(_divided(X, self.peak), self.spread).astype(X.dtype)
        out = X if overwrite else np.empty_like(X)
        together = max(1, _TOGETHER // max(X.shape[1], 1))
        for first in range(0, X.shape[0], together):
            rows = slice(first, first + together)
            scaled = X[rows] / self.peak
            scaled -= self.center
            scaled /= self.spread
            out[rows] = scaled
        return out


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
