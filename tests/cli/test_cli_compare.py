"""The command line: comparisons on the same folds."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
pytest.importorskip("typer")

from typer.testing import CliRunner  # noqa: E402

from randomboost.cli import app  # noqa: E402
from randomboost.cli import compare as compare_module  # noqa: E402
from randomboost.cli.data import read_training_table  # noqa: E402
from randomboost.compare.folds import make_folds  # noqa: E402
from randomboost.compare.peers import PEERS, Peer  # noqa: E402
from randomboost.preprocessing.categories import TablePreparation  # noqa: E402


class HereInstead:
    """Measures in this process, where models can be replaced."""

    def __init__(self, data):
        self._data = data

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def __call__(self, entrant, number):
        return self._data(entrant, number)


@pytest.fixture
def one_process(monkeypatch):
    monkeypatch.setattr(compare_module, "Apart", HereInstead)


def run(*arguments, code=0):
    result = CliRunner().invoke(app, ["compare", *(str(argument) for argument in arguments)])
    assert result.exit_code == code, (result.exit_code, result.stdout, result.stderr)
    return result


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """A table with categories, gaps, and names that some libraries refuse."""
    rng = np.random.default_rng(0)
    n = 150
    y = rng.choice(["p", "q", "r"], n)
    table = pd.DataFrame(
        {
            "size [cm], {a}": rng.normal(size=n) + 2 * (y == "p"),
            "kind": np.where(rng.random(n) < 0.7, np.where(y == "q", "u", "v"), None),
            "gaps": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            "class": y,
        }
    )
    path = tmp_path_factory.mktemp("data") / "mixed.csv"
    table.to_csv(path, index=False)
    return path


def test_every_library_takes_part_with_categories_and_gaps(mixed, monkeypatch, one_process):
    from randomboost.compare import peers

    for name in ("lightgbm", "xgboost", "catboost", "hist_gradient_boosting"):
        make = getattr(peers, name)
        monkeypatch.setattr(peers, name, lambda rounds=None, make=make: make(10))
    others = [key for key, peer in PEERS.items() if peer.installed]
    found = json.loads(run(mixed, "--only", ",".join(others), "--folds", 2, "--json").stdout)
    assert found["failed"] == {}
    assert [entry["model"] for entry in found["models"]] == others
    for entry in found["models"]:
        assert len(entry["errors"]) == 2
        assert entry["error"] < 0.5
        assert min(entry["bytes"]) > 100


def test_errors_are_those_of_a_cross_validation_by_hand(mixed):
    found = json.loads(run(mixed, "--only", "forest", "--folds", 3, "--seed", 4, "--json").stdout)
    table = read_training_table(str(mixed), None)
    labels = np.unique(table.y, return_inverse=True)[1]
    errors = []
    for train, test in make_folds(labels, 3, 1, 4):
        model = make_pipeline(TablePreparation(), RandomForestClassifier(random_state=4))
        model.fit(table.X.iloc[train], labels[train])
        errors.append(1 - model.score(table.X.iloc[test], labels[test]))
    np.testing.assert_allclose(found["models"][0]["errors"], errors)


def test_the_table_is_sorted_and_names_the_test(mixed, one_process):
    shown = run(mixed, "--only", "logistic,randomboost,ecc", "--folds", 3).stdout
    lines = shown.splitlines()[1:4]
    errors = [float(line.split()[1]) for line in lines]
    assert errors == sorted(errors)
    assert {line.split()[0] for line in lines} == {
        "LogisticRegression",
        "RandomBoost",
        "AdaBoost.ECC",
    }
    assert "corrected resampled t-test" in " ".join(shown.split())


def test_repeats_give_more_folds(mixed, one_process):
    found = json.loads(
        run(mixed, "--only", "logistic,svm", "--folds", 2, "--repeats", 3, "--json").stdout
    )
    assert found["folds"] == 6
    assert found["models"][1]["log_losses"] == [None] * 6
    p_values = [entry["p_value_against_best"] for entry in found["models"]]
    assert sorted(value is None for value in p_values) == [False, True]


class Troubled(ClassifierMixin, BaseEstimator):
    """Raises a given error at a given fit."""

    fits = 0

    def __init__(self, error=None, at=1, random_state=None):
        self.error = error
        self.at = at
        self.random_state = random_state

    def fit(self, X, y):
        Troubled.fits += 1
        if Troubled.fits == self.at:
            raise self.error
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.zeros(len(X), dtype=int)


@pytest.fixture
def troubled(monkeypatch, one_process):
    def enter(error, at):
        Troubled.fits = 0
        make = lambda X: Troubled(error, at)  # noqa: E731
        monkeypatch.setitem(PEERS, "svm", Peer("Troubled", "sklearn", make))

    return enter


def test_a_model_that_fails_does_not_stop_the_others(mixed, troubled):
    troubled(ValueError("no\ngood"), 1)
    result = run(mixed, "--only", "svm,logistic", "--folds", 2, "--json")
    found = json.loads(result.stdout)
    assert found["failed"] == {"svm": "no good"}
    assert [entry["model"] for entry in found["models"]] == ["logistic"]
    assert "svm failed: no good" in result.stderr


def test_ctrl_c_shows_what_is_done(mixed, troubled):
    troubled(KeyboardInterrupt(), 3)
    result = run(mixed, "--only", "logistic,svm", "--folds", 4, "--json", code=130)
    assert "2 folds are complete" in result.stderr
    found = json.loads(result.stdout)
    assert [len(entry["errors"]) for entry in found["models"]] == [2, 2]
    troubled(KeyboardInterrupt(), 1)
    result = run(mixed, "--only", "logistic,svm", "--folds", 4, code=130)
    assert "LogisticRegression" in result.stdout
    assert "Troubled" not in result.stdout
    troubled(KeyboardInterrupt(), 1)
    assert "nothing was measured" in run(mixed, "--only", "svm", code=130).stderr


def test_the_cost_comes_first(mixed, monkeypatch, one_process):
    monkeypatch.setattr(compare_module, "cpu_count", lambda: 0)  # so that any load is too much
    result = run(mixed, "--only", "logistic,forest", "--folds", 3)
    lines = result.stderr.splitlines()
    (cost,) = [place for place, line in enumerate(lines) if "6 fits, one after the other" in line]
    (busy,) = [place for place, line in enumerate(lines) if line.startswith("Other processes are")]
    (rest,) = [place for place, line in enumerate(lines) if "the other 2 will take about" in line]
    (first,) = [place for place, line in enumerate(lines) if line.startswith("fold 1 of 3, Random")]
    assert cost < busy < first < rest < len(lines) - 3


def test_all_and_only_exclude_each_other(mixed):
    assert "cannot be combined with --only" in " ".join(
        run(mixed, "--all", "--only", "forest", code=2).stderr.split()
    )


def test_report(mixed, tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("jinja2")
    page = tmp_path / "new folder" / "page.html"
    run(mixed, "--only", "logistic,forest", "--folds", 2, "--report", page)
    text = page.read_text()
    assert "LogisticRegression" in text
    assert "RandomForest" in text
    assert "a process each" in text
    assert "With 2 folds only large differences are significant" in text


def test_what_is_not_installed_is_named(mixed, monkeypatch):
    monkeypatch.setitem(PEERS, "catboost", Peer("CatBoost", "no_such_package", lambda X: None))
    assert "catboost is not installed" in run(mixed, "--only", "catboost", code=1).stderr


def group_ends(number, patience=20.0):
    """Return whether a group of processes ends; Python's resource tracker takes a moment."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        try:
            os.killpg(number, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT to a group of processes")
def test_ctrl_c_reaches_all_processes_and_shows_what_is_done():
    command = [sys.executable, "-m", "randomboost", "compare", "sklearn:iris", "--json"]
    command += ["--only", "logistic,forest", "--folds", "50", "--repeats", "20"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, start_new_session=True, **pipes) as process:
        for line in process.stderr:
            if line.startswith("fold 3 of 1000, Logistic"):
                break
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        printed, errors = process.communicate(timeout=120)
    assert process.returncode == 130, errors
    assert "folds are complete" in errors
    assert "Traceback" not in errors
    found = json.loads(printed)
    assert [entry["model"] for entry in found["models"]] == ["logistic", "forest"]
    assert 2 <= found["folds"] < 1000
    assert group_ends(process.pid), "a process of the comparison is left"
