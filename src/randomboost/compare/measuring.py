"""Time and size of a classifier."""

from __future__ import annotations

import pickle
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .. import files


class _Counter:
    """A file that keeps only its length: a pickled forest may not fit into memory again."""

    size = 0

    def write(self, data: Any) -> int:
        """Count the bytes."""
        self.size += memoryview(data).nbytes
        return memoryview(data).nbytes


def pickled_bytes(model: Any) -> int:
    """Return the length of the pickled model.

    Parameters
    ----------
    model : object
        The model.

    Returns
    -------
    int
        Number of bytes.
    """
    counter = _Counter()
    pickle.Pickler(counter).dump(model)
    return counter.size


def file_bytes(model: Any) -> int:
    """Return the length of the model file of a randomboost model.

    Parameters
    ----------
    model : classifier or Pipeline
        The fitted model.

    Returns
    -------
    int
        Number of bytes.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.rboost"
        files.save(model, path)
        return path.stat().st_size


def seconds(call: Callable[[], Any]) -> float:
    """Return the duration of one call.

    Parameters
    ----------
    call : callable
        The function to time.

    Returns
    -------
    float
        Seconds.
    """
    began = time.perf_counter()
    call()
    return time.perf_counter() - began
