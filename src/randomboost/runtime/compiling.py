"""Kernels: plain functions on arrays that numba compiles when they are first called.

Importing the package does not import numba. The first call of a kernel does, and compiles the
kernel or loads it from numba's cache. The first compilation in a process is reported, unless
`announced` is False.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
import zlib
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from .compilers import compiler_of_parts

_lock = threading.RLock()
_loaded = False
_compiled = False  # whether this process has compiled a kernel
_folders: list[str] = []  # of the caches of the kernels in use
announced = True
ZERO: Any = np.int64(0)  # in kernels: a literal 0 as an argument compiles another one for 0 alone


class Kernel:
    """A function that becomes a numba dispatcher at its first call.

    It has two dispatchers, one for Python and one for other kernels: most kernels are called by
    others only, which takes less of the compiler (see `compilers`).

    Parameters
    ----------
    function : callable
        A plain function on arrays and numbers. It may call kernels that are global names of its
        module.
    options : dict
        Further options of ``numba.njit``. Caching and the release of the GIL are always on;
        division by zero is as in NumPy, which needs no check.
    shared : bool
        Whether what other kernels call is cached as well, so that another process can prepare it.
    """

    def __init__(
        self, function: Callable, options: dict[str, Any], *, shared: bool = False
    ) -> None:
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__
        self.__module__ = function.__module__
        self._function = function
        self._options, self._shared = options, shared
        self._dispatcher: Any = None
        self._inner: Any = None
        self._checksum: int | None = None

    def __call__(self, *arguments: Any) -> Any:
        """Call the compiled function."""
        if self._dispatcher is None:
            with _lock:
                self._dispatcher = self._dispatcher or self._make(inner=False)
        return self._dispatcher(*arguments)

    def prepare(self, *arguments: Any) -> None:
        """Compile what other kernels call, for arguments of the types of these; it is `shared`."""
        with _lock:
            inner = self._for_kernels()
        from numba import typeof

        inner.compile(tuple(typeof(each) for each in arguments))

    def _for_kernels(self) -> Any:
        """Return the dispatcher that other kernels call."""
        if self._inner is None:
            self._inner = self._make(inner=True)
        return self._inner

    def _digest(self) -> int:
        """Return a checksum of the code, of the constants and of the kernels that it uses."""
        if self._checksum is None:
            code, names = self._function.__code__, self._function.__globals__
            used = [names.get(name) for name in code.co_names]
            parts = [
                each._digest() if isinstance(each, Kernel | Instructions) else repr(each)
                for each in used
                if isinstance(each, Kernel | Instructions | int | float | tuple | np.generic)
            ]
            text = repr((_plain(code), parts, self._options))
            self._checksum = zlib.crc32(text.encode())
        return self._checksum

    def _make(self, *, inner: bool) -> Any:
        """Return a dispatcher of the function, with those of the kernels it calls."""
        _load_numba()
        from numba import njit

        names = self._function.__globals__
        called = {
            name: names[name]._for_kernels()
            for name in self._function.__code__.co_names
            if isinstance(names.get(name), Kernel | Instructions)
        }
        function = FunctionType(self._function.__code__, {**names, **called})
        function.__module__ = self.__module__
        # cache files are named after this: those of the two dispatchers must differ, and those of
        # other code that it calls, since numba looks at the date of the kernel's own file only
        kind = "inner" if inner else "outer"
        function.__qualname__ = f"{self.__name__}.{kind}.{self._digest():08x}"
        cached = self._shared or not inner  # a cached kernel contains what it calls
        options = {"cache": cached, "nogil": True, "error_model": "numpy"}
        options |= {"no_cfunc_wrapper": True, "no_cpython_wrapper": inner}  # unused
        if not cached:
            options["pipeline_class"] = compiler_of_parts()
        dispatcher = njit(**options, **self._options)(function)
        if cached:
            _folders.append(dispatcher.stats.cache_path)
        return dispatcher


class Instructions:
    """A function for kernels that is written in LLVM's instructions: an intrinsic of numba.

    Parameters
    ----------
    define : callable
        As for ``numba.extending.intrinsic``; called when a kernel that uses it is compiled.
    parameters : tuple
        What `define` was made with.
    """

    def __init__(self, define: Callable, parameters: tuple[Any, ...] = ()) -> None:
        self.__doc__ = define.__doc__
        self._define, self._parameters = define, parameters
        self._inner: Any = None

    def __call__(self, *arguments: Any) -> Any:
        """Raise: there is no such function in Python."""
        raise TypeError("this is for kernels only")

    def _for_kernels(self) -> Any:
        """Return the intrinsic."""
        if self._inner is None:
            from numba.extending import intrinsic

            self._inner = intrinsic(self._define)
        return self._inner

    def _digest(self) -> int:
        """Return a checksum of the code."""
        text = repr((_plain(self._define.__code__), self._parameters))
        return zlib.crc32(text.encode())


def _plain(code: CodeType) -> tuple[Any, ...]:
    """Return what code does, without where it stands."""
    constants = [_plain(each) if isinstance(each, CodeType) else each for each in code.co_consts]
    return code.co_code, constants, code.co_names


def kernel(function: Callable | None = None, *, shared: bool = False, **options: Any) -> Any:
    """Mark a function as a kernel: ``@kernel`` or ``@kernel(fastmath={"reassoc"})``.

    With ``inline="always"`` a kernel is compiled as a part of its caller, which is faster for one
    that is called in a single place.

    Parameters
    ----------
    function : callable
        The function.
    shared : bool
        Whether it can be compiled by another process for the kernels that call it, see `prepare`.
    **options
        Further options of ``numba.njit``.

    Returns
    -------
    Kernel or decorator
        Replaces the function.
    """
    if function is None:
        return lambda decorated: Kernel(decorated, options, shared=shared)
    return Kernel(function, options, shared=shared)


def cache_folder() -> str:
    """Return the folder in which the kernels are cached that this process uses.

    Returns
    -------
    str
        The folder; the common one if there are several, "" if no kernel has been called.
    """
    return os.path.commonpath(_folders) if _folders else ""


def has_compiled() -> bool:
    """Return whether this process has compiled a kernel, which was not in the cache then.

    Returns
    -------
    bool
        True if it has.
    """
    return _compiled


def _load_numba() -> None:
    """Import numba and its tables of types, once; without garbage collection in half the time."""
    global _loaded
    if _loaded:
        return
    _loaded = True
    collecting = gc.isenabled()
    gc.disable()
    try:
        from numba.core.registry import cpu_target

        cpu_target.target_context.refresh()  # includes the typing context
    finally:
        if collecting:
            gc.enable()
    _listen_to_compilation()


def _note_compilation() -> None:
    """Note and report that this process compiles kernels."""
    global _compiled
    _compiled = True
    if announced:
        print(
            "randomboost: compiling kernels (some seconds, once on this machine)",
            file=sys.stderr,
            flush=True,
        )


def _listen_to_compilation() -> None:
    """Report the first compilation of this process on stderr."""
    from numba.core import event

    class CompilationListener(event.Listener):
        """Reports that kernels are compiled, which happens only if they are not cached.

        Garbage collection is off meanwhile: it would scan the many objects of numba again and
        again, and free almost nothing. Only one thread compiles at a time.
        """

        depth = 0  # a kernel is compiled together with those it calls
        collecting = False

        def on_start(self, event: Any) -> None:
            if self.depth == 0:
                self.collecting = gc.isenabled()
                gc.disable()
            self.depth += 1
            ours = event.data["dispatcher"].py_func.__module__.startswith("randomboost.")
            if ours and not _compiled:
                _note_compilation()

        def on_end(self, event: Any) -> None:
            self.depth -= 1
            if self.depth == 0 and self.collecting:
                gc.enable()

    event.register("numba:compile", CompilationListener())
