"""The page of the paper's results is what the committed runs say, and nothing else."""

from __future__ import annotations

import csv
import importlib.util
import itertools
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from randomboost.paper import published
from randomboost.paper.experiments import EXPERIMENTS

pytest.importorskip("jinja2")

DOCS = Path(__file__).parents[2] / "docs"
RESULTS = DOCS / "results"
FOLDERS = sorted(path.parent for path in RESULTS.glob("*/runs.csv"))
folders = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)


@pytest.fixture(scope="module")
def texts():
    spec = importlib.util.spec_from_file_location("results_page", DOCS / "results_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.texts()


def test_all_pages_are_those_of_the_runs(texts):
    for path, text in texts.items():
        assert path.read_text(encoding="utf-8") == text, f"{path}: run python docs/results_page.py"
    assert {RESULTS / "README.md", RESULTS / "proj-vowel.md"} <= set(texts)
    assert {folder / "table.md" for folder in FOLDERS} <= set(texts)


# -- the same figures, computed in another way ---------------------------------------------------


@cache
def errors_of(folder, rounds=None):
    """Return the test errors in %, by set and method, straight from the file."""
    found = defaultdict(list)
    with (folder / "runs.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            wrong = row["wrong" if rounds is None else f"wrong@{rounds}"]
            if wrong:
                found[row["set"], row["method"]].append(100 * int(wrong) / int(row["n_test"]))
    return found


def table_of(text, heading):
    """Return the cells of the first Markdown table whose header begins with `heading`."""
    lines = iter(text.splitlines())
    header = next((line for line in lines if line.startswith(heading)), None)
    if header is None:
        return [], []
    next(lines)
    rows = itertools.takewhile(lambda line: line.startswith("|"), lines)
    split = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in rows]
    return [cell.strip() for cell in header.strip("|").split("|")], split


CELL = re.compile(
    r"([\d.]+)(?: ± ([\d.]+) \(([\d.]+)\))?"
    r"(?: \[([\d.]+) \(([\d.]+)\), ([+-][\d.]+)\](?: \*\*(above|below)\*\*)?)?"
)


def columns_of(experiment):
    """Return method and round of every column, by title."""
    return {
        method.title if t is None else f"{method.title}, {t}": (method.key, t)
        for method in experiment.methods
        for t in experiment.at or [None]
    }


def check_cell(cell, errors, paper):
    """Compare a cell with the errors that it is of; return "above", "below" or None."""
    mean, half, deviation, centre, spread, gap, outside = CELL.fullmatch(cell).groups()
    assert mean == f"{np.mean(errors):.1f}"
    if len(errors) > 1:
        assert deviation == f"{np.std(errors, ddof=1):.1f}"
        expected = stats.t.ppf(0.975, len(errors) - 1) * stats.sem(errors)
        assert float(half) == pytest.approx(expected, abs=0.051)
    if centre is None:
        return None
    assert (float(centre), float(spread)) == paper
    assert gap[0] == ("-" if np.mean(errors) < paper[0] - 1e-12 else "+")
    distance = float(mean) - paper[0]
    expected = "above" if distance > 0 else "below"
    assert outside == (expected if abs(distance) > paper[1] + 1e-9 else None)
    return outside


@folders
def test_means_deviations_and_counts(folder):
    experiment = EXPERIMENTS[folder.name]
    if experiment.measure not in ("errors", "correction"):
        return
    header, rows = table_of((folder / "table.md").read_text(), "| set |")
    columns = columns_of(experiment)
    outside = defaultdict(list)
    seen = set()
    for name, title, cell in [
        (name, title, cell)
        for name, *cells in rows
        for title, cell in zip(header[1:], cells, strict=True)
    ]:
        if name.startswith("**"):
            found = outside[title]
            hits = found.count(None) + (found.count("below") if "at most" in name else 0)
            assert cell == (f"{hits} of {len(found)}" if found else "")
            continue
        key, t = columns[title]
        errors = errors_of(folder, t).get((name, key))
        assert bool(cell) == bool(errors)
        if cell:
            seen.add((name, key))
            paper = experiment.published.get(name, {}).get(key if t is None else f"{key}@{t}")
            found = check_cell(cell, errors, paper)
            if paper is not None:
                outside[title].append(found)
    assert seen == set(errors_of(folder))


@folders
def test_rank_sums(folder):
    """Rank sums are those of the printed means, by hand."""
    experiment = EXPERIMENTS[folder.name]
    _, rows = table_of((folder / "table.md").read_text(), "| first | second |")
    for first, second, whose, n_sets, wins, losses, statistic, p in rows:
        gaps = []
        for name in experiment.sets:
            if whose == "ours":
                means = []
                for key in (first, second):
                    method, _, t = key.partition("@")
                    errors = errors_of(folder, t or None).get((name, method))
                    means.append(None if not errors else float(f"{np.mean(errors):.1f}"))
            else:
                both = all(
                    errors_of(folder).get((name, key.split("@")[0])) for key in (first, second)
                )
                row = experiment.published.get(name, {}) if both else {}
                means = [row.get(key, (None,))[0] for key in (first, second)]
            if None not in means:
                gaps.append(round(means[0] - means[1], 1))
        assert int(n_sets) == len(gaps)
        gaps = np.array(gaps)
        assert (int(wins), int(losses)) == ((gaps < 0).sum(), (gaps > 0).sum())
        gaps = gaps[gaps != 0]
        ranks = stats.rankdata(np.abs(gaps))
        assert float(statistic) == min(ranks[gaps > 0].sum(), ranks[gaps < 0].sum())
        assert 0 <= float(p) <= 1


# -- nothing else --------------------------------------------------------------------------------

SETTINGS = {"95 %", "8.1 %"}  # confidence, and a figure of the paper


@pytest.mark.parametrize("name", ["README.md", "proj-vowel.md"])
def test_no_figure_is_typed_in(name):
    """Decimals and shares outside of expressions are those of the paper."""
    text = (RESULTS / f"{name}.jinja").read_text(encoding="utf-8")
    text = re.sub(r"\{\{.*?\}\}|\{%.*?%\}|`[^`]*`", "", text, flags=re.DOTALL)
    printed = {
        f"{value:.1f}"
        for table in (published.MULTI_CLASS, published.TWO_CLASS, published.WLDA)
        for row in table.values()
        for figure in row.values()
        for value in figure
    } | {"10.5"}
    assert set(re.findall(r"\d+\.\d+", text)) <= printed
    assert set(re.findall(r"\d[\d.]* %", text)) <= SETTINGS


def test_curves_can_be_drawn_from_the_runs():
    with (RESULTS / "table-multiclass" / "runs.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {"wrong@50", "wrong@100", "wrong@500", "wrong@1000"} <= set(rows[0])
    for row in rows:
        if row["wrong@1000"]:
            assert row["wrong@1000"] == row["wrong"]
