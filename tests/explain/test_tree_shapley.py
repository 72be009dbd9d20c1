"""Contributions against Shapley values by their definition, over all sets of players."""

from __future__ import annotations

import math
from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from export_models import only_a_leaf
from sklearn.datasets import load_iris, load_wine, make_classification
from sklearn.inspection import permutation_importance

from randomboost import AdaBoostClassifier, RandomBoostClassifier, load
from randomboost.ensembles.sparse_trees import SparseTrees
from randomboost.explain.tree_contributions import divide
from randomboost.explain.tree_shapley import quadrature
from randomboost.runtime.parallel import ThreadTeam

trees = partial(RandomBoostClassifier, n_landmarks=0)


def leaf_vectors(tree, n_classes):
    """Return the dense vectors of a tree's leaves by node, and the weights of all nodes."""
    leaf = tree.columns < 0
    numbers = np.cumsum(leaf) - 1
    vectors, weights = {}, np.zeros(len(leaf))
    for node in reversed(range(len(leaf))):
        if leaf[node]:
            number = numbers[node]
            entries = slice(tree.leaves.starts[number], tree.leaves.starts[number + 1])
            vectors[node] = np.zeros(n_classes)
            vectors[node][tree.leaves.classes[entries]] = tree.leaves.values[entries]
            weights[node] = tree.leaves.covers[number]
        else:
            weights[node] = weights[tree.left[node]] + weights[tree.left[node] + 1]
    return vectors, weights


def expected(tree, parts, players, values, known, node=0):
    """Return what a tree gives if splits on known players follow the sample."""
    vectors, weights = parts
    if tree.columns[node] < 0:
        return vectors[node]
    left = tree.left[node]
    if players[tree.columns[node]] in known:
        side = left + int(values[tree.columns[node]] > tree.thresholds[node])
        return expected(tree, parts, players, values, known, side)
    return sum(
        weights[child] / weights[node] * expected(tree, parts, players, values, known, child)
        for child in (left, left + 1)
    )


def slow_contributions(model, x):
    """Return the Shapley values (n_players, n_classes) of a prepared sample, and base values."""
    ensemble = model.model_.ensemble
    rows = ensemble.directions.rows(np.arange(len(ensemble.directions))).toarray()
    single = (rows != 0).sum(axis=1) == 1
    values = np.where(single, (rows * np.where(rows == 0, 0, x)).sum(axis=1), 0)
    values[~single] = rows[~single] @ np.nan_to_num(x)
    d = len(x)
    players = [np.flatnonzero(row)[0] if single[v] else d + v for v, row in enumerate(rows)]
    contributions = np.zeros((d + len(rows), len(model.classes_)))
    base = ensemble.prior.astype(float)
    for tree in ensemble.trees():
        parts = leaf_vectors(tree, len(model.classes_))
        own = sorted({players[column] for column in tree.columns if column >= 0})
        gives = {
            frozenset(known): expected(tree, parts, players, values, known)
            for size in range(len(own) + 1)
            for known in combinations(own, size)
        }
        base = base + gives[frozenset()]
        for known, before in gives.items():
            for player in set(own) - known:
                sizes = len(known), len(own) - len(known) - 1
                weight = math.prod(map(math.factorial, sizes)) / math.factorial(len(own))
                contributions[player] += weight * (gives[known | {player}] - before)
    return contributions, base, rows


@pytest.mark.parametrize(
    "settings",
    [
        {"projection": "axis", "max_leaf_nodes": 12},
        {"projection": "axis", "max_leaf_nodes": 40, "class_weight": "balanced"},
        {"projection": "axis", "max_depth": 2},
        {"projection": ("sparse", 0.2), "n_projections": 8, "max_leaf_nodes": 12},  # one feature
    ],
)
def test_splits_on_single_features_give_exact_shapley_values(settings):
    X, y = load_wine(return_X_y=True)
    X = X[:, :6].copy()
    X[::9, 2] = np.nan
    model = trees(6, early_stopping=False, random_state=0, **settings).fit(X, y)
    some = X[::25]
    found = model.explain(some, classes=model.classes_)
    for i, x in enumerate(model.model_.inputs.scaled(some)):
        contributions, base, _ = slow_contributions(model, x)
        np.testing.assert_allclose(found.values[i], contributions[:6], atol=1e-9)
        np.testing.assert_allclose(found.base_values[i], base, atol=1e-9)
        assert np.abs(found.values[i]).max() > 0.01


@pytest.mark.parametrize("kind", ["sparse", "gaussian", "mixed"])
def test_a_mixture_is_one_player_and_divided_among_its_features(kind):
    X, y = load_iris(return_X_y=True)
    X[::11, 1] = np.nan
    model = trees(
        8, projection=kind, n_projections=6, max_leaf_nodes=8, early_stopping=False, random_state=1
    ).fit(X, y)
    some = X[::33]
    found = model.explain(some, classes=model.classes_)
    for i, x in enumerate(model.model_.inputs.scaled(some)):
        contributions, base, rows = slow_contributions(model, x)
        d, x = len(x), np.nan_to_num(x)
        values = contributions[:d].copy()
        for coefficients, gained in zip(rows, contributions[d:], strict=True):
            u = coefficients @ x
            for j in range(d):
                share = u * coefficients[j] * x[j] + coefficients[j] ** 2
                values[j] += gained * share / (u**2 + (coefficients**2).sum())
        np.testing.assert_allclose(found.values[i], values, atol=1e-9)
        np.testing.assert_allclose(found.base_values[i], base, atol=1e-9)


def test_a_rule_of_n_points_is_exact_for_polynomials_up_to_2_n():
    points, weights = quadrature(np.array([9, 1, 2, 4, 2]))
    for n in (1, 2, 4, 9):
        for power in range(2 * n):
            assert weights[n] @ points[n] ** power == pytest.approx(1 / (power + 1), rel=1e-12)


def test_shares_of_a_mixture_add_up_whatever_the_scale():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5, 4)) * 10.0 ** np.array([[-200], [-3], [0], [3], [200]])
    mixtures = sp.csr_array(np.vstack([rng.normal(size=(3, 4)), np.zeros(4)]))
    given = rng.normal(size=(4, 5))
    given[3] = 0  # a mixture of nothing, which splits nothing
    found = divide(given, mixtures, X)
    np.testing.assert_allclose(found.sum(axis=1), given.sum(axis=0), rtol=1e-12)


def assert_adds_up(model, X):
    found = model.explain(X)
    decision = model.decision_function(X)
    scores = np.abs(decision) if decision.ndim == 1 else decision.max(axis=1)
    np.testing.assert_allclose(found.scores, scores, atol=1e-5)
    np.testing.assert_array_equal(found.classes, model.predict(X))
    assert found.values.shape == (X.shape[0], X.shape[1])
    return found


@pytest.mark.parametrize("n_classes", [2, 3, 80])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_contributions_and_base_value_add_up_to_the_score(n_classes, dtype):
    X, y = make_classification(
        900, 12, n_informative=8, n_classes=n_classes, n_clusters_per_class=1, random_state=0
    )
    X = X.astype(dtype)
    model = RandomBoostClassifier(25, random_state=0, early_stopping=False).fit(X, y)
    assert_adds_up(model, X[:300])


@pytest.mark.parametrize("weighted", [False, True])
def test_base_values_are_the_mean_scores_of_the_training_data(weighted):
    X, y = load_wine(return_X_y=True)
    weight = np.random.default_rng(0).integers(1, 5, len(y)) if weighted else None
    model = trees(30, random_state=0, early_stopping=False).fit(X, y, weight)
    means = np.average(model.decision_function(X), axis=0, weights=weight)
    bases = model.explain(X[:1], classes=model.classes_).base_values[0]
    np.testing.assert_allclose(bases, means, atol=1e-3)  # covers are rounded
    assert np.abs(means - model.model_.ensemble.prior).max() > 0.1


def test_contributions_of_sparse_data_and_tables():
    X = sp.random(300, 40, 0.2, format="csr", random_state=0)
    y = np.where(np.asarray(X[:, :5].sum(axis=1)).ravel() > 0.5, "more", "less")
    found = assert_adds_up(RandomBoostClassifier(20, random_state=0).fit(X, y), X)
    np.testing.assert_array_equal(found.data, X.toarray())
    table = pd.DataFrame({"length": X[:, [0]].toarray().ravel()})
    table["shade"] = np.where(X[:, [1]].toarray().ravel() > 0, "dark", "pale")
    y = table["shade"] + np.where(table["length"] > 0, " and long", "")
    found = assert_adds_up(RandomBoostClassifier(20, random_state=0).fit(table, y), table)
    assert list(found.feature_names) == ["length", "shade"]
    assert found.display_data[0, 1] == table["shade"][0]


def test_trees_without_splits_contribute_nothing():
    X, y = load_iris(return_X_y=True)
    ensemble = trees(2, random_state=0).fit(X, y).model_.ensemble
    leaves = [only_a_leaf(tree) for tree in ensemble.trees()]
    only = SparseTrees.pack(
        ensemble.directions, leaves, ensemble.prior, ensemble.state, ensemble.n_members
    )
    team, classes = ThreadTeam(1), np.tile(np.arange(3), (5, 1))
    values, bases = only.contributions(X[:5], classes, team)
    assert values.shape == (5, 4, 3)
    assert not values.any()
    np.testing.assert_allclose(bases.T, only.scores(X[:5], team), atol=1e-6)


def test_threads_and_files_give_the_same_contributions(tmp_path):
    X, y = load_wine(return_X_y=True)
    model = RandomBoostClassifier(15, random_state=0, n_jobs=1).fit(X, y)
    model.save(tmp_path / "model.rboost")
    found = model.explain(X, classes=model.predict_topk(X, 2)[0])
    again = load(tmp_path / "model.rboost").set_params(n_jobs=3)
    np.testing.assert_array_equal(again.explain(X, classes=found.classes).values, found.values)


def test_the_classes_of_a_row_or_of_all():
    X, y = load_wine(return_X_y=True)
    labels = np.array(["barolo", "grignolino", "barbera"])[y]
    model = RandomBoostClassifier(15, random_state=0).fit(X, labels)
    every = model.explain(X, classes=model.classes_)
    assert every.values.shape == (len(X), 13, 3)
    mine = model.explain(X, classes=labels[:, None])
    own = np.searchsorted(model.classes_, labels)
    np.testing.assert_array_equal(mine.values[:, :, 0], every.values[np.arange(len(X)), :, own])
    two = every[[3, 5]]
    assert len(two) == 2
    np.testing.assert_allclose(two.scores, every.scores[[3, 5]], rtol=1e-12)
    assert every[-1].values.shape == (13, 3)


@pytest.mark.parametrize("classes", ["barolo", 1, [], [["barolo"]], np.zeros((2, 2, 2))])
def test_classes_of_another_shape_are_refused(classes):
    X, y = load_wine(return_X_y=True)
    model = RandomBoostClassifier(3, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="pass a list of labels"):
        model.explain(X, classes=classes)


def test_unknown_classes_and_other_classifiers_are_refused():
    X, y = load_wine(return_X_y=True)
    with pytest.raises(ValueError, match="classes has labels that do not occur"):
        RandomBoostClassifier(3, random_state=0).fit(X, y).explain(X, classes=[7])
    with pytest.raises(ValueError, match="AdaBoostClassifier has no explain: use"):
        AdaBoostClassifier(3).fit(X, y > 0).explain(X)


def test_relevant_features_come_first_as_in_permutation_importance():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 12))
    score = X[:, 4] + 0.6 * X[:, 7] + 0.35 * X[:, 1]
    y = np.digitize(score, np.quantile(score, [0.25, 0.5, 0.75]))
    model = RandomBoostClassifier(random_state=0).fit(X[:1000], y[:1000])
    strength = np.abs(model.explain(X[1000:]).values).mean(axis=0)
    permuted = permutation_importance(model, X[1000:], y[1000:], n_repeats=3, random_state=0)
    order = np.argsort(-strength)
    assert order[:3].tolist() == [4, 7, 1]
    assert order[:3].tolist() == np.argsort(-permuted.importances_mean)[:3].tolist()
    assert strength[1] > 3 * np.delete(strength, [1, 4, 7]).max()
