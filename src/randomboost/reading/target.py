"""The target: the column with the classes."""

from __future__ import annotations

import difflib
from typing import Any

import numpy as np

from .columns import label_words
from .errors import DataError

_MANY_VALUES = 20  # different values with decimals from which on they are measurements
_FEW_ROWS = 30
_ROWS_A_CLASS = 2  # on average; with fewer there is nothing to learn


def find_target(names: list[str], target: str | None) -> str:
    """Return the name of the target column.

    Parameters
    ----------
    names : list of str
        Names of all columns.
    target : str or None
        A name, or a number from 1 (from -1 from the end); None for a column named "target",
        "class" or "label".

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
            f"which column has the classes? Pass --target with its name; there are {_listed(names)}"
        )
    if target in names:
        return target
    try:
        number = int(target)
    except ValueError:
        near = difflib.get_close_matches(target, names, n=3)
        hint = f"did you mean {_listed(near)}?" if near else f"there are {_listed(names)}"
        raise DataError(f"there is no column {target!r}: {hint}") from None
    if not 1 <= abs(number) <= len(names):
        raise DataError(f"there is no column number {number}: there are {len(names)} columns")
    return names[number - 1 if number > 0 else number]


def _listed(names: list[str]) -> str:
    some = ", ".join(repr(name) for name in names[:8])
    return some + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def class_labels(values: Any) -> Any:
    """Return the labels of a target column without missing cells.

    Parameters
    ----------
    values : Series
        The target of the rows that have one.

    Returns
    -------
    ndarray of int64 or of str objects
        Labels: whole numbers stay numbers, all else becomes words.
    """
    name = values.name
    words = label_words(values)
    n_different = words.nunique()
    if n_different < 2:
        raise DataError(
            f"the target {name!r} has one class only ({words.iloc[0]!r}): at least two are needed"
        )
    numeric = _is_number(values)
    whole = numeric and bool((values == values.round()).all())
    if numeric and not whole and n_different > _MANY_VALUES:
        raise DataError(
            f"the target {name!r} has {n_different} different values with decimals: that is "
            "regression, and these are classifiers; make classes of it first"
        )
    if len(words) >= _FEW_ROWS and n_different * _ROWS_A_CLASS > len(words):
        raise DataError(
            f"the target {name!r} has {n_different} classes in {len(words)} rows: nearly every row "
            "has one of its own; is it the right column?"
        )
    if whole:
        return values.to_numpy(dtype=np.int64)
    return words.to_numpy(dtype=object).astype(str)


def _is_number(values: Any) -> bool:
    import pandas as pd

    dtype = values.dtype
    return pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype)
