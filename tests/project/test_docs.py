"""The pages are complete and agree with the code: reference, map, parameters, named files."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest
from test_layout import ORDER

import randomboost
from randomboost.estimators import CLASSIFIERS
from randomboost.estimators.parameters import defaults_of
from randomboost.training.tree_settings import SketchSettings

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


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


@pytest.mark.parametrize(
    ("samples", "classes", "members", "rounds", "rate"),
    [
        (9_999, 64, 4, 50, 0.21),
        (9_999, 65, 4, 100, 0.16),
        (10_000, 64, 2, 150, 0.15),
        (10_000, 65, 1, 78, 0.14),
        (50_000, 64, 1, 78, 0.14),
        (10_000_000, 65, 1, 36, 0.21),
        (10_000, 401, 1, 160, 0.09),
    ],
)
def test_settings_by_size_are_those_of_the_page_on_trees(samples, classes, members, rounds, rate):
    found = SketchSettings.choose(samples, 64, classes)
    assert (found.n_members, found.n_rounds) == (members, rounds)
    assert round(found.learning_rate, 2) == rate
    lines = [line for line in (DOCS / "trees.md").read_text().splitlines() if "| 1 |" in line
             or "| 2 |" in line or "| 4 |" in line]  # fmt: skip
    assert any(
        {str(members), str(rounds), f"{rate:.2f}"} <= set(re.split(r"[ ,|]+", line))
        for line in lines
    )


def test_the_citation_has_the_version():
    lines = (ROOT / "CITATION.cff").read_text().splitlines()
    assert f"version: {randomboost.__version__}" in lines


def folders_in_order(page):
    """Return the first cells of the table of folders, one list of names a line."""
    section = page.split("\n## Folders\n")[1].split("\n## ")[0]
    return [
        re.findall(r"`(\w+)`", line.split("|")[1]) for line in section.splitlines() if "|" in line
    ]


def test_the_map_of_the_code_has_every_folder_lowest_first():
    lines = folders_in_order((DOCS / "develop.md").read_text())
    package = Path(randomboost.__file__).parent
    known = {path.stem for path in package.glob("[!_]*.py")}
    known |= {path.parent.name for path in package.glob("*/__init__.py")}
    listed = [names for names in lines if names]
    assert {name for names in listed for name in names} == known
    order = [tuple(name for name in names if name in known) for names in ORDER]
    assert [sorted(names) for names in listed] == [sorted(names) for names in order if names]


@pytest.mark.parametrize("page", ["README.md", "docs/develop.md", "docs/extend.md"])
def test_files_that_a_page_names_exist(page):
    text = (ROOT / page).read_text()
    package = Path(randomboost.__file__).parent
    folders = "|".join(path.parent.name for path in package.glob("*/__init__.py"))
    named = set(re.findall(rf"\b((?:src/randomboost/)?(?:{folders}|tests|docs)/[\w/]+\.\w+)", text))
    named = {name.removeprefix("src/randomboost/") for name in named}
    made = {"docs/index.html"}  # by `make docs`
    missing = {
        name for name in named - made if not ((package / name).exists() or (ROOT / name).exists())
    }
    assert named
    assert not missing


def test_the_page_on_parameters_has_every_parameter(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    import parameters_page

    listed = re.findall(r"^\| `(\w+)` ", parameters_page.table(), re.MULTILINE)
    wanted = {name for kind in CLASSIFIERS.values() for name in defaults_of(kind)}
    assert len(listed) == len(set(listed))
    assert set(listed) == wanted


def test_the_figures_of_the_front_page_are_measured(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    import front_page

    folder = DOCS / "many-classes"
    found = front_page.figures(folder / "measurements.json")
    records = json.loads((folder / "measurements.json").read_text())
    errors = [records[f"geo-timezone/RandomBoost/{split}"]["error"] for split in range(3)]
    assert float(found["front_error"]) == pytest.approx(sorted(errors)[1], abs=0.06)
    assert float(found["front_fit"]) < float(found["front_fit_peer"])
    used = set(re.findall(r"{{ (\w+) }}", (DOCS / "index.md").read_text()))
    assert used == set(found)
