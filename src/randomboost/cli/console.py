"""Output of the commands: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import math
import warnings
from typing import Any

from rich.console import Console
from rich.table import Table

from ..runtime import compiling


class Terminal:
    """The two output streams of a command.

    Parameters
    ----------
    quiet : bool
        Print only results and errors.
    as_json : bool
        Print results as JSON.
    """

    def __init__(self, *, quiet: bool = False, as_json: bool = False) -> None:
        self.quiet = quiet
        self.as_json = as_json
        self.errors = Console(stderr=True, highlight=False, soft_wrap=True)
        self.output = Console(highlight=False, soft_wrap=True)

    @property
    def verbose(self) -> int:
        """Value for the parameter ``verbose`` of the estimators."""
        return 0 if self.quiet else 1

    def message(self, text: str) -> None:
        """Print a line on standard error, unless quiet.

        Parameters
        ----------
        text : str
            The line.
        """
        if not self.quiet:
            self.errors.print(text, markup=False)

    def show(self, table: Table) -> None:
        """Print a table on standard error, unless quiet.

        Parameters
        ----------
        table : Table
            The table.
        """
        if not self.quiet:
            self.errors.print(table, soft_wrap=False)

    def result(self, data: dict[str, Any], *shown: Any) -> None:
        """Print the result on standard output.

        Parameters
        ----------
        data : dict
            What ``--json`` prints.
        *shown : str or Table
            What is printed without ``--json``.
        """
        if self.as_json:
            print(json.dumps(_plain(data), ensure_ascii=False, allow_nan=False))
            return
        for part in shown:
            self.output.print(part, markup=False, soft_wrap=isinstance(part, str))


def make_terminal(*, quiet: bool, as_json: bool) -> Terminal:
    """Return the output of a command; ``--quiet`` also silences warnings and the compiler.

    Parameters
    ----------
    quiet, as_json : bool
        As in `Terminal`.

    Returns
    -------
    Terminal
        The output.
    """
    compiling.announced = not quiet
    if quiet:
        warnings.simplefilter("ignore")  # until the command ends
    return Terminal(quiet=quiet, as_json=as_json)


def _plain(value: Any) -> Any:
    """Return a value that JSON can represent: arrays become lists, NaN and infinity None."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def plain_table(*headings: str) -> Table:
    """Return an empty table without lines; all columns but the first are right-aligned.

    Parameters
    ----------
    *headings : str
        Headings of the columns.

    Returns
    -------
    Table
        The table.
    """
    table = Table(box=None, pad_edge=False, header_style="bold")
    for place, heading in enumerate(headings):
        table.add_column(heading, justify="right" if place else "left", overflow="fold")
    return table


def first_names(names: list[str], limit: int = 6) -> str:
    """Return names in one line, only the first ones if there are many.

    Parameters
    ----------
    names : list of str
        The names.
    limit : int
        Largest number of names to list.

    Returns
    -------
    str
        The line.
    """
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more
