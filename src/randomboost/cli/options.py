"""Options and exit codes that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

from ..reading.sources import FORMATS

DONE, FAILED, INTERRUPTED, CLOSED_PIPE = 0, 1, 130, 141

_MODELS = ("randomboost", "rank", "rank-paper", "proj", "proj-paper", "adaboost", "ecc", "mh", "mo",
           "multiboost")  # fmt: skip


def model_names(incomplete: str) -> list[str]:
    """Return the names of models that begin with a text, for the completion in a shell.

    Parameters
    ----------
    incomplete : str
        The text.

    Returns
    -------
    list of str
        The names.
    """
    return [name for name in _MODELS if name.startswith(incomplete)]


def format_names(incomplete: str) -> list[str]:
    """Return the formats that begin with a text, for the completion in a shell.

    Parameters
    ----------
    incomplete : str
        The text.

    Returns
    -------
    list of str
        The formats.
    """
    return [name for name in FORMATS if name.startswith(incomplete)]


Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only results and errors.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="CSV (also compressed), Parquet, Feather, ARFF or LIBSVM file, '-' for standard "
        "input, or sklearn:digits, sklearn:wine, sklearn:iris, sklearn:breast_cancer.",
        show_default=False,
    ),
]
ModelFile = Annotated[str, typer.Argument(metavar="MODEL", help="Model file (.rboost).")]
Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        "-t",
        metavar="COLUMN",
        help="Column with the classes: its name, or its number counted from 1 (-1 is the last). "
        "By default the column named target, class or label.",
        show_default=False,
    ),
]
TrainedTarget = Annotated[
    str | None,
    typer.Option(
        "--target",
        "-t",
        metavar="COLUMN",
        help="Column with the classes: its name, or its number counted from 1 (-1 is the last).",
        show_default="the name of the target in training",
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        autocompletion=format_names,
        help=f"File format: {', '.join(FORMATS)}.",
        show_default="detected",
    ),
]
NoHeader = Annotated[
    bool, typer.Option("--no-header", help="The first row of a CSV file is data, not names.")
]
Keep = Annotated[
    list[str],
    typer.Option(
        "--keep", metavar="COLUMN", help="Use this column even if it looks useless (repeatable)."
    ),
]
Drop = Annotated[
    list[str], typer.Option("--drop", metavar="COLUMN", help="Ignore this column (repeatable).")
]
Category = Annotated[
    list[str],
    typer.Option(
        "--category",
        metavar="COLUMN",
        help="Treat this column of numbers as categories (repeatable).",
    ),
]
ColumnsFile = Annotated[
    str | None,
    typer.Option(
        "--columns-file",
        metavar="FILE",
        help="How to read the columns: a file that train --save-columns wrote.",
        show_default=False,
    ),
]
Report = Annotated[
    str | None,
    typer.Option("--report", metavar="FILE", help="Write an HTML report to this file."),
]
Seed = Annotated[
    int | None,
    typer.Option("--seed", metavar="NUMBER", help="Random seed.", show_default="random"),
]


def check_format(name: str | None) -> None:
    """Reject an unknown format.

    Parameters
    ----------
    name : str or None
        The format.
    """
    if name is not None and name not in FORMATS:
        raise typer.BadParameter(
            f"{name!r} is not one of {', '.join(FORMATS)}", param_hint="--format"
        )
