"""The code and the commands of the pages run, and print what the pages show.

Blocks of a page run one after the other, in a folder of their own and with one set of names:
``python`` and ``pycon`` (compared by doctest) as well as ``sh`` and ``console`` (``$ command``,
followed by what it prints; ``...`` stands for anything). A page stops at the first block that
needs a package that is not installed.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [
    ROOT / "README.md",
    *(DOCS / name for name in ("index.md", "start.md", "file-format.md", "many-classes.md")),
    *sorted(DOCS.glob("guide/*.md")),
    *sorted(DOCS.glob("howto/*.md")),
]
BLOCK = re.compile(r"^```(python|pycon|sh|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)
# set-up of an environment, data that is not part of the package, compilers
NOT_RUN = ("make ", "pip ", "git ", "cc ", "RANDOMBOOST_DATA=", "mlflow ")
NOISE = re.compile(r"^randomboost: compiling kernels.*\n", re.MULTILINE)
MATCHING = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def names_of(page):
    """Return what a page takes for granted: data, and a fitted model."""
    if page.stem not in ("file-format", "many-classes"):
        return {}
    from sklearn.datasets import load_wine

    import randomboost

    X, y = load_wine(return_X_y=True)
    model = randomboost.RandomBoostClassifier(5, random_state=0).fit(X, y)
    names = {"X": X, "y": np.repeat(np.arange(6), 30)[: len(y)], "X_test": X[:4], "model": model}
    return {**names, "randomboost": randomboost}


def run_python(code, page, names):
    try:
        exec(compile(code, page.name, "exec"), names)
    except ModuleNotFoundError as error:
        if error.name.startswith("randomboost"):
            raise
        pytest.skip(f"{error.name} is not installed")


def run_doctest(code, page, names):
    examples = doctest.DocTestParser().get_doctest(code, names, page.name, str(page), 0)
    found = doctest.DocTestRunner().run(examples, clear_globs=False)
    names.update(examples.globs)
    assert found.attempted
    assert not found.failed


class Shell:
    """Runs commands in a folder where ``randomboost`` is this package."""

    def __init__(self, folder):
        programs = folder / ".programs"
        programs.mkdir()
        command = programs / "randomboost"
        command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m randomboost "$@"\n')
        command.chmod(0o755)
        self._folder = folder
        self._environment = {
            **os.environ,
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "COLUMNS": "100",
            "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]),
        }

    def run(self, commands):
        """Run commands and return what they print."""
        ended = subprocess.run(
            ["sh", "-eu", "-c", commands],
            cwd=self._folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )
        assert ended.returncode == 0, ended.stdout
        return NOISE.sub("", ended.stdout)

    def run_block(self, kind, code):
        """Run the commands of a block, and compare with what it shows."""
        pytest.importorskip("typer")
        pytest.importorskip("pyarrow")
        if kind == "sh":
            if not any(line.lstrip("# ").startswith(NOT_RUN) for line in code.splitlines()):
                self.run(code)
            return
        for part in re.split(r"^\$ ", code, flags=re.MULTILINE)[1:]:
            command, shown = part.split("\n", 1)
            printed = self.run(command)
            same = doctest.OutputChecker().check_output(shown, printed, MATCHING)
            assert same, f"$ {command}\n{printed}\nis not\n{shown}"


@pytest.mark.parametrize(
    "page", [page for page in PAGES if BLOCK.search(page.read_text())], ids=lambda page: page.stem
)
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names, shell = names_of(page), Shell(tmp_path)
    for kind, code in BLOCK.findall(page.read_text()):
        if kind == "python":
            run_python(code, page, names)
        elif kind == "pycon":
            run_doctest(code, page, names)
        else:
            shell.run_block(kind, code)


def test_a_wrong_output_is_noticed(tmp_path):
    pytest.importorskip("typer")
    shell = Shell(tmp_path)
    shell.run_block("console", "$ echo one two\none ...\n")
    with pytest.raises(AssertionError, match="is not"):
        shell.run_block("console", "$ echo one two\ntwo\n")
    with pytest.raises(AssertionError):
        shell.run_block("sh", "false\necho on\n")
    shell.run_block("sh", "make nonsense\n")
