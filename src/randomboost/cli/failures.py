"""How errors, warnings and interruptions end a command: in one line, with an exit code."""

from __future__ import annotations

import os
import re
import sys
import warnings
from typing import Any

import typer
from typer.core import TyperGroup

from . import options

_EXPECTED = (ValueError, OSError, ImportError, MemoryError, LookupError)


class FlagsWithoutTypes(TyperGroup):
    """A group of commands whose help texts show flags without a type."""

    def get_params(self, ctx: Any) -> Any:
        """Return the options of the program itself."""
        return _without_types_of_flags(super().get_params(ctx))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command."""
        command = super().get_command(ctx, cmd_name)
        if command is not None:
            _without_types_of_flags(command.get_params(ctx))
        return command


class OneLineErrors(FlagsWithoutTypes):
    """A group of commands that reports an error in one line and ends with an exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        if ctx.params.get("debug"):
            return super().invoke(ctx)
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _show_warning
                return super().invoke(ctx)
        except KeyboardInterrupt:
            _end("interrupted", options.INTERRUPTED)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(options.CLOSED_PIPE) from None
        except _EXPECTED as error:
            _end(_in_one_line(error), options.FAILED)
        except RuntimeError as error:  # typer also exits by one
            if isinstance(error, typer.Exit | typer.Abort):
                raise
            _end(_in_one_line(error), options.FAILED)
        except Exception as error:
            if hasattr(error, "exit_code"):  # wrong usage, which typer reports
                raise
            kind = type(error).__name__
            _end(
                f"an error of the program, please report it: {kind}: {_in_one_line(error)} "
                "(randomboost --debug ... shows the traceback)",
                options.FAILED,
            )


def _without_types_of_flags(params: Any) -> Any:
    for param in params:
        if getattr(param, "is_flag", False) and param.metavar is None:
            param.metavar = ""
    return params


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    print(f"randomboost: {_in_words(' '.join(str(message).split()))}", file=sys.stderr)


def _in_words(text: str) -> str:
    """Return a message with the names of models on the command line instead of classes."""
    if "Classifier" not in text:
        return text
    from ..compare.entrants import MODELS

    names = {model.class_name: name for name, model in reversed(MODELS.items())}
    return re.sub(r"\w+Classifier\b", lambda found: names.get(found[0], found[0]), text)


def _in_one_line(error: BaseException) -> str:
    text = _in_words(" ".join(str(error).split()))
    if isinstance(error, OSError) and error.strerror:
        text = error.strerror + (f": {error.filename}" if error.filename else "")
    if isinstance(error, MemoryError):
        return f"not enough memory {text}".rstrip()
    if isinstance(error, LookupError) or not text:
        return f"{type(error).__name__}: {text} (randomboost --debug ... shows the traceback)"
    return text


def _end(text: str, code: int) -> None:
    print(f"randomboost: {text}", file=sys.stderr)
    raise typer.Exit(code) from None
