"""CSV and similar text files: detection of encoding and separator, and reading as text.

The rows are read by pyarrow; a row with too few or too many cells is an error.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .errors import DataError
from .sources import Source

_SEPARATORS = ",;\t|"
_SAMPLE_ROWS = 200
_NAMED_SEPARATOR = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)  # Excel writes and reads it
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")
_BLOCK = 1 << 23  # bytes that are parsed at once


@dataclass(frozen=True)
class Dialect:
    """Form of a table in a text file.

    Parameters
    ----------
    names : tuple of str
        Names of the columns.
    separator : str
        Character between cells.
    encoding : str
        Encoding of the text.
    header : bool
        Whether the first row has the names.
    skipped : int
        Number of lines before it.
    renamed : tuple of str
        Names that differ from the file, because it has them more than once.
    unnamed : str
        "first" or "last": the column for which the header has no cell; "" if it has all.
    """

    names: tuple[str, ...]
    separator: str
    encoding: str = "utf-8"
    header: bool = True
    skipped: int = 0
    renamed: tuple[str, ...] = ()
    unnamed: str = ""

    @property
    def remarks(self) -> list[str]:
        """Remarks on what differs from plain CSV."""
        found = []
        if self.separator != ",":
            name = {"\t": "tabs", " ": "spaces"}.get(self.separator, self.separator)
            found.append(f"cells are separated by {name}")
        if self.encoding != "utf-8":
            found.append(f"the encoding is {self.encoding}")
        if self.unnamed:
            found.append(f"the {self.unnamed} column has no name in the header")
        return found + renaming_remarks(self.renamed)


def renaming_remarks(renamed: Sequence[str]) -> list[str]:
    """Return the remark on columns of the same name.

    Parameters
    ----------
    renamed : sequence of str
        New names.

    Returns
    -------
    list of str
        The remark, or nothing if no column was renamed.
    """
    if not renamed:
        return []
    more = f" and {len(renamed) - 6} more" if len(renamed) > 6 else ""
    return [f"several columns have the same name; renamed: {', '.join(renamed[:6])}{more}"]


def unique_names(names: Iterable[str]) -> tuple[list[str], list[str]]:
    """Make names unique: the second "a" becomes "a_2".

    Parameters
    ----------
    names : iterable of str
        Names of columns.

    Returns
    -------
    names : list of str
        The names, all different.
    renamed : list of str
        Those that were changed.
    """
    given = list(names)
    taken, seen = set(given), Counter[str]()
    found, renamed = [], []
    for name in given:
        seen[name] += 1
        if seen[name] > 1:
            number = seen[name]
            while f"{name}_{number}" in taken:
                number += 1
            name = f"{name}_{number}"
            taken.add(name)
            renamed.append(name)
        found.append(name)
    return found, renamed


def find_dialect(source: Source, *, header: bool = True) -> Dialect:
    """Detect the form of a table in a text file.

    Parameters
    ----------
    source : Source
        The file.
    header : bool
        Whether the first row has the names.

    Returns
    -------
    Dialect
        The detected form.
    """
    encoding, text = _decoded(source)
    named = _NAMED_SEPARATOR.match(text)
    if named:
        text = text[named.end() :]
    separator = named[1] if named else _find_separator(text)
    rows = _sample_rows(text, separator)
    if not rows:
        raise DataError(f"{source.name} has no rows: is it the right file?")
    unnamed = _unnamed(rows) if header else ""
    if unnamed:
        rows[0] = [*rows[0], ""] if unnamed == "last" else ["", *rows[0]]
    names, renamed = _names(source.name, rows[0]) if header else (_numbered(len(rows[0])), [])
    return Dialect(
        tuple(names),
        separator,
        encoding,
        header,
        skipped=int(bool(named)),
        renamed=tuple(renamed),
        unnamed=unnamed,
    )


def _unnamed(rows: list[list[str]]) -> str:
    """Return which column has no name if all rows have one cell more than the header.

    Some programs end every row but the first with a separator; R writes names of the rows first.
    """
    if len(rows) < 2 or any(len(row) != len(rows[0]) + 1 for row in rows[1:]):
        return ""
    return "first" if any(row[-1].strip() for row in rows[1:]) else "last"


def _decoded(source: Source) -> tuple[str, str]:
    """Return the encoding, and the beginning as text."""
    beginning = source.beginning
    if beginning.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16", beginning[: len(beginning) // 2 * 2].decode("utf-16", errors="replace")
    if b"\x00" in beginning:
        raise DataError(
            f"{source.name} is not a CSV file: it has binary data; --format names another format"
        )
    for cut in range(4):  # the beginning may end within a character
        try:
            return "utf-8", beginning[: len(beginning) - cut].decode("utf-8-sig")
        except UnicodeDecodeError:
            if source.complete:
                break
    return "cp1252", beginning.decode("cp1252", errors="replace")


def _sample_rows(text: str, separator: str) -> list[list[str]]:
    lines = io.StringIO(text, newline="")
    rows = []
    try:
        for row in csv.reader(lines, delimiter=separator):
            if row:
                rows.append(row)
            if len(rows) > _SAMPLE_ROWS:
                break
    except csv.Error:
        pass  # a very long cell: the rows before it are enough
    return rows


def _find_separator(text: str) -> str:
    """Return the separator that gives most rows the same number of cells, and the largest one."""
    best, found = (0.0, 0), ","
    for separator in (*_SEPARATORS, " "):
        rows = _sample_rows(text, separator)[:50]
        width = len(rows[0]) if rows else 0
        if width < 2:
            continue
        agreeing = sum(len(row) == width for row in rows) / len(rows)
        if separator == " " and (agreeing < 1 or best > (0.0, 0)):
            continue
        if (agreeing, width) > best:
            best, found = (agreeing, width), separator
    return found


def _numbered(n_columns: int) -> list[str]:
    return [f"column_{number}" for number in range(1, n_columns + 1)]


def _names(file: str, row: list[str]) -> tuple[list[str], list[str]]:
    """Return the names of the columns, and those that were changed."""
    numbers = all(_NUMBER.fullmatch(name) for name in row)
    counted = row in ([str(i) for i in range(len(row))], [str(i + 1) for i in range(len(row))])
    if numbers and not counted:
        raise DataError(
            f"the first row of {file} has numbers instead of column names: pass --no-header"
        )
    return unique_names(
        name.strip() or f"column_{number}" for number, name in enumerate(row, start=1)
    )


def read_rows(
    source: Source, dialect: Dialect, *, only: Sequence[str] | None = None
) -> Iterator[Any]:
    """Yield the rows as pyarrow record batches of text, block by block.

    Parameters
    ----------
    source : Source
        The file.
    dialect : Dialect
        Form of the table.
    only : sequence of str or None
        Columns to read; None for all.

    Yields
    ------
    pyarrow.RecordBatch
        Some rows.
    """
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    wanted = dialect.names if only is None else only
    read = arrow_csv.ReadOptions(
        column_names=list(dialect.names),
        skip_rows=dialect.skipped,
        skip_rows_after_names=int(dialect.header),
        encoding=dialect.encoding,
        block_size=_BLOCK,
    )
    parse = arrow_csv.ParseOptions(
        delimiter=dialect.separator,
        newlines_in_values=True,
        ignore_empty_lines=len(dialect.names) > 1,  # otherwise it is a missing value
    )
    convert = arrow_csv.ConvertOptions(
        column_types=dict.fromkeys(wanted, pa.string()),
        null_values=[""],
        strings_can_be_null=True,
        include_columns=list(wanted),
    )
    try:
        yield from arrow_csv.open_csv(source.stream, read, parse, convert)
    except pa.ArrowInvalid as error:
        if "Empty CSV" not in str(error):
            raise _explained(source, dialect, error) from error


def _explained(source: Source, dialect: Dialect, error: Exception) -> DataError:
    """Return pyarrow's error with the file, the line and the remedy."""
    message = str(error).splitlines()[0]
    ragged = re.search(r"Expected (\d+) columns, got (\d+): ?(.*)", message)
    if ragged and _has_lines_above(source, dialect):
        return DataError(
            f"most rows of {source.name} have {ragged[2]} cells, but its first line has "
            f"{ragged[1]}: delete the lines above the column names, such as a title"
        )
    if ragged:
        row = ragged[3] if len(ragged[3]) <= 60 else ragged[3][:57] + "..."
        lines = _broken_lines(source, dialect)
        first = f"line {lines[0]} of {source.name}" if lines else f"a row of {source.name}"
        shown = ", ".join(map(str, lines[1:6])) + (", ..." if len(lines) > 6 else "")
        further = f" Further lines with a wrong number of cells: {shown}." if shown else ""
        return DataError(
            f"{first} has {ragged[2]} cells instead of {ragged[1]}: {row!r}. Correct it (text that "
            f"contains the separator needs quotes).{further}"
        )
    if "UTF8" in message:
        return DataError(f"{source.name} is not valid UTF-8: convert it, for example with iconv")
    return DataError(
        f"cannot read {source.name} as CSV: {message}; is a quotation mark not closed?"
    )


def _has_lines_above(source: Source, dialect: Dialect) -> bool:
    """Return whether few rows have as many cells as the first line: it is a title or a comment."""
    rows = _sample_rows(_decoded(source)[1], dialect.separator)[1:]
    agreeing = sum(len(row) == len(dialect.names) for row in rows)
    return dialect.header and 2 * agreeing < len(rows)


def _broken_lines(source: Source, dialect: Dialect) -> list[int]:
    """Return the numbers of the lines that begin rows with too few or too many cells."""
    encoding = "utf-8-sig" if dialect.encoding == "utf-8" else dialect.encoding
    found, line = [], 1
    with source.again() as stream:
        if stream is None:
            return []
        text = io.TextIOWrapper(stream, encoding, errors="replace", newline="")
        reader = csv.reader(text, delimiter=dialect.separator)
        try:
            for row in reader:
                begins = line <= dialect.skipped or (
                    line == 1 + dialect.skipped and dialect.unnamed
                )
                if row and len(row) != len(dialect.names) and not begins:
                    found.append(line)
                line = reader.line_num + 1
        except csv.Error:  # a very long cell
            pass
    return found
