"""Columns that predict the target by themselves, which are often not known before it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

_ENOUGH_ROWS = 40
_MOST_ROWS = 4000
_BINS = 100
_MOST_CELLS = 5_000_000  # of a table of values and classes
_SUSPICIOUS = 0.01  # error of a column alone
_WORTH_A_TREE = 0.1  # error with bins, whose edges are not those of the classes
_REDUCTION = 0.2  # of the error without any column


@dataclass(frozen=True)
class Leak:
    """A column that predicts the target by itself.

    Parameters
    ----------
    name : str
        Name of the column.
    error : float
        Its error on rows that it was not fitted to.
    without : float
        Error of the most frequent class.
    """

    name: str
    error: float
    without: float

    @property
    def note(self) -> str:
        """What to tell a user."""
        return (
            f"predicts the target by itself (error {100 * self.error:.1f} %, without it "
            f"{100 * self.without:.1f} %): check that it is known before the target"
        )


def leak_rows(n_rows: int) -> Any:
    """Return the rows among which columns that predict the target are looked for.

    Parameters
    ----------
    n_rows : int
        Number of rows.

    Returns
    -------
    ndarray of int
        Some of the rows, none if there are too few.
    """
    if n_rows < _ENOUGH_ROWS:
        return np.empty(0, dtype=np.int64)
    return np.random.default_rng(0).permutation(n_rows)[:_MOST_ROWS]


def find_leaks(X: Any, y: Any) -> list[Leak]:
    """Find columns that predict the target by themselves.

    Parameters
    ----------
    X : DataFrame
        Features of type float64 and category.
    y : ndarray
        Labels.

    Returns
    -------
    list of Leak
        The columns with an error of at most 1 %.
    """
    rows = leak_rows(len(y))
    return leaks_among(X.iloc[rows], np.asarray(y)[rows])


def leaks_among(part: Any, y: Any) -> list[Leak]:
    """Find columns that predict the target by themselves among some rows.

    Every column is fitted to one half of the rows and scored on the other half, both ways.

    Parameters
    ----------
    part : DataFrame
        Features of type float64 and category of the rows that `leak_rows` chose.
    y : ndarray
        Their labels.

    Returns
    -------
    list of Leak
        The columns with an error of at most 1 %.
    """
    if not len(y):
        return []
    classes, labels = np.unique(np.asarray(y), return_inverse=True)
    without = 1 - np.bincount(labels).max() / len(labels)
    limit = min(_SUSPICIOUS, _REDUCTION * without)
    found = []
    for name in part.columns:
        values = part[name]
        numeric = values.dtype.kind == "f"
        codes = _codes(values.to_numpy(), _BINS) if numeric else np.asarray(values.cat.codes)
        error = _error_by_value(codes, labels, len(classes))
        if numeric and limit < error <= _WORTH_A_TREE:
            error = _error_of_tree(values.to_numpy(), labels)
        if error <= limit:
            found.append(Leak(str(name), error, without))
    return found


def _codes(numbers: Any, n_bins: int) -> Any:
    """Return the number of the bin of each value; bins have about the same number of values."""
    known = numbers[~np.isnan(numbers)]
    distinct = np.unique(known)
    if len(distinct) > n_bins:
        distinct = np.unique(np.quantile(known, np.linspace(0, 1, n_bins + 1)[1:]))
    codes = np.searchsorted(distinct, numbers)
    return np.where(np.isnan(numbers), -1, codes)


def _error_by_value(codes: Any, labels: Any, n_classes: int) -> float:
    """Return the error of the most frequent class of each value, each half scored by the other."""
    codes = np.asarray(codes, dtype=np.int64) + 1
    n_codes = int(codes.max()) + 1
    if n_codes * n_classes > _MOST_CELLS:
        return 1.0
    half = len(labels) // 2
    wrong = 0
    for fitted, scored in ((slice(half), slice(half, None)), (slice(half, None), slice(half))):
        cells = codes[fitted] * n_classes + labels[fitted]
        table = np.bincount(cells, minlength=n_codes * n_classes).reshape(n_codes, n_classes)
        best = np.where(table.any(axis=1), table.argmax(axis=1), table.sum(axis=0).argmax())
        wrong += int((best[codes[scored]] != labels[scored]).sum())
    return wrong / len(labels)


def _error_of_tree(numbers: Any, labels: Any) -> float:
    from sklearn.tree import DecisionTreeClassifier

    column = np.nan_to_num(numbers, nan=np.nanmin(numbers) - 1)[:, None]
    half = len(labels) // 2
    wrong = 0
    for fitted, scored in ((slice(half), slice(half, None)), (slice(half, None), slice(half))):
        tree = DecisionTreeClassifier(min_samples_leaf=2, random_state=0)
        tree.fit(column[fitted], labels[fitted])
        wrong += int((tree.predict(column[scored]) != labels[scored]).sum())
    return wrong / len(labels)
