"""The benchmark of defaults: it measures, goes on where it was, and its page has its figures."""

from __future__ import annotations

import csv
import gzip
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "benchmarks"
RESULTS = ROOT / "docs" / "beyond" / "results.csv"
PAGE = ROOT / "docs" / "beyond.md"


@pytest.fixture
def benchmarks(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))


def part(page, name):
    return re.search(rf"<!-- measured: {name} -->\n(.*?)<!-- end -->", page, re.DOTALL)[1]


def run(folder, *options):
    command = [sys.executable, "beyond.py", "--results", folder / "results.csv", *options]
    done = subprocess.run(
        [*command, "--out", folder / "page.md"],
        cwd=BENCHMARKS,
        env={**os.environ, "RANDOMBOOST_DATA": str(folder)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    with (folder / "results.csv").open() as file:
        return list(csv.DictReader(file)), done.stdout


def write_table(folder):
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], 200)
    size = rng.normal(size=200)
    label = np.where(colour == "red", "a", np.where(size > 0, "b", "c"))
    (folder / "dev").mkdir()
    with gzip.open(folder / "dev" / "car.csv.gz", "wt") as file:
        pd.DataFrame({"f0": colour, "f1": size, "class": label}).to_csv(file, index=False)


def test_a_run_measures_goes_on_and_writes_the_page(tmp_path):
    write_table(tmp_path)
    chosen = ["--only", "car", "--models", "ExtraTrees", "SVM, tuned"]
    first, _ = run(tmp_path, *chosen, "--splits", "0")
    assert [(row["model"], row["split"]) for row in first] == [
        ("ExtraTrees", "0"),
        ("SVM, tuned", "0"),
    ]
    assert {row["status"] for row in first} == {"ok"}
    assert all(float(row["error"]) < 20 and float(row["log_loss"]) < 1 for row in first)
    assert {row["busy"] for row in first} == {"1"}
    second, told = run(tmp_path, *chosen, "--splits", "0", "1")
    assert "2 measurements" in told
    assert second[:2] == first
    assert [row["split"] for row in second[2:]] == ["1", "1"]
    third, _ = run(tmp_path, "--only", "car", "--models", "ExtraTrees", "--times")
    assert [row["busy"] for row in third] == ["1"] * 4 + ["0"]
    assert third[-1]["error"] == first[0]["error"]
    assert "ExtraTrees (2 splits)" in part((tmp_path / "page.md").read_text(), "dev")


def test_the_page_is_made_from_the_measurements(benchmarks, tmp_path):
    from beyond_page import write_page
    from beyond_results import read

    write_page(read(RESULTS), tmp_path / "beyond.md")
    assert (tmp_path / "beyond.md").read_text() == PAGE.read_text()


def test_the_ratios_of_the_page_are_those_of_the_measurements():
    frame = pd.read_csv(RESULTS).drop_duplicates(["set", "split", "model"], keep="last")
    paper = "dna svmguide2 wine vehicle glass satimage svmguide4 segment usps pendigits vowel"
    errors = frame[(frame.status == "ok") & frame["set"].isin(paper.split())]
    errors = errors.pivot(index=["set", "split"], columns="model", values="error")
    lines = [line.split(" | ") for line in part(PAGE.read_text(), "summary").splitlines()[3:-1]]
    reference = re.search("error of (.*?) divided", part(PAGE.read_text(), "summary"))[1]
    assert {line[0].removeprefix("| ") for line in lines} == set(frame.model) - {reference}
    for line in lines:
        name, shown = line[0].removeprefix("| "), line[1]
        both = errors[[reference, name]].dropna().groupby("set").mean() + 0.1
        expected = np.exp(np.log(both[reference] / both[name]).mean())
        assert shown == f"{expected:.2f}", name


def row(benchmarks, **changes):
    from beyond_results import Row

    about = {"set": "wine", "split": 0, "model": "LightGBM", "status": "ok", "error": 1.0}
    return Row(**{**about, "log_loss": 0.1, "fit_s": 1.0, "predict_s": 1.0, **changes})


def test_a_file_keeps_rows_and_the_last_of_a_measurement_counts(benchmarks, tmp_path):
    from beyond_results import append, latest, read

    path = tmp_path / "new" / "results.csv"
    rows = [
        row(benchmarks, error=3.0, busy=0),
        row(benchmarks, error=2.0),
        row(benchmarks, split=1),
    ]
    for one in rows:
        append(path, one)
    assert read(path) == rows
    assert [found.error for found in latest(rows).values()] == [2.0, 1.0]
    assert [found.error for found in latest(rows, quiet=True).values()] == [3.0]


def test_ratios_and_ranks_take_the_splits_that_all_have(benchmarks):
    from beyond_figures import Figures, loss

    rows = [
        row(benchmarks, model="RandomBoost", error=0.9),
        row(benchmarks, model="RandomBoost", error=50.0, split=1),
        row(benchmarks, error=1.9, log_loss=0.2),
        row(benchmarks, model="XGBoost", status="time limit: 1 s", error=float("nan")),
    ]
    figures = Figures(rows, ["wine", "glass"])
    assert figures.sets == ["wine"]
    assert figures.ratios("LightGBM") == {"wine": pytest.approx(1.0 / 2.0)}
    assert figures.ratios("LightGBM", loss) == {"wine": pytest.approx(0.5)}
    assert figures.ratios("XGBoost") == {}
    assert figures.ranks() == ({"RandomBoost": 1.0, "LightGBM": 2.0, "XGBoost": 3.0}, [1])


def test_quick_models_come_first_and_splits_are_balanced(benchmarks):
    import beyond

    models = ["CatBoost", "LightGBM", "RandomForest"]
    chunks = list(beyond.ordered(models, ["wine", "mnist"], list(range(5))))
    order = [(chunk[0].split, chunk[0].model, chunk[0].set) for chunk in chunks]
    quick = ["LightGBM", "RandomForest"]
    assert order == [
        *((split, model, "wine") for split in range(3) for model in (*quick, "CatBoost")),
        (0, "LightGBM", "mnist"),
        *((split, model, "wine") for split in (3, 4) for model in quick),
        *((split, "CatBoost", "wine") for split in (3, 4)),
    ]


def spin_or_answer(item):
    if item == "error":
        raise ValueError("bad item")
    if item == "exit":
        os._exit(3)
    while item == "spin":
        time.process_time()
    return {"item": item}


def test_a_process_goes_on_after_errors_ends_and_limits(benchmarks):
    from watched import watched

    items = ["a", "error", "exit", "b", "spin", "c"]
    found = dict(watched(spin_or_answer, items, limit=5.0))
    assert list(found) == items
    assert [found[name] for name in "abc"] == [{"item": name} for name in "abc"]
    assert found["error"] == {"failed": "ValueError: bad item"}
    assert "ended with 3" in found["exit"]["failed"]
    assert found["spin"] == {"exceeded": 5.0}
