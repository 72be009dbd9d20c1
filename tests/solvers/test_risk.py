"""The risk over pairs against plain double loops over samples and classes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import xlogy

from randomboost.losses import ExponentialLoss, LogisticLoss
from randomboost.solvers.risk import PairwiseRisk

CASES = [
    (ExponentialLoss(), "log-sum-exp"),
    (ExponentialLoss(), "sum"),
    (LogisticLoss(), "sum"),
    (LogisticLoss(), "mean"),
    (ExponentialLoss(), "mean"),
]
IDS = [f"{type(loss).__name__}-{form}" for loss, form in CASES]
each_case = pytest.mark.parametrize(("loss", "form"), CASES, ids=IDS)
problems = given(
    k=st.integers(2, 5), m=st.integers(1, 9), seed=st.integers(0, 10**6), size=st.floats(0.1, 5)
)
few = settings(deadline=None, max_examples=40)


def draw(k, m, seed, size):
    """Scores, class numbers and sample weights."""
    rng = np.random.default_rng(seed)
    return rng.normal(scale=size, size=(k, m)), rng.integers(k, size=m), rng.uniform(0.2, 3, m)


def plain_risk(loss, form, scores, y, weight):
    """Value and signed weights by two loops, straight from the paper's formulas."""
    k, m = scores.shape
    value, dual = 0.0, np.zeros((k, m))
    for i in range(m):
        for r in range(k):
            margin = scores[y[i], i] - scores[r, i]
            if r == y[i] and form != "mean":
                continue
            if form == "log-sum-exp":
                dual[r, i] = weight[i] * np.exp(-margin)
            else:
                part = weight[i] / (k * weight.sum()) if form == "mean" else weight[i]
                value += part * loss.value(np.array([margin]))[0]
                dual[r, i] = -part * loss.derivative(np.array([margin]))[0]
    if form == "log-sum-exp":
        value = np.log(dual.sum())
        dual /= dual.sum()
    signed = np.zeros((k, m))
    for i in range(m):
        for r in range(k):
            if r != y[i]:
                signed[r, i] -= dual[r, i]
                signed[y[i], i] += dual[r, i]
    return value, signed


def dual_value(loss, form, signed, y, weight):
    """The dual objective at signed weights: (rankDual), (AppDual2), (logDual)."""
    k, m = signed.shape
    value = loss.value(np.zeros(1))[0] / k if form == "mean" else 0.0
    for i in range(m):
        part = weight[i] / (k * weight.sum()) if form == "mean" else weight[i]
        for r in range(k):
            dual = -signed[r, i]
            if r == y[i]:
                continue
            if form == "log-sum-exp":
                value -= xlogy(dual, dual / weight[i])
            else:
                value -= part * loss.conjugate(np.array([-dual / part]))[0]
    return value


@each_case
@problems
@few
def test_value_and_signed_weights(loss, form, k, m, seed, size):
    scores, y, weight = draw(k, m, seed, size)
    value, signed = PairwiseRisk(loss, y, k, weight, form).evaluate(scores)
    plain_value, plain_signed = plain_risk(loss, form, scores, y, weight)
    np.testing.assert_allclose(value, plain_value, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(signed, plain_signed, rtol=1e-10, atol=1e-14)
    largest = np.abs(signed).max()
    np.testing.assert_allclose(signed.sum(axis=0), 0, atol=1e-12 * largest)
    if form == "log-sum-exp":
        np.testing.assert_allclose(signed[y, np.arange(m)].sum(), 1, rtol=1e-12)


@each_case
@problems
@few
def test_scores_are_left_alone(loss, form, k, m, seed, size):
    scores, y, weight = draw(k, m, seed, size)
    before = scores.copy()
    risk = PairwiseRisk(loss, y, k, weight, form)
    risk.evaluate(scores)
    np.testing.assert_array_equal(scores, before)


@each_case
@given(k=st.integers(2, 4), m=st.integers(1, 5), seed=st.integers(0, 10**6), size=st.floats(0.1, 2))
@few
def test_slope_by_the_scores_is_minus_the_signed_weight(loss, form, k, m, seed, size):
    scores, y, weight = draw(k, m, seed, size)
    risk = PairwiseRisk(loss, y, k, weight, form)
    value, signed = risk.evaluate(scores)
    step = 1e-5
    for r in range(k):
        for i in range(m):
            shift = np.zeros_like(scores)
            shift[r, i] = step
            high, low = risk.evaluate(scores + shift)[0], risk.evaluate(scores - shift)[0]
            slope = (high - low) / (2 * step)
            np.testing.assert_allclose(
                slope, -signed[r, i], rtol=1e-5, atol=1e-8 * (1 + abs(value))
            )


@each_case
@given(
    counts=st.lists(st.integers(1, 4), min_size=1, max_size=8),
    k=st.integers(2, 4),
    seed=st.integers(0, 1000),
)
@few
def test_a_weight_is_a_repetition(loss, form, counts, k, seed):
    scores, y, _ = draw(k, len(counts), seed, 1.0)
    value, signed = PairwiseRisk(loss, y, k, np.array(counts, float), form).evaluate(scores)
    again = np.repeat(np.arange(len(counts)), counts)
    long = PairwiseRisk(loss, y[again], k, np.ones(len(again)), form)
    long_value, long_signed = long.evaluate(scores[:, again])
    np.testing.assert_allclose(value, long_value, rtol=1e-12)
    summed = np.stack([long_signed[:, again == i].sum(axis=1) for i in range(len(counts))], axis=1)
    np.testing.assert_allclose(signed, summed, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize(
    ("loss", "form"), [(ExponentialLoss(), "log-sum-exp"), (LogisticLoss(), "mean")]
)
@pytest.mark.parametrize("size", [1e4, -1e4])
def test_huge_scores_do_not_overflow(loss, form, size):
    y = np.array([0, 1, 2, 0])
    scores = np.zeros((3, 4))
    scores[y, np.arange(4)] = size
    scores[0, 1] = size / 2
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        value, signed = PairwiseRisk(loss, y, 3, np.ones(4), form).evaluate(scores)
    assert np.isfinite(signed).all()
    if form == "log-sum-exp":
        # for 1e4 one pair is at a margin of 5e3 and the others at 1e4; for -1e4 one at -5e3
        expected = -5e3 if size > 0 else 1e4 + np.log(7)
        np.testing.assert_allclose(value, expected, rtol=1e-12)
        np.testing.assert_allclose(signed[y, np.arange(4)].sum(), 1, rtol=1e-12)
    else:
        expected = np.log(2) / 3 + (0 if size > 0 else 7.5 * 1e4 / 12)
        np.testing.assert_allclose(value, expected, rtol=1e-12)


def test_the_exponential_loss_becomes_log_sum_exp():
    y, ones = np.array([0, 1]), np.ones(2)
    assert PairwiseRisk.of(ExponentialLoss(), y, 2, ones, "sum").form == "log-sum-exp"
    assert PairwiseRisk.of(ExponentialLoss(), y, 2, ones, "mean").form == "log-sum-exp"
    assert PairwiseRisk.of(LogisticLoss(), y, 2, ones, "sum").form == "sum"
    assert PairwiseRisk.of(LogisticLoss(), y, 2, ones, "mean").form == "mean"


@each_case
@problems
@few
def test_every_feasible_dual_is_below_every_primal(loss, form, k, m, seed, size):
    scores, y, weight = draw(k, m, seed, size)
    rng = np.random.default_rng(seed + 1)
    risk = PairwiseRisk(loss, y, k, weight, form)
    columns = rng.choice([-1.0, 1.0], (6, k, m))  # outputs of six weak learners
    w = rng.exponential(0.3, 6)
    _, signed = risk.evaluate(scores)  # dual weights of unrelated scores
    edges = (columns * signed).sum(axis=(1, 2))
    nu = max(edges.max(), 0.0)  # the smallest nu for which they are feasible
    value, _ = risk.evaluate(np.tensordot(w, columns, 1))
    primal = value + nu * w.sum()
    assert dual_value(loss, form, signed, y, weight) <= primal + 1e-9 * (1 + abs(primal))


@each_case
@problems
@few
def test_the_gap_is_the_slackness(loss, form, k, m, seed, size):
    # Fenchel-Young: with u from the KKT conditions, primal - dual = sum_t w_t (nu - edge_t)
    scores, y, weight = draw(k, m, seed, min(size, 3.0))
    risk = PairwiseRisk(loss, y, k, weight, form)
    value, signed = risk.evaluate(scores)
    gap = value - dual_value(loss, form, signed, y, weight)
    np.testing.assert_allclose(
        gap, -(signed * scores).sum(), rtol=1e-8, atol=1e-8 * (1 + abs(value))
    )
