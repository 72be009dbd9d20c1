"""Files that appear when they are complete, and not before."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a file to write beside another; it takes the other's place if all goes well.

    A failure or a kill at any moment leaves the old file, or none, but never a part of the new.

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
        os.chmod(name, 0o666 & ~mask)  # as a file that is opened in the common way
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
