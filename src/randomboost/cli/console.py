"""What the commands say: results on the output stream, all else on the error stream."""

from __future__ import annotations

import json
import math
from typing import Any

from rich.console import Console
from rich.table import Table


class Talk:
    """The two streams of a command.

    Parameters
    ----------
    quiet : bool
        Say nothing but results and errors.
    as_json : bool
        Results are JSON.
    """

    def __init__(self, *, quiet: bool = False, as_json: bool = False) -> None:
        self.quiet = quiet
        self.as_json = as_json
        self.errors = Console(stderr=True, highlight=False, soft_wrap=True)
        self.output = Console(highlight=False, soft_wrap=True)

    @property
    def verbose(self) -> int:
        """What the estimators' parameter of that name is to be."""
        return 0 if self.quiet else 1

    def say(self, text: str) -> None:
        """Say a sentence, unless it is to be quiet.

        Parameters
        ----------
        text : str
            The sentence.
        """
        if not self.quiet:
            self.errors.print(text, markup=False)

    def show(self, table: Table) -> None:
        """Show a table beside the result, unless it is to be quiet.

        Parameters
        ----------
        table : Table
            The table.
        """
        if not self.quiet:
            self.errors.print(table, soft_wrap=False)

    def result(self, data: dict[str, Any], *shown: Any) -> None:
        """Give the result.

        Parameters
        ----------
        data : dict
            What ``--json`` prints.
        *shown : str or Table
            What is printed otherwise.
        """
        if self.as_json:
            print(json.dumps(_plain(data), ensure_ascii=False, allow_nan=False))
            return
        for part in shown:
            self.output.print(part, markup=False, soft_wrap=isinstance(part, str))


def _plain(value: Any) -> Any:
    """Return what JSON can hold: lists for arrays, None for what is no finite number."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def plain_table(*headings: str, title: str | None = None) -> Table:
    """Return an empty table with thin lines; all columns but the first are set to the right.

    Parameters
    ----------
    *headings : str
        Headings of the columns.
    title : str or None
        What stands above it.

    Returns
    -------
    Table
        The table.
    """
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for place, heading in enumerate(headings):
        table.add_column(heading, justify="right" if place else "left", overflow="fold")
    return table


def some(names: list[str], most: int = 6) -> str:
    """Return names in one line, the first ones only if there are many.

    Parameters
    ----------
    names : list of str
        The names.
    most : int
        How many to name.

    Returns
    -------
    str
        The line.
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def in_bytes(size: float) -> str:
    """Return a size in words.

    Parameters
    ----------
    size : float
        Bytes.

    Returns
    -------
    str
        "12 kB" and the like.
    """
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"


def in_time(seconds: float) -> str:
    """Return a duration in words.

    Parameters
    ----------
    seconds : float
        The duration.

    Returns
    -------
    str
        "5 ms", "12 s", "3 min" and the like.
    """
    if seconds < 0.099:
        return f"{1000 * seconds:.2g} ms"
    if seconds < 100:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
