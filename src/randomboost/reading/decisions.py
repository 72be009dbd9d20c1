"""The decisions about the columns of a table, as a file that a user can edit."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .columns import KINDS, Column, LeftOut
from .dates import DATE, ORDERS
from .durations import CLOCKS, DURATION
from .errors import DataError
from .numbers import NUMBER

LEFT_OUT, TARGET = "left out", "target"
_SETTINGS = ("column", "read_as", "decimal", "unit", "order", "missing_words")
_FACTS = ("missing", "converted", "examples", "note")  # not read back
_BETWEEN = " | "  # between words and between examples in one cell
_LONGEST = 40  # characters of an example


@dataclass(frozen=True)
class Decision:
    """What was decided about a column.

    Parameters
    ----------
    name : str
        Name of the column.
    read_as : str
        A kind, "left out" or "target".
    column : Column or None
        The feature, None if it is none.
    n_missing : int
        Number of cells without a value.
    converted : str
        What was converted.
    examples : tuple of str
        Some cells as they are in the file.
    note : str
        Why it is left out, or what to check.
    """

    name: str
    read_as: str
    column: Column | None
    n_missing: int
    converted: str
    examples: tuple[str, ...]
    note: str

    def with_note(self, note: str) -> Decision:
        """Return the decision with a further note."""
        return replace(self, note=f"{self.note}; {note}" if self.note else note)

    def as_dict(self) -> dict[str, Any]:
        """Return a line of the table: what can be edited, then facts."""
        column = self.column or Column(self.name, self.read_as)
        return {
            "column": self.name,
            "read_as": self.read_as,
            "decimal": column.decimal if column.kind == NUMBER else "",
            "unit": column.unit,
            "order": column.order,
            "missing_words": _BETWEEN.join(column.missing),
            "missing": self.n_missing,
            "converted": self.converted,
            "examples": _BETWEEN.join(map(_shortened, self.examples)),
            "note": self.note,
        }


@dataclass(frozen=True)
class Override:
    """What a user decided about a column; empty where the choice is automatic.

    Parameters
    ----------
    read_as : str or None
        A kind, "left out" or "target".
    decimal, unit, order : str
        As in `Column`.
    missing : tuple of str
        Further words that mean a missing value.
    """

    read_as: str | None = None
    decimal: str = ""
    unit: str = ""
    order: str = ""
    missing: tuple[str, ...] = ()

    def settings(self, kind: str) -> dict[str, Any]:
        """Return the settings that a column of this kind has."""
        found: dict[str, Any] = {"missing": self.missing} if self.missing else {}
        if kind == NUMBER:
            found |= {"decimal": self.decimal} if self.decimal else {}
            found |= {"unit": self.unit} if self.unit else {}
        if kind in (DATE, DURATION) and self.order:
            found["order"] = self.order
        return found


def _shortened(example: str) -> str:
    return example if len(example) <= _LONGEST else example[: _LONGEST - 3] + "..."


def features_of(decisions: list[Decision]) -> list[Column]:
    """Return the features.

    Parameters
    ----------
    decisions : list of Decision
        The decisions.

    Returns
    -------
    list of Column
        The columns that are used.
    """
    return [decision.column for decision in decisions if decision.column is not None]


def left_out_of(decisions: list[Decision]) -> list[LeftOut]:
    """Return the columns that are left out.

    Parameters
    ----------
    decisions : list of Decision
        The decisions.

    Returns
    -------
    list of LeftOut
        The columns with the reasons.
    """
    return [LeftOut(one.name, one.note) for one in decisions if one.read_as == LEFT_OUT]


def decisions_text(decisions: list[Decision], path: str) -> str:
    """Return the decisions as the text of a file.

    Parameters
    ----------
    decisions : list of Decision
        The decisions.
    path : str
        Name of the file: JSON if it ends in .json, else CSV.

    Returns
    -------
    str
        The text.
    """
    entries = [decision.as_dict() for decision in decisions]
    if path.lower().endswith(".json"):
        return json.dumps(entries, ensure_ascii=False, indent=1) + "\n"
    stream = io.StringIO()
    writer = csv.DictWriter(stream, [*_SETTINGS, *_FACTS], lineterminator="\n")
    writer.writeheader()
    writer.writerows(entries)
    return stream.getvalue()


def read_overrides(path: str) -> dict[str, Override]:
    """Read decisions that a user has edited.

    Parameters
    ----------
    path : str
        A file as `decisions_text` makes it; columns and cells may be omitted.

    Returns
    -------
    dict of str to Override
        What it says about each column.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text: write it with --save-columns") from error
    found: dict[str, Override] = {}
    for entry in _entries(path, text):
        name = str(entry.get("column") or "")
        if not name:
            raise DataError(f"{path} has a line without the name of a column (field 'column')")
        if name in found:
            raise DataError(f"{path} has two lines for column {name!r}: remove one")
        found[name] = _override(path, name, entry)
    return found


def _entries(path: str, text: str) -> list[Mapping[str, Any]]:
    if path.lower().endswith(".json"):
        try:
            entries = json.loads(text)
        except ValueError as error:
            raise DataError(f"{path} is not JSON: {error}") from error
        if not isinstance(entries, list) or not all(isinstance(one, dict) for one in entries):
            raise DataError(f"{path} is not a list of objects, as --save-columns writes it")
    else:
        first = text.partition("\n")[0]
        separator = max(",;\t", key=first.count)  # spreadsheets save what they like
        try:
            entries = list(csv.DictReader(io.StringIO(text, newline=""), delimiter=separator))
        except csv.Error as error:
            raise DataError(f"cannot read {path} as CSV: {error}") from error
    unknown = {str(key) for one in entries for key in one} - {*_SETTINGS, *_FACTS}
    if unknown:
        raise DataError(
            f"{path} has a field {min(unknown)!r}: the fields are {', '.join(_SETTINGS)} (and "
            f"{', '.join(_FACTS)}, which are not read)"
        )
    return entries


def _override(path: str, name: str, entry: Mapping[str, Any]) -> Override:
    given = {key: str(entry.get(key) or "").strip() for key in _SETTINGS}
    allowed = {
        "read_as": (*KINDS, LEFT_OUT, TARGET),
        "decimal": (".", ","),
        "order": (*ORDERS, *CLOCKS),
    }
    for key, values in allowed.items():
        if given[key] and given[key] not in values:
            raise DataError(
                f"{path}, column {name!r}: {key} is {given[key]!r}, but must be one of "
                f"{', '.join(values)}, or empty for an automatic choice"
            )
    words = tuple(word.strip() for word in given["missing_words"].split("|") if word.strip())
    return Override(
        given["read_as"] or None, given["decimal"], given["unit"], given["order"], words
    )
