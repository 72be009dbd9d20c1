"""The code and the commands of the pages run, and print what the pages show.

Blocks of a page run one after the other, in a folder of their own and with one set of names:
``python`` and ``pycon`` (compared by doctest) as well as ``sh`` and ``console`` (``$ command``,
followed by what it prints; ``...`` stands for any lines). A page stops at the first block that
needs a package that is not installed.
"""

from __future__ import annotations

import doctest
import re
import sys
from pathlib import Path

import console_blocks
import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [
    ROOT / "README.md",
    *(DOCS / name for name in ("index.md", "start.md", "command-line.md")),
    *(DOCS / name for name in ("file-format.md", "many-classes.md")),
    *sorted(DOCS.glob("guide/*.md")),
    *sorted(DOCS.glob("howto/*.md")),
]
BLOCK = re.compile(r"^```(python|pycon|sh|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)
# set-up of an environment, data that is not part of the package, compilers
NOT_RUN = ("make ", "pip ", "git ", "cc ", "RANDOMBOOST_DATA=")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


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


def run_commands(kind, code, folder):
    """Run the commands of a block, and compare what they print with what a console shows."""
    for module in ("typer", "pandas", "pyarrow", "onnx"):
        pytest.importorskip(module)
    variables = console_blocks.environment(folder)
    if kind == "sh":
        if not any(line.startswith(NOT_RUN) for line in code.splitlines()):
            found, status = console_blocks.printed(f"set -eu\n{code}", folder, variables)
            assert status == 0, (code, found)
        return
    for command, shown in console_blocks.steps(code):
        found, status = console_blocks.printed(command, folder, variables)
        assert status == 0, (command, found)
        measured = " compare " in command  # other libraries, whose numbers differ
        same = console_blocks.same(shown, found, numbers=not measured)
        assert same, "\n".join([f"$ {command}", *found, "instead of", *shown])


@pytest.mark.parametrize(
    "page", [page for page in PAGES if BLOCK.search(page.read_text())], ids=lambda page: page.stem
)
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = names_of(page)
    for kind, code in BLOCK.findall(page.read_text()):
        if kind == "python":
            run_python(code, page, names)
        elif kind == "pycon":
            run_doctest(code, page, names)
        else:
            run_commands(kind, code, tmp_path)


def test_a_wrong_command_is_noticed(tmp_path):
    run_commands("console", "$ echo one two\none two\n", tmp_path)
    with pytest.raises(AssertionError, match="instead of"):
        run_commands("console", "$ echo one two\ntwo\n", tmp_path)
    with pytest.raises(AssertionError):
        run_commands("sh", "false\necho on\n", tmp_path)
    run_commands("sh", "make nonsense\n", tmp_path)


def test_a_difference_from_the_page_is_found():
    same = console_blocks.same
    assert same(["a  12 ms", "...", "z 1 kB"], ["a 3.5 s", "b", "c", "z  99 MB"])
    assert same(["a", "...", "z"], ["a", "z"])
    assert not same(["a", "z"], ["a", "b", "z"])
    assert not same(["error 4.00 %"], ["error 5.00 %"])
    assert same(["error 4.00 %"], ["error 5.00 %"], numbers=False)
    assert not same(["a", "..."], ["b", "c"])
