"""Contributions to scores of landmarks: integrated gradients against numerical integration."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from sklearn.datasets import load_wine, make_moons

from randomboost import RandomBoostClassifier
from randomboost.explain.landmark_contributions import explain_landmarks
from randomboost.runtime.parallel import ThreadTeam


def made(n_landmarks=7, n_features=3, width=0.4, n_rows=4, seed=0):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n_landmarks, n_features))
    return (
        1.5 * rng.normal(size=(n_rows, n_features)),
        points,
        width,
        rng.normal(size=(n_rows, n_landmarks)),
    )


def score(z, points, width, coefficients):
    return coefficients @ np.exp(-width * ((points - z) ** 2).sum(axis=1))


def slope(z, j, points, width, coefficients):
    """By central differences."""
    step = 1e-6 * np.eye(len(z))[j]
    ends = (score(z + sign * step, points, width, coefficients) for sign in (1, -1))
    return (next(ends) - next(ends)) / 2e-6


@pytest.mark.parametrize("width", [0.05, 0.4, 3.0])
@pytest.mark.parametrize("seed", range(3))
def test_contributions_are_integrated_gradients(width, seed):
    Z, points, width, coefficients = made(width=width, seed=seed)
    found, base = explain_landmarks(Z, points, width, coefficients)
    for i, z in enumerate(Z):
        for j in range(len(z)):
            area, _ = quad(
                lambda t, z=z, i=i, j=j: slope(t * z, j, points, width, coefficients[i]), 0, 1
            )
            assert found[i, j] == pytest.approx(z[j] * area, abs=1e-5)
        assert base[i] == pytest.approx(score(0 * z, points, width, coefficients[i]))


@pytest.mark.parametrize("width", [0.0, 0.4, 30.0, 1e4])
def test_contributions_add_up_whatever_the_width(width):
    Z, points, width, coefficients = made(40, 6, width, 100)
    found, base = explain_landmarks(Z, points, width, coefficients)
    scores = [score(z, points, width, row) for z, row in zip(Z, coefficients, strict=True)]
    assert_allclose(found.sum(axis=1) + base, scores, atol=1e-10)


def test_a_row_depends_on_no_other_and_features_at_the_mean_contribute_nothing():
    Z, points, width, coefficients = made(20, 5, n_rows=90)
    Z[:, 2] = 0.0
    found, base = explain_landmarks(Z, points, width, coefficients)
    assert np.abs(found[:, 2]).max() < 1e-12
    for part in (slice(0, 1), slice(31, 34), slice(60, 90)):
        some, begin = explain_landmarks(Z[part], points, width, coefficients[part])
        assert_allclose(some, found[part], rtol=1e-9, atol=1e-12)
        assert_allclose(begin, base[part], rtol=1e-12)


def test_a_feature_that_all_scores_ignore_contributes_nothing():
    Z, points, width, coefficients = made()
    points[:, 1] = Z[:, 1] = 0.0
    found, _ = explain_landmarks(Z, points, width, coefficients)
    assert np.abs(found[:, 1]).max() < 1e-12
    assert np.abs(found[:, [0, 2]]).max() > 0.01


# -- through the estimator ---------------------------------------------------------------------


@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_contributions_of_a_model_add_up_to_its_scores(n_classes, holes):
    X, y = load_wine(return_X_y=True)
    X, y = X[y < n_classes], y[y < n_classes]
    if holes:
        X = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)
    model = RandomBoostClassifier(6, random_state=0).fit(X, y)
    explained = model.explain(X, classes=model.classes_)
    scores = model.decision_function(X)
    if n_classes == 2:
        scores = np.stack([-scores, scores], axis=1)
    assert_allclose(explained.values.sum(axis=1) + explained.base_values, scores, atol=1e-5)
    best = model.explain(X)
    assert_allclose(best.scores, scores.max(axis=1), atol=1e-5)
    if n_classes == 2:
        assert_allclose(explained.values[..., 0], -explained.values[..., 1], atol=1e-9)


def test_contributions_of_landmarks_and_of_trees_are_added():
    X, y = load_wine(return_X_y=True)
    model = RandomBoostClassifier(6, random_state=0, n_landmarks=100).fit(X, y)
    ensemble, scaled = model.model_.ensemble, model.model_.inputs.scaled(X[::20])
    classes = np.tile(np.arange(3), (len(scaled), 1))
    of_landmarks, base = ensemble.start.contributions(scaled, classes)
    explained = model.explain(X[::20], classes=model.classes_)
    start = ensemble.start.parts[0]
    points = start.landmarks.points.astype(np.float64)
    Z = scaled / np.sqrt(1 + (scaled / 3) ** 2) * start.landmarks.weights.astype(np.float64)
    for i, z in enumerate(Z[:3]):
        for r in range(3):
            setting = points, start.landmarks.width, start.coefficients[:, r].astype(np.float64)
            area, _ = quad(lambda t, z=z, setting=setting: slope(t * z, 0, *setting), 0, 1)
            assert of_landmarks[i, 0, r] == pytest.approx(z[0] * area, abs=1e-5)
            assert base[i, r] == pytest.approx(score(0 * z, *setting), abs=1e-9)
    trees = explained.values - of_landmarks
    begin = explained.base_values - base
    expected, prior = ensemble.trees.contributions(scaled, classes, ThreadTeam(1))
    assert_allclose(trees, expected, atol=1e-9)
    assert_allclose(begin, prior, atol=1e-9)


def test_what_decides_contributes_most():
    X, y = make_moons(300, noise=0.1, random_state=0)
    X = np.hstack([np.random.default_rng(0).normal(size=(300, 3)), X])
    model = RandomBoostClassifier(10, random_state=0).fit(X, y)
    sizes = np.abs(model.explain(X).values).mean(axis=0)
    assert sizes[3:].min() > 2 * sizes[:3].max()
