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


def test_the_fields_of_shap_are_those_of_the_explanation(model):
    pytest.importorskip("shap")
    explained = model.explain(X[:20])
    given = explained.to_shap()
    for name in ("values", "base_values", "data"):
        np.testing.assert_array_equal(getattr(given, name), getattr(explained, name))
    assert list(given.feature_names) == list(X.columns)
    several = model.explain(X[:20], classes=["barbera", "barolo"]).to_shap()
    assert several[:, :, "barolo"].values.shape == (20, 13)
    np.testing.assert_array_equal(several[:, :, "barolo"].values, several.values[:, :, 1])
    assert model.explain(X[:20], classes=model.predict_topk(X[:20], 2)[0]).to_shap().shape == (
        20,
        13,
        2,
    )


def test_the_plots_of_shap_take_an_explanation(model):
    shap = pytest.importorskip("shap")
    plt = pytest.importorskip("matplotlib.pyplot")
    explained = model.explain(X[:20]).to_shap()
    one = model.explain(X[:20], classes=model.classes_).to_shap()[:, :, "barolo"]
    for draw in (shap.plots.beeswarm, shap.plots.bar):
        for rows in (explained, one):
            draw(rows, show=False)
            assert "proline" in [label.get_text() for label in plt.gca().get_yticklabels()]
            plt.close("all")
    shap.plots.waterfall(explained[0], show=False)
    plt.close("all")


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
        15, projection="axis", scale=False, random_state=0, early_stopping=False
    ).fit(data, Y)
    trees = [as_tree_of_shap(tree, 3) for tree in model.model_.ensemble.trees()]
    explainer = shap.TreeExplainer({"trees": trees, "input_dtype": np.float64})
    explained = model.explain(data, classes=model.classes_)
    np.testing.assert_allclose(explained.values, explainer.shap_values(data), atol=1e-6)
    base = explainer.expected_value + model.model_.ensemble.prior
    np.testing.assert_allclose(explained.base_values[0], base, atol=1e-6)


def test_without_shap_the_error_says_what_to_install(model, monkeypatch):
    load = builtins.__import__

    def without_shap(name, *given, **named):
        if name.split(".")[0] == "shap":
            raise ImportError(name)
        return load(name, *given, **named)

    explained = model.explain(X[:2])
    monkeypatch.setattr(builtins, "__import__", without_shap)
    with pytest.raises(ImportError, match=r"pip install randomboost\[explain\]"):
        explained.to_shap()
