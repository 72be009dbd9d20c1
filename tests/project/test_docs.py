"""The code of the pages runs and prints what they say; the reference leaves nothing out."""

from __future__ import annotations

import ast
import doctest
import re
from pathlib import Path

import pytest

import randomboost

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", DOCS / "index.md", DOCS / "start.md", *sorted(DOCS.glob("guide/*.md"))]
BLOCK = re.compile(r"^```(python|pycon)\n(.*?)^```", re.MULTILINE | re.DOTALL)
WITH_CODE = [page for page in PAGES if BLOCK.search(page.read_text())]


def run(code, names):
    try:
        exec(code, names)
    except ModuleNotFoundError as error:
        if error.name.startswith("randomboost"):
            raise
        pytest.skip(f"{error.name} is not installed")


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.stem)
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for kind, code in BLOCK.findall(page.read_text()):
        if kind == "python":
            run(compile(code, page.name, "exec"), names)
            continue
        told = doctest.DocTestParser().get_doctest(code, names, page.name, str(page), 0)
        found = doctest.DocTestRunner().run(told, clear_globs=False)
        names.update(told.globs)
        assert found.attempted
        assert not found.failed


def test_parts_of_ones_own_take_less_than_30_lines():
    tree = ast.parse((ROOT / "examples" / "own_parts.py").read_text())
    sizes = {
        node.name: node.end_lineno - node.lineno + 1
        for node in tree.body
        if isinstance(node, ast.ClassDef)
    }
    shown = re.findall(r":pyobject: (\w+)", (DOCS / "extend.md").read_text())
    assert len(shown) == 3
    assert max(sizes[name] for name in shown) < 30


def test_the_reference_has_everything_public():
    listed = set(re.findall(r"^   ([\w.]+)$", (DOCS / "api.md").read_text(), re.MULTILINE))
    missing = {name for name in randomboost.__all__ if not listed & {name, f"files.{name}"}}
    assert not missing


def test_the_citation_has_the_version():
    lines = (ROOT / "CITATION.cff").read_text().splitlines()
    assert f"version: {randomboost.__version__}" in lines


def test_the_map_of_the_code_has_every_module():
    page = (DOCS / "develop.md").read_text()
    package = Path(randomboost.__file__).parent
    modules = {path.stem for path in package.glob("[!_]*.py")}
    modules |= {path.parent.name for path in package.glob("*/__init__.py")}
    missing = {name for name in modules if f"`{name}`" not in page}
    assert not missing, "docs/develop.md: add these to the map of the code"
