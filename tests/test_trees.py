"""Trees shared by all classes, against slow and plain forms of what they should be."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp, softmax
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from randomboost import RBoostRankClassifier, rank
from randomboost.losses import ExponentialLoss, LogisticLoss
from randomboost.parallel import ThreadTeam
from randomboost.projections import make_directions
from randomboost.trees import directions as directions_module
from randomboost.trees import growth
from randomboost.trees.bins import bin_values, find_edges
from randomboost.trees.codes import ABOVE, BELOW, LEFT, N_CODES, class_codes, class_masks
from randomboost.trees.directions import Directions, find_discriminants, project
from randomboost.trees.forest import Forest, Passage, Tree
from randomboost.trees.growth import Rules, find_units, grow_tree, mass_below, select_points
from randomboost.trees.objectives import make_objective

ONE = ThreadTeam(1)


def goes_right(code, above):
    """Whether a point goes right at a split, by the code of its class."""
    return (code == ABOVE) & above | (code == BELOW) & ~above


# -- class codes -------------------------------------------------------------------------------


def test_codes_never_change():
    """Saved models hold the numbers of codes: a change here breaks them all."""
    assert_array_equal(class_codes(42, 5)[:3], GOLDEN_CODES)


GOLDEN_CODES = [[1, 1, 2, 1, 2], [1, 0, 0, 1, 1], [1, 1, 0, 0, 0]]


@pytest.mark.parametrize("k", [2, 3, 10, 100])
def test_shares_of_the_codes(k):
    codes = np.concatenate([class_codes(seed, k) for seed in range(40)])
    assert codes.shape == (40 * N_CODES, k)
    assert (codes != LEFT).any(axis=1).all()
    shares = np.bincount(codes.ravel(), minlength=3) / codes.size
    moved = 0.3**k / k  # a code of LEFT only gets one class that moves
    expected = [0.3 - moved, 0.35 + moved, 0.35]
    assert_allclose(shares[[LEFT, ABOVE, BELOW]], expected, atol=0.02)
    assert not np.array_equal(codes[:N_CODES], codes[N_CODES : 2 * N_CODES])


def test_one_class_has_one_code():
    assert_array_equal(class_codes(3, 1), [[ABOVE]])


@pytest.mark.parametrize(("first", "last"), [(0, 1), (0, 32), (32, 40), (5, 8)])
def test_masks(first, last):
    codes = class_codes(0, 40)
    masks = class_masks(codes, first, last)
    assert masks.dtype == np.uint32
    for code, (below, above) in zip(codes, masks, strict=True):
        for r in range(32):
            way = code[first + r] if first + r < last else LEFT
            assert (int(below) >> r & 1) == (way == BELOW)
            assert (int(above) >> r & 1) == (way == ABOVE)


# -- bins --------------------------------------------------------------------------------------

COLUMNS = {
    "normal": np.random.default_rng(0).standard_normal(3000),
    "skewed": np.exp(3 * np.random.default_rng(1).standard_normal(500)),
    "few values": np.random.default_rng(2).integers(0, 5, 400).astype(float),
    "two values": np.repeat([0.0, 1.0], [3999, 1]),
    "mostly zero": np.where(np.arange(1000) % 10, 0.0, np.arange(1000.0)),
    "constant": np.full(50, 3.5),
    "one": np.array([2.0]),
    "huge": np.array([-1.7e308, -1e300, 0.0, 1e300, 1.7e308]).repeat(3),
    "tiny": np.array([0.0, 5e-324, 1e-310, 1e-300, 1.0]),
    "float32": np.random.default_rng(3).standard_normal(500).astype(np.float32),
    "missing": np.where(np.arange(700) % 3, np.arange(700) % 90, np.nan),
    "all missing": np.full(9, np.nan),
    "neighbours": 1.0 + np.arange(12) * np.finfo(np.float64).eps,
    "neighbours in float32": np.float32(1) + np.arange(12, dtype=np.float32) * np.float32(2**-23),
}


@pytest.mark.parametrize("max_bins", [2, 3, 16, 64, 200, 256])
@pytest.mark.parametrize("values", COLUMNS.values(), ids=COLUMNS)
def test_a_bin_is_the_number_of_edges_below(values, max_bins):
    edges = find_edges(values, max_bins)
    assert len(edges) == max_bins - 1
    assert ((edges[:-1] < edges[1:]) | (edges[1:] == np.inf)).all()
    bins = np.empty(len(values), dtype=np.uint8)
    bin_values(values, edges, bins)
    assert_array_equal(bins, [sum(float(value) > edge for edge in edges) for value in values])
    missing = np.isnan(values)
    if missing.any():
        assert (bins[missing] == 0).all()
        assert (bins[~missing] > 0).all()
    distinct = np.unique(values[~missing])
    if len(distinct) + missing.any() <= max_bins and len(values) < 2048:
        assert len(np.unique(bins)) == len(distinct) + missing.any()


@pytest.mark.parametrize("max_bins", [16, 64, 256])
def test_bins_are_about_equal(max_bins):
    values = np.random.default_rng(0).standard_normal(100_000) ** 3
    edges = find_edges(values, max_bins)
    assert np.isfinite(edges).all()
    counts = np.bincount(np.searchsorted(edges, values), minlength=max_bins)
    assert counts.min() > 0.3 * counts.mean()
    assert counts.max() < 2.5 * counts.mean()


def test_a_heavy_value_leaves_bins_for_the_others():
    values = np.concatenate([np.zeros(1500), np.random.default_rng(0).standard_normal(500)])
    bins = np.searchsorted(find_edges(values, 64), values)
    assert len(np.unique(bins)) > 14


# -- directions --------------------------------------------------------------------------------


def made_directions(kind, d=7, k=3, n=40, seed=5, density=None):
    X, y = make_blobs(90, d, centers=k, random_state=0)
    return make_directions(kind, seed, n, density, (X, y, np.ones(90)))


@pytest.mark.parametrize("kind", ["axis", "sparse", "gaussian", "lda", "mixed"])
def test_families(kind):
    made = made_directions(kind)
    n = len(made)
    assert n == {"axis": 7, "mixed": n}.get(kind, 40)
    whole = made.rows(np.arange(n))
    assert whole.shape == (n, 7)
    assert made.starts[-1] == n
    nonzeros = np.diff(whole.indptr)
    if kind == "axis":
        assert_array_equal(whole.toarray(), np.eye(7))
    elif kind == "sparse":
        assert (nonzeros == 3).all()
        assert len({tuple(row) for row in whole.indices.reshape(40, 3)}) > 10
        assert np.ptp(whole.data) > 2
    elif kind == "gaussian":
        assert (nonzeros == 7).all()
        assert abs(whole.toarray().mean()) < 0.2
        assert_allclose(whole.toarray().std(), 1.0, atol=0.2)
    elif kind == "lda":
        assert_allclose(np.linalg.norm(whole.toarray(), axis=1), 1.0)
        assert set(nonzeros) == {3, 4, 5, 6, 7}
    else:
        assert list(made.counts) == ["axis", "sparse", "gaussian", "lda"]
        assert made.counts["axis"] == 7
        assert 38 <= n - 7 <= 42


@pytest.mark.parametrize("kind", ["sparse", "gaussian", "lda", "mixed"])
def test_a_direction_is_the_same_whatever_the_others(kind):
    made, again = made_directions(kind), made_directions(kind)
    whole = made.rows(np.arange(len(made))).toarray()
    rng = np.random.default_rng(0)
    for size in (1, 5, 30):
        indices = np.sort(rng.choice(len(made), size, replace=False))
        assert_array_equal(again.rows(indices).toarray(), whole[indices])
    other = made_directions(kind, seed=6)
    assert not np.array_equal(other.rows(np.arange(len(other))).toarray(), whole)


@pytest.mark.parametrize(("density", "few"), [(1 / 3, 4), (0.01, 1), (1.0, 12), (0.5, 6)])
def test_density(density, few):
    made = made_directions("sparse", d=12, density=density)
    whole = made.rows(np.arange(40))
    assert (np.diff(whole.indptr) == few).all()
    assert set(whole.data) == {-1.0, 1.0}
    assert_array_equal((whole.toarray() != 0).sum(axis=1), few)  # no feature twice


def test_random_families_choose_evenly():
    made = Directions(1, 10, {"sparse": 3000}, None, None)
    chosen = (made.rows(np.arange(3000)).toarray() != 0).sum(axis=0)
    assert_allclose(chosen, 900, rtol=0.12)


def test_few_features():
    for kind in ("sparse", "gaussian", "lda", "mixed"):
        made = made_directions(kind, d=1)
        assert (made.rows(np.arange(len(made))).toarray() != 0).all()


def cosines(rows, directions):
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    directions = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    return rows @ directions.T


@pytest.mark.parametrize("weighted", [False, True])
def test_discriminants_are_fishers(monkeypatch, weighted):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 4)) @ rng.standard_normal((4, 4))
    y = (X @ rng.standard_normal(4) + rng.standard_normal(400) > 0.3).astype(np.int64)
    weight = rng.integers(1, 4, 400) if weighted else np.ones(400, dtype=int)
    rows = find_discriminants(X, y, weight.astype(float), 0, 60)
    whole = rows.toarray()[np.diff(rows.indptr) == 4]
    assert len(whole) > 5
    lda = LinearDiscriminantAnalysis(solver="lsqr").fit(X.repeat(weight, 0), y.repeat(weight))
    assert np.abs(cosines(whole, lda.coef_)).min() > 0.97
    monkeypatch.setattr(directions_module, "_LDA_RIDGE", 1e-9)
    whole = find_discriminants(X, y, weight.astype(float), 0, 60).toarray()
    whole = whole[(whole != 0).all(axis=1)]
    assert_allclose(np.abs(cosines(whole, lda.coef_)), 1.0, rtol=1e-5)


def test_half_of_the_discriminants_tell_one_class_from_another(monkeypatch):
    monkeypatch.setattr(directions_module, "_LDA_RIDGE", 1e-9)
    X, y = make_blobs(300, 3, centers=4, cluster_std=[1, 2, 3, 1], random_state=0)
    rows = find_discriminants(X, y, np.ones(300), 0, 200).toarray()
    means = np.stack([X[y == r].mean(axis=0) for r in range(4)])
    within = sum((X[y == r] - means[r]).T @ (X[y == r] - means[r]) for r in range(4)) / 300
    pairs = np.stack([means[a] - means[b] for a in range(4) for b in range(a)])
    groups = []
    for bits in range(1, 15):
        chosen = np.array([bits >> r & 1 for r in range(4)], dtype=bool)
        groups.append(X[chosen[y]].mean(axis=0) - X[~chosen[y]].mean(axis=0))
    for part, steps in ((rows[1::2], pairs), (rows[::2], np.stack(groups))):
        part = part[(part != 0).all(axis=1)]
        near = np.abs(cosines(part, np.linalg.solve(within, steps.T).T))
        assert_allclose(near.max(axis=1), 1.0, rtol=1e-5)
        assert len(np.unique(near.argmax(axis=1))) > 4  # not always the same


def test_discriminants_of_many_features_and_missing_values():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 700))
    X[:, :30] += np.arange(60)[:, None] % 2 * 3.0
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.arange(60) % 2
    rows = find_discriminants(X, y, np.ones(60), 0, 20)
    assert rows.shape == (20, 700)
    assert np.isfinite(rows.data).all()
    assert (np.diff(rows.indptr) <= 40).all()
    filled = find_discriminants(np.nan_to_num(X), y, np.ones(60), 0, 20)
    assert_array_equal(rows.toarray(), filled.toarray())
    sparse = find_discriminants(sp.csr_array(np.nan_to_num(X)), y, np.ones(60), 0, 20)
    assert_allclose(sparse.toarray(), filled.toarray(), rtol=1e-9)


def test_discriminants_of_constant_features_are_finite():
    rows = find_discriminants(np.ones((6, 3)), np.arange(6) % 2, np.ones(6), 0, 8)
    assert np.isfinite(rows.toarray()).all()
    assert (np.abs(rows.toarray()).sum(axis=1) > 0).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [1, 63, 64, 65, 1000])
def test_project(dtype, n):
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, 7)).astype(dtype)
    X[rng.random(X.shape) < 0.3] = 0
    made = made_directions("mixed")
    rows = made.rows(np.arange(len(made)))
    with ThreadTeam(2) as team:
        values = project(X, rows, team)
    assert values.dtype == dtype
    tolerance = 1e-12 if dtype == np.float64 else 1e-5
    assert_allclose(values, (X.astype(np.float64) @ rows.T.toarray()).T, atol=tolerance)
    assert_allclose(project(sp.csr_array(X), rows, ONE), values, atol=tolerance)
    assert_array_equal(values[:7], X.T)
    # a sample's values are the same bits whatever the other samples
    assert_array_equal(project(X[n // 2 :], rows, ONE), values[:, n // 2 :])


def test_project_takes_missing_values_for_zero_in_mixtures_only():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 7))
    X[rng.random(X.shape) < 0.3] = np.nan
    made = made_directions("mixed")
    rows = made.rows(np.arange(len(made)))
    values = project(X, rows, ONE)
    assert_array_equal(values[:7], X.T)
    mixed = np.diff(rows.indptr) > 1
    assert mixed.sum() == len(made) - 7
    expected = (np.nan_to_num(X) @ rows.T.toarray()).T
    assert_allclose(values[mixed], expected[mixed], atol=1e-12)


# -- objectives --------------------------------------------------------------------------------


class SquaredHinge:
    """A loss of a user's own, with a curvature."""

    def value(self, margins):
        return np.maximum(2 - margins, 0.0) ** 2

    def derivative(self, margins):
        return -2 * np.maximum(2 - margins, 0.0)

    def second_derivative(self, margins):
        return np.where(margins < 2, 2.0, 0.0)


class Plain:
    """The logistic loss with no more than a loss must have."""

    def value(self, margins):
        return LogisticLoss().value(margins)

    def derivative(self, margins):
        return LogisticLoss().derivative(margins)


LOSSES = {
    "softmax": "softmax",
    "exponential": "exponential",
    "logistic": "logistic",
    "own": SquaredHinge(),
    "own without curvature": Plain(),
}


def scored(k, m=6, seed=0, scale=1.0):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(k), rng.integers(k, size=m)])
    return scale * rng.standard_normal((k, len(y))), y, rng.uniform(0.2, 3.0, len(y))


def plain_loss(loss, scores, y, weight):
    """The mean loss, one sample after the other."""
    total = 0.0
    k, m = scores.shape
    for i in range(m):
        margins = [scores[y[i], i] - scores[r, i] for r in range(k) if r != y[i]]
        if loss == "softmax":
            value = logsumexp(scores[:, i]) - scores[y[i], i]
        else:
            named = {"exponential": ExponentialLoss(), "logistic": LogisticLoss()}
            value = np.mean(named.get(loss, loss).value(np.array(margins)))
        total += weight[i] * value
    total /= weight.sum()
    return np.log(total) if loss == "exponential" else total


@pytest.mark.parametrize("k", [2, 3, 7])
@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_slopes_by_differences(loss, k):
    scores, y, weight = scored(k)
    m = len(y)
    objective = make_objective(loss, y, k, weight)
    found = objective.slopes(scores)
    assert found.gradients.shape == found.hessians.shape == (k, m)
    assert found.gradients.dtype == found.hessians.dtype == np.float64 if loss == "softmax" else 1
    assert_allclose(found.loss, plain_loss(loss, scores, y, weight), rtol=1e-6)
    assert_allclose(objective.loss(scores), plain_loss(loss, scores, y, weight), rtol=1e-6)
    step = 1e-4
    for r in range(k):
        for i in range(m):
            moved = [scores.copy(), scores.copy()]
            moved[0][r, i] -= step
            moved[1][r, i] += step
            low, high = (plain_loss(loss, part, y, weight) for part in moved)
            middle = plain_loss(loss, scores, y, weight)
            assert_allclose(
                found.gradients[r, i], m * (high - low) / (2 * step), rtol=1e-4, atol=1e-5
            )
            curvature = m * (high - 2 * middle + low) / step**2
            if not isinstance(loss, Plain):
                assert found.hessians[r, i] >= curvature * (1 - 1e-3) - 1e-5
            if loss == "logistic" or isinstance(loss, SquaredHinge):
                assert_allclose(found.hessians[r, i], curvature, rtol=1e-3, atol=1e-4)


def test_softmax_curvature():
    scores, y, weight = scored(4, m=30)
    found = make_objective("softmax", y, 4, weight).slopes(scores)
    p = softmax(scores, axis=0)
    usual = 4 / 3 * p * (1 - p) * weight / weight.mean()
    assert (found.hessians >= usual * (1 - 1e-5)).all()
    own = np.arange(4)[:, None] == y
    assert_allclose(found.hessians[~own], usual[~own], rtol=1e-5)
    # where the true class has little chance Newton's step is bounded
    assert (np.abs(found.gradients) <= 11 * np.maximum(found.hessians, 1e-30))[own].all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_large_scores_do_not_overflow(loss, dtype):
    rng = np.random.default_rng(0)
    y = np.arange(40) % 4
    for scores in (
        1e4 * rng.standard_normal((4, 40)),
        1e4 * (np.arange(4)[:, None] == y),  # all right, and by far
        -1e4 * (np.arange(4)[:, None] == y),
        np.zeros((4, 40)),
    ):
        objective = make_objective(loss, y, 4, np.ones(40))
        found = objective.slopes(scores.astype(dtype))
        assert np.isfinite(found.loss)
        assert np.isfinite(objective.loss(scores.astype(dtype)))
        assert np.isfinite(found.gradients).all()
        assert np.isfinite(found.hessians).all()
        assert (found.hessians >= 0).all()
        assert_allclose(found.gradients.sum(axis=0), 0, atol=1e-6 * np.abs(found.gradients).max())


def test_the_slopes_of_sure_samples_keep_their_digits():
    y = np.zeros(3, dtype=np.int64)
    scores = np.array([[12.0, 20.0, 40.0], [0.0, 0.0, 0.0]], dtype=np.float32)
    found = make_objective("softmax", y, 2, np.ones(3)).slopes(scores)
    assert_allclose(found.gradients[0], -np.exp(-np.array([12.0, 20.0, 40.0])), rtol=1e-5)


def test_baselines():
    y = np.repeat([0, 1, 2], [5, 3, 2])
    assert_allclose(make_objective("softmax", y, 3, np.ones(10)).baseline, np.log([0.5, 0.3, 0.2]))
    weight = np.repeat([2.0, 1.0, 1.0], [5, 3, 2])
    baseline = make_objective("softmax", y, 3, weight).baseline
    assert_allclose(baseline, np.log([10 / 15, 3 / 15, 2 / 15]))
    absent = make_objective("softmax", y, 4, np.ones(10)).baseline
    assert np.isfinite(absent).all()
    assert absent.argmin() == 3
    assert_array_equal(make_objective("logistic", y, 3, np.ones(10)).baseline, 0)


# -- points ------------------------------------------------------------------------------------


def made_slopes(k=3, m=40, seed=0):
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
    gradients, hessians = made_slopes()
    taken = np.arange(40) % 3 != 0
    (rows, classes, pairs), unit, lost = selected(gradients, hessians, taken)
    assert lost == 0
    expected = [(i, r) for r in range(3) for i in range(40) if taken[i]]
    assert list(zip(rows, classes, strict=True)) == expected
    g, h = unpacked(pairs, unit)
    assert_allclose(g, gradients[classes, rows], atol=0.51 * unit[0])
    assert_allclose(h, hessians[classes, rows], atol=0.51 * unit[1])


def test_rows_of_points_without_classes():
    gradients, hessians = made_slopes()
    (rows, classes, pairs), unit, _ = selected(gradients, hessians, by_class=False)
    assert_array_equal(rows, np.arange(120))
    assert not classes.any()
    assert_allclose(unpacked(pairs, unit)[0], gradients.ravel(), atol=0.51 * unit[0])


def test_small_gradients_are_left_out():
    gradients, hessians = made_slopes()
    taken = np.arange(40) % 4 != 0
    size = np.abs(gradients)
    low = float(np.quantile(size, 0.4))
    (rows, classes, _), _, lost = selected(gradients, hessians, taken, low=low)
    assert_allclose(lost, size[(size < low) & taken].sum(), rtol=1e-6)
    assert len(rows) == ((size >= low) & taken).sum()
    assert (size[classes, rows] >= low).all()


@pytest.mark.parametrize("low", [0.0, 0.05])
def test_drawn_points_have_no_bias(low):
    gradients, hessians = made_slopes(m=30)
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
        gradients, hessians = made_slopes(k=10, m=500)
        gradients, hessians = gradients * np.float32(scale), hessians * np.float32(scale)
        (_, _, pairs), unit, _ = selected(gradients, hessians)
        assert np.abs(pairs >> 32).sum() < 2**31
        assert (pairs & 0xFFFFFFFF).sum() < 2**31
        g, h = unpacked(pairs.sum(keepdims=True), unit)
        assert_allclose(g, gradients.sum(dtype=np.float64), atol=5000 * unit[0])
        assert_allclose(h, hessians.sum(dtype=np.float64), atol=5000 * unit[1])


# -- growing -----------------------------------------------------------------------------------


def growable(k, m, seed, n_directions=12, n_bins=9, by_class=True):
    """Bins, codes, slopes and points, with gradients that the first direction explains."""
    rng = np.random.default_rng(seed)
    bins = rng.integers(0, n_bins, (n_directions, m if by_class else k * m), dtype=np.uint8)
    codes = class_codes(seed, k if by_class else 1)
    gradients, hessians = made_slopes(k, m, seed)
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
            if min(h[side].sum() for side in sides) < rules.least_hessian:
                continue
            if rules.least_points > 1 and min(side.sum() for side in sides) < rules.least_points:
                continue
            gains[j, cut] = plain_gain(g, h, right, rules.ridge)
    return gains


@pytest.mark.parametrize("by_class", [True, False])
@pytest.mark.parametrize(
    ("ridge", "least_hessian", "least_points"),
    [(0.5, 1e-3, 1), (0.0, 1e-3, 1), (2.0, 12.0, 1), (0.5, 1e-3, 25)],
)
@pytest.mark.parametrize("k", [2, 5, 40])
def test_the_best_of_the_drawn_splits(k, ridge, least_hessian, least_points, by_class):
    for seed in range(4):
        bins, codes, _, points, unit = growable(k, 200 // k + 10, seed, by_class=by_class)
        rules = Rules(2, 99, ridge, least_hessian, least_points, 9)
        grown = grown_on(bins, codes, points, unit, rules, n_drawn=15, key=seed, span=[2, 11])
        columns, numbers = np.empty((2, 15), dtype=np.int64)
        growth._draw(np.uint64(seed), 0, 15, np.array([2, 11]), len(codes), columns, numbers)
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
    ("max_leaves", "max_depth", "least_points"),
    [(2, 99, 1), (7, 99, 1), (31, 99, 1), (31, 2, 1), (31, 4, 10), (10_000, 99, 1), (63, 99, 30)],
)
def test_a_grown_tree(max_leaves, max_depth, least_points, by_class):
    bins, codes, _, points, unit = growable(4, 90, 1, by_class=by_class)
    rules = Rules(max_leaves, max_depth, 0.5, 1e-3, least_points, 9)
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
        assert len(part) >= least_points
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
@pytest.mark.parametrize("least_points", [1, 5])
def test_threads_grow_the_same_tree(monkeypatch, n_threads, least_points):
    bins, codes, _, points, unit = growable(5, 120, 2)
    rules = Rules(40, 99, 0.5, 1e-3, least_points, 9)
    alone = grown_on(bins, codes, points, unit, rules)
    calls = []
    search = growth._search_in_parallel
    monkeypatch.setattr(growth, "_PARALLEL", 20)
    monkeypatch.setattr(
        growth, "_search_in_parallel", lambda *args: calls.append(1) or search(*args)
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
        passage = Passage(tree, weights[t : t + 1], tree.thresholds, codes)
        passage.add(values, scores, ONE)
        assert_array_equal(scores, expected[t + 1])
    forest = Forest(trees)
    for n_threads in (1, 3):
        together = start.copy()
        with ThreadTeam(n_threads) as team:
            Passage(forest, weights, forest.thresholds, codes).add(values, together, team)
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


@pytest.fixture
def trainers(monkeypatch):
    """Keep the trainers of all fits, with their data."""
    kept = []

    class Kept(rank.TreeTrainer):
        def __init__(self, estimator, view, data, start, team):
            super().__init__(estimator, view, data, start, team)
            self.data = data
            kept.append(self)

    monkeypatch.setattr(rank, "TreeTrainer", Kept)
    return kept


class Own:
    """A projection of a user's own."""

    def __repr__(self):
        return "own"

    def matrices(self, n_classes, n_projections, n_features, seed):
        rng = np.random.default_rng(seed)
        return rng.standard_normal((n_classes, n_projections, n_features))


def neighbours(X):
    """Numbers with nothing between them in single precision."""
    X = (1 + np.round(2 * X) * np.finfo(np.float32).eps).astype(np.float32)
    return X * np.float32(1.5)


DATA = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "neighbours": neighbours,
    "csr": lambda X: sp.csr_array(np.where(np.abs(X) < 3, 0, X)),
    "missing": lambda X: np.where(np.arange(X.size).reshape(X.shape) % 5 == 0, np.nan, X),
    "few values": lambda X: np.round(X / 3),
}


@pytest.mark.parametrize("projection", ["mixed", "gaussian", Own()], ids=str)
@pytest.mark.parametrize("form", DATA)
@pytest.mark.parametrize("scale", [True, False])
def test_training_scores_are_those_of_prediction(noisy, trainers, form, projection, scale):
    X, y = DATA[form](noisy[0]), noisy[1]
    model = RBoostRankClassifier(
        15, n_projections=40, projection=projection, scale=scale, random_state=0
    )
    model.fit(X, y)
    (trainer,) = trainers
    scores = model._scores(trainer.data.X, ONE)
    assert_array_equal(scores, trainer._scores)
    *_, staged = model._staged_scores(trainer.data.X)
    assert_array_equal(staged, scores)
    decision = model.decision_function(X).T
    assert_allclose(
        model.train_history_["loss"][-1],
        plain_loss("softmax", decision, y, np.ones(150)),
        rtol=1e-5,
    )


@pytest.mark.parametrize("k", [2, 33])
def test_staged_scores_end_at_the_scores(k):
    X, y = make_blobs(20 * k, 5, centers=k, random_state=0)
    model = RBoostRankClassifier(8, n_projections=30, random_state=0).fit(X, y)
    stages = list(model.staged_decision_function(X))
    assert len(stages) == 8
    assert_array_equal(stages[-1], model.decision_function(X))


@pytest.mark.parametrize("projection", ["mixed", "gaussian"])
@pytest.mark.parametrize("k", [2, 7, 32, 33, 70])
def test_few_samples_have_the_scores_that_they_have_among_many(k, projection):
    X, y = make_blobs(12 * k, 5, centers=k, cluster_std=4, random_state=0)
    X[::5, 0] = np.nan
    model = RBoostRankClassifier(12, n_projections=40, projection=projection, random_state=0)
    many = model.fit(X, y).decision_function(X)
    for n in (1, 3, 8, 9):
        assert_array_equal(model.decision_function(X[4 : 4 + n]), many[4 : 4 + n])


def test_samples_are_scored_in_blocks(monkeypatch):
    from randomboost.trees import scoring

    X, y = make_blobs(1000, 5, centers=4, cluster_std=4, random_state=0)
    model = RBoostRankClassifier(10, n_projections=30, random_state=0).fit(X, y)
    whole = model.decision_function(X)
    monkeypatch.setattr(scoring, "_BLOCK_BYTES", 1)
    assert_array_equal(model.decision_function(X), whole)
    assert_array_equal(model.decision_function(X[700:]), whole[700:])


# -- the estimator -----------------------------------------------------------------------------

SMALL = RBoostRankClassifier(40, n_projections=120, random_state=0)
KINDS = ["gaussian", "sparse", "axis", "lda", "mixed", Own()]


def held_out_error(model, X, y):
    """Error on every third sample of a fit on the others."""
    held_out = np.arange(len(y)) % 3 == 0
    return 1 - clone(model).fit(X[~held_out], y[~held_out]).score(X[held_out], y[held_out])


@pytest.mark.parametrize("data", ["iris", "wine"])
@pytest.mark.parametrize("weak_learner", ["tree", "stump"])
@pytest.mark.parametrize("projection", KINDS, ids=str)
def test_projections(projection, weak_learner, data, wine):
    X, y = wine if data == "wine" else load_iris(return_X_y=True)
    model = clone(SMALL).set_params(projection=projection, weak_learner=weak_learner)
    if weak_learner == "stump":
        model.set_params(n_projections=60)
    assert held_out_error(model, X, y) < 0.16
    importances = model.fit(X, y).feature_importances_
    assert_allclose(importances.sum(), 1)
    assert (importances >= 0).all()


class WrongShape:
    def matrices(self, n_classes, n_projections, n_features, seed):
        return np.ones((n_projections, n_classes, n_features))


class NotFinite(Own):
    def matrices(self, *args):
        return np.log(np.abs(super().matrices(*args)) > 1)


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize("weak_learner", ["tree", "stump"])
def test_wrong_matrices(noisy, weak_learner):
    for projection, message in ((WrongShape(), "shape"), (NotFinite(), "not finite")):
        model = clone(SMALL).set_params(projection=projection, weak_learner=weak_learner)
        with pytest.raises(ValueError, match=message):
            model.fit(*noisy)


@pytest.mark.parametrize("projection", ["mixed", "gaussian"])
@pytest.mark.parametrize("loss", [*LOSSES.values()], ids=LOSSES)
def test_losses_with_trees(wine, loss, projection):
    X, y = wine
    model = clone(SMALL).set_params(loss=loss, projection=projection)
    assert held_out_error(model, X, y) < 0.12
    losses = model.fit(X, y).train_history_["loss"]
    assert (np.diff(losses) < 1e-3).all()
    assert losses[-1] < losses[0]
    proba = model.predict_proba(X)
    assert_allclose(proba.sum(axis=1), 1, rtol=1e-5)


def test_digits_by_default():
    X, y = load_digits(return_X_y=True)
    model = RBoostRankClassifier(40, random_state=0)
    assert held_out_error(model, X, y) < 0.06


def test_probabilities_are_about_right():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 2))
    truth = softmax(np.stack([X[:, 0], X[:, 1], 0 * X[:, 0]], axis=1), axis=1)
    y = (rng.random((4000, 1)) > truth.cumsum(axis=1)).sum(axis=1)
    model = RBoostRankClassifier(25, max_leaf_nodes=8, random_state=0).fit(X[:3000], y[:3000])
    assert np.abs(model.predict_proba(X[3000:]) - truth[3000:]).mean() < 0.06


# missing values


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("projection", ["axis", "mixed"])
def test_missing_values_tell_something(projection, dtype):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 4)).astype(dtype)
    y = rng.integers(3, size=400)
    X[y == 1, 2] = np.nan
    X[rng.random(400) < 0.1, 0] = np.nan
    model = clone(SMALL).set_params(projection=projection, max_leaf_nodes=8)
    model.fit(X[:300], y[:300])
    assert_array_equal(model.predict(X[300:]) == 1, y[300:] == 1)
    assert model.feature_importances_.argmax() == 2


@pytest.mark.parametrize("projection", ["sparse", "gaussian", "lda", Own()], ids=str)
def test_missing_values_in_mixtures(wine, projection):
    X, y = wine
    X = X.copy()
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    model = clone(SMALL).set_params(projection=projection)
    assert held_out_error(model, X, y) < 0.2
    assert np.isfinite(model.fit(X, y).decision_function(X)).all()


def test_missing_values_that_training_did_not_have(wine):
    X, y = wine
    model = clone(SMALL).fit(X, y)
    X = X.copy()
    X[:, 3] = np.nan
    assert np.isfinite(model.decision_function(X)).all()
    assert model.score(X, y) > 0.8


def test_columns_without_any_value(wine):
    X, y = wine
    empty = np.hstack([np.full((len(X), 1), np.nan), X])
    assert held_out_error(SMALL, empty, y) < 0.12
    with pytest.raises(ValueError, match="no weak learner"):
        clone(SMALL).fit(np.full((6, 2), np.nan), [0, 1, 0, 1, 0, 1])


@pytest.mark.parametrize("weak_learner", ["stump", "real_stump", "wlda"])
def test_stumps_refuse_missing_values(wine, weak_learner):
    X, y = wine
    model = clone(SMALL).set_params(weak_learner=weak_learner)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(X < 1, np.nan, X), y)


def test_missing_values_in_sparse_data_are_refused(wine):
    X, y = wine
    broken = sp.csr_array(np.where(X > 100, np.nan, X))
    with pytest.raises(ValueError, match="NaN"):
        clone(SMALL).fit(broken, y)
    with pytest.raises(ValueError, match="NaN"):
        clone(SMALL).fit(X, y).predict(broken)


# unusual data


def test_scale_and_shift_matter_little(wine):
    X, y = wine
    plain = clone(SMALL).fit(X[::2], y[::2]).predict_proba(X)
    factors, shifts = np.ones(13), np.zeros(13)
    factors[[2, 5]] = 1e6, 1e-6
    shifts[[3, 7]] = 1e4, -30.0
    changed = X * factors + shifts
    other = clone(SMALL).fit(changed[::2], y[::2]).predict_proba(changed)
    assert np.abs(plain - other).max() < 0.15
    assert (plain.argmax(axis=1) == other.argmax(axis=1)).mean() > 0.98


@pytest.mark.parametrize("projection", ["mixed", "axis", "gaussian"])
def test_two_classes(projection):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 4))
    y = np.where((X[:, 0] > 0) ^ (X[:, 1] > 0), "odd", "even")
    model = clone(SMALL).set_params(projection=projection, n_estimators=60)
    assert held_out_error(model, X, y) < 0.12
    assert model.fit(X, y).decision_function(X).shape == (600,)


def test_a_hundred_classes():
    X, y = make_blobs(1500, 6, centers=100, cluster_std=0.3, random_state=0)
    model = RBoostRankClassifier(20, n_projections=120, learning_rate=0.3, random_state=0)
    assert held_out_error(model, X, y) < 0.1


@pytest.mark.parametrize("projection", KINDS, ids=str)
def test_one_feature(projection):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 1))
    y = np.digitize(X[:, 0], [-1, 0, 1])
    model = clone(SMALL).set_params(projection=projection)
    assert held_out_error(model, X, y) < (0.3 if projection == "gaussian" else 0.1)


def test_constant_features():
    rng = np.random.default_rng(0)
    X = np.full((300, 200), 7.0)
    X[:, 11] = rng.standard_normal(300)
    y = np.digitize(X[:, 11], [-0.5, 0.5])
    for projection in ("mixed", "axis"):
        model = clone(SMALL).set_params(projection=projection).fit(X, y)
        assert model.score(X, y) > 0.95
        assert model.stopped_ == "all rounds done"


def test_a_class_of_one_sample(wine):
    X, y = wine
    y = np.where(np.arange(len(y)) == 100, 9, y)
    model = clone(SMALL).set_params(n_estimators=80).fit(X, y)
    assert model.score(X, y) == 1
    early = clone(SMALL).set_params(early_stopping=True).fit(X, y)
    assert set(early.predict(X)) >= {0, 1, 2}


def test_one_sample_a_class():
    X, y = np.eye(5), np.arange(5)
    model = clone(SMALL).set_params(l2_regularization=0.0).fit(X, y)
    assert model.score(X, y) == 1


def test_fitted_samples_end_the_fit():
    X, y = make_blobs(60, 3, centers=3, cluster_std=0.1, random_state=0)
    model = RBoostRankClassifier(2000, n_projections=30, learning_rate=1.0, random_state=0)
    model.fit(X, y)
    assert model.stopped_ in ("all samples are fitted", "no tree separates any two points")
    assert model.score(X, y) == 1
    assert model.n_estimators_ < 2000
    assert np.isfinite(model.decision_function(X)).all()


def test_the_exponential_loss_of_separated_samples_does_not_overflow():
    X, y = make_blobs(60, 3, centers=3, cluster_std=0.1, random_state=0)
    model = RBoostRankClassifier(
        300, loss="exponential", n_projections=30, learning_rate=1.0, random_state=0
    ).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert model.train_history_["loss"][-1] < -100


def test_margins_of_unequal_classes_stay_within_one():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 3))
    y = (np.arange(1000) % 250 == 0).astype(int)
    margins = RBoostRankClassifier(1, random_state=0).fit(X, y).margins(X, y)
    assert np.abs(margins).max() <= 1


# settings


def test_few_points_a_round_still_learn():
    X, y = make_blobs(1500, 6, centers=6, cluster_std=2.5, random_state=0)
    errors = [
        held_out_error(clone(SMALL).set_params(max_points=n, negligible=share), X, y)
        for n, share in ((None, 0.0), (1000, 0.0), (1000, 0.03))
    ]
    assert max(errors) < errors[0] + 0.03
    assert errors[0] < 0.1


def test_the_share_left_out_is_noted():
    X, y = make_blobs(600, 4, centers=6, cluster_std=3, random_state=0)
    for negligible in (0.0, 0.03, 0.2):
        model = clone(SMALL).set_params(negligible=negligible).fit(X, y)
        left_out = model.train_history_["left_out"]
        assert left_out.max() <= negligible
        assert (left_out.max() > 0) == (negligible > 0)


def leaves_of(model):
    return np.array([(tree.left < 0).sum() for tree in model._hypotheses])


@pytest.mark.parametrize(
    ("settings", "most"),
    [
        ({}, 31),
        ({"max_leaf_nodes": 5}, 5),
        ({"max_depth": 1}, 2),
        ({"max_depth": 3}, 8),
        ({"max_leaf_nodes": 2}, 2),
    ],
)
def test_sizes_of_trees(noisy, settings, most):
    model = clone(SMALL).set_params(**settings).fit(*noisy)
    assert leaves_of(model).max() == most


@pytest.mark.parametrize(
    ("n_classes", "n_features", "most"), [(10, 5, 60), (3, 300, 72), (60, 5, 360), (100, 5, 511)]
)
def test_leaves_grow_with_the_classes(n_classes, n_features, most):
    X, y = make_blobs(1200, n_features, centers=n_classes, cluster_std=40, random_state=0)
    assert leaves_of(clone(SMALL).set_params(n_estimators=3).fit(X, y)).max() == most


@pytest.mark.parametrize(("n_classes", "ridge"), [(3, 0.5), (20, 0.5), (60, 1.5), (450, 10.0)])
def test_the_ridge_penalty_grows_with_the_classes(n_classes, ridge):
    X, y = make_blobs(900, 5, centers=n_classes, cluster_std=4, random_state=0)
    model = clone(SMALL).set_params(n_estimators=3, max_leaf_nodes=8)
    usual, same, other = (
        clone(model).set_params(l2_regularization=value).fit(X, y).decision_function(X)
        for value in (None, ridge, 2 * ridge)
    )
    assert_array_equal(usual, same)
    assert (usual != other).any()


def test_min_samples_leaf_makes_smaller_trees(noisy):
    model = clone(SMALL).set_params(min_samples_leaf=60).fit(*noisy)
    assert leaves_of(model).max() <= 450 // 60


def test_a_tiny_subsample_has_a_sample():
    X, y = load_iris(return_X_y=True)
    model = clone(SMALL).set_params(subsample=0.01).fit(X[::15], y[::15])
    assert model.n_estimators_ == 40


@pytest.mark.parametrize("max_bins", [2, 3, 16, 256])
def test_max_bins(wine, max_bins):
    X, y = wine
    assert held_out_error(clone(SMALL).set_params(max_bins=max_bins), X, y) < 0.12


def test_early_stopping_by_itself(monkeypatch):
    monkeypatch.setattr(rank, "_LARGE", 2000)
    X, y = make_blobs(2000, 3, centers=3, cluster_std=6, random_state=0)
    model = RBoostRankClassifier(
        15, n_projections=30, learning_rate=1.0, n_iter_no_change=3, random_state=0
    )
    large = clone(model).fit(X, y)
    losses = large.train_history_["validation_loss"]
    assert large.stopped_.startswith("no lower validation")
    assert large.n_estimators_ == losses.argmin() + 1 == len(losses) - 3
    few = clone(model).fit(X[1:], y[1:])
    assert few.n_estimators_ == 15
    assert "validation_loss" not in few.train_history_
    given = clone(model).fit(X[:500], y[:500], X_val=X[500:800], y_val=y[500:800])
    losses = given.train_history_["validation_loss"]
    assert given.n_estimators_ == losses.argmin() + 1 < 15
    decision = given.decision_function(X[500:800]).T
    expected = plain_loss("softmax", decision, y[500:800], np.ones(300))
    assert_allclose(losses.min(), expected, rtol=1e-5)
    for settings in ({"early_stopping": False}, {"weak_learner": "stump"}):
        never = clone(model).set_params(**settings)
        never.fit(X[:500], y[:500], X_val=X[500:800], y_val=y[500:800])
        assert never.n_estimators_ == 15
        assert len(never.train_history_["validation_error"]) == 15


def test_weights_of_samples_count(noisy):
    X, y = noisy
    model = clone(SMALL).set_params(scale=False)
    twice = clone(model).fit(np.vstack([X, X[:50]]), np.concatenate([y, y[:50]]))
    weighted = clone(model).fit(X, y, sample_weight=np.where(np.arange(150) < 50, 2.0, 1.0))
    assert_array_equal(twice.decision_function(X), weighted.decision_function(X))
    heavy = clone(model).fit(X, y, sample_weight=np.where(y == 1, 50.0, 1.0))
    assert (heavy.predict(X) == 1).sum() > (twice.predict(X) == 1).sum()


def test_a_pickle_does_not_grow_with_the_classes():
    sizes = []
    for k in (3, 60):
        X, y = make_blobs(1200, 8, centers=k, cluster_std=8, random_state=0)
        model = RBoostRankClassifier(20, n_projections=60, max_leaf_nodes=31, random_state=0)
        model.fit(X, y).predict(X)
        assert (leaves_of(model) == 31).all()
        sizes.append(len(pickle.dumps(model)))
        copy = pickle.loads(pickle.dumps(model))
        assert_array_equal(copy.decision_function(X), model.decision_function(X))
    assert sizes[1] < 1.5 * sizes[0]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"weak_learner": "stump", "loss": "softmax"}, "loss='softmax' is for trees"),
        ({"weak_learner": "wlda", "loss": "softmax"}, "loss='softmax' is for trees"),
        ({"correction": "total"}, "correction='total' is for stumps"),
        ({"max_leaf_nodes": 1}, "max_leaf_nodes"),
        ({"max_depth": 0}, "max_depth"),
        ({"subsample": 0.0}, "subsample"),
        ({"subsample": 1.5}, "subsample"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"negligible": 0.9}, "negligible"),
        ({"max_points": 0}, "max_points"),
        ({"density": 0.0}, "density"),
        ({"max_bins": 257}, "max_bins"),
        ({"min_samples_leaf": 0}, "min_samples_leaf"),
        ({"l2_regularization": -1.0}, "l2_regularization"),
        ({"early_stopping": "never"}, "early_stopping"),
        ({"projections_per_round": 0}, "projections_per_round"),
    ],
)
def test_settings_that_do_not_fit(noisy, settings, message):
    with pytest.raises(ValueError, match=message):
        clone(SMALL).set_params(**settings).fit(*noisy)


def test_the_papers_setting(noisy):
    model = RBoostRankClassifier.paper(n_estimators=7, n_projections=50, random_state=0)
    by_hand = RBoostRankClassifier(7, weak_learner="stump", n_projections=50, random_state=0)
    assert_array_equal(
        model.fit(*noisy).decision_function(noisy[0]),
        by_hand.fit(*noisy).decision_function(noisy[0]),
    )
    paper = RBoostRankClassifier.paper()
    assert (paper.n_estimators, paper.n_projections) == (1000, 20000)
    assert (paper.loss, paper.projection, paper.weak_learner) == (
        "exponential",
        "gaussian",
        "stump",
    )
