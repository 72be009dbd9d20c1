"""The command line: wrong input ends with one line, an exit code and nothing half-written."""

from __future__ import annotations

import errno
import os

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
pytest.importorskip("typer")

from typer.testing import CliRunner  # noqa: E402

from randomboost import files  # noqa: E402
from randomboost.cli import app  # noqa: E402

FAILED, USAGE = 1, 2
GOOD = "a,b,class\n" + "".join(f"{i % 7},{i % 3},{'xyz'[i % 3]}\n" for i in range(40))


def run(*arguments, code, stdin=None):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
    assert result.exit_code == code, (result.exit_code, result.stdout, result.stderr)
    assert "Traceback" not in result.stderr
    assert result.stdout == ""
    return " ".join(result.stderr.replace("│", " ").split())


def one_line(*arguments, stdin=None):
    """Run what fails; return its error, which is one line that begins with the program's name."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
    assert result.exit_code == FAILED, (result.exit_code, result.stdout, result.stderr)
    assert result.stdout == ""
    assert result.stderr.splitlines()[-1].startswith("randomboost: ")
    return result.stderr.splitlines()[-1]


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(GOOD)
    return path


@pytest.fixture
def model(data, tmp_path):
    path = tmp_path / "fitted.rboost"
    CliRunner().invoke(app, ["train", str(data), "--set", "n_estimators=2", "-o", str(path), "-q"])
    return path


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("a,b,class\n", "no rows"),
        ("a,b,class\n1,2,x\n1,2\n", "line 3 of"),
        ("\x00\x01\x02", "binary data"),
        ("a,b\n1,2\n", "--target"),
        ("a,b,class\n1,2,x\n2,3,x\n", "only one class"),
        ("a,b,class\n1,2,\n2,3,\n", "missing in every row"),
        ("class\nx\ny\n", "no column but the target"),
        ("a,class\n1,x\n1,y\n", "no column is left"),
        ("a,class\n" + "".join(f"{i % 5},{i / 7}\n" for i in range(50)), "regression"),
    ],
)
def test_data_that_cannot_be_learned_from(content, message, tmp_path):
    (tmp_path / "t.csv").write_text(content)
    out = tmp_path / "m.rboost"
    assert message in one_line("train", tmp_path / "t.csv", "-o", out)
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_paths_that_cannot_be_used(data, model, tmp_path):
    assert "No such file" in one_line("train", tmp_path / "none.csv")
    assert "folder" in one_line("train", tmp_path, "-o", tmp_path / "m")
    assert "no folder" in one_line("train", data, "-o", tmp_path / "none" / "m.rboost")
    assert "is a folder" in one_line("train", data, "-o", tmp_path)
    assert "already exists" in one_line("train", data, "-o", model)
    assert "folder" in one_line("predict", model, data, "-o", tmp_path)
    assert "folder" in one_line("predict", model, data, "-o", tmp_path / "none" / "p.csv")
    assert "which is an input" in one_line("predict", model, data, "-o", data)
    assert "No such file" in one_line("predict", tmp_path / "none.rboost", data)
    report = tmp_path / "none" / "page.html"
    assert "no folder" in one_line("evaluate", model, data, "--report", report)
    assert "folder" in one_line("info", tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read and write everything")
def test_paths_without_permission(data, tmp_path):
    data.chmod(0)
    assert "Permission denied" in one_line("train", data)
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    assert "cannot write" in one_line("train", data, "-o", closed / "m")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train"], "Missing argument"),
        (["learn"], "No such command"),
        (["train", "DATA", "--model", "forest"], "is not one of randomboost, rank"),
        (["train", "DATA", "--set", "n_estimators"], "is not name=value"),
        (["train", "DATA", "--set", "n_estimator=3"], "similar names: n_estimators"),
        (["train", "DATA", "--set", "n_estimators=no"], "must be an int"),
        (["train", "DATA", "--set", "n_estimators=2.5"], "must be an int"),
        (["train", "DATA", "--set", "loss=square"], "loss"),
        (["train", "DATA", "--set", "random_state=3"], "--seed"),
        (["train", "DATA", "--cv", "1"], "at least 2 folds"),
        (["train", "DATA", "--test-size", "1"], "below 1"),
        (["train", "DATA", "--test-size", "1.5"], "--test-size"),
        (["train", "DATA", "--seed", "x"], "--seed"),
        (["train", "DATA", "--format", "xls"], "is not one of csv"),
        (["train", "DATA", "--out", "-", "--json"], "cannot take the model and the JSON"),
        (["train", "DATA", "--out", "-", "--resume"], "--resume needs the file"),
        (["compare", "DATA", "--only", "randomboost,tree"], "'tree' is not one of"),
        (["compare", "DATA", "--only", ","], "names no model"),
        (["compare", "DATA", "--folds", "1"], "--folds"),
        (["export", "MODEL"], "--onnx, --c or --js"),
    ],
)
def test_wrong_usage(arguments, message, data, model, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    arguments = [{"DATA": data, "MODEL": model}.get(word, word) for word in arguments]
    assert message in run(*arguments, code=USAGE)


def test_options_name_columns_that_are_there(data, model):
    assert "no such column" in one_line("train", data, "--force", "-o", model, "--drop", "c")
    assert "no such column" in one_line("predict", model, data, "--copy", "c")
    assert "no column 'c'" in one_line("evaluate", model, data, "--target", "c")


def test_evaluation_needs_the_target(data, model, tmp_path):
    rows = [line.split(",") for line in data.read_text().splitlines()]
    target = files.describe(model)["notes"]["target"]
    place = rows[0].index(target)
    new = tmp_path / "new.csv"
    new.write_text("\n".join(",".join(row[:place] + row[place + 1 :]) for row in rows))
    message = one_line("evaluate", model, new)
    assert f"new.csv has no column {target!r}, the target in training" in message


def test_files_that_are_no_models(data, model, tmp_path):
    whole = model.read_bytes()
    rng = np.random.default_rng(0)
    for content in (b"", b"garbage" * 100, rng.bytes(5000), whole[:-9], whole[:40], whole + b"x"):
        (tmp_path / "bad.rboost").write_bytes(content)
        for command in (["info"], ["predict"], ["evaluate"], ["export"]):
            further = [data] if command[0] in ("predict", "evaluate") else []
            further += ["--onnx", tmp_path / "m.onnx"] if command == ["export"] else []
            one_line(*command, tmp_path / "bad.rboost", *further)


def test_standard_input_that_is_no_table(tmp_path):
    train = ["train", "-", "-o", tmp_path / "m.rboost"]
    assert "standard input is empty" in one_line(*train, stdin=b"")
    assert "binary data" in one_line(*train, stdin=b"\x00\x01\x02")
    assert not list(tmp_path.iterdir())


def test_a_full_disk_loses_nothing(data, model, tmp_path, monkeypatch):
    before = model.read_bytes()
    (tmp_path / "p.csv").write_text("old")

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "replace", full)
    train = ["train", data, "-o", model, "--force", "--set", "n_estimators=3", "-q"]
    assert "No space left on device" in one_line(*train)
    assert "No space left on device" in one_line("predict", model, data, "-o", tmp_path / "p.csv")
    assert model.read_bytes() == before
    assert (tmp_path / "p.csv").read_text() == "old"
    assert {path.name for path in tmp_path.iterdir()} == {"data.csv", "fitted.rboost", "p.csv"}


def test_checkpoints_of_other_runs_are_refused(data, model, tmp_path):
    out, checkpoint = tmp_path / "m.rboost", tmp_path / "m.rboost.checkpoint"
    checkpoint.write_bytes(model.read_bytes())
    train = ["train", data, "-o", out, "--set", "n_estimators=3"]
    assert "--resume continues from it, --force starts again" in one_line(*train)
    assert "belongs to another run (its model differs)" in one_line(*train, "--resume")
    checkpoint.write_bytes(b"garbage")
    assert "not a model file" in one_line(*train, "--resume")
    assert checkpoint.exists()
    result = CliRunner().invoke(app, [str(word) for word in [*train, "--force", "-q"]])
    assert result.exit_code == 0
    assert not checkpoint.exists()
    assert files.describe(out)["n_rounds"] == 3


def test_debug_shows_the_traceback(tmp_path):
    result = CliRunner().invoke(app, ["--debug", "info", str(tmp_path / "none")])
    assert isinstance(result.exception, FileNotFoundError)


def test_paper_has_its_own_usage():
    pytest.importorskip("randomboost.paper")
    assert CliRunner().invoke(app, ["paper", "--help"]).exit_code == 0
    assert CliRunner().invoke(app, ["paper", "--nonsense"]).exit_code == USAGE
