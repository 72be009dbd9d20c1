"""What a user of either classifier expects, on small data."""

from __future__ import annotations

import pickle
import time
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_info

from randomboost import (
    FitInterruptedWarning,
    RandomBoostClassifier,
    RBoostProjClassifier,
    RBoostRankClassifier,
)
from randomboost.losses import LogisticLoss
from randomboost.runtime import memory
from randomboost.runtime.parallel import OneBlasThread, ThreadTeam
from randomboost.training.column_generation import ColumnTrainer
from randomboost.training.ranking import RankTrainer
from randomboost.training.tree_boosting import SketchTrainer

MODELS = {
    "trees": RandomBoostClassifier(20, n_projections=60, random_state=0),
    "stumps": RBoostRankClassifier(20, n_projections=60, random_state=0),
    "proj": RBoostProjClassifier(20, n_projections=60, random_state=0),
}


@pytest.fixture(params=list(MODELS))
def model(request):
    """Return a small classifier of every kind."""
    return clone(MODELS[request.param])


@pytest.fixture(params=["trees", "stumps"])
def projecting(request):
    """Return a small classifier that projects the data."""
    return clone(MODELS[request.param])


def _expected_failures(estimator):
    if isinstance(estimator, RBoostRankClassifier) and estimator.correction == "total":
        reason = "pairs that can be separated leave the logarithm of the loss no minimum"
        return {"check_class_weight_classifiers": reason}
    return {}


def has_trees(model):
    return isinstance(model, RandomBoostClassifier)


def is_corrective(model):
    """Whether all weights are solved for after every round."""
    return isinstance(model, RBoostProjClassifier) or (
        isinstance(model, RBoostRankClassifier) and model.correction == "total"
    )


OTHER = {  # another setting of each of the models
    RandomBoostClassifier: {"projection": "gaussian"},
    RBoostRankClassifier: {"correction": "total"},
    RBoostProjClassifier: {"selection": "violation"},
}


@parametrize_with_checks(
    [
        RandomBoostClassifier(),
        RandomBoostClassifier(20, projection="gaussian", n_projections=60, leaf_classes=1),
        RBoostRankClassifier(50, n_projections=200),
        RBoostRankClassifier(20, n_projections=100, correction="total"),
        RBoostProjClassifier(),
        RBoostProjClassifier(30, n_projections=200, selection="violation"),
    ],
    expected_failed_checks=_expected_failures,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_learns(model, wine):
    X, y = wine
    model.set_params(n_estimators=60, n_projections=300)
    assert cross_val_score(model, X, y, cv=3).mean() > 0.9


def test_probabilities_follow_scores(model, noisy):
    X, y = noisy
    model.fit(X, y)
    scores, probabilities = model.decision_function(X), model.predict_proba(X)
    assert_allclose(probabilities.sum(axis=1), 1.0)
    assert_array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(X))
    assert_array_equal(np.argsort(scores, axis=1), np.argsort(probabilities, axis=1))


def test_probabilities_of_the_exponential_loss_at_its_minimum():
    """At the minimum of the expected loss softmax(s F) is the true distribution."""
    from scipy.optimize import minimize

    from randomboost.losses import ExponentialLoss, LogisticLoss

    truth = np.array([0.6, 0.3, 0.1])
    for loss in (ExponentialLoss(), LogisticLoss()):

        def expected(scores, loss=loss):
            margins = scores[:, None] - scores[None, :]
            losses = loss.value(margins)
            np.fill_diagonal(losses, 0.0)
            return truth @ losses.sum(axis=1)

        scores = minimize(expected, np.zeros(3), tol=1e-12).x
        weights = np.exp(loss.proba_scale * scores)
        assert_allclose(weights / weights.sum(), truth, atol=1e-4)


@pytest.mark.parametrize("other", [False, True])
def test_staged_forms_end_at_the_model(model, noisy, other):
    X, y = noisy
    if other:
        model.set_params(**OTHER[type(model)])
    model.fit(X, y)
    stages = list(model.staged_decision_function(X))
    assert len(stages) == model.n_estimators_
    assert_allclose(stages[-1], model.decision_function(X), rtol=1e-9, atol=1e-10)
    assert_array_equal(list(model.staged_predict(X))[-1], model.predict(X))
    assert_allclose(list(model.staged_predict_proba(X))[-1], model.predict_proba(X), rtol=1e-7)
    assert_allclose(list(model.staged_score(X, y))[-1], model.score(X, y))


@pytest.mark.parametrize(
    "estimator",
    [
        *MODELS.values(),
        clone(MODELS["trees"]).set_params(subsample=0.5, projection="sparse"),
        clone(MODELS["stumps"]).set_params(correction="total"),
        clone(MODELS["proj"]).set_params(selection="violation"),
    ],
)
@pytest.mark.parametrize("n_rounds", [1, 9])
def test_a_stage_is_the_model_of_that_many_rounds(noisy, estimator, n_rounds):
    X, y = noisy
    if is_corrective(estimator):  # every round solved as far as the last one
        estimator = clone(estimator).set_params(
            iterations_per_round=None, solver_options={"maxiter": 2000, "ftol": 0.0}
        )
    stages = clone(estimator).fit(X, y).staged_decision_function(X)
    stage = list(stages)[n_rounds - 1]
    shorter = clone(estimator).set_params(n_estimators=n_rounds).fit(X, y)
    assert_allclose(stage, shorter.decision_function(X), rtol=1e-3, atol=1e-3)


def test_training_scores_are_reproduced_bit_for_bit(projecting, noisy):
    X, y = noisy
    stages = list(projecting.fit(X, y).staged_decision_function(X))
    assert_array_equal(stages[-1], projecting.decision_function(X))


@pytest.mark.parametrize("setting", ["default", "bins", "discriminants"])
def test_same_model_for_any_number_of_threads(model, noisy, setting):
    X, y = noisy
    discriminants = {"projection": "lda"} if has_trees(model) else {"weak_learner": "wlda"}
    settings = {"default": {}, "bins": {"max_bins": 16}, "discriminants": discriminants}
    model.set_params(**settings[setting])
    one, three = (clone(model).set_params(n_jobs=n).fit(X, y) for n in (1, 3))
    assert_array_equal(one.weights_, three.weights_)
    assert_array_equal(one.decision_function(X), three.decision_function(X))


def test_same_seed_same_model_and_another_seed_another(model, noisy):
    X, y = noisy
    first, again = clone(model).fit(X, y), clone(model).fit(X, y)
    assert_array_equal(first.weights_, again.weights_)
    other = clone(model).set_params(random_state=1).fit(X, y)
    assert not np.array_equal(first.weights_, other.weights_)


def test_order_of_samples_does_not_matter(model, noisy):
    X, y = noisy
    shuffled = np.random.default_rng(0).permutation(len(y))
    first, second = clone(model).fit(X, y), clone(model).fit(X[shuffled], y[shuffled])
    assert_array_equal(first.weights_, second.weights_)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("stumps", {}),
        ("stumps", {"correction": "total", "iterations_per_round": None}),
        ("stumps", {"projections_per_round": 20}),
        ("trees", {}),
        ("trees", {"projection": "gaussian", "subsample": 1.0}),
        ("trees", {"leaf_classes": 1, "n_sketches": 1}),
    ],
)
def test_warm_start_goes_on_where_it_was(noisy, name, settings):
    X, y = noisy
    whole = clone(MODELS[name]).set_params(**settings).fit(X, y)
    parts = clone(whole).set_params(n_estimators=8, warm_start=True).fit(X, y)
    parts.set_params(n_estimators=20).fit(X, y)
    assert_array_equal(parts.weights_, whole.weights_)
    assert_array_equal(parts.decision_function(X), whole.decision_function(X))
    assert_array_equal(parts.train_history_["loss"], whole.train_history_["loss"])


def test_warm_start_of_proj(noisy):
    X, y = noisy
    whole = RBoostProjClassifier(
        20, n_projections=60, random_state=0, iterations_per_round=None
    ).fit(X, y)
    parts = clone(whole).set_params(n_estimators=8, warm_start=True).fit(X, y)
    parts.set_params(n_estimators=20).fit(X, y)
    assert parts.n_estimators_ == 20
    # the last solve of the first part goes a little further than a round's
    losses = parts.train_history_["loss"], whole.train_history_["loss"]
    assert_allclose(losses[0][:12], losses[1][:12], rtol=0.02)


def test_warm_start_refuses_what_does_not_fit(model, noisy):
    X, y = noisy
    model.set_params(warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="n_estimators=5 is below"):
        model.set_params(n_estimators=5).fit(X, y)
    with pytest.raises(ValueError, match="no sample of the fitted model's class"):
        model.set_params(n_estimators=30).fit(X, y + 1)
    with pytest.raises(ValueError, match="features"):
        model.fit(X[:, :2], y)


def test_early_stopping_keeps_the_best_round(model, noisy):
    X, y = noisy
    model.set_params(early_stopping=True, n_iter_no_change=5, n_estimators=200).fit(X, y)
    measure = "validation_loss" if has_trees(model) else "validation_error"
    errors = model.train_history_[measure]
    assert model.n_estimators_ == errors.argmin() + 1
    assert len(errors) == 200 or model.stopped_.startswith("no lower validation error")
    given = clone(model).fit(X[:100], y[:100], X_val=X[100:], y_val=y[100:])
    wrong = 1 - given.score(X[100:], y[100:])
    assert given.n_estimators_ == given.train_history_[measure].argmin() + 1
    assert_allclose(wrong, given.train_history_["validation_error"][given.n_estimators_ - 1])


def test_validation_data_without_early_stopping_is_only_noted(model, noisy):
    X, y = noisy
    model.set_params(early_stopping=False)
    model.fit(X[:100], y[:100], X_val=X[100:], y_val=y[100:])
    plain = clone(model).fit(X[:100], y[:100])
    assert_array_equal(model.weights_, plain.weights_)
    errors = [1 - s for s in model.staged_score(X[100:], y[100:])]
    assert_allclose(model.train_history_["validation_error"][:-1], errors[:-1])


@pytest.mark.parametrize("rounds_done", [0, 3])
def test_ctrl_c_leaves_the_rounds_done(model, noisy, monkeypatch, rounds_done):
    X, y = noisy
    model.set_params(early_stopping=False)
    trainer = {
        RandomBoostClassifier: SketchTrainer,
        RBoostRankClassifier: RankTrainer,
        RBoostProjClassifier: ColumnTrainer,
    }[type(model)]
    step = trainer.step
    calls = []

    def interrupted(self):
        calls.append(1)
        if len(calls) > rounds_done:
            raise KeyboardInterrupt
        return step(self)

    monkeypatch.setattr(trainer, "step", interrupted)
    if not rounds_done:
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
        assert not hasattr(model, "classes_")
        return
    with pytest.warns(FitInterruptedWarning, match="3 of 20 rounds"):
        model.fit(X, y)
    assert model.n_estimators_ == 3
    assert model.predict(X).shape == y.shape
    assert model.stopped_ == "interrupted"


def test_weights_of_the_validation_data(model, noisy):
    X, y = noisy
    train, held_out = slice(None, 100), slice(100, None)
    weight = np.arange(50) % 3.0
    model.set_params(early_stopping=False)
    given = {"X_val": X[held_out], "y_val": y[held_out]}
    weighted = clone(model).fit(X[train], y[train], **given, sample_weight_val=weight)
    errors = [1 - s for s in weighted.staged_score(X[held_out], y[held_out], weight)]
    assert_allclose(weighted.train_history_["validation_error"][:-1], errors[:-1])
    rows = 100 + np.repeat(np.arange(50), weight.astype(int))
    repeated = clone(model).fit(X[train], y[train], X_val=X[rows], y_val=y[rows])
    for name, values in repeated.train_history_.items():
        assert_allclose(weighted.train_history_[name], values, rtol=1e-6)
    for wrong, message in (
        (weight[1:], "sample_weight_val does not fit"),
        (-weight, "sample_weight_val does not fit"),
        (0 * weight, "sample_weight_val"),
    ):
        with pytest.raises(ValueError, match=message):
            clone(model).fit(X[train], y[train], **given, sample_weight_val=wrong)
    with pytest.raises(ValueError, match="sample_weight_val is for X_val and y_val"):
        clone(model).fit(X[train], y[train], sample_weight_val=weight)


def test_the_most_probable_classes(model, noisy):
    X, y = noisy
    names = np.array(["ash", "birch", "cedar"])
    chances = model.fit(X, names[y]).predict_proba(X)
    labels, found = model.predict_topk(X, 2)
    assert labels.shape == found.shape == (len(y), 2)
    assert_array_equal(labels[:, 0], model.predict(X))
    assert_allclose(found, -np.sort(-chances, axis=1)[:, :2], rtol=1e-6)
    columns = np.searchsorted(model.classes_, labels)
    assert_allclose(np.take_along_axis(chances, columns, axis=1), found, rtol=1e-6)
    assert model.predict_topk(X)[0].shape == (len(y), 3)
    for wrong in (0, -1, 1.5, True, "all"):
        with pytest.raises(ValueError, match="pass a whole number above 0"):
            model.predict_topk(X, wrong)


def test_margins(model, noisy):
    X, y = noisy
    model.fit(X, y)
    margins = model.margins(X, y)
    assert margins.min() >= -1
    assert margins.max() <= 1
    assert_array_equal(margins > 0, model.predict(X) == y)
    with pytest.raises(ValueError, match="labels that do not occur in the training data"):
        model.margins(X, y + 7)


def test_importances_find_the_features_that_matter(model):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 6))
    y = (X[:, 2] > 0).astype(int) + (X[:, 4] > 0)
    model.set_params(n_estimators=60, n_projections=400).fit(X, y)
    importances = model.feature_importances_
    assert_allclose(importances.sum(), 1.0)
    assert set(np.argsort(importances)[-2:]) == {2, 4}


# -- inputs ------------------------------------------------------------------------------------


def test_float32_stays_float32(model, noisy):
    X, y = noisy
    model.fit(X.astype(np.float32), y)
    assert model.decision_function(X.astype(np.float32)).dtype == np.float32
    assert model.predict_proba(X.astype(np.float32)).dtype == np.float32
    assert model.score(X, y) > 0.5


def test_data_frames(model, noisy):
    X, y = noisy
    names = ["a", "b", "c", "d"]
    frames = pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)
    plain = clone(model).fit(X, y).decision_function(X)
    for frame in frames:
        fitted = clone(model).fit(frame, y)
        assert_array_equal(fitted.feature_names_in_, names)
        assert_array_equal(fitted.decision_function(frame), plain)
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(frames[0][["b", "a", "c", "d"]])


@pytest.mark.parametrize("labels", [["x", "y", "z"], [10, -3, 7], [True, False, True]])
def test_labels_of_any_kind(model, noisy, labels):
    X, y = noisy
    model.fit(X, np.array(labels)[y])
    assert set(model.predict(X)) <= set(labels)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("trees", {}),
        ("trees", {"projection": "gaussian"}),
        ("stumps", {}),
        ("stumps", {"scale": False}),
        ("stumps", {"scale": False, "max_bins": 20}),
        ("stumps", {"scale": False, "weak_learner": "wlda"}),
    ],
)
def test_sparse_equals_dense(noisy, name, settings):
    X, y = noisy
    X = np.where(np.abs(X) < 4, 0.0, X)
    model = clone(MODELS[name]).set_params(**settings)
    sparse = clone(model).fit(sp.csr_array(X), y)
    if not settings.get("scale", True):  # scaled sparse data is not centred
        assert_allclose(sparse.decision_function(X), clone(model).fit(X, y).decision_function(X))
    assert_array_equal(sparse.decision_function(sp.csr_matrix(X)), sparse.decision_function(X))


def test_dense_model_takes_sparse_data(projecting, noisy):
    X, y = noisy
    expected = projecting.fit(X, y).decision_function(X)
    assert_array_equal(projecting.decision_function(sp.csr_array(X)), expected)


def test_proj_refuses_sparse(noisy):
    X, y = noisy
    with pytest.raises(TypeError, match="dense"):
        RBoostProjClassifier().fit(sp.csr_array(X), y)


def _constant_and_duplicate_columns(X, y):
    return np.hstack([X, X, np.ones((len(X), 2))]), y


def _class_with_one_sample(X, y):
    return X, np.where(np.arange(len(y)) == 5, 9, y)


def _contradictions(X, y):
    return np.vstack([X, X]), np.concatenate([y, (y + 1) % 3])


def _scales(X, y):
    return X * np.array([1e300, 1e-300, 1.0, 1e12]) / np.abs(X).max(), y


def _read_only(X, y):
    X = X.copy()
    X.flags.writeable = False
    return X, y


def _fortran(X, y):
    return np.asfortranarray(X), y


def _one_feature(X, y):
    return X[:, :1], y


@pytest.mark.parametrize(
    "change",
    [
        _constant_and_duplicate_columns,
        _class_with_one_sample,
        _contradictions,
        _scales,
        _read_only,
        _fortran,
        _one_feature,
    ],
)
@pytest.mark.parametrize("settings", [{}, {"early_stopping": True}, {"max_bins": 8}])
def test_unusual_data(model, noisy, change, settings):
    X, y = change(*noisy)
    model.set_params(**settings).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()


def test_scales_do_not_matter(projecting, noisy):
    X, y = noisy
    if has_trees(projecting):  # other numbers may draw other samples
        projecting.set_params(subsample=1.0, early_stopping=False)
    plain = clone(projecting).fit(X, y).predict(X)
    factors = np.array([1e250, 1e-250, 1e3, 1.0])
    assert_array_equal(clone(projecting).fit(X * factors, y).predict(X * factors), plain)


def test_memory_mapped(model, noisy, tmp_path):
    X, y = noisy
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert_array_equal(
        clone(model).fit(mapped, y).decision_function(mapped),
        clone(model).fit(X, y).decision_function(X),
    )


def test_all_features_constant(projecting):
    with pytest.raises(ValueError, match="no weak learner could be fitted"):
        projecting.fit(np.ones((6, 2)), [0, 1, 0, 1, 0, 1])


class RisingLoss:
    def value(self, margins):
        return margins

    def derivative(self, margins):
        return np.ones_like(margins)


# -- wrong input -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[np.inf, 1], [0, 1]], [0, 1], "infinity"),
        ([[0, 1], [1, 1]], [3, 3], "one class only"),
        ([[0, 1], [1, 1]], [0, 1, 1], "inconsistent"),
        ([[0, 1], [1, 1]], [0.5, 1.5], "label type"),
    ],
)
def test_wrong_data(model, X, y, message):
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)


def test_missing_values_are_for_trees(model):
    X, y = [[np.nan, 1], [0, 1]], [0, 1]
    if has_trees(model):
        assert_array_equal(model.fit(X, y).predict(X), y)
        return
    with pytest.raises(ValueError, match="NaN"):
        model.fit(X, y)
    with pytest.raises(ValueError, match="NaN"):
        model.fit([[1.0, 1], [0, 1]], y).predict(X)


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"n_estimators": 0}, "n_estimators"),
        ({"n_projections": 0}, "n_projections"),
        ({"weak_learner": "oak"}, "weak_learner"),
        ({"loss": "hinge"}, "loss"),
        ({"loss": object()}, "loss"),
        ({"nu": -1.0}, "nu"),
        ({"correction": "none"}, "correction"),
        ({"projection": "magic"}, "projection"),
        ({"max_bins": 1}, "max_bins"),
        ({"validation_fraction": 1.0}, "validation_fraction"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"solver_options": {"speed": 11}}, "solver_options"),
        ({"class_weight": "odd"}, "class_weight"),
        ({"class_weight": {0: -1.0}}, "class_weight"),
        ({"weak_learner": DecisionTreeClassifier}, "weak_learner"),
        ({"loss": LogisticLoss}, "loss"),
        ({"loss": RisingLoss()}, "loss"),
    ],
)
def test_wrong_parameters(model, noisy, settings, name):
    if name == "solver_options" and isinstance(model, RBoostRankClassifier):
        model.set_params(correction="total")  # stage-wise there is no solver
    with pytest.raises(ValueError, match=name):  # also where the model has no such parameter
        model.set_params(**settings).fit(*noisy)


def test_a_failed_fit_changes_nothing(model, noisy):
    X, y = noisy
    model.fit(X, y)
    before = pickle.dumps(model)
    for bad_X, bad_y in ((X[:, :2], y[:-1]), (X[:, :2] * np.nan, y), (X[:, :3], np.zeros(len(y)))):
        with pytest.raises(ValueError, match=r"."):
            model.fit(bad_X, bad_y)
    assert pickle.dumps(model) == before


def test_wrong_use(model, noisy):
    X, y = noisy
    with pytest.raises(NotFittedError):
        model.predict(X)
    with pytest.raises(ValueError, match="X_val and y_val"):
        model.fit(X, y, X_val=X)
    with pytest.raises(ValueError, match="y_val has labels"):
        model.fit(X, y, X_val=X, y_val=y + 1)
    with pytest.raises(ValueError, match="y_val has shape"):
        model.fit(X, y, X_val=X, y_val=y[1:])
    model.fit(X, y)
    with pytest.raises(ValueError, match="features"):
        model.predict(X[:, 1:])


# -- scikit-learn's tools ------------------------------------------------------------------------


def test_pipeline_grid_search_and_pickle(model, noisy):
    X, y = noisy
    pipeline = make_pipeline(MinMaxScaler(), model)
    step = type(model).__name__.lower()
    search = GridSearchCV(pipeline, {f"{step}__n_estimators": [3, 6]}, cv=2, n_jobs=2).fit(X, y)
    copy = pickle.loads(pickle.dumps(search))
    assert_array_equal(copy.decision_function(X), search.decision_function(X))


def test_class_weight_and_sample_weight_agree(model, noisy, monkeypatch):
    X, y = noisy
    monkeypatch.setattr(type(model), "_scales", lambda _: False)  # weights of classes do not count
    weighted = clone(model).fit(X, y, sample_weight=np.where(y == 1, 3.0, 1.0))
    by_class = clone(model).set_params(class_weight={1: 3.0}).fit(X, y)
    assert_allclose(weighted.decision_function(X), by_class.decision_function(X))


@pytest.mark.parametrize("n_classes", [10, 100])
def test_a_pickle_of_stumps_does_not_grow_with_the_classes(n_classes):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 5))
    y = np.arange(300) % n_classes
    model = RBoostRankClassifier(300, n_projections=20, random_state=0)
    model.fit(X, y).predict(X)
    assert model.n_estimators_ == 300
    assert len(pickle.dumps(model)) < 22_000


def test_progress_is_shown_only_when_asked(model, noisy, capfd, monkeypatch):
    X, y = noisy
    model.fit(X, y)
    assert capfd.readouterr() == ("", "")
    model.set_params(verbose=1, early_stopping=False).fit(X, y)
    assert "20/20" in capfd.readouterr().err
    import sys

    monkeypatch.setitem(sys.modules, "rich", None)
    model.fit(X, y)
    assert "round 20/20" in capfd.readouterr().err


def test_no_warnings(model, wine):
    X, y = wine
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, y).predict_proba(X)


def test_validation_part_minds_the_weights(model, noisy):
    X, y = noisy
    model.set_params(early_stopping=True, validation_fraction=0.3)
    doubled, wrong = np.vstack([X, X + 0.5]), np.concatenate([y, (y + 1) % 3])
    weights = np.repeat([1.0, 0.0], len(y))
    left_out = clone(model).fit(X, y)
    weighted = clone(model).fit(doubled, wrong, sample_weight=weights)
    assert_array_equal(weighted.weights_, left_out.weights_)
    shuffled = np.random.default_rng(1).permutation(len(y))
    assert_array_equal(clone(model).fit(X[shuffled], y[shuffled]).weights_, left_out.weights_)


def test_overlapping_fits_give_blas_its_threads_back():
    before = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
    first, second = OneBlasThread(), OneBlasThread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    second.__exit__(None, None, None)
    after = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
    assert after == before


def test_an_error_in_one_item_stops_the_others():
    done = []

    def work(item):
        time.sleep(0.001)
        done.append(item)
        if item == 0:
            raise KeyboardInterrupt

    with ThreadTeam(2) as team, pytest.raises(KeyboardInterrupt):
        team.for_each(work, 2000)
    assert len(done) < 2000


def test_too_little_memory_is_said_before_the_fit(projecting, noisy, monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 10_000)
    with pytest.raises(MemoryError, match="use fewer samples"):
        projecting.fit(*noisy)
