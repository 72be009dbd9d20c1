"""Scores that boosting starts from, against regressions by plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax
from sklearn.datasets import make_classification, make_moons
from sklearn.metrics import log_loss

from randomboost import RandomBoostClassifier
from randomboost.projections.landmarks import bent
from randomboost.runtime.parallel import ThreadTeam
from randomboost.training import landmark_ridge, out_of_fold
from randomboost.training.landmark_ridge import (
    Setting,
    correlation_ratios,
    learn_start,
    n_start_samples,
)

ONE, THREE = ThreadTeam(1), ThreadTeam(3)
SETTING = Setting(0.5, 0.3, 1e-3)


def made_data(m=203, n_classes=3, seed=0):
    X, y = make_classification(
        m, 8, n_informative=5, n_classes=n_classes, class_sep=0.7, random_state=seed
    )
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def made_weights(m, kind):
    if kind == "equal":
        return np.ones(m)
    return np.random.default_rng(4).exponential(size=m)


@pytest.fixture
def fixed(monkeypatch):
    """Leave out the choice of a setting."""
    monkeypatch.setattr(landmark_ridge, "_choose", lambda *_: SETTING)


def regressed(S, targets, share, norm, kept):
    """Coefficients by least squares with further rows for the penalty."""
    m = len(S)
    root = np.sqrt(share * m)[kept, None]
    penalty = np.linalg.cholesky(SETTING.penalty * m / 10 * norm).T
    rows = np.vstack([root * S[kept], penalty])
    aims = np.vstack([root * targets[kept], np.zeros((len(norm), targets.shape[1]))])
    return np.linalg.lstsq(rows, aims, rcond=None)[0]


def plain_start(X, y, weight, n_classes, landmarks):
    """Predictions of all parts by the others, the coefficients, and the best factor."""
    m, share = len(y), weight / weight.sum()
    points = landmarks.points.astype(np.float64)
    Z = bent(X) * landmarks.weights.astype(np.float64)
    S = np.exp(-landmarks.width * ((Z[:, None] - points) ** 2).sum(axis=2))
    norm = np.exp(-landmarks.width * ((points[:, None] - points) ** 2).sum(axis=2))
    norm += 1e-6 * np.eye(len(points))
    prior = np.bincount(y, share, n_classes)
    targets = np.eye(n_classes)[y] - prior
    found = np.empty((m, n_classes))
    for number in range(5):
        part = np.isin(np.arange(m), np.array_split(np.arange(m), 5)[number])
        found[part] = S[part] @ regressed(S, targets, share, norm, ~part)
    coefficients = regressed(S, targets, share, norm, np.full(m, True))

    def loss(logarithm):
        logits = np.exp(logarithm) * found + np.log(prior)
        return -share @ log_softmax(logits, axis=1)[np.arange(m), y]

    best = minimize_scalar(loss, bounds=(-2.0, 4.5), method="bounded", options={"xatol": 1e-9})
    return found, coefficients, np.exp(best.x), best.fun, prior


@pytest.mark.parametrize("kind", ["equal", "weighted"])
@pytest.mark.parametrize(("n_classes", "n_landmarks"), [(2, 30), (3, 60), (3, 500), (5, 25)])
def test_scores_are_those_of_regressions_without_the_part(fixed, kind, n_classes, n_landmarks):
    X, y = made_data(n_classes=n_classes)
    weight = made_weights(len(y), kind)
    scores, own = learn_start(X, y, weight, n_classes, n_landmarks, 1000, ONE)
    assert len(scores.landmarks) == min(n_landmarks, len(y))
    found, coefficients, factor, loss, prior = plain_start(
        X, y, weight, n_classes, scores.landmarks
    )
    factor *= 1000 / 1150
    assert_allclose(own, factor * found, rtol=1e-3, atol=1e-3)
    expected = factor * coefficients
    assert_allclose(scores.scores(X, ONE).T, fitted_by(scores, X, expected), rtol=1e-3, atol=1e-3)
    assert scores.share == pytest.approx(1 + loss / (prior @ np.log(prior)), abs=1e-5)


def fitted_by(scores, X, coefficients):
    return scores.landmarks.similarities(X, ONE) @ coefficients


@pytest.mark.parametrize("kind", ["equal", "weighted"])
def test_the_gradient_of_the_penalised_squares_vanishes(fixed, kind):
    X, y = made_data()
    weight = made_weights(len(y), kind)
    scores, own = learn_start(X, y, weight, 3, 40, 10**9, ONE)
    found, _, factor, _, prior = plain_start(X, y, weight, 3, scores.landmarks)
    assert_allclose(own, factor * found, rtol=1e-3, atol=1e-3)
    share = weight / weight.sum()
    S = scores.landmarks.similarities(X, ONE)
    points = scores.landmarks.points.astype(np.float64)
    norm = np.exp(-scores.landmarks.width * ((points[:, None] - points) ** 2).sum(axis=2))
    norm += 1e-6 * np.eye(len(points))
    targets = np.eye(3)[y] - prior
    coefficients = scores.coefficients.astype(np.float64) / factor
    errors = S @ coefficients - targets
    gradient = S.T @ (share[:, None] * errors) + SETTING.penalty / 10 * norm @ coefficients
    scale = np.abs(S.T @ (share[:, None] * targets)).max()
    assert np.abs(gradient).max() < 1e-4 * scale


def test_widths_are_compared_with_all_landmarks_where_there_is_time(monkeypatch):
    """Oracle: the loss of every width and penalty, one regression at a time."""
    X, y = made_data()
    width = landmark_ridge._WIDTHS[1]
    monkeypatch.setattr(landmark_ridge, "_choose", lambda *_: Setting(0.5, width, 1e-3))
    scores, own = learn_start(X, y, np.ones(203), 3, 150, 203, ONE, thorough=True)
    ratios = correlation_ratios(bent(X), y, np.ones(203))
    losses = {}
    for width in landmark_ridge._WIDTHS[:4]:
        landmarks = landmark_ridge._make_landmarks(bent(X), ratios, 0.5, width, slice(0, 150))
        for penalty in landmark_ridge._PENALTIES:
            monkeypatch.setattr(f"{__name__}.SETTING", Setting(0.5, width, penalty))
            found = plain_start(X, y, np.ones(203), 3, landmarks)[0][:123]  # the first three parts
            share = np.full(123, 1 / 123)
            prior = np.bincount(y) / 203
            losses[width, penalty] = out_of_fold.best_factor(found, prior, y[:123], share)[1]
    chosen = min(losses, key=losses.get)
    assert_allclose(
        scores.landmarks.width,
        landmark_ridge._make_landmarks(bent(X), ratios, 0.5, chosen[0], slice(0, 150)).width,
    )
    same = Setting(0.5, *chosen)
    monkeypatch.setattr(landmark_ridge, "_choose", lambda *_: same)
    assert_array_equal(learn_start(X, y, np.ones(203), 3, 150, 203, ONE)[1], own)


def test_correlation_ratios_are_those_of_an_analysis_of_variance():
    X, y = made_data()
    weight = made_weights(len(y), "weighted")
    X[:, 3] = 1.5  # constant: nothing to explain
    X[:, 4] = y  # explained by the classes
    found = correlation_ratios(X, y, weight)
    for j in range(8):
        mean = np.average(X[:, j], weights=weight)
        total = weight @ (X[:, j] - mean) ** 2
        within = sum(
            weight[y == r] @ (X[y == r, j] - np.average(X[y == r, j], weights=weight[y == r])) ** 2
            for r in range(3)
        )
        expected = 0.0 if j == 3 else 1.0 - within / total
        assert found[j] == pytest.approx(np.clip(expected, 1e-3, 1), rel=1e-9)


def test_a_setting_is_chosen_by_samples_left_out():
    X, y = make_moons(600, noise=0.2, random_state=0)
    noise = np.random.default_rng(0).normal(size=(600, 12))
    X = np.hstack([X - X.mean(axis=0), noise])
    scores, own = learn_start(X, y, np.ones(600), 2, 300, 600, ONE)
    weights = scores.landmarks.weights
    assert weights[:2].min() > 3 * weights[2:].max()  # noise has little weight
    assert ((own[:, 1] > own[:, 0]) == y).mean() > 0.8
    assert 0.3 < scores.share < 1


@pytest.mark.parametrize("n_classes", [2, 6])
def test_random_labels_give_no_gain(n_classes):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(1500, 6)), rng.integers(0, n_classes, 1500)
    scores, own = learn_start(X[:750], y[:750], np.ones(750), n_classes, 200, 750, ONE)
    assert scores.share < 0.01
    prior = np.log(np.bincount(y[:750]) / 750)
    entropy = log_loss(y, np.tile(np.exp(prior), (1500, 1)))
    others = log_softmax(scores.scores(X[750:], ONE).T + prior, axis=1)
    for target, chances in ((y[750:], others), (y[:750], log_softmax(own + prior, axis=1))):
        assert log_loss(target, np.exp(chances)) < entropy + 0.02


def test_scores_of_training_samples_are_as_good_as_those_of_new_ones():
    X, y = made_data(2400)
    scores, own = learn_start(X[:1200], y[:1200], np.ones(1200), 3, 600, 1200, ONE)
    prior = np.log(np.bincount(y[:1200]) / 1200)
    known = log_loss(y[:1200], np.exp(log_softmax(own + prior, axis=1)))
    new = log_loss(y[1200:], np.exp(log_softmax(scores.scores(X[1200:], ONE).T + prior, axis=1)))
    fitted = log_loss(y[:1200], np.exp(log_softmax(scores.scores(X[:1200], ONE).T + prior, axis=1)))
    assert known == pytest.approx(new, rel=0.15)
    assert fitted < known


def test_threads_do_not_change_bits():
    X, y = made_data(500)
    weight = made_weights(500, "weighted")
    one, own = learn_start(X, y, weight, 3, 120, 500, ONE)
    other, again = learn_start(X, y, weight, 3, 120, 500, THREE)
    assert one.equals(other)
    assert_array_equal(own, again)


def test_how_many_samples_are_fitted_to():
    assert n_start_samples(500, 600) == 500
    assert n_start_samples(10**6, 600) == 20_000
    assert n_start_samples(10**6, 1500) == 30_000  # twenty per landmark


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("m", [2, 3, 4, 6, 11])
def test_a_few_samples(m):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(m, 3)), np.arange(m) % 2
    scores, own = learn_start(X, y, np.ones(m), 2, 600, m, ONE)
    assert np.isfinite(own).all()
    assert np.isfinite(scores.scores(X, ONE)).all()
    assert 0 <= scores.share <= 1


@pytest.mark.filterwarnings("error")
def test_features_without_values_and_without_variation():
    X, y = made_data(80)
    X[:, 0], X[:, 1], X[::3, 2] = np.nan, 4.0, np.nan
    for data in (X, np.full_like(X, np.nan), np.ones_like(X), 1e200 * X):
        scores, own = learn_start(data, y, np.ones(80), 3, 20, 80, ONE)
        assert np.isfinite(own).all()
        assert np.isfinite(scores.scores(data, ONE)).all()


# -- through the estimator ---------------------------------------------------------------------


def small(**settings):
    return RandomBoostClassifier(6, early_stopping=False, random_state=0, **settings)


def start_of(model):
    return model.model_.ensemble.start


def test_a_weight_of_two_is_a_sample_given_twice():
    X, y = made_data()
    twice = small().fit(np.vstack([X, X[:50]]), np.append(y, y[:50]))
    weighted = small().fit(X, y, sample_weight=np.where(np.arange(203) < 50, 2.0, 1.0))
    assert start_of(twice).equals(start_of(weighted))
    assert_array_equal(twice.decision_function(X), weighted.decision_function(X))
    assert not start_of(twice).equals(start_of(small().fit(X, y)))


def test_neither_the_order_of_rows_nor_threads_change_bits():
    X, y = made_data()
    order = np.random.default_rng(0).permutation(203)
    one = small(n_jobs=1).fit(X, y)
    for other in (small(n_jobs=3).fit(X, y), small(n_jobs=1).fit(X[order], y[order])):
        assert start_of(one).equals(start_of(other))
        assert_array_equal(one.decision_function(X), other.decision_function(X))


def test_other_seeds_draw_other_landmarks():
    X, y = made_data()
    one = small(n_landmarks=20).fit(X, y)
    other = small(n_landmarks=20).set_params(random_state=1).fit(X, y)
    first, second = (start_of(model).parts[0].landmarks for model in (one, other))
    assert len(first) == 20
    assert not np.array_equal(first.points, second.points)


def test_training_starts_from_scores_that_do_not_know_the_labels():
    """Random labels: trees would trust scores of the landmarks that had seen them."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 5)), rng.integers(0, 2, 2000)
    model = small().set_params(n_estimators=1, learning_rate=1e-3).fit(X[:1000], y[:1000])
    assert log_loss(y[1000:], model.predict_proba(X[1000:])) < np.log(2) + 0.02
    assert model.train_history_["loss"][0] == pytest.approx(np.log(2), abs=0.02)
