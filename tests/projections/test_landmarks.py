"""Similarities to landmarks against plain NumPy, and rows that depend on no others."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from randomboost.projections.landmarks import Landmarks, bent
from randomboost.runtime.parallel import ThreadTeam

ONE, THREE = ThreadTeam(1), ThreadTeam(3)


def made(n_landmarks=13, n_features=5, width=0.3, seed=0):
    rng = np.random.default_rng(seed)
    weights = rng.random(n_features).astype(np.float32)
    points = (rng.normal(size=(n_landmarks, n_features)) * weights).astype(np.float32)
    return Landmarks(points, weights, width)


def plain_bent(X):
    with np.errstate(over="ignore"):
        values = X / np.sqrt(1.0 + (X / 3.0) ** 2)
    values = np.where(np.abs(X) > 3e8, 3.0 * np.sign(X), values)
    return np.where(np.isnan(X), 0.0, values)


def plain_similarities(landmarks, X):
    Z = plain_bent(X.astype(np.float64)) * landmarks.weights.astype(np.float64)
    differences = Z[:, None, :] - landmarks.points.astype(np.float64)
    return np.exp(-landmarks.width * (differences**2).sum(axis=2))


def rows(n=200, n_features=5, seed=1):
    return 2.0 * np.random.default_rng(seed).normal(size=(n, n_features))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_landmarks", [1, 4, 13, 130])
@pytest.mark.parametrize("width", [0.0, 0.02, 0.3, 40.0])
def test_similarities_are_those_of_plain_code(n_landmarks, width, dtype):
    landmarks, X = made(n_landmarks, width=width), rows().astype(dtype)
    found = landmarks.similarities(X, ONE)
    assert found.shape == (200, n_landmarks)
    assert_allclose(found, plain_similarities(landmarks, X), rtol=1e-11, atol=1e-300)


@pytest.mark.parametrize("n_sums", [1, 2, 7])
@pytest.mark.parametrize("n_landmarks", [1, 5, 64])
def test_weighted_sums_are_those_of_plain_code(n_landmarks, n_sums):
    landmarks, X = made(n_landmarks), rows()
    coefficients = np.random.default_rng(2).normal(size=(n_landmarks, n_sums)).astype(np.float32)
    expected = plain_similarities(landmarks, X) @ coefficients.astype(np.float64)
    found = landmarks.weighted(X, coefficients, ONE)
    assert_allclose(found, expected.T, rtol=1e-10, atol=1e-13)
    ordered = np.zeros_like(found)
    for similarity, factors in zip(landmarks.similarities(X, ONE).T, coefficients, strict=True):
        ordered += factors.astype(np.float64)[:, None] * similarity
    assert_array_equal(found, ordered)  # landmark after landmark


def test_a_row_depends_on_no_other_and_not_on_threads():
    landmarks, X = made(21), rows(700)
    coefficients = np.random.default_rng(2).normal(size=(21, 3))
    similarities = landmarks.similarities(X, ONE)
    sums = landmarks.weighted(X, coefficients, ONE)
    assert_array_equal(landmarks.similarities(X, THREE), similarities)
    assert_array_equal(landmarks.weighted(X, coefficients, THREE), sums)
    for part in (slice(0, 1), slice(63, 66), slice(5, 500, 7), slice(None, None, -1)):
        own = np.ascontiguousarray(X[part])
        assert_array_equal(landmarks.similarities(own, ONE), similarities[part])
        assert_array_equal(landmarks.weighted(own, coefficients, ONE), sums[:, part])
    assert_array_equal(landmarks.weighted(np.asfortranarray(X), coefficients, ONE), sums)
    assert landmarks.weighted(X[:0], coefficients, ONE).shape == (3, 0)


def test_sums_do_not_depend_on_the_other_sums():
    landmarks, X = made(21), rows()
    coefficients = np.random.default_rng(2).normal(size=(21, 4))
    sums = landmarks.weighted(X, coefficients, ONE)
    for r in range(4):
        assert_array_equal(landmarks.weighted(X, coefficients[:, r : r + 1], ONE)[0], sums[r])


def test_missing_values_count_as_the_mean():
    landmarks, X = made(), rows()
    holes = np.where(np.random.default_rng(3).random(X.shape) < 0.3, np.nan, X)
    assert_array_equal(
        landmarks.similarities(holes, ONE), landmarks.similarities(np.nan_to_num(holes), ONE)
    )
    nothing = landmarks.similarities(np.full((1, 5), np.nan), ONE)
    expected = np.exp(-landmarks.width * (landmarks.points.astype(float) ** 2).sum(axis=1))
    assert_allclose(nothing[0], expected, rtol=1e-12)


@pytest.mark.parametrize("size", [1e7, 1e9, 1e155, 1e200, 1.7e308])
def test_values_far_from_all_others_are_at_their_limit(size):
    landmarks, signs = made(), np.where(rows() > 0, 1.0, -1.0)
    found = landmarks.similarities(size * signs, ONE)
    assert_allclose(found, plain_similarities(landmarks, 1e9 * signs), rtol=1e-10)


def test_similarities_reach_from_0_to_1():
    landmarks = made(width=1e6)
    found = landmarks.similarities(rows(), ONE)
    assert (found >= 0).all()
    assert (found < 1e-300).any()
    weights = np.ones(2, dtype=np.float32)
    own = Landmarks(np.zeros((1, 2), dtype=np.float32), weights, 3.0)
    assert own.similarities(np.zeros((1, 2)), ONE)[0, 0] == 1.0
    many = made(40, n_features=30, width=0.01)
    assert many.similarities(rows(300, 30), ONE).max() <= 1.0


def test_features_that_are_constant_or_have_no_weight_change_nothing():
    landmarks, X = made(), rows()
    more = Landmarks(
        np.hstack([landmarks.points, np.zeros((13, 2), dtype=np.float32)]),
        np.append(landmarks.weights, np.array([0, 1], dtype=np.float32)),
        landmarks.width,
    )
    extended = np.hstack([X, rows(200, 1, 5), np.zeros((200, 1))])
    assert_array_equal(more.similarities(extended, ONE), landmarks.similarities(X, ONE))


@pytest.mark.filterwarnings("error")
def test_bent_values_are_close_to_small_ones_and_below_3():
    X = np.array([[0.0, 0.01, -0.01, 3.0, -1e4, 1e9, -1e200, np.nan]])
    found = bent(X)
    assert_allclose(found, plain_bent(X), rtol=1e-15)
    assert_allclose(found[0, 1:3], X[0, 1:3], rtol=1e-4)
    assert (np.abs(found) <= 3).all()
    assert (np.diff(bent(np.linspace(-50, 50, 1001))) > 0).all()


def test_a_pickle_gives_the_same_bits():
    landmarks, X = made(), rows()
    again = pickle.loads(pickle.dumps(landmarks))
    assert_array_equal(again.similarities(X, ONE), landmarks.similarities(X, ONE))
    assert len(again) == 13
    assert_allclose(again.squares, (landmarks.points.astype(float) ** 2).sum(axis=1), rtol=1e-12)
