"""Checks of the files that a command is going to write, before its work."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import typer


def check_writable(path: str | Path) -> None:
    """Raise an error if a file cannot be written.

    Parameters
    ----------
    path : str or Path
        The file.
    """
    if str(path) == "-":
        raise ValueError("'-' is standard output only for --out: pass the name of a file here")
    path = Path(path)
    if path.is_dir():
        raise ValueError(f"{path} is a folder: pass a file")
    if not path.parent.is_dir():
        raise ValueError(f"there is no folder {path.parent}: create it first")
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise ValueError(
            f"cannot write to the folder {path.parent} ({error.strerror}): pass a file elsewhere"
        ) from error


def check_standard_output(*, as_json: bool, resume: bool) -> None:
    """Raise an error where a model cannot be written to standard output.

    Parameters
    ----------
    as_json : bool
        Whether the results go there as JSON.
    resume : bool
        Whether an interrupted run is to go on.
    """
    problem = None
    if sys.stdout.isatty():
        problem = "a model is not text: pass a file, or redirect standard output"
    elif as_json:
        problem = "standard output cannot take the model and the JSON of --json: pass a file"
    elif resume:
        problem = "--resume needs the file of the interrupted run: pass it"
    if problem is not None:
        raise typer.BadParameter(problem, param_hint="--out")
