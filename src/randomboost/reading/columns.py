"""The columns of a table: which are features, of which kind, and which are left out."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..preprocessing.frames import days
from .delimited import MISSING
from .errors import DataError

NUMBER, FLAG, CATEGORY, DATE = "number", "flag", "category", "date"
KINDS = (NUMBER, FLAG, CATEGORY, DATE)
_FLAGS = {"true": 1.0, "false": 0.0, "1": 1.0, "0": 0.0, "1.0": 1.0, "0.0": 0.0}
_IDENTIFIER = re.compile(r"(.*[\W_])?(id|index|uuid|guid|key|column_1|unnamed: 0)", re.IGNORECASE)
_ALL_DISTINCT = 0.9  # fraction of distinct values above which a column identifies rows
_FEW_ROWS = 20  # with fewer rows all values may well be distinct
_WHOLE, _DECIMAL = re.compile(r"-?[0-9]{1,18}"), re.compile(r"-?[0-9]+\.[0-9]*")
_AMBIGUOUS_DATE = re.compile(r"\d{1,4}[/.]\d{1,2}[/.]\d{1,4}( .*)?")


@dataclass(frozen=True)
class Column:
    """A feature.

    Parameters
    ----------
    name : str
        Name of the column.
    kind : str
        One of `KINDS`: how its cells are converted.
    """

    name: str
    kind: str


@dataclass(frozen=True)
class LeftOut:
    """A column that is not a feature.

    Parameters
    ----------
    name : str
        Name of the column.
    reason : str
        Why it is left out.
    """

    name: str
    reason: str


def choose_columns(
    frame: Any,
    *,
    keep: Collection[str] = (),
    drop: Collection[str] = (),
    categories: Collection[str] = (),
) -> tuple[list[Column], list[LeftOut]]:
    """Choose the features of a table without its target.

    Parameters
    ----------
    frame : DataFrame
        The table.
    keep : collection of str
        Columns to use even if they look useless.
    drop : collection of str
        Columns to leave out.
    categories : collection of str
        Columns of numbers to treat as categories.

    Returns
    -------
    columns : list of Column
        The features.
    left_out : list of LeftOut
        The others.
    """
    for option, names in (("--keep", keep), ("--drop", drop), ("--category", categories)):
        unknown = [name for name in names if name not in frame.columns]
        if unknown:
            raise DataError(f"{option} {unknown[0]!r}: there is no such column")
    columns, left_out = [], []
    for name in frame.columns:
        kind = CATEGORY if name in categories else _kind(frame[name])
        reason = "--drop" if name in drop else None
        if reason is None and name not in keep:
            reason = _why_not(frame[name], name, kind)
        if reason is None and kind is None:
            raise DataError(f"--keep {name!r}: its cells are neither numbers, text nor dates")
        if reason is None:
            columns.append(Column(name, str(kind)))
        else:
            left_out.append(LeftOut(name, reason))
    if not columns:
        raise DataError(
            "no column is left to learn from: "
            + "; ".join(f"{column.name} is left out ({column.reason})" for column in left_out)
        )
    return columns, left_out


def feature_table(frame: Any, columns: Collection[Column]) -> Any:
    """Return the features as float64 and category columns, in the order of `columns`.

    Parameters
    ----------
    frame : DataFrame
        A table with at least these columns.
    columns : collection of Column
        The features.

    Returns
    -------
    DataFrame
        The features; missing and infinite values are NaN.
    """
    import pandas as pd

    makers = {NUMBER: _numbers, FLAG: _flags, CATEGORY: _categories, DATE: _days}
    made = {column.name: makers[column.kind](frame[column.name]) for column in columns}
    return pd.DataFrame(made, index=frame.index)


def label_strings(values: Any) -> Any:
    """Return the cells of a column as strings that do not depend on the type of the column.

    Parameters
    ----------
    values : Series
        The column.

    Returns
    -------
    Series of object
        Strings; None where a cell is missing. The numbers 1 and 1.0 are both "1".
    """
    import pandas as pd

    places, distinct = pd.factorize(values)
    strings = np.array([*(_string(value) for value in distinct), None], dtype=object)
    return pd.Series(strings[places], index=values.index, name=values.name, dtype=object)


def _string(value: Any) -> str | None:
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(float(value))
    text = str(value).strip()
    return None if text in MISSING else text


# -- kinds -------------------------------------------------------------------------------------


def _kind(values: Any) -> str | None:
    """Return the kind of a column, or None if it cannot be a feature."""
    import pandas as pd

    dtype = values.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return CATEGORY
    if pd.api.types.is_bool_dtype(dtype):
        return FLAG
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return DATE
    if pd.api.types.is_numeric_dtype(dtype):
        return None if pd.api.types.is_complex_dtype(dtype) else NUMBER
    known = values.dropna()
    if pd.api.types.is_string_dtype(dtype) and dtype.kind != "O":
        return _kind_of_text(known)
    if not len(known):
        return NUMBER
    if all(isinstance(value, (bool, np.bool_)) for value in known):
        return FLAG
    if any(isinstance(value, (list, dict, bytes, np.ndarray, pd.Timedelta)) for value in known):
        return None
    return _kind_of_text(known)


def _kind_of_text(known: Any) -> str:
    import pandas as pd

    strings = label_strings(known).dropna()
    if not len(strings):
        return NUMBER
    if strings.str.lower().isin(["true", "false"]).all():
        return FLAG
    if pd.to_numeric(strings, errors="coerce").notna().all():
        return NUMBER
    if pd.to_datetime(strings, errors="coerce", format="ISO8601", utc=True).notna().all():
        return DATE
    return CATEGORY


def _why_not(values: Any, name: str, kind: str | None) -> str | None:
    """Return why a column should be left out, or None."""
    if kind is None:
        return "its cells are neither numbers, text nor dates"
    known = values.dropna()
    if not len(known):
        return "empty"
    n_distinct = known.nunique()
    if n_distinct == 1 and len(known) == len(values):
        return "constant"
    if kind == CATEGORY:
        return _why_not_text(label_strings(known), n_distinct)
    if kind == NUMBER and n_distinct == len(values) > _FEW_ROWS:
        numbers = _numbers(values)
        if np.array_equal(numbers, np.round(numbers)):
            steps = np.diff(numbers)
            if _IDENTIFIER.fullmatch(name) or (steps == 1).all():
                return "an identifier: it numbers the rows"
    return None


def _why_not_text(strings: Any, n_distinct: int) -> str | None:
    if strings.map(_AMBIGUOUS_DATE.fullmatch).notna().all():
        return "dates in an ambiguous format: use YYYY-MM-DD"
    if len(strings) > _FEW_ROWS and n_distinct > _ALL_DISTINCT * len(strings):
        return "an identifier: nearly every row has its own value"
    return None


# -- cells -------------------------------------------------------------------------------------


def _refuse(bad: Any, expected: str) -> None:
    """Raise an error if there are cells of another kind."""
    if len(bad):
        raise DataError(
            f"column {bad.name!r} has {bad.iloc[0]!r} in row {bad.index[0] + 1}, but {expected} is "
            "expected"
        )


def _numbers(values: Any) -> Any:
    import pandas as pd

    if not pd.api.types.is_numeric_dtype(values.dtype):
        strings = label_strings(values)
        numbers = pd.to_numeric(strings, errors="coerce")
        _refuse(strings[numbers.isna() & strings.notna()], "a number")
        values = numbers
    found = values.to_numpy(dtype=np.float64, na_value=np.nan).copy()
    found[np.isinf(found)] = np.nan
    return found


def _flags(values: Any) -> Any:
    strings = label_strings(values).map(str.lower, na_action="ignore")
    flags = strings.map(_FLAGS)
    _refuse(strings[flags.isna() & strings.notna()], "true or false")
    return flags.to_numpy(dtype=np.float64, na_value=np.nan)


def _categories(values: Any) -> Any:
    """Return categories; numbers are normalised, so that 7, 07 and 7.0 are the same."""
    import pandas as pd

    places, distinct = pd.factorize(label_strings(values))
    names = np.array([*(_plain_number(text) for text in distinct), None], dtype=object)
    return pd.Categorical(names[places])


def _plain_number(text: str) -> str:
    if _WHOLE.fullmatch(text):
        return str(int(text))
    return str(_string(float(text))) if _DECIMAL.fullmatch(text) else text


def _days(values: Any) -> Any:
    """Return days since 1970."""
    import narwhals as nw
    import pandas as pd

    if not pd.api.types.is_datetime64_any_dtype(values.dtype):
        strings = label_strings(values)
        dates = pd.to_datetime(strings, errors="coerce", format="ISO8601", utc=True)
        _refuse(strings[dates.isna() & strings.notna()], "a date (YYYY-MM-DD)")
        values = dates
    return days(nw.from_native(pd.to_datetime(values, utc=True), series_only=True))
