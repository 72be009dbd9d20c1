"""Tables as numbers, and the encoding of their categories.

How the numbers of categories are learned is in `level_means`.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .frames import Cells, as_table, level_numbers, levels_of, read_columns

FROM_DTYPE = "from_dtype"


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
        return read_columns(table), list(table.columns)
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

    @property
    def mostly_categories(self) -> bool:
        """Whether more than half of the columns of the input have categories."""
        return 2 * len(self.codebooks) > self.n_columns

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
        return put_together(values, parts)


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


def _looked_up(table: NDArray, numbers: NDArray) -> NDArray:
    """Return rows of a table, NaN where there is no number."""
    known = ~np.isnan(numbers)
    found = np.full((len(numbers), table.shape[1]), np.nan)
    found[known] = table[numbers[known].astype(np.int64)]
    return found


def put_together(values: NDArray, parts: dict[int, NDArray]) -> NDArray:
    """Return data with parts in place of some columns.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_columns)
        Data.
    parts : dict of int to ndarray
        What takes the place of a column, by its position.

    Returns
    -------
    ndarray of shape (n_samples, n_encoded)
        The data.
    """
    columns = [parts.get(column, values[:, [column]]) for column in range(values.shape[1])]
    return np.concatenate(columns, axis=1).astype(values.dtype, copy=False)
