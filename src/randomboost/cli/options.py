"""Options that several commands have."""

from __future__ import annotations

from typing import Annotated

import typer

from ..reading.sources import FORMATS

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but results and errors.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="CSV (also .gz), Parquet, Feather, ARFF or LIBSVM file, '-' for standard input, or "
        "sklearn:digits, sklearn:wine, sklearn:iris, sklearn:breast_cancer.",
        show_default=False,
    ),
]
ModelFile = Annotated[str, typer.Argument(metavar="MODEL", help="Model file (.rboost).")]
Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        "-t",
        help="Column with the classes: its name, or its number from 1 (-1 is the last). Not "
        "needed for a column named target, class or label.",
        show_default=False,
    ),
]
Format = Annotated[
    str | None,
    typer.Option("--format", help=f"Format, if it is not found out: {', '.join(FORMATS)}."),
]
NoHeader = Annotated[bool, typer.Option("--no-header", help="CSV: the first row has no names.")]
Keep = Annotated[
    list[str], typer.Option("--keep", help="Column to use though it looks useless (repeat).")
]
Drop = Annotated[list[str], typer.Option("--drop", help="Column not to use (repeat).")]
Category = Annotated[
    list[str], typer.Option("--category", help="Column whose numbers name categories (repeat).")
]
Report = Annotated[str | None, typer.Option("--report", help="HTML page to write.")]
Seed = Annotated[int | None, typer.Option("--seed", help="Random seed.", show_default="random")]


def check_format(name: str | None) -> None:
    """Refuse a format that is not known.

    Parameters
    ----------
    name : str or None
        The format.
    """
    if name is not None and name not in FORMATS:
        raise typer.BadParameter(
            f"{name!r} is not one of {', '.join(FORMATS)}", param_hint="--format"
        )
