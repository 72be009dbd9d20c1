"""The display of contributions shows what `explain` gives."""

from __future__ import annotations

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
pandas = pytest.importorskip("pandas")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

from randomboost import RandomBoostClassifier  # noqa: E402
from randomboost.plots import ContributionDisplay  # noqa: E402


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def task():
    rng = np.random.default_rng(0)
    X = pandas.DataFrame(rng.normal(size=(200, 5)), columns=list("abcde"))
    X["shade"] = np.where(rng.random(200) < 0.5, "dark", "pale")
    y = np.digitize(X["b"] + (X["shade"] == "dark"), [-0.3, 1.0])
    y = np.array(["ash", "beech", "cedar"])[y]
    return RandomBoostClassifier(15, random_state=0).fit(X, y), X


def names(display):
    return [label.get_text() for label in display.ax_.get_yticklabels()]


def widths(display):
    return [[bar.get_width() for bar in bars] for bars in display.ax_.containers]


def test_the_bars_of_a_row_add_up_to_its_score(task):
    model, X = task
    display = ContributionDisplay.from_estimator(model, X[3:4], max_features=2)
    explained = model.explain(X[3:4])
    assert len(names(display)) == 3
    assert names(display)[-1] == "4 other features"
    order = np.argsort(-np.abs(explained.values[0]))
    values = dict(zip(X.columns, X.iloc[3], strict=True))
    value = values[X.columns[order[0]]]
    shown = value if isinstance(value, str) else f"{value:.4g}"
    assert names(display)[0] == f"{X.columns[order[0]]} = {shown}"
    total = np.sum(widths(display)) + explained.base_values[0]
    assert total == pytest.approx(model.decision_function(X[3:4]).max(), abs=1e-5)
    assert f"score of {explained.classes[0]}" in display.ax_.get_title()


def test_many_rows_show_the_mean_of_absolute_contributions(task):
    model, X = task
    display = ContributionDisplay.from_estimator(model, X)
    strength = np.abs(model.explain(X).values).mean(axis=0)
    order = np.argsort(-strength)
    assert names(display) == [X.columns[number] for number in order]
    np.testing.assert_allclose(widths(display)[0], strength[order])
    assert display.ax_.get_title() == "score of the predicted class"


def test_classes_stand_side_by_side(task):
    model, X = task
    display = ContributionDisplay.from_estimator(model, X[:7], classes=["cedar", "ash"])
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert legend == ["cedar", "ash"]
    assert np.shape(widths(display)) == (2, 6)
    top = model.predict_topk(X[:7], 2)[0]
    assert (top != top[0]).any()
    display = ContributionDisplay(model.explain(X[:7], classes=top))
    legend = [text.get_text() for text in display.plot().ax_.get_legend().get_texts()]
    assert any(text.startswith("class ") for text in legend)


def test_pipelines_and_axes_of_ones_own(task):
    _, X = task
    numbers = X[list("abcde")].to_numpy()
    pipeline = make_pipeline(StandardScaler(), RandomBoostClassifier(5, random_state=0))
    pipeline.fit(numbers, numbers[:, 0] > 0)
    ax = plt.figure().subplots()
    display = ContributionDisplay.from_estimator(pipeline, numbers, ax=ax)
    assert display.ax_ is ax
    assert names(display)[0] == "feature 0"


def test_what_cannot_be_drawn_is_refused(task):
    model, X = task
    with pytest.raises(TypeError, match="needs an estimator with explain"):
        ContributionDisplay.from_estimator(LogisticRegression(), X)
    with pytest.raises(ValueError, match="max_features=0 shows nothing"):
        ContributionDisplay(model.explain(X), max_features=0)
    with pytest.raises(ValueError, match="explanation has no row"):
        ContributionDisplay(model.explain(X)[:0])
    with pytest.raises(ValueError, match="explain at most 5"):
        ContributionDisplay(model.explain(X, classes=["ash"] * 6))


def test_a_row_of_an_explanation_is_drawn_like_that_row(task):
    model, X = task
    for classes in (None, ["ash", "cedar"]):
        whole = ContributionDisplay.from_estimator(model, X[3:4], classes=classes)
        row = ContributionDisplay(model.explain(X[:6], classes)[3]).plot()
        assert names(row) == names(whole)
        assert row.ax_.get_title() == whole.ax_.get_title()
        np.testing.assert_allclose(widths(row), widths(whole), atol=1e-9)


def test_a_part_without_classes_is_refused(task):
    pytest.importorskip("shap")
    model, X = task
    with pytest.raises(TypeError, match="without classes: pass what explain"):
        ContributionDisplay(model.explain(X[:6])[:, "b"])
