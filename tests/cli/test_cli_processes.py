"""The command line as processes: killed, interrupted, in pipes."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
pytest.importorskip("typer")

from typer.testing import CliRunner  # noqa: E402

import randomboost  # noqa: E402
from randomboost import files  # noqa: E402
from randomboost.cli import app  # noqa: E402
from randomboost.cli.fitting import Rounds  # noqa: E402

COMMAND = [sys.executable, "-m", "randomboost"]
PATIENCE = 120  # seconds for what takes a few
USAGE, INTERRUPTED = 2, 130


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A table with categories and gaps, so that every part of a checkpoint is in use."""
    rng = np.random.default_rng(0)
    n = 400
    y = rng.integers(0, 4, n)
    table = pd.DataFrame(rng.normal(size=(n, 5)) + 0.5 * y[:, None], columns=list("abcde"))
    table["kind"] = rng.choice(["u", "v", "w"], n)
    table.loc[::7, "a"] = None
    path = tmp_path_factory.mktemp("data") / "data.csv"
    table.assign(target=y).to_csv(path, index=False)
    return path


def train(data, out, model, rounds, *further):
    return ["train", str(data), "--model", model, "--set", f"n_estimators={rounds}", "--seed", "5",
            "--test-size", "0.25", "--out", str(out), *further]  # fmt: skip


def in_process(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.stderr
    return result


def started(arguments):
    return subprocess.Popen(
        [*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def wait_for_rounds(process, checkpoint, more_than):
    """Wait until the checkpoint has more rounds; return how many."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if checkpoint.exists():
            rounds = files.describe(checkpoint)["n_rounds"]  # whole at any moment
            if rounds > more_than:
                return rounds
        assert process.poll() is None, process.communicate()
        time.sleep(0.002)
    pytest.fail("no checkpoint appeared")


def predictions(model, data):
    return in_process("predict", model, data, "--proba").stdout


def test_a_killed_run_continues_and_ends_like_one_that_was_not(data, tmp_path):
    out, checkpoint = tmp_path / "m.rboost", tmp_path / "m.rboost.checkpoint"
    pauses = random.Random(0)
    done = 0
    for _ in range(2):
        process = started(
            train(data, out, "randomboost", 100, "--checkpoint-every", "0", "--resume")
        )
        done = wait_for_rounds(process, checkpoint, done)
        time.sleep(pauses.uniform(0, 0.1))
        process.kill()
        process.communicate()
        if out.exists():  # it was quicker than the signal
            break
        assert files.describe(checkpoint)["n_rounds"] >= done
        files.load(checkpoint)
    if not out.exists():
        messages = in_process(*train(data, out, "randomboost", 100, "--resume")).stderr
        assert "continuing after round" in messages
    assert {path.name for path in tmp_path.iterdir()} == {"m.rboost"}
    in_process(*train(data, tmp_path / "whole.rboost", "randomboost", 100, "-q"))
    assert predictions(out, data) == predictions(tmp_path / "whole.rboost", data)


@pytest.mark.parametrize("model", ["ecc", "mh", "mo", "proj", "multiboost"])
def test_every_model_continues_from_a_checkpoint(model, data, tmp_path, monkeypatch):
    out = tmp_path / "m.rboost"
    follow = Rounds.__call__

    def fail_in_round_7(self, snapshot):
        follow(self, snapshot)
        if self._done == 7:
            raise RuntimeError("the power failed")

    with monkeypatch.context() as patch:
        patch.setattr(Rounds, "__call__", fail_in_round_7)
        arguments = train(data, out, model, 20, "--checkpoint-every", "0")
        assert "the power failed" in in_process(*arguments, code=1).stderr
    assert files.describe(tmp_path / "m.rboost.checkpoint")["n_rounds"] == 7
    messages = in_process(*train(data, out, model, 20, "--resume")).stderr
    assert "continuing after round 7" in messages
    assert {path.name for path in tmp_path.iterdir()} == {"m.rboost"}
    in_process(*train(data, tmp_path / "whole.rboost", model, 20, "-q"))
    if model in ("proj", "multiboost"):  # their weights are solved for from another start
        resumed, whole = (
            files.describe(tmp_path / name)["notes"]["scores"]["held_out"]["error"]
            for name in ("m.rboost", "whole.rboost")
        )
        assert abs(resumed - whole) < 0.15
    else:
        assert predictions(out, data) == predictions(tmp_path / "whole.rboost", data)


def test_ctrl_c_keeps_the_rounds_done(data, tmp_path):
    out, checkpoint = tmp_path / "m.rboost", tmp_path / "m.rboost.checkpoint"
    process = started(
        train(data, out, "randomboost", 100_000, "--checkpoint-every", "0.05", "--json")
    )
    wait_for_rounds(process, checkpoint, 0)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=PATIENCE)
    assert process.returncode == INTERRUPTED, stderr
    assert "interrupted" in stderr
    assert "--resume continues" in stderr
    assert "Traceback" not in stderr
    rounds = json.loads(stdout)["rounds"]
    assert 0 < rounds < 100_000
    assert files.describe(out)["n_rounds"] == rounds == files.describe(checkpoint)["n_rounds"]
    assert len(randomboost.load(out).classes_) == 4
    result = in_process("evaluate", out, data, "--json")
    assert json.loads(result.stdout)["error"] < 0.7


def test_ctrl_c_before_the_first_round(data, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("randomboost.cli.data.read_table", interrupted)
    arguments = train(data, tmp_path / "m.rboost", "randomboost", 5)
    assert in_process(*arguments, code=INTERRUPTED).stderr == "randomboost: interrupted\n"
    assert not list(tmp_path.iterdir())


def test_pipes(data, tmp_path):
    out = tmp_path / "m.rboost"
    trained = subprocess.run(
        [*COMMAND, *train("-", out, "randomboost", 5, "--json")],
        input=data.read_bytes(),
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert trained.returncode == 0, trained.stderr
    assert json.loads(trained.stdout)["data"] == "standard input"
    predicted = subprocess.run(
        [*COMMAND, "predict", out, "-", "--proba"],
        input=data.read_bytes(),
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert predicted.returncode == 0, predicted.stderr
    assert predicted.stdout.decode() == in_process("predict", out, data, "--proba").stdout


def test_a_model_goes_to_standard_output(data, tmp_path):
    written = subprocess.run(
        [*COMMAND, *train(data, "-", "randomboost", 5, "--cv", "2")],
        cwd=tmp_path,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert written.returncode == 0, written.stderr
    assert "standard output (" in written.stderr.decode()
    assert not list(tmp_path.iterdir())
    (tmp_path / "piped.rboost").write_bytes(written.stdout)
    in_process(*train(data, tmp_path / "m.rboost", "randomboost", 5, "-q"))
    both = [files.load(tmp_path / name) for name in ("piped.rboost", "m.rboost")]
    X = pd.read_csv(data).drop(columns="target")
    np.testing.assert_array_equal(*[model.predict_proba(X) for model in both])


def test_a_terminal_gets_no_model(data, tmp_path):
    pty = pytest.importorskip("pty")
    inner, outer = pty.openpty()
    done = subprocess.run(
        [*COMMAND, *train(data, "-", "randomboost", 5)],
        cwd=tmp_path,
        env={**os.environ, "COLUMNS": "200"},
        stdout=outer,
        stderr=subprocess.PIPE,
        timeout=PATIENCE,
        check=False,
    )
    os.close(outer)
    os.close(inner)
    assert done.returncode == USAGE
    assert b"redirect standard output" in done.stderr


def test_a_closed_pipe_is_no_trouble(data, tmp_path):
    out = tmp_path / "m.rboost"
    in_process(*train(data, out, "ecc", 3, "-q"))
    table = pd.read_csv(data)
    pd.concat([table] * 30).to_csv(tmp_path / "long.csv", index=False)
    process = started(["predict", str(out), str(tmp_path / "long.csv"), "--proba"])
    process.stdout.readline()
    process.stdout.close()
    stderr = process.stderr.read()
    process.wait(timeout=PATIENCE)
    process.stderr.close()
    assert "Traceback" not in stderr
    assert "Exception" not in stderr
