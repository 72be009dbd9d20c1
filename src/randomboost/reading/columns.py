"""A feature column: its kind, and how its cells are written."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from .dates import DATE
from .durations import DURATION
from .numbers import NUMBER

FLAG, CATEGORY = "flag", "category"
KINDS = (NUMBER, FLAG, CATEGORY, DATE, DURATION)


@dataclass(frozen=True)
class Column:
    """A feature.

    Parameters
    ----------
    name : str
        Name of the column.
    kind : str
        One of `KINDS`: how its cells are converted.
    decimal : str
        Decimal sign of numbers, "." or ",".
    unit : str
        Unit or currency of numbers.
    shares : bool
        Whether numbers without a percent sign are shares of 1.
    order : str
        Order of day and month in dates, "dmy" or "mdy"; of short durations, "h:m" or "m:s".
    digits : int
        Number of digits of codes with leading zeros, which are categories; else 0.
    missing : tuple of str
        Further words, and numbers, that mean a missing value.
    forms : tuple of str
        Forms that occurred in the training data; others are reported.
    """

    name: str
    kind: str
    decimal: str = "."
    unit: str = ""
    shares: bool = False
    order: str = ""
    digits: int = 0
    missing: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return name and kind, and what differs from the defaults."""
        usual = asdict(Column(self.name, self.kind))
        found: dict[str, Any] = {"name": self.name, "kind": self.kind}
        for name, value in asdict(self).items():
            if value != usual[name]:
                found[name] = list(value) if isinstance(value, tuple) else value
        return found

    @staticmethod
    def from_dict(entry: dict[str, Any]) -> Column:
        """Return the column that `as_dict` describes; other entries are ignored."""
        known = {each.name for each in fields(Column)}
        given: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in entry.items()
            if name in known
        }
        return Column(**given)


@dataclass(frozen=True)
class LeftOut:
    """A column that is not a feature.

    Parameters
    ----------
    name : str
        Name of the column.
    reason : str
        Why it is left out.
    """

    name: str
    reason: str
