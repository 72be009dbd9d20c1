"""Cells of a column as numbers or categories, with an account of what was converted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..preprocessing.frames import days
from .codes import full_code
from .columns import CATEGORY, FLAG, Column
from .dates import DATE, parse_dates
from .durations import DURATION, parse_durations
from .numbers import NUMBER, parse_numbers, plain_numbers
from .parsed import Parsed
from .words import MISSING, flag_of, means_no_value

_WHOLE, _DECIMAL = re.compile(r"-?[0-9]{1,18}"), re.compile(r"-?[0-9]+\.[0-9]*")


class Texts:
    """The distinct texts of a column.

    Parameters
    ----------
    values : Series
        The column.

    Attributes
    ----------
    texts : ndarray of str objects
        Distinct cells without blanks around them, in the order of their appearance.
    places : ndarray of int
        Which of them each cell has, -1 if it is missing.
    counts : ndarray of int
        How often they occur.
    """

    def __init__(self, values: Any) -> None:
        import pandas as pd

        places, distinct = pd.factorize(values)
        strings = np.array([*(string_of(value) for value in distinct), None], dtype=object)
        again, texts = pd.factorize(strings)
        self.texts = np.array(texts, dtype=object)
        self.places = again[places]
        self.counts = np.bincount(self.places[self.places >= 0], minlength=len(self.texts))

    def spread(self, values: Any) -> Any:
        """Return a value per cell from one per text; NaN where a cell is missing."""
        return np.append(values, np.nan)[self.places]

    def without(self, which: Any) -> tuple[Any, Any]:
        """Return the texts and counts but some."""
        return self.texts[~which], self.counts[~which]


def string_of(value: Any) -> str | None:
    """Return the text of a cell, None if it means a missing value.

    Parameters
    ----------
    value : object
        The cell. The numbers 1 and 1.0 are both "1".

    Returns
    -------
    str or None
        The text without blanks around it.
    """
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(float(value))
    text = str(value).strip()
    return None if text in MISSING else text


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

    found = Texts(values)
    strings = np.array([*found.texts, None], dtype=object)
    return pd.Series(strings[found.places], index=values.index, name=values.name, dtype=object)


@dataclass
class Cells:
    """The converted cells of a column.

    Parameters
    ----------
    values : ndarray of float64 or Categorical
        The cells; missing and unreadable ones are NaN.
    words : Counter
        Words that count as missing, such as "unknown" in a column of numbers.
    forms : Counter
        Forms in which cells are written, without the plain one.
    unreadable : Counter
        Texts that are not of the kind of the column, which count as missing.
    row : int
        Index of the first unreadable cell.
    """

    values: Any
    words: Counter[str] = field(default_factory=Counter)
    forms: Counter[str] = field(default_factory=Counter)
    unreadable: Counter[str] = field(default_factory=Counter)
    row: int = -1

    @property
    def n_missing(self) -> int:
        """Number of cells without a value."""
        import pandas as pd

        return int(pd.isna(self.values).sum())


def read_cells(values: Any, column: Column, texts: Texts | None = None) -> Cells:
    """Convert the cells of a column.

    Parameters
    ----------
    values : Series
        The column as it was read.
    column : Column
        How its cells are written.
    texts : Texts or None
        Its distinct texts, if they are known already.

    Returns
    -------
    Cells
        The values, and what was converted.
    """
    if column.kind == CATEGORY:
        return _category_cells(values, column)
    typed = _typed_values(values, column.kind)
    if typed is None and column.kind == NUMBER and column.decimal == "." and not column.shares:
        plain = plain_numbers(values)
        typed = None if plain is None else plain[0].copy()
    if typed is not None:
        gone = np.isin(typed, [float(word) for word in column.missing if _is_number(word)])
        words = Counter(f"{value:g}" for value in typed[gone])
        typed[gone | np.isinf(typed)] = np.nan
        return Cells(typed, words)
    found = Texts(values) if texts is None else texts
    gone = np.array([means_no_value(text, column.missing) for text in found.texts], dtype=bool)
    parsed = Parsed.of(len(found.texts))
    known, _ = found.without(gone)
    part = _parse(known, column)
    parsed.values[~gone], parsed.readable[~gone] = part.values, part.readable
    parsed.values[np.isinf(parsed.values)] = np.nan
    counts = found.counts
    bad = ~gone & ~parsed.readable
    cells = Cells(
        found.spread(parsed.values),
        words=Counter(dict(zip(found.texts[gone], counts[gone].tolist(), strict=True))),
        forms=Counter(
            {form: int(counts[~gone][which].sum()) for form, which in part.forms.items()}
        ),
        unreadable=Counter(dict(zip(found.texts[bad], counts[bad].tolist(), strict=True))),
    )
    if cells.unreadable:
        first = np.flatnonzero(np.append(bad, False)[found.places])[0]
        cells.row = int(values.index[first])
    return cells


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _typed_values(values: Any, kind: str) -> Any:
    """Return the values of a column that is not text, None if it has to be parsed."""
    import narwhals as nw
    import pandas as pd

    types = pd.api.types
    if kind == NUMBER and types.is_numeric_dtype(values.dtype):
        return values.to_numpy(dtype=np.float64, na_value=np.nan).copy()
    if kind == FLAG and types.is_bool_dtype(values.dtype):
        return values.to_numpy(dtype=np.float64, na_value=np.nan).copy()
    if kind == DATE and types.is_datetime64_any_dtype(values.dtype):
        return days(nw.from_native(values, series_only=True))
    if kind == DURATION and types.is_timedelta64_dtype(values.dtype):
        seconds = values / pd.Timedelta(seconds=1)
        return seconds.to_numpy(dtype=np.float64, na_value=np.nan).copy()
    return None


def _parse(texts: Any, column: Column) -> Parsed:
    if column.kind == NUMBER:
        return parse_numbers(texts, decimal=column.decimal, unit=column.unit, shares=column.shares)
    if column.kind == DATE:
        return parse_dates(texts, order=column.order)
    if column.kind == DURATION:
        return parse_durations(texts, order=column.order)
    flags = [flag_of(text) for text in texts]
    values = np.array([np.nan if flag is None else flag for flag in flags], dtype=np.float64)
    return Parsed(values, ~np.isnan(values))


def _category_cells(values: Any, column: Column) -> Cells:
    """Return categories; numbers are normalised, so that 7, 07 and 7.0 are the same.

    Codes with leading zeros all get as many digits.
    """
    import pandas as pd

    found, forms = Texts(values), Counter[str]()
    names: list[str | None] = []
    for text, count in zip(found.texts, found.counts.tolist(), strict=True):
        if text in column.missing:
            names.append(None)
        elif column.digits:
            name, form = full_code(text, column.digits)
            names.append(name)
            forms[form] += count
        else:
            names.append(_plain_number(text))
    del forms[""]
    cells = pd.Categorical(np.array([*names, None], dtype=object)[found.places])
    return Cells(cells, forms=forms)


def _plain_number(text: str) -> str:
    if _WHOLE.fullmatch(text):
        return str(int(text))
    return str(string_of(float(text))) if _DECIMAL.fullmatch(text) else text


def feature_table(
    frame: Any,
    columns: Collection[Column],
    on_cells: Callable[[Column, Cells], None] | None = None,
) -> Any:
    """Return the features as float64 and category columns, in the order of `columns`.

    Parameters
    ----------
    frame : DataFrame
        A table with at least these columns.
    columns : collection of Column
        The features.
    on_cells : callable or None
        Takes every column with its cells, such as `Account.add`.

    Returns
    -------
    DataFrame
        The features; missing, infinite and unreadable values are NaN.
    """
    import pandas as pd

    made = {}
    for column in columns:
        cells = read_cells(frame[column.name], column)
        made[column.name] = cells.values
        if on_cells is not None:
            on_cells(column, cells)
    return pd.DataFrame(made, index=frame.index)
