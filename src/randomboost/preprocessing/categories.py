"""Encoding of categorical columns of tables as numbers that trees can split.

The categories of a column are ordered along the first axis of a correspondence analysis of
categories and classes, so that categories with similar classes are neighbours. One cut then
separates two groups of them, and further cuts any single category. Missing categories, and those
not seen in training, become missing values. `TablePreparation` also imputes missing values, for
classifiers that take neither categories nor missing values.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from .labels import distinct_labels

_PRIOR = 2.0  # samples with the average class distribution that are added to every category


def is_table(X: Any) -> bool:
    """Return whether X is a pandas DataFrame, or works like one, with unique column names."""
    frame = hasattr(X, "columns") and hasattr(X, "iloc") and hasattr(X, "dtypes")
    return frame and X.columns.is_unique


def category_columns(X: Any) -> list[Hashable]:
    """Return the names of the categorical columns of a table."""
    return [name for name in X.columns if _holds_categories(X[name])]


def _holds_categories(column: Any) -> bool:
    kind = str(column.dtype)
    if kind == "category" or kind.startswith("str"):
        return True
    return kind == "object" and any(isinstance(value, str) for value in column.dropna().unique())


def _order(tallies: NDArray) -> NDArray:
    """Return the place of every category in the order, given its counts by class."""
    tallies = tallies[
        :, tallies.any(axis=0)
    ]  # the column may be missing for all samples of a class
    shares = tallies + _PRIOR * tallies.sum(axis=0) / tallies.sum()
    shares = shares / shares.sum()
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    expected = np.outer(rows, columns)
    left, sizes, _ = np.linalg.svd((shares - expected) / np.sqrt(expected), full_matrices=False)
    axis = left[:, 0] * sizes[0] / np.sqrt(rows)
    axis = axis if axis[np.abs(axis).argmax()] > 0 else -axis  # the sign is arbitrary
    places = np.empty(len(axis))
    places[np.argsort(axis, kind="stable")] = np.arange(len(axis))
    return places


class TableEncoding:
    """Encoding of the categories of some columns as numbers.

    Parameters
    ----------
    places : dict of str to dict
        The number of every category, by column.
    """

    def __init__(self, places: dict[Hashable, dict[Hashable, float]]) -> None:
        self.places = places

    def __getstate__(self) -> dict[str, Any]:
        # skops writes the keys of a dict as text, which True and False do not survive
        return {"places": [(name, list(each.items())) for name, each in self.places.items()]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.places = {name: dict(each) for name, each in state["places"]}

    @classmethod
    def learn(cls, X: Any, y: Any) -> TableEncoding:
        """Learn the encoding from training data.

        Parameters
        ----------
        X : DataFrame
            Training data.
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        TableEncoding
            The encoding; empty if X has no categorical columns.
        """
        y = np.asarray(y).ravel()
        class_numbers = np.searchsorted(distinct_labels(y, "y"), y)
        places: dict[Hashable, dict[Hashable, float]] = {}
        for name in category_columns(X):
            values = X[name].astype(object)
            known = values.notna().to_numpy()
            categories = sorted(
                set(values[known]), key=lambda value: (str(type(value)), str(value))
            )
            index = {category: place for place, category in enumerate(categories)}
            category_numbers = values[known].map(index).to_numpy(dtype=np.int64)
            tallies = np.zeros((len(categories), class_numbers.max() + 1))
            np.add.at(tallies, (category_numbers, class_numbers[known]), 1.0)
            order = _order(tallies) if len(categories) > 1 else np.zeros(len(categories))
            places[name] = dict(zip(categories, order.tolist(), strict=True))
        return cls(places)

    def apply(self, X: Any) -> Any:
        """Return a table with numbers in place of categories.

        Parameters
        ----------
        X : DataFrame
            Data.

        Returns
        -------
        DataFrame
            The same columns, with missing values for missing and unknown categories.
        """
        encoded = X.copy(deep=False)
        for name, places in self.places.items():
            if name in X.columns:
                encoded[name] = X[name].astype(object).map(places).astype(np.float64)
        return encoded


class TablePreparation(TransformerMixin, BaseEstimator):
    """Encodes categories and imputes missing values of a pandas table.

    Categories become numbers; missing values and unknown categories become the mean of their
    column. Put it before classifiers that take neither; the trees of this package take both.

    Attributes
    ----------
    encoding_ : TableEncoding
        The encoding of the categories.
    means_ : ndarray of shape (n_features_in_,)
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
    >>> TablePreparation().fit_transform(table, [0, 1, 0])
    array([[1., 0.],
           [2., 1.],
           [3., 0.]])
    """

    def fit(self, X: Any, y: Any) -> TablePreparation:
        """Learn the encoding and the means from training data.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        self
            The fitted transformer.
        """
        encoding = TableEncoding.learn(X, y) if is_table(X) else TableEncoding({})
        values = self._values(X, encoding, y, reset=True)
        known = ~np.isnan(values)
        counts = np.maximum(known.sum(axis=0), 1)
        self.means_ = np.where(known, values, 0.0).sum(axis=0) / counts
        self.encoding_ = encoding
        return self

    def transform(self, X: Any) -> NDArray:
        """Encode and impute.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            Data.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Numbers, without missing values.
        """
        check_is_fitted(self)
        values = self._values(X, self.encoding_, "no_validation", reset=False)
        return np.where(np.isnan(values), self.means_, values)

    def _values(self, X: Any, encoding: TableEncoding, y: Any, *, reset: bool) -> NDArray:
        if is_table(X):
            X = encoding.apply(X)
        checked = validate_data(
            self, X, y, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan"
        )
        return checked if isinstance(y, str) else checked[0]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray:
        """Return the names of the columns, which do not change.

        Parameters
        ----------
        input_features : ignored
            Not used, present for API consistency.

        Returns
        -------
        ndarray of str
            The names.
        """
        check_is_fitted(self)
        numbered = [f"x{j}" for j in range(self.n_features_in_)]
        return np.asarray(getattr(self, "feature_names_in_", numbered), dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        return tags
