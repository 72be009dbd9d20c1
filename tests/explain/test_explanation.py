"""What `explain` returns, and the package shap beside it."""

from __future__ import annotations

import builtins

import numpy as np
import pytest
from sklearn.datasets import load_wine

from randomboost import RandomBoostClassifier

FRAME = load_wine(as_frame=True)
X, Y = FRAME.data, np.array(["barolo", "grignolino", "barbera"])[FRAME.target]


@pytest.fixture(scope="module")
def model():
    return RandomBoostClassifier(12, random_state=0).fit(X, Y)


@pytest.fixture
def without_shap(monkeypatch):
    """Make the import of shap fail, whether or not it is installed."""
    load = builtins.__import__

    def importing(name, *given, **named):
        if "shap" in name.split(".")[0] or name.endswith("shap_explanation"):
            raise ImportError(name)
        return load(name, *given, **named)

    monkeypatch.setattr(builtins, "__import__", importing)


def test_explain_returns_an_explanation_of_shap(model):
    shap = pytest.importorskip("shap")
    explained = model.explain(X[:20])
    assert isinstance(explained, shap.Explanation)
    assert explained.to_shap() is explained
    assert list(explained.feature_names) == list(X.columns)
    np.testing.assert_array_equal(explained.data, X[:20])
    several = model.explain(X[:20], classes=["barbera", "barolo"])
    assert several[:, :, "barolo"].values.shape == (20, 13)
    np.testing.assert_array_equal(several[:, :, "barolo"].values, several.values[:, :, 1])
    best = model.explain(X[:20], classes=model.predict_topk(X[:20], 2)[0])
    assert best.shape == (20, 13, 2)


PARTS = (0, -1, slice(3, 9), [2, 0], np.arange(20) % 3 == 0, np.int64(4))


@pytest.mark.parametrize("part", PARTS, ids=str)
@pytest.mark.parametrize("classes", [None, ["barbera", "barolo"], "best"])
def test_rows_are_the_same_with_and_without_shap(model, request, part, classes):
    pytest.importorskip("shap")
    if classes == "best":
        classes = model.predict_topk(X[:20], 2)[0]
    with_shap = model.explain(X[:20], classes)
    request.getfixturevalue("without_shap")
    plain = model.explain(X[:20], classes)
    assert type(plain).__name__ == "Explanation"
    for one, other in ((with_shap, plain), (with_shap[part], plain[part])):
        for name in ("values", "base_values", "data", "classes"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)
        np.testing.assert_allclose(one.scores, other.scores, rtol=1e-12)
        assert list(one.feature_names) == list(other.feature_names)
        assert len(one) == len(other)


def test_classes_follow_the_outputs(model):
    pytest.importorskip("shap")
    best = model.explain(X[:6], classes=model.predict_topk(X[:6], 2)[0])
    np.testing.assert_array_equal(best[:, :, 1].classes, best.classes[:, 1])
    np.testing.assert_array_equal(best[2:4][0].classes, best.classes[2])
    np.testing.assert_array_equal(best[[1, 3], :, 0].classes, best.classes[[1, 3], 0])
    named = model.explain(X[:6], classes=["barbera", "barolo"])[:, :, "barolo"]
    assert set(named.classes) == {"barolo"}
    np.testing.assert_allclose(named.scores, model.decision_function(X[:6])[:, 1], atol=1e-5)
    assert not hasattr(best[:, "proline"], "classes")


def test_the_plots_of_shap_take_an_explanation(model):
    shap = pytest.importorskip("shap")
    plt = pytest.importorskip("matplotlib.pyplot")
    explained = model.explain(X[:20])
    one = model.explain(X[:20], classes=model.classes_)[:, :, "barolo"]
    for draw in (shap.plots.beeswarm, shap.plots.bar):
        for rows in (explained, one):
            draw(rows, show=False)
            assert "proline" in [label.get_text() for label in plt.gca().get_yticklabels()]
            plt.close("all")
    for draw in (shap.plots.waterfall, shap.plots.bar):
        draw(explained[0], show=False)
        plt.close("all")
    shap.plots.scatter(one[:, "proline"], color=one, show=False)
    shap.plots.heatmap(explained, show=False)
    shap.plots.violin(explained, show=False)
    plt.close("all")
    assert "proline" in shap.plots.force(explained[0]).html()


def as_tree_of_shap(tree, n_classes):
    """Return a tree in the form that shap takes as a dict."""
    leaf = tree.columns < 0
    left = np.where(leaf, -1, tree.left)
    values = np.zeros((len(leaf), n_classes))
    weights = np.zeros(len(leaf))
    for number, node in enumerate(np.flatnonzero(leaf)):
        entries = slice(tree.leaves.starts[number], tree.leaves.starts[number + 1])
        values[node, tree.leaves.classes[entries]] = tree.leaves.values[entries]
        weights[node] = tree.leaves.covers[number]
    for node in np.flatnonzero(~leaf)[::-1]:
        weights[node] = weights[left[node]] + weights[left[node] + 1]
    return {
        "children_left": left,
        "children_right": np.where(leaf, -1, left + 1),
        "children_default": left,
        "features": np.where(leaf, -2, tree.columns),
        "thresholds": tree.thresholds,
        "values": values,
        "node_sample_weight": weights,
    }


def test_tree_explainer_of_shap_gives_the_same_for_single_features():
    shap = pytest.importorskip("shap")
    data = X.to_numpy()
    model = RandomBoostClassifier(
        15, projection="axis", n_landmarks=0, random_state=0, early_stopping=False
    ).fit(data, Y)
    trees = [as_tree_of_shap(tree, 3) for tree in model.model_.ensemble.trees()]
    explainer = shap.TreeExplainer({"trees": trees, "input_dtype": np.float64})
    explained = model.explain(data, classes=model.classes_)
    scaled = model.model_.inputs.scaled(data)
    np.testing.assert_allclose(explained.values, explainer.shap_values(scaled), atol=1e-6)
    base = explainer.expected_value + model.model_.ensemble.prior
    np.testing.assert_allclose(explained.base_values[0], base, atol=1e-6)


@pytest.mark.parametrize("background", [None, X[:20]], ids=["no background", "background"])
def test_tree_explainer_refuses_a_model_and_names_explain(model, background):
    shap = pytest.importorskip("shap")
    with pytest.raises(Exception, match=r"RandomBoostClassifier'>; use model.explain\(X\)"):
        shap.TreeExplainer(model, background)
    assert str(type(model)) == repr(type(model))  # only shap is told


def test_without_shap_the_error_says_what_to_install(model, without_shap):
    with pytest.raises(ImportError, match=r"pip install randomboost\[explain\]"):
        model.explain(X[:2]).to_shap()
