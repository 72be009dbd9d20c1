"""Fits that keep features and bins on disk."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

dd = pytest.importorskip("dask.dataframe")
pytest.importorskip("distributed")
pytest.importorskip("pyarrow")

from randomboost import RandomBoostClassifier  # noqa: E402
from randomboost.dask import DaskRandomBoostClassifier, distributed_classifier, storage  # noqa: E402

da = pytest.importorskip("dask.array")
pd = pytest.importorskip("pandas")

SMALL = {"n_estimators": 4, "n_projections": 30, "effort": "fast", "random_state": 0}
CASES = {
    "as usual": {},
    "a validation part": {"early_stopping": True, "n_estimators": 10, "n_iter_no_change": 2},
    "four members": {"effort": "default", "n_estimators": 2},
    "no landmarks": {"n_landmarks": 0},
}


def divided(array, n_parts):
    return da.from_array(array, chunks=(-(-len(array) // n_parts), *array.shape[1:]))


def table(n=700):
    """Return a table with numbers, gaps and text."""
    rng = np.random.default_rng(0)
    level = rng.integers(0, 40, n)
    towns = np.array([f"t{number}" for number in level], dtype=object)
    X = pd.DataFrame({"x": rng.normal(size=n).round(2), "town": towns})
    y = np.array(["a", "b", "c"])[(level % 3 + (X["x"] > 1)).to_numpy() % 3]
    X.loc[rng.random(n) < 0.05, "x"] = np.nan
    return X, pd.Series(y, name="y")


@pytest.fixture
def small_blocks(monkeypatch):
    """Let blocks and ranges be so small that there are many (shards of this process only)."""
    monkeypatch.setattr(storage, "BLOCK_BYTES", 1000)
    monkeypatch.setattr(distributed_classifier, "RANGE_BYTES", 4000)


@pytest.mark.parametrize("changed", CASES.values(), ids=CASES)
def test_the_model_is_that_in_memory(workers, saved, task, tmp_path, small_blocks, changed):
    workers(2)
    settings = SMALL | changed
    local = RandomBoostClassifier(**settings).fit(*task)
    fitted = DaskRandomBoostClassifier(**settings, out_of_core=str(tmp_path))
    fitted.fit(*(divided(each, 5) for each in task))
    assert saved(fitted) == saved(local)
    assert not list(tmp_path.iterdir())


def test_tables_warm_starts_and_blocks(saved, tmp_path, small_blocks):
    """In this process, so that the arrays of shards have many blocks."""
    from distributed import Client

    X, y = table()
    X.assign(y=y).to_parquet(tmp_path / "table.parquet", row_group_size=100)
    numbers = X[["x"]].assign(z=np.arange(len(y)) % 7)
    with Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None) as own:
        options = {"client": own, "out_of_core": True}
        read = dd.read_parquet(tmp_path / "table.parquet", split_row_groups=True)
        fitted = DaskRandomBoostClassifier(**SMALL, **options)
        fitted.fit(read.drop(columns="y"), read["y"])
        assert saved(fitted) == saved(RandomBoostClassifier(**SMALL).fit(X, y))
        local = RandomBoostClassifier(**SMALL, warm_start=True).fit(numbers, y)
        again = DaskRandomBoostClassifier(**SMALL, warm_start=True, **options)
        parts = [dd.from_pandas(each, npartitions=4) for each in (numbers, y)]
        again.fit(*parts)
        local.set_params(n_estimators=6).fit(numbers, y)
        assert saved(again.set_params(n_estimators=6).fit(*parts)) == saved(local)


def test_a_folder_that_is_not_there(client, task):
    model = DaskRandomBoostClassifier(**SMALL, out_of_core="/no/such/folder")
    with pytest.raises(ValueError, match=r"out_of_core='/no/such/folder'.*pass a folder"):
        model.fit(*(divided(each, 2) for each in task))


ALLOWED = 140  # MiB
ROWS, COLUMNS, GROUPS = 5000, 200, 46


def write_large(path):
    """Write a Parquet file some rows at a time."""
    import pyarrow as pa
    from pyarrow import parquet

    rng = np.random.default_rng(0)
    names = [f"f{number}" for number in range(COLUMNS)]
    schema = pa.schema([*((name, pa.float64()) for name in names), ("y", pa.int64())])
    with parquet.ParquetWriter(path, schema) as writer:
        for _ in range(GROUPS):
            X = rng.normal(size=(ROWS, COLUMNS))
            columns = [*X.T, (X[:, 0] > 0).astype(np.int64)]
            writer.write_table(pa.table(dict(zip(schema.names, columns, strict=True))))


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are those of Linux")
def test_a_file_of_three_times_the_memory(tmp_path):
    path, out = tmp_path / "large.parquet", tmp_path / "model.rboost"
    write_large(path)
    assert path.stat().st_size >= 3 * ALLOWED * 2**20
    script = Path(__file__).with_name("limited_fit.py")
    # memory that is freed counts no longer: one heap, which shrinks
    environment = os.environ | {"MALLOC_ARENA_MAX": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}

    def run(what):
        command = [sys.executable, script, path, out, str(ALLOWED), what]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100)

    fitted, found = run("fit"), run("score")
    assert fitted.returncode == 0, fitted.stderr[-2000:]
    assert found.returncode == 0, found.stderr[-2000:]
    large = pd.read_parquet(path)
    settings = runpy.run_path(str(script))["SETTINGS"]
    local = RandomBoostClassifier(**settings).fit(large.drop(columns="y"), large["y"])
    local.save(tmp_path / "local.rboost")
    assert out.read_bytes() == (tmp_path / "local.rboost").read_bytes()
    right = local.score(large.drop(columns="y"), large["y"])
    assert found.stdout.split()[-1] == f"{right:.3f}"
    assert "MemoryError" in run("fit-in-memory").stderr  # the limit is one


def test_ctrl_c_leaves_no_files(workers, task, tmp_path, monkeypatch):
    """At the beginning, while partitions are divided, and after some rounds."""
    from randomboost.dask import group
    from randomboost.estimators.base import FitInterruptedWarning

    workers(2)

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    model = DaskRandomBoostClassifier(**SMALL, out_of_core=str(tmp_path))
    parts = [divided(each, 5) for each in task]
    with monkeypatch.context() as patch:
        patch.setattr(group.Group, "_wait_for", interrupt)
        with pytest.raises(KeyboardInterrupt):
            model.fit(*parts)
    assert not list(tmp_path.iterdir())
    with pytest.warns(FitInterruptedWarning):
        model.fit(*parts, on_round=interrupt)
    assert model.n_estimators_ == 1
    assert not list(tmp_path.iterdir())


def test_rows_of_lost_shards_are_removed(workers, client, task, tmp_path, monkeypatch):
    import signal

    workers(2)
    pids, left = client.run(os.getpid), []

    def kill(_):
        if pids:
            os.kill(pids.popitem()[1], signal.SIGKILL)
        left.extend(tmp_path.rglob("*.rows"))

    model = DaskRandomBoostClassifier(**SMALL | {"n_estimators": 6}, out_of_core=str(tmp_path))
    pids = dict(list(pids.items())[:1])
    model.fit(*(divided(each, 5) for each in task), on_round=kill)
    assert not left
    assert not list(tmp_path.iterdir())


def test_a_full_disk_is_a_clear_error(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    with pytest.raises(OSError, match=r"out_of_core: a file of .* GB.*make room"):
        storage.Storage(str(tmp_path)).empty((10, 10), np.float64)
