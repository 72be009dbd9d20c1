"""The target: the column with the classes."""

from __future__ import annotations

import difflib
from typing import Any

import numpy as np

from .column_cells import Texts, label_strings
from .errors import DataError

_MANY_VALUES = 20  # more distinct values with decimals are measurements
_FEW_ROWS = 30
_ROWS_PER_CLASS = 2  # on average; with fewer there is nothing to learn from


def find_target(names: list[str], target: str | None) -> str:
    """Return the name of the target column.

    Parameters
    ----------
    names : list of str
        Names of all columns.
    target : str or None
        Its name, or its number counted from 1 (-1 is the last); None for a column named
        "target", "class" or "label".

    Returns
    -------
    str
        The name.
    """
    if target is None:
        usual = [name for name in names if name.lower() in ("target", "class", "label")]
        if len(usual) == 1:
            return usual[0]
        raise DataError(
            f"the target column is not known: pass --target with one of {_named(names)}"
            + _only_one(names)
        )
    if target in names:
        return target
    try:
        number = int(target)
    except ValueError:
        near = [name for name in names if name.casefold() == target.casefold()]
        near = near or difflib.get_close_matches(target, names, n=3)
        hint = f"did you mean {_named(near)}?" if near else f"the columns are {_named(names)}"
        raise DataError(f"there is no column {target!r}: {hint}{_only_one(names)}") from None
    if not 1 <= abs(number) <= len(names):
        raise DataError(f"there is no column number {number}: there are {len(names)} columns")
    return names[number - 1 if number > 0 else number]


def _named(names: list[str]) -> str:
    some = ", ".join(repr(name) for name in names[:8])
    return some + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def _only_one(names: list[str]) -> str:
    """Return a hint on a file whose cells are perhaps separated by something unusual."""
    if len(names) != 1:
        return ""
    return (
        " (the file has only one column: cells have to be separated by commas, semicolons, tabs, "
        "bars or single spaces)"
    )


def class_codes(values: Any) -> tuple[Any, Any]:
    """Return the classes of a target column that has no missing cells, and that of every row.

    Parameters
    ----------
    values : Series
        The target column, without the rows where it is missing.

    Returns
    -------
    classes : ndarray of int64 or of str
        Labels in order: whole numbers stay numbers, everything else becomes strings.
    codes : ndarray of int
        Which of them every row has.
    """
    name, found = values.name, Texts(values)
    texts, n_rows = found.texts, len(found.places)
    if len(texts) < 2:
        raise DataError(
            f"the target {name!r} has only one class ({texts[0]!r}): at least two are needed"
        )
    numbers = _numbers(texts)
    numeric = numbers is not None and not _is_flag(values)
    whole = numeric and bool((numbers == numbers.round()).all())
    if numeric and not whole and len(texts) > _MANY_VALUES:
        raise DataError(
            f"the target {name!r} has {len(texts)} distinct values with decimals: this is "
            "regression, which classifiers do not do; group the values into classes first"
        )
    if n_rows >= _FEW_ROWS and len(texts) * _ROWS_PER_CLASS > n_rows:
        raise DataError(
            f"the target {name!r} has {len(texts)} classes in {n_rows} rows: nearly every "
            "row has a class of its own; is this the right column?"
        )
    labels = numbers.astype(np.int64) if whole else texts.astype(str)
    classes, codes = np.unique(labels, return_inverse=True)
    return classes, codes[found.places]


def class_labels(values: Any) -> Any:
    """Return the labels of a target column that has no missing cells.

    Parameters
    ----------
    values : Series
        The target column, without the rows where it is missing.

    Returns
    -------
    ndarray of int64 or of str
        Labels: whole numbers stay numbers, everything else becomes strings.
    """
    classes, codes = class_codes(values)
    return classes[codes]


def _numbers(texts: Any) -> Any:
    """Return the labels as numbers, None if there are words among them."""
    import pandas as pd

    numbers = np.asarray(pd.to_numeric(texts, errors="coerce"), dtype=np.float64)
    return None if np.isnan(numbers).any() or np.isinf(numbers).any() else numbers


def _is_flag(values: Any) -> bool:
    import pandas as pd

    return bool(pd.api.types.is_bool_dtype(values.dtype))


def target_strings(values: Any, *, numeric: bool) -> Any:
    """Return the cells of a target column as the strings of labels.

    Parameters
    ----------
    values : Series
        The column.
    numeric : bool
        Whether the labels are whole numbers: 7, 07 and 7.0 are the same.

    Returns
    -------
    Series of object
        Strings; None where a cell is missing.
    """
    import pandas as pd

    strings = label_strings(values)
    if not numeric:
        return strings
    numbers = pd.to_numeric(strings, errors="coerce")
    return label_strings(numbers).where(numbers.notna(), strings)
