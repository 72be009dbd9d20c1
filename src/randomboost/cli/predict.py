"""``randomboost predict``: classes and probabilities of new rows."""

from __future__ import annotations

from typing import Annotated

import typer

from . import options


def predict_command(
    model: options.ModelFile,
    data: options.Data,
    proba: Annotated[
        bool, typer.Option("--proba", help="Also write the probability of every class.")
    ] = False,
    out: Annotated[
        str | None,
        typer.Option(
            "--out", "-o", help="File to write (.csv, .csv.gz, .parquet).", show_default="stdout"
        ),
    ] = None,
    copy: Annotated[
        list[str],
        typer.Option("--copy", help="Column to copy into the output, as an identifier (repeat)."),
    ] = [],  # noqa: B006 (typer's way)
    format: options.Format = None,
    no_header: options.NoHeader = False,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Predict the classes of the rows of a table, one line a row in the same order.

    Columns are matched by name. CSV, LIBSVM, Parquet and Feather files may be larger than memory.

    Example: randomboost predict flowers.rboost new.csv --proba -o predicted.csv
    """
    from .console import Talk
    from .prediction import predict

    options.check_format(format)
    if as_json and out is None:
        raise typer.BadParameter("with --json the predictions need a file", param_hint="--out")
    talk = Talk(quiet=quiet, as_json=as_json)
    predict(talk, model, data, out=out, proba=proba, copy=copy, format=format, header=not no_header)
