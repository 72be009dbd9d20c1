"""Dates in the notations of people: ISO, day or month first, names of months, with times.

The order of day and month is decided from all cells of a column.
"""

from __future__ import annotations

import datetime
import re
from typing import Any

import numpy as np

from ..preprocessing.frames import days
from .parsed import Parsed, Reading, ambiguity

DATE = "date"
ORDERS = ("dmy", "mdy")
_TIME = (
    r"(?:(?:,?\s+|T)(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}(?:\.\d+)?))?"
    r"\s*(?P<half>[AaPp]\.?[Mm]\.?)?)?"
)
_NUMERIC = re.compile(
    r"(?P<first>\d{1,2})(?P<mark>[/.-])(?P<second_part>\d{1,2})(?P=mark)(?P<year>\d{4}|\d{2})"
    + _TIME
)
_YEAR_FIRST = re.compile(
    r"(?P<year>\d{4})(?P<mark>[/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})" + _TIME
)
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_NAME = r"(?P<name>" + "|".join(_MONTHS) + r")[a-z]*\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th|\.)?"
_WEEKDAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,?\s+)?"
_NAMED = [
    re.compile(_WEEKDAY + form + _TIME, re.IGNORECASE)
    for form in (
        rf"{_DAY}[\s-]+{_NAME},?[\s-]+(?P<year>\d{{4}}|\d{{2}})",
        rf"{_NAME}\s+{_DAY},?\s+(?P<year>\d{{4}})",
    )
]
_LAST_CENTURY = 69  # two-digit years from here on, as in POSIX


def _iso_days(texts: Any) -> Any:
    """Return days since 1970 of dates in ISO 8601 form, NaN elsewhere."""
    import narwhals as nw
    import pandas as pd

    likely = [text if "-" in text[4:8] else None for text in texts]
    if not any(likely):
        return np.full(len(texts), np.nan)
    moments = pd.to_datetime(
        pd.Series(likely, dtype=object), errors="coerce", format="ISO8601", utc=True
    )
    return days(nw.from_native(moments, series_only=True))


def _day_number(year: str, month: int, day: int, found: re.Match[str]) -> float | None:
    """Return days since 1970 of a date with its time, None if there is no such date."""
    whole = int(year)
    if len(year) == 2:
        whole += 1900 if whole >= _LAST_CENTURY else 2000
    try:
        date = datetime.date(whole, month, day)
    except ValueError:
        return None
    number = float((date - datetime.date(1970, 1, 1)).days)
    if found["hour"] is None:
        return number
    hour = int(found["hour"])
    if found["half"]:
        hour = hour % 12 + (12 if found["half"][0] in "pP" else 0)
    minute, second = int(found["minute"]), float(found["second"] or 0)
    if hour > 24 or minute > 59 or second >= 61:
        return None
    return number + (hour + (minute + second / 60) / 60) / 24


def _in_order(found: re.Match[str], order: str) -> float | None:
    first, second = int(found["first"]), int(found["second_part"])
    day, month = (first, second) if order == "dmy" else (second, first)
    return _day_number(found["year"], month, day, found)


def parse_dates(texts: Any, *, order: str = "") -> Parsed:
    """Return the dates of texts as days since 1970.

    Parameters
    ----------
    texts : ndarray of str objects
        Distinct cells without blanks around them.
    order : str
        "dmy" or "mdy": order of day and month where both are numbers. A date that does not exist
        in this order is read in the other one. With "" such cells are not readable.

    Returns
    -------
    Parsed
        The days.
    """
    iso = _iso_days(texts)
    parsed = Parsed(iso, ~np.isnan(iso))
    for place in np.flatnonzero(~parsed.readable):
        text = texts[place]
        if numeric := _NUMERIC.fullmatch(text):
            for number, each in enumerate((order, *(o for o in ORDERS if o != order))):
                value = _in_order(numeric, each) if order else None
                if value is not None:
                    forms = [_form(each, numeric)] + ["other order than most"] * bool(number)
                    parsed.put(place, value, *forms)
                    break
        elif found := _YEAR_FIRST.fullmatch(text):
            value = _day_number(found["year"], int(found["month"]), int(found["day"]), found)
            if value is not None:
                parsed.put(place, value, f"y{found['mark']}m{found['mark']}d")
        elif found := next(filter(None, (form.fullmatch(text) for form in _NAMED)), None):
            month = _MONTHS.index(found["name"].lower()) + 1
            value = _day_number(found["year"], month, int(found["day"]), found)
            if value is not None:
                parsed.put(place, value, "names of months")
    return parsed


def _form(order: str, found: re.Match[str]) -> str:
    return found["mark"].join(order)


def find_dates(texts: Any, counts: Any) -> Reading | None:
    """Decide how a column of dates is written.

    Parameters
    ----------
    texts : ndarray of str objects
        Distinct cells without blanks around them.
    counts : ndarray of int
        How often they occur.

    Returns
    -------
    Reading or None
        How to read it; None if no cell is a date.
    """
    order, note = _find_order(texts, counts)
    settings = {"order": order} if order else {}
    return Reading.of(DATE, parse_dates(texts, order=order), counts, settings, note)


def _find_order(texts: Any, counts: Any) -> tuple[str, str]:
    """Return the order of day and month that most unambiguous cells have, and a note."""
    votes, unclear = dict.fromkeys(ORDERS, 0), None
    for text, count in zip(texts, counts, strict=True):
        found = _NUMERIC.fullmatch(text)
        if not found:
            continue
        possible = [order for order in ORDERS if _in_order(found, order) is not None]
        if len(possible) == 1:
            votes[possible[0]] += int(count)
        elif possible and (unclear is None or int(found["first"]) != int(found["second_part"])):
            unclear = found
    if any(votes.values()):
        order, other = sorted(ORDERS, key=lambda each: -votes[each])
        conflict = f"{votes[other]} dates only exist in the order {other}, which is used for them"
        return order, conflict if votes[other] else ""
    if unclear is None:
        return "", ""
    order, other = ("mdy", "dmy") if unclear["mark"] == "/" else ("dmy", "mdy")
    return order, ambiguity(unclear.group(), _form(order, unclear), "order", other)
