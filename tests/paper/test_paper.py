"""The paper's experiments: a tiny run of each, kill and resume, failures, tables."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from randomboost import datasets
from randomboost.paper import (
    archive,
    cells,
    engine,
    experiments,
    published,
    runs,
    signed_ranks,
    store,
    tables,
)
from randomboost.paper import (
    results_page as page,
)
from randomboost.paper.cells import Cell
from randomboost.paper.engine import Options, execute, plan

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")

TINY = {  # experiment: what of it is run
    "table-multiclass": ["wine"],
    "table-rows": ["vowel+train", "vowel+stacked", "ecc", "mo-hamming"],
    "table-preparation": ["glass+stratified", "ecc"],
    "table-twoclass": ["breast-cancer-wdbc"],
    "table-correction": ["wine"],
    "table-size": ["stripes", "rank-n1000", "proj-n250"],
    "table-wlda": ["wine"],
    "figure-curves": ["wine", "ecc"],
    "figure-digits": ["digits@5"],
    "figure-caltech": ["caltech-related"],
    "figure-toyrank": [],
    "figure-toy": ["chess"],
    "table-complexity": ["m=300", "m=600", "T=40", "T=80", "rank"],
}


@pytest.fixture(autouse=True)
def no_folder(monkeypatch, tmp_path):
    monkeypatch.delenv("RANDOMBOOST_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    cells.loaded.cache_clear()
    cells.parts.cache_clear()


@pytest.fixture
def small(monkeypatch):
    """Make experiments that have no set in any package run on one."""
    for name, sets in (("figure-digits", ("digits@5",)), ("figure-curves", ("wine",))):
        changed = replace(experiments.EXPERIMENTS[name], sets=sets)
        monkeypatch.setitem(experiments.EXPERIMENTS, name, changed)
    quick = experiments.quick

    def same_sets(experiment):
        made = quick(experiment)
        keeps = experiment.name in ("figure-digits", "figure-curves")
        return replace(made, sets=experiment.sets) if keeps else made

    monkeypatch.setattr(engine, "quick", same_sets)
    load = datasets.load

    def fake(name, folder=None, **settings):
        if name in ("caltech-related", "vowel", "glass"):
            wine = load("wine", sources=["packages"])
            part = np.where(np.arange(len(wine.y)) % 3 > 0, "train", "test")
            return replace(wine, name=name, part=part)
        return load(name, folder, **settings)

    monkeypatch.setattr(datasets, "load", fake)


def test_every_experiment_of_the_paper_is_described():
    described = {
        "table-size", "table-correction", "table-twoclass", "table-multiclass", "table-wlda",
        "figure-curves", "figure-digits", "figure-caltech", "table-rows", "figure-toyrank",
        "figure-toy", "table-complexity", "table-preparation",
    }  # fmt: skip
    assert set(experiments.EXPERIMENTS) == described == set(TINY)
    assert len(experiments.PROJ_GRID) == 25
    assert experiments.PROJ_GRID[:5] == (1e-8, 2.5e-8, 5e-8, 7.5e-8, 1e-7)
    assert {len(row) for row in published.TWO_CLASS.values()} == {9}
    assert set(published.TWO_CLASS) == set(datasets.TWO_CLASS)
    assert set(published.MULTI_CLASS) == set(datasets.MULTI_CLASS)


@pytest.mark.parametrize("name", list(TINY))
def test_a_tiny_version_of_every_experiment_runs(name, tmp_path, small):
    rounds = None if name == "table-complexity" else 6
    options = Options(tmp_path, repeats=1, quick=True, only=TINY[name], rounds=rounds, threads=1)
    made = plan(name, options)
    assert made.groups
    assert made.seconds() > 0
    outcome = execute(made)
    assert outcome.failed == {}
    assert made.to_do() == []
    assert len(made.finished()) == sum(len(group) for group in made.groups)
    written = page.write(made)
    text = (made.pages / "page.html").read_text()
    assert made.experiment.title in text.replace("&#34;", '"')
    has_figure = made.experiment.name.startswith("figure") or name == "table-complexity"
    assert ("<svg" in text) == has_figure
    assert not re.search(r"""(src|href)=["']?(https?:)?//|url\(["']?http""", text)
    lines = (made.pages / "runs.csv").read_text().splitlines()
    assert len(lines) == 1 + len(made.finished())
    assert written.markdown == (made.pages / "table.md").read_text()
    if name == "table-twoclass":
        assert made.experiment.at == (6,)


def test_staged_errors_are_those_of_shorter_fits(tmp_path):
    options = Options(tmp_path, repeats=1, quick=True, only=["wine", "ecc"], rounds=12, threads=1)
    long = plan("table-multiclass", options)
    short = plan("table-multiclass", replace(options, rounds=5, out=tmp_path / "short"))
    for each in (long, short):
        execute(each)
    [(_, of_long)], [(_, of_short)] = long.finished(), short.finished()
    assert of_long["wrong"][:5] == of_short["wrong"]
    [row], [other] = runs.rows_of(long.finished()), runs.rows_of(short.finished())
    assert runs.error_at(row, 5) == runs.error_at(other) == runs.error_at(other, 5)


def test_nu_is_chosen_inside_the_training_part(tmp_path, monkeypatch):
    only = ["wine", "proj-code"]
    options = Options(tmp_path, repeats=2, quick=True, only=only, rounds=5, threads=1)
    made = plan("table-multiclass", options)
    cell = made.groups[0][1]
    trials = made.trials(cell)
    assert {trial.repeat for trial in trials} == {0}  # the first repeat's choice is kept
    assert {trial.fold for trial in trials} == {0, 1, 2}
    assert {trial.path for trial in trials} == {(1e-3, 1e-5)}
    part = cells.parts("wine", 0, ("packages",))
    seen = []
    known = {"rounds": 1, "seconds": 0.0, "cpu": 0.0}
    monkeypatch.setattr(cells, "_fitted", lambda model, X, y: seen.append((X, y)) or known)
    methods = {
        "predict": lambda self, X: np.zeros(len(X)),
        "set_params": lambda self, **settings: self,
    }
    monkeypatch.setattr(cells, "make", lambda *args: type("M", (), methods)())
    result = cells.run(trials[0])
    rows = {row.tobytes() for row in part.X}
    assert all(row.tobytes() in rows for row in seen[0][0])
    assert len(seen[0][0]) + result["n_test"] == len(part.X)
    [trial, *others] = made.trials(replace(cell, grid="paper"))
    assert (trial.repeat, len(others)) == (1, 4)
    assert trial.path == tuple(sorted(experiments.PROJ_GRID, reverse=True))
    two_classes = replace(cell, grid="paper", set="heart")
    assert made.trials(two_classes)[0].path == tuple(sorted(experiments.TWO_CLASS_GRID)[::-1])


def test_as_printed_uses_the_nu_of_the_fast_form(tmp_path):
    options = Options(tmp_path, repeats=1, quick=True, only=["wine", "proj"], rounds=10, threads=1)
    made = plan("table-multiclass", options)
    [trial, *_] = made.trials(made.groups[0][0])
    assert trial.method == "proj-fast"
    assert "iterations_per_round" not in trial.parameters
    assert trial.limits == (5, 10)  # the candidates share the rounds


def test_largest_nu_of_equals_is_taken(tmp_path):
    options = Options(tmp_path, repeats=1, quick=True, only=["wine", "proj"], rounds=5, threads=1)
    made = plan("table-multiclass", options)
    cell = made.groups[0][0]
    for counts, chosen in (([3, 3], 1e-3), ([3, 2], 1e-5)):
        for trial in made.trials(cell):
            assert trial.path == (1e-3, 1e-5)
            made.store.save(trial.name, trial.describe(), {"wrong": counts, "n_test": 9})
        assert made.choice(cell) == chosen


def test_failing_cells_are_reported_and_the_rest_goes_on(tmp_path, monkeypatch):
    options = Options(tmp_path, repeats=2, quick=True, only=["wine", "ecc", "mh"], rounds=3)
    made = plan("table-multiclass", options)
    real = cells.run

    def sometimes(cell: Cell, nu=None, threads=None):
        if cell.name == "wine--ecc--1":
            raise RuntimeError("out of\n luck")
        return real(cell, nu, threads)

    monkeypatch.setattr(engine, "run", sometimes)
    outcome = execute(made)
    assert outcome.failed == {"wine--ecc--1": "RuntimeError: out of luck"}
    assert outcome.done == 3
    text = page.write(made, outcome.failed)
    assert "out of luck" in (made.pages / "page.html").read_text()
    assert "fewer: ecc on wine (1)" in text.markdown
    monkeypatch.setattr(engine, "run", real)
    assert [cell.name for cell in made.to_do()] == ["wine--ecc--1"]
    assert execute(made).done == 1


def test_interrupted_fit_is_no_result(tmp_path, monkeypatch):
    options = Options(tmp_path, repeats=1, quick=True, only=["wine", "ecc"], rounds=3)
    made = plan("table-multiclass", options)
    real = cells.make

    def interrupted(*args):
        model = real(*args)
        fit = model.fit

        def stop(X, y):
            fit(X, y)
            model.stopped_ = "interrupted"

        model.fit = stop
        return model

    monkeypatch.setattr(cells, "make", interrupted)
    with pytest.raises(KeyboardInterrupt):
        execute(made)
    assert made.finished() == []


def test_parallel_runs_give_the_same(tmp_path):
    options = Options(tmp_path / "a", repeats=1, quick=True, only=["wine"], rounds=4)
    made = [plan("table-multiclass", replace(options, out=tmp_path / name, jobs=jobs))
            for name, jobs in (("a", 1), ("b", 2))]  # fmt: skip
    texts = []
    for each in made:
        assert execute(each).failed == {}
        texts.append(page.write(each).markdown)
    assert texts[0] == texts[1]


RUN = """
import sys
from pathlib import Path
from randomboost.paper.engine import Options, execute, plan
made = plan("table-multiclass", Options(Path(sys.argv[1]), repeats=1, quick=True,
            only=["wine", "ecc", "mh", "multiboost", "proj-code"], rounds=4, threads=1))
print("ready", flush=True)
execute(made, lambda cell, seconds: print(cell.name, flush=True))
"""


def test_killed_at_random_points_and_resumed(tmp_path):
    """The table is that of an undisturbed run, and no file is ever half written."""
    folder = tmp_path / "killed"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    draw = random.Random(0)
    kills = 0
    for attempt in range(12):
        command = [sys.executable, "-c", RUN, str(folder)]
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            if attempt < 3:
                for _ in range(draw.randrange(3)):
                    process.stdout.readline()
                time.sleep(draw.random() * 0.1)
                process.send_signal(signal.SIGKILL)
            process.communicate()
        for path in folder.rglob("*.json"):
            json.loads(path.read_text())
        if process.returncode == 0:
            break
        assert process.returncode == -signal.SIGKILL
        kills += 1
    assert kills >= 1
    options = Options(
        folder, repeats=1, quick=True, only=["wine", "ecc", "mh", "multiboost", "proj-code"],
        rounds=4, threads=1,
    )  # fmt: skip
    resumed = plan("table-multiclass", options)
    assert resumed.to_do() == []
    whole = plan("table-multiclass", replace(options, out=tmp_path / "whole"))
    execute(whole)
    assert page.write(resumed).markdown == page.write(whole).markdown


def test_store_is_atomic(tmp_path, monkeypatch):
    kept = store.Store(tmp_path)
    kept.save("a", {"x": 1}, {"wrong": [1]})
    assert kept.load("a", {"x": 1}) == {"wrong": [1]}
    assert kept.load("a", {"x": 2}) is None  # another description: not this cell

    def broken(source, target):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", broken)
    with pytest.raises(OSError, match="disk full"):
        kept.save("a", {"x": 1}, {"wrong": [2]})
    assert kept.load("a", {"x": 1}) == {"wrong": [1]}
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
    (tmp_path / "a.json").write_text('{"cell": ')
    assert kept.load("a", {"x": 1}) is None


def test_entries_are_compared_in_the_papers_deviations():
    entry = tables.Entry(12.0, 1.0, 5, (10.0, 4.0))
    assert entry.difference == 0.5
    assert entry.reached
    assert entry.within
    assert page.shade(entry) == "near"
    assert page.shade(tables.Entry(9.0, 1.0, 5, (10.0, 4.0))) == "better"
    assert page.shade(tables.Entry(15.0, 1.0, 5, (10.0, 4.0))) == "worse"
    assert page.shade(tables.Entry(25.0, 1.0, 5, (10.0, 4.0))) == "far"
    below = tables.Entry(5.0, 1.0, 5, (10.0, 4.0))
    assert (below.reached, below.within) == (True, False)
    assert tables.Entry(0.05, 0.0, 5, (0.0, 0.0)).reached is False
    assert tables.Entry(0.04, 0.0, 5, (0.0, 0.0)).within  # the paper prints one decimal
    assert tables.Entry(1.0, 0.0, 5).difference is None


def test_confidence_intervals_are_students():
    errors = np.random.default_rng(0).normal(10, 2, 10)
    entry = tables.Entry(float(errors.mean()), float(errors.std(ddof=1)), 10)
    low, high = stats.t.interval(0.95, 9, errors.mean(), stats.sem(errors))
    assert (entry.mean - entry.half_width, entry.mean + entry.half_width) == pytest.approx(
        (low, high)
    )


def exact_signed_rank(first, second):
    """Wilcoxon's test by all assignments of signs; equal differences share their ranks."""
    gaps = np.array([round(a - b, 1) for a, b in zip(first, second, strict=True)])
    gaps = gaps[gaps != 0]
    ranks = stats.rankdata(np.abs(gaps))
    observed = min(ranks[gaps > 0].sum(), ranks[gaps < 0].sum())
    sums = np.array([ranks @ signs for signs in itertools.product((0, 1), repeat=len(gaps))])
    smaller = np.minimum(sums, ranks.sum() - sums)
    return observed, float((smaller <= observed + 1e-9).mean())


def test_signed_ranks_are_the_papers():
    """The paper says that its rank and proj differ by a statistic of 16 (stumps), 10.5 (WLDA)."""
    for figures, keys, statistic in (
        (published.MULTI_CLASS, ("rank", "proj"), 16),
        (published.WLDA, ("rank-wlda", "proj-wlda"), 10.5),
        (published.MULTI_CLASS, ("mh", "rank"), 10),
    ):
        errors = [[row[key][0] for row in figures.values()] for key in keys]
        assert signed_ranks.signed_rank(*errors)[0] == statistic
        assert signed_ranks.signed_rank(*errors) == pytest.approx(exact_signed_rank(*errors))
        entries = {
            (name, key): tables.Entry(row[key][0] + 1e-9, 0.0, 1, row[key])
            for name, row in figures.items()
            for key in keys
        }
        table = tables.Table(list(figures), [(key, "") for key in keys], entries)
        [ours, theirs] = signed_ranks.signed_ranks(table)
        assert (ours.statistic, ours.p) == (theirs.statistic, theirs.p)
    assert ours.p == pytest.approx(0.04, abs=0.005)
    assert (ours.wins, ours.losses) == (3, 8)


def test_runs_are_read_as_they_were_written(tmp_path):
    cell = Cell("table-twoclass", "heart", "proj", 3, "RBoostProjClassifier", {"nu": 1e-5}, 100)
    result = {
        "nu": 1e-5, "rounds": 60, "stopped": "all rounds done", "stops": {"1e-06": 60},
        "wrong": [9] * 40 + [7] * 20, "n_test": 68, "n_train": 202, "train_wrong": 0,
        "seconds": 1.25, "cpu": 1.0, "versions": {"randomboost": "0.1"},
    }  # fmt: skip
    rows = runs.rows_of([(cell, result)])
    runs.write(tmp_path, rows)
    assert runs.read(tmp_path / "runs.csv") == rows
    [row] = rows
    assert (row["wrong@1"], row["wrong@50"], row["wrong@100"], row["wrong"]) == (9, 7, 7, 7)
    assert runs.error_at(row, 100) == pytest.approx(100 * 7 / 68)
    assert runs.stops(row) == {1e-6: 60}


def test_where_the_objective_settles():
    losses = np.array([1.0, 0.5, 0.499, 0.3, 0.3, 0.29])
    assert cells._stops(losses)["0.01"] == 3  # 0.5 -> 0.499
    assert cells._stops(losses)["0.0001"] == 5
    assert cells._stops(np.array([1.0, 0.5]))["1e-06"] == 2  # never


def test_exponents_are_slopes_in_logarithms():
    rows = [
        {"set": f"m={m}", "method": "rank", "fit_cpu_seconds": 1e-3 * m**1.5}
        for m in (100, 400, 200)
    ]
    slope, seconds = tables.exponents(rows)["rank", "m"]
    assert slope == pytest.approx(1.5)
    assert seconds == sorted(seconds)


def test_commands(tmp_path):
    typer_testing = pytest.importorskip("typer.testing")
    from randomboost.paper.commands import app

    runner = typer_testing.CliRunner()
    out = ["--out", str(tmp_path), "--quick"]
    found = runner.invoke(app, ["list", *out])
    assert found.exit_code == 0, found.output
    assert "table-multiclass" in found.output
    few = ["--only", "wine", "--only", "ecc", "--rounds", "3", "--repeats", "1"]
    found = runner.invoke(app, ["run", "table-multiclass", *few, *out])
    assert found.exit_code == 0, found.output
    assert "1 fits to do" in found.output
    found = runner.invoke(app, ["run", "table-multiclass", *few, *out])
    assert "0 fits to do" in found.output
    found = runner.invoke(app, ["show", "table-multiclass", *few, *out])
    assert found.exit_code == 0
    assert "AdaBoost.ECC" in found.output
    assert (Path(tmp_path) / "table-multiclass-quick" / "page.html").exists()
    found = runner.invoke(app, ["run", "table-nine", *out])
    assert found.exit_code == 2
    assert "not an experiment" in found.output
    found = runner.invoke(app, ["run", "table-size", "--only", "iris", *out])
    assert found.exit_code == 2


def test_archive(tmp_path):
    cell = Cell("table-twoclass", "heart", "rank", 3, "RBoostRankClassifier", {}, 100)
    result = {
        "rounds": 100, "stopped": "", "wrong": [1], "n_test": 9, "seconds": 1.0, "cpu": 1.0,
        "versions": {},
    }  # fmt: skip
    runs.write(tmp_path / "results" / "table-twoclass", runs.rows_of([(cell, result)]))
    (tmp_path / "LICENSE").write_text("free")
    for name in ("a.zip", "b.zip"):
        archive.write(tmp_path / "results", tmp_path / name, [tmp_path / "LICENSE"])
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.zip") as made:
        contents = {name: made.read(name) for name in made.namelist()}
    assert contents["seeds.csv"].decode().splitlines()[1:] == ["table-twoclass,heart,rank,3,3"]
    assert contents["commit.txt"].decode() == "unknown\n"
    assert b"numpy==" in contents["environment.txt"]
    for line in contents.pop("MANIFEST.sha256").decode().splitlines():
        digest, name = line.split()
        assert hashlib.sha256(contents.pop(name)).hexdigest() == digest
    assert not contents
    with pytest.raises(ValueError, match=r"no runs\.csv"):
        archive.write(tmp_path / "none", tmp_path / "c.zip")
