"""Decision trees as weak learners, and the paper's settings by name."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import randomboost
from randomboost import AdaBoostMHClassifier, RBoostProjClassifier, RBoostRankClassifier
from randomboost.weak_learners import small_tree
from randomboost.weak_learners.hypotheses import SmallTree

X, y = load_wine(return_X_y=True)


@pytest.mark.parametrize(
    "name",
    [
        "RBoostProjClassifier",
        "RBoostRankClassifier",
        "AdaBoostClassifier",
        "AdaBoostECCClassifier",
        "AdaBoostMHClassifier",
        "AdaBoostMOClassifier",
        "MultiBoostClassifier",
    ],
)
def test_trees_are_weak_learners_of_all_others(name):
    used = y < 2 if name == "AdaBoostClassifier" else y < 3
    train, test = (X[used][::2], y[used][::2]), (X[used][1::2], y[used][1::2])
    tree = small_tree() if name.startswith("RBoost") else "tree"
    model = getattr(randomboost, name)(n_estimators=15, weak_learner=tree, random_state=0)
    assert model.fit(*train).score(*test) > 0.85


def test_the_tree_is_small():
    assert small_tree().fit(X, y % 2).get_n_leaves() <= 8


def test_the_papers_settings():
    rank = RBoostRankClassifier.paper()
    assert (rank.n_estimators, rank.n_projections) == (1000, 20000)
    assert (rank.weak_learner, rank.loss, rank.projection) == ("stump", "exponential", "gaussian")
    proj = RBoostProjClassifier.paper(n_estimators=7)
    assert (proj.n_estimators, proj.n_projections, proj.iterations_per_round) == (7, 1000, None)
    assert proj.fit(X, y).n_estimators_ <= 7


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, DecisionTreeRegressor])
@pytest.mark.parametrize("leaves", [2, 8, 40])
def test_a_tree_as_arrays_predicts_and_weighs_features_like_the_tree(kind, leaves):
    weight = np.random.default_rng(0).uniform(0.1, 2.0, len(y))
    tree = kind(max_leaf_nodes=leaves, random_state=0).fit(X, y % 2, sample_weight=weight)
    arrays = SmallTree.from_sklearn(tree)
    np.testing.assert_array_equal(arrays.predict(X), tree.predict(X))
    importances = arrays.importances(X.shape[1])
    np.testing.assert_allclose(importances / importances.sum(), tree.feature_importances_)


def test_a_tree_without_splits():
    tree = SmallTree.from_sklearn(DecisionTreeRegressor().fit(X, np.full(len(X), 0.25)))
    np.testing.assert_array_equal(tree.predict(X[:3]), 0.25)


def test_no_scikit_learn_tree_is_kept():
    model = AdaBoostMHClassifier(n_estimators=3, weak_learner=DecisionTreeClassifier(max_depth=2))
    row = model.fit(X, y).model_.ensemble.rows[0]
    assert all(isinstance(weak.estimator, SmallTree) for weak in row.members())
