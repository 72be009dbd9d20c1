"""What is measured of a classifier: time, size, scores."""

from __future__ import annotations

import pickle
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .. import files


class _Counter:
    """A file that keeps only its length: some forests are larger than memory twice over."""

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
        Bytes.
    """
    counter = _Counter()
    pickle.Pickler(counter).dump(model)
    return counter.size


def file_bytes(model: Any) -> int:
    """Return the length of the file of a model of ours.

    Parameters
    ----------
    model : classifier or Pipeline
        The model.

    Returns
    -------
    int
        Bytes.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.rboost"
        files.save(model, path)
        return path.stat().st_size


def seconds(call: Callable[[], Any]) -> float:
    """Return the time of one call.

    Parameters
    ----------
    call : callable
        What to do.

    Returns
    -------
    float
        Seconds.
    """
    began = time.perf_counter()
    call()
    return time.perf_counter() - began
