"""The searches that the classical family adds: many dichotomies, Gini stumps, few values."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_classification
from sklearn.ensemble import AdaBoostClassifier as SklearnAdaBoost
from sklearn.tree import DecisionTreeClassifier

from randomboost import AdaBoostClassifier
from randomboost.projections.points import FeaturePoints
from randomboost.runtime.parallel import ThreadTeam
from randomboost.search import binned
from randomboost.search.binned import BinnedColumns
from randomboost.search.per_dichotomy import DichotomySearch


@pytest.fixture(params=range(5))
def problem(request):
    rng = np.random.default_rng(request.param)
    X = np.hstack([rng.standard_normal((40, 3)), rng.integers(0, 4, (40, 2))])
    return X, rng.standard_normal((40, 7))


def _columns(X, n_threads=1):
    return BinnedColumns(FeaturePoints(X), ThreadTeam(n_threads), None)


def test_many_dichotomies_have_the_stumps_of_each(problem):
    X, weights = problem
    columns = _columns(X)
    all_columns = np.arange(X.shape[1])
    for n_threads in (1, 3):
        with ThreadTeam(n_threads) as team:
            features, thresholds, edges = DichotomySearch(columns, team).search(weights)
        for j in range(weights.shape[1]):
            assert (features[j], thresholds[j]) == columns.search(weights[:, j], all_columns)
            above = X[:, features[j]] > thresholds[j]
            assert_allclose(edges[j], weights[above, j].sum() - weights[~above, j].sum())


def test_no_cut_no_edge():
    with ThreadTeam(1) as team:
        found = DichotomySearch(_columns(np.ones((5, 2))), team).search(np.ones((5, 3)))
    assert_array_equal(found[1], -np.inf)
    assert_array_equal(found[2], 0.0)


def test_few_values_are_searched_as_many_are(problem, monkeypatch):
    X, weights = problem
    columns = _columns(X)
    subset = np.array([0, 2, 4])
    few = [columns.search(weights[:, j], subset) for j in range(weights.shape[1])]
    monkeypatch.setattr(binned, "_FEW_VALUES", 0)
    assert few == [columns.search(weights[:, j], subset) for j in range(weights.shape[1])]


def test_gini_stump_is_that_of_a_tree(problem):
    X, weights = problem
    columns = _columns(X)
    for j in range(weights.shape[1]):
        c = weights[:, j]
        feature, threshold = columns.search_gini(c, np.arange(X.shape[1]))
        tree = DecisionTreeClassifier(max_depth=1, random_state=0)
        tree.fit(X, c > 0, sample_weight=np.abs(c))
        assert feature == tree.tree_.feature[0]
        assert_allclose(threshold, tree.tree_.threshold[0])


@pytest.mark.parametrize("seed", [0, 1])
def test_adaboost_on_gini_stumps_is_scikit_learns(seed):
    X, y = make_classification(200, 8, flip_y=0.2, random_state=seed)
    ours = AdaBoostClassifier(60, weak_learner="gini_stump", scale=False).fit(X, y)
    theirs = SklearnAdaBoost(DecisionTreeClassifier(max_depth=1), n_estimators=60).fit(X, y)
    assert_allclose(2 * ours.weights_, theirs.estimator_weights_[: ours.n_estimators_])
    for one, other in zip(ours.staged_predict(X), theirs.staged_predict(X), strict=True):
        assert_array_equal(one, other)
