"""A compiler for functions that only kernels call: without machine code.

numba optimises every function on its own and translates it to machine code, and does both again
for each kernel that calls it, since a kernel contains all that it calls. The first time is in vain
for a function that Python never calls: a quarter of the time of compiling.
"""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def compiler_of_parts() -> Any:
    """Return numba's compiler for functions that are only linked into kernels.

    Returns
    -------
    type
        A ``pipeline_class`` for ``numba.njit``.
    """
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import Compiler

    class Codegen:
        """A code generator that looks for no environment of the function in machine code."""

        def __init__(self, codegen: Any) -> None:
            self._codegen = codegen

        def __getattr__(self, name: str) -> Any:
            return getattr(self._codegen, name)

        def set_env(self, name: str, env: Any) -> None:
            pass

    class Part(JITCodeLibrary):
        """Code that is neither optimised nor translated."""

        @property
        def codegen(self) -> Any:
            return Codegen(self._codegen)

        def get_pointer_to_function(self, name: str) -> int:
            self._ensure_finalized()
            return 0  # as for a function that there is not

        def _optimize_final_module(self) -> None:
            pass

        def _finalize_final_module(self) -> None:
            self._finalize_dynamic_globals()
            self._verify_declare_only_symbols()
            self._finalized = True

    class PartCompiler(Compiler):
        """Has such code made."""

        def define_pipelines(self) -> Any:
            state = self.state
            state.library = Part(state.targetctx.codegen(), state.func_id.func_qualname)
            return super().define_pipelines()

    return PartCompiler
