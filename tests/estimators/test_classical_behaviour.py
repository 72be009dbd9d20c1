"""What a user of the classical boosting classifiers expects, on small data."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from randomboost import (
    AdaBoostClassifier,
    AdaBoostECCClassifier,
    AdaBoostMHClassifier,
    AdaBoostMOClassifier,
    FitInterruptedWarning,
    MultiBoostClassifier,
)

ALL = [
    AdaBoostClassifier(15, random_state=0),
    AdaBoostECCClassifier(15, random_state=0),
    AdaBoostECCClassifier(15, partition="max-cut", random_state=0),
    AdaBoostMHClassifier(15, random_state=0),
    AdaBoostMHClassifier(15, votes="shared", random_state=0),
    AdaBoostMOClassifier(15, random_state=0),
    AdaBoostMOClassifier(15, code="random", code_size=5, decoding="hamming", random_state=0),
    MultiBoostClassifier(15, random_state=0),
    MultiBoostClassifier(15, loss="hinge", random_state=0),
    MultiBoostClassifier(15, loss="exponential", random_state=0),
]
WEAK_LEARNERS = [
    "real_stump",
    "wlda",
    DecisionTreeClassifier(max_depth=2),
    DecisionTreeRegressor(max_depth=2),
    Ridge(),
]


def short_name(value):
    """Return what sets an estimator apart as the name of a test."""
    settings = {"partition", "votes", "code", "loss"}
    parts = [str(v) for n, v in value.get_params().items() if n in settings]
    return "-".join([type(value).__name__, *parts])


@pytest.fixture(params=ALL, ids=short_name)
def booster(request):
    """Return a small classifier of every kind."""
    return clone(request.param)


@pytest.fixture
def task(booster, noisy):
    """Return three overlapping classes, or two where the classifier takes no more."""
    X, y = noisy
    if isinstance(booster, AdaBoostClassifier):
        return X[y < 2], y[y < 2]
    return X, y


@pytest.fixture
def exact(booster):
    """Return the classifier, and how close two ways to one model come.

    MultiBoost solves for all weights again after every round; it is given a problem with a
    minimum, and solves it as well after any round as after the last.
    """
    if not isinstance(booster, MultiBoostClassifier):
        return booster, 1e-8
    if booster.loss == "hinge":
        return booster.set_params(nu=0.01), 1e-8
    booster.set_params(
        nu=0.1 if booster.loss == "exponential" else 0.01,
        iterations_per_round=None,
        solver_options={"maxiter": 5000, "ftol": 0.0, "gtol": 1e-12},
    )
    return booster, 1e-3


def chance(y):
    return 1 - np.bincount(y).max() / len(y)


sklearn_version = tuple(map(int, sklearn.__version__.split(".")[:2]))


def expected_failures(estimator):
    """Name the check with class weights of 1000 and 0.0001, which asks for little but class 0."""
    check = "check_class_weight_classifiers"
    if isinstance(estimator, AdaBoostClassifier | AdaBoostMHClassifier | AdaBoostMOClassifier):
        # on two classes all three are AdaBoost, and scikit-learn's own gives class 0 as little
        failures = {check: "the first stump has to cut somewhere, and outweighs all others"}
        if isinstance(estimator, AdaBoostClassifier) and sklearn_version < (1, 7):
            reason = "before 1.7 this check takes the first sample's label for -1, then shuffles"
            failures["check_sample_weight_equivalence_on_dense_data"] = reason
        return failures
    if isinstance(estimator, MultiBoostClassifier) and estimator.loss == "exponential":
        return {check: "pairs that can be separated leave the logarithm of the loss no minimum"}
    return {}


@parametrize_with_checks(ALL, expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_learns(booster, task):
    X, y = task
    assert 1 - booster.fit(X, y).score(X, y) < 0.7 * chance(y)


@pytest.mark.parametrize("weak_learner", WEAK_LEARNERS, ids=str)
def test_every_weak_learner_learns(booster, task, weak_learner):
    X, y = task
    booster.set_params(weak_learner=weak_learner).fit(X, y)
    assert 1 - booster.score(X, y) < 0.7 * chance(y)
    assert_array_equal(list(booster.staged_predict(X))[-1], booster.predict(X))


# -- stages, threads, seeds ----------------------------------------------------------------------


def test_staged_forms_end_at_the_model(booster, task):
    X, y = task
    booster.fit(X, y)
    stages = list(booster.staged_decision_function(X))
    assert len(stages) == booster.n_estimators_
    assert_allclose(stages[-1], booster.decision_function(X), rtol=1e-9, atol=1e-10)
    assert_array_equal(list(booster.staged_predict(X))[-1], booster.predict(X))
    assert_allclose(list(booster.staged_predict_proba(X))[-1], booster.predict_proba(X), rtol=1e-7)
    assert_allclose(list(booster.staged_score(X, y))[-1], booster.score(X, y))


def test_stages_of_one_sample(booster, task):
    X, y = task
    booster.fit(X, y)
    one = np.concatenate(list(booster.staged_decision_function(X[:1])))
    all_of_them = [stage[0] for stage in booster.staged_decision_function(X)]
    assert_allclose(one, np.ravel(all_of_them).reshape(one.shape), atol=1e-12)


def test_probabilities_follow_scores(booster, task):
    X, y = task
    booster.fit(X, y)
    scores, probabilities = booster.decision_function(X), booster.predict_proba(X)
    assert probabilities.shape == (len(y), len(booster.classes_))
    assert_allclose(probabilities.sum(axis=1), 1.0)
    if scores.ndim == 1:
        scores = np.stack([-scores, scores], axis=1)
    chosen = probabilities[np.arange(len(y)), scores.argmax(axis=1)]
    assert_allclose(chosen, probabilities.max(axis=1))


@pytest.mark.parametrize("settings", [{}, {"max_bins": 16}, {"weak_learner": "wlda"}], ids=str)
def test_same_model_for_any_number_of_threads(booster, task, settings):
    X, y = task
    booster.set_params(**settings)
    one, three = (clone(booster).set_params(n_jobs=n).fit(X, y) for n in (1, 3))
    assert_array_equal(one.weights_, three.weights_)
    assert_array_equal(one.decision_function(X), three.decision_function(X))


def test_same_seed_same_model(booster, task):
    X, y = task
    first, again = clone(booster).fit(X, y), clone(booster).fit(X, y)
    assert_array_equal(first.weights_, again.weights_)
    assert_array_equal(first.decision_function(X), again.decision_function(X))


def test_warm_start_goes_on_where_it_was(exact, task):
    X, y = task
    booster, close = exact
    whole = clone(booster).fit(X, y)
    parts = clone(booster).set_params(n_estimators=6, warm_start=True).fit(X, y)
    assert parts.n_estimators_ == 6
    parts.set_params(n_estimators=15).fit(X, y)
    assert parts.n_estimators_ == whole.n_estimators_
    assert_allclose(parts.weights_, whole.weights_, atol=close)
    assert_allclose(parts.decision_function(X), whole.decision_function(X), atol=close)
    assert_allclose(parts.train_history_["loss"], whole.train_history_["loss"], rtol=1e-5)
    for name in ("partitions_", "code_"):
        if hasattr(whole, name):
            assert_array_equal(getattr(parts, name), getattr(whole, name))


def test_warm_start_refuses_what_does_not_fit(booster, task):
    X, y = task
    booster.set_params(warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="n_estimators=5 is below"):
        booster.set_params(n_estimators=5).fit(X, y)
    with pytest.raises(ValueError, match="no sample of the fitted model's class"):
        booster.set_params(n_estimators=30).fit(X, y + 1)


@pytest.mark.parametrize("votes", ["per_class", "shared"])
def test_warm_start_refuses_other_votes(noisy, votes):
    model = AdaBoostMHClassifier(5, votes=votes, warm_start=True).fit(*noisy)
    other = "shared" if votes == "per_class" else "per_class"
    with pytest.raises(ValueError, match="votes differs"):
        model.set_params(votes=other, n_estimators=8).fit(*noisy)


def test_as_many_bins_as_values_are_exact(booster, task):
    X, y = task
    exact = clone(booster).fit(X, y)
    binned = clone(booster).set_params(max_bins=len(X)).fit(X, y)
    assert_allclose(binned.decision_function(X), exact.decision_function(X), atol=1e-10)


def test_early_stopping_keeps_the_best_round(booster, task):
    X, y = task
    booster.set_params(early_stopping=True, n_iter_no_change=4, n_estimators=40).fit(X, y)
    errors = booster.train_history_["validation_error"]
    assert booster.n_estimators_ == errors.argmin() + 1
    assert len(list(booster.staged_predict(X))) == booster.n_estimators_
    given = clone(booster).fit(X[::2], y[::2], X_val=X[1::2], y_val=y[1::2])
    wrong = 1 - given.score(X[1::2], y[1::2])
    assert_allclose(wrong, given.train_history_["validation_error"].min())


def test_validation_error_is_that_of_the_stages(booster, task):
    X, y = task
    booster.fit(X[::2], y[::2], X_val=X[1::2], y_val=y[1::2])
    errors = [1 - s for s in booster.staged_score(X[1::2], y[1::2])]
    assert_allclose(booster.train_history_["validation_error"], errors)


@pytest.mark.parametrize("rounds_done", [0, 3])
def test_ctrl_c_leaves_the_rounds_done(exact, task, monkeypatch, rounds_done):
    X, y = task
    booster, close = exact
    make_trainer = type(booster)._make_trainer

    def with_ctrl_c(self, *args, **kwargs):
        trainer = make_trainer(self, *args, **kwargs)
        step, calls = trainer.step, []

        def interrupted():
            calls.append(1)
            if len(calls) > rounds_done:
                raise KeyboardInterrupt
            return step()

        trainer.step = interrupted
        return trainer

    monkeypatch.setattr(type(booster), "_make_trainer", with_ctrl_c)
    if not rounds_done:
        with pytest.raises(KeyboardInterrupt):
            booster.fit(X, y)
        assert not hasattr(booster, "classes_")
        return
    with pytest.warns(FitInterruptedWarning, match="3 of 15 rounds"):
        booster.fit(X, y)
    assert booster.n_estimators_ == 3
    assert booster.stopped_ == "interrupted"
    assert len(list(booster.staged_predict(X))) == 3
    assert booster.predict(X).shape == y.shape
    monkeypatch.undo()
    shorter = clone(booster).set_params(n_estimators=3).fit(X, y)
    assert_allclose(booster.decision_function(X), shorter.decision_function(X), atol=close)


def test_warm_start_of_a_finished_model_adds_nothing(booster):
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = 10.0 * y[:, None] + rng.standard_normal((40, 2))
    booster.set_params(warm_start=True).fit(X, y)
    if booster.n_estimators_ == 15:
        pytest.skip("the method goes on after a perfect weak learner")
    before = booster.weights_.copy()
    booster.set_params(n_estimators=20).fit(X, y)
    assert_array_equal(booster.weights_, before)


# -- inputs --------------------------------------------------------------------------------------


def test_a_weight_is_a_repetition(booster, task):
    X, y = task
    counts = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = clone(booster).fit(X, y, sample_weight=counts)
    repeated = clone(booster).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-8)


def test_only_the_ratios_of_weights_count(exact, task):
    X, y = task
    booster, close = exact
    twice = clone(booster).fit(X, y, sample_weight=np.full(len(y), 2.0))
    once = clone(booster).fit(X, y)
    assert_allclose(twice.decision_function(X), once.decision_function(X), atol=close)


def test_class_weight_and_sample_weight_agree(booster, task):
    X, y = task
    booster.set_params(scale=False)
    weighted = clone(booster).fit(X, y, sample_weight=np.where(y == 1, 3.0, 1.0))
    by_class = clone(booster).set_params(class_weight={1: 3.0}).fit(X, y)
    assert_allclose(weighted.decision_function(X), by_class.decision_function(X))


def test_labels_of_any_kind(booster, task):
    X, y = task
    labels = np.array(["ash", "birch", "cedar"])
    plain, named = clone(booster).fit(X, y), clone(booster).fit(X, labels[y])
    assert_array_equal(named.predict(X), labels[plain.predict(X)])
    assert_array_equal(named.classes_, labels[np.unique(y)])


def test_two_classes(booster, noisy):
    X, y = noisy
    X, y = X[y < 2], y[y < 2]
    booster.fit(X, y)
    assert booster.decision_function(X).shape == y.shape
    assert_array_equal(booster.decision_function(X) > 0, booster.predict(X) == 1)
    assert 1 - booster.score(X, y) < 0.7 * chance(y)


def test_float32_stays_float32(booster, task):
    X, y = task
    X = X.astype(np.float32)
    booster.fit(X, y)
    assert booster.decision_function(X).dtype == np.float32
    assert booster.predict_proba(X).dtype == np.float32
    assert all(stage.dtype == np.float32 for stage in booster.staged_decision_function(X))
    double = clone(booster).fit(X.astype(np.float64), y)
    assert np.mean(double.predict(X) == booster.predict(X)) > 0.9


def test_data_frames(booster, task):
    X, y = task
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    fitted = clone(booster).fit(frame, y)
    assert_array_equal(fitted.feature_names_in_, frame.columns)
    plain = clone(booster).fit(X, y)
    assert_array_equal(fitted.decision_function(frame), plain.decision_function(X))


def test_unusual_data(booster, task):
    X, y = task
    X = np.hstack([X, X, np.ones((len(X), 2))])
    X, y = np.vstack([X, X[:20]]), np.concatenate([y, (y[:20] + 1) % (y.max() + 1)])
    booster.fit(X, y)
    assert np.isfinite(booster.decision_function(X)).all()
    assert np.isfinite(booster.weights_).all()


@pytest.mark.filterwarnings("error")
def test_separable_data_gives_no_warnings(booster):
    rng = np.random.default_rng(0)
    y = np.arange(40) % (2 if isinstance(booster, AdaBoostClassifier) else 4)
    X = 10.0 * y[:, None] + rng.standard_normal((40, 2))
    booster.fit(X, y)
    assert np.isfinite(booster.weights_).all()
    assert np.isfinite(booster.predict_proba(X)).all()
    assert booster.score(X, y) > 0.7


# -- what a model tells --------------------------------------------------------------------------


def test_margins(booster, task):
    X, y = task
    margins = booster.fit(X, y).margins(X, y)
    assert margins.shape == y.shape
    assert margins.min() >= -1
    assert margins.max() <= 1
    right = booster.predict(X) == y
    assert right[margins > 1e-12].all()
    assert not right[margins < -1e-12].any()


@pytest.mark.parametrize("weak_learner", ["stump", *WEAK_LEARNERS], ids=str)
def test_margins_and_importances_of_every_weak_learner(booster, task, weak_learner):
    X, y = task
    booster.set_params(weak_learner=weak_learner).fit(X, y)
    assert np.abs(booster.margins(X, y)).max() <= 1
    importances = booster.feature_importances_
    assert importances.shape == (X.shape[1],)
    assert (importances >= 0).all()
    assert_allclose(importances.sum(), 1.0)


def test_importances_find_the_feature_that_matters(booster):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((150, 5))
    n_cuts = 1 if isinstance(booster, AdaBoostClassifier) else 2
    y = np.digitize(X[:, 2] + 0.3 * rng.standard_normal(150), [-0.5, 0.5][:n_cuts])
    assert booster.fit(X, y).feature_importances_.argmax() == 2


def test_pickle_and_clone(booster, task):
    X, y = task
    booster.fit(X, y)
    copy = pickle.loads(pickle.dumps(booster))
    assert_array_equal(copy.decision_function(X), booster.decision_function(X))
    assert_array_equal(copy.weights_, booster.weights_)
    assert not hasattr(clone(booster), "weights_")


# -- wrong input ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"n_estimators": 0}, "n_estimators"),
        ({"weak_learner": "oak"}, "weak_learner"),
        ({"weak_learner": KNeighborsClassifier()}, "sample_weight"),
        ({"max_bins": 1}, "max_bins"),
        ({"validation_fraction": 1.0}, "validation_fraction"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"class_weight": "odd"}, "class_weight"),
    ],
    ids=str,
)
def test_wrong_parameters(booster, task, settings, name):
    with pytest.raises(ValueError, match=name):
        booster.set_params(**settings).fit(*task)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (AdaBoostECCClassifier(partition="halves"), "partition"),
        (AdaBoostECCClassifier(partition=np.ones((2, 3))), "partition"),
        (AdaBoostECCClassifier(partition=np.array([[1, 0], [0, 1], [1, 1]])), "partition"),
        (AdaBoostECCClassifier(partition=np.ones((3, 2))), "partition"),
        (AdaBoostECCClassifier(partition=np.ones((3, 0))), "partition"),
        (AdaBoostMHClassifier(votes="secret"), "votes"),
        (AdaBoostMOClassifier(code="morse"), "code"),
        (AdaBoostMOClassifier(decoding="guess"), "decoding"),
        (AdaBoostMOClassifier(code="random", code_size=0), "code_size"),
        (MultiBoostClassifier(loss="square"), "loss"),
        (MultiBoostClassifier(nu=-1.0), "nu"),
    ],
    ids=str,
)
def test_wrong_parameters_of_one_method(noisy, wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong.fit(*noisy)


def test_wrong_data(booster, task):
    X, y = task
    with pytest.raises(NotFittedError):
        booster.predict(X)
    with pytest.raises(ValueError, match="NaN"):
        booster.fit(np.vstack([X[1:], np.full_like(X[:1], np.nan)]), y)
    with pytest.raises(ValueError, match="one class only"):
        booster.fit(X, np.zeros(len(y)))
    with pytest.raises(ValueError, match="no weak learner could be fitted"):
        booster.fit(np.ones_like(X), y)
    with pytest.raises(ValueError, match="labels that do not occur in the training data"):
        booster.fit(X, y).margins(X, y + 7)


def test_a_failed_fit_changes_nothing(booster, task):
    X, y = task
    booster.fit(X, y)
    before = pickle.dumps(booster)
    for bad_X, bad_y in ((X[:, :2], y[:-1]), (X[:, :2] * np.nan, y), (X[:, :3], np.zeros(len(y)))):
        with pytest.raises(ValueError, match=r"."):
            booster.fit(bad_X, bad_y)
    assert pickle.dumps(booster) == before
