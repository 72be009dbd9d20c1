"""Checks of the files that a command is going to write, before its work."""

from __future__ import annotations

import tempfile
from pathlib import Path


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
