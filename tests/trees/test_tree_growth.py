"""Points, the growth of a tree on them, and the scores of trees, against slow and plain forms."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from randomboost.projections.class_codes import ABOVE, BELOW, class_codes
from randomboost.runtime.parallel import ThreadTeam
from randomboost.trees import growth, splitting
from randomboost.trees.forest import Forest, Tree, TreePredictor
from randomboost.trees.growth import Rules, find_units, grow_tree, mass_below, select_points

ONE = ThreadTeam(1)


def goes_right(code, above):
    """Whether a point goes right at a split, by the code of its class."""
    return (code == ABOVE) & above | (code == BELOW) & ~above


# -- points ------------------------------------------------------------------------------------


def made_derivatives(k=3, m=40, seed=0):
    rng = np.random.default_rng(seed)
    gradients = (rng.standard_normal((k, m)) ** 3).astype(np.float32)
    hessians = rng.uniform(0.01, 1.0, (k, m)).astype(np.float32)
    return gradients, hessians


def selected(gradients, hessians, taken=None, low=0.0, high=0.0, key=1, by_class=True, factor=1.0):
    """Rows, classes, gradients and hessians of the chosen points, as floats; and the mass lost."""
    k, m = gradients.shape
    taken = np.ones(m, dtype=np.bool_) if taken is None else taken
    unit, mass = find_units(gradients, hessians, factor)
    assert_allclose(mass, np.abs(gradients.astype(np.float64)).sum())
    points = tuple(np.empty(k * m + 1, kind) for kind in (np.int32, np.uint16, np.int64))
    n = select_points(
        gradients, hessians, taken, low, high, np.uint64(key), by_class, unit, *points
    )
    return tuple(part[:n] for part in points), unit, mass_below(gradients, taken, low)


def unpacked(pairs, unit):
    return (pairs >> 32) * unit[0], (pairs & 0xFFFFFFFF) * unit[1]


def test_no_point_is_lost_without_limits():
    gradients, hessians = made_derivatives()
    taken = np.arange(40) % 3 != 0
    (rows, classes, pairs), unit, lost = selected(gradients, hessians, taken)
    assert lost == 0
    expected = [(i, r) for r in range(3) for i in range(40) if taken[i]]
    assert list(zip(rows, classes, strict=True)) == expected
    g, h = unpacked(pairs, unit)
    assert_allclose(g, gradients[classes, rows], atol=0.51 * unit[0])
    assert_allclose(h, hessians[classes, rows], atol=0.51 * unit[1])


def test_rows_of_points_without_classes():
    gradients, hessians = made_derivatives()
    (rows, classes, pairs), unit, _ = selected(gradients, hessians, by_class=False)
    assert_array_equal(rows, np.arange(120))
    assert not classes.any()
    assert_allclose(unpacked(pairs, unit)[0], gradients.ravel(), atol=0.51 * unit[0])


def test_small_gradients_are_left_out():
    gradients, hessians = made_derivatives()
    taken = np.arange(40) % 4 != 0
    size = np.abs(gradients)
    low = float(np.quantile(size, 0.4))
    (rows, classes, _), _, lost = selected(gradients, hessians, taken, low=low)
    assert_allclose(lost, size[(size < low) & taken].sum(), rtol=1e-6)
    assert len(rows) == ((size >= low) & taken).sum()
    assert (size[classes, rows] >= low).all()


@pytest.mark.parametrize("low", [0.0, 0.05])
def test_drawn_points_have_no_bias(low):
    gradients, hessians = made_derivatives(m=30)
    size = np.abs(gradients.astype(np.float64))
    high = float(np.quantile(size, 0.8))
    n_keys = 2000
    sums = np.zeros((2, 3, 30))
    counts = np.zeros((3, 30))
    for key in np.random.default_rng(0).integers(2**63, size=n_keys, dtype=np.uint64):
        (rows, classes, pairs), unit, _ = selected(
            gradients, hessians, low=low, high=high, key=key, factor=2.0
        )
        g, h = unpacked(pairs, unit)
        sums[0, classes, rows] += g
        sums[1, classes, rows] += h
        counts[classes, rows] += 1
    chance = np.minimum(size / high, 1.0) * (size >= low)
    assert_array_equal(counts[chance == 1], n_keys)
    assert_array_equal(counts[chance == 0], 0)
    drawn = (chance > 0) & (chance < 1)
    error = np.sqrt(chance * (1 - chance) * n_keys)[drawn]
    assert (np.abs(counts - chance * n_keys)[drawn] < 5 * error).all()
    for total, truth in zip(sums, (gradients, hessians), strict=True):
        expected = np.where(chance > 0, truth, 0.0)
        spread = np.abs(truth) * np.sqrt((1 - chance) / np.maximum(chance, 1e-9) / n_keys)
        assert (np.abs(total / n_keys - expected) <= 5 * spread * (chance > 0) + 1e-6).all()


def test_units_keep_sums_in_their_half_of_a_word():
    for scale in (1e-20, 1.0, 1e20):
        gradients, hessians = made_derivatives(k=10, m=500)
        gradients, hessians = gradients * np.float32(scale), hessians * np.float32(scale)
        (_, _, pairs), unit, _ = selected(gradients, hessians)
        assert np.abs(pairs >> 32).sum() < 2**31
        assert (pairs & 0xFFFFFFFF).sum() < 2**31
        g, h = unpacked(pairs.sum(keepdims=True), unit)
        assert_allclose(g, gradients.sum(dtype=np.float64), atol=5000 * unit[0])
        assert_allclose(h, hessians.sum(dtype=np.float64), atol=5000 * unit[1])


# -- growing -----------------------------------------------------------------------------------


def growable(k, m, seed, n_directions=12, n_bins=9, by_class=True):
    """Bins, codes, derivatives and points, with gradients that the first direction explains."""
    rng = np.random.default_rng(seed)
    bins = rng.integers(0, n_bins, (n_directions, m if by_class else k * m), dtype=np.uint8)
    codes = class_codes(seed, k if by_class else 1)
    gradients, hessians = made_derivatives(k, m, seed)
    signal = bins[0].reshape(-1, m) > n_bins // 2
    gradients += np.where(signal, 1, -1).astype(np.float32) * (1 + np.arange(k) % 2)[:, None]
    points, unit, _ = selected(gradients, hessians, by_class=by_class)
    return bins, codes, (gradients, hessians), points, unit


def grown_on(bins, codes, points, unit, rules, n_drawn=20, key=3, team=ONE, span=None):
    span = np.array([0, len(bins)] if span is None else span)
    copies = tuple(part.copy() for part in points)
    spare = tuple(np.empty_like(part) for part in points)
    return grow_tree(bins, codes, copies, spare, unit, rules, span, n_drawn, key, team)


def plain_gain(g, h, right, ridge):
    total = 0.0
    for side, sign in ((right, 1), (~right, 1), (np.ones(len(g), dtype=bool), -1)):
        total += sign * g[side].sum() ** 2 / (h[side].sum() + ridge)
    return total


def gains_of_all_cuts(bins, codes, points, unit, rules, columns, numbers):
    """Gain of every (drawn split, cut), -inf where it is not allowed."""
    rows, classes, pairs = points
    g, h = unpacked(pairs, unit)
    gains = np.full((len(columns), rules.n_bins - 1), -np.inf)
    for j, (column, number) in enumerate(zip(columns, numbers, strict=True)):
        for cut in range(rules.n_bins - 1):
            right = goes_right(codes[number][classes], bins[column][rows] > cut)
            sides = right, ~right
            if min(h[side].sum() for side in sides) < rules.min_hessian:
                continue
            if rules.min_points > 1 and min(side.sum() for side in sides) < rules.min_points:
                continue
            gains[j, cut] = plain_gain(g, h, right, rules.ridge)
    return gains


@pytest.mark.parametrize("by_class", [True, False])
@pytest.mark.parametrize(
    ("ridge", "min_hessian", "min_points"),
    [(0.5, 1e-3, 1), (0.0, 1e-3, 1), (2.0, 12.0, 1), (0.5, 1e-3, 25)],
)
@pytest.mark.parametrize("k", [2, 5, 40])
def test_the_best_of_the_drawn_splits(k, ridge, min_hessian, min_points, by_class):
    for seed in range(4):
        bins, codes, _, points, unit = growable(k, 200 // k + 10, seed, by_class=by_class)
        rules = Rules(2, 99, ridge, min_hessian, min_points, 9)
        grown = grown_on(bins, codes, points, unit, rules, n_drawn=15, key=seed, span=[2, 11])
        columns, numbers = np.empty((2, 15), dtype=np.int64)
        splitting.draw_splits(
            np.uint64(seed), 0, 15, np.array([2, 11]), len(codes), columns, numbers
        )
        assert columns.min() >= 2
        assert columns.max() < 11
        gains = gains_of_all_cuts(bins, codes, points, unit, rules, columns, numbers)
        assert grown.splits.shape == (3, 5)
        column, code, cut, left, right = grown.splits[0]
        assert (left, right) == (1, 2)
        assert_allclose(grown.gains[0], gains.max(), rtol=1e-6)
        chosen = (columns == column) & (numbers == code)
        assert_allclose(gains[chosen, cut].max(), gains.max(), rtol=1e-6)


def test_no_split_where_none_is_allowed():
    bins, codes, _, points, unit = growable(3, 30, 0)
    for rules in (Rules(8, 99, 0.5, 1e9, 1, 9), Rules(8, 99, 0.5, 1e-3, 46, 9)):
        grown = grown_on(bins, codes, points, unit, rules)
        assert_array_equal(grown.splits, [[-1] * 5])
        g, h = unpacked(points[2], unit)
        assert_allclose(grown.values, [-g.sum() / (h.sum() + 0.5)])


def routed(grown, bins, codes, rows, classes):
    """The points of every node, by walking each point down the tree."""
    members = [[] for _ in grown.splits]
    for p, (row, r) in enumerate(zip(rows, classes, strict=True)):
        node = 0
        while True:
            members[node].append(p)
            column, code, cut, left, right = grown.splits[node]
            if left < 0:
                break
            node = right if goes_right(codes[code][r], bins[column][row] > cut) else left
    return [np.array(part, dtype=int) for part in members]


def depths_of(grown):
    depths = np.zeros(len(grown.splits), dtype=int)
    for node, (_, _, _, left, right) in enumerate(grown.splits):
        if left >= 0:
            assert right == left + 1 > node + 1
            depths[[left, right]] = depths[node] + 1
    return depths


@pytest.mark.parametrize("by_class", [True, False])
@pytest.mark.parametrize(
    ("max_leaves", "max_depth", "min_points"),
    [(2, 99, 1), (7, 99, 1), (31, 99, 1), (31, 2, 1), (31, 4, 10), (10_000, 99, 1), (63, 99, 30)],
)
def test_a_grown_tree(max_leaves, max_depth, min_points, by_class):
    bins, codes, _, points, unit = growable(4, 90, 1, by_class=by_class)
    rules = Rules(max_leaves, max_depth, 0.5, 1e-3, min_points, 9)
    grown = grown_on(bins, codes, points, unit, rules)
    rows, classes, pairs = points
    g, h = unpacked(pairs, unit)
    members = routed(grown, bins, codes, rows, classes)
    leaf = grown.splits[:, 3] < 0
    assert sum(leaf) <= max_leaves
    assert len(leaf) == 2 * sum(leaf) - 1
    assert depths_of(grown).max() <= max_depth
    for node, part in enumerate(members):
        assert_allclose(grown.values[node], -g[part].sum() / (h[part].sum() + 0.5), rtol=1e-9)
        assert h[part].sum() >= 1e-3
        assert len(part) >= min_points
        if not leaf[node]:
            right = np.isin(part, members[grown.splits[node, 4]])
            assert_allclose(grown.gains[node], plain_gain(g[part], h[part], right, 0.5), rtol=1e-6)
            assert grown.gains[node] > 0
        else:
            assert (grown.splits[node] == -1).all()
    # best first: the nodes were split in the order of their children
    open_nodes = {0}
    for step in range(sum(leaf) - 1):
        (parent,) = np.flatnonzero(grown.splits[:, 3] == 1 + 2 * step)
        assert grown.gains[parent] == max(grown.gains[list(open_nodes)])
        open_nodes = open_nodes - {int(parent)} | {1 + 2 * step, 2 + 2 * step}
    if sum(leaf) < max_leaves:
        assert (grown.gains[list(open_nodes)] <= 0).all()
    if max_leaves == 31 and max_depth == 99:
        assert sum(leaf) == 31


@pytest.mark.parametrize("n_threads", [2, 3])
@pytest.mark.parametrize("min_points", [1, 5])
def test_threads_grow_the_same_tree(monkeypatch, n_threads, min_points):
    bins, codes, _, points, unit = growable(5, 120, 2)
    rules = Rules(40, 99, 0.5, 1e-3, min_points, 9)
    alone = grown_on(bins, codes, points, unit, rules)
    calls = []
    search = growth.search_in_parallel
    monkeypatch.setattr(growth, "_PARALLEL", 20)
    monkeypatch.setattr(
        growth, "search_in_parallel", lambda *args: calls.append(1) or search(*args)
    )
    with ThreadTeam(n_threads) as team:
        together = grown_on(bins, codes, points, unit, rules, team=team)
    assert len(calls) > 10
    for part, other in zip(alone, together, strict=True):
        assert_array_equal(part, other)


def test_other_keys_draw_other_splits():
    bins, codes, _, points, unit = growable(5, 120, 2)
    rules = Rules(10, 99, 0.5, 1e-3, 1, 9)
    roots = {
        tuple(grown_on(bins, codes, points, unit, rules, n_drawn=3, key=key).splits[0])
        for key in range(20)
    }
    assert len(roots) > 10


# -- forests -----------------------------------------------------------------------------------


def random_tree(rng, n_leaves, n_directions, n_codes, values):
    """Split random leaves of a tree at random."""
    size = 2 * n_leaves - 1
    columns, codes, left = np.full((3, size), -1, dtype=np.int32)
    thresholds = np.zeros(size)
    leaves = [0]
    for step in range(n_leaves - 1):
        node = leaves.pop(rng.integers(len(leaves)))
        columns[node], codes[node] = rng.integers(n_directions), rng.integers(n_codes)
        column = values[columns[node]]
        thresholds[node] = rng.choice(column[~np.isnan(column)])
        left[node] = 1 + 2 * step
        leaves += [1 + 2 * step, 2 + 2 * step]
    if n_leaves > 3:
        thresholds[0] = np.inf if values.dtype != np.uint8 else 254
    outputs = np.where(left < 0, rng.uniform(-1, 1, size), 0).astype(np.float32)
    return Tree(columns, codes, thresholds, left, outputs, np.zeros(size, np.float32))


def walked(tree, weight, values, codes, scores):
    """Add a tree, one sample and class after the other."""
    scores = scores.copy()
    for r in range(scores.shape[0]):
        for i in range(scores.shape[1]):
            node = 0
            while tree.left[node] >= 0:
                above = bool(values[tree.columns[node], i] > tree.thresholds[node])
                node = tree.left[node] + goes_right(
                    codes[tree.codes[node], r], np.bool_(above)
                ).astype(int)
            scores[r, i] += np.float32(weight) * tree.values[node]
    return scores


@pytest.mark.parametrize(
    ("k", "m"), [(1, 300), (2, 1), (2, 129), (10, 127), (32, 128), (33, 140), (64, 20), (100, 30)]
)
@pytest.mark.parametrize("kind", ["float64", "float32", "missing", "bins"])
def test_scores_of_a_forest(k, m, kind):
    rng = np.random.default_rng(k)
    values = rng.standard_normal((6, m))
    if kind == "bins":
        values = rng.integers(0, 256, (6, m), dtype=np.uint8)
    elif kind == "float32":
        values = values.astype(np.float32)
    elif kind == "missing" and m > 20:
        values[rng.random(values.shape) < 0.2] = np.nan
    codes = class_codes(0, k)
    trees = [random_tree(rng, n, 6, len(codes), values) for n in (2, 9, 20)]
    weights = rng.uniform(0.1, 2, 3)
    start = rng.standard_normal((k, m)).astype(np.float32)
    expected = [start]
    for tree, weight in zip(trees, weights, strict=True):
        expected.append(walked(tree, weight, values, codes, expected[-1]))
    scores = start.copy()
    for t, tree in enumerate(trees):  # one after the other
        predictor = TreePredictor(tree, weights[t : t + 1], tree.thresholds, codes)
        predictor.add(values, scores, ONE)
        assert_array_equal(scores, expected[t + 1])
    forest = Forest(trees)
    for n_threads in (1, 3):
        together = start.copy()
        with ThreadTeam(n_threads) as team:
            TreePredictor(forest, weights, forest.thresholds, codes).add(values, together, team)
        assert_array_equal(together, expected[-1])


def test_a_forest_is_a_sequence_of_trees():
    rng = np.random.default_rng(0)
    trees = [random_tree(rng, n, 4, 256, rng.standard_normal((4, 50))) for n in (2, 5, 3)]
    forest = Forest(trees)
    assert len(forest) == 3
    for tree, other in zip(trees, forest, strict=True):
        for name in Tree.__dataclass_fields__:
            assert_array_equal(getattr(tree, name), getattr(other, name))
    assert_array_equal(forest[-1].columns, trees[2].columns)
    assert len(forest[1:]) == 2
    with pytest.raises(IndexError):
        forest[3]
