"""Sparse scores, sketches and leaf vectors against dense NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import log_softmax, softmax

from randomboost.runtime.parallel import ThreadTeam
from randomboost.trees import leaf_sums, leaves
from randomboost.trees.lanes import empty_lanes, n_lanes
from randomboost.trees.leaves import LeafRules
from randomboost.trees.sketching import (
    find_units,
    pack_sketches,
    sketch,
    sketch_matrix,
    total_sizes,
)
from randomboost.trees.sparse_scores import (
    DENSE,
    SparseScores,
    cross_entropy,
    exponential,
    logarithm,
    make_prior,
)

ONE, THREE = ThreadTeam(1), ThreadTeam(3)
COUNTS = st.sampled_from([2, 3, 10, DENSE, DENSE + 1, 150])


def random_leaves(rng, n_leaves, n_classes, most):
    """Sparse vectors of leaves: starts, classes, values."""
    sizes = rng.integers(0, min(most, n_classes) + 1, n_leaves)
    classes = [np.sort(rng.choice(n_classes, size, replace=False)) for size in sizes]
    kind = np.uint16
    values = rng.normal(size=sizes.sum()).astype(np.float32)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return starts, np.concatenate(classes).astype(kind), values


def made_scores(rng, n_samples, n_classes, most, rounds=4, team=ONE):
    """Sparse scores after some trees, and the same as a dense array (n_samples, n_classes)."""
    prior = make_prior(rng.normal(size=n_classes))
    scores = SparseScores(prior, n_samples)
    dense = np.repeat(prior.scores[None], n_samples, axis=0)
    for _ in range(rounds):
        starts, classes, values = random_leaves(rng, 5, n_classes, most)
        places = rng.integers(0, 5, n_samples).astype(np.int32)
        scores.add(places, starts, classes, values, team)
        for i, leaf in enumerate(places):
            part = slice(starts[leaf], starts[leaf + 1])
            dense[i, classes[part]] += values[part]
    return scores, dense


def test_exponential():
    x = -np.geomspace(1e-6, 87, 2000).astype(np.float32)
    assert_allclose([exponential(v) for v in x], np.exp(x.astype(np.float64)), rtol=4e-7)
    assert exponential(np.float32(0)) == 1.0
    assert exponential(np.float32(-1000)) < 1e-37


def test_prior_is_a_distribution():
    prior = make_prior(np.array([3.0, 1.0, 2.0, 3.0]))
    assert_allclose(prior.shares.sum(), 1.0, rtol=1e-6)
    assert_allclose(np.exp(prior.scores), prior.shares, rtol=1e-6)
    assert_array_equal(prior.order, [0, 3, 2, 1])


@pytest.mark.parametrize("k", [2, 7, 1000, 100_000])
def test_a_prior_is_made_again_from_its_scores(k):
    """Or a warm start would not go on where it was."""
    for seed in range(5):
        prior = make_prior(3 * np.random.default_rng(seed).normal(size=k))
        for mine, again in zip(prior, make_prior(prior.scores), strict=True):
            assert_array_equal(again, mine)


@settings(deadline=None, max_examples=25)
@given(k=COUNTS, most=st.integers(1, 40), seed=st.integers(0, 99))
def test_scores_are_sums_of_leaves(k, most, seed):
    scores, dense = made_scores(np.random.default_rng(seed), 30, k, most)
    assert_array_equal(scores.dense(), dense.T)
    for i in range(30):
        mine = scores.classes[i, : scores.counts[i]]
        assert_array_equal(mine, np.unique(mine))
    assert_array_equal(scores.best(ONE), dense.argmax(axis=1))
    others, _ = made_scores(np.random.default_rng(seed), 30, k, most, team=THREE)
    assert_array_equal(others.dense(), scores.dense())


def test_only_touched_classes_are_kept():
    scores, _ = made_scores(np.random.default_rng(0), 30, 1000, 3, rounds=5)
    assert scores.counts.max() <= 15
    assert scores.classes.shape[1] < 1000


def test_best_class_of_equal_scores_is_the_first():
    prior = make_prior(np.zeros(100))
    scores = SparseScores(prior, 2)
    scores.add(
        np.array([0, 1], dtype=np.int32), np.array([0, 2, 3]),
        np.array([3, 50, 0], dtype=np.uint16), np.array([1, 1, -1], dtype=np.float32), ONE,
    )  # fmt: skip
    assert_array_equal(scores.best(ONE), [3, 1])


@settings(deadline=None, max_examples=25)
@given(k=COUNTS, most=st.integers(1, 40), q=st.integers(1, 9), seed=st.integers(0, 99))
def test_sketches_are_those_of_dense_gradients(k, most, q, seed):
    rng = np.random.default_rng(seed)
    scores, dense = made_scores(rng, 40, k, most)
    y = rng.integers(0, k, 40)
    weight = rng.uniform(0.5, 2.0, 40).astype(np.float32)
    matrix = rng.normal(size=(k, q)).astype(np.float32)
    found = sketch(scores, y, weight, matrix, ONE)
    p = softmax(dense.astype(np.float64), axis=1)
    gradients = (p - np.eye(k)[y]) * weight[:, None]
    assert_allclose(found.gradients, gradients @ matrix, atol=2e-5)
    assert_allclose(found.curvatures, weight * (1 - (p**2).sum(axis=1)), atol=2e-5)
    losses = -weight * log_softmax(dense.astype(np.float64), axis=1)[np.arange(40), y]
    assert_allclose(found.losses, losses, rtol=1e-4, atol=1e-5)
    mean = np.average(losses / weight, weights=weight)
    assert_allclose(cross_entropy(scores, y, weight, ONE), mean, rtol=1e-5)
    for one, other in zip(found, sketch(scores, y, weight, matrix, THREE), strict=True):
        assert_array_equal(one, other)


def test_logarithm_of_single_precision():
    x = np.concatenate([np.geomspace(1e-37, 1, 2000), 1 - np.geomspace(1e-7, 0.5, 500), [1.0]])
    x = x.astype(np.float32)
    found = np.array([logarithm(each) for each in x])
    assert_allclose(found, np.log(x.astype(np.float64)), rtol=3e-7, atol=1e-7)


def test_sketching_matrix():
    basis = sketch_matrix(1, 4, 3)
    assert_allclose(basis.T @ basis, np.eye(3), atol=1e-6)
    assert_allclose(basis.sum(axis=0), 0, atol=1e-6)
    matrix = sketch_matrix(1, 5000, 8)
    assert_allclose(matrix.T @ matrix / 5000, np.eye(8) / 8, atol=0.01)
    assert not np.array_equal(matrix, sketch_matrix(2, 5000, 8))
    assert_array_equal(matrix[:100], sketch_matrix(1, 100, 8))


@pytest.mark.parametrize("q", [1, 2, 6, 7, 14, 15])
def test_lanes_hold_rounded_sketches(q):
    rng = np.random.default_rng(0)
    scores, _ = made_scores(rng, 50, 20, 20)
    y, weight = rng.integers(0, 20, 50), np.ones(50, dtype=np.float32)
    sketches = sketch(scores, y, weight, rng.normal(size=(20, q)).astype(np.float32), ONE)
    rows = np.arange(0, 50, 2, dtype=np.uint32)
    words = empty_lanes(25, n_lanes(q))
    sizes = total_sizes(sketches, rows, THREE)
    assert_array_equal(sizes, total_sizes(sketches, rows, ONE))
    unit_g, unit_h = find_units(sizes)
    pack_sketches(sketches, rows, (unit_g, unit_h), words, ONE)
    curvatures, counts, numbers = words[:, 0], words[:, 1], words[:, 2:].astype(np.int64)
    assert_array_equal(counts, 1)
    assert_allclose(curvatures * unit_h, sketches.curvatures[rows], atol=0.51 * unit_h)
    assert_allclose(numbers[:, :q] * unit_g, sketches.gradients[rows], atol=0.51 * unit_g)
    assert not numbers[:, q:].any()
    assert 2**28 < np.abs(numbers).sum(axis=0).max() < 2**31
    assert 2**28 < curvatures.sum() < 2**31


def dense_sums(dense, y, weight, rows, rules):
    """Sums of gradients and hessians of every class in one leaf."""
    p = softmax(dense[rows].astype(np.float64), axis=1)
    true = np.eye(dense.shape[1], dtype=bool)[y[rows]]
    bounded = np.maximum(p, 1 / rules.largest_step) * (1 - p)
    hessians = np.where(true, bounded, p * (1 - p))
    weights = weight[rows, None]
    return (weights * (p - true)).sum(axis=0), (weights * hessians).sum(axis=0)


def dense_steps(dense, y, weight, rows, rules):
    """Newton's step of every class in one leaf, and its gain."""
    g, h = dense_sums(dense, y, weight, rows, rules)
    return -rules.rate * g / (h + rules.ridge), g**2 / (h + rules.ridge)


def gain_on(dense, y, weight, inner, outer, rules):
    """What the steps learnt from some samples gain on others."""
    steps, _ = dense_steps(dense, y, weight, inner, rules)
    g, h = dense_sums(dense, y, weight, outer, rules)
    return -(g * steps + h * steps**2 / 2).sum()


def make_leaves(scores, sketches, y, weight, places, taken, n_leaves, rules, team):
    """Return leaf vectors and their gains, which are the same from the sums of all leaves."""
    samples = leaf_sums.LeafSamples(
        scores, sketches, y, weight, places, taken, n_leaves, rules.largest_step
    )
    found, gains = leaves.make_leaves(samples, rules, team)
    same, same_gains = leaves.leaves_of_sums(samples.sums(team), scores.prior, rules, team)
    for one, other in zip((*found, gains), (*same, same_gains), strict=True):
        assert_array_equal(one, other)
    return found, gains


@settings(deadline=None, max_examples=25)
@given(k=COUNTS, s=st.integers(1, 160), most=st.integers(1, 40), seed=st.integers(0, 99))
def test_leaves_are_newton_steps(k, s, most, seed):
    rng = np.random.default_rng(seed)
    m, n_leaves = 40, 3
    scores, dense = made_scores(rng, m, k, most)
    y = rng.integers(0, k, m)
    weight = rng.uniform(0.5, 1.5, m).astype(np.float32)
    sketches = sketch(scores, y, weight, np.ones((k, 1), dtype=np.float32), ONE)
    places = rng.integers(0, n_leaves, m).astype(np.int32)
    rules = LeafRules(0.7, 0.1, s, 0.0, 10.0)
    taken = rng.random(m) < 0.6
    data = scores, sketches, y, weight, places, taken, n_leaves, rules
    leaves, gains_of_tree = make_leaves(*data, ONE)
    rows = np.arange(m)
    expected = np.zeros(2)
    for leaf in range(n_leaves):
        part = slice(leaves.starts[leaf], leaves.starts[leaf + 1])
        classes = leaves.classes[part].astype(int)
        assert_array_equal(classes, np.unique(classes))
        members = rows[places[rows] == leaf]
        if not len(members):
            continue
        inner, outer = members[taken[members]], members[~taken[members]]
        if len(outer):
            expected += [gain_on(dense, y, weight, inner, part, rules) for part in (inner, outer)]
        steps, gains = dense_steps(dense, y, weight, members, rules)
        assert_allclose(leaves.values[part], steps[classes], atol=float(leaves.unit) + 1e-5)
        assert len(classes) == min(s, k)
        left_out = np.setdiff1d(np.arange(k), classes)
        if len(left_out):
            assert gains[left_out].max() <= gains[classes].min() * (1 + 1e-4) + 1e-9
    if k <= DENSE:  # else classes that no sample of a leaf touched are not counted
        assert_allclose(gains_of_tree, expected, rtol=1e-3, atol=1e-4)
    again, other_gains = make_leaves(*data, THREE)
    assert_array_equal(other_gains, gains_of_tree)
    for one, other in zip(leaves, again, strict=True):
        assert_array_equal(one, other)


def test_classes_that_gain_little_are_left_out():
    rng = np.random.default_rng(0)
    scores, dense = made_scores(rng, 60, 20, 20)
    y, weight = rng.integers(0, 20, 60), np.ones(60, dtype=np.float32)
    sketches = sketch(scores, y, weight, np.ones((20, 1), dtype=np.float32), ONE)
    rules = LeafRules(1.0, 0.1, 20, 0.2, 10.0)
    places, rows = np.zeros(60, dtype=np.int32), np.arange(60)
    data = scores, sketches, y, weight, places, rows < 60, 1, rules
    leaves, _ = make_leaves(*data, ONE)
    _, gains = dense_steps(dense, y, weight, rows, rules)
    assert_array_equal(leaves.classes, np.flatnonzero(gains >= 0.2 * gains.max()))
