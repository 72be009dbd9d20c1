"""Durations and times of day: ``1:30:00``, ``08:15``, ``2h 5m``, ``1 day 3 hours``, ``PT1H30M``."""

from __future__ import annotations

import re
from typing import Any

from .parsed import Parsed, Reading, ambiguity

DURATION = "duration"
CLOCKS = ("h:m", "m:s")
_CLOCK = re.compile(
    r"(?P<sign>-)?(?:(?P<days>\d+)\s*(?:d|days?)[,\s]\s*)?(?P<first>\d+):(?P<second>[0-5]\d)"
    r"(?::(?P<third>[0-5]\d(?:\.\d+)?))?(?:\s*(?P<half>[AaPp])\.?[Mm]\.?)?"
)
_SECONDS = {"w": 604800, "d": 86400, "h": 3600, "m": 60, "s": 1, "ms": 0.001}
_PART = (
    r"(\d+(?:[.,]\d+)?)\s*(weeks?|w|days?|d|hours?|hrs?|h|milliseconds?|ms|minutes?|mins?|m"
    r"|seconds?|secs?|s)\.?"
)
_PARTS = re.compile(_PART, re.IGNORECASE)
_WORDS = re.compile(rf"(?P<sign>-)?{_PART}(?:\s*(?:,|and)?\s*{_PART})*", re.IGNORECASE)
_ISO = re.compile(r"P(?=.)(?:\d+D)?(?:T(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?")


def _clock_seconds(found: re.Match[str], clock: str) -> float:
    first, second = int(found["first"]), int(found["second"])
    if found["third"] is None and clock == "m:s":
        seconds = 60.0 * first + second
    else:
        if found["half"]:
            first = first % 12 + (12 if found["half"] in "pP" else 0)
        seconds = 3600.0 * first + 60 * second + float(found["third"] or 0)
    seconds += 86400 * int(found["days"] or 0)
    return -seconds if found["sign"] else seconds


def _word_seconds(text: str) -> float:
    total = 0.0
    for amount, unit in _PARTS.findall(text):
        key = unit.lower()
        key = "ms" if key.startswith(("ms", "milli")) else key[0]
        total += float(amount.replace(",", ".")) * _SECONDS[key]
    return -total if text.startswith("-") else total


def parse_durations(texts: Any, *, order: str = "") -> Parsed:
    """Return the durations of texts in seconds.

    Parameters
    ----------
    texts : ndarray of str objects
        Distinct cells without blanks around them.
    order : str
        "h:m" or "m:s": what two numbers with a colon between them are; "" is "h:m".

    Returns
    -------
    Parsed
        The seconds.
    """
    import pandas as pd

    parsed = Parsed.of(len(texts))
    for place, text in enumerate(texts):
        if found := _CLOCK.fullmatch(text):
            form = "h:mm:ss" if found["third"] is not None else order or "h:m"
            parsed.put(place, _clock_seconds(found, order), form)
        elif _WORDS.fullmatch(text):
            parsed.put(place, _word_seconds(text), "units of time")
        elif _ISO.fullmatch(text):
            parsed.put(place, pd.Timedelta(text).total_seconds(), "ISO 8601")
    return parsed


def find_durations(texts: Any, counts: Any) -> Reading | None:
    """Decide how a column of durations is written.

    Parameters
    ----------
    texts : ndarray of str objects
        Distinct cells without blanks around them.
    counts : ndarray of int
        How often they occur.

    Returns
    -------
    Reading or None
        How to read it; None if no cell is a duration.
    """
    clocks = [found for found in map(_CLOCK.fullmatch, texts) if found]
    short = [found for found in clocks if found["third"] is None]
    settings, note = {}, ""
    if short and len(short) < len(clocks):
        padded = any(found["first"].startswith("0") for found in short)
        order, other = CLOCKS if padded else CLOCKS[::-1]
        settings["order"] = order
        note = ambiguity(short[0].group(), order, "order", other)
    return Reading.of(DURATION, parse_durations(texts, **settings), counts, settings, note)
