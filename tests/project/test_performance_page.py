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
    page.write_page(records, False, folder / "performance.md")
    return (folder / "performance.md").read_text()


def test_the_page_is_that_of_the_measurements(page, tmp_path):
    found = written(page, json.loads(MEASUREMENTS.read_text()), tmp_path)
    assert found == (ROOT / "docs" / "performance.md").read_text()


def test_figures_of_earlier_trees_are_said_to_be_old(page, tmp_path):
    records = json.loads(MEASUREMENTS.read_text())
    for key, record in records.items():
        if key.startswith("fit/"):
            record[page.STATE] = page.state_of_trees()
    assert page.REMARK not in written(page, records, tmp_path)
    other = next(key for key in records if key.endswith("/LightGBM"))
    records[other][page.STATE] = "another"  # other models do not change with the trees
    assert page.REMARK not in written(page, records, tmp_path)
    ours = next(key for key in records if key.endswith("/RandomBoost"))
    records[ours][page.STATE] = "another"
    assert page.REMARK in written(page, records, tmp_path)


def test_models_are_not_tried_on_larger_data_than_they_can_do(page, tmp_path):
    from growing import key, shapes
    from measure import Results
    from performance import _needed

    small, large = shapes("rows", False)[:2]
    results = Results(tmp_path / "results.json")
    assert _needed(results, [small], "LightGBM")
    results.put(key(small, "LightGBM"), {"exceeded": "seconds", "limit": 1.0, "stage": "fit"})
    assert not _needed(results, [small], "LightGBM")
    assert _needed(results, [], "LightGBM")
    assert _needed(results, [small, large], "XGBoost")


def test_the_memory_of_a_fit_is_counted_by_sample(page):
    from growing import Shape

    small, large = (page.expected_bytes(Shape(rows)) for rows in (1_000_000, 2_000_000))
    assert 0.5e9 < small < 1.5e9
    assert 1.5 * small < large < 2.0 * small  # there are fewer directions
