"""Trees of few classes: the same scores and labels as one tree after the other."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from made_trees import D, falling_trees, made_trees, stages
from numpy.testing import assert_array_equal

from randomboost.ensembles import dense_trees
from randomboost.ensembles.sparse_tree import SparseTree
from randomboost.ensembles.sparse_trees import SparseTrees
from randomboost.projections.directions import Directions
from randomboost.runtime.parallel import ThreadTeam
from randomboost.trees.leaves import Leaves

ONE, THREE = ThreadTeam(1), ThreadTeam(3)


def rows(n=300, seed=1):
    return np.random.default_rng(seed).normal(size=(n, D))


def deep_trees(n_trees=9, n_classes=5, depth=6, seed=0):
    """Trees whose right child is always split again, along single features and mixtures."""
    rng = np.random.default_rng(seed)
    directions = Directions(3, 6, {"axis": 6, "sparse": 5, "gaussian": 4}, None, None)
    trees = []
    for _ in range(n_trees):
        n_nodes = 2 * depth + 1
        inner = np.array(
            [node == 0 or (node % 2 == 0 and node < 2 * depth) for node in range(n_nodes)]
        )
        columns = np.where(inner, rng.integers(0, len(directions), n_nodes), -1).astype(np.int32)
        left = np.where(inner, np.arange(n_nodes) + 1, -1).astype(np.int32)
        starts = np.arange(depth + 2) * 2
        classes = [np.sort(rng.permutation(n_classes)[:2]) for _ in range(depth + 1)]
        leaves = Leaves(
            starts, np.concatenate(classes).astype(np.uint16),
            rng.integers(-30, 30, 2 * depth + 2).astype(np.int16), np.float32(0.37),
            np.ones(depth + 1, np.uint16),
        )  # fmt: skip
        thresholds = rng.normal(size=n_nodes) - 1.0
        trees.append(SparseTree(columns, thresholds, left, np.ones(n_nodes, np.float32), leaves))
    prior = rng.normal(size=n_classes).astype(np.float32)
    return SparseTrees.pack(directions, trees, prior, np.zeros((1, 5, 3)))


@settings(max_examples=150, deadline=None)
@given(
    n_classes=st.sampled_from([2, 3, 8, 10, 60, 64]),
    n_trees=st.sampled_from([1, 7, 8, 9, 17, 50]),
    ratio=st.sampled_from([1.0, 0.9, 0.5]),
    largest=st.sampled_from([0, 1, 3, 30_000]),
    spread=st.sampled_from([0, 1, 20]),
    started=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_labels_are_those_of_all_trees(n_classes, n_trees, ratio, largest, spread, started, seed):
    """Few different values make ties, of which the first class is the best."""
    rng = np.random.default_rng(seed)
    prior = rng.integers(-spread, spread + 1, n_classes)
    steps = np.unique(rng.integers(-largest, largest + 1, 6))
    trees = made_trees(rng, prior, ratio ** np.arange(n_trees), steps)
    X = rows(90, seed)
    scores = list(trees.staged_scores(X, ONE))[-1]
    assert_array_equal(trees.scores(X, ONE), scores)
    start = rng.integers(-largest - 3, largest + 4, scores.shape).astype(np.float32)
    if started:
        assert_array_equal(trees.best_from(start, X, ONE), (scores + start).argmax(axis=0))
    else:
        assert_array_equal(trees.best(X, ONE), scores.argmax(axis=0))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("holes", [False, True])
def test_mixtures_and_deep_trees(dtype, holes):
    trees = deep_trees()
    X = np.random.default_rng(1).normal(size=(200, 6)).astype(dtype)
    X[::3, 1] = np.nan if holes else 0
    scores = list(trees.staged_scores(X, ONE))[-1]
    assert len(np.unique(scores, axis=1)) > 3
    assert_array_equal(trees.scores(X, ONE), scores)
    assert_array_equal(trees.best(X, ONE), scores.argmax(axis=0))
    if not holes:
        sparse = sp.csr_array(np.where(X > 0.3, X, 0))
        assert_array_equal(trees.scores(sparse, THREE), trees.scores(sparse.toarray(), ONE))
        assert_array_equal(trees.best(sparse, THREE), trees.best(sparse.toarray(), ONE))


@pytest.mark.parametrize("chunk", [64, 128])
def test_threads_chunks_and_other_rows_change_nothing(monkeypatch, chunk):
    monkeypatch.setattr(dense_trees, "_WORTH", 0)
    monkeypatch.setattr(dense_trees, "_CHUNK", chunk)
    trees, X = falling_trees(), rows(700)
    start = np.random.default_rng(2).normal(size=(9, 700)).astype(np.float32)
    scores, labels = trees.scores(X, ONE), trees.best_from(start, X, ONE)
    assert_array_equal(trees.scores(X, THREE), scores)
    assert_array_equal(trees.best_from(start, X, THREE), labels)
    for part in (slice(0, 1), slice(63, 66), slice(None, None, -1)):
        own, begin = np.ascontiguousarray(X[part]), np.ascontiguousarray(start[:, part])
        assert_array_equal(trees.scores(own, ONE), scores[:, part])
        assert_array_equal(trees.best_from(begin, own, ONE), labels[part])
    assert trees.best(X[:0], ONE).shape == (0,)
    assert trees.scores(X[:0], ONE).shape == (9, 0)


def test_more_classes_go_another_way_to_the_same_scores(monkeypatch):
    trees, X = falling_trees(), rows()
    start = np.random.default_rng(2).normal(size=(9, 300)).astype(np.float32)
    few = trees.scores(X, ONE), trees.best(X, ONE), trees.best_from(start, X, ONE)
    monkeypatch.setattr("randomboost.ensembles.sparse_trees.MOST_CLASSES", 8)
    del trees.__dict__["_dense"]
    many = trees.scores(X, ONE), trees.best(X, ONE), trees.best_from(start, X, ONE)
    for found, expected in zip(many, few, strict=True):
        assert_array_equal(found, expected)


def test_bounds_are_those_of_plain_code():
    trees = falling_trees(n_trees=20)
    high, low = np.zeros((21, 9)), np.zeros((21, 9))
    for t, tree in enumerate(trees.trees()):
        np.maximum.at(high[t], tree.leaves.classes, tree.leaves.values)
        np.minimum.at(low[t], tree.leaves.classes, tree.leaves.values)
    up, down, largest = trees._dense._bounds
    expected = np.abs(trees.prior).max() + np.maximum(high, -low).max(axis=1).sum()
    assert largest == pytest.approx(expected)
    for t in range(21):
        np.testing.assert_allclose(up[t, :9], high[t:].sum(axis=0), rtol=1e-6)
        margin = (20 - t) * 2.0**-21 * largest
        np.testing.assert_allclose(down[t, :9], margin - low[t:].sum(axis=0), rtol=1e-6)


def test_rows_leave_once_they_are_safe():
    """With bounds that every lead exceeds, no tree is added; with none, all are."""
    trees, X = falling_trees(), rows(200)
    up, down, _ = trees._dense._bounds
    trees._dense._bounds = up, np.full_like(down, -np.inf), 0.0
    assert_array_equal(trees.best(X, ONE), trees.prior.argmax())
    trees._dense._bounds = up, np.where(np.arange(41)[:, None] < 8, np.inf, -np.inf) + 0 * down, 0.0
    early = stages(trees, X)[7]
    assert (early != stages(trees, X)[-1]).any()
    assert_array_equal(trees.best(X, ONE), early)


@pytest.mark.parametrize("ahead", [44, 48, 50])
@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("started", [False, True])
def test_sums_that_are_rounded_up_every_time(ahead, swapped, started):
    """Next to 2^24 single precision adds 2 where a leaf has 1.5: more than the leaves add up to."""
    high = np.array([2.0**24 + ahead, 2.0**24], np.float32)
    high = high[::-1].copy() if swapped else high
    leaf = Leaves(np.arange(2), np.array([1 - swapped]), np.array([3]), 0.5, np.ones(1))
    tree = SparseTree(*(np.array([-1]) for _ in range(4)), leaf)
    directions = Directions(0, D, {"axis": D}, None, None)
    prior, start = (0 * high, high) if started else (high, 0 * high)
    trees = SparseTrees.pack(directions, [tree] * 24, prior, np.zeros((1, 5, 1)))
    X = np.zeros((2, D))
    scores = list(trees.staged_scores(X, ONE))[-1]
    start = np.repeat(start[:, None], 2, axis=1)
    assert_array_equal(trees.best_from(start, X, ONE), (scores + start).argmax(axis=0))


def test_no_row_leaves_where_scores_may_be_infinite():
    steps = np.full((2, 8), 30_000, np.int16)
    units, prior = np.full(2, 1e34, np.float32), np.zeros(2, np.float32)
    assert np.isinf(dense_trees.lead_bounds(steps, units, np.arange(3), prior)[1]).all()
