"""Stage-wise weights against numeric minimisation of what they claim to minimise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp
from sklearn.datasets import make_blobs

from randomboost import RBoostRankClassifier
from randomboost.losses import ExponentialLoss, LogisticLoss
from randomboost.solvers.risk import PairwiseRisk
from randomboost.solvers.stagewise import (
    discrete_weight,
    line_search,
    real_weight,
    stagewise_weight,
)

problems = given(k=st.integers(2, 5), m=st.integers(2, 12), seed=st.integers(0, 10**6))
few = settings(deadline=None, max_examples=40)


def draw(k, m, seed, *, real=False):
    """Scores so far, class numbers, sample weights, and the outputs of a new weak learner."""
    rng = np.random.default_rng(seed)
    outputs = rng.uniform(-1, 1, (k, m)) if real else rng.choice([-1.0, 1.0], (k, m))
    return rng.normal(size=(k, m)), rng.integers(k, size=m), rng.uniform(0.5, 2, m), outputs


def pairs(scores, y, weight, outputs):
    """Q_ir (normalised) and delta h_ir of all m (k - 1) pairs, by plain loops."""
    k, m = scores.shape
    Q, delta = [], []
    for i in range(m):
        for r in range(k):
            if r != y[i]:
                Q.append(weight[i] * np.exp(-(scores[y[i], i] - scores[r, i])))
                delta.append(outputs[y[i], i] - outputs[r, i])
    return np.array(Q) / np.sum(Q), np.array(delta)


def minimiser(function, low, high):
    return minimize_scalar(function, bounds=(low, high), method="bounded", options={"xatol": 1e-9})


@problems
@few
def test_discrete_weight_minimises_stagewise2(k, m, seed):
    scores, y, weight, outputs = draw(k, m, seed)
    Q, delta = pairs(scores, y, weight, outputs)
    gained, lost = Q[delta == 2].sum(), Q[delta == -2].sum()
    if min(gained, lost) < 1e-3:
        return  # smoothed: see below
    found = minimiser(lambda w: (Q * np.exp(-delta * w)).sum(), -5, 5)
    assert discrete_weight(gained, lost) == pytest.approx(found.x, abs=1e-6)
    risk = PairwiseRisk.of(ExponentialLoss(), y, k, weight, "sum")
    _, signed = risk.evaluate(scores)
    chosen = stagewise_weight(risk, scores, signed, outputs, discrete=True)
    assert chosen == pytest.approx(found.x, abs=1e-6)


@problems
@few
def test_real_weight_minimises_the_upper_bound(k, m, seed):
    scores, y, weight, outputs = draw(k, m, seed, real=True)
    Q, delta = pairs(scores, y, weight, outputs)
    half = delta / 2  # in [-1, 1], so that exp(-2 w half) has the paper's bound with 2 w

    def bound(w):
        return (Q * 0.5 * (np.exp(2 * w) * (1 - half) + np.exp(-2 * w) * (1 + half))).sum()

    found = minimiser(bound, -5, 5)
    edge = (Q * delta).sum()
    assert real_weight(edge) == pytest.approx(found.x, abs=1e-6)
    exact = (Q * np.exp(-delta * found.x)).sum()
    assert exact <= bound(found.x) + 1e-12
    assert bound(found.x) == pytest.approx(np.sqrt(1 - (edge / 2) ** 2))  # so the loss falls
    risk = PairwiseRisk.of(ExponentialLoss(), y, k, weight, "sum")
    _, signed = risk.evaluate(scores)
    chosen = stagewise_weight(risk, scores, signed, outputs, discrete=False)
    assert chosen == pytest.approx(found.x, abs=1e-6)


def test_weights_grow_with_the_evidence():
    assert discrete_weight(0.3, 0.3) == 0
    assert real_weight(0.0) == 0
    by_loss = [discrete_weight(0.5, lost) for lost in (0.4, 0.2, 0.1, 0.01)]
    by_edge = [real_weight(edge) for edge in (0.1, 0.5, 1.0, 1.9)]
    for weights in (by_loss, by_edge):
        assert weights == sorted(weights)
        assert weights[0] > 0
    # where h is discrete and orders or reverses every pair both formulas agree
    assert real_weight(2 * (0.8 - 0.2)) == pytest.approx(discrete_weight(0.8, 0.2))


@pytest.mark.parametrize("gained", [1.0, 0.5, 1e-3])
def test_nothing_lost_leaves_the_weight_finite(gained):
    weight = discrete_weight(gained, 0.0)
    assert np.isfinite(weight)
    assert weight >= discrete_weight(gained, 1e-3) >= 0
    assert np.isfinite(discrete_weight(0.0, 0.0))
    assert np.isfinite(real_weight(2.0))
    assert np.isfinite(real_weight(2.0 + 1e-12))


@pytest.mark.parametrize("weak_learner", ["stump", "real_stump"])
@pytest.mark.parametrize("loss", ["exponential", "logistic"])
def test_separable_data_gives_finite_weights(loss, weak_learner):
    X, y = make_blobs(30, 2, centers=[[-9, 0], [9, 0]], random_state=0)
    model = RBoostRankClassifier(
        20, n_projections=30, loss=loss, weak_learner=weak_learner, random_state=0, n_jobs=1
    ).fit(X, y)
    assert np.isfinite(model.weights_).all()
    assert (model.weights_ > 0).all()
    assert model.score(X, y) == 1


@problems
@few
def test_line_search_minimises_the_logistic_risk(k, m, seed):
    scores, y, weight, outputs = draw(k, m, seed, real=seed % 2 == 0)
    risk = PairwiseRisk.of(LogisticLoss(), y, k, weight, "sum")
    chosen = line_search(risk, scores, outputs)

    def along(w):
        return risk.evaluate(scores + w * outputs)[0]

    found = minimiser(along, 0, 20)
    assert along(chosen) <= found.fun + 1e-9 * (1 + found.fun)
    if min(along(found.x - 0.1), along(found.x + 0.1)) > found.fun + 1e-3:  # a sharp minimum
        assert chosen == pytest.approx(found.x, abs=1e-4)
    _, signed = risk.evaluate(scores)
    assert stagewise_weight(risk, scores, signed, outputs, discrete=True) == chosen


def test_line_search_stops_at_both_ends():
    y = np.array([0, 1])
    risk = PairwiseRisk.of(LogisticLoss(), y, 2, np.ones(2), "sum")
    right = np.array([[1.0, -1.0], [-1.0, 1.0]])
    for_ever = line_search(risk, np.zeros((2, 2)), right)
    assert np.isfinite(for_ever)
    assert for_ever > 5
    assert line_search(risk, np.zeros((2, 2)), -right) == 0
    assert line_search(risk, np.zeros((2, 2)), np.ones((2, 2))) >= 0


def log_loss_of_rounds(model, X, y):
    """``log sum_ir exp(-rho_ir)`` after every round, from the staged scores."""
    values = []
    for scores in model.staged_decision_function(X):
        margins = scores[np.arange(len(y)), y][:, None] - scores
        values.append(logsumexp(-margins[np.arange(scores.shape[1]) != y[:, None]]))
    return np.array(values)


@pytest.mark.parametrize("weak_learner", ["stump", "real_stump", "wlda"])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_exponential_loss_falls_with_every_round(weak_learner, seed):
    rng = np.random.default_rng(seed)
    X, y = make_blobs(60, 5, centers=4, cluster_std=3.0, random_state=seed)
    y = np.where(rng.random(60) < 0.1, rng.integers(4, size=60), y)
    model = RBoostRankClassifier(
        30, n_projections=40, weak_learner=weak_learner, random_state=seed, n_jobs=1
    ).fit(X, y)
    values = log_loss_of_rounds(model, X, y)
    assert len(values) == 30
    start = np.log(60 * 3)
    assert (np.diff([start, *values]) < 0).all()
    np.testing.assert_allclose(model.train_history_["loss"], values, rtol=1e-9)


def test_every_round_of_the_discrete_fit_gains_what_theory_says():
    # the minimum of (stagewise2) is 1 - (sqrt(Q+) - sqrt(Q-))^2, and edge = 2 (Q+ - Q-)
    X, y = make_blobs(60, 5, centers=3, cluster_std=4.0, random_state=3)
    model = RBoostRankClassifier(
        15, weak_learner="stump", n_projections=30, random_state=3, n_jobs=1
    ).fit(X, y)
    values = np.array([np.log(120), *log_loss_of_rounds(model, X, y)])
    half = model.train_history_["edge"] / 2
    ratio = np.exp(4 * model.weights_)  # Q+ / Q-
    lost = half / (ratio - 1)
    gained = lost + half
    expected = 1 - (np.sqrt(gained) - np.sqrt(lost)) ** 2
    np.testing.assert_allclose(np.exp(np.diff(values)), expected, rtol=1e-9)
