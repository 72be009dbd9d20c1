"""Which columns of a table are features, of which kind, and which are better left out."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from .delimited import MISSING
from .errors import DataError

NUMBER, FLAG, CATEGORY, DATE = "number", "flag", "category", "date"
KINDS = (NUMBER, FLAG, CATEGORY, DATE)
_FLAGS = {"true": 1.0, "false": 0.0, "1": 1.0, "0": 0.0, "1.0": 1.0, "0.0": 0.0}
_IDENTIFIER = re.compile(r"(.*[\W_])?(id|index|uuid|guid|key|column_1|unnamed: 0)", re.IGNORECASE)
_ALL_DIFFERENT = 0.9  # share of different words from which on a column tells rows apart only
_FEW_ROWS = 20  # in fewer rows all words may well be different
_WHOLE, _DECIMAL = re.compile(r"-?[0-9]{1,18}"), re.compile(r"-?[0-9]+\.[0-9]*")
_UNCLEAR_DATE = re.compile(r"\d{1,4}[/.]\d{1,2}[/.]\d{1,4}( .*)?")


@dataclass(frozen=True)
class Column:
    """A feature.

    Parameters
    ----------
    name : str
        Its name in the table.
    kind : str
        One of `KINDS`: how its cells become numbers or categories.
    """

    name: str
    kind: str


@dataclass(frozen=True)
class LeftOut:
    """A column that is no feature.

    Parameters
    ----------
    name : str
        Its name in the table.
    reason : str
        Why.
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
        Columns to be features whatever they look like.
    drop : collection of str
        Columns to leave out.
    categories : collection of str
        Columns of numbers that are names of categories.

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
            raise DataError(f"--keep {name!r}: its cells are neither numbers, words nor dates")
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


def label_words(values: Any) -> Any:
    """Return the cells of a column as words, one for each value whatever its type.

    Parameters
    ----------
    values : Series
        The column.

    Returns
    -------
    Series of object
        Words; None where a cell is missing. The numbers 1 and 1.0 are both "1".
    """
    import pandas as pd

    codes, different = pd.factorize(values)
    words = np.array([*(_word(value) for value in different), None], dtype=object)
    return pd.Series(words[codes], index=values.index, name=values.name, dtype=object)


def _word(value: Any) -> str | None:
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(float(value))
    word = str(value).strip()
    return None if word in MISSING else word


# -- kinds -------------------------------------------------------------------------------------


def _kind(values: Any) -> str | None:
    """Return the kind of a column, or None for what is no feature at all."""
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
        return _kind_of_words(known)
    if not len(known):
        return NUMBER
    if all(isinstance(value, (bool, np.bool_)) for value in known):
        return FLAG
    if any(isinstance(value, (list, dict, bytes, np.ndarray, pd.Timedelta)) for value in known):
        return None
    return _kind_of_words(known)


def _kind_of_words(known: Any) -> str:
    import pandas as pd

    words = label_words(known).dropna()
    if not len(words):
        return NUMBER
    if words.str.lower().isin(["true", "false"]).all():
        return FLAG
    if pd.to_numeric(words, errors="coerce").notna().all():
        return NUMBER
    if pd.to_datetime(words, errors="coerce", format="ISO8601", utc=True).notna().all():
        return DATE
    return CATEGORY


def _why_not(values: Any, name: str, kind: str | None) -> str | None:
    """Return why a column is better left out, or None."""
    if kind is None:
        return "its cells are neither numbers, words nor dates"
    known = values.dropna()
    if not len(known):
        return "empty"
    n_different = known.nunique()
    if n_different == 1 and len(known) == len(values):
        return "always the same"
    if kind == CATEGORY:
        return _why_not_words(label_words(known), n_different)
    if kind == NUMBER and n_different == len(values) > _FEW_ROWS:
        numbers = _numbers(values)
        if np.array_equal(numbers, np.round(numbers)):
            steps = np.diff(numbers)
            if _IDENTIFIER.fullmatch(name) or (steps == 1).all():
                return "an identifier: counts the rows or names them"
    return None


def _why_not_words(words: Any, n_different: int) -> str | None:
    if words.map(_UNCLEAR_DATE.fullmatch).notna().all():
        return "dates in an unclear form: write YYYY-MM-DD"
    if len(words) > _FEW_ROWS and n_different > _ALL_DIFFERENT * len(words):
        return "an identifier: (nearly) every row has another word"
    return None


# -- cells -------------------------------------------------------------------------------------


def _refuse(bad: Any, expected: str) -> None:
    """Raise if there are cells that are not what they should be."""
    if len(bad):
        raise DataError(
            f"column {bad.name!r} has {bad.iloc[0]!r} in row {bad.index[0] + 1} where {expected} "
            "is expected"
        )


def _numbers(values: Any) -> Any:
    import pandas as pd

    if not pd.api.types.is_numeric_dtype(values.dtype):
        words = label_words(values)
        numbers = pd.to_numeric(words, errors="coerce")
        _refuse(words[numbers.isna() & words.notna()], "a number")
        values = numbers
    found = values.to_numpy(dtype=np.float64, na_value=np.nan).copy()
    found[np.isinf(found)] = np.nan
    return found


def _flags(values: Any) -> Any:
    words = label_words(values).map(lambda word: word.lower(), na_action="ignore")
    flags = words.map(_FLAGS)
    _refuse(words[flags.isna() & words.notna()], "true or false")
    return flags.to_numpy(dtype=np.float64, na_value=np.nan)


def _categories(values: Any) -> Any:
    """Return categories; one that is a number is the same however it is written: 7, 07, 7.0."""
    import pandas as pd

    codes, words = pd.factorize(label_words(values))
    names = np.array([*(_plain_number(word) for word in words), None], dtype=object)
    return pd.Categorical(names[codes])


def _plain_number(word: str) -> str:
    if _WHOLE.fullmatch(word):
        return str(int(word))
    return str(_word(float(word))) if _DECIMAL.fullmatch(word) else word


def _days(values: Any) -> Any:
    """Return days since 1970."""
    import pandas as pd

    if not pd.api.types.is_datetime64_any_dtype(values.dtype):
        words = label_words(values)
        dates = pd.to_datetime(words, errors="coerce", format="ISO8601", utc=True)
        _refuse(words[dates.isna() & words.notna()], "a date (YYYY-MM-DD)")
        values = dates
    moments = pd.to_datetime(values, utc=True)
    days = (moments - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(days=1)
    return days.to_numpy(dtype=np.float64, na_value=np.nan)
