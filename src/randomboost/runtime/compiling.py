"""Kernels: plain functions on arrays that numba compiles when they are first called.

Importing the package does not import numba. The first call of a kernel does, and compiles the
kernel or loads it from numba's cache; what has to be compiled is announced once a process.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable
from types import FunctionType
from typing import Any

_lock = threading.RLock()
_listening = False


class Kernel:
    """A function that becomes a numba dispatcher at its first call.

    Called by Python and called by other kernels it is two dispatchers: most kernels are called by
    others only, and a sixth of the time to compile them would go into what Python calls them by.

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
        self._inner: Any = None

    def __call__(self, *arguments: Any) -> Any:
        """Call the compiled function."""
        if self._dispatcher is None:
            with _lock:
                self._dispatcher = self._dispatcher or self._make(inner=False)
        return self._dispatcher(*arguments)

    def _for_kernels(self) -> Any:
        """Return the dispatcher that other kernels call."""
        if self._inner is None:
            self._inner = self._make(inner=True)
        return self._inner

    def _make(self, *, inner: bool) -> Any:
        """Return a dispatcher of the function, with those of the kernels that it calls."""
        from numba import njit

        _attend_to_compilation()
        names = self._function.__globals__
        called = {
            name: names[name]._for_kernels()
            for name in self._function.__code__.co_names
            if isinstance(names.get(name), Kernel)
        }
        function = FunctionType(self._function.__code__, {**names, **called})
        function.__module__ = self.__module__
        # the cache names its files by this: those of the two dispatchers must not be mixed up
        function.__qualname__ = f"{self.__name__}.inner" if inner else self.__name__
        options = {"cache": True, "nogil": True, "error_model": "numpy"}
        options |= {"no_cfunc_wrapper": True, "no_cpython_wrapper": inner}  # nobody calls by them
        return njit(**options, **self._options)(function)


def kernel(function: Callable | None = None, **options: Any) -> Any:
    """Mark a function as a kernel: ``@kernel`` or ``@kernel(fastmath={"reassoc"})``.

    One that is called in a single place is compiled as a part of its caller, which takes less
    time, with ``inline="always"``.

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


def _attend_to_compilation() -> None:
    """Have compilations attended to: the first of this process is said on the error stream."""
    global _listening
    if _listening:
        return
    _listening = True
    from numba.core import event

    class Attendant(event.Listener):
        """Says that kernels are being compiled, which happens only where no cache has them.

        The collector of garbage rests meanwhile: it would look at all that numba makes, again and
        again, and find next to nothing to free. Only one thread compiles at a time.
        """

        said = False
        depth = 0  # a kernel is compiled with those that it calls
        collecting = False

        def on_start(self, event: Any) -> None:
            if self.depth == 0:
                self.collecting = gc.isenabled()
                gc.disable()
            self.depth += 1
            ours = event.data["dispatcher"].py_func.__module__.startswith("randomboost.")
            if ours and not self.said:
                self.said = True
                print(
                    "randomboost: compiling its kernels, some seconds once on this machine",
                    file=sys.stderr,
                    flush=True,
                )

        def on_end(self, event: Any) -> None:
            self.depth -= 1
            if self.depth == 0 and self.collecting:
                gc.enable()

    event.register("numba:compile", Attendant())
