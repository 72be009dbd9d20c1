"""Which columns of a table are features, how they are read, and which are left out."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from .account import with_counts
from .codes import find_codes, has_leading_zeros
from .column_cells import Cells, Texts, read_cells, string_of
from .columns import CATEGORY, FLAG, Column
from .dates import DATE, find_dates
from .decisions import LEFT_OUT, Decision, Override
from .durations import DURATION, find_durations
from .errors import DataError
from .numbers import NUMBER, NumberEvidence, plain_numbers
from .parsed import MOST_UNREADABLE, Reading
from .words import are_flags, means_no_value

_IDENTIFIER = re.compile(r"(.*[\W_])?(id|index|uuid|guid|key|column_1|unnamed: 0)", re.IGNORECASE)
_ALL_DISTINCT = 0.9  # fraction of distinct values above which a column identifies rows
_FEW_ROWS = 20  # with fewer rows all values may well be distinct
_SCREENED = 1000  # texts that decide whether a kind is worth trying on all of them
_EXAMPLES = 3
_LOOKED_AT = 100  # cells among which examples are found
_NOT_A_FEATURE = "its cells are neither numbers, text nor dates"


def choose_columns(
    frame: Any,
    *,
    keep: Collection[str] = (),
    drop: Collection[str] = (),
    categories: Collection[str] = (),
    overrides: Mapping[str, Override] | None = None,
) -> list[Decision]:
    """Decide about every column of a table without its target.

    Parameters
    ----------
    frame : DataFrame or StoredTable
        The table. A stored one is read column by column.
    keep : collection of str
        Columns to use even if they look useless.
    drop : collection of str
        Columns to leave out.
    categories : collection of str
        Columns of numbers to treat as categories.
    overrides : mapping of str to Override or None
        Decisions of the user.

    Returns
    -------
    list of Decision
        One for every column.
    """
    overrides = overrides or {}
    for option, names in (
        ("--keep", keep),
        ("--drop", drop),
        ("--category", categories),
        ("--columns-file", overrides),
    ):
        unknown = [name for name in names if name not in frame.columns]
        if unknown:
            raise DataError(f"{option} {unknown[0]!r}: there is no such column")
    kept_read = None if hasattr(frame, "memory_usage") else 1  # columns read at a time
    candidate = lru_cache(kept_read)(lambda name: _Candidate(frame[name]))
    signs = {candidate(name).decimal for name in frame.columns}
    usual = _usual_decimal(signs)
    found = []
    for name in frame.columns:
        wanted = overrides.get(name, Override())
        read_as = CATEGORY if name in categories else wanted.read_as
        if name in drop:
            found.append(candidate(name).left_out("--drop"))
        elif read_as == LEFT_OUT and name not in keep:
            found.append(candidate(name).left_out("--columns-file"))
        else:
            kind = None if read_as == LEFT_OUT else read_as
            found.append(candidate(name).decision(usual, kind, wanted, kept=name in keep))
    if all(decision.column is None for decision in found):
        raise DataError(
            "no column is left to learn from: "
            + "; ".join(f"{one.name} is left out ({one.note})" for one in found[:8])
            + (f" and {len(found) - 8} more" if len(found) > 8 else "")
            + ". --keep uses a column anyway"
        )
    return found


def _usual_decimal(signs: set[str | None]) -> str | None:
    """Return the decimal sign of the file if all columns that show one agree."""
    shown = signs - {None}
    return shown.pop() if len(shown) == 1 else None


class _Candidate:
    """A column before the decision about it.

    Parameters
    ----------
    values : Series
        The column.
    """

    def __init__(self, values: Any) -> None:
        self.values = values
        self.name = str(values.name)
        self.kind = _kind_of_type(values)
        self._typed = values
        self._texts: Texts | None = None
        self._numbers: NumberEvidence | None = None
        self._pointed: bool | None = False
        plain = plain_numbers(values) if self.kind == "text" else None
        if plain is not None and plain[1] is False and has_leading_zeros(values):
            plain = None
        if plain is not None and plain[1] is not None:
            self.kind = NUMBER
            numbers, self._pointed = plain
            self._typed = values.__class__(numbers, index=values.index)
        elif self.kind == "text":
            self._texts = found = Texts(values)
            gone = np.array([means_no_value(text) for text in found.texts], dtype=bool)
            self._known = found.without(gone)
            if len(self._known[0]) and _worth_trying(_find_numbers, *self._known):
                self._numbers = NumberEvidence(*self._known)

    @property
    def decimal(self) -> str | None:
        """Decimal sign that the cells show."""
        if self._numbers is None:
            return "." if self._pointed else None
        return self._numbers.decimal

    def left_out(self, reason: str) -> Decision:
        """Return the decision to leave the column out."""
        n_missing = int(self._typed.isna().sum())
        if self._texts is not None:
            n_missing = int((self._texts.places < 0).sum())
        return Decision(self.name, LEFT_OUT, None, n_missing, "", self._examples(), reason)

    def decision(
        self, usual: str | None, kind: str | None, wanted: Override, *, kept: bool
    ) -> Decision:
        """Return the decision about the column.

        Parameters
        ----------
        usual : str or None
            Decimal sign of the file.
        kind : str or None
            Kind that the user wants.
        wanted : Override
            Further decisions of the user.
        kept : bool
            Whether the user wants the column even if it looks useless.

        Returns
        -------
        Decision
            The decision.
        """
        reading = self._reading(usual)
        if reading is None:
            if kind is not None or kept:
                raise DataError(f"column {self.name!r} cannot be used: {_NOT_A_FEATURE}")
            return self.left_out(_NOT_A_FEATURE)
        settings = reading.settings if kind in (None, reading.kind) else {}
        note = reading.note if kind in (None, reading.kind) else ""
        given = wanted.settings(kind or reading.kind)
        if given.keys() & {"decimal", "order"}:
            note = ""  # what was ambiguous has been decided
        column = Column(self.name, kind or reading.kind, **{**settings, **given})
        cells = read_cells(self.values, column, self._texts)
        if kind is not None and not kept:
            self._check_forced(cells, column)
        column = Column.from_dict({**column.as_dict(), "forms": sorted(cells.forms)})
        reason = None if kept or kind is not None else self._why_not(cells, column)
        if reason is not None:
            return self.left_out(reason + (f"; {note}" if note else ""))
        return Decision(
            self.name, column.kind, column, cells.n_missing, _converted(cells), self._examples(),
            note,
        )  # fmt: skip

    def _check_forced(self, cells: Cells, column: Column) -> None:
        """Refuse a kind that the user wants but most cells do not have."""
        n_known = len(cells.values) - cells.n_missing + cells.unreadable.total()
        if cells.unreadable.total() > MOST_UNREADABLE * n_known:
            raise DataError(
                f"column {self.name!r} cannot be read as {column.kind}: "
                f"{cells.unreadable.total()} of {n_known} cells are something else "
                f"({with_counts(cells.unreadable)}): list them as missing_words in the columns "
                "file, or read it as category"
            )

    def _reading(self, usual: str | None) -> Reading | None:
        """Return how to read the column, None if it cannot be a feature."""
        if self.kind != "text":
            return None if self.kind is None else Reading(self.kind, {}, len(self.values))
        texts, counts = self._known
        total = int(counts.sum())
        if not len(texts):
            empty = self._texts is None or not len(self._texts.texts)
            return Reading(NUMBER if empty else CATEGORY, {}, 0)
        if are_flags(texts):
            return Reading(FLAG, {}, total)
        codes = find_codes(texts, counts)
        if codes is not None:
            return codes
        number = None if self._numbers is None else self._numbers.reading(usual)
        if number is not None and number.n_cells == total:
            return number
        found = [number] + [find(texts, counts) for find in (find_dates, find_durations)
                  if _worth_trying(find, texts, counts)]  # fmt: skip
        readings = [reading for reading in found if reading is not None]
        best = max(readings, key=lambda reading: reading.n_cells, default=None)
        if best is None or 2 * best.n_cells < total:
            return Reading(CATEGORY, {}, total)
        if best.n_cells < (1 - MOST_UNREADABLE) * total:
            note = best.note or (
                f"{best.n_cells} of {total} cells are {best.kind}s: to read it so, list the other "
                "words as missing_words in a columns file"
            )
            return Reading(CATEGORY, {}, total, note)
        return best

    def _why_not(self, cells: Cells, column: Column) -> str | None:
        """Return why the column should be left out, or None."""
        if self._texts is None:
            known = self._typed.dropna()
            n_known, n_distinct = len(known), known.nunique()
        else:
            n_known, n_distinct = int(self._texts.counts.sum()), len(self._texts.texts)
        if not n_known or cells.n_missing == len(self.values):
            return "empty"
        if n_distinct == 1 and n_known == len(self.values):
            if self.values.nunique() > _ALL_DISTINCT * n_known:  # digits beyond those of a number
                return "an identifier: nearly every row has its own value"
            return "constant"
        if n_known <= _FEW_ROWS:
            return None
        if column.kind == CATEGORY and n_distinct > _ALL_DISTINCT * n_known:
            return "an identifier: nearly every row has its own value"
        if column.kind == NUMBER and n_distinct == len(self.values):
            return _numbers_the_rows(np.asarray(cells.values), self.name)
        return None

    def _examples(self) -> tuple[str, ...]:
        if self._texts is not None:
            return tuple(str(text) for text in self._texts.texts[:_EXAMPLES])
        some = [string_of(value) for value in self.values.dropna()[:_LOOKED_AT]]
        return tuple(dict.fromkeys(text for text in some if text is not None))[:_EXAMPLES]


def _find_numbers(texts: Any, counts: Any) -> Reading | None:
    return NumberEvidence(texts, counts).reading(None)


def _worth_trying(find: Any, texts: Any, counts: Any) -> bool:
    """Return whether at least half of some texts from all parts of a column are of a kind.

    Few texts are all tried anyway.
    """
    if len(texts) <= _SCREENED:
        return True
    step = -(-len(texts) // _SCREENED)
    found = find(texts[::step], counts[::step])
    return found is not None and 2 * found.n_cells >= int(counts[::step].sum())


def _numbers_the_rows(numbers: Any, name: str) -> str | None:
    """Return the reason if distinct numbers, one for every row, identify the rows."""
    if not np.array_equal(numbers, np.round(numbers)):
        return None
    running = numbers.max() - numbers.min() == len(numbers) - 1
    growing = (np.diff(numbers) > 0).all() and np.median(np.diff(numbers)) == 1
    if running or growing or _IDENTIFIER.fullmatch(name):
        return "an identifier: it numbers the rows"
    return None


def _converted(cells: Cells) -> str:
    """Return what was converted, with the number of cells."""
    parts = []
    if cells.forms:
        parts.append(with_counts(cells.forms, quoted=False, limit=8))
    if cells.words:
        parts.append(f"missing: {with_counts(cells.words)}")
    if cells.unreadable:
        parts.append(f"unreadable, missing: {with_counts(cells.unreadable)}")
    return "; ".join(parts)


def _kind_of_type(values: Any) -> str | None:
    """Return the kind of a column by its type, "text" if it has to be parsed, None if neither."""
    import pandas as pd

    types, dtype = pd.api.types, values.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return CATEGORY
    if types.is_bool_dtype(dtype):
        return FLAG
    if types.is_datetime64_any_dtype(dtype):
        return DATE
    if types.is_timedelta64_dtype(dtype):
        return DURATION
    if types.is_numeric_dtype(dtype):
        return None if types.is_complex_dtype(dtype) else NUMBER
    if isinstance(dtype, pd.StringDtype):
        return "text"
    nested = (list, dict, bytes, np.ndarray, tuple, set)
    return None if any(isinstance(value, nested) for value in values) else "text"
