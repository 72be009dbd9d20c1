"""Kernels: plain functions on arrays that numba compiles when they are first called.

Importing the package does not import numba. The first call of a kernel does, and compiles the
kernel or loads it from numba's cache; what has to be compiled is announced once a process.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

_lock = threading.RLock()
_listening = False


class Kernel:
    """A function that becomes a numba dispatcher at its first call.

    Parameters
    ----------
    function : callable
        A plain function on arrays and numbers. It may call other kernels of its module.
    options : dict
        Further options of ``numba.njit``; caching and the release of the GIL are always on, and
        division by zero gives what it gives in NumPy, which costs no test.
    """

    def __init__(self, function: Callable, options: dict[str, Any]) -> None:
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__
        self.__module__ = function.__module__
        self._function = function
        self._options = options
        self._dispatcher: Any = None

    def __call__(self, *arguments: Any) -> Any:
        """Call the compiled function."""
        return (self._dispatcher or self._prepared())(*arguments)

    def _prepared(self) -> Any:
        """Return the dispatcher, with those of the kernels it calls in their places."""
        with _lock:
            if self._dispatcher is None:
                from numba import njit

                _announce_compilation()
                names = self._function.__globals__
                for name in self._function.__code__.co_names:
                    if isinstance(names.get(name), Kernel):
                        names[name] = names[name]._prepared()
                options = {"cache": True, "nogil": True, "error_model": "numpy"}
                options |= {"no_cfunc_wrapper": True, **self._options}  # nobody wants a C pointer
                self._dispatcher = njit(**options)(self._function)
            return self._dispatcher


def kernel(function: Callable | None = None, **options: Any) -> Any:
    """Mark a function as a kernel: ``@kernel`` or ``@kernel(fastmath={"reassoc"})``.

    Parameters
    ----------
    function : callable
        The function.
    **options
        Further options of ``numba.njit``.

    Returns
    -------
    Kernel or decorator
        What takes the function's place.
    """
    if function is None:
        return lambda decorated: Kernel(decorated, options)
    return Kernel(function, options)


def _announce_compilation() -> None:
    """Have the first compilation of this process said on the error stream."""
    global _listening
    if _listening:
        return
    _listening = True
    from numba.core import event

    class Announcer(event.Listener):
        """Says that kernels are being compiled, which happens only where no cache has them."""

        said = False

        def on_start(self, event: Any) -> None:
            ours = event.data["dispatcher"].py_func.__module__.startswith(__package__)
            if ours and not self.said:
                self.said = True
                print(
                    "randomboost: compiling its kernels, some seconds once on this machine",
                    file=sys.stderr,
                    flush=True,
                )

        def on_end(self, event: Any) -> None:
            """Nothing to say."""

    event.register("numba:compile", Announcer())
