"""Encoding of categories as numbers that trees can split, without telling them the classes.

The classes get scores along the axes of a correspondence analysis (`class_axes`), and a level
becomes the mean scores of its samples: levels with similar classes are neighbours. With few samples
a level, these means would give away the class of every single one of them. So where a column has
many levels, training samples get the means of the *other* folds, as new samples do, and an axis is
used only where these means predict the scores of the samples: a column may become several numbers,
or none. Equal samples are in the same fold.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import orthogonal_procrustes

from ..runtime.parallel import OneBlasThread
from .class_axes import PRIOR, class_scores
from .frames import Cells, as_table, level_numbers, levels_of, read_column
from .merging import row_keys

FROM_DTYPE = "from_dtype"
_FOLDS = 5
_FEW_LEVELS = 16  # up to which all samples of a level give its numbers, also for themselves
_MANY_SAMPLES = 100  # samples a level from which on they do so for axes that are useful
_AXES, _AXES_OF_FEW = 8, 3
_SURE = 4.5  # about three standard errors, since every pair of samples counts twice
_COPIES = 4.0  # of a row on average, from which on rows are no single observations


class Reading(NamedTuple):
    """Training data as numbers; columns of categories have the numbers of their levels.

    `categories` and `orders` have the name and the levels of these columns by position.
    """

    values: NDArray
    categories: dict[int, tuple[Hashable, list[Any]]]
    orders: dict[int, tuple[Hashable, list[Any]]]

    @property
    def has_categories(self) -> bool:
        """Whether some column has categories."""
        return bool(self.categories or self.orders)

    def with_rows(self, values: NDArray) -> Reading:
        """Return some of the rows, and the levels that occur in them."""
        values, categories = values.copy(), {}
        for column, (name, levels) in self.categories.items():
            known = ~np.isnan(values[:, column])
            present, numbers = np.unique(values[known, column], return_inverse=True)
            values[known, column] = numbers
            categories[column] = name, [levels[int(number)] for number in present]
        return Reading(values, categories, self.orders)


def read_training(X: Any, categorical: Any = FROM_DTYPE) -> Reading | None:
    """Return a table, or an array with columns of categories, as numbers.

    Parameters
    ----------
    X : object
        Training data.
    categorical : "from_dtype" or array-like
        Names, positions or a mask of columns to take for categories, whatever their type.

    Returns
    -------
    Reading or None
        The data; None for arrays without categories, which need no reading.
    """
    if isinstance(categorical, str) and as_table(X) is None:
        return None
    if hasattr(X, "toarray"):
        raise ValueError("categorical_features is for dense data: X is sparse, so leave it out")
    columns, names = _columns(X)
    listed = _positions(categorical, names)
    categories: dict[int, tuple[Hashable, list[Any]]] = {}
    orders: dict[int, tuple[Hashable, list[Any]]] = {}
    numbers = []
    for place, column in enumerate(columns):
        if place in listed:
            column = Cells(_cells(column), None)
        if isinstance(column, Cells):
            levels = levels_of(column)
            (categories if column.order is None else orders)[place] = names[place], levels
            column = level_numbers(column.values, levels)
        numbers.append(column)
    return Reading(_stacked(numbers), categories, orders)


def _columns(X: Any) -> tuple[list[NDArray | Cells], list[Any]]:
    """Return the columns of a table or an array, and their names or positions."""
    table = as_table(X)
    if table is not None:
        return [read_column(name, table[name]) for name in table.columns], table.columns
    X = np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"X has shape {X.shape}: pass a table or an array of two dimensions")
    return list(X.T), list(range(X.shape[1]))


def _positions(categorical: Any, names: list[Any]) -> set[int]:
    """Return the positions of the columns that `categorical_features` names."""
    if isinstance(categorical, str):
        return set()
    listed, n_columns = np.asarray(categorical), len(names)
    known = {name: place for place, name in enumerate(names)}
    if listed.ndim == 1 and listed.dtype == bool and len(listed) == n_columns:
        return set(np.flatnonzero(listed).tolist())
    if listed.ndim == 1 and listed.dtype != bool:
        found = [
            each if isinstance(each, int) and 0 <= each < n_columns else known.get(each)
            for each in listed.tolist()
        ]
        if None not in found:
            return {int(place) for place in found if place is not None}
        unknown = listed.tolist()[found.index(None)]
        raise ValueError(
            f"categorical_features has {unknown!r}, which is no column of X: use names of its "
            f"columns, or numbers from 0 to {n_columns - 1}"
        )
    raise ValueError(
        f"categorical_features={categorical!r} does not fit: pass a list of names or numbers of "
        f"columns, or a mask of length {n_columns}"
    )


def _cells(column: NDArray | Cells) -> list[Any]:
    """Return the cells of a column as categories; whole numbers are whole."""
    if isinstance(column, Cells):
        return column.values
    return [_cell(value) for value in column.tolist()]


def _cell(value: Any) -> Any:
    if isinstance(value, float):
        return int(value) if value.is_integer() else None if value != value else value
    return value


def _stacked(columns: list[NDArray]) -> NDArray:
    single = bool(columns) and all(column.dtype == np.float32 for column in columns)
    dtype = np.float32 if single else np.float64
    try:
        return np.stack(columns, axis=1).astype(dtype) if columns else np.empty((0, 0))
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"X has cells that are no numbers ({error}): name their columns in categorical_features"
        ) from error


@dataclass(frozen=True)
class Codebook:
    """The numbers of the levels of a column.

    Parameters
    ----------
    name : hashable
        Name of the column.
    levels : list
        Its levels.
    values : ndarray of shape (n_levels, n_parts)
        Their numbers.
    """

    name: Hashable
    levels: list[Any]
    values: NDArray

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Codebook)
            and (self.name, self.levels) == (other.name, other.levels)
            and np.array_equal(self.values, other.values)
        )


class TableEncoding:
    """How columns of categories become numbers.

    Parameters
    ----------
    codebooks : dict of int to Codebook
        The numbers of categories, by the position of the column.
    n_columns : int
        Number of columns of the input.
    """

    def __init__(self, codebooks: dict[int, Codebook], n_columns: int) -> None:
        self.codebooks, self.n_columns = codebooks, n_columns

    def __getstate__(self) -> dict[str, Any]:
        # skops writes the keys of a dict as text
        return {"codebooks": list(self.codebooks.items()), "n_columns": self.n_columns}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.codebooks, self.n_columns = dict(state["codebooks"]), state["n_columns"]

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TableEncoding)
            and self.n_columns == other.n_columns
            and self.codebooks == other.codebooks
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def sources(self) -> NDArray[np.int64]:
        """The input column of every encoded column."""
        parts = [
            self.codebooks[column].values.shape[1] if column in self.codebooks else 1
            for column in range(self.n_columns)
        ]
        return np.repeat(np.arange(self.n_columns), parts)

    def names(self, columns: Any) -> list[str]:
        """Return names of the encoded columns.

        Parameters
        ----------
        columns : sequence of str
            Names of the input columns.

        Returns
        -------
        list of str
            The same; several numbers of a column are numbered from 1.
        """
        found = []
        for column, name in enumerate(columns):
            book = self.codebooks.get(column)
            n_parts = 1 if book is None else book.values.shape[1]
            found += [f"{name} {part + 1}" if n_parts > 1 else str(name) for part in range(n_parts)]
        return found

    def numbers(self) -> dict[int, dict[Any, float]]:
        """Return the number of every level, by the position of the encoded column."""
        starts = np.searchsorted(self.sources, np.arange(self.n_columns))
        return {
            int(starts[column]) + part: dict(
                zip(book.levels, book.values[:, part].tolist(), strict=True)
            )
            for column, book in self.codebooks.items()
            for part in range(book.values.shape[1])
        }

    def apply(self, values: NDArray) -> NDArray:
        """Return the encoded columns.

        Parameters
        ----------
        values : ndarray of shape (n_samples, n_columns)
            Data with the numbers of levels, as `read_again` returns it.

        Returns
        -------
        ndarray of shape (n_samples, n_encoded)
            Numbers; NaN for missing and unknown categories.
        """
        parts = {
            column: _looked_up(book.values, values[:, column])
            for column, book in self.codebooks.items()
        }
        return _put_together(values, parts)


def read_again(X: Any, encoding: TableEncoding | None) -> NDArray:
    """Return new data as numbers, with the numbers of the levels that are known.

    Parameters
    ----------
    X : table, ndarray or sparse matrix
        New data.
    encoding : TableEncoding or None
        The encoding of the training data.

    Returns
    -------
    ndarray of shape (n_samples, n_columns)
        The data.
    """
    books = {} if encoding is None else encoding.codebooks
    columns, names = _columns(X.toarray() if hasattr(X, "toarray") else X)
    numbers = []
    for place, column in enumerate(columns):
        if place in books:
            column = level_numbers(_cells(column), books[place].levels)
        elif isinstance(column, Cells):
            raise ValueError(
                f"column {names[place]!r} of X has text or categories, but had numbers in the "
                "training data: make numbers of it"
            )
        numbers.append(column)
    return _stacked(numbers)


def learn_encoding(
    data: Reading, labels: NDArray[np.int64], weight: NDArray
) -> tuple[TableEncoding, NDArray]:
    """Learn the encoding of training data, and encode it.

    Parameters
    ----------
    data : Reading
        Training data.
    labels : ndarray of int64 of shape (n_samples,)
        Class numbers.
    weight : ndarray of shape (n_samples,)
        Weights of the samples: one of weight 2 counts as two.

    Returns
    -------
    encoding : TableEncoding
        How new data is encoded.
    encoded : ndarray of shape (n_samples, n_encoded)
        The training data, which is not what `TableEncoding.apply` gives: columns with many levels
        are encoded without the sample itself.
    """
    values = data.values
    keys = row_keys(values)
    order = np.lexsort((weight, labels, keys))  # sums do not depend on the order of the samples
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    folds = _folds(keys[order], weight)
    columns = _learn_columns(data, order, labels, weight, folds)
    n_features = values.shape[1] + sum(each.training.shape[1] - 1 for each in columns.values())
    if not n_features:  # numbers that are not sure are better than none
        columns = _learn_columns(data, order, labels, weight, None)
    codebooks = {
        column: Codebook(name, levels, np.arange(float(len(levels)))[:, None])
        for column, (name, levels) in data.orders.items()
    }
    for column, (name, levels) in data.categories.items():
        kept = np.flatnonzero(columns[column].kept)
        known = [levels[level] for level in kept]
        codebooks[column] = Codebook(name, known, columns[column].values[kept])
    encoding = TableEncoding(dict(sorted(codebooks.items())), values.shape[1])
    parts = {column: each.training[back] for column, each in columns.items()}
    return encoding, _put_together(values, parts)


def _learn_columns(
    data: Reading,
    order: NDArray[np.int64],
    labels: NDArray[np.int64],
    weight: NDArray,
    folds: NDArray[np.int64] | None,
) -> dict[int, _Column]:
    """Return what is learned of all columns of categories, from samples in a given order."""
    return {
        column: _learn_column(
            data.values[order, column], len(levels), labels[order], weight[order], folds
        )
        for column, (_, levels) in data.categories.items()
    }


def _folds(keys: NDArray, weight: NDArray) -> NDArray[np.int64] | None:
    """Return the fold of every row by its content, None where few rows are repeated often."""
    distinct, inverse = np.unique(keys, return_inverse=True)
    copies = weight.sum() if np.array_equal(weight, np.round(weight)) else len(keys)
    if copies >= _COPIES * len(distinct):
        return None
    bits = distinct.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)  # the golden ratio: hashing
    return ((bits >> np.uint64(33)) % _FOLDS).astype(np.int64)[inverse]


class _Column(NamedTuple):
    kept: NDArray[np.bool_]  # levels
    values: NDArray
    training: NDArray


def _learn_column(
    numbers: NDArray,
    n_levels: int,
    labels: NDArray[np.int64],
    weight: NDArray,
    folds: NDArray[np.int64] | None,
) -> _Column:
    """Return the numbers of the levels of a column, and those of its samples."""
    known = np.flatnonzero(~np.isnan(numbers))
    levels, labels, weight = numbers[known].astype(np.int64), labels[known], weight[known]
    simple = folds is None or n_levels <= _FEW_LEVELS
    if n_levels < 2 or not (simple or _tells_classes(levels, labels, weight, folds[known])):
        return _missing_or_not(numbers, n_levels)
    scores = class_scores(levels, labels, weight, _AXES_OF_FEW if simple else _AXES)
    values = _means(levels, scores[labels], weight, n_levels)
    useful = np.ones(scores.shape[1], dtype=bool)
    found, seen = values[levels], np.ones(len(levels), dtype=bool)
    if folds is not None and not simple:
        others, seen, useful = _cross_fit(levels, labels, weight, folds[known], scores, n_levels)
        found = found if n_levels * _MANY_SAMPLES <= len(known) else others
    if not useful.any():
        return _missing_or_not(numbers, n_levels)
    training = np.full((len(numbers), int(useful.sum())), np.nan)
    training[known[seen]] = found[seen][:, useful]
    kept = np.bincount(levels[seen], minlength=n_levels) > 0
    return _Column(kept, values[:, useful], training)


def _missing_or_not(numbers: NDArray, n_levels: int) -> _Column:
    """Return a column of which only the gaps are told, if it has some: else one without numbers."""
    missing = np.isnan(numbers)
    n_parts = int(missing.any())
    training = np.where(missing, np.nan, 0.0)[:, None][:, :n_parts]
    kept = np.full(n_levels, n_parts > 0)
    return _Column(kept, np.zeros((n_levels, n_parts)), training)


def _means(levels: NDArray[np.int64], scores: NDArray, weight: NDArray, n: int) -> NDArray:
    """Return the mean scores of every level, drawn towards 0."""
    counts = np.bincount(levels, weight, n)
    totals = np.empty((n, scores.shape[1]))
    for axis, each in enumerate(scores.T):
        totals[:, axis] = np.bincount(levels, weight * each, n)
    return totals / (counts + PRIOR)[:, None]


def _cross_fit(
    levels: NDArray[np.int64],
    labels: NDArray[np.int64],
    weight: NDArray,
    folds: NDArray[np.int64],
    scores: NDArray,
    n_levels: int,
) -> tuple[NDArray, NDArray[np.bool_], NDArray[np.bool_]]:
    """Return what the other folds say of every sample, whether they do, and which axes are useful.

    The axes are those of the other folds too, rotated to fit `scores`. An axis is useful where
    the means of a level go with the scores of its samples in the fold that is left out.
    """
    n_axes = scores.shape[1]
    means, products = np.zeros((len(levels), n_axes)), np.zeros((len(levels), n_axes))
    seen = np.zeros(len(levels), dtype=bool)
    for fold in range(_FOLDS):
        inside = folds == fold
        if inside.all() or not inside.any():
            continue
        there = levels[~inside], labels[~inside], weight[~inside]
        axes = _rotated(class_scores(*there, n_axes), scores, np.bincount(labels, weight))
        found = _means(there[0], axes[there[1]], there[2], n_levels)
        seen[inside] = np.isin(levels[inside], there[0])
        means[inside] = found[levels[inside]]
        products[inside] = means[inside] * axes[labels[inside]]
    products *= weight[:, None]
    useful = products.sum(axis=0) > _SURE * np.sqrt((products**2).sum(axis=0))
    return means, seen, useful


def _tells_classes(
    levels: NDArray[np.int64],
    labels: NDArray[np.int64],
    weight: NDArray,
    folds: NDArray[np.int64],
) -> bool:
    """Return whether samples of a level are of the same class more often than others are.

    It looks at pairs of samples in different folds, and knows no axes, which chance might turn
    to the classes of the samples where there are many classes.
    """
    by_class = np.bincount(labels, weight)
    share, metric = by_class / by_class.sum(), 1.0 / (by_class + PRIOR)
    expected = (share * metric)[labels]
    every = _sum_of_others(levels, folds, weight)
    same = _sum_of_others(levels * len(by_class) + labels, folds, weight)
    surplus = same * metric[labels] - every * expected + every * (share**2 @ metric)
    surplus -= _sum_of_others(levels, folds, weight * expected)
    surplus *= weight / (np.bincount(levels, weight)[levels] + PRIOR)
    return bool(surplus.sum() > _SURE * np.sqrt((surplus**2).sum()))


def _sum_of_others(
    groups: NDArray[np.int64], folds: NDArray[np.int64], amounts: NDArray
) -> NDArray:
    """Return the sum over the samples of the same group in other folds, for every sample."""
    groups = np.unique(groups, return_inverse=True)[1]
    size = (groups.max() + 1, _FOLDS)
    sums = np.bincount(groups * _FOLDS + folds, amounts, size[0] * size[1]).reshape(size)
    return (sums @ (1.0 - np.eye(_FOLDS)))[groups, folds]


def _rotated(axes: NDArray, scores: NDArray, class_weight: NDArray) -> NDArray:
    """Return axes of a part of the data, turned to those of all data."""
    whole = np.zeros_like(scores)
    whole[: len(axes), : axes.shape[1]] = axes
    by_weight = np.sqrt(class_weight)[:, None]
    with OneBlasThread():
        return whole @ orthogonal_procrustes(by_weight * whole, by_weight * scores)[0]


def _looked_up(table: NDArray, numbers: NDArray) -> NDArray:
    """Return rows of a table, NaN where there is no number."""
    known = ~np.isnan(numbers)
    found = np.full((len(numbers), table.shape[1]), np.nan)
    found[known] = table[numbers[known].astype(np.int64)]
    return found


def _put_together(values: NDArray, parts: dict[int, NDArray]) -> NDArray:
    """Return data with parts in place of some columns."""
    columns = [parts.get(column, values[:, [column]]) for column in range(values.shape[1])]
    return np.concatenate(columns, axis=1).astype(values.dtype, copy=False)
