"""Standard scaling of the features, learned from weighted training data.

Random projections mix the features, so their scales matter as they do for a linear model.
Unlike scikit-learn's StandardScaler this one keeps working at the ends of the floating-point
range, because every column is divided by its largest absolute value first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray


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
        peak = abs(X).max(axis=0)
        peak = np.asarray(peak.todense() if sparse else peak, dtype=np.float64).ravel()
        peak[peak == 0] = 1.0
        unit = X.multiply(1.0 / peak).tocsr() if sparse else X / peak
        if sparse:
            mean = np.asarray(unit.T @ weight).ravel()
            variance = np.asarray(unit.multiply(unit).T @ weight).ravel() - mean**2
            center = np.zeros_like(mean)
        else:
            mean = center = weight @ unit
            variance = weight @ (unit - mean) ** 2
        spread = np.sqrt(np.maximum(variance, 0.0))
        spread[spread <= 10 * np.finfo(np.float64).eps] = 1.0
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
        if sp.issparse(X):
            return X.multiply(1.0 / self.peak).multiply(1.0 / self.spread).tocsr().astype(X.dtype)
        scaled = X / self.peak
        scaled -= self.center
        scaled /= self.spread
        return scaled.astype(X.dtype, copy=False)
