"""A run goes on from runs that were made elsewhere."""

from __future__ import annotations

import csv
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from randomboost.paper import cells, results_page, runs
from randomboost.paper.cells import Cell
from randomboost.paper.engine import Options, execute, plan
from randomboost.paper.known import KnownRuns

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")

RESULTS = Path(__file__).parents[2] / "docs" / "results"
ONLY = ["wine", "ecc", "mh", "proj", "proj-fast", "proj-code"]


@pytest.fixture(autouse=True)
def no_folder(monkeypatch, tmp_path):
    monkeypatch.delenv("RANDOMBOOST_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    cells.loaded.cache_clear()
    cells.parts.cache_clear()


def made_of(path):
    """Return the rows of a runs.csv without what differs from run to run."""
    with path.open(newline="") as file:
        return [
            {name: text for name, text in row.items() if "seconds" not in name}
            for row in csv.DictReader(file)
        ]


def stop_after(n_cells):
    """Return a callback that stops a run after some cells."""
    names = []

    def advance(cell, seconds):
        names.append(cell.name)
        if len(names) == n_cells:
            raise KeyboardInterrupt

    return advance


def test_a_stopped_run_goes_on_elsewhere(tmp_path):
    """Neither cells nor trials of known rows are repeated, and the table is the same."""
    options = Options(tmp_path / "whole", repeats=2, quick=True, only=ONLY, rounds=5, threads=1)
    whole = plan("table-multiclass", options)
    execute(whole)
    expected = results_page.write(whole).markdown

    known = tmp_path / "known"
    here = plan("table-multiclass", replace(options, out=tmp_path / "here", known=known))
    with pytest.raises(KeyboardInterrupt):
        execute(here, stop_after(8))
    done = [cell.name for cell, _ in here.finished()]
    assert "wine--proj--0" in done
    assert "wine--proj--1" not in done
    results_page.write(here)
    shutil.rmtree(tmp_path / "here")

    there = plan("table-multiclass", replace(options, out=tmp_path / "there", known=known))
    assert there.finished() == []
    assert len(there.rows()) == len(done)
    names = [cell.name for cell in there.to_do()]
    assert not {*done} & {*names}
    assert "wine--proj--1" in names
    assert not any(name.startswith("wine--proj-fast--0--path") for name in names)  # nu is known
    assert 0 < there.seconds() < whole_seconds(whole)
    with pytest.raises(KeyboardInterrupt):
        execute(there, stop_after(1))
    execute(there)
    assert there.to_do() == []
    assert results_page.write(there).markdown == expected
    csv_of = Path(whole.folder.name) / "runs.csv"
    assert made_of(known / csv_of) == made_of(whole.pages / "runs.csv")
    assert made_of(there.pages / "runs.csv") == made_of(whole.pages / "runs.csv")
    assert there.to_do() == []
    assert there.finished() == []  # all of them are known now


def whole_seconds(made):
    """Return the expected seconds of a plan of which nothing is done."""
    return plan("table-multiclass", replace(made.options, out=made.options.out / "none")).seconds()


def cell_of(**changes):
    cell = Cell("table-multiclass", "wine", "proj-code", 0, "RBoostProjClassifier", {"a": 1}, 10)
    return replace(cell, grid="coarse", **changes)


def result_of(**changes):
    return {
        "nu": 1e-3, "rounds": 10, "stopped": "", "wrong": [3] * 10, "n_test": 45, "seconds": 1.0,
        "cpu": 1.0, "versions": {}, **changes,
    }  # fmt: skip


def known_of(path, *results):
    known = KnownRuns(path)
    known.add(runs.rows_of(results))
    return KnownRuns(path)


def test_rows_of_other_settings_do_not_count(tmp_path):
    cell = cell_of()
    known = known_of(tmp_path / "runs.csv", (cell, result_of()))
    assert known.row(cell)["nu"] == 1e-3
    others = (
        {"parameters": {"a": 2}}, {"rounds": 11}, {"repeat": 1}, {"set": "glass"},
        {"method": "proj"}, {"estimator": "MultiBoostClassifier"}, {"measure": "boundary"},
    )  # fmt: skip
    for changes in others:
        assert known.row(cell_of(**changes)) is None
    assert known.row(replace(cell, grid="paper")) is None
    assert known.nu([cell_of(repeat=4)]) == 1e-3
    assert known.nu([replace(cell, grid="paper")]) is None
    assert known.nu([cell_of(set="glass"), cell]) == 1e-3
    assert KnownRuns(None).row(cell) is None
    assert KnownRuns(None).add([{}]) == []


def test_the_papers_grid_serves_the_coarse_one(tmp_path):
    cell = cell_of()
    known = known_of(tmp_path / "runs.csv", (replace(cell, grid="paper"), result_of()))
    assert known.row(cell) is not None
    assert known.nu([cell_of(repeat=1)]) is None
    assert known.nu([replace(cell, grid="paper", repeat=1)]) is None  # every repeat has its own
    assert known.nu([replace(cell, grid="paper")]) == 1e-3


def test_rows_without_errors_by_round_count_where_none_are_kept(tmp_path):
    cell = cell_of()
    path = tmp_path / "runs.csv"
    known = known_of(path, (cell, result_of(wrong=[3])), (cell_of(repeat=1), result_of()))
    assert known.row(cell) is None
    assert known.row(replace(cell, curve=False)) is not None
    assert known.row(cell_of(repeat=1)) is not None


def test_rows_are_added_in_order_in_place_of_others(tmp_path):
    path = tmp_path / "runs.csv"
    old = [(cell_of(repeat=t, parameters={"a": 0}), result_of()) for t in range(3)]
    known_of(path, (cell_of(set="vowel"), result_of()), *old, (cell_of(set="dna"), result_of()))
    known_of(path, (cell_of(repeat=1), result_of()), (cell_of(), result_of(nu=1e-4)))
    rows = runs.read(path)
    assert [(row["set"], row["repeat"]) for row in rows] == [
        ("dna", 0), ("wine", 0), ("wine", 1), ("vowel", 0),
    ]  # fmt: skip
    assert [row["nu"] for row in rows] == [1e-3, 1e-4, 1e-3, 1e-3]


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*/runs.csv")), ids=lambda p: p.parent.name)
def test_committed_rows_stay_as_they_are(path, tmp_path):
    """Adding a row to a committed file changes no other line."""
    copy = tmp_path / "runs.csv"
    shutil.copy(path, copy)
    rows = runs.read(copy)
    KnownRuns(copy).add(rows[-1:])
    assert copy.read_bytes() == path.read_bytes()


def test_commands(tmp_path):
    typer_testing = pytest.importorskip("typer.testing")
    from randomboost.paper.commands import app

    runner = typer_testing.CliRunner()
    few = ["--quick", "--only", "wine", "--only", "ecc", "--rounds", "3", "--repeats", "1"]
    known = tmp_path / "known"
    found = runner.invoke(app, ["run", "table-multiclass", *few, "--known", str(known)])
    assert found.exit_code == 2
    assert "--known" in found.output
    known.mkdir()
    for out, to_do in (("a", 1), ("b", 0)):
        where = ["--out", str(tmp_path / out), "--known", str(known)]
        found = runner.invoke(app, ["run", "table-multiclass", *few, *where])
        assert found.exit_code == 0, found.output
        assert f"{to_do} fits to do" in found.output
        assert "AdaBoost.ECC" in found.output
    found = runner.invoke(app, ["list", "--quick", *where])
    assert found.exit_code == 0, found.output
