"""CSV and similar text files: detection of encoding, separator and decimal sign, and reading.

The rows are read by pyarrow; a row with too few or too many cells is an error.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from .errors import DataError
from .sources import Source

MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "?", "#N/A")
_SEPARATORS = ",;\t|"
_SAMPLE_ROWS = 200
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
_DECIMAL_POINT = re.compile(r"[+-]?\d*\.\d+")
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
    decimal : str
        "." or ",".
    encoding : str
        Encoding of the text.
    header : bool
        Whether the first row has the names.
    """

    names: tuple[str, ...]
    separator: str
    decimal: str = "."
    encoding: str = "utf-8"
    header: bool = True

    @property
    def remarks(self) -> list[str]:
        """Remarks on what differs from plain CSV."""
        found = []
        if self.separator != ",":
            name = {"\t": "tabs", " ": "spaces"}.get(self.separator, self.separator)
            found.append(f"cells are separated by {name}")
        if self.decimal == ",":
            found.append("numbers have decimal commas")
        if self.encoding != "utf-8":
            found.append(f"the encoding is {self.encoding}")
        return found


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
    separator = _find_separator(text)
    rows = _sample_rows(text, separator)
    if not rows:
        raise DataError(f"{source.name} has no rows")
    names = _names(source.name, rows[0]) if header else _numbered(len(rows[0]))
    dialect = Dialect(names, separator, encoding=encoding, header=header)
    cells = [cell.strip() for row in rows[header:] for cell in row]
    commas = separator != "," and any(map(_DECIMAL_COMMA.fullmatch, cells))
    clear = commas and not any(map(_DECIMAL_POINT.fullmatch, cells))
    return replace(dialect, decimal=",") if clear else dialect


def _decoded(source: Source) -> tuple[str, str]:
    """Return the encoding, and the beginning as text."""
    beginning = source.beginning
    if beginning.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16", beginning[: len(beginning) // 2 * 2].decode("utf-16", errors="replace")
    if b"\x00" in beginning:
        raise DataError(f"{source.name} is not a CSV file: it has binary data")
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


def _numbered(n_columns: int) -> tuple[str, ...]:
    return tuple(f"column_{number}" for number in range(1, n_columns + 1))


def _names(file: str, row: list[str]) -> tuple[str, ...]:
    names = [name.strip() or f"column_{number}" for number, name in enumerate(row, start=1)]
    twice = sorted({name for name in names if names.count(name) > 1}) if names else []
    numbers = all(_NUMBER.fullmatch(name) for name in row)
    counted = row in ([str(i) for i in range(len(row))], [str(i + 1) for i in range(len(row))])
    if numbers and not counted:
        raise DataError(
            f"the first row of {file} has numbers instead of column names: pass --no-header"
        )
    if twice:
        raise DataError(f"{file} has more than one column named {twice[0]!r}: rename one")
    return tuple(names)


def read_rows(
    source: Source,
    dialect: Dialect,
    *,
    text: Iterable[str] = (),
    numbers: Iterable[str] = (),
    only: Iterable[str] | None = None,
) -> Iterator[Any]:
    """Yield the rows as pyarrow tables, block by block.

    The type of all other columns is inferred from the first block: use `read_all` for those.

    Parameters
    ----------
    source : Source
        The file.
    dialect : Dialect
        Form of the table.
    text, numbers : iterable of str
        Columns to read as text and as numbers.
    only : iterable of str or None
        Columns to read; None for all.

    Yields
    ------
    pyarrow.RecordBatch
        Some rows.
    """
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    types = {name: pa.string() for name in text} | {name: pa.float64() for name in numbers}
    read, parse, convert = _options(dialect, types, only)
    try:
        reader = arrow_csv.open_csv(source.stream, read, parse, convert)
        yield from reader
    except pa.ArrowInvalid as error:
        if "Empty CSV" not in str(error):
            raise _explained(source, dialect, error) from error


def read_all(source: Source, dialect: Dialect) -> Any:
    """Read all rows; types are inferred from all of them.

    Parameters
    ----------
    source : Source
        The file.
    dialect : Dialect
        Form of the table.

    Returns
    -------
    pyarrow.Table
        The rows.
    """
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    try:
        return arrow_csv.read_csv(source.stream, *_options(dialect, {}, None))
    except pa.ArrowInvalid as error:
        raise _explained(source, dialect, error) from error


def _options(dialect: Dialect, types: dict[str, Any], only: Iterable[str] | None) -> Any:
    from pyarrow import csv as arrow_csv

    read = arrow_csv.ReadOptions(
        column_names=list(dialect.names),
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
        column_types=types,
        null_values=[*MISSING, *(f" {marker}" for marker in MISSING)],
        strings_can_be_null=True,
        decimal_point=dialect.decimal,
        include_columns=None if only is None else list(only),
    )
    return read, parse, convert


def _explained(source: Source, dialect: Dialect, error: Exception) -> DataError:
    """Return pyarrow's error with the file, the column and the remedy."""
    message = str(error).splitlines()[0]
    ragged = re.search(r"Expected (\d+) columns, got (\d+): ?(.*)", message)
    if ragged:
        row = ragged[3] if len(ragged[3]) <= 60 else ragged[3][:57] + "..."
        return DataError(
            f"{source.name} has a row with {ragged[2]} cells instead of {ragged[1]}: {row!r}; "
            "correct that row (text that contains the separator needs quotes)"
        )
    cell = re.search(r"In CSV column #(\d+).*invalid value '(.*)'", message)
    if cell and int(cell[1]) < len(dialect.names):
        return DataError(
            f"column {dialect.names[int(cell[1])]!r} of {source.name} has {cell[2]!r}, but the "
            "model expects a number"
        )
    if "UTF8" in message:
        return DataError(f"{source.name} is not valid UTF-8: convert it, for example with iconv")
    return DataError(f"cannot read {source.name} as CSV: {message}")
