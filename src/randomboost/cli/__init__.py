"""The command line: ``randomboost train``, ``predict``, ``evaluate``, ``compare`` and others.

typer, rich, pandas and pyarrow are needed (``pip install randomboost[all]``) and imported only
here and in what a command calls.
"""

from __future__ import annotations

import sys
from typing import Any


def main() -> None:
    """Run the command line; the process ends with its exit code."""
    try:
        from .application import app
    except ImportError as error:
        package = (error.name or "").split(".")[0]
        if package == "randomboost":
            raise
        print(
            f"randomboost: the command line needs {package}: pip install randomboost[all]",
            file=sys.stderr,
        )
        sys.exit(1)
    app(prog_name="randomboost")


def __getattr__(name: str) -> Any:
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .application import app

    return app
