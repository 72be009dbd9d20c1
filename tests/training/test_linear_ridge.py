"""Linear scores that boosting starts from, against scikit-learn's ridge regression."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import log_softmax
from sklearn.linear_model import Ridge
from sklearn.metrics import log_loss

from randomboost import RandomBoostClassifier
from randomboost.ensembles.started_trees import LinearTrees
from randomboost.runtime.parallel import ThreadTeam
from randomboost.training import linear_ridge
from randomboost.training.linear_ridge import (
    Setting,
    learn_linear_start,
    n_linear_samples,
    solve,
)
from randomboost.training.out_of_fold import best_factor

ONE, THREE = ThreadTeam(1), ThreadTeam(3)
SETTING = Setting(0.25, 2.0)


def made_texts(m=300, d=400, n_classes=4, seed=0):
    """Return counts of words, some of which are more frequent in one class, and the classes."""
    rng = np.random.default_rng(seed)
    favourites = np.random.default_rng(7).integers(0, n_classes, d)
    y = rng.integers(0, n_classes, m)
    y[:n_classes] = np.arange(n_classes)
    frequency = 4.0 / np.arange(2, d + 2)
    counts = rng.poisson(frequency * np.where(favourites == y[:, None], 2.5, 1.0))
    return sp.csr_array(counts.astype(np.float64)), y


def made_weights(m, kind):
    if kind == "equal":
        return np.ones(m)
    return np.random.default_rng(4).exponential(size=m)


@pytest.fixture
def exact(monkeypatch):
    """Leave out the choice of a setting, and solve to the end."""
    monkeypatch.setattr(linear_ridge, "_choose", lambda *_: SETTING)
    monkeypatch.setattr(linear_ridge, "_TOLERANCE", 1e-10)
    monkeypatch.setattr(linear_ridge, "_MOST_STEPS", 1000)


def weighted(X, share):
    """Return features as the regression sees them: weighted by how frequent they are, centred."""
    dense = X.toarray()
    dense = dense * (share @ (dense != 0)) ** SETTING.power
    return dense - share @ dense


def ridge(Z, targets, share, kept):
    unit = share @ (Z**2).sum(axis=1)
    model = Ridge(SETTING.penalty * unit, fit_intercept=False, tol=1e-12, solver="cholesky")
    return model.fit(Z[kept], targets[kept], sample_weight=(len(share) * share)[kept]).coef_.T


@pytest.mark.parametrize("kind", ["equal", "weighted"])
@pytest.mark.parametrize(("m", "n_classes"), [(203, 2), (203, 3), (500, 5)])
def test_scores_are_those_of_ridge_regressions_without_the_part(exact, kind, m, n_classes):
    X, y = made_texts(m, 250, n_classes)
    weight = made_weights(m, kind)
    scores, own = learn_linear_start(X, y, weight, n_classes, 1000, ONE)
    share = weight / weight.sum()
    prior = np.bincount(y, share, n_classes)
    Z, targets = weighted(X, share), np.eye(n_classes)[y] - prior
    found = np.empty((m, n_classes))
    for number in range(5):
        part = np.isin(np.arange(m), np.array_split(np.arange(m), 5)[number])
        found[part] = Z[part] @ ridge(Z, targets, share, ~part)
    factor, loss = best_factor(found, prior, y, share)
    factor *= 1000 / 1150
    assert_allclose(own, factor * found, rtol=1e-4, atol=1e-5)
    expected = factor * Z @ ridge(Z, targets, share, np.full(m, True))
    assert_allclose(scores.scores(X, ONE).T, expected, rtol=1e-4, atol=1e-4)
    assert scores.share == pytest.approx(1 + loss / (prior @ np.log(prior)), abs=1e-6)


@pytest.mark.parametrize("n", [1, 5, 60])
def test_conjugate_gradients_solve_the_system(monkeypatch, n):
    monkeypatch.setattr(linear_ridge, "_TOLERANCE", 1e-12)
    monkeypatch.setattr(linear_ridge, "_MOST_STEPS", 200)
    rng = np.random.default_rng(n)
    root, right = rng.normal(size=(n, n)), rng.normal(size=(n, 3))
    right[:, 1] = 0.0
    matrix = root @ root.T + n * np.eye(n)
    found = solve(lambda vectors: matrix @ vectors, right)
    assert_allclose(found, np.linalg.solve(matrix, right), rtol=1e-8, atol=1e-10)
    assert (found[:, 1] == 0).all()


def test_what_is_left_of_a_right_side_is_small():
    X, _ = made_texts()
    right = X.T @ np.random.default_rng(0).normal(size=(300, 3))

    def multiply(vectors):
        return X.T @ (X @ vectors) + 50.0 * vectors

    left = right - multiply(solve(multiply, right))
    lengths = np.linalg.norm(left, axis=0) / np.linalg.norm(right, axis=0)
    assert lengths.max() <= 1.001 * linear_ridge._TOLERANCE


def test_the_setting_has_the_lowest_loss_of_all_that_are_tried(monkeypatch):
    X, y = made_texts()
    losses = {
        setting: linear_ridge._Regression(X, y, np.ones(300), 4, setting[0]).loss(setting[1])
        for setting in (Setting(a, b) for a in (0.0, 0.25, 0.5) for b in (0.3, 1, 3, 10, 30))
    }
    chosen = linear_ridge._choose(X, y, np.ones(300), 4, ONE)
    assert losses[chosen] == min(losses[chosen.power, b] for b in (0.3, 1.0, 3.0, 10.0, 30.0))
    assert losses[chosen.power, 3.0] == min(losses[a, 3.0] for a in (0.0, 0.25, 0.5))


def test_how_many_samples_are_fitted_to():
    assert n_linear_samples(700) == 700
    assert n_linear_samples(10**7) == 50_000


@pytest.mark.parametrize("n_classes", [2, 6])
def test_random_labels_give_no_gain(n_classes):
    X, _ = made_texts(800)
    y = np.random.default_rng(1).integers(0, n_classes, 800)
    scores, own = learn_linear_start(X[:400], y[:400], np.ones(400), n_classes, 400, ONE)
    assert scores.share < 0.02
    prior = np.log(np.bincount(y[:400]) / 400)
    entropy = log_loss(y, np.tile(np.exp(prior), (800, 1)))
    others = log_softmax(scores.scores(X[400:], ONE).T + prior, axis=1)
    for target, chances in ((y[400:], others), (y[:400], log_softmax(own + prior, axis=1))):
        assert log_loss(target, np.exp(chances)) < entropy + 0.03


def test_scores_of_training_samples_are_as_good_as_those_of_new_ones():
    X, y = made_texts(2400)
    scores, own = learn_linear_start(X[:1200], y[:1200], np.ones(1200), 4, 1200, ONE)
    prior = np.log(np.bincount(y[:1200]) / 1200)
    known = log_loss(y[:1200], np.exp(log_softmax(own + prior, axis=1)))
    new = log_loss(y[1200:], np.exp(log_softmax(scores.scores(X[1200:], ONE).T + prior, axis=1)))
    fitted = log_loss(y[:1200], np.exp(log_softmax(scores.scores(X[:1200], ONE).T + prior, axis=1)))
    assert 0.95 * new < known < 1.4 * new  # those of a regression on four fifths
    assert fitted < 0.8 * new


def test_threads_do_not_change_bits():
    X, y = made_texts()
    weight = made_weights(300, "weighted")
    one, own = learn_linear_start(X, y, weight, 4, 300, ONE)
    other, again = learn_linear_start(X, y, weight, 4, 300, THREE)
    assert one.equals(other)
    assert_array_equal(own, again)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("m", [2, 3, 4, 6, 11])
def test_a_few_samples(m):
    X, y = made_texts(m, 30, 2)
    for data in (X, 0 * X, X.toarray()):
        scores, own = learn_linear_start(data, y, np.ones(m), 2, m, ONE)
        assert np.isfinite(own).all()
        assert np.isfinite(scores.scores(data, ONE)).all()
        assert 0 <= scores.share <= 1


# -- through the estimator ---------------------------------------------------------------------


def small(**settings):
    return RandomBoostClassifier(
        6, n_projections=40, early_stopping=False, random_state=0, **settings
    )


def start_of(model):
    return model.model_.ensemble.start


def test_sparse_data_has_a_linear_start_unless_there_is_to_be_none():
    X, y = made_texts()
    assert isinstance(small().fit(X, y).model_.ensemble, LinearTrees)
    assert not isinstance(small(n_landmarks=0).fit(X, y).model_.ensemble, LinearTrees)
    assert not isinstance(small().fit(X, np.arange(300) % 65).model_.ensemble, LinearTrees)


def test_a_linear_start_helps_with_texts():
    X, y = made_texts(1200)
    errors = [
        1 - small(n_landmarks=n).fit(X[:500], y[:500]).score(X[500:], y[500:]) for n in (0, None)
    ]
    assert errors[1] < 0.9 * errors[0]


def test_a_weight_of_two_is_a_sample_given_twice():
    X, y = made_texts()
    twice = small().fit(sp.vstack([X, X[:50]], format="csr"), np.append(y, y[:50]))
    weighted = small().fit(X, y, sample_weight=np.where(np.arange(300) < 50, 2.0, 1.0))
    assert start_of(twice).equals(start_of(weighted))
    assert_array_equal(twice.decision_function(X), weighted.decision_function(X))


def test_neither_the_order_of_rows_nor_of_stored_values_nor_threads_change_bits():
    X, y = made_texts()
    order = np.random.default_rng(0).permutation(300)
    backwards = sp.csr_array(X)
    for i in range(300):
        row = slice(X.indptr[i], X.indptr[i + 1])
        backwards.indices[row] = X.indices[row][::-1].copy()
        backwards.data[row] = X.data[row][::-1].copy()
    backwards = sp.csr_array((backwards.data, backwards.indices, backwards.indptr), X.shape)
    one = small(n_jobs=1).fit(X, y)
    for other in (
        small(n_jobs=3).fit(X, y),
        small(n_jobs=1).fit(X[order], y[order]),
        small(n_jobs=1).fit(backwards, y),
    ):
        assert start_of(one).equals(start_of(other))
        assert_array_equal(one.decision_function(X), other.decision_function(X))
    assert_array_equal(one.decision_function(backwards), one.decision_function(X))


def test_a_warm_start_on_the_same_data_gives_the_bits_of_one_fit():
    X, y = made_texts()
    whole = small().fit(X, y)
    parts = small(warm_start=True).set_params(n_estimators=2).fit(X, y)
    parts.set_params(n_estimators=6).fit(X, y)
    assert_array_equal(parts.decision_function(X), whole.decision_function(X))
    parts.set_params(n_landmarks=0, n_estimators=9)
    with pytest.raises(ValueError, match="n_landmarks"):
        parts.fit(X, y)


def test_a_warm_start_keeps_the_scores_and_takes_new_classes():
    X, y = made_texts()
    known = y < 3
    model = small(warm_start=True).fit(X[known], y[known])
    first = start_of(model)
    model.set_params(n_estimators=60).fit(X, y)
    assert_array_equal(start_of(model).coefficients[:, :3], first.coefficients)
    assert (start_of(model).coefficients[:, 3] == 0).all()
    assert model.score(X, y) > 0.9
    with pytest.raises(ValueError, match="starts from linear scores, which are for at most 64"):
        model.set_params(n_estimators=70).fit(X, np.arange(300) % 70)
