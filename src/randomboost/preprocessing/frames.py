"""Columns of pandas, polars and Arrow tables as numbers or as cells of categories.

narwhals reads all kinds of tables, so that the same data gives the same model in each of them.
Numbers and booleans become numbers, dates, times and durations become days; text and category types
are categories, and those with an order become their place in it.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Hashable
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import narwhals as nw

_DAY = 86_400e6  # microseconds
_NO_TABLES = (np.ndarray, list, tuple, type(None))


class Cells(NamedTuple):
    """The cells of a column of categories, None where missing, and the order of its levels."""

    values: list[Any]
    order: list[Any] | None


def as_table(X: Any) -> nw.DataFrame | None:
    """Return data as a table of narwhals.

    Parameters
    ----------
    X : object
        Any input.

    Returns
    -------
    narwhals.DataFrame or None
        The table; None for arrays, sparse matrices, tables of sparse columns, and tables with
        duplicate column names, all of which scikit-learn converts.
    """
    if isinstance(X, _NO_TABLES) or hasattr(X, "toarray"):
        return None
    import narwhals as nw

    if hasattr(X, "iloc") and hasattr(X, "dtypes"):  # pandas
        kinds = [kind for kind in np.ravel(X.dtypes) if not isinstance(kind, np.dtype)]
        sparse = any(str(kind).startswith("Sparse") for kind in kinds)
        if sparse or not getattr(getattr(X, "columns", None), "is_unique", False):
            return None
    table = nw.from_native(X, pass_through=True)
    if isinstance(table, nw.LazyFrame):
        raise ValueError("X is a lazy table: call its collect() first")
    return table if isinstance(table, nw.DataFrame) else None


def read_columns(table: nw.DataFrame) -> list[NDArray | Cells]:
    """Return the numbers of every column, or the cells of a column of categories.

    Parameters
    ----------
    table : narwhals.DataFrame
        The table.

    Returns
    -------
    list of ndarray of float or Cells
        Numbers, with NaN for missing cells, or categories.

    Raises
    ------
    ValueError
        If a column has neither numbers nor categories.
    """
    known = _plain_columns(table.to_native())
    return [
        known[place] if place in known else _read_column(name, table.get_column(name))
        for place, name in enumerate(table.columns)
    ]


def _plain_columns(frame: Any) -> dict[int, NDArray]:
    """Return the numbers of those columns of a pandas table that are arrays, by position.

    Columns of one type are read together: one by one that takes longer than a prediction.
    """
    places: dict[np.dtype, list[int]] = {}
    if hasattr(frame, "iloc"):
        for place, kind in enumerate(frame.dtypes):
            if isinstance(kind, np.dtype) and (kind.kind in "biu" or kind.char in "fd"):
                places.setdefault(kind, []).append(place)
    found: dict[int, NDArray] = {}
    for kind, chosen in places.items():
        part = frame if len(chosen) == frame.shape[1] else frame.iloc[:, chosen]
        dtype = np.float32 if kind == np.float32 else np.float64
        found.update(zip(chosen, part.to_numpy().astype(dtype, copy=False).T, strict=True))
    return found


def _read_column(name: Hashable, column: nw.Series) -> NDArray | Cells:
    import narwhals as nw

    kind = column.dtype
    if isinstance(kind, nw.Categorical | nw.Enum):
        return Cells(_present(column), _order_of(column))
    if isinstance(kind, nw.String):
        return Cells(_present(column), None)
    if isinstance(kind, nw.Float32):
        return np.asarray(column.to_numpy(), dtype=np.float32)
    if isinstance(kind, nw.Boolean | nw.Decimal) or kind.is_numeric():
        return np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64)
    if isinstance(kind, nw.Date | nw.Datetime):
        return days(column)
    if isinstance(kind, nw.Duration):
        return np.asarray(column.dt.total_microseconds().to_numpy(), dtype=np.float64) / _DAY
    if isinstance(kind, nw.Time | nw.Object | nw.Unknown):
        return _from_objects(name, _present(column), str(kind))
    raise _no_feature(name, str(kind))


def days(column: nw.Series) -> NDArray:
    """Return dates as days since 1970, those with a time zone in UTC.

    Parameters
    ----------
    column : narwhals.Series
        Dates, with or without times.

    Returns
    -------
    ndarray of float64
        The days; NaN where a date is missing.
    """
    return np.asarray(column.dt.timestamp("us").to_numpy(), dtype=np.float64) / _DAY


def levels_of(cells: Cells) -> list[Any]:
    """Return the distinct categories of a column, in an order that depends on nothing else.

    Parameters
    ----------
    cells : Cells
        The column.

    Returns
    -------
    list
        All levels in their order, where they have one; else those that occur, sorted as text.
    """
    if cells.order is not None:
        return cells.order
    found = {value for value in cells.values if value is not None}
    return sorted(found, key=lambda value: (str(type(value)), str(value)))


def level_numbers(values: list[Any], levels: list[Any]) -> NDArray:
    """Return the number of the level in every cell.

    Parameters
    ----------
    values : list
        Cells.
    levels : list
        Levels.

    Returns
    -------
    ndarray of float64
        Places in `levels`; NaN for missing cells and other values.
    """
    places = {level: float(place) for place, level in enumerate(levels)}
    return np.array([places.get(value, np.nan) for value in values], dtype=np.float64)


def _present(column: nw.Series) -> list[Any]:
    """Return the cells of a column, None where they are missing."""
    coded: Any = getattr(column.to_native(), "cat", None)
    if hasattr(coded, "codes"):  # pandas; a missing cell has the code -1
        levels = [*coded.categories.tolist(), None]
        return [levels[code] for code in coded.codes.tolist()]
    missing = column.is_null().to_list()
    return [None if gap else value for gap, value in zip(missing, column.to_list(), strict=True)]


def _order_of(column: nw.Series) -> list[Any] | None:
    """Return the levels of an ordered category type, else None."""
    import narwhals as nw

    native = column.to_native()
    if hasattr(native, "cat") and hasattr(native.cat, "ordered"):  # pandas
        return native.cat.categories.tolist() if native.cat.ordered else None
    if hasattr(native, "combine_chunks"):  # Arrow
        if not native.type.ordered:
            return None
        joined = native.unify_dictionaries().combine_chunks()
        return joined.dictionary.to_pylist()
    return list(column.dtype.categories) if isinstance(column.dtype, nw.Enum) else None


def _from_objects(name: Hashable, values: list[Any], kind: str) -> NDArray | Cells:
    """Return a column of Python objects by what they are."""
    known = [value for value in values if value is not None]
    if all(isinstance(value, Real | np.bool_ | Decimal) for value in known):
        return np.array([np.nan if value is None else float(value) for value in values])
    makers: dict[type, Callable[[Any], float]] = {
        datetime.date: _day_of,
        datetime.time: _time_of,
        datetime.timedelta: lambda value: value / datetime.timedelta(days=1),
    }
    for type_, number in makers.items():
        if all(isinstance(value, type_) for value in known):
            return np.array([np.nan if value is None else number(value) for value in values])
    if all(isinstance(value, str | Real | np.bool_) for value in known):
        return Cells(values, None)
    other = next(value for value in known if not isinstance(value, str | Real | np.bool_))
    raise _no_feature(name, f"{kind} of {type(other).__name__}")


def _day_of(value: datetime.date) -> float:
    if not isinstance(value, datetime.datetime):
        return float((value - datetime.date(1970, 1, 1)).days)
    zone = None if value.tzinfo is None else datetime.UTC
    return (value - datetime.datetime(1970, 1, 1, tzinfo=zone)) / datetime.timedelta(days=1)


def _time_of(value: datetime.time) -> float:
    seconds = 3600 * value.hour + 60 * value.minute + value.second
    return (1e6 * seconds + value.microsecond) / _DAY


def _no_feature(name: Hashable, kind: str) -> ValueError:
    return ValueError(
        f"column {name!r} of X has type {kind}, which cannot be a feature: convert it to "
        "numbers, text or dates, or leave it out"
    )
