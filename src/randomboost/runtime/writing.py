"""Atomic writing of files."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Write a file atomically: a temporary file replaces it if no error is raised.

    An error or a kill at any moment leaves the old file, or none, but never a part of the new one.

    Parameters
    ----------
    path : path
        The file.

    Yields
    ------
    Path
        An empty temporary file in the same folder.
    """
    path = Path(path)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    os.close(handle)
    try:
        yield Path(name)
        with open(name, "rb+") as file:
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)  # the permissions of an ordinary new file
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
