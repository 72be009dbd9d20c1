"""What the parsers of cells return: values, and the forms in which they were written."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

MOST_UNREADABLE = 0.05  # fraction of the cells of a column


@dataclass
class Parsed:
    """Values of the distinct texts of a column.

    Parameters
    ----------
    values : ndarray of float64
        The values; NaN where a text is not readable.
    readable : ndarray of bool
        Which texts are readable.
    forms : dict of str to ndarray of bool
        Forms other than the plain one, and which texts are written in them.
    """

    values: Any
    readable: Any
    forms: dict[str, Any] = field(default_factory=dict)

    @staticmethod
    def of(n_texts: int) -> Parsed:
        """Return the result for texts of which none has been read yet."""
        return Parsed(np.full(n_texts, np.nan), np.zeros(n_texts, dtype=bool))

    def put(self, place: Any, value: float, *forms: str) -> None:
        """Set the value of a text and the forms in which it is written."""
        self.values[place] = value
        self.readable[place] = True
        for form in forms:
            self.mark(place, form)

    def mark(self, place: Any, form: str) -> None:
        """Note that texts are written in a form."""
        if form not in self.forms:
            self.forms[form] = np.zeros(len(self.values), dtype=bool)
        self.forms[form][place] = True

    def refuse(self, which: Any) -> None:
        """Make texts unreadable."""
        self.readable &= ~which
        self.values[which] = np.nan
        for form in list(self.forms):
            self.forms[form] &= ~which
            if not self.forms[form].any():
                del self.forms[form]

    def n_cells(self, counts: Any) -> int:
        """Return the number of readable cells, given how often each text occurs."""
        return int(counts[self.readable].sum())


@dataclass(frozen=True)
class Reading:
    """A way to read a column.

    Parameters
    ----------
    kind : str
        Kind of the values.
    settings : dict
        What the parser needs: arguments of `Column`.
    n_cells : int
        Number of readable cells.
    note : str
        What a user should check, such as an ambiguous notation.
    """

    kind: str
    settings: dict[str, Any]
    n_cells: int
    note: str = ""

    @staticmethod
    def of(
        kind: str, parsed: Parsed, counts: Any, settings: dict[str, Any], note: str = ""
    ) -> Reading | None:
        """Return the reading of parsed texts, None if none of them is of the kind."""
        n_cells = parsed.n_cells(np.asarray(counts))
        return Reading(kind, settings, n_cells, note) if n_cells else None


def ambiguity(text: str, read_as: str, setting: str, other: str) -> str:
    """Return the note on a notation that has two meanings.

    Parameters
    ----------
    text : str
        A cell.
    read_as : str
        How it is read.
    setting, other : str
        The setting that decides, and its value for the other meaning.

    Returns
    -------
    str
        The note.
    """
    return f"ambiguous: {text} is read as {read_as}; set {setting} to {other} if that is wrong"
