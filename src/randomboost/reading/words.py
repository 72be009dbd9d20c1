"""Words with a meaning in the cells of a table: missing values, yes and no."""

from __future__ import annotations

from collections.abc import Collection

# in columns of every kind, as they are written here
MISSING = (
    "", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "?",
    "#N/A", "#DIV/0!", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!",  # of spreadsheets
)  # fmt: skip
# in columns of numbers, dates, durations and yes/no, in any case; in text they are categories
_NO_VALUE = frozenset(
    ("-", "--", "---", "\u2013", "\u2014", ".", "..", "?", "??", "*", "n/a", "n.a.", "n.a", "na",
     "nan", "nil", "none", "null", "unknown", "unk", "missing", "empty", "blank", "tbd",
     "not available", "not applicable", "not known", "not recorded", "no data", "(blank)",
     "(null)", "#n/a", "#na", "#null!", "#value!", "#ref!", "#name?", "#num!", "#div/0!", "#error!")
)  # fmt: skip
_YES = frozenset(("true", "t", "yes", "y", "on"))
_NO = frozenset(("false", "f", "no", "n", "off"))
_FLAGS = (
    dict.fromkeys(_YES, 1.0)
    | dict.fromkeys(_NO, 0.0)
    | {"1": 1.0, "1.0": 1.0, "0": 0.0, "0.0": 0.0}
)


def means_no_value(text: str, further: Collection[str] = ()) -> bool:
    """Return whether a word in a column of numbers and the like means a missing value.

    Parameters
    ----------
    text : str
        The cell without blanks around it.
    further : collection of str
        Further words with that meaning.

    Returns
    -------
    bool
        Whether it means a missing value.
    """
    return text.casefold() in _NO_VALUE or text in further


def flag_of(text: str) -> float | None:
    """Return 1 for yes, 0 for no, None for anything else.

    Parameters
    ----------
    text : str
        The cell without blanks around it.

    Returns
    -------
    float or None
        The flag.
    """
    return _FLAGS.get(text.casefold())


def are_flags(texts: Collection[str]) -> bool:
    """Return whether texts are words for yes and no, not only 0 and 1.

    Parameters
    ----------
    texts : collection of str
        Cells without blanks around them.

    Returns
    -------
    bool
        Whether all of them are flags and at least one is a word.
    """
    words = {text.casefold() for text in texts}
    return words <= _FLAGS.keys() and not words.isdisjoint(_YES | _NO)
