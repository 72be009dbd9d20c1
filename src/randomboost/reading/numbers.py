"""Numbers as spreadsheets write them: separators, currencies, units, percentages, signs.

A column has one decimal sign, which is decided from all its cells: the one with which more of them
are numbers.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np

from .parsed import Parsed, Reading, ambiguity
from .words import MISSING

NUMBER = "number"
_OTHER_SIGN = {".": ",", ",": "."}
_SPACES = " \u00a0\u2009\u202f"  # the last three do not break lines
_MINUS = "\u2212\u2013-"  # the last one must not make a range in a pattern
_SYMBOLS = "$€£¥₹₩₽₺₴₫₪₦฿₱"
_CURRENCY = (
    rf"(?:[A-Z]{{0,3}}[{_SYMBOLS}]|(?:USD|EUR|GBP|CHF|JPY|CNY|INR|AUD|CAD|SEK|NOK|DKK|PLN|CZK)"
    r"|Fr\.|Rs\.?|kr\.?)"
)
_LETTERS = "A-Za-zµμΩ℃℉°º"
_UNIT = rf"(?:%|‰|{_CURRENCY}|[{_LETTERS}]{{1,8}}[²³]?(?:/[{_LETTERS}]{{1,8}}[²³]?)?)"
_THREE_DECIMALS = re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}")


def _pattern(decimal: str) -> re.Pattern[str]:
    groups = f"{re.escape(_OTHER_SIGN[decimal])}'\u2019{_SPACES}"
    sign = re.escape(decimal)
    whole = rf"(?:[1-9]\d{{0,2}}(?P<group>[{groups}])\d{{3}}(?:(?P=group)\d{{3}})*|\d+)"
    return re.compile(
        rf"(?P<open>\()?\s*(?P<sign>[+{_MINUS}])?\s*(?P<before>{_CURRENCY})?\s*"
        rf"(?P<inner>[+{_MINUS}])?(?P<body>{whole}(?:{sign}\d*)?|{sign}\d+)"
        rf"(?P<power>[eE][+-]?\d+)?(?P<last>[{_MINUS}])?\s*(?P<after>{_UNIT})?\s*(?P<close>\))?"
    )


_PATTERNS = {decimal: _pattern(decimal) for decimal in _OTHER_SIGN}


def _taken_apart(texts: Any, decimal: str) -> tuple[Parsed, Any]:
    """Return the numbers whatever their units, and the units."""
    import pandas as pd

    parsed, units = Parsed.of(len(texts)), np.full(len(texts), "", dtype=object)
    plain = np.asarray(pd.to_numeric(texts, errors="coerce"), dtype=np.float64)
    known = ~np.isnan(plain)
    if decimal == ",":
        known &= np.array(["." not in text for text in texts], dtype=bool)
    parsed.values[known], parsed.readable[known] = plain[known], True
    pattern = _PATTERNS[decimal]
    for place in np.flatnonzero(~known):
        found = pattern.fullmatch(texts[place])
        if not found or bool(found["open"]) != bool(found["close"]):
            continue
        signs = [found[each] for each in ("sign", "inner", "last") if found[each]]
        if len(signs) + bool(found["open"]) > 1:
            continue
        if found["before"] and _is_currency(found["after"]):
            continue
        body = found["body"]
        if found["group"]:
            body = body.replace(found["group"], "")
        body = body.replace(decimal, ".")
        value = float(body + (found["power"] or ""))
        negative = found["open"] or any(sign in _MINUS for sign in signs)
        parsed.put(place, -value if negative else value)
        for form in _forms(found, decimal):
            parsed.mark(place, form)
        units[place] = " ".join(filter(None, (found["before"], found["after"])))
    return parsed, units


def _forms(found: re.Match[str], decimal: str) -> list[str]:
    """Return what is unusual in the notation of a number."""
    forms = {
        "negative in parentheses": found["open"],
        "minus sign at the end": found["last"],
        "thousands separators": found["group"],
        "decimal comma": decimal == "," and "," in found["body"],
    }
    return [form for form, is_used in forms.items() if is_used]


def plain_numbers(values: Any) -> tuple[Any, bool | None] | None:
    """Return the numbers of a column of text if all its cells are plain numbers or missing.

    This is quick; most columns of numbers are plain.

    Parameters
    ----------
    values : Series
        The column.

    Returns
    -------
    numbers : ndarray of float64
        The numbers, NaN where a cell is missing.
    pointed : bool or None
        Whether cells have decimal points; None if a point may as well be between thousands.
    """
    import pandas as pd
    import pyarrow as pa
    import pyarrow.compute as pc

    if not isinstance(values.dtype, pd.StringDtype) and values.dtype.kind != "O":
        return None
    try:
        cells = pc.utf8_trim_whitespace(pa.array(values, pa.string(), from_pandas=True))
        missing = pc.is_in(cells, value_set=pa.array(MISSING))
        cells = pc.if_else(missing, pa.scalar(None, pa.string()), cells)
        numbers = pc.cast(cells, pa.float64()).to_numpy(zero_copy_only=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return None
    points = cells.filter(pc.match_substring(cells, "."))
    if not len(points):
        return numbers, False
    unclear = pc.match_substring_regex(points, rf"^(?:{_THREE_DECIMALS.pattern})$")
    return numbers, None if pc.all(unclear).as_py() else True


def _is_currency(unit: str | None) -> bool:
    return bool(unit) and re.fullmatch(_CURRENCY, str(unit)) is not None


def _same(unit: str) -> str:
    """Return what two spellings of a unit have in common: kg and KG, month and months."""
    key = unit.casefold().rstrip(".")
    return key.removesuffix("s") if len(key) > 3 else key


def parse_numbers(
    texts: Any, *, decimal: str = ".", unit: str = "", shares: bool = False
) -> Parsed:
    """Return the numbers of texts.

    Parameters
    ----------
    texts : ndarray of str objects
        Distinct cells without blanks around them.
    decimal : str
        Decimal sign, "." or ",".
    unit : str
        Unit or currency of the column, which cells may omit. A cell with another unit is not
        readable; without a unit, only currencies are accepted.
    shares : bool
        Whether cells without a percent sign are shares: 0.11 is 11 %.

    Returns
    -------
    Parsed
        The numbers, without their units.
    """
    parsed, units = _taken_apart(texts, decimal)
    for found in set(units) - {""}:
        which = units == found
        if _same(found) == _same(unit) if unit else _is_currency(found):
            parsed.mark(which, f"unit {found}")
        else:
            parsed.refuse(which)
    if shares:
        which = parsed.readable & (units == "")
        parsed.values[which] *= 100
        if which.any():
            parsed.mark(which, "shares as percentages")
    return parsed


class NumberEvidence:
    """What the cells of a column say about the numbers in it.

    Parameters
    ----------
    texts : ndarray of str objects
        Distinct cells without blanks around them.
    counts : ndarray of int
        How often they occur.
    """

    def __init__(self, texts: Any, counts: Any) -> None:
        self._texts = texts
        self._counts = counts
        points, units = _taken_apart(texts, ".")
        self._found = {".": (points, units), ",": (points, units)}
        signed = [text for text in texts if "." in text or "," in text]
        plain = points.readable.all() and not points.forms and not units.any()
        clear = any("." in text and not _THREE_DECIMALS.fullmatch(text) for text in signed)
        if signed and plain and clear:
            self._found[","] = Parsed.of(len(texts)), units
        elif signed:
            self._found[","] = _taken_apart(texts, ",")
        self._cells = {sign: parsed.n_cells(counts) for sign, (parsed, _) in self._found.items()}

    @property
    def decimal(self) -> str | None:
        """The decimal sign, None if the cells leave it open or are mostly no numbers."""
        cells, n_cells = self._cells, int(self._counts.sum())
        if cells["."] == cells[","] or 2 * max(cells.values()) < n_cells:
            return None
        return "." if cells["."] > cells[","] else ","

    def reading(self, usual: str | None) -> Reading | None:
        """Return how to read the column.

        Parameters
        ----------
        usual : str or None
            Decimal sign of other columns of the file, for ambiguous columns.

        Returns
        -------
        Reading or None
            How to read it; None if no cell is a number.
        """
        if not max(self._cells.values()):
            return None
        decimal = self.decimal or usual or "."
        parsed, units = self._found[decimal]
        settings: dict[str, Any] = {} if decimal == "." else {"decimal": decimal}
        note = self._ambiguity(decimal, usual) if self.decimal is None else ""
        by_unit = Counter[str]()
        for unit, count in zip(units, self._counts, strict=True):
            by_unit[unit] += int(count)
        n_without = by_unit.pop("", 0) - int(self._counts[~parsed.readable].sum())
        if by_unit:
            unit = settings["unit"] = by_unit.most_common(1)[0][0]
            others = [other for other in by_unit if _same(other) != _same(unit)]
            if others:
                note = f"numbers with different units: {', '.join([unit, *others][:4])}"
                parsed.refuse(np.isin(units, others))
            elif n_without:
                note = f"{n_without} cells have no unit {unit}"
                without = parsed.readable & (units == "")
                settings["shares"] = unit == "%" and bool((abs(parsed.values[without]) <= 1).all())
        return Reading(NUMBER, settings, parsed.n_cells(self._counts), note)

    def _ambiguity(self, decimal: str, usual: str | None) -> str:
        """Return the note on a column that is readable with either decimal sign."""
        (points, _), (commas, _) = self._found["."], self._found[","]
        both = points.readable & commas.readable
        differing = np.flatnonzero(both & (points.values != commas.values))
        if not len(differing) or usual == ".":
            return ""
        text, value = self._texts[differing[0]], self._found[decimal][0].values[differing[0]]
        if usual:
            return f"{text} is read as {value:g}, with the decimal comma of other columns"
        return ambiguity(text, f"{value:g}", "decimal", _OTHER_SIGN[decimal])
