"""The command line: ``randomboost train``, ``predict``, ``evaluate``, ``compare`` and others.

It needs typer, rich, pandas and pyarrow (``pip install randomboost[all]``). Only `application`
and `options` are imported before a command runs, and they import nothing slow.
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
