"""``randomboost export``: a model for other runtimes."""

from __future__ import annotations

from typing import Annotated

import typer

from . import options


def export_command(
    model: options.ModelFile,
    onnx: Annotated[str | None, typer.Option("--onnx", help="ONNX file to write.")] = None,
    c: Annotated[
        str | None, typer.Option("--c", help="C file to write, with a function predict.")
    ] = None,
    encoded: Annotated[
        bool,
        typer.Option(
            "--encoded", help="The caller gives numbers for categories; which ones is said."
        ),
    ] = False,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Write a model as ONNX or as one C file without dependencies.

    The files take numbers; what each input is, in which order, is said.

    Example: randomboost export flowers.rboost --onnx flowers.onnx --c flowers.c --encoded
    """
    from .console import Talk
    from .exporting import export

    if onnx is None and c is None:
        raise typer.BadParameter("say what to write", param_hint="--onnx or --c")
    export(Talk(quiet=quiet, as_json=as_json), model, onnx=onnx, c=c, encoded=encoded)
