"""RandomBoost: the same bits for any threads and order of rows, and classes of any size."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from sklearn.base import clone
from sklearn.datasets import make_blobs

from randomboost import RandomBoostClassifier, files
from randomboost.ensembles.started_trees import apart
from randomboost.estimators import randomboost as estimator
from randomboost.runtime.parallel import ThreadTeam
from randomboost.trees import growth

SMALL = RandomBoostClassifier(10, n_projections=60, random_state=0)


def blobs(n_samples=240, n_classes=5, spread=5.0):
    return make_blobs(n_samples, 4, centers=n_classes, cluster_std=spread, random_state=0)


def weights_of(y):
    """Return weights whose sum depends on the order of summation."""
    return np.random.default_rng(1).random(len(y)) + 0.01


def file_of(model, path):
    """Return the bytes of a model's file, in which n_jobs stands as a parameter."""
    files.save(model.set_params(n_jobs=None), path)
    return path.read_bytes()


# -- the same bits -----------------------------------------------------------------------------


def plain(dtype=np.float64):
    X, y = blobs()
    return X.astype(dtype), y, None


def weighted():
    X, y = blobs()
    return X, y, weights_of(y)


def repeated():
    X, y = blobs()
    X, y = np.tile(X, (3, 1)), np.tile(y, 3)
    return X, y, weights_of(y)


def contradictory():
    X, y = blobs()
    X, y = np.tile(X, (2, 1)), np.concatenate([y, (y + 1) % 5])
    return X, y, weights_of(y)


def with_gaps():
    X, y = blobs()
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    return X, y, None


def as_csr():
    X, y = blobs()
    return sp.csr_array(np.where(np.abs(X) < 3, 0.0, X)), y, None


def as_table():
    X, y = blobs()
    table = pd.DataFrame(X, columns=list("abcd"))
    table["colour"] = np.random.default_rng(0).choice(["red", "green", None], len(y))
    return table, y, None


def many_classes():
    X, y = blobs(1500, 150, 1.0)
    return X, y, weights_of(y)


CASES = {
    "plain": (plain, {}),
    "float32": (lambda: plain(np.float32), {}),
    "weighted": (weighted, {}),
    "repeated": (repeated, {}),
    "contradictory": (contradictory, {}),
    "gaps": (with_gaps, {}),
    "csr": (as_csr, {}),
    "table": (as_table, {}),
    "many classes": (many_classes, {}),
    "one class a leaf": (many_classes, {"leaf_classes": 1}),
    "balanced": (weighted, {"class_weight": "balanced"}),
    "early": (weighted, {"early_stopping": True, "n_iter_no_change": 3}),
    "whole sample": (weighted, {"subsample": 1.0}),
    "no landmarks": (weighted, {"n_landmarks": 0}),
    "lda": (weighted, {"projection": "lda"}),
    "few bins": (weighted, {"max_bins": 5}),
}


@pytest.mark.parametrize("name", CASES)
def test_threads_and_the_order_of_rows_do_not_change_a_byte(name, tmp_path, monkeypatch):
    monkeypatch.setattr(growth, "_ALONE", 0)  # threads share even small trees
    run = ThreadTeam.run
    monkeypatch.setattr(ThreadTeam, "run", lambda team, work, n, grain=1: run(team, work, n, 1))
    make, settings = CASES[name]
    X, y, weight = make()
    rng = np.random.default_rng(2)
    found = set()
    for n_jobs in (1, 2, 3):
        for order in (np.arange(len(y)), rng.permutation(len(y))):
            rows = X.iloc[order] if isinstance(X, pd.DataFrame) else X[order]
            model = clone(SMALL).set_params(n_jobs=n_jobs, **settings)
            model.fit(rows, y[order], None if weight is None else weight[order])
            found.add(file_of(model, tmp_path / "model.rboost"))
    assert len(found) == 1
    other = clone(SMALL).set_params(random_state=1, **settings).fit(X, y, weight)
    assert file_of(other, tmp_path / "other.rboost") not in found


def test_a_warm_start_makes_the_file_of_one_fit(tmp_path):
    X, y, weight = many_classes()
    whole = clone(SMALL).set_params(warm_start=True).fit(X, y, weight)
    parts = clone(whole).set_params(n_estimators=1)
    for n in (1, 4, 10):
        parts.set_params(n_estimators=n).fit(X, y, weight)
    assert file_of(parts, tmp_path / "a") == file_of(whole, tmp_path / "b")


def test_a_loaded_model_goes_on_as_if_it_had_not_stopped(tmp_path):
    X, y, weight = many_classes()
    whole = clone(SMALL).fit(X, y, weight)
    part = clone(SMALL).set_params(n_estimators=4).fit(X, y, weight)
    part.save(tmp_path / "part.rboost")
    loaded = files.load(tmp_path / "part.rboost")
    loaded.set_params(n_estimators=10, warm_start=True).fit(X, y, weight)
    assert_array_equal(loaded.decision_function(X), whole.decision_function(X))


@pytest.mark.parametrize("form", ["rows", "gaps", "scaled"])
def test_a_warm_start_on_other_data_knows_its_scores(monkeypatch, form):
    """Bins of other data have other edges; the trees there are must be taken as they are."""
    X, y, _ = plain()
    first, others = X[::2], X[1::2].copy()
    if form == "gaps":
        others[::3, :2] = np.nan
    elif form == "scaled":
        others *= 0.3
    kept = []

    class Kept(estimator.SketchTrainer):
        def __init__(self, settings, data, start, team, *others):
            super().__init__(settings, data, start, team, *others)
            if start is not None:
                for number, member in enumerate(self._members):
                    known = start.member(number).scores(data.X, team)
                    kept.append((member.rows.scores.dense().copy(), known))

    monkeypatch.setattr(estimator, "SketchTrainer", Kept)
    model = clone(SMALL).set_params(warm_start=True, early_stopping=False, n_landmarks=0)
    model.fit(first, y[::2])
    model.set_params(n_estimators=12).fit(others, y[1::2])
    assert len(kept) == model.model_.ensemble.n_members > 1
    for found, known in kept:
        assert_array_equal(found, known)


# -- classes -----------------------------------------------------------------------------------


def agrees(model, X):
    """Check all forms of prediction against the decision function."""
    decision = model.decision_function(X)
    if len(model.classes_) == 2:
        assert decision.shape == (X.shape[0],)
        scores = np.stack([np.zeros_like(decision), decision], axis=1)
    else:
        scores = decision
    assert np.isfinite(scores).all()
    assert_array_equal(model.predict(X), model.classes_[scores.argmax(axis=1)])
    chances = model.predict_proba(X)
    scale = model.model_.probability_scale
    assert_allclose(chances, softmax(scale * scores, axis=1), rtol=1e-5, atol=1e-7)
    assert_allclose(chances.sum(axis=1), 1.0, rtol=1e-5)
    labels, top = model.predict_topk(X, 3)
    assert_array_equal(labels[:, 0], model.predict(X))
    columns = np.searchsorted(model.classes_, labels)
    assert_allclose(np.take_along_axis(chances, columns, axis=1), top, rtol=1e-5, atol=1e-7)
    assert_allclose(top, -np.sort(-chances, axis=1)[:, :3], rtol=1e-5, atol=1e-7)
    *_, last = model.staged_decision_function(X)
    assert_array_equal(last, decision)


@pytest.mark.parametrize("early_stopping", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3, 64, 65, 300])
def test_two_samples_a_class(n_classes, early_stopping):
    rng = np.random.default_rng(0)
    centres = 10 * rng.normal(size=(n_classes, 6))
    y = np.repeat(np.arange(n_classes), 2)
    X = centres[y] + 0.01 * rng.normal(size=(2 * n_classes, 6))
    model = RandomBoostClassifier(
        40, learning_rate=0.3, random_state=0, early_stopping=early_stopping
    ).fit(X, y)
    agrees(model, X)
    if not early_stopping:
        assert model.score(X, y) > 0.95


@pytest.mark.parametrize("n_classes", [2, 4, 100])
@pytest.mark.parametrize("form", ["leaf_classes", "n_sketches", "both", "default"])
def test_predictions_agree(n_classes, form):
    X, y = blobs(max(240, 4 * n_classes), n_classes, 3.0)
    few = {"leaf_classes": 1, "n_sketches": 1}
    settings = few if form == "both" else {form: few[form]} if form in few else {}
    model = clone(SMALL).set_params(**settings).fit(X, y)
    agrees(model, X)
    new = 5 * np.random.default_rng(0).normal(size=(300, 4))
    agrees(model, new)
    _, trees = apart(model.model_.ensemble)
    sizes = np.diff(trees.leaf_starts)
    assert sizes.max() <= settings.get("leaf_classes", 32)
    assert model.train_history_["loss"][-1] < model.train_history_["loss"][0]


def test_one_class_a_leaf_learns(wine):
    X, y = wine
    model = clone(SMALL).set_params(n_estimators=60, leaf_classes=1).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.9


@pytest.mark.parametrize("n_classes", [2, 4])
def test_no_more_sketches_than_classes(n_classes):
    X, y = blobs(240, n_classes)
    models = [clone(SMALL).set_params(n_sketches=n).fit(X, y) for n in (n_classes, 7, 10**6)]
    for model in models[1:]:
        assert_array_equal(model.decision_function(X), models[0].decision_function(X))


@pytest.mark.parametrize("n_classes", [3, 101])
def test_a_class_of_one_sample_is_learned(n_classes):
    X, y = blobs(10 * n_classes, n_classes - 1, 0.5)
    X, y = np.vstack([X, [[40.0, 40.0, -40.0, 40.0]]]), np.append(y, 999)
    model = RandomBoostClassifier(80, learning_rate=0.3, subsample=1.0, random_state=0)
    model.fit(X, y)
    agrees(model, X)
    assert model.predict(X[-1:]) == [999]


def test_a_class_that_the_training_part_lacks():
    """Early stopping may set the only sample of a class aside."""
    X, y = blobs(40, 3)
    for seed in range(8):
        labels = np.where(np.arange(40) == seed, 7, y)
        model = RandomBoostClassifier(
            6, early_stopping=True, validation_fraction=0.5, random_state=seed
        ).fit(X, labels)
        assert_array_equal(model.classes_, [0, 1, 2, 7])
        agrees(model, X)
        assert np.isfinite(model.train_history_["validation_loss"]).all()


def test_a_class_that_the_validation_part_lacks():
    X, y = blobs(240, 4)
    held_out = (np.arange(240) % 3 == 0) & (y != 2)
    model = clone(SMALL).set_params(n_estimators=30)
    model.fit(X[~held_out], y[~held_out], X_val=X[held_out], y_val=y[held_out])
    agrees(model, X)
    assert 2 in model.predict(X[~held_out])
    last = model.n_estimators_ - 1
    wrong = 1 - model.score(X[held_out], y[held_out])
    assert_allclose(model.train_history_["validation_error"][last], wrong)


def test_a_label_of_the_validation_part_only_is_refused():
    X, y = blobs(240, 4)
    model = clone(SMALL).fit(X, y)
    before = model.decision_function(X)
    with pytest.raises(ValueError, match=r"y_val has labels .*training data"):
        model.fit(X[y < 3], y[y < 3], X_val=X, y_val=y)
    assert_array_equal(model.decision_function(X), before)


@pytest.mark.parametrize("labels", [["no", "yes"], [True, False], [-1.0, 1.0], [7, 3]])
def test_two_classes_by_any_name(labels):
    X, y = blobs(240, 2)
    model = clone(SMALL).fit(X, np.array(labels)[y])
    agrees(model, X)
    assert model.score(X, np.array(labels)[y]) > 0.8


@pytest.mark.parametrize("scale", [1e-100, 1e-3, 1e100])
def test_the_scale_of_the_weights_does_not_matter(scale):
    X, y, weight = many_classes()
    one = clone(SMALL).fit(X, y, weight)
    other = clone(SMALL).fit(X, y, scale * weight)
    assert_allclose(one.model_.ensemble.prior, other.model_.ensemble.prior, rtol=1e-5)
    assert_allclose(one.train_history_["loss"], other.train_history_["loss"], rtol=0.01)


@pytest.mark.parametrize("projection", ["mixed", "axis", "gaussian"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_huge_and_tiny_values(projection, dtype):
    X, y = blobs(240, 3, 3.0)
    largest = 1e300 if dtype == np.float64 else 1e36
    X = (X / 30 * np.array([largest, 1 / largest, 1.0, 1e6])).astype(dtype)
    model = RandomBoostClassifier(20, projection=projection, random_state=0).fit(X, y)
    agrees(model, X)
    assert model.decision_function(X).dtype == dtype
    assert model.score(X, y) > 0.8


def test_constant_features_do_not_count():
    X, y = blobs(240, 3, 3.0)
    padded = np.hstack([X, np.full((240, 3), 2.5), np.full((240, 1), np.nan)])
    model = RandomBoostClassifier(10, projection="axis", random_state=0).fit(padded, y)
    assert_allclose(model.feature_importances_.sum(), 1.0)
    assert_array_equal(model.feature_importances_[4:], 0.0)
    assert model.score(padded, y) > 0.8
