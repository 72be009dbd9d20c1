"""Codes of digits with leading zeros, such as postal codes: categories, not numbers."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from .columns import CATEGORY
from .parsed import MOST_UNREADABLE, Reading

_LEADING_ZERO = "0[0-9]+"
_CODE = re.compile(r"[0-9]+")
_NOTE = "digits with leading zeros are codes; set read_as to number if they are quantities"


def has_leading_zeros(values: Any) -> bool:
    """Return whether some cells of a column of text are digits with a leading zero.

    Parameters
    ----------
    values : Series
        The column.

    Returns
    -------
    bool
        Whether there are some.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = pa.array(values, pa.string(), from_pandas=True)
    found = pc.any(pc.match_substring_regex(cells, rf"^\s*{_LEADING_ZERO}\s*$"))
    return bool(found.as_py())


def find_codes(texts: Any, counts: Any) -> Reading | None:
    """Decide whether a column has codes of digits.

    It does if all of its numbers are whole ones without signs, and either all of the same length
    and some with a leading zero, or a twentieth of them with one: a single ``07`` among numbers of
    all lengths is a number.

    Parameters
    ----------
    texts : ndarray of str objects
        Distinct cells without blanks around them.
    counts : ndarray of int
        How often they occur.

    Returns
    -------
    Reading or None
        How to read it; None if it has no codes.
    """
    digits = np.array([_CODE.fullmatch(text) is not None for text in texts], dtype=bool)
    zero = np.array([len(text) > 1 and text[0] == "0" for text in texts], dtype=bool) & digits
    n_cells, n_zero = int(counts[digits].sum()), int(counts[zero].sum())
    if not n_zero or n_cells < (1 - MOST_UNREADABLE) * counts.sum():
        return None
    lengths = {len(text) for text in texts[digits]}
    if len(lengths) > 1 and n_zero < MOST_UNREADABLE * n_cells:
        return None
    longest = max(len(text) for text in texts[zero])
    return Reading(CATEGORY, {"digits": longest}, n_cells, _NOTE)


def full_code(text: str, digits: int) -> tuple[str, str]:
    """Return a code with all its digits, and the form in which it is written.

    Parameters
    ----------
    text : str
        The cell.
    digits : int
        Number of digits of the codes in the column.

    Returns
    -------
    tuple of str
        The code, and "" if it is not digits or has no leading zero.
    """
    if not _CODE.fullmatch(text):
        return text, ""
    if len(text) < digits:
        return text.zfill(digits), "leading zeros added"
    return text, "leading zeros" if text[0] == "0" else ""
