"""What is done to input before an ensemble sees it: tables, categories, precision, scaling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .encoding import Reading, TableEncoding, read_again
from .frames import as_table
from .level_means import learn_encoding
from .merging import merge_samples
from .scaling import StandardScaling

_DENSE_VALUES = 1 << 22  # of sparse rows that are made dense together


@dataclass(frozen=True)
class InputPreparation:
    """How input becomes the features that an ensemble sees.

    Parameters
    ----------
    encoding : TableEncoding or None
        How the categories of a table become numbers.
    scaling : StandardScaling or None
        How features are scaled.
    dtype : dtype
        Precision in which features are worked on.
    """

    encoding: TableEncoding | None
    scaling: StandardScaling | None
    dtype: np.dtype

    def reads(self, X: Any) -> bool:
        """Return whether input has to be read: tables, and all input of models with categories."""
        return self.encoding is not None or as_table(X) is not None

    def read(self, X: Any) -> NDArray:
        """Return input as numbers, with the numbers of levels for categories."""
        return read_again(X, self.encoding)

    def encoded(self, X: Any) -> Any:
        """Return checked data with the features of the ensemble for the numbers of levels."""
        return X if self.encoding is None else self.encoding.apply(X)

    def pieces(self, X: Any) -> list[Any]:
        """Return checked data in pieces of rows: several if scaling makes sparse ones dense."""
        if not sp.issparse(X) or self.scaling is None or self.scaling.keeps_zeros:
            return [X]
        n_rows = max(1, _DENSE_VALUES // max(X.shape[1], 1))
        return [X[first : first + n_rows] for first in range(0, X.shape[0], n_rows)]

    def scaled(self, X: Any, overwrite: bool = False) -> Any:
        """Return encoded features as the ensemble wants them; those given may be overwritten."""
        X = X.astype(self.dtype, copy=False)
        if sp.issparse(X):
            X = X.sorted_indices()  # sums run in the order of the features
        return X if self.scaling is None else self.scaling.apply(X, overwrite)

    def sources(self, n_features: int) -> NDArray[np.int64]:
        """Return the input column of every feature of the ensemble.

        Parameters
        ----------
        n_features : int
            Number of features of the ensemble.

        Returns
        -------
        ndarray of int64 of shape (n_features,)
            Positions of input columns.
        """
        return np.arange(n_features) if self.encoding is None else self.encoding.sources

    def per_column(self, amounts: NDArray) -> NDArray:
        """Return amounts of the ensemble's features added up by input column.

        Parameters
        ----------
        amounts : ndarray of shape (..., n_features)
            Amounts.

        Returns
        -------
        ndarray of shape (..., n_columns)
            Their sums.
        """
        if self.encoding is None:
            return amounts
        sums = np.zeros((self.encoding.n_columns, *amounts.shape[:-1]), dtype=amounts.dtype)
        np.add.at(sums, self.encoding.sources, np.moveaxis(amounts, -1, 0))
        return np.moveaxis(sums, 0, -1)


def encoded_samples(
    X: Any, labels: NDArray[np.int64], weight: NDArray, reading: Reading | None
) -> tuple[TableEncoding | None, tuple[Any, NDArray[np.int64], NDArray, NDArray[np.uint64]]]:
    """Return how categories become numbers, and the distinct samples with these.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_columns)
        Training data as numbers.
    labels : ndarray of int64
        Class numbers.
    weight : ndarray
        Weights.
    reading : Reading or None
        Which columns have categories.

    Returns
    -------
    encoding : TableEncoding or None
        How new data is encoded, if some column has categories.
    samples : tuple
        As `merging.merge_samples` returns them.
    """
    if reading is None or not reading.has_categories:
        return None, merge_samples(X, labels, weight)
    reading = reading.with_rows(X)
    X, labels, weight, hashes = merge_samples(reading.values, labels, weight)
    encoding, X = learn_encoding(reading._replace(values=X), labels, weight, hashes)
    return encoding, (X, labels, weight, hashes)
