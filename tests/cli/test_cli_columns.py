"""The command line on messy tables: decisions, what is saved with a model, and its words."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
pytest.importorskip("typer")

from typer.testing import CliRunner  # noqa: E402

from randomboost import files  # noqa: E402
from randomboost.cli import app  # noqa: E402
from randomboost.runtime import compiling  # noqa: E402

FEW = ["--set", "n_estimators=4", "--seed", "0"]


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, (result.exit_code, result.stdout, result.stderr)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def euros(value):
    return f"{value:,.2f} €".translate(str.maketrans(",.", ".,"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Sales in a German spreadsheet, a model of them, and further sales."""
    rng = np.random.default_rng(0)
    folder = tmp_path_factory.mktemp("sales")
    y = rng.integers(0, 2, 120)
    table = pd.DataFrame(
        {
            "nr": range(1, 121),
            "price": [euros(value) for value in 1500 + 900 * y + 300 * rng.normal(size=120)],
            "paid": np.where(rng.random(120) < 0.3 + 0.4 * y, "Y", "N"),
            "day": pd.date_range("2020-01-01", periods=120).strftime("%d.%m.%Y"),
            "size": rng.integers(1, 9, 120).astype(str),
            "leak": np.where(y == 1, "returned", "kept"),
            "class": np.where(y == 1, "good", "bad"),
        }
    )
    table.loc[::10, "size"] = "unknown"
    table.loc[3::40, "class"] = None
    table.to_csv(folder / "sales.csv", index=False, sep=";")
    run("train", folder / "sales.csv", *FEW, "-o", folder / "m.rboost", "-q")
    return folder


def test_columns_shows_every_column(folder):
    found = json.loads(run("train", folder / "sales.csv", "--columns", "--json").stdout)["columns"]
    lines = {line["column"]: line for line in found}
    assert list(lines) == ["nr", "price", "paid", "day", "size", "leak", "class"]
    assert lines["nr"]["read_as"] == "left out"  # although rows without a class are removed
    assert lines["price"]["decimal"] == ","
    for part in ("decimal comma 120", "unit € 120", "thousands separators"):
        assert part in lines["price"]["converted"]
    assert lines["size"]["missing"] == 12
    assert "predicts the target by itself" in lines["leak"]["note"]
    assert lines["class"] | {"examples": ""} == {
        "column": "class", "read_as": "target", "decimal": "", "unit": "", "order": "",
        "missing_words": "", "missing": 3, "converted": "", "examples": "", "note": "2 classes",
    }  # fmt: skip
    shown = run("train", folder / "sales.csv", "--columns").stdout
    assert all(name in shown for name in [*lines, "read as", "converted", "examples", "note"])
    assert [path.name for path in folder.iterdir() if path.suffix == ".rboost"] == ["m.rboost"]


def test_training_reports_what_was_converted_and_what_is_suspicious(folder, tmp_path):
    messages = run("train", folder / "sales.csv", *FEW, "-o", tmp_path / "m").stderr
    assert "cells are separated by ;" in messages
    assert "column 'size': missing: 'unknown' 12" in messages
    assert "column 'leak': predicts the target by itself" in messages
    assert "yes/no, as 1 and 0" in messages


def test_a_columns_file_overrides(folder, tmp_path):
    path = tmp_path / "columns.csv"
    run("train", folder / "sales.csv", *FEW, "-o", tmp_path / "a", "--save-columns", path, "-q")
    lines = list(csv.DictReader(path.open(encoding="utf-8")))
    for line in lines:
        if line["column"] == "leak":
            line["read_as"] = "left out"
        if line["column"] == "size":
            line["read_as"] = "category"
    with path.open("w", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)
    run("train", folder / "sales.csv", *FEW, "-o", tmp_path / "b", "--columns-file", path, "-q")
    notes = files.describe(tmp_path / "b")["notes"]
    assert {one["name"]: one["kind"] for one in notes["columns"]} == {
        "price": "number",
        "paid": "flag",
        "day": "date",
        "size": "category",
    }
    assert {"name": "leak", "reason": "--columns-file"} in notes["left_out"]
    result = run("compare", folder / "sales.csv", "--only", "logistic", "--columns-file", path)
    assert "leak (--columns-file)" in " ".join(result.stderr.split())


def test_a_class_that_looks_like_a_missing_value_is_reported(tmp_path):
    rows = [f"{i % 7},{'xy'[i % 2] if i % 10 else 'unknown'}" for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["a,class", *rows]))
    messages = run("train", tmp_path / "t.csv", *FEW, "-o", tmp_path / "m").stderr
    assert "the target has the class 'unknown' (6 rows)" in messages


def test_the_columns_file_names_the_target(folder, tmp_path):
    (tmp_path / "c.csv").write_text("column,read_as\npaid,target\n")
    arguments = ["train", folder / "sales.csv", "--columns-file", tmp_path / "c.csv", "--columns"]
    lines = json.loads(run(*arguments, "--json").stdout)["columns"]
    assert [line["column"] for line in lines if line["read_as"] == "target"] == ["paid"]
    assert "target other than 'class'" in run(*arguments, "-t", "class", code=1).stderr


def test_the_file_of_a_model_has_no_examples(folder):
    lines = json.loads(run("info", folder / "m.rboost", "--columns", "--json").stdout)["columns"]
    assert {line["column"]: line["read_as"] for line in lines}["price"] == "number"
    assert not any("examples" in line for line in lines)
    assert "left out" in run("info", folder / "m.rboost", "--columns").stdout


def test_predictions_read_a_file_as_the_training_did(folder, tmp_path):
    (tmp_path / "new.csv").write_text(
        "price;paid;day;size;leak\n"
        "2.400,00 €;Y;03.04.2020;5;kept\n"
        '"2400";yes;2020-04-03;05;kept\n'
        "2 400;on;3 Apr 2020;5,0;kept\n",
        encoding="utf-8",
    )
    result = run("predict", folder / "m.rboost", tmp_path / "new.csv", "--proba")
    rows = result.stdout.splitlines()[1:]
    assert len(rows) == 3
    assert len(set(rows)) == 1
    assert (
        "'day': in a form that the training data did not have: names of months 1" in result.stderr
    )
    quiet = run("predict", folder / "m.rboost", tmp_path / "new.csv", "--proba", "-q")
    assert quiet.stderr == ""


def test_a_column_of_another_notation_is_an_error(folder, tmp_path):
    (tmp_path / "new.csv").write_text("price;paid;day;size;leak\n2400.50;Y;03.04.2020;5;kept\n")
    result = run("predict", folder / "m.rboost", tmp_path / "new.csv", code=1)
    assert result.stdout.count("\n") <= 1
    assert "column 'price' of" in result.stderr
    assert "'2400.50'" in result.stderr


# -- output ------------------------------------------------------------------------------------


def test_predictions_as_json_lines(folder, tmp_path):
    arguments = ["predict", folder / "m.rboost", folder / "sales.csv", "--copy", "nr", "--proba"]
    lines = [json.loads(line) for line in run(*arguments, "--json").stdout.splitlines()]
    table = run(*arguments).stdout.splitlines()
    assert len(lines) == len(table) - 1 == 120
    for line, row in zip(lines, table[1:], strict=True):
        number, label, bad, good = row.split(",")
        assert line == {
            "nr": number,
            "prediction": label,
            "probabilities": {"bad": float(bad), "good": float(good)},
        }
    run(*arguments, "-o", tmp_path / "p.jsonl", "-q")
    assert [json.loads(line) for line in (tmp_path / "p.jsonl").open()] == lines


def test_a_dash_is_standard_output(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments = ["predict", folder / "m.rboost", folder / "sales.csv"]
    assert run(*arguments, "-o", "-").stdout == run(*arguments).stdout
    export = ["export", folder / "m.rboost", "--encoded", "-q"]
    for kind in ("--js", "--c"):
        run(*export, kind, tmp_path / "source")
        assert run(*export, kind, "-").stdout == (tmp_path / "source").read_text()
    (tmp_path / "source").unlink()
    both = run(*export, "--js", "-", "--c", "-", code=1).stderr
    assert "only one thing can be written to standard output" in both
    for command in ("evaluate", "compare", "train"):
        wrong = [command, *([folder / "m.rboost"] if command == "evaluate" else [])]
        report = run(*wrong, folder / "sales.csv", "--report", "-", code=1).stderr
        assert "pass the name of a file" in report
    assert not list(tmp_path.iterdir())


def test_classes_that_differ_in_case_are_pointed_out(tmp_path):
    rows = [f"{number % 7},{('yes', 'Yes', 'no')[number % 3]}" for number in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["a,y", *rows]))
    message = run("train", tmp_path / "t.csv", *FEW, "-t", "y", "-o", tmp_path / "m").stderr
    assert "differ only in upper and lower case: 'yes' and 'Yes'" in message.replace("\n", " ")


def test_quiet_prints_results_and_failures_only(folder, tmp_path):
    train = ["train", folder / "sales.csv", *FEW, "-q", "-o", tmp_path / "m"]
    result = run(*train)
    assert (result.stdout, result.stderr) == ("", "")
    held_out = run(*train, "--force", "--test-size", "0.3", "--cv", "2")
    assert held_out.stderr == ""
    assert [line.split(":")[0] for line in held_out.stdout.splitlines()] == [
        "held out",
        "cross-validation",
    ]
    evaluated = run("evaluate", folder / "m.rboost", folder / "sales.csv", "-q")
    assert evaluated.stderr == ""
    assert evaluated.stdout.startswith("error ")
    assert not compiling.announced
    failed = run("train", folder / "none.csv", "-q", "-o", tmp_path / "n", code=1)
    assert failed.stderr.startswith("randomboost: cannot read")


# -- words -------------------------------------------------------------------------------------


def test_help_has_no_types_of_flags():
    commands = ["", *(each.name for each in app.registered_commands)]
    for command in [*commands, "paper list", "paper run", "paper show", "paper archive"]:
        text = run(*command.split(), "--help").stdout
        assert "Usage" in text
        for unwanted in ("<bool>", "BOOLEAN", "<list", "-----"):
            assert unwanted not in text


def test_remedies_name_models_as_the_command_line_does(tmp_path):
    arguments = ["train", "sklearn:iris", "-m", "adaboost", "-o", tmp_path / "m", "-q"]
    message = run(*arguments, code=1).stderr
    assert "use ecc, mh, mo, multiboost or randomboost" in message
    assert "Classifier" not in message
    wrong = run("train", "sklearn:iris", "-m", "ecc", "--set", "loss=x", code=2).stderr
    assert "ecc has no parameter 'loss'" in " ".join(wrong.replace("│", " ").split())


def test_a_bug_is_reported_without_a_traceback(folder, tmp_path, monkeypatch):
    def broken(*_, **__):
        raise TypeError("of all things")

    monkeypatch.setattr("randomboost.cli.data.read_table", broken)
    result = run("train", folder / "sales.csv", "-o", tmp_path / "m", code=1)
    assert "please report it: TypeError: of all things" in result.stderr
    assert "Traceback" not in result.stderr


def completed(words):
    """Return what bash would offer after some words."""
    environment = os.environ | {
        "_RANDOMBOOST_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
    }
    code = "import sys; sys.argv[0] = 'randomboost'; from randomboost.cli import main; main()"
    found = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    return found.stdout.split()


def test_completion_in_a_shell():
    assert completed("randomboost ev") == ["evaluate"]
    assert completed("randomboost train --model ra") == [
        "randomboost",
        "rank",
        "rank-paper",
    ]


def test_the_names_that_are_completed_are_all():
    from randomboost.cli.options import model_names
    from randomboost.compare.entrants import MODELS

    assert model_names("") == list(MODELS)


# -- warmup ------------------------------------------------------------------------------------


def test_after_a_warmup_nothing_is_compiled(folder, tmp_path):
    from numba.core import event

    result = run("warmup", "--model", "randomboost", "--model", "ecc", "--json")
    found = json.loads(result.stdout)
    assert list(found["seconds"]) == ["randomboost", "ecc"]
    assert os.path.isdir(found["cache"])
    with event.install_recorder("numba:compile") as recorder:
        for name in ("randomboost", "ecc"):
            out = tmp_path / name
            run("train", folder / "sales.csv", *FEW, "-m", name, "-o", out, "-q")
            run("predict", out, folder / "sales.csv", "--proba", "-q")
    assert not recorder.buffer
