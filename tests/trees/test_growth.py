"""Growing sketched trees, against slow and plain forms."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from randomboost.runtime.compiling import kernel
from randomboost.runtime.parallel import ThreadTeam
from randomboost.trees import growth
from randomboost.trees.growth import SketchRules, grow_sketched_tree
from randomboost.trees.lanes import (
    add_lanes,
    copy_lanes,
    empty_lanes,
    lane_kind,
    n_lanes,
    scan_cuts,
    subtract_lanes,
)
from randomboost.trees.splitting import draw_directions

ONE, THREE = ThreadTeam(1), ThreadTeam(3)


@pytest.fixture
def all_threads(monkeypatch):
    """Have threads share even small trees."""
    monkeypatch.setattr(growth, "_ALONE", 0)


def made_samples(m=300, n_directions=5, n_bins=16, q=6, seed=0):
    """Bins, and curvature, count and sketches of samples as whole numbers (m, 2 + q)."""
    rng = np.random.default_rng(seed)
    bins = rng.integers(0, n_bins, (m, n_directions)).astype(np.uint8)
    signal = np.sin(bins[:, :1] / 3.0) + (bins[:, 1:2] > n_bins // 2)
    sketches = 1000 * (signal * rng.normal(size=q) + rng.normal(size=(m, q)))
    curvatures = rng.integers(1, 100, (m, 1))
    return bins, np.hstack([curvatures, np.ones((m, 1), int), sketches.astype(int)])


def grown(bins, numbers, rules, n_drawn=None, key=5, team=ONE, rows=None, directions=None):
    m, width = numbers.shape
    rows = np.arange(m) if rows is None else rows
    words = empty_lanes(2, len(rows), n_lanes(width - 2))
    words[0] = 0
    words[0, :, :width] = numbers[rows]
    directions = np.array([0, bins.shape[1]]) if directions is None else directions
    return grow_sketched_tree(
        bins, np.stack([rows, rows]).astype(np.uint32), words, rules, directions,
        n_drawn or bins.shape[1], key, team,
    )  # fmt: skip


def gain_of(numbers, ridge):
    return (numbers[:, 2:].sum(axis=0) ** 2.0).sum() / (numbers[:, 0].sum() + ridge)


def best_split(bins, numbers, members, rules):
    """Gain, direction and cut of the best split of a node, by trying all of them."""
    best = 0.0, -1, -1
    before = gain_of(numbers[members], rules.ridge)
    for column in range(bins.shape[1]):
        for cut in range(rules.n_bins - 1):
            right = bins[members, column] > cut
            if min(right.sum(), (~right).sum()) < rules.min_samples_leaf:
                continue
            parts = members[~right], members[right]
            gain = sum(gain_of(numbers[part], rules.ridge) for part in parts) - before
            if gain > best[0] + 1e-9 * before:
                best = gain, column, cut
    return best


def slow_tree(bins, numbers, rules):
    """The same tree by plain code: lists of (column, cut, left child, gain)."""
    nodes = [[-1, -1, -1, 0.0]]
    members, depths, found = [np.arange(len(bins))], [0], [None]
    while True:
        for node in range(len(nodes)):
            if found[node] is None:
                deep = depths[node] >= rules.max_depth
                nothing = 0.0, -1, -1
                split = nothing if deep else best_split(bins, numbers, members[node], rules)
                found[node] = split
        waiting = [n for n in range(len(nodes)) if nodes[n][2] < 0 and found[n][0] > 0]
        room = rules.max_leaves - (len(nodes) + 1) // 2
        n = min(-(-len(waiting) // 2), room)
        if n <= 0:
            return nodes
        for node in sorted(sorted(waiting, key=lambda n: -found[n][0])[:n]):
            gain, column, cut = found[node]
            nodes[node] = [column, cut, len(nodes), gain]
            right = bins[members[node], column] > cut
            for part in (members[node][~right], members[node][right]):
                nodes.append([-1, -1, -1, 0.0])
                members.append(part)
                depths.append(depths[node] + 1)
                found.append(None)


@kernel
def change_rows(target, source, kind):
    add_lanes(target, 3, source, 7, kind)
    copy_lanes(target, 5, source, 2, kind)
    subtract_lanes(target, 6, source, 1, kind)


@kernel
def scan(rows, first, places, n, totals, node, ridge, least, sums, gains, kind):
    return scan_cuts(rows, first, places, n, totals, node, ridge, least, sums, gains, kind)


@pytest.mark.parametrize("width", [8, 16, 32, 64])
def test_rows_of_lanes_are_added_and_copied(width):
    rng = np.random.default_rng(0)
    source, target = (rng.integers(-(2**20), 2**20, (9, width)).astype(np.int32) for _ in range(2))
    expected = target.copy()
    expected[3] += source[7]
    expected[5] = source[2]
    expected[6] -= source[1]
    change_rows(target, source, lane_kind(width))
    assert_array_equal(target, expected)


@pytest.mark.parametrize("width", [8, 16, 32, 64])
@pytest.mark.parametrize("least", [1, 30])
def test_scan_finds_the_gains_of_plain_code(width, least):
    rng = np.random.default_rng(width)
    rows = rng.integers(-(2**14), 2**14, (40, width)).astype(np.int32)
    rows[:, :2] = rng.integers(1, 9, (40, 2))
    places = np.sort(rng.choice(20, 12, replace=False))
    before = rows.copy()
    totals = np.stack([rows[0], rows[10 + places].sum(axis=0)]).astype(np.int32)
    sums = np.zeros((20, width), dtype=np.int32)
    limits = np.float32(2.0), np.float32(least)
    found = np.empty(20, dtype=np.float32)
    best = scan(rows, 10, places, 12, totals, 1, *limits, sums, found, lane_kind(width))
    left = np.cumsum(before[10 + places], axis=0).astype(float)
    right = left[-1] - left
    gains = sum((part[:, 2:] ** 2).sum(axis=1) / (part[:, 0] + 2.0) for part in (left, right))
    gains[np.minimum(left[:, 1], right[:, 1]) < least] = 0.0
    assert_allclose(found[:12], gains, rtol=1e-5)
    assert best == found[:12].max()
    assert_array_equal(sums[:12], left)
    before[10 + places] = 0
    assert_array_equal(rows, before)


@pytest.mark.parametrize("q", [1, 4, 6, 7, 15, 31])
@pytest.mark.parametrize(
    "rules",
    [
        SketchRules(20, 50, 1, 30.0, 16),
        SketchRules(64, 3, 1, 1.0, 16),
        SketchRules(9, 50, 20, 0.0, 16),
    ],
)
def test_tree_is_that_of_plain_code(q, rules):
    bins, numbers = made_samples(q=q)
    tree = grown(bins, numbers, rules)
    expected = slow_tree(bins, numbers, rules)
    columns, cuts, left, gains = zip(*expected, strict=True)
    assert_array_equal(tree.columns, columns)
    assert_array_equal(tree.cuts, cuts)
    assert_array_equal(tree.left, left)
    assert_allclose(tree.gains, gains, rtol=1e-6)
    assert len(columns) > 5


@pytest.mark.parametrize("n_bins", [2, 16, 64, 65, 256])
def test_small_and_large_nodes_and_any_number_of_bins(n_bins):
    bins, numbers = made_samples(m=120, n_bins=n_bins)
    rules = SketchRules(40, 50, 1, 3.0, n_bins)
    expected = [node[:3] for node in slow_tree(bins, numbers, rules)]
    tree = grown(bins, numbers, rules)
    assert_array_equal(np.stack(tree[:3], axis=1), expected)


@pytest.mark.usefixtures("all_threads")
@pytest.mark.parametrize("n_drawn", [3, 17, 40])
def test_threads_and_order_of_samples_do_not_change_a_tree(n_drawn):
    bins, numbers = made_samples(m=2000, n_directions=40)
    rules = SketchRules(60, 50, 2, 3.0, 16)
    tree = grown(bins, numbers, rules, n_drawn)
    assert len(tree.columns) == 119
    for team in (ThreadTeam(2), THREE, ThreadTeam(7)):
        for one, other in zip(tree, grown(bins, numbers, rules, n_drawn, team=team), strict=True):
            assert_array_equal(one, other)
    rows = np.random.default_rng(1).permutation(2000)
    for one, other in zip(tree, grown(bins, numbers, rules, n_drawn, rows=rows), strict=True):
        assert_array_equal(one, other)


def test_a_tree_sees_only_its_samples_and_directions():
    bins, numbers = made_samples(m=400, n_directions=8)
    rows = np.arange(0, 400, 3)
    rules = SketchRules(12, 50, 1, 3.0, 16)
    tree = grown(bins, numbers, rules, rows=rows, directions=np.array([2, 6]))
    expected = slow_tree(np.ascontiguousarray(bins[rows, 2:6]), numbers[rows], rules)
    columns = [column + 2 if column >= 0 else -1 for column, *_ in expected]
    assert_array_equal(tree.columns, columns)


def test_drawn_directions_are_different_and_all_come():
    seen = np.zeros(30, dtype=int)
    for key in range(400):
        drawn = np.empty(7, dtype=np.int64)
        draw_directions(np.uint64(key * 7919), np.array([10, 40]), 7, drawn)
        assert_array_equal(drawn, np.unique(drawn))
        assert drawn.min() >= 10
        assert drawn.max() < 40
        seen[drawn - 10] += 1
    assert seen.min() > 50
    assert seen.max() < 140


def test_given_directions_are_looked_at_in_every_node():
    for key in range(50):
        drawn = np.empty(7, dtype=np.int64)
        draw_directions(np.uint64(key * 7919), np.array([10, 40, 33, 12]), 7, drawn)
        assert_array_equal(drawn[5:], [33, 12])
        assert_array_equal(drawn[:5], np.unique(drawn[:5]))
        assert drawn[:5].min() >= 10
        assert drawn[:5].max() < 40


def test_nothing_to_gain_gives_a_single_leaf():
    bins, numbers = made_samples(m=50)
    numbers[:, 2:] = 0
    tree = grown(bins, numbers, SketchRules(20, 50, 1, 1.0, 16))
    assert_array_equal(tree.columns, [-1])
    assert_array_equal(tree.left, [-1])
