"""Numbers, dates and durations as people write them."""

from __future__ import annotations

import numpy as np
import pytest

pd = pytest.importorskip("pandas")

from randomboost.reading.codes import find_codes  # noqa: E402
from randomboost.reading.column_cells import read_cells  # noqa: E402
from randomboost.reading.columns import Column  # noqa: E402
from randomboost.reading.dates import find_dates, parse_dates  # noqa: E402
from randomboost.reading.durations import find_durations, parse_durations  # noqa: E402
from randomboost.reading.numbers import (  # noqa: E402
    NumberEvidence,
    parse_numbers,
    plain_numbers,
)


def texts(*words):
    return np.array(words, dtype=object)


def find_numbers(*words, usual=None, counts=None):
    counts = np.ones(len(words), dtype=int) if counts is None else np.array(counts)
    return NumberEvidence(texts(*words), counts).reading(usual)


def number(text, **form):
    parsed = parse_numbers(texts(text), **form)
    return parsed.values[0] if parsed.readable[0] else None


def days(text):
    return (pd.Timestamp(text) - pd.Timestamp(0)) / pd.Timedelta(days=1)


# -- numbers -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", 12), ("-1.5", -1.5), ("+.5", 0.5), ("1e3", 1000), ("1,200", 1200),
        ("12,345,678.25", 12345678.25), ("1 200", 1200), ("1'200.5", 1200.5),
        ("1\u00a0200\u00a0300", 1200300), ("$1,200", 1200), ("-$5", -5), ("$-5", -5),
        ("US$ 7.50", 7.5), ("5 €", 5), ("EUR 5", 5), ("(45)", -45), ("($1,200.50)", -1200.5),
        ("45.5-", -45.5), ("1,200- €", -1200), ("-5-", None), ("(5-)", None), ("5-7", None),
        ("\u22127", -7), ("1,20", None), ("12,34,567", None), ("1,200 300", None), ("0,123", None),
        ("--5", None), ("(5", None), ("(-5)", None), ("$5 €", None), ("5 kg", None), ("A5", None),
        ("1.2.3", None), ("", None), ("1,2,3", None),
    ],
)  # fmt: skip
def test_numbers_with_decimal_points(text, value):
    assert number(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", 12), ("70,12", 70.12), ("1.234,56", 1234.56), ("1.234", 1234),
        ("-1.234.567", -1234567), ("(70,5) €", None), ("(70,5 €)", -70.5), ("1'200,5", 1200.5),
        ("70.12", None), ("1,234.5", None), ("0,123", 0.123), ("1e3", 1000),
    ],
)  # fmt: skip
def test_numbers_with_decimal_commas(text, value):
    assert number(text, decimal=",") == value


def test_units_are_those_of_the_column():
    assert number("70 kg", unit="kg") == 70
    assert number("70KG", unit="kg") == 70
    assert number("70", unit="kg") == 70
    assert number("70 g", unit="kg") is None
    assert number("11 %", unit="%") == 11
    assert number("0.11", unit="%", shares=True) == 11
    assert number("11%", unit="%", shares=True) == 11


def test_the_decimal_sign_is_decided_by_the_column():
    assert find_numbers("1.234", "70,12").settings == {"decimal": ","}
    assert find_numbers("1,234", "70.12").settings == {}
    assert find_numbers("1.234,5", "5").settings == {"decimal": ","}
    assert find_numbers("1.234.567", "1.234").settings == {"decimal": ","}
    assert find_numbers("0,123", "1,234").settings == {"decimal": ","}
    assert not find_numbers("0.123", "1.234").note
    # the majority decides
    assert find_numbers("70.12", "1,5", counts=[90, 10]).n_cells == 90
    assert find_numbers("70.12", "1,5", counts=[10, 90]).settings == {"decimal": ","}


def test_an_ambiguous_column_is_reported():
    alone = find_numbers("1.234", "5.678", "12")
    assert alone.settings == {}
    assert alone.note.startswith("ambiguous: 1.234 is read as 1.234")
    commas = find_numbers("1,234", "5,678")
    assert commas.note.startswith("ambiguous: 1,234 is read as 1234")
    german = find_numbers("1.234", "5.678", usual=",")
    assert german.settings == {"decimal": ","}
    assert german.note == "1.234 is read as 1234, with the decimal comma of other columns"
    assert not find_numbers("1.234", "5.678", usual=".").note
    assert not find_numbers("12", "1 200").note


def test_units_have_to_be_the_same():
    assert find_numbers("70 kg", "80kg").settings == {"unit": "kg"}
    assert find_numbers("1 month", "3 months").n_cells == 2
    mixed = find_numbers("70 kg", "500 g", "60 kg")
    assert mixed.n_cells == 2
    assert mixed.note == "numbers with different units: kg, g"
    some = find_numbers("70 kg", "80")
    assert some.n_cells == 2
    assert some.note == "1 cells have no unit kg"


def test_percentages_beside_shares():
    shares = find_numbers("11%", "0.2")
    assert shares.settings == {"unit": "%", "shares": True}
    percentages = find_numbers("11%", "20")
    assert percentages.settings == {"unit": "%", "shares": False}


def test_a_million_plain_numbers_need_no_pattern(monkeypatch):
    monkeypatch.setattr("randomboost.reading.numbers._PATTERNS", {".": None, ",": None})
    words = texts(*(f"{value:.5f}" for value in np.random.default_rng(0).normal(size=1000)))
    evidence = NumberEvidence(words, np.ones(1000, dtype=int))
    assert evidence.decimal == "."
    assert evidence.reading(None).n_cells == 1000


@pytest.mark.parametrize("kind", ["str", object])
def test_plain_columns_are_read_at_once(kind):
    values = lambda *cells: pd.Series(cells, dtype=kind)  # noqa: E731
    numbers, pointed = plain_numbers(values("1.5", " 2 ", None, "NA", "1e3"))
    np.testing.assert_array_equal(numbers, [1.5, 2, np.nan, np.nan, 1000])
    assert pointed
    assert plain_numbers(values("1", "2"))[1] is False
    assert plain_numbers(values("1.234", "2"))[1] is None
    assert plain_numbers(values("1.234", "0.5"))[1] is True
    assert plain_numbers(values("1", "-")) is None
    assert plain_numbers(values("1,5")) is None
    assert plain_numbers(pd.Series([1, "x", [2]], dtype=object)) is None


# -- dates -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "order", "day"),
    [
        ("2021-02-03", "", "2021-02-03"), ("2021-02-03T12:00:00Z", "", "2021-02-03 12:00"),
        ("2021-02-03 06:00", "", "2021-02-03 06:00"), ("2021/2/3", "", "2021-02-03"),
        ("03/02/2021", "dmy", "2021-02-03"), ("02/03/2021", "mdy", "2021-02-03"),
        ("3.2.21", "dmy", "2021-02-03"), ("3-2-1999", "dmy", "1999-02-03"),
        ("3.2.69", "dmy", "1969-02-03"), ("2/3/2021 6:00 PM", "mdy", "2021-02-03 18:00"),
        ("2/3/2021 12:30 am", "mdy", "2021-02-03 00:30"), ("3 Feb 2021", "", "2021-02-03"),
        ("Feb 3, 2021", "", "2021-02-03"), ("February 3rd 2021", "", "2021-02-03"),
        ("Wed, 3 Feb 2021 06:00:00", "", "2021-02-03 06:00"), ("03-Feb-21", "", "2021-02-03"),
        ("25/12/2021", "mdy", "2021-12-25"), ("03/02/2021", "", None), ("31/02/2021", "dmy", None),
        ("2021-02-30", "", None), ("2/3/2021 25:00", "mdy", None), ("soon", "dmy", None),
        ("20210203", "", None), ("1.2.3", "dmy", None),
    ],
)  # fmt: skip
def test_dates(text, order, day):
    parsed = parse_dates(texts(text), order=order)
    assert parsed.readable[0] == (day is not None)
    if day is not None:
        assert parsed.values[0] == pytest.approx(days(day))


def test_the_order_of_day_and_month_is_decided_by_the_column():
    ones = np.ones(2, dtype=int)
    assert find_dates(texts("01/02/2020", "31/12/2020"), ones).settings == {"order": "dmy"}
    assert find_dates(texts("01/02/2020", "12/31/2020"), ones).settings == {"order": "mdy"}
    assert find_dates(texts("2020-01-02", "3 Feb 2020"), ones).settings == {}
    unclear = find_dates(texts("01/02/2020", "03/04/2020"), ones)
    assert unclear.settings == {"order": "mdy"}
    assert "ambiguous: 03/04/2020 is read as m/d/y; set order to dmy" in unclear.note
    assert find_dates(texts("01.02.2020", "03.04.2020"), ones).settings == {"order": "dmy"}
    both = find_dates(texts("31/12/2020", "12/31/2020"), np.array([9, 1]))
    assert both.settings == {"order": "dmy"}
    assert both.n_cells == 10
    assert both.note.startswith("1 dates only exist in the order mdy")


# -- durations ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "order", "seconds"),
    [
        ("1:30:00", "", 5400),
        ("26:00:01", "", 93601),
        ("0:00:01.5", "", 1.5),
        ("-0:01:00", "", -60),
        ("08:15", "", 29700),
        ("8:15", "m:s", 495),
        ("10:30 PM", "", 81000),
        ("2h 5m", "", 7500),
        ("45 min", "", 2700),
        ("1 day 3 hours", "", 97200),
        ("1 day, 0:01:00", "", 86460),
        ("1h and 30 minutes", "", 5400),
        ("1.5 hours", "", 5400),
        ("90s", "", 90),
        ("2 weeks", "", 1209600),
        ("250 ms", "", 0.25),
        ("PT1H30M", "", 5400),
        ("P1DT2S", "", 86402),
        ("1:75:00", "", None),
        ("5", "", None),
        ("5 kg", "", None),
        ("P", "", None),
        ("long", "", None),
    ],
)
def test_durations(text, order, seconds):
    parsed = parse_durations(texts(text), order=order)
    assert parsed.readable[0] == (seconds is not None)
    if seconds is not None:
        assert parsed.values[0] == pytest.approx(seconds)


def test_two_numbers_beside_three():
    ones = np.ones(2, dtype=int)
    assert find_durations(texts("8:15", "9:20"), ones).settings == {}
    watch = find_durations(texts("8:15", "1:09:20"), ones)
    assert watch.settings == {"order": "m:s"}
    assert "ambiguous: 8:15 is read as m:s" in watch.note
    assert find_durations(texts("08:15", "09:20:30"), ones).settings == {"order": "h:m"}


# -- codes -------------------------------------------------------------------------------------


def texts_of(*cells):
    found, counts = np.unique(np.array(cells, dtype=object), return_counts=True)
    return found, counts


@pytest.mark.parametrize(
    ("cells", "digits"),
    [
        (("01067", "80331", "04109"), 5),
        (("01067", "1067", "80331"), 5),  # spreadsheets drop the zeros of some
        (("01", "02", "12"), 2),
        (("007",) * 3 + tuple(str(n) for n in range(10, 40)), 3),
        (("01067", *("80331",) * 30, "unclear"), 5),
    ],
)
def test_digits_with_leading_zeros_are_codes(cells, digits):
    reading = find_codes(*texts_of(*cells))
    assert reading.kind == "category"
    assert reading.settings == {"digits": digits}
    assert "set read_as to number" in reading.note


@pytest.mark.parametrize(
    "cells",
    [
        ("1067", "80331"),
        ("0", "1", "10"),
        ("0.5", "01"),
        ("-07", "08"),
        ("07", *(str(n) for n in range(5, 200))),  # one among numbers of all lengths
    ],
)
def test_other_numbers_are_no_codes(cells):
    assert find_codes(*texts_of(*cells)) is None


def test_codes_keep_their_zeros_and_get_lost_ones_back():
    column = Column("code", "category", digits=5)
    cells = read_cells(pd.Series(["01067", "80331", None, "1067", "abc"]), column)
    assert cells.values.tolist()[:2] == ["01067", "80331"]
    assert cells.values.tolist()[3:] == ["01067", "abc"]
    assert cells.forms == {"leading zeros": 1, "leading zeros added": 1}
    numbers = read_cells(pd.Series([1067, 80331]), column)
    assert numbers.values.tolist() == ["01067", "80331"]
