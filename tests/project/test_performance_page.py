"""The page on performance: what it shows is measured, and says so where it is outdated."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MEASUREMENTS = ROOT / "docs" / "performance" / "measurements.json"


@pytest.fixture
def page(monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import page

    return page


def written(page, records, folder):
    from costs import Plan

    page.write_page(records, Plan(), folder / "performance.md")
    return (folder / "performance.md").read_text()


def test_the_page_is_that_of_the_measurements(page, tmp_path):
    found = written(page, json.loads(MEASUREMENTS.read_text()), tmp_path)
    assert found == (ROOT / "docs" / "performance.md").read_text()


def test_only_figures_of_earlier_trees_are_marked(page, tmp_path):
    records = json.loads(MEASUREMENTS.read_text())
    for key, record in records.items():
        if key != "environment":
            record[page.STATE] = page.state_of_trees()
    assert page.OLD not in written(page, records, tmp_path)
    old = next(key for key in records if key.startswith("table/vowel/RandomBoost/"))
    records[old][page.STATE] = "another"
    found = written(page, records, tmp_path)
    assert "are of an earlier state of its trees" in found
    assert found.count(page.OLD) == 2  # the remark and a row
    del records[next(key for key in records if key.startswith("table/vowel/rank"))][page.STATE]
    assert written(page, records, tmp_path) == found  # other models do not change with the trees
