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
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Write a model as ONNX or as one C file without dependencies.

    Example: randomboost export flowers.rboost --onnx flowers.onnx --c flowers.c
    """
    from pathlib import Path

    from .. import files
    from .talk import Talk, in_bytes
    from .writing import whole_file

    if onnx is None and c is None:
        raise typer.BadParameter("say what to write", param_hint="--onnx or --c")
    talk = Talk(quiet=quiet, as_json=as_json)
    fitted = files.load(model)
    written = {}
    if onnx is not None:
        from ..onnx import to_onnx

        content = to_onnx(fitted).SerializeToString()
        with whole_file(Path(onnx)) as name:
            Path(name).write_bytes(content)
        written["onnx"] = onnx
    if c is not None:
        from ..c_source import to_c

        text = to_c(fitted)
        with whole_file(Path(c)) as name:
            Path(name).write_text(text, encoding="utf-8")
        written["c"] = c
    for path in written.values():
        talk.say(f"{path}: {in_bytes(Path(path).stat().st_size)}")
    if as_json:
        talk.result(written)
