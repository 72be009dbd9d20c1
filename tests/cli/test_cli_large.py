"""Training on files that do not fit in memory: the same model, within the limit."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
pytest.importorskip("typer")
pytest.importorskip("distributed")
pytest.importorskip("dask.dataframe")

from pyarrow import parquet  # noqa: E402
from typer.testing import CliRunner  # noqa: E402

from randomboost import files  # noqa: E402
from randomboost.cli import app, large_data  # noqa: E402
from randomboost.cli.fitting import Rounds  # noqa: E402
from randomboost.files import container  # noqa: E402

FAILED, INTERRUPTED = 1, 130
SETTINGS = ["--set", "n_estimators=6", "--set", "n_projections=30", "--set", "effort=fast"]


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.stderr
    return result


def saved(path, folder):
    """Return the bytes of a model without notes, and its notes without the time."""
    files.save(files.load(path), folder / "plain.rboost")
    notes = files.describe(path)["notes"]
    del notes["seconds"], notes["data"]
    return (folder / "plain.rboost").read_bytes(), notes


@pytest.fixture(scope="module")
def table():
    """A table with all kinds of columns, whose parts have other types than the whole."""
    rng = np.random.default_rng(0)
    n = 1500
    y = rng.integers(0, 4, n)
    made = pd.DataFrame(rng.normal(size=(n, 3)) + 0.5 * y[:, None], columns=["a", "b.c", "d"])
    made.loc[::7, "a"] = None
    made["kind"] = rng.choice(["u", "v", "w"], n)
    made["amount"] = [f"{v:.2f} €".replace(".", ",") for v in rng.uniform(1, 9000, n)]
    made["when"] = pd.date_range("2020-01-01", periods=n, freq="h")
    made["id"] = np.arange(n)
    made["express"] = pd.Series(rng.random(n) < 0.5 + 0.1 * y).astype(object)
    made.loc[900:950, "express"] = None
    made["pieces"] = pd.Series(rng.integers(0, 9, n) + y).where(np.arange(n) != 1200)
    made["status"] = [f"k{v}" for v in y]  # predicts the target by itself
    made["target"] = np.array(["red", "green", "blue", "violet"])[y]
    made.loc[[7, 1400], "target"] = None
    return made


@pytest.fixture(scope="module")
def folder(table, tmp_path_factory):
    made = tmp_path_factory.mktemp("large")
    table.to_parquet(made / "table.parquet", row_group_size=200)
    table.to_csv(made / "table.csv", index=False)
    numbered = table.set_index(pd.Index(range(5, 5 + len(table)), name="row"))
    numbered.to_parquet(made / "index.parquet", row_group_size=400)
    return made


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    """Let files have many parts."""
    monkeypatch.setattr("randomboost.reading.rows._CELLS", 2000)
    monkeypatch.setattr(large_data, "_PART_CELLS", 3000)


@pytest.mark.parametrize("name", ["table.parquet", "table.csv", "index.parquet"])
def test_the_model_is_that_in_memory(folder, tmp_path, name):
    options = ["--seed", "3", "--test-size", "0.2", "--category", "pieces", *SETTINGS]
    found = {}
    for where in ("--in-memory", "--out-of-core"):
        out = tmp_path / "model.rboost"
        result = run("train", folder / name, where, *options, "-o", out, "--force")
        lines = result.stderr.splitlines()
        assert ("training out of core" in result.stderr) == (where == "--out-of-core")
        found[where] = [*saved(out, tmp_path), [line for line in lines if "column" in line]]
        assert not list(tmp_path.glob(".*"))
    assert found["--in-memory"] == found["--out-of-core"]
    assert "held_out" in found["--in-memory"][1]["scores"]


def test_labels_that_are_numbers(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 600)
    pd.DataFrame({"x": rng.normal(size=600) + y, "target": y + 5.0}).to_parquet(
        tmp_path / "t.parquet"
    )
    for where in ("--in-memory", "--out-of-core"):
        run("train", tmp_path / "t.parquet", where, "--seed", "1", *SETTINGS, "-o",
            tmp_path / f"{where}.rboost")  # fmt: skip
    first, second = (saved(tmp_path / f"{each}.rboost", tmp_path) for each in
                     ("--in-memory", "--out-of-core"))  # fmt: skip
    assert first == second
    assert files.load(tmp_path / "--out-of-core.rboost").classes_.tolist() == [5, 6, 7]


def test_a_table_that_does_not_fit_is_read_in_parts(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(large_data, "available_memory", lambda: 300_000)
    train = ["train", folder / "table.csv", "--seed", "3", *SETTINGS, "-o", tmp_path / "m.rboost"]
    result = run(*train)
    assert "table.csv would take about" in result.stderr
    assert "270 kB may be used: training out of core" in result.stderr
    assert "out of core" not in run(*train, "--in-memory", "--force").stderr
    monkeypatch.setattr(large_data, "available_memory", lambda: 2**30)
    assert "out of core" not in run(*train, "--force").stderr
    monkeypatch.setattr(large_data, "available_memory", lambda: None)
    assert "out of core" not in run(*train, "--force").stderr


def test_columns_are_decided_in_the_same_way(folder):
    shown = [
        run("train", folder / "table.csv", "--columns", where).stdout
        for where in ("--in-memory", "--out-of-core")
    ]
    assert shown[0] == shown[1]
    assert "predicts the" in shown[0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["table.csv", "--cv", "3"], "--cv needs all of the table in memory"),
        (["table.csv", "--report", "page.html"], "--report needs all of the table in memory"),
        (["table.csv", "--model", "rank"], "only --model randomboost"),
        (["sklearn:iris"], "leave out --out-of-core"),
        (["t.feather"], "pass a Parquet or CSV file"),
        (["twice.parquet"], "rename them"),
    ],
    ids=str,
)
def test_what_needs_the_whole_table_is_refused(folder, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(folder)
    pd.DataFrame({"a": [1.0, 2.0], "target": [0, 1]}).to_feather("t.feather")
    columns = [pa.array([1.0, 2.0]), pa.array([1.0, 2.0]), pa.array([0, 1])]
    parquet.write_table(pa.table(columns, names=["a", "a", "target"]), "twice.parquet")
    out = tmp_path / "model.rboost"
    result = run("train", *arguments, "--out-of-core", "-o", out, code=FAILED)
    assert message in result.stderr
    assert not list(tmp_path.iterdir())


class Stop:
    """Presses Ctrl-C after some rounds."""

    def __init__(self, monkeypatch, after):
        self.left, count = after, Rounds.__call__

        def counted(rounds, snapshot):
            count(rounds, snapshot)
            self.left -= 1
            if not self.left:
                raise KeyboardInterrupt

        monkeypatch.setattr(Rounds, "__call__", counted)


@pytest.mark.parametrize("second", ["--out-of-core", "--in-memory"])
def test_an_interrupted_fit_goes_on(folder, tmp_path, monkeypatch, second):
    whole, out = tmp_path / "whole.rboost", tmp_path / "model.rboost"
    train = ["train", folder / "table.parquet", "--seed", "3", *SETTINGS]
    run(*train, "--in-memory", "-o", whole)
    with monkeypatch.context() as patch:
        Stop(patch, 2)
        stopped = run(*train, "--out-of-core", "-o", out, code=INTERRUPTED)
    assert "has 2 rounds" in stopped.stderr
    assert "--resume continues" in stopped.stderr
    assert not list(tmp_path.glob(".*"))
    resumed = run(*train, second, "-o", out, "--resume")
    assert "continuing after round 2" in resumed.stderr
    found, expected = (container.read(path)[1] for path in (out, whole))
    assert found.keys() == expected.keys()
    for name in found:
        np.testing.assert_array_equal(found[name], expected[name])


def test_ctrl_c_while_the_table_is_read(folder, tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(large_data, "leaks_among", interrupt)
    out = tmp_path / "model.rboost"
    run("train", folder / "table.parquet", "--out-of-core", "-o", out, code=INTERRUPTED)
    assert not list(tmp_path.iterdir())


def test_files_of_a_killed_run_are_removed(folder, tmp_path):
    left = tmp_path / ".model.rboost.abc.large"
    left.mkdir()
    (left / "part").write_text("x")
    out = tmp_path / "model.rboost"
    run("train", folder / "table.parquet", "--out-of-core", *SETTINGS, "-o", out, "--force")
    assert [path.name for path in tmp_path.iterdir()] == ["model.rboost"]


# ---- within a limit -----------------------------------------------------------------------------

ALLOWED = 110  # MiB
ROWS, COLUMNS, GROUPS = 2500, 300, 58


def write_numbers(path, n_groups):
    """Write a Parquet file some rows at a time."""
    rng = np.random.default_rng(0)
    names = [f"f{number}" for number in range(COLUMNS)]
    kinds = [*((name, pa.float64()) for name in names), ("kind", pa.string()), ("y", pa.int64())]
    plain = {"use_dictionary": False, "write_statistics": False, "compression": "none"}
    with parquet.ParquetWriter(path, pa.schema(kinds), **plain) as writer:
        for _ in range(n_groups):
            X = rng.normal(size=(ROWS, COLUMNS))
            y = (X[:, 0] > 0).astype(np.int64) + (X[:, 1] > 0.3)
            kind = np.array(["a", "b", "c"])[(X[:, 2] > 0).astype(int) + (y == 2)]
            writer.write_table(pa.table([*X.T, kind, y], schema=writer.schema))


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are those of Linux")
def test_a_file_of_three_times_the_memory(tmp_path):
    large, out = tmp_path / "large.parquet", tmp_path / "out.rboost"
    write_numbers(large, GROUPS)
    write_numbers(tmp_path / "small.parquet", 1)
    assert large.stat().st_size >= 3 * ALLOWED * 2**20
    settings = (
        "n_jobs=1",
        "n_estimators=3",
        "projection=axis",
        "n_landmarks=0",
        "max_leaf_nodes=8",
    )
    options = [part for setting in settings for part in ("--set", setting)]
    train = ["train", str(large), "-t", "y", "--seed", "3", "--test-size", "0.1", *options]
    # memory that is freed counts no longer
    environment = os.environ | {
        "MALLOC_ARENA_MAX": "1",
        "MALLOC_MMAP_THRESHOLD_": "4096",
        "ARROW_DEFAULT_MEMORY_POOL": "system",
    }

    predicted = tmp_path / "predicted.parquet"
    commands = [
        [*train, "-o", str(out)],
        ["predict", str(out), str(large), "-o", str(predicted)],
        [*train, "-o", str(tmp_path / "failed.rboost"), "--in-memory"],
    ]
    script = Path(__file__).with_name("limited_train.py")
    parts = " -- ".join(" ".join(each) for each in commands).split()
    found = subprocess.run(
        [sys.executable, script, tmp_path, str(ALLOWED), *parts],
        env=environment, capture_output=True, text=True, timeout=500,
    )  # fmt: skip
    assert predicted.exists(), found.stderr[-2000:]
    assert "would take about" in found.stderr
    assert found.returncode, "the limit is none: there is room for the table"
    assert not (tmp_path / "failed.rboost").exists()
    run(*train, "-o", tmp_path / "memory.rboost", "--in-memory")
    assert saved(out, tmp_path) == saved(tmp_path / "memory.rboost", tmp_path)
    read = pd.read_parquet(large, columns=["y"])["y"]
    assert (pd.read_parquet(predicted)["prediction"] == read).mean() > 0.5
