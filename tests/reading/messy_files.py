"""One table written in the many ways in which people have it: `write_all` makes the files.

All files have the same rows. `clean_features` is what they should be read as.
"""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd

N_ROWS = 450
TARGET = "group"
NUMBERS = ("amount", "share", "weight", "visits")


def clean_table():
    """Return the table: four overlapping classes, features of every kind, gaps."""
    rng = np.random.default_rng(24)
    y = rng.integers(0, 4, N_ROWS)
    noise = rng.normal(size=(6, N_ROWS))
    moments = pd.Timestamp("2021-01-04") + pd.to_timedelta(
        (150 * y + 130 * np.abs(noise[3])).astype(int), unit="D"
    )
    table = pd.DataFrame(
        {
            "amount": np.round(900 * y - 800 + 1500 * noise[0], 2),
            "share": np.round(np.clip(25 + 12 * (y == 2) + 8 * noise[1], 0.1, 99), 1),
            "weight": np.round(70 + 9 * (y % 2) + 8 * noise[2], 1),
            "visits": rng.integers(800, 5000, N_ROWS) + 1500 * (y == 3),
            "member": rng.random(N_ROWS) < np.where(y > 1, 0.8, 0.3),
            "plan": rng.choice(["basic", "plus", "family plan", "pro"], N_ROWS),
            "joined": moments,
            "call": (600 + 700 * (y == 1) + 300 * np.abs(noise[4])).astype(int),
        }
    )
    same = rng.random(N_ROWS) < 0.5
    table.loc[same, "plan"] = np.array(["basic", "plus", "family plan", "pro"])[y[same]]
    for name in ("amount", "weight", "visits", "plan"):
        table[name] = table[name].astype(object).where(rng.random(N_ROWS) > 0.04, None)
    table[TARGET] = np.array(["north", "east", "south", "west"])[y]
    return table


def clean_features(table):
    """Return the features as numbers and categories."""
    found = pd.DataFrame({name: table[name].astype(float) for name in NUMBERS})
    found["member"] = table["member"].astype(float)
    found["plan"] = pd.Categorical(table["plan"])
    found["joined"] = (table["joined"] - pd.Timestamp(0)) / pd.Timedelta(days=1)
    found["call"] = table["call"].astype(float)
    return found


def plain(table):
    """Return the table as text in the plainest form."""
    found = table.astype(object).copy()
    found["member"] = np.where(table["member"], "true", "false")
    found["joined"] = table["joined"].dt.strftime("%Y-%m-%d")
    return found


def each(column, form):
    """Return a column with its known cells formatted."""
    return [None if value is None or value != value else form(value) for value in column]


def german(value, places=2):
    text = f"{value:,.{places}f}"
    return text.translate(str.maketrans(",.", ".,"))


def clock(seconds):
    return f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


def in_words(seconds):
    return f"{seconds // 3600}h {seconds // 60 % 60}m {seconds % 60}s"


# -- the traps: each takes a table and the path of the file, and writes it ------------------------


def currency(table, path):
    text = plain(table)
    sign = lambda value: f"-${-value:,.2f}" if value < 0 else f"${value:,.2f}"  # noqa: E731
    text["amount"] = each(table["amount"], sign)
    text.to_csv(path, index=False)


def decimal_comma(table, path):
    text = plain(table)
    text["amount"] = each(table["amount"], german)
    text["share"] = each(table["share"], lambda value: german(value, 1))
    text["weight"] = each(table["weight"], lambda value: german(value, 1))
    text["visits"] = each(table["visits"], lambda value: german(value, 0))
    text.to_csv(path, index=False, sep=";")


def quoted_decimal_comma(table, path):
    text = plain(table)
    text["share"] = each(table["share"], lambda value: german(value, 2))
    text.to_csv(path, index=False)


def percent(table, path):
    text = plain(table)
    text["share"] = [
        f"{value} %" if i % 3 else f"{value}%" for i, value in enumerate(table["share"])
    ]
    text.to_csv(path, index=False)


def accounting(table, path):
    text = plain(table)
    form = lambda value: f"({-value:,.2f})" if value < 0 else f"{value:,.2f}"  # noqa: E731
    text["amount"] = each(table["amount"], form)
    text.to_csv(path, index=False)


def minus_at_the_end(table, path):
    text = plain(table)
    text["amount"] = each(
        table["amount"], lambda value: f"{abs(value):,.2f}{'-' if value < 0 else ''}"
    )
    text.to_csv(path, index=False)


def yes_and_no(table, path):
    text = plain(table)
    words = [("Y", "N"), ("yes", "no"), ("Yes", "No")]
    text["member"] = [words[i % 3][not value] for i, value in enumerate(table["member"])]
    text.to_csv(path, index=False)


def on_and_off(table, path):
    text = plain(table)
    text["member"] = np.where(table["member"], "on", "off")
    text.to_csv(path, index=False)


def words_for_missing(table, path):
    text = plain(table)
    words = ["-", "n/a", "unknown", "?", "N.A.", "#DIV/0!", "None"]
    for name in ("amount", "weight", "visits"):
        gaps = np.flatnonzero(table[name].isna())
        for i, row in enumerate(gaps):
            text.loc[row, name] = words[i % len(words)]
    text.to_csv(path, index=False)


def mixed_dates(table, path):
    text = plain(table)
    forms = ["%Y-%m-%d", "%d/%m/%Y", "%d %b %Y", "%Y-%m-%dT%H:%M:%S", "%B %d, %Y"]
    text["joined"] = [day.strftime(forms[i % 5]) for i, day in enumerate(table["joined"])]
    text.to_csv(path, index=False)


def month_first(table, path):
    text = plain(table)
    text["joined"] = [f"{day.month}/{day.day}/{day.year}" for day in table["joined"]]
    text.to_csv(path, index=False)


def day_first(table, path):
    text = plain(table)
    text["joined"] = table["joined"].dt.strftime("%d.%m.%y")
    text.to_csv(path, index=False)


def durations(table, path):
    text = plain(table)
    text["call"] = [(in_words if i % 4 == 0 else clock)(s) for i, s in enumerate(table["call"])]
    text.to_csv(path, index=False)


def parquet_question_marks(table, path):
    text = plain(table)
    text["plan"] = text["plan"].fillna("?")
    text["amount"] = [value or "?" for value in each(table["amount"], str)]
    text.astype({"weight": float, "visits": float}).to_parquet(path)


def feather_question_marks(table, path):
    text = plain(table)
    text["plan"] = text["plan"].fillna("?")
    text["visits"] = [value or "?" for value in each(table["visits"], lambda v: f"{v:,}")]
    text.astype({"weight": float, "amount": float}).to_feather(path)


def duplicate_names(table, path):
    text = plain(table)
    text.insert(2, "Amount", "x")
    text.insert(5, "second", "y")
    text = text.rename(columns={"Amount": "amount", "second": "amount"})
    text.to_csv(path, index=False)


def thousands_separators(table, path):
    text = plain(table)
    marks = ["'", "\u00a0", " ", "\u202f", "\u2019"]
    form = [
        f"{value:,}" if value == value and value is not None else "" for value in table["visits"]
    ]
    text["visits"] = [cell.replace(",", marks[i % 5]) for i, cell in enumerate(form)]
    text.to_csv(path, index=False)


def units(table, path):
    text = plain(table)
    text["weight"] = each(table["weight"], lambda value: f"{value} kg")
    text["amount"] = each(table["amount"], lambda value: f"{value:.2f} EUR")
    text.to_csv(path, index=False)


def identifiers_and_no_target(table, path):
    text = plain(table)
    extra = text.iloc[::9].assign(**{TARGET: None})
    both = pd.concat([text, extra]).sort_index(kind="stable")
    both.insert(0, "row", range(1, len(both) + 1))
    both.insert(3, "customer", [f"customer {i * 37 % 9973}" for i in range(len(both))])
    both.insert(5, "country", "Utopia")
    both.insert(6, "comment", None)
    both.to_csv(path, index=False)


# in the order of the names
CODES = {"basic": "01067", "family plan": "04109", "plus": "07743", "pro": "80331"}


def leading_zeros(table, path):
    text = plain(table)
    text["plan"] = each(table["plan"], CODES.get)
    text.to_csv(path, index=False)


def blanks_and_line_ends(table, path):
    text = plain(table).fillna("")
    lines = ["  ,".join(map(str, text.columns))]
    lines += [" , ".join(f" {cell}" for cell in row) for row in text.to_numpy()]
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join([*lines, "", ""]).encode())


def appended_files(table, path):
    header, *rows = plain(table).to_csv(index=False).splitlines()
    lines = [header, *rows[:250], header, *rows[250:300], header, *rows[300:]]
    path.write_text("".join(f"{line},\n" for line in lines))  # a separator at the end of all lines


def quoted_newlines(table, path):
    text = plain(table)
    text.insert(4, "remark", [f'line {i},\nsaid "hi"; {i * i}' for i in range(len(text))])
    text.to_csv(path, index=False)


def excel_with_separator_line(table, path):
    text = plain(table).rename(columns={"weight": "größe"})
    text["amount"] = each(table["amount"], german)
    text.to_csv(path, index=False, sep=";", encoding="cp1252")
    path.write_bytes(b"sep=;\r\n" + path.read_bytes())


def zipped(table, path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("export/table.tsv", plain(table).to_csv(index=False, sep="\t"))


def wide_characters(table, path):
    text = plain(table).to_csv(index=False, sep="\t", na_rep="NULL")
    path.write_bytes(gzip.compress(text.encode("utf-16"), mtime=0))


def everything(table, path):
    text = plain(table)
    text["amount"] = each(table["amount"], lambda value: f"{german(value)} €")
    text["share"] = [f"{german(value, 1)}%" for value in table["share"]]
    text["weight"] = each(table["weight"], lambda value: f"{german(value, 1)} kg")
    text["visits"] = each(table["visits"], lambda value: german(value, 0))
    text["member"] = np.where(table["member"], "Y", "N")
    text["joined"] = table["joined"].dt.strftime("%d/%m/%Y %H:%M")
    text["call"] = [clock(seconds) for seconds in table["call"]]
    for name in ("amount", "weight", "visits"):
        text[name] = text[name].fillna("unknown")
    text.insert(0, "id", range(1000, 1000 + len(text)))
    content = text.to_csv(index=False, sep=";", lineterminator="\r\n")
    path.write_bytes(b"\xef\xbb\xbf" + content.encode())


TRAPS = {
    "currency.csv": currency,
    "decimal_comma.csv": decimal_comma,
    "quoted_decimal_comma.csv": quoted_decimal_comma,
    "percent.csv": percent,
    "accounting.csv": accounting,
    "minus_at_the_end.csv": minus_at_the_end,
    "yes_and_no.csv": yes_and_no,
    "on_and_off.csv": on_and_off,
    "words_for_missing.csv": words_for_missing,
    "mixed_dates.csv": mixed_dates,
    "month_first.csv": month_first,
    "day_first.csv": day_first,
    "durations.csv": durations,
    "question_marks.parquet": parquet_question_marks,
    "question_marks.feather": feather_question_marks,
    "duplicate_names.csv": duplicate_names,
    "thousands_separators.csv": thousands_separators,
    "units.csv": units,
    "identifiers_and_no_target.csv": identifiers_and_no_target,
    "leading_zeros.csv": leading_zeros,
    "blanks_and_line_ends.csv": blanks_and_line_ends,
    "appended_files.csv": appended_files,
    "quoted_newlines.csv": quoted_newlines,
    "separator_line.csv": excel_with_separator_line,
    "zipped.zip": zipped,
    "wide_characters.tsv.gz": wide_characters,
    "everything.csv": everything,
}


def write_all(folder):
    """Write all files; return their paths, and the path of the clean one.

    Parameters
    ----------
    folder : Path
        Where to write.

    Returns
    -------
    dict of str to Path
        The files by name; "clean.csv" is the clean one.
    """
    table = clean_table()
    paths = {"clean.csv": Path(folder) / "clean.csv"}
    plain(table).to_csv(paths["clean.csv"], index=False)
    for name, write in TRAPS.items():
        paths[name] = Path(folder) / name
        write(table, paths[name])
    return paths
