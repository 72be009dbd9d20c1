"""The benchmark of many classes: it measures, goes on where it was, and writes its page."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def benchmarks(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))


def run(folder, *options):
    command = [sys.executable, "many_classes.py", "--quick", "--models", "RandomBoost", *options]
    command += ["--results", folder / "results.json", "--out", folder / "page.md"]
    return subprocess.run(
        command,
        cwd=BENCHMARKS,
        env={**os.environ, "RANDOMBOOST_DATA": str(folder)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def write_set(folder, name):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(6), 20)
    (folder / "large").mkdir(exist_ok=True)
    np.savez(folder / "large" / f"{name}.npz", X=rng.normal(size=(120, 4)) + y[:, None], y=y)


def test_a_run_measures_goes_on_and_writes_the_page(tmp_path):
    write_set(tmp_path, "geo-timezone")
    first = run(tmp_path, "--only", "geo-timezone", "classes")
    assert first.returncode == 0, first.stdout + first.stderr
    records = json.loads((tmp_path / "results.json").read_text())
    keys = {"geo-timezone/RandomBoost/0", "classes/10/RandomBoost/0", "classes/100/RandomBoost/0"}
    assert keys == set(records) - {"environment"}
    for key in keys:
        record = records[key]
        assert 0 <= record["error"] < 90
        assert record["log_loss"] > 0
        assert min(record["fit_s"], record["predict_s"], record["bytes"]) > 0
    page = (tmp_path / "page.md").read_text()
    assert "90 training rows, 4 features, 6 classes." in page
    assert "| RandomBoost | 100 |" in page
    assert "<svg" in (tmp_path / "page" / "classes.svg").read_text()

    again = run(tmp_path, "--only", "geo-timezone", "classes")
    assert "0 fits" in again.stdout, again.stdout + again.stderr
    assert json.loads((tmp_path / "results.json").read_text()) == records


def test_a_missing_set_is_named(tmp_path):
    found = run(tmp_path, "--only", "glyphs")
    assert found.returncode != 0
    assert "large/glyphs.npz was not found: set RANDOMBOOST_DATA" in found.stderr


def answer(stage):
    stage("fit")
    return {"error": 1.0}


def fail(stage):
    raise ValueError("no such data")


def sleep(stage):
    stage("fit")
    time.sleep(600)


def grow(stage):
    stage("fit")
    kept = np.ones(1 << 27)
    time.sleep(600)
    return {"error": kept.sum()}


def end(stage):
    os._exit(3)


@pytest.mark.parametrize(
    ("work", "limits", "expected"),
    [
        (answer, (60, 8), {"error": 1.0}),
        (fail, (60, 8), {"failed": "ValueError", "message": "no such data"}),
        (sleep, (3, 8), {"exceeded": "seconds", "limit": 3, "stage": "fit"}),
        (grow, (60, 0.5), {"exceeded": "gigabytes", "limit": 0.5, "stage": "fit"}),
    ],
)
def test_a_process_answers_or_is_ended(benchmarks, work, limits, expected):
    from alone import Limits, run_alone

    assert run_alone(work, Limits(*limits)) == expected


def test_a_process_that_ends_by_itself_has_failed(benchmarks):
    from alone import Limits, run_alone

    found = run_alone(end, Limits(60, 8))
    assert found["failed"] == "ProcessEnded"
    assert "ended with 3" in found["message"]


def test_what_exceeded_a_lower_limit_is_tried_again(benchmarks):
    from alone import Limits

    record = {"exceeded": "seconds", "limit": 10.0, "stage": "fit"}
    assert Limits(20, 1).allow_more(record)
    assert not Limits(10, 30).allow_more(record)
    assert not Limits(20, 1).allow_more({"error": 1.0})


def test_parts_of_a_page_are_replaced_and_its_text_is_kept(benchmarks):
    from many_classes_page import filled

    text = "before\n<!-- measured: a -->\nold\n<!-- end -->\nafter\n"
    once = filled(text, {"a": "new \\1\n"})
    assert once == "before\n<!-- measured: a -->\n\nnew \\1\n\n<!-- end -->\nafter\n"
    assert filled(once, {"a": "new \\1\n"}) == once
    with pytest.raises(ValueError, match="measured: b"):
        filled(text, {"b": ""})


def test_sets_of_many_classes_have_all_of_them_in_training(benchmarks):
    from sets import blobs

    data = blobs(50, 200, 20)
    assert data.X.shape == (200, 32)
    assert len(data.y_test) == 20
    assert set(data.y) == set(range(50))


def test_log_loss_is_that_of_scikit_learn(benchmarks):
    import many_cases
    from sets import blobs
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import log_loss

    data = blobs(7, 200, 50)
    model = LogisticRegression().fit(data.X, data.y)
    expected = log_loss(data.y_test, model.predict_proba(data.X_test), labels=range(7))
    assert np.isclose(many_cases.log_loss(model, data), expected)
