"""Every model of a comparison in a process of its own, as its users run it.

Libraries that share a process share the state of its threads: several OpenMP runtimes wait for
each other, and limits on the threads of one apply to all. With a process for each model, only one
of which works at any time, a fit takes as long as in a program that uses this library alone.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import tempfile
from pathlib import Path
from typing import Any

import joblib

from .entrants import Entrant, choose_entrants
from .folded_data import Cell, FoldedData


class ModelFailedError(RuntimeError):
    """A model raised an error, or its process ended; the message says why."""


def _work(key: str, path: str, pipe: Any) -> None:
    """Measure one model on the folds whose numbers arrive; run in the new process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, which ends this
    os.dup2(2, 1)  # what a library prints is no part of the results
    data: FoldedData = joblib.load(path, mmap_mode="r")  # shared by all processes
    entrant = choose_entrants([key], len(data.y), data.n_classes)[0]
    warm = False
    while (number := pipe.recv()) is not None:
        try:
            if not warm:
                data.warm_up(entrant)
                warm = True
            pipe.send(data(entrant, number))
        except Exception as error:  # sent to the parent, which goes on with other models
            pipe.send(" ".join(str(error).split()) or type(error).__name__)


class Apart:
    """A context in which every model is measured in a process of its own.

    A process starts with the first fold of its model, which it fits once before, on a few rows
    or rounds, and waits between the folds. It is called with a model and the number of a fold.

    Parameters
    ----------
    data : FoldedData
        The data; it is written once to a temporary file, which the processes share.
    """

    def __init__(self, data: FoldedData) -> None:
        self._data = data
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._processes: dict[str, tuple[Any, Any]] = {}

    def __enter__(self) -> Apart:
        self._folder = tempfile.TemporaryDirectory()
        joblib.dump(self._data, self._path)
        return self

    @property
    def _path(self) -> Path:
        assert self._folder is not None, "measurements are made inside the context"
        return Path(self._folder.name) / "data"

    def __exit__(self, *_: Any) -> None:
        for process, pipe in self._processes.values():
            process.kill()
            process.join()
            pipe.close()
        self._processes.clear()
        assert self._folder is not None
        self._folder.cleanup()

    def __call__(self, entrant: Entrant, number: int) -> Cell:
        """Measure a model on a fold, in the process of the model."""
        if entrant.key not in self._processes:
            self._processes[entrant.key] = self._start(entrant.key)
        process, pipe = self._processes[entrant.key]
        try:
            pipe.send(number)
            found = pipe.recv()
        except (EOFError, BrokenPipeError):
            process.join()
            raise ModelFailedError(_ended(process.exitcode)) from None
        if isinstance(found, str):
            raise ModelFailedError(found)
        return found

    def _start(self, key: str) -> tuple[Any, Any]:
        context = multiprocessing.get_context("spawn")
        pipe, other_end = context.Pipe()
        process = context.Process(target=_work, args=(key, str(self._path), other_end))
        process.start()  # not as a daemon: joblib gives daemons one thread
        other_end.close()
        return process, pipe


def _ended(code: int) -> str:
    """Return why a process ended before its result."""
    if code == -9:
        return "its process was ended by the system, perhaps because memory ran out"
    return f"its process ended with exit code {code}"
