"""Bags: several ensembles of trees are averaged, and the first one has samples held out from it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import log_softmax
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_classification

from randomboost import RandomBoostClassifier
from randomboost.projections.directions import find_discriminants
from randomboost.runtime.parallel import ThreadTeam
from randomboost.training.loop import TrainingData
from randomboost.training.temperature import find_scale, tempered_loss
from randomboost.training.tree_boosting import SketchTrainer
from randomboost.training.tree_directions import family_bounds
from randomboost.training.tree_settings import SketchSettings

ONE = ThreadTeam(1)
SETTINGS = SketchSettings(n_members=4, n_projections=40, max_leaves=8, seed=5)


@pytest.fixture(scope="module")
def bag():
    X, y = make_blobs(300, 4, centers=3, cluster_std=4.0, random_state=0)
    held = np.arange(0, 300, 5)
    data = TrainingData(X, y, 3, np.ones(300), held=held)
    trainer = SketchTrainer(SETTINGS, data, None, ThreadTeam(2))
    for _ in range(6):
        assert isinstance(trainer.step(), dict)
    return data, trainer


def test_samples_are_held_out_from_the_first_member_only(bag):
    data, trainer = bag
    first, *others = trainer._members
    kept = np.setdiff1d(np.arange(300), data.held)
    assert_array_equal(first.rows.y, data.y[kept])
    assert [len(member.rows) for member in others] == [300, 300, 300]


def test_its_discriminants_do_not_know_them(bag):
    data, trainer = bag
    directions = trainer.ensemble(6).directions
    each = directions.counts["lda"] // 4
    kept = np.setdiff1d(np.arange(300), data.held)
    own = find_discriminants(data.X[kept], data.y[kept], np.ones(len(kept)), 5, each)
    assert_allclose(directions.lda[:each].toarray(), own.toarray())


def test_members_share_all_directions_but_the_discriminants(bag):
    directions = bag[1].ensemble(6).directions
    bounds = np.array([family_bounds(directions, member, 4) for member in range(4)])
    lda = list(directions.counts).index("lda")
    assert (bounds[:, :lda] == bounds[0, :lda]).all()
    assert_array_equal(bounds[1:, lda, 0], bounds[:-1, lda, 1])
    assert bounds[-1, lda, 1] == len(directions)
    for member, trained in enumerate(bag[1]._members):
        columns = np.concatenate([tree.columns for tree in trained.trees])
        lowest, highest = bounds[member, lda]
        used = columns[columns >= directions.starts[lda]]
        assert ((used >= lowest) & (used < highest)).all()


def test_scores_are_the_mean_of_the_members(bag):
    data, trainer = bag
    ensemble = trainer.ensemble(6)
    assert (ensemble.n_rounds, ensemble.n_trees, ensemble.n_members) == (6, 24, 4)
    members = [ensemble.member(number).scores(data.X, ONE) for number in range(4)]
    assert_allclose(ensemble.scores(data.X, ONE), np.mean(members, axis=0), atol=1e-5)
    stages = list(ensemble.staged_scores(data.X, ONE))
    assert len(stages) == 6
    assert_array_equal(stages[-1], ensemble.scores(data.X, ONE))
    assert_array_equal(stages[2], trainer.ensemble(3).scores(data.X, ONE))


def test_the_loss_is_that_of_the_samples_held_out(bag):
    data, trainer = bag
    scores = trainer.ensemble(6).member(0).scores(data.X[data.held], ONE).T
    y = data.y[data.held]
    losses = [loss_at(scale, scores, y) for scale in np.geomspace(0.1, 4, 400)]
    assert_allclose(trainer.validation_loss(), min(losses), rtol=0.01)
    assert_array_equal(trainer.validation_labels(), scores.argmax(axis=1))


def loss_at(scale, scores, y):
    return -log_softmax(scale * scores.astype(np.float64), axis=1)[np.arange(len(y)), y].mean()


def cautious(scale, scores, y):
    return loss_at(scale, scores, y) + 2.0 / len(y) * np.log(scale) ** 2


def test_few_samples_do_not_make_probabilities_sure():
    scores = np.array([[2.0, 0.0, 0.0]] * 10)  # all right, which may be chance
    few = find_scale(scores, np.zeros(10, dtype=np.int64), None)
    many = find_scale(np.tile(scores, (100, 1)), np.zeros(1000, dtype=np.int64), None)
    assert 1 < few < 2.5 < many


@pytest.mark.parametrize("factor", [0.3, 1.0, 5.0])
def test_the_temperature_has_the_lowest_loss(factor):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(400, 5))
    chances = np.exp(log_softmax(scores, axis=1))
    y = np.array([rng.choice(5, p=row) for row in chances])
    given = (factor * scores).astype(np.float32)
    scale = find_scale(given, y, None)
    assert_allclose(scale * factor, 1.0, rtol=0.3)
    for other in (0.97, 1.03):
        assert cautious(scale, given, y) <= cautious(other * scale, given, y)
    loss, near = 0.0, 1.0
    for _ in range(4):
        loss, near = tempered_loss(given, y, np.ones(400), near)
    assert_allclose(near, scale, rtol=0.05)
    assert loss <= loss_at(1.01 * near, given, y) + 1e-6
    assert_allclose(loss, loss_at(near, given, y), rtol=1e-4)


def test_noise_ends_a_fit_and_no_round_is_taken_back():
    X, y = make_classification(600, 8, n_informative=3, n_classes=3, flip_y=0.6, random_state=0)
    model = RandomBoostClassifier(n_iter_no_change=5, random_state=0).fit(X, y)
    losses = model.train_history_["validation_loss"]
    assert model.stopped_ == "no lower validation error for 5 rounds"
    assert model.n_estimators_ == len(losses) == losses.argmin() + 1 + 5


def test_a_falling_loss_is_reported():
    X, y = make_blobs(600, 4, centers=5, cluster_std=2.0, random_state=0)
    model = RandomBoostClassifier(4, learning_rate=0.02, random_state=0).fit(X, y)
    assert "still falling" in model.stopped_
    assert "n_estimators" in model.stopped_


def test_efforts_average_more_and_more_ensembles():
    X, y = make_blobs(200, 4, centers=3, cluster_std=3.0, random_state=0)
    sizes = []
    for effort in ("fast", "default", "best"):
        model = RandomBoostClassifier(3, effort=effort, random_state=0).fit(X, y)
        sizes.append(model.model_.ensemble.trees.n_members)
    assert sizes == sorted(set(sizes))


@pytest.mark.parametrize("effort", ["fast", "best"])
@pytest.mark.parametrize("size", [(200, 5, 3), (20_000, 20, 5), (10**6, 30, 10), (10**5, 30, 900)])
def test_the_number_of_members_is_a_power_of_two(size, effort):
    """So that values of leaves can be divided by it, and multiplied again, without an error."""
    n = SketchSettings.choose(*size, effort).n_members
    assert n & (n - 1) == 0


def test_threads_and_the_order_of_samples_do_not_matter(bag):
    X, y = make_blobs(300, 4, centers=3, cluster_std=4.0, random_state=0)
    model = RandomBoostClassifier(5, random_state=0)
    one = clone(model).set_params(n_jobs=1).fit(X, y)
    order = np.random.default_rng(0).permutation(300)
    other = clone(model).set_params(n_jobs=3).fit(X[order], y[order])
    assert_array_equal(one.predict_proba(X), other.predict_proba(X))


def test_a_part_of_one_class_is_not_trained_on():
    """Where the kept samples have one class only, none is held out."""
    X, y = make_blobs(60, 3, centers=2, random_state=0)
    y = np.where(np.arange(60) == 7, 1, 0)
    model = RandomBoostClassifier(5, validation_fraction=0.9, random_state=0).fit(X, y)
    assert model.n_estimators_ > 0


def test_validation_data_score_the_whole_bag(bag):
    data, _ = bag
    X_val, y_val = data.X[:50], data.y[:50]
    given = replace(data, held=None, X_val=X_val, y_val=y_val)
    trainer = SketchTrainer(SETTINGS, given, None, ONE)
    for _ in range(4):
        trainer.step()
    scores = trainer.ensemble(4).scores(X_val, ONE).T
    assert_allclose(trainer.validation_loss(), loss_at(1.0, scores, y_val), rtol=1e-5)
    assert_allclose(trainer.temperature(4), find_scale(scores, y_val, None), rtol=1e-6)
