"""Losses against numeric derivatives and suprema, and a loss that a user brings along."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from sklearn.base import clone
from sklearn.datasets import make_blobs

from randomboost import RBoostProjClassifier, RBoostRankClassifier
from randomboost.losses import LOSSES, ExponentialLoss, LogisticLoss, Loss, get_loss


class SquaredHinge:
    """A user's loss: smooth, and flat from a margin of 1 on."""

    def value(self, margins):
        return 0.5 * np.maximum(1.0 - margins, 0.0) ** 2

    def derivative(self, margins):
        return -np.maximum(1.0 - margins, 0.0)

    def conjugate(self, dual):
        return dual + 0.5 * dual**2


class HuberHinge:
    """A user's loss: a hinge with its corner rounded off, and no conjugate."""

    def value(self, margins):
        missing = 1.0 - margins
        bend = np.clip(missing, 0.0, 2.0)
        return 0.25 * bend**2 + np.maximum(missing - 2.0, 0.0)

    def derivative(self, margins):
        return -0.5 * np.clip(1.0 - margins, 0.0, 2.0)


ALL = [ExponentialLoss(), LogisticLoss(), SquaredHinge(), HuberHinge()]
WITH_CONJUGATE = [loss for loss in ALL if hasattr(loss, "conjugate")]
MARGINS = st.floats(-20, 20)


def name(loss):
    return type(loss).__name__


@pytest.mark.parametrize("loss", ALL, ids=name)
@given(margin=MARGINS)
@settings(deadline=None, max_examples=40)
def test_derivative_is_the_central_difference(loss, margin):
    step = 1e-5
    at = np.array([margin - step, margin, margin + step])
    low, _, high = loss.value(at)
    slope = (high - low) / (2 * step)
    np.testing.assert_allclose(loss.derivative(at)[1], slope, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("loss", ALL, ids=name)
@given(first=MARGINS, second=MARGINS, share=st.floats(0, 1))
@settings(deadline=None, max_examples=40)
def test_convex_and_falling(loss, first, second, share):
    low, high = sorted([first, second])
    at = np.array([low, high, share * low + (1 - share) * high])
    at_low, at_high, between = loss.value(at)
    scale = 1 + abs(at_low)
    assert at_low >= at_high
    assert between <= share * at_low + (1 - share) * at_high + 1e-12 * scale
    slope_low, slope_high, _ = loss.derivative(at)
    assert slope_low <= slope_high + 1e-12 * scale
    assert slope_high <= 0
    assert loss.value(np.zeros(1))[0] > 0


@pytest.mark.parametrize("loss", WITH_CONJUGATE, ids=name)
@given(size=st.floats(1e-6, 1 - 1e-6))
@settings(deadline=None, max_examples=40)
def test_conjugate_is_the_supremum(loss, size):
    dual = -size

    def negative(margin):
        return float(loss.value(np.array([margin]))[0]) - dual * margin

    found = minimize_scalar(negative, bounds=(-40, 40), method="bounded", options={"xatol": 1e-9})
    np.testing.assert_allclose(loss.conjugate(np.array([dual]))[0], -found.fun, atol=1e-7)


@pytest.mark.parametrize("loss", WITH_CONJUGATE, ids=name)
@given(margin=st.floats(-8, 8))
@settings(deadline=None, max_examples=40)
def test_fenchel_young_is_tight_at_the_derivative(loss, margin):
    at = np.array([margin])
    slope = loss.derivative(at)
    np.testing.assert_allclose(loss.value(at) + loss.conjugate(slope), slope * at, atol=1e-8)


def test_conjugates_at_the_ends_of_their_domains():
    assert ExponentialLoss().conjugate(np.zeros(1))[0] == 0
    np.testing.assert_array_equal(LogisticLoss().conjugate(np.array([0.0, -1.0])), [0, 0])


def test_logistic_loss_takes_huge_margins():
    margins = np.array([-1e4, 1e4])
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        np.testing.assert_allclose(LogisticLoss().value(margins), [1e4, 0])
        np.testing.assert_allclose(LogisticLoss().derivative(margins), [-1, 0])


def test_get_loss_takes_names_and_objects():
    for key, kind in LOSSES.items():
        assert isinstance(get_loss(key), kind)
        assert isinstance(get_loss(key), Loss)
    mine = SquaredHinge()
    assert get_loss(mine) is mine


def test_get_loss_says_what_is_missing():
    class OnlyValue:
        def value(self, margins):
            return margins

    class NotCallable:
        value = 1.0

        def derivative(self, margins):
            return margins

    with pytest.raises(ValueError, match=r"'hinge' is unknown.*exponential.*logistic"):
        get_loss("hinge")
    with pytest.raises(ValueError, match=r"lacks the method\(s\) derivative:"):
        get_loss(OnlyValue())
    with pytest.raises(ValueError, match=r"lacks the method\(s\) value:"):
        get_loss(NotCallable())
    with pytest.raises(ValueError, match=r"lacks the method\(s\) value, derivative:"):
        get_loss(None)
    with pytest.raises(ValueError, match=r"loss.*derivative"):
        RBoostRankClassifier(loss=OnlyValue()).fit([[0.0], [1.0]], [0, 1])


MODELS = {
    "rank stagewise": RBoostRankClassifier(15, n_projections=40),
    "rank total": RBoostRankClassifier(15, n_projections=40, correction="total"),
    "proj total": RBoostProjClassifier(15, n_projections=40),
}


@pytest.mark.parametrize("loss", [SquaredHinge(), HuberHinge()], ids=name)
@pytest.mark.parametrize("kind", MODELS)
def test_a_users_loss_is_minimised(kind, loss):
    X, y = make_blobs(60, 5, centers=4, cluster_std=3.0, random_state=1)
    model = clone(MODELS[kind]).set_params(loss=loss, random_state=0, n_jobs=1).fit(X, y)
    assert model.score(X, y) > 0.6
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)

    # the noted objective is that of the user's loss, and it falls
    history = model.train_history_["loss"]
    assert history[-1] < history[0]
    is_proj, path = isinstance(model, RBoostProjClassifier), model.model_.ensemble.path
    for t, scores in enumerate(model.staged_decision_function(X)):
        margins = scores[np.arange(60), y][:, None] - scores
        losses = loss.value(margins)
        if is_proj:
            expected = losses.mean() + model.nu * path[t].sum()
        else:
            expected = losses.sum() - 60 * loss.value(np.zeros(1))[0]
            if path is not None:
                expected += model.nu * path[t].sum()
        if t + 1 < model.n_estimators_ or not is_proj:  # proj solves once more after the last round
            np.testing.assert_allclose(history[t], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("weak_learner", ["stump", "real_stump", "wlda"])
@pytest.mark.parametrize("kind", MODELS)
def test_a_flat_loss_ends_when_nothing_is_left_to_gain(kind, weak_learner):
    # every margin exceeds 1 after a few rounds, so that all dual weights are exactly 0
    X, y = make_blobs(60, 4, centers=3, random_state=0)
    model = clone(MODELS[kind]).set_params(
        loss=SquaredHinge(), weak_learner=weak_learner, random_state=0, n_jobs=1
    )
    if kind != "rank stagewise":  # which has no penalty
        model.set_params(nu=0.0)
    model.fit(X, y)
    assert model.score(X, y) == 1
    assert model.n_estimators_ < 15
    constant = 0.5 / 3 if kind == "proj total" else 0.0  # the terms r = y_i of (logPrimal)
    np.testing.assert_allclose(model.train_history_["loss"][-1], constant, atol=1e-9)
