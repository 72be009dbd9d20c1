"""``weak_learner="tree"`` outside RBoost-rank, and the paper's settings by name."""

from __future__ import annotations

import pytest
from sklearn.datasets import load_wine

import randomboost
from randomboost import RBoostProjClassifier, RBoostRankClassifier
from randomboost.weak_learners import small_tree

X, y = load_wine(return_X_y=True)


@pytest.mark.parametrize(
    "name",
    [
        "RBoostProjClassifier",
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
    model = getattr(randomboost, name)(n_estimators=15, weak_learner="tree", random_state=0)
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
