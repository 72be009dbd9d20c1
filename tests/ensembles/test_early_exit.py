"""Rows that leave the trees early have the label of all trees."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_trees import D, falling_trees, made_trees, stages
from numpy.testing import assert_array_equal

from randomboost.ensembles import early_exit, sparse_trees
from randomboost.ensembles.sparse_tree import SparseTree
from randomboost.ensembles.sparse_trees import SparseTrees
from randomboost.projections.directions import Directions
from randomboost.runtime.parallel import ThreadTeam
from randomboost.trees.leaves import Leaves

ONE, THREE = ThreadTeam(1), ThreadTeam(3)


@pytest.fixture(autouse=True, scope="module")
def many_classes():
    """Few classes are found by other kernels; see test_dense_trees."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sparse_trees, "MOST_CLASSES", 0)
        yield


@settings(max_examples=150, deadline=None)
@given(
    n_classes=st.sampled_from([2, 3, 10, 60]),
    n_trees=st.sampled_from([1, 5, 6, 7, 12, 13, 50]),
    ratio=st.sampled_from([1.0, 0.9, 0.5]),
    largest=st.sampled_from([0, 1, 3, 30_000]),
    spread=st.sampled_from([0, 1, 20]),
    seed=st.integers(0, 2**32 - 1),
)
def test_best_class_is_that_of_all_trees(n_classes, n_trees, ratio, largest, spread, seed):
    """Few different values make ties, of which the first class is the best."""
    rng = np.random.default_rng(seed)
    prior = rng.integers(-spread, spread + 1, n_classes)
    steps = np.unique(rng.integers(-largest, largest + 1, 6))
    trees = made_trees(rng, prior, ratio ** np.arange(n_trees), steps)
    X = rng.normal(size=(30, D))
    assert_array_equal(trees.best(X, ONE), stages(trees, X)[-1])


@pytest.mark.parametrize("n_rows", [1, 7, 256])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks_and_threads_do_not_change_a_label(monkeypatch, n_rows, dtype):
    monkeypatch.setattr(sparse_trees, "_WORTH", 0)
    monkeypatch.setattr(sparse_trees, "_ROWS", n_rows)
    trees = falling_trees()
    X = np.random.default_rng(1).normal(size=(300, D)).astype(dtype)
    expected = stages(trees, X)[-1]
    assert_array_equal(trees.best(X, ONE), expected)
    assert_array_equal(trees.best(X, THREE), expected)
    assert_array_equal(
        np.concatenate([trees.best(X[i : i + 1], ONE) for i in range(300)]), expected
    )


def test_bounds_are_those_of_plain_code():
    trees = falling_trees(n_trees=20)
    high, low = np.zeros((21, 9)), np.zeros((21, 9))
    for t, tree in enumerate(trees.trees()):
        np.maximum.at(high[t], tree.leaves.classes, tree.leaves.values)
        np.minimum.at(low[t], tree.leaves.classes, tree.leaves.values)
    largest = np.abs(trees.prior).max() + np.maximum(high, -low).max(axis=1).sum()
    for t, bound in enumerate(trees._lead_bounds):
        exact = high[t:].sum(axis=0).max() - low[t:].sum(axis=0).min()
        assert exact <= bound <= exact + 1.01 * (20 - t) * 2.0**-22 * largest + 1e-12


def test_a_lead_above_the_bound_is_kept():
    """After t trees the best class of a row with such a lead is the best one of all trees."""
    trees = falling_trees()
    X = np.random.default_rng(1).normal(size=(200, D))
    last = stages(trees, X)[-1]
    n_safe = 0
    for t, scores in enumerate(trees.staged_scores(X, ONE), start=1):
        ordered = np.sort(scores.astype(np.float64), axis=0)
        safe = ordered[-1] - ordered[-2] > trees._lead_bounds[t]
        assert_array_equal(scores.argmax(axis=0)[safe], last[safe])
        n_safe += safe.sum()
    assert 0.3 < n_safe / (200 * 40) < 1.0  # the case has both


def test_rows_leave_at_the_first_look():
    """With bounds that every lead exceeds, the trees after the first look are not added."""
    trees = falling_trees()
    X = np.random.default_rng(1).normal(size=(200, D))
    trees.__dict__["_lead_bounds"] = np.full(41, -1.0)
    early = stages(trees, X)[early_exit._FEWEST - 1]
    assert (early != stages(trees, X)[-1]).any()
    assert_array_equal(trees.best(X, ONE), early)


@pytest.mark.parametrize(("ahead", "expected"), [(44, 1), (48, 0), (50, 0)])
@pytest.mark.parametrize("swapped", [False, True])
def test_sums_that_are_rounded_up_every_time(ahead, expected, swapped):
    """Next to 2^24 single precision adds 2 where a leaf has 1.5: more than the leaves add up to."""
    prior = np.array([2.0**24 + ahead, 2.0**24])
    leaf = Leaves(np.arange(2), np.array([1 - swapped]), np.array([3]), 0.5, np.ones(1))
    tree = SparseTree(*(np.array([-1]) for _ in range(4)), leaf)
    assert 44 - 12 * 2 > 12 * 1.5  # the lead after half of the trees is safe without rounding
    directions = Directions(0, D, {"axis": D}, None, None)
    prior = prior[::-1] if swapped else prior
    trees = SparseTrees.pack(directions, [tree] * 24, prior.astype(np.float32), np.zeros((1, 5, 1)))
    X = np.zeros((2, D))
    first = 0 if ahead == 48 else 1 - expected if swapped else expected
    assert_array_equal(stages(trees, X)[-1], first)
    assert_array_equal(trees.best(X, ONE), first)


def test_no_row_leaves_where_scores_may_be_infinite():
    bounds = early_exit.lead_bounds(
        np.arange(3), np.zeros(2, np.uint16), np.full(2, 30_000, np.int16),
        np.full(2, 1e34, np.float32), np.zeros(2, np.float32),
    )  # fmt: skip
    assert np.isinf(bounds).all()
