"""Comparisons as a library: who takes part, folds, scores, cells."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, confusion_matrix, log_loss

from randomboost.compare.apart import Apart, ModelFailedError
from randomboost.compare.contest import Contest
from randomboost.compare.entrants import (
    MODELS,
    Entrant,
    UnknownModelError,
    choose_entrants,
    own_model,
)
from randomboost.compare.folded_data import FoldedData
from randomboost.compare.folds import hold_out, make_folds
from randomboost.compare.peers import PEERS, Peer
from randomboost.compare.scores import score

PAPER = {"rank-paper", "proj-paper"}


def keys_of(*arguments, **named):
    return [entrant.key for entrant in choose_entrants(*arguments, **named)]


def test_who_takes_part():
    keys = keys_of(None, 1000, 3)
    assert set(keys) & set(MODELS) == {"randomboost", "rank", "proj"}
    assert {"histgb", "forest", "logistic", "svm"} < set(keys)
    more = keys_of(None, 1000, 3, everything=True)
    assert more[:7] == ["randomboost", "rank", "proj", "ecc", "mh", "mo", "multiboost"]
    assert set(more) - set(keys) == {"ecc", "mh", "mo", "multiboost"}
    assert not PAPER & set(more)
    assert "adaboost" in keys_of(None, 1000, 2, everything=True)
    assert "svm" not in keys_of(None, 100_000, 3)
    assert keys_of(["svm", "rank-paper", "svm"], 100_000, 3) == ["svm", "rank-paper"]


def test_unknown_names_are_refused():
    with pytest.raises(UnknownModelError, match=r"'tree' is not one of randomboost.*svm"):
        choose_entrants(["rank", "tree"], 1000, 3)
    with pytest.raises(UnknownModelError, match="'svm' is not one of randomboost"):
        own_model("svm")


def test_libraries_that_are_not_installed(monkeypatch):
    monkeypatch.setitem(PEERS, "catboost", Peer("CatBoost", "no_such_package", lambda X: None))
    assert "catboost" not in keys_of(None, 1000, 3)
    with pytest.raises(ValueError, match="catboost is not installed"):
        choose_entrants(["catboost"], 1000, 3)


@pytest.mark.parametrize("name", MODELS)
def test_every_model_is_made_by_name(name):
    model = own_model(name).make()
    assert type(model).__name__ in (MODELS[name].class_name, "RBoostRankClassifier")
    assert (model.n_estimators == 1000) >= (name in PAPER)


def test_folds_are_stratified_where_they_can_be():
    y = np.repeat([0, 1], [20, 10])
    for _, test in make_folds(y, 5, 2, 0):
        assert np.bincount(y[test]).tolist() == [4, 2]
    rare = np.repeat([0, 1], [20, 3])
    assert len(make_folds(rare, 5, 1, 0)) == 5
    with pytest.raises(ValueError, match="fewer folds"):
        make_folds(np.repeat([0, 1], [20, 1]), 5, 1, 0)
    with pytest.raises(ValueError, match="at least 50 rows"):
        make_folds(y, 50, 1, 0)
    train, test = hold_out(y, 0.5, 0)
    assert np.bincount(y[test]).tolist() == [10, 5]
    assert sorted([*train, *test]) == list(range(30))


def test_scores_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    classes = ["a", "b", "c"]
    truth, predicted = rng.choice(classes, 50), rng.choice(classes, 50)
    probabilities = rng.dirichlet(np.ones(3), 50)
    found = score(truth, predicted, probabilities, classes)
    assert found.error == pytest.approx(np.mean(truth != predicted))
    assert found.log_loss == pytest.approx(log_loss(truth, probabilities))
    assert found.balanced_accuracy == pytest.approx(balanced_accuracy_score(truth, predicted))
    np.testing.assert_array_equal(found.confusion, confusion_matrix(truth, predicted))
    with_unknown = score([*truth, "d"], [*predicted, "a"], None, classes)
    assert (with_unknown.n_unknown, with_unknown.n_rows, with_unknown.log_loss) == (1, 51, None)
    assert with_unknown.error == pytest.approx((50 * found.error + 1) / 51)


class Majority(Entrant):
    """Predicts the most frequent class, or fails in a fold."""

    def __init__(self, key, fails=()):
        super().__init__(key, key.title())
        self._fails = iter([*fails, *[None] * 9])

    def make(self, X, seed):
        from sklearn.dummy import DummyClassifier

        error = next(self._fails)
        if error is not None:
            raise error
        return DummyClassifier(strategy="most_frequent", random_state=seed)


def contest_of(*entrants):
    pd = pytest.importorskip("pandas")
    y = np.repeat(["x", "y"], [20, 10])
    X = pd.DataFrame({"a": np.arange(30)})
    data = FoldedData.of_labels(X, y, make_folds(y, 5, 1, 0), 0)
    return Contest(entrants, len(data.folds), data)


def test_cells_of_a_contest():
    calls = []
    contest = contest_of(Majority("one"), Majority("two", [ValueError("no\ngood")]))
    assert contest.run(lambda e, n: calls.append((e.key, n)), lambda e, n: None)
    assert calls[:3] == [("one", 0), ("two", 0), ("one", 1)]
    assert contest.failed == {"two": "no good"}
    assert [cell.error for cell in contest.cells.values()] == pytest.approx([1 / 3] * 5)
    entrants, folds = contest.complete()
    assert ([entrant.key for entrant in entrants], folds) == (["one"], [0, 1, 2, 3, 4])
    assert contest.comparison() is None


def test_an_interrupted_contest_keeps_its_cells():
    contest = contest_of(Majority("one"), Majority("two", [None, None, KeyboardInterrupt()]))
    assert not contest.run(lambda *_: None, lambda *_: None)
    assert contest.complete()[1] == [0, 1]
    assert contest.comparison().errors.shape == (2, 2)
    results = contest.results()
    assert [result["model"] for result in results] == ["one", "two"]
    assert [len(result["errors"]) for result in results] == [2, 2]
    assert sum(result["p_value_against_best"] is None for result in results) >= 1


def mixed_data():
    """Return a table with a category and gaps, of two classes in three folds."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    y = np.repeat(["x", "y"], 30)
    X = pd.DataFrame(
        {
            "number": np.where(rng.random(60) < 0.1, np.nan, rng.normal(size=60) + (y == "x")),
            "kind": pd.Categorical(rng.choice(["u", "v"], 60)),
        }
    )
    return FoldedData.of_labels(X, y, make_folds(y, 3, 1, 0), 0)


def test_a_process_of_its_own_gives_the_same_cell():
    data = mixed_data()
    (entrant,) = choose_entrants(["forest"], 60, 2)
    expected = data(entrant, 1)
    with Apart(data) as apart:
        found = apart(entrant, 1)
    assert (found.error, found.log_loss) == (expected.error, expected.log_loss)
    assert found.fit_seconds > 0


def test_every_model_has_a_process_with_the_environment_of_its_users(monkeypatch):
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    (forest, logistic) = choose_entrants(["forest", "logistic"], 60, 2)
    with Apart(mixed_data()) as apart:
        apart(forest, 0)
        apart(logistic, 0)
        apart(forest, 1)
        processes = [process for process, _ in apart._processes.values()]
        assert len({process.pid for process in processes}) == 2
        for process in processes:
            path = Path(f"/proc/{process.pid}/environ")
            if path.exists():
                assert b"OMP_WAIT_POLICY" not in path.read_bytes()
    assert not any(process.is_alive() for process in processes)


def test_a_process_that_ends_fails_only_its_model():
    (forest,) = choose_entrants(["forest"], 60, 2)
    with Apart(mixed_data()) as apart:
        apart(forest, 0)
        (process, _) = apart._processes["forest"]
        process.kill()
        process.join()
        with pytest.raises(ModelFailedError, match="memory ran out"):
            apart(forest, 1)


def test_an_error_of_a_model_arrives():
    data = mixed_data()
    (svm,) = choose_entrants(["svm"], 60, 2)
    one_class = replace(data, y=np.zeros(60, dtype=np.int64))
    reason = "number of classes has to be greater than one"
    with Apart(one_class) as apart, pytest.raises(ModelFailedError, match=reason):
        apart(svm, 0)


def test_the_first_fit_of_another_library_takes_few_rows(monkeypatch):
    sizes = []

    class Counting:
        def get_params(self):
            return {"random_state": 0}

        def set_params(self, **named):
            return self

        def fit(self, X, y):
            sizes.append(len(X))
            raise ValueError("too few rows")

    monkeypatch.setitem(PEERS, "svm", Peer("SVM", "sklearn", lambda X: Counting()))
    mixed_data().warm_up(choose_entrants(["svm"], 60, 2)[0])
    assert sizes == [10]


def test_the_command_line_is_not_imported():
    code = "import sys, randomboost.compare.contest\n"
    code += "print({'typer', 'randomboost.cli'} & {*sys.modules})"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "set()"
