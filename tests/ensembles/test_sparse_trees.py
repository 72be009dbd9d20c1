"""Trees with sparse leaves: prediction against plain code, and the rounds that make them."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax

from randomboost.ensembles import sparse_trees
from randomboost.runtime.parallel import ThreadTeam
from randomboost.training.loop import TrainingData
from randomboost.training.tree_boosting import SketchTrainer
from randomboost.training.tree_settings import SketchSettings

ONE, THREE = ThreadTeam(1), ThreadTeam(3)
SETTINGS = SketchSettings(
    max_leaves=12, n_sketches=3, leaf_classes=5, max_bins=32, seed=3, n_projections=20
)


def made_data(n_classes, m=400, d=6, seed=0):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(n_classes, d))
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, m - n_classes)])
    return centres[y] + 0.4 * rng.normal(size=(m, d)), y


def made_trainer(n_classes, settings=SETTINGS, team=ONE, weight=None, start=None, **validation):
    X, y = made_data(n_classes)
    weight = np.ones(len(y)) if weight is None else weight
    data = TrainingData(X, y, n_classes, weight, **validation)
    return SketchTrainer(settings, data, start, team)


def stepped(n_classes, rounds=8, **rest):
    """A trainer after some rounds."""
    trainer = made_trainer(n_classes, **rest)
    for _ in range(rounds):
        assert isinstance(trainer.step(), dict)
    return trainer


def fitted(n_classes, rounds=8, **rest):
    """The ensemble of some rounds."""
    return stepped(n_classes, rounds, **rest).ensemble(rounds)


def plain_scores(ensemble, X):
    """Scores by walking every row through every tree."""
    out = np.repeat(ensemble.prior[None], len(X), axis=0)
    rows = ensemble.directions.rows(np.arange(len(ensemble.directions))).toarray()
    mixed = (rows != 0).sum(axis=1) != 1
    clean = np.nan_to_num(X, nan=0.0)
    values = np.where(mixed, clean @ rows.T, 0.0)
    for v in np.flatnonzero(~mixed):
        feature = np.flatnonzero(rows[v])[0]
        values[:, v] = X[:, feature] * rows[v, feature]
    for tree in ensemble.trees():
        numbers = np.cumsum(tree.columns < 0) - 1
        for i in range(len(X)):
            node = 0
            while tree.columns[node] >= 0:
                above = values[i, tree.columns[node]] > tree.thresholds[node]
                node = tree.left[node] + int(above)
            begin, end = tree.leaves.starts[numbers[node] :][:2]
            out[i, tree.leaves.classes[begin:end]] += tree.leaves.values[begin:end]
    return out.T


@pytest.mark.parametrize("n_classes", [2, 7, 100])
def test_scores_are_those_of_plain_code(n_classes):
    ensemble = fitted(n_classes)
    X, _ = made_data(n_classes, seed=1)
    assert_allclose(ensemble.scores(X, ONE), plain_scores(ensemble, X), atol=1e-5)


@pytest.mark.parametrize("n_classes", [3, 100])
def test_missing_values_go_left(n_classes):
    ensemble = fitted(n_classes)
    X, _ = made_data(n_classes, seed=1)
    X[np.random.default_rng(0).random(X.shape) < 0.3] = np.nan
    assert_allclose(ensemble.scores(X, ONE), plain_scores(ensemble, X), atol=1e-5)


@pytest.mark.parametrize("n_classes", [2, 7, 100])
@pytest.mark.parametrize("n", [1, 3, 1000])
@pytest.mark.parametrize("scale", [0.4, 1.0, 2.5])
def test_best_classes_are_those_of_dense_scores(n_classes, n, scale):
    ensemble = fitted(n_classes)
    X, _ = made_data(n_classes, m=600, seed=1)
    scores = ensemble.scores(X, ONE)
    labels, chances = ensemble.top(X, n, scale, THREE)
    order = np.argsort(-scores.T, axis=1, kind="stable")[:, :n]
    assert_array_equal(labels, order)
    expected = softmax(scale * scores.T.astype(np.float64), axis=1)
    assert_allclose(chances, np.take_along_axis(expected, order, axis=1), rtol=1e-5)


@pytest.mark.parametrize("n_classes", [2, 7, 100])
def test_best_class_is_that_of_the_dense_scores(n_classes):
    ensemble = fitted(n_classes)
    X, _ = made_data(n_classes, m=600, seed=1)
    assert_array_equal(ensemble.best(X, THREE), ensemble.scores(X, ONE).argmax(axis=0))


def touched_by_plain_code(ensemble, X):
    """Whether a leaf of the row has the class, (n_samples, n_classes)."""
    out = np.zeros((len(X), ensemble.n_classes), dtype=bool)
    for leaves, tree in zip(ensemble.leaves_by_tree(X, ONE), ensemble.trees(), strict=True):
        for i, leaf in enumerate(leaves):
            begin, end = tree.leaves.starts[leaf : leaf + 2]
            out[i, tree.leaves.classes[begin:end]] = True
    return out


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [0.4, 1.0, 2.5])
@pytest.mark.parametrize("n_classes", [2, 7, 100])
def test_touched_probabilities_are_those_of_dense_scores(monkeypatch, n_classes, scale, dtype):
    monkeypatch.setattr(sparse_trees, "_WORTH", 0)
    ensemble = fitted(n_classes)
    X, _ = made_data(n_classes, m=600, seed=1)
    found = ensemble.touched_probabilities(X, scale, dtype, THREE)
    assert found.shape == (600, n_classes)
    assert found.dtype == dtype
    assert found.has_canonical_format
    touched = touched_by_plain_code(ensemble, X)
    assert n_classes < 100 or touched.mean() < 0.5  # the case has untouched classes
    assert_array_equal(found.indptr, np.concatenate([[0], np.cumsum(touched.sum(axis=1))]))
    assert_array_equal(found.indices, np.nonzero(touched)[1])
    expected = softmax(scale * ensemble.scores(X, ONE).T.astype(np.float64), axis=1)
    assert_allclose(found.data, expected[touched], rtol=1e-5, atol=1e-6)
    sums = found.sum(axis=1)
    assert (sums <= 1 + 1e-6).all()
    shares = np.exp(scale * ensemble.prior.astype(np.float64))
    others = np.where(touched, 0.0, shares)
    lacking = np.where(touched, 0.0, expected)
    some = ~touched.all(axis=1)
    others, lacking = others[some], lacking[some]
    spread = (1 - sums[some])[:, None] * others / others.sum(axis=1, keepdims=True)
    assert_allclose(spread, lacking, atol=2e-6)


def test_a_row_does_not_depend_on_the_rows_before_it():
    ensemble = fitted(100)
    X, _ = made_data(100, m=600, seed=1)
    labels, chances = ensemble.top(X, 3, 1.0, ONE)
    whole = ensemble.touched_probabilities(X, 1.0, np.float32, ONE).toarray()
    for i in (0, 1, 255, 256, 599):
        alone = X[i : i + 1]
        one = ensemble.top(alone, 3, 1.0, ONE)
        assert_array_equal(one[0][0], labels[i])
        assert_array_equal(one[1][0], chances[i])
        row = ensemble.touched_probabilities(alone, 1.0, np.float32, ONE)
        assert_array_equal(row.toarray()[0], whole[i])


def test_threads_batches_and_stages_give_the_same_scores(monkeypatch):
    monkeypatch.setattr(sparse_trees, "_WORTH", 0)
    ensemble = fitted(80)
    X, _ = made_data(80, m=700, seed=1)
    scores = ensemble.scores(X, ONE)
    assert_array_equal(ensemble.scores(X, THREE), scores)
    assert_array_equal(ensemble.scores(X[3:4], ONE), scores[:, 3:4])
    stages = list(ensemble.staged_scores(X, ONE))
    assert_array_equal(stages[-1], scores)
    assert_array_equal(stages[2], stepped(80).ensemble(3).scores(X, ONE))
    assert_array_equal(ensemble.scores(sp.csr_array(X), ONE).argmax(axis=0), scores.argmax(axis=0))


def test_pickle_and_parts():
    ensemble = fitted(80)
    X, _ = made_data(80, seed=1)
    again = pickle.loads(pickle.dumps(ensemble))
    assert_array_equal(again.scores(X, ONE), ensemble.scores(X, ONE))
    assert ensemble.n_rounds == len(ensemble.trees()) == len(ensemble.weights) == 8
    assert ensemble.n_classes == 80
    assert ensemble.steps.dtype == np.int16
    assert (ensemble.leaf_starts[1:] - ensemble.leaf_starts[:-1] <= 5).all()


def test_largest_margin_bounds_all_margins():
    ensemble = fitted(30)
    X, _ = made_data(30, seed=1)
    assert np.ptp(ensemble.scores(X, ONE), axis=0).max() <= ensemble.largest_margin()


def test_importances_tell_signal_from_noise():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4))
    y = (X[:, 2] > 0).astype(np.int64) + (X[:, 2] > 1)
    settings = replace(SETTINGS, max_features=1.0, projection="axis")
    trainer = SketchTrainer(settings, TrainingData(X, y, 3, np.ones(500)), None, ONE)
    for _ in range(5):
        trainer.step()
    importances = trainer.ensemble(5).importances(4)
    assert_allclose(importances.sum(), 1.0)
    assert importances[2] > 0.9


@pytest.mark.parametrize("n_classes", [3, 100])
def test_training_loss_falls_and_is_that_of_the_scores(n_classes):
    X, y = made_data(n_classes)
    trainer = made_trainer(n_classes)
    losses = [trainer.step()["loss"] for _ in range(25)]
    assert losses[-1] < 0.9 * losses[0]
    before = trainer.ensemble(24).scores(X, ONE).astype(np.float64)
    chances = softmax(before, axis=0)[y, np.arange(len(y))]
    assert_allclose(losses[-1], -np.log(chances).mean(), rtol=1e-4)


@pytest.mark.parametrize("n_classes", [3, 100])
def test_validation_part(n_classes):
    X_val, y_val = made_data(n_classes, m=150, seed=2)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, 150)
    trainer = stepped(n_classes, X_val=X_val, y_val=y_val, val_weight=weight)
    scores = trainer.ensemble(8).scores(X_val, ONE).astype(np.float64)
    assert_array_equal(trainer.validation_labels(), scores.argmax(axis=0))
    chances = softmax(scores, axis=0)[y_val, np.arange(150)]
    assert_allclose(
        trainer.validation_loss(), np.average(-np.log(chances), weights=weight), rtol=1e-4
    )


def same(one, other):
    for name in ("columns", "thresholds", "left", "leaf_starts", "classes", "steps", "units"):
        assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize("n_classes", [3, 100])
def test_threads_do_not_change_a_model(n_classes):
    same(fitted(n_classes), fitted(n_classes, team=THREE))


@pytest.mark.parametrize("n_classes", [3, 100])
def test_going_on_is_as_if_it_had_not_stopped(n_classes):
    whole = fitted(n_classes, rounds=9)
    first = fitted(n_classes, rounds=4)
    second = stepped(n_classes, rounds=5, start=pickle.loads(pickle.dumps(first)))
    same(second.ensemble(9), whole)


def test_weights_count_as_copies():
    """A sample of weight 2 moves the prior and the leaves as two samples do."""
    weight = np.where(np.arange(400) % 2, 1.0, 3.0)
    ensemble = fitted(3, weight=weight)
    _, y = made_data(3)
    shares = np.bincount(y, weight) / weight.sum()
    assert_allclose(np.exp(ensemble.prior), shares, rtol=1e-5)
    for scale in (8, 2.0**-300, 2.0**300):
        same(ensemble, fitted(3, weight=scale * weight))


def test_dense_vector_leaves_are_a_special_case():
    """With as many sketches and leaf classes as classes, a step is Newton's on all of them."""
    settings = replace(
        SETTINGS, n_sketches=4, leaf_classes=4, least_share=0.0, subsample=1.0, max_features=1.0,
        projection="axis",
    )  # fmt: skip
    X, y = made_data(4)
    ensemble = fitted(4, 1, settings=settings)
    scores = ensemble.scores(X, ONE) - ensemble.prior[:, None]
    leaf = ensemble._leaves(X)[0]
    p = np.exp(ensemble.prior.astype(np.float64))
    for number in np.unique(leaf):
        members = leaf == number
        true = np.eye(4)[y[members]]
        hessians = np.where(true, np.maximum(p, 0.1) * (1 - p), p * (1 - p)).sum(axis=0)
        steps = (true - p).sum(axis=0) / (hessians + settings.ridge)
        atol = 2 * float(ensemble.units[0])
        assert_allclose(scores[:, members][:, 0], settings.learning_rate * steps, atol=atol)


def test_single_class_values_and_no_split():
    X, y = np.zeros((20, 2)), np.arange(20) % 2
    trainer = SketchTrainer(SETTINGS, TrainingData(X, y, 2, np.ones(20)), None, ONE)
    assert trainer.step() == "no tree separates any two samples"
