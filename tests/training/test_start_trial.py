"""The trial that decides which members start from landmarks."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import randomboost
from randomboost import RandomBoostClassifier
from randomboost.ensembles.sparse_trees import SparseTrees
from randomboost.ensembles.started_trees import LandmarkTrees
from randomboost.runtime.parallel import OneBlasThread, ThreadTeam
from randomboost.training import starts
from randomboost.training.landmark_ridge import learn_start
from randomboost.training.start_trial import NO_TRIAL, Trial, try_without
from randomboost.training.tree_settings import SketchSettings

ONE, THREE = ThreadTeam(1), ThreadTeam(3)
SETTINGS = SketchSettings(seed=5, min_samples_leaf=1)
HALF = Trial(0.9, 0.9)
SMALL = RandomBoostClassifier(n_projections=40, random_state=0)


def squares(m=900, seed=0):
    """Classes are fields of a chess board of two features; others say nothing."""
    X = np.random.default_rng(seed).uniform(0, 4, (m, 6))
    return X - 2, (X[:, 0].astype(int) + 2 * X[:, 1].astype(int)) % 3


def fields(m=900, seed=0):
    """Classes are the nearest of some points."""
    points = np.random.default_rng(3).normal(size=(12, 5))
    X = np.random.default_rng(seed).normal(size=(m, 5))
    return X, ((X[:, None] - points) ** 2).sum(axis=2).argmin(axis=1) % 4


def tried(X, y, team=ONE, *, apart=True, settings=SETTINGS):
    weight, n_classes = np.ones(len(y)), int(y.max()) + 1
    with OneBlasThread():
        own = learn_start(X, y, weight, n_classes, 100, len(y), ONE)[1]
        return try_without(X, y, weight, own, settings, team, apart=apart)


def test_trees_alone_are_better_where_thresholds_decide():
    assert tried(*squares()).without < 0.8
    assert tried(*squares()).turns(1, 4) == (0, 1)


def test_landmarks_are_better_for_smooth_borders():
    trial = tried(*fields())
    assert trial.without > 1.05
    assert trial.turns(1, 4) == (1, 1)


@pytest.mark.parametrize("data", [squares, fields])
def test_threads_do_not_change_a_trial(data):
    first = tried(*data(300))
    assert tried(*data(300), THREE) == first
    assert tried(*data(300), THREE, apart=False) == first


def test_few_samples_are_not_compared():
    X, y = squares(50)
    assert tried(X, y) is NO_TRIAL
    X, y = squares(200)
    y[:-1] = 0
    assert tried(X, y) is NO_TRIAL


def test_few_samples_say_little():
    few, many = tried(*squares(100)), tried(*squares(900))
    assert abs(np.log(few.without)) < abs(np.log(many.without))


def test_turns():
    assert NO_TRIAL.turns(1, 1) == NO_TRIAL.turns(1, 4) == (1, 1)
    assert NO_TRIAL.turns(3, 16) == (3, 4)
    assert HALF.turns(1, 4) == (1, 2)
    assert HALF.turns(3, 16) == (2, 4)
    assert HALF.turns(1, 1) == (0, 1)
    assert Trial(1.0, 0.8).turns(1, 2) == (1, 2)
    assert Trial(1.0, 0.8).turns(1, 1) == (1, 1)
    assert Trial(0.5, 0.5).turns(3, 16) == (0, 1)


def test_models_of_rules_have_no_landmarks():
    X, y = squares(1500)
    model = clone(SMALL).fit(X, y)
    assert isinstance(model.model_.ensemble, SparseTrees)
    forced = clone(SMALL).set_params(n_landmarks=100).fit(X, y)
    assert isinstance(forced.model_.ensemble, LandmarkTrees)
    X, y = squares(1500, seed=1)
    assert model.score(X, y) > forced.score(X, y)


def test_an_explicit_number_of_landmarks_needs_no_trial(monkeypatch):
    monkeypatch.setattr(starts, "try_without", None)
    clone(SMALL).set_params(n_landmarks=20, n_estimators=1).fit(*squares(100))


@pytest.fixture
def half(monkeypatch):
    monkeypatch.setattr(starts, "try_without", lambda *_, **__: HALF)


def test_half_of_the_members_start_without_landmarks(half, tmp_path):
    X, y = fields(300)
    model = clone(SMALL).set_params(n_estimators=4).fit(X, y)
    ensemble = model.model_.ensemble
    assert (len(ensemble.start), ensemble.start.n_turns, ensemble.n_members) == (1, 2, 4)
    part = ensemble.start.parts[0].scores(model.model_.inputs.scaled(X), ONE)
    assert_allclose(ensemble.start.scores(model.model_.inputs.scaled(X), ONE), part / 2, rtol=1e-6)
    model.save(tmp_path / "model.rboost")
    again = randomboost.load(tmp_path / "model.rboost")
    assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_rounds_and_leaves_follow_the_trial(half):
    X, y = fields(300)
    started = clone(SMALL).set_params(n_landmarks=300, early_stopping=False).fit(X, y)
    mixed = clone(SMALL).set_params(early_stopping=False).fit(X, y)
    assert (started.n_estimators_, mixed.n_estimators_) == (50, 100)


def test_a_warm_start_takes_the_turns_of_the_model(half, monkeypatch):
    X, y = fields(300)
    model = clone(SMALL).set_params(n_estimators=3, warm_start=True).fit(X, y)
    monkeypatch.setattr(starts, "try_without", None)
    model.set_params(n_estimators=6).fit(X, y)
    assert model.model_.ensemble.start.n_turns == 2
    monkeypatch.setattr(starts, "try_without", lambda *_, **__: HALF)
    longer = clone(SMALL).set_params(n_estimators=6).fit(X, y)
    assert_array_equal(model.decision_function(X), longer.decision_function(X))


def test_a_warm_start_without_landmarks_stays_without(monkeypatch):
    X, y = squares(300)
    monkeypatch.setattr(starts, "try_without", lambda *_, **__: Trial(0.5, 0.5))
    model = clone(SMALL).set_params(n_estimators=3, warm_start=True).fit(X, y)
    assert isinstance(model.model_.ensemble, SparseTrees)
    model.set_params(n_estimators=6).fit(X, y)
    longer = clone(SMALL).set_params(n_estimators=6).fit(X, y)
    assert_array_equal(model.decision_function(X), longer.decision_function(X))
