"""Categories of pandas tables, and `TablePreparation`, which makes numbers of any table.

The trees of the package take categories and missing values themselves; `TablePreparation` is for
classifiers that take neither.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, column_or_1d, validate_data

from .encoding import TableEncoding, read_again, read_training
from .frames import Cells, as_table, read_columns
from .labels import distinct_labels
from .level_means import learn_encoding


def is_table(X: Any) -> bool:
    """Return whether X is a pandas DataFrame, or works like one, with unique column names."""
    frame = hasattr(X, "columns") and hasattr(X, "iloc") and hasattr(X, "dtypes")
    return frame and X.columns.is_unique


def category_columns(X: Any) -> list[Hashable]:
    """Return the names of the categorical columns of a table."""
    table = as_table(X)
    if table is None:
        return []
    columns = zip(table.columns, read_columns(table), strict=True)
    return [name for name, column in columns if isinstance(column, Cells)]


class TablePreparation(TransformerMixin, BaseEstimator):
    """Turns a table into numbers: encodes categories and imputes missing values.

    Categories become numbers, a column of them one or several; missing values and unknown
    categories become the mean of their column. Put it before classifiers that take neither; the
    trees of this package take both. ``fit_transform`` encodes columns with many levels without
    the row itself, so that a classifier does not learn the classes from them: it gives other
    numbers than ``fit`` and ``transform``.

    Attributes
    ----------
    encoding_ : TableEncoding
        The encoding of the categories.
    means_ : ndarray of shape (n_encoded,)
        The imputed values; 0 for a column without values.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where they are strings.

    Examples
    --------
    >>> import pandas as pd
    >>> from randomboost.preprocessing.categories import TablePreparation
    >>> table = pd.DataFrame({"size": [1.0, None, 3.0], "colour": ["red", "blue", "red"]})
    >>> TablePreparation().fit_transform(table, [0, 1, 0]).round(2)
    array([[ 1.  , -0.04],
           [ 2.  ,  0.04],
           [ 3.  , -0.04]])
    """

    def fit(self, X: Any, y: Any) -> TablePreparation:
        """Learn the encoding and the means from training data.

        Parameters
        ----------
        X : table or array-like of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        self
            The fitted transformer.
        """
        self._fit(X, y)
        return self

    def fit_transform(self, X: Any, y: Any) -> NDArray:
        """Learn from training data, and encode and impute it.

        Parameters
        ----------
        X : table or array-like of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        ndarray of shape (n_samples, n_encoded)
            Numbers, without missing values.
        """
        return self._filled(self._fit(X, y))

    def _fit(self, X: Any, y: Any) -> NDArray:
        """Learn from training data, and return it encoded."""
        reading = read_training(X)
        checks = {"dtype": np.float64, "ensure_all_finite": "allow-nan"}
        if reading is None:
            encoded, y = validate_data(self, X, y, reset=True, **checks)
            encoding = TableEncoding({}, encoded.shape[1])
        else:
            validate_data(self, X, y, reset=True, skip_check_array=True)
            reading = reading._replace(values=check_array(reading.values, estimator=self, **checks))
            y = column_or_1d(y)
            labels = np.searchsorted(distinct_labels(y, "y"), y)
            encoding, encoded = learn_encoding(reading, labels, np.ones(len(y)))
        known = ~np.isnan(encoded)
        counts = np.maximum(known.sum(axis=0), 1)
        self.means_ = np.where(known, encoded, 0.0).sum(axis=0) / counts
        self.encoding_ = encoding
        return encoded

    def transform(self, X: Any) -> NDArray:
        """Encode and impute.

        Parameters
        ----------
        X : table or array-like of shape (n_samples, n_features)
            Data.

        Returns
        -------
        ndarray of shape (n_samples, n_encoded)
            Numbers, without missing values.
        """
        check_is_fitted(self)
        checks = {"dtype": np.float64, "ensure_all_finite": "allow-nan"}
        if as_table(X) is None and not self.encoding_.codebooks:
            return self._filled(validate_data(self, X, reset=False, **checks))
        validate_data(self, X, reset=False, skip_check_array=True)
        values = check_array(read_again(X, self.encoding_), estimator=self, **checks)
        return self._filled(self.encoding_.apply(values))

    def _filled(self, encoded: NDArray) -> NDArray:
        return np.where(np.isnan(encoded), self.means_, encoded)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray:
        """Return the names of the encoded columns.

        Parameters
        ----------
        input_features : ignored
            Not used, present for API consistency.

        Returns
        -------
        ndarray of str
            The names; several numbers of a column are numbered from 1.
        """
        check_is_fitted(self)
        numbered = [f"x{j}" for j in range(self.n_features_in_)]
        names = getattr(self, "feature_names_in_", numbered)
        return np.asarray(self.encoding_.names(names), dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        return tags
