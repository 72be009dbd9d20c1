"""What the displays show, checked against scikit-learn and sums of our own."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
from sklearn.datasets import make_blobs  # noqa: E402
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.metrics import confusion_matrix, log_loss  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

from randomboost import (  # noqa: E402
    AdaBoostMHClassifier,
    AdaBoostMOClassifier,
    MultiBoostClassifier,
    RandomBoostClassifier,
    RBoostProjClassifier,
)
from randomboost.plots import (  # noqa: E402
    ConfusionDisplay,
    CriticalDifferenceDisplay,
    ErrorsDisplay,
    ImportanceDisplay,
    MarginDisplay,
    RegionsDisplay,
    ReliabilityDisplay,
    RoundsDisplay,
    TradeOffDisplay,
    WeightsDisplay,
)
from randomboost.plots.style import shorten, shorten_all  # noqa: E402


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def parts(noisy):
    X, y = noisy
    y = np.array(["ash", "beech", "cedar"])[y]
    return X[::2], y[::2], X[1::2], y[1::2]


@pytest.fixture(scope="module")
def model(parts):
    X, y, X_val, y_val = parts
    return RandomBoostClassifier(30, random_state=0, early_stopping=True, n_iter_no_change=8).fit(
        X, y, X_val=X_val, y_val=y_val
    )


def drawn(display):
    """Draw and return the texts of the picture."""
    display.figure_.canvas.draw()
    assert display.ax_.figure is display.figure_
    found = display.ax_.findobj(matplotlib.text.Text)
    return [text.get_text() for text in found if text.get_visible()]


def test_rounds_by_staged_predictions(model, parts):
    X, y, X_test, y_test = parts
    display = RoundsDisplay.from_estimator(model, X_test, y_test, X_train=X, y_train=y)
    assert list(display.curves) == ["training", "test", "validation"]
    expected = [np.mean(labels != y_test) for labels in model.staged_predict(X_test)]
    np.testing.assert_allclose(display.curves["test"], expected)
    # the validation part is the test part here, and has the rounds that were dropped too
    np.testing.assert_allclose(display.curves["validation"][: len(expected)], expected)
    assert display.kept == model.n_estimators_ < len(display.curves["validation"])
    assert f"{display.kept} rounds kept" in drawn(display)
    np.testing.assert_allclose(display.lines_[1].get_ydata(), expected)


def test_rounds_of_log_loss_and_objective(model, parts):
    X_test, y_test = parts[2:]
    display = RoundsDisplay.from_estimator(model, X_test, y_test, metric="log_loss")
    assert display.curves["test"][-1] == pytest.approx(
        log_loss(y_test, model.predict_proba(X_test), labels=model.classes_), rel=1e-5
    )
    display = RoundsDisplay.from_estimator(model, metric="objective")
    np.testing.assert_array_equal(display.curves["training"], model.train_history_["loss"])


def test_rounds_of_several_models_and_of_others(parts):
    X, y, X_test, y_test = parts
    other = GradientBoostingClassifier(n_estimators=3, random_state=0).fit(X, y)
    display = RoundsDisplay.from_predictions(y_test, {"other": other.staged_predict(X_test)})
    assert display.curves["other"][-1] == pytest.approx(1 - other.score(X_test, y_test))
    assert RoundsDisplay.from_estimator(other, X_test, y_test).curves.keys() == {"test"}
    RoundsDisplay({"one": [0.5, 0.1], "two": [0.4, 0.2]}).plot(log=True)


def test_weights_of_every_shape(model, parts):
    X, y = parts[:2]
    np.testing.assert_array_equal(WeightsDisplay.from_estimator(model).weights, model.weights_)
    other = AdaBoostMHClassifier(5, random_state=0).fit(X, y)
    expected = np.abs(other.weights_).reshape(other.n_estimators_, -1).sum(axis=1)
    np.testing.assert_allclose(WeightsDisplay.from_estimator(other).weights, expected)
    other = MultiBoostClassifier(5, random_state=0).fit(X, y)
    expected = np.abs(other.weights_).sum(axis=0)
    np.testing.assert_allclose(WeightsDisplay.from_estimator(other).weights, expected)
    other = RBoostProjClassifier(5, n_projections=40, random_state=0).fit(X, y)
    np.testing.assert_array_equal(WeightsDisplay.from_estimator(other).weights, other.weights_)
    other.set_params(selection="violation").fit(X, y)
    display = WeightsDisplay.from_estimator(other)
    np.testing.assert_allclose(display.weights, np.sort(other.weights_)[::-1])
    assert display.label == "projection, by weight"
    other = AdaBoostMOClassifier(4, random_state=0).fit(X, y)
    assert len(WeightsDisplay.from_estimator(other).weights) == 4


def test_half_of_the_weight():
    display = WeightsDisplay([4.0, 3.0, 2.0, 1.0, 1.0]).plot()
    assert any("first 2 of 5" in text for text in drawn(display))


def test_margins(model, parts):
    X, y, X_test, y_test = parts
    display = MarginDisplay.from_estimator(model, X_test, y_test, X_train=X, y_train=y)
    np.testing.assert_array_equal(display.margins["test"], np.sort(model.margins(X_test, y_test)))
    error = 100 * np.mean(model.predict(X_test) != y_test)
    assert f"test, {error:.3g}% at most 0" in drawn(display)


def test_margins_of_probabilities():
    shares = [[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.2, 0.5, 0.3]]
    display = MarginDisplay.from_predictions(["a", "a", "c"], shares, labels=["a", "b", "c"])
    np.testing.assert_allclose(display.margins["test"], [-0.2, -0.1, 0.5])
    turned = MarginDisplay.from_predictions(
        ["a", "a", "c"], np.array(shares)[:, ::-1], labels=["c", "b", "a"]
    )
    np.testing.assert_allclose(turned.margins["test"], [-0.2, -0.1, 0.5])


def test_confusions(model, parts):
    X_test, y_test = parts[2:]
    display = ConfusionDisplay.from_estimator(model, X_test, y_test)
    expected = confusion_matrix(y_test, model.predict(X_test))
    np.testing.assert_array_equal(display.matrix, expected)
    shown = [int(text.get_text().replace(",", "")) for text in display.display_.text_.flat]
    assert shown == expected.ravel().tolist()
    assert drawn(display).count("ash") == 2


@pytest.mark.parametrize("n_classes", [2, 40, 150])
def test_confusions_of_few_and_many_classes(n_classes):
    names = [f"a class with a long name, number {number} of many" for number in range(n_classes)]
    display = ConfusionDisplay(np.eye(n_classes, dtype=int), names).plot()
    texts = drawn(display)
    shown = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert len(set(shown)) == len(shown) <= 75
    assert ("1" in texts) == (n_classes <= 40)
    assert display.size[0] <= 12
    if n_classes <= 40:
        boxes = [label.get_window_extent() for label in display.ax_.get_yticklabels()]
        assert all(a.y0 >= b.y1 - 1 for a, b in itertools.pairwise(boxes))


def test_regions_are_what_is_predicted():
    X, y = make_blobs(200, centers=3, random_state=0)
    model = LogisticRegression().fit(X, y)
    display = RegionsDisplay.from_estimator(model, X, y, resolution=30)
    left, right, bottom, top = display.extent
    assert left < X[:, 0].min() < X[:, 0].max() < right
    for row, column in ((0, 0), (3, 25), (29, 29), (17, 4)):
        point = [
            left + (column + 0.5) / 30 * (right - left),
            bottom + (row + 0.5) / 30 * (top - bottom),
        ]
        assert model.classes_[display.class_numbers[row, column]] == model.predict([point])[0]
    assert len(display.points) == 200
    assert {"0", "1", "2"} <= set(drawn(display))


def test_regions_hold_the_other_features(parts):
    pandas = pytest.importorskip("pandas")
    X, y = parts[:2]
    table = pandas.DataFrame(X, columns=list("abcd"))
    table["e"] = pandas.Categorical(np.where(X[:, 0] > 0, "high", "low"), ["low", "high"])
    table["f"] = np.arange(len(X))
    model = RandomBoostClassifier(5, random_state=0).fit(table, y)
    display = RegionsDisplay.from_estimator(model, table, y, features=("d", 0), resolution=7)
    left, right, bottom, top = display.extent
    point = table.iloc[[0]].copy()
    point["d"], point["a"] = left + 0.5 / 7 * (right - left), bottom + 6.5 / 7 * (top - bottom)
    for name in "bcf":
        point[name] = table[name].median()
    point["e"] = pandas.Categorical([table["e"].mode()[0]], ["low", "high"])
    assert model.classes_[display.class_numbers[6, 0]] == model.predict(point)[0]
    assert display.names == ("d", "a")
    with pytest.raises(ValueError, match="does not hold numbers"):
        RegionsDisplay.from_estimator(model, table, features=("e", 0))
    with pytest.raises(ValueError, match="features has 'z'"):
        RegionsDisplay.from_estimator(model, table, features=("z", 0))


def test_importance_of_named_and_unnamed_features(model, parts):
    X, y = parts[:2]
    display = ImportanceDisplay.from_estimator(model, names=list("wxyz"), max_features=2)
    texts = drawn(display)
    top = np.argsort(-model.feature_importances_)
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == [
        "wxyz"[number] for number in top[:2]
    ]
    assert f"{model.feature_importances_[top[0]]:.3g}" in texts
    assert "feature 3" in ImportanceDisplay.from_estimator(model).names
    forest = make_pipeline(StandardScaler(), RandomForestClassifier(3, random_state=0)).fit(X, y)
    assert "x3" in ImportanceDisplay.from_estimator(forest).names


def test_reliability_and_calibration_error():
    shares = np.array([[0.95, 0.05], [0.92, 0.08], [0.38, 0.62], [0.65, 0.35], [0.5, 0.5]])
    display = ReliabilityDisplay.from_predictions([0, 1, 1, 0, 0], shares)
    # 0.4-0.5: one, right; 0.6-0.7: both right; 0.9-1.0: one of two right
    assert display.counts_.tolist() == [0, 0, 0, 0, 1, 0, 2, 0, 0, 2]
    expected = (0.5 + 2 * abs(0.635 - 1) + 2 * abs(0.935 - 0.5)) / 5
    assert display.calibration_error_ == pytest.approx(expected)
    assert f"calibration error {expected:.3f}" in drawn(display)


def test_critical_difference_diagram():
    errors = np.random.default_rng(0).random((20, 4)) * 0.1 + [0.0, 0.01, 0.5, 0.9]
    display = CriticalDifferenceDisplay.from_errors(errors, ["one", "two", "three", "four"])
    texts = drawn(display)
    found = display.comparison
    assert [text for text in texts if text in ("one", "two", "three", "four")] == [
        found.names[number] for number in np.argsort(found.ranks, kind="stable")
    ]
    assert f"{found.ranks[0]:.2f}" in texts
    assert f"{found.ranks[3]:.2f}" in texts
    assert f"critical difference {found.critical_difference:.2f}" in texts
    assert any("Nemenyi, 5%" in text for text in texts)
    with pytest.raises(ValueError, match="at least two"):
        CriticalDifferenceDisplay.from_errors(errors[:, :1])


def test_errors_and_trade_off():
    errors = np.array([[0.3, 0.1], [0.5, 0.2]])
    texts = drawn(ErrorsDisplay(errors, ["worse", "better"]).plot())
    assert texts.index("better") < texts.index("worse")
    assert "15.00%" in texts
    texts = drawn(TradeOffDisplay([2_000, 200_000], [0.3, 0.1], ["quick", "slow"]).plot())
    assert {"quick", "slow", "10k"} <= set(texts)
    display = TradeOffDisplay([np.nan, 2, 3], [0.1, 0.2, 0.3], ["a", "b", "c"]).plot()
    assert [line.get_label() for line in display.ax_.lines] == ["b", "c"]
    assert display.ax_.lines[0].get_marker() == "s"  # that of the second, as with all three
    narrow = TradeOffDisplay([0.0029, 0.0035, 0.0044], [0.1, 0.2, 0.3], ["a", "b", "c"]).plot()
    narrow.figure_.canvas.draw()
    low, high = narrow.ax_.get_xlim()
    shown = [tick for tick in narrow.ax_.get_xticks() if low <= tick <= high]
    assert 2 <= len(shown) <= 5  # labels that do not overlap
    with pytest.raises(ValueError, match="must be positive"):
        TradeOffDisplay([0, 1], [0.1, 0.2], ["a", "b"])


def test_a_pipeline_is_as_good_as_its_classifier(parts):
    X, y, X_test, y_test = parts
    pipeline = make_pipeline(StandardScaler(), RandomBoostClassifier(5, random_state=0)).fit(X, y)
    scaled = pipeline[0].transform(X_test)
    whole = RoundsDisplay.from_estimator(pipeline, X_test, y_test).curves["test"]
    last = RoundsDisplay.from_estimator(pipeline[-1], scaled, y_test).curves["test"]
    np.testing.assert_array_equal(whole, last)
    np.testing.assert_array_equal(
        MarginDisplay.from_estimator(pipeline, X_test, y_test).margins["test"],
        np.sort(pipeline[-1].margins(scaled, y_test)),
    )
    for display in (WeightsDisplay, ImportanceDisplay):
        display.from_estimator(pipeline)
    RegionsDisplay.from_estimator(pipeline, X_test, y_test, resolution=5)


def test_axes_that_are_given_are_used(model, parts):
    figure, axes = plt.subplots(1, 2)
    display = ReliabilityDisplay.from_estimator(model, *parts[2:], ax=axes[1])
    assert display.ax_ is axes[1]
    assert display.figure_ is figure
    assert len(plt.get_fignums()) == 1


def test_names_are_shortened_and_stay_distinct():
    assert shorten("a name") == "a name"
    assert len(shorten("x" * 100)) == 24
    assert shorten("costs $5\nor more") == r"costs \$5 or more"
    short = shorten_all([f"{'same ' * 10}{number}{' end' * 10}" for number in range(12)])
    assert len(set(short)) == 12
    assert max(map(len, short)) <= 24


def test_signs_of_formulas_in_names_are_plain_text():
    display = ConfusionDisplay([[1, 0], [0, 1]], ["$x^2", r"$\frac{$"]).plot()
    drawn(display)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: RoundsDisplay({}, metric="guess"), ValueError, "metric='guess'"),
        (lambda: WeightsDisplay([[1.0]]), ValueError, "weights has shape"),
        (lambda: MarginDisplay({"test": []}), ValueError, "has no margins"),
        (lambda: ConfusionDisplay([[1, 2]]), ValueError, "square"),
        (lambda: ImportanceDisplay([1.0], ["a", "b"]), ValueError, "names has 2"),
        (lambda: ReliabilityDisplay([0.5], [True], n_bins=0), ValueError, "n_bins=0"),
        (lambda: ErrorsDisplay([[0.1]], ["a", "b"]), ValueError, "for 2 names"),
        (
            lambda: MarginDisplay.from_predictions(["z"], [[0.5, 0.5]], labels=["a", "b"]),
            ValueError,
            "the label z",
        ),
        (
            lambda: RoundsDisplay.from_estimator(LogisticRegression(), [[0]], [0]),
            TypeError,
            "staged_predict",
        ),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_the_package_does_without_matplotlib():
    """Hide matplotlib: only randomboost.plots says that it is missing, and how to get it."""
    code = (
        "import sys; sys.modules['matplotlib'] = None; import randomboost\n"
        "try: import randomboost.plots\n"
        "except ImportError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ, check=True
    )
    assert "pip install randomboost[plots]" in done.stdout


def test_text_follows_the_style_of_matplotlib():
    with plt.style.context("dark_background"):
        display = ErrorsDisplay([[0.1, 0.2]], ["one", "two"]).plot()
        display.figure_.canvas.draw()
    for text in [*display.ax_.get_yticklabels(), display.ax_.xaxis.label]:
        assert text.get_color() == "white"
