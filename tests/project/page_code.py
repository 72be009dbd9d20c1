"""The code of the pages: its blocks run one after the other, and what they print is returned.

The blocks of a page run in a folder of their own and with one set of names: ``python`` and
``pycon`` (the prompts of doctest) as well as ``sh`` and ``console`` (``$ command``, followed by
what it prints; ``...`` stands for any lines).
"""

from __future__ import annotations

import doctest
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import console_blocks
import numpy as np

os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"  # the tests make no connections

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
BLOCK = re.compile(r"^```(python|pycon|sh|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)
PAGES = [
    page
    for page in (
        ROOT / "README.md",
        *(DOCS / name for name in ("index.md", "start.md", "command-line.md")),
        *(DOCS / name for name in ("file-format.md", "many-classes.md")),
        *sorted(DOCS.glob("guide/*.md")),
        *sorted(DOCS.glob("howto/*.md")),
    )
    if BLOCK.search(page.read_text())
]
# set-up of an environment, data that is not part of the package, compilers
NOT_RUN = ("make ", "pip ", "git ", "cc ", "RANDOMBOOST_DATA=")


class Output(NamedTuple):
    """What a statement or a command prints."""

    source: str
    line: int  # of the page, counted from 0, where the output is shown
    shown: list[str]
    found: list[str]
    same: bool  # whether the page shows what was printed


class MissingPackage(Exception):
    """A block needs a package that is not installed."""


def outputs(page: Path, folder: Path) -> Iterator[Output]:
    """Run the blocks of a page in the working folder, and yield what they print."""
    names = _names_of(page)
    text = page.read_text()
    for block in BLOCK.finditer(text):
        kind, code = block.groups()
        line = text.count("\n", 0, block.start(2))
        if kind == "python":
            _run_python(code, page, names)
        elif kind == "pycon":
            yield from _run_doctest(code, line, page, names)
        else:
            yield from _run_commands(kind, code, line, folder)


def _names_of(page: Path) -> dict[str, Any]:
    """Return what a page takes for granted: data, and a fitted model."""
    if page.stem not in ("file-format", "many-classes"):
        return {}
    from sklearn.datasets import load_wine

    import randomboost

    X, y = load_wine(return_X_y=True)
    model = randomboost.RandomBoostClassifier(5, random_state=0).fit(X, y)
    names = {"X": X, "y": np.repeat(np.arange(6), 30)[: len(y)], "X_test": X[:4], "model": model}
    return {**names, "randomboost": randomboost}


def _run_python(code: str, page: Path, names: dict[str, Any]) -> None:
    try:
        exec(compile(code, page.name, "exec"), names)
    except ModuleNotFoundError as error:
        if error.name.startswith("randomboost"):
            raise
        raise MissingPackage(error.name) from error


class _Collector(doctest.DocTestRunner):
    """Keeps what the statements print."""

    def __init__(self) -> None:
        super().__init__(verbose=False)
        self.seen: list[tuple[doctest.Example, str, bool]] = []

    def report_start(self, out: Any, test: Any, example: Any) -> None:
        pass

    def report_success(self, out: Any, test: Any, example: Any, got: str) -> None:
        self.seen.append((example, got, True))

    def report_failure(self, out: Any, test: Any, example: Any, got: str) -> None:
        self.seen.append((example, got, False))

    def report_unexpected_exception(self, out: Any, test: Any, example: Any, exc_info: Any) -> None:
        raise AssertionError(f">>> {example.source}") from exc_info[1]


def _run_doctest(code: str, line: int, page: Path, names: dict[str, Any]) -> Iterator[Output]:
    test = doctest.DocTestParser().get_doctest(code, names, page.name, str(page), 0)
    assert test.examples, f"{page.name}: a block without statements"
    collector = _Collector()
    collector.run(test, clear_globs=False, out=lambda text: None)
    names.update(test.globs)
    for example, got, same in collector.seen:
        at = line + example.lineno + example.source.count("\n")
        yield Output(
            f">>> {example.source.rstrip()}",
            at,
            example.want.splitlines(),
            got.splitlines(),
            same,
        )


def _run_commands(kind: str, code: str, line: int, folder: Path) -> Iterator[Output]:
    """Run the commands of a block."""
    variables = console_blocks.environment(folder)
    if kind == "sh":
        if not any(line.startswith(NOT_RUN) for line in code.splitlines()):
            commands = console_blocks.commands(code)
            if any(console_blocks.own_arguments(each) is None for each in commands):
                commands = [f"set -eu\n{code}"]
            for command in commands:
                found, status = console_blocks.printed(command, folder, variables)
                assert status == 0, (command, found)
        return
    for step in console_blocks.steps(code):
        found, status = console_blocks.printed(step.command, folder, variables)
        assert status == 0, (step.command, found)
        same = console_blocks.same(step.shown, found)
        yield Output(f"$ {step.command}", line + step.line, step.shown, found, same)
