"""A second process that compiles kernels into the common cache, while this one compiles others.

Threads do not help: the compiler lets one thread in at a time. The process gets nothing but a call
to make, and whatever happens to it, this one compiles what it does not find in the cache.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

from .compiling import cache_folder

_PATIENCE = 120.0  # seconds for which the other process is waited for


class SecondProcess:
    """A process of Python that makes one call, on the same modules and without any output.

    There is none where processes cannot be started, or where what they compile cannot be kept.

    Parameters
    ----------
    function : callable
        A function of a module.
    *arguments : int
        Its arguments.
    """

    def __init__(self, function: Callable[..., None], *arguments: int) -> None:
        self._process: subprocess.Popen | None = None
        if not sys.executable or hasattr(sys, "frozen") or not os.access(cache_folder(), os.W_OK):
            return
        code = (
            f"import sys; sys.path[:] = {sys.path!r}; "
            f"from {function.__module__} import {function.__name__} as call; call(*{arguments!r})"
        )
        quiet = subprocess.DEVNULL
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-c", code], stdin=quiet, stdout=quiet, stderr=quiet
            )
        except OSError:
            return

    @property
    def runs(self) -> bool:
        """Whether the process is at work."""
        return self._process is not None and self._process.poll() is None

    def wait(self) -> None:
        """Wait until the process has ended, for some time; then end it."""
        if self._process is None:
            return
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self.stop()

    def stop(self) -> None:
        """End the process, if it has not ended."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
