"""An account of the cells of a table: unreadable ones, words for missing values, new forms."""

from __future__ import annotations

from collections import Counter

from .column_cells import Cells
from .columns import FLAG, Column
from .dates import DATE
from .durations import DURATION
from .errors import DataError
from .numbers import NUMBER
from .parsed import MOST_UNREADABLE

_EXPECTED = {
    NUMBER: "a number",
    FLAG: "yes or no",
    DATE: "a date",
    DURATION: "a duration",
}


class Account:
    """What was found in the columns of a table: forms that are new, cells that are unreadable.

    Parameters
    ----------
    source : str
        Name of the table, for messages.
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self._new: dict[str, Counter[str]] = {}
        self._words: dict[str, Counter[str]] = {}
        self._unreadable: dict[str, Counter[str]] = {}
        self._rows: dict[str, int] = {}
        self._known: Counter[str] = Counter()
        self._columns: dict[str, Column] = {}

    def add(self, column: Column, cells: Cells) -> None:
        """Take note of the cells of a column, or of some of its rows.

        Parameters
        ----------
        column : Column
            The column.
        cells : Cells
            Its cells.
        """
        name = column.name
        n_unreadable = cells.unreadable.total()
        self._columns[name] = column
        self._known[name] += len(cells.values) - cells.n_missing + n_unreadable
        for form, count in cells.forms.items():
            if form not in column.forms:
                self._new.setdefault(name, Counter())[form] += count
        if cells.words:
            self._words.setdefault(name, Counter()).update(cells.words)
        if n_unreadable:
            self._unreadable.setdefault(name, Counter()).update(cells.unreadable)
            self._rows.setdefault(name, cells.row)

    def check(self) -> None:
        """Raise an error if too many cells of a column are unreadable."""
        for name, texts in self._unreadable.items():
            count, known = texts.total(), self._known[name]
            if count > MOST_UNREADABLE * known:
                text = texts.most_common(1)[0][0]
                raise DataError(
                    f"column {name!r} of {self._source}: {count} of {known} cells are not "
                    f"{_expected(self._columns[name])}, the first in row {self._rows[name] + 1}; "
                    f"the most frequent one is {text!r}. Correct them, or leave them empty"
                )

    def remarks(self) -> list[str]:
        """Return remarks on unreadable cells, words for missing values, and new forms."""
        found = []
        for name, texts in self._unreadable.items():
            expected = _expected(self._columns[name])
            found.append(
                f"column {name!r}: {texts.total()} cells are not {expected} and "
                f"count as missing ({with_counts(texts)}; first in row {self._rows[name] + 1})"
            )
        for name, words in self._words.items():
            found.append(f"column {name!r}: counted as missing: {with_counts(words)}")
        for name, forms in self._new.items():
            found.append(
                f"column {name!r}: in a form that the training data did not have: "
                f"{with_counts(forms, quoted=False)}"
            )
        return found


def _expected(column: Column) -> str:
    if column.kind != NUMBER or column.decimal == ".":
        return _EXPECTED[column.kind]
    return "a number with a decimal comma"


def with_counts(found: Counter[str], *, quoted: bool = True, limit: int = 4) -> str:
    """Return texts with their counts in one line.

    Parameters
    ----------
    found : Counter
        The texts.
    quoted : bool
        Whether to quote them.
    limit : int
        How many to list.

    Returns
    -------
    str
        The line.
    """
    parts = [
        f"{text!r} {count}" if quoted else f"{text} {count}"
        for text, count in found.most_common(limit)
    ]
    more = len(found) - limit
    return ", ".join(parts) + (f" and {more} more" if more > 0 else "")
