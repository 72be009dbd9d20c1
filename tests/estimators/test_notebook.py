"""What notebooks show of a classifier: scikit-learn's diagram, key figures, a learning curve."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import randomboost
from randomboost import AdaBoostMHClassifier, RandomBoostClassifier
from randomboost.estimators import CLASSIFIERS

X, y = load_wine(return_X_y=True)


def shown(model):
    """Return the HTML, the same in both ways that notebooks ask for it, once it is well-formed."""
    html = model._repr_mimebundle_()["text/html"]
    without_ids = [re.sub(r"sk-\w+-id-\d+", "", text) for text in (html, model._repr_html_())]
    assert re.sub(r"\d{3,}", "", without_ids[0]) == re.sub(r"\d{3,}", "", without_ids[1])
    HTMLParser().feed(html)
    return html


@pytest.mark.parametrize("name", sorted(CLASSIFIERS))
def test_fitted_models_have_key_figures_and_a_curve(name):
    target = y > 0 if name == "AdaBoostClassifier" else y
    model = CLASSIFIERS[name](n_estimators=4).fit(X, target)
    html = shown(model)
    assert "sk-top-container" in html
    assert f"<b>{model.n_estimators_}</b> round" in html
    assert "<b>13</b> features" in html
    assert html.count("<polyline") >= 1
    assert "script" not in html[html.index("<b>13</b>") :]


def test_the_curve_has_the_values_of_the_history():
    model = RandomBoostClassifier(20, random_state=0).fit(X[::2], y[::2], X_val=X, y_val=y)
    html = shown(model)
    losses = model.train_history_["loss"], model.train_history_["validation_loss"]
    assert html.count("<polyline") == 2
    assert f"training loss {losses[0][-1]:.4g}" in html
    assert f"validation loss {losses[1][-1]:.4g}" in html
    points = [
        [tuple(map(float, point.split(","))) for point in found.split()]
        for found in re.findall(r'points="([^"]*)"', html)
    ]
    highest = max(each.max() for each in losses)
    for curve, values in zip(points, losses, strict=True):
        assert len(curve) == len(values)
        np.testing.assert_allclose(
            [up for _, up in curve], 2 + (highest - values) / highest * 85, atol=0.06
        )


def test_models_that_are_not_fitted_keep_the_diagram_alone():
    html = shown(clone(RandomBoostClassifier()))
    assert "sk-top-container" in html
    assert "<polyline" not in html
    pipeline = make_pipeline(StandardScaler(), AdaBoostMHClassifier(3)).fit(X, y)
    assert "sk-top-container" in pipeline._repr_html_()


def test_odd_histories_do_not_fail(tmp_path):
    model = AdaBoostMHClassifier(3).fit(X, y)
    for history in ({}, {"loss": np.array([np.nan, np.inf])}, {"loss": np.array([0.0, 0.0])}):
        model.train_history_ = history
        assert "<b>3</b> rounds" in shown(model)
    model.train_history_ = {"loss": np.ones(10_000)}
    assert len(shown(model)) < len(shown(clone(model))) + 5000
    model.stopped_ = "<script>"
    assert "<script>" not in shown(model)[-3000:]
    model = AdaBoostMHClassifier(1).fit(X, y)
    assert "<b>1</b> round," in shown(model)
    model.save(tmp_path / "model.rboost")
    assert "<b>1</b> round," in shown(randomboost.load(tmp_path / "model.rboost"))


def test_without_diagrams_there_is_plain_text():
    model = AdaBoostMHClassifier(1).fit(X, y)
    with config_context(display="text"):
        assert set(model._repr_mimebundle_()) == {"text/plain"}
        assert not hasattr(model, "_repr_html_")
