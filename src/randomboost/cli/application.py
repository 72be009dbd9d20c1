"""The typer application: its commands, and how errors end it."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from .. import __version__
from .compare import compare_command
from .evaluate import evaluate_command
from .export import export_command
from .info import info_command
from .predict import predict_command
from .train import train_command

FAILED, INTERRUPTED, NOBODY_READS = 1, 130, 141
_USUAL = (ValueError, OSError, ImportError, MemoryError, LookupError)


class OneLineErrors(TyperGroup):
    """A group of commands that ends with one line for an error, and with an exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        if ctx.params.get("debug"):
            return super().invoke(ctx)
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            _end("interrupted", INTERRUPTED)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(NOBODY_READS) from None
        except _USUAL as error:
            _end(_in_one_line(error), FAILED)
        except RuntimeError as error:  # also typer's own way to exit
            if isinstance(error, typer.Exit | typer.Abort):
                raise
            _end(_in_one_line(error), FAILED)


def _in_one_line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    if isinstance(error, OSError) and error.strerror:
        text = error.strerror + (f": {error.filename}" if error.filename else "")
    if isinstance(error, MemoryError):
        return f"not enough memory {text}".rstrip()
    if isinstance(error, LookupError) or not text:
        return f"{type(error).__name__}: {text} (randomboost --debug ... shows where)"
    return text


def _end(text: str, code: int) -> None:
    print(f"randomboost: {text}", file=sys.stderr)
    raise typer.Exit(code) from None


app = typer.Typer(
    cls=OneLineErrors,
    help="Multi-class boosting from the command line: train on a table, predict, evaluate, "
    "compare with other libraries.",
    epilog="Example: randomboost train flowers.csv --target species --out flowers.rboost",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _say_version(wanted: bool) -> None:
    if wanted:
        print(f"randomboost {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    debug: Annotated[bool, typer.Option("--debug", hidden=True)] = False,
    version: Annotated[
        bool,
        typer.Option("--version", is_eager=True, callback=_say_version, help="Print the version."),
    ] = False,
) -> None:
    """Nothing to do before a command."""


app.command("train")(train_command)
app.command("predict")(predict_command)
app.command("evaluate")(evaluate_command)
app.command("compare")(compare_command)
app.command("info")(info_command)
app.command("export")(export_command)


@app.command(
    "paper",
    add_help_option=False,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
)
def _paper(ctx: typer.Context) -> None:
    """Repeat the experiments of the paper (see randomboost paper --help)."""
    from ..paper.commands import app as paper

    paper(ctx.args, prog_name="randomboost paper")
