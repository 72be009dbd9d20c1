"""What trees are made of: class codes, bins and directions."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from randomboost.projections import directions as directions_module
from randomboost.projections.class_codes import class_codes
from randomboost.projections.directions import Directions, find_discriminants
from randomboost.projections.matrices import make_directions
from randomboost.projections.mixing import project
from randomboost.runtime.parallel import ThreadTeam
from randomboost.trees.binning import bin_values, find_edges

ONE = ThreadTeam(1)


# -- class codes -------------------------------------------------------------------------------


def test_codes_never_change():
    """Saved models are made of the codes of their seed: a change here breaks them all."""
    assert_array_equal(class_codes(42, 5)[:3], GOLDEN_CODES)


GOLDEN_CODES = [[1, 1, -1, 1, -1], [1, 0, 0, 1, 1], [1, 1, 0, 0, 0]]


@pytest.mark.parametrize("k", [2, 3, 10, 100])
def test_shares_of_the_codes(k):
    drawn = [class_codes(seed, k) for seed in range(40)]
    codes = np.concatenate(drawn)
    assert codes.shape[1] == k
    assert codes.any(axis=1).all()
    shares = [(codes == sign).mean() for sign in (0, 1, -1)]
    moved = 0.3**k / k  # a code of zeros only gets one class with a 1
    assert_allclose(shares, [0.3 - moved, 0.35 + moved, 0.35], atol=0.02)
    assert not np.array_equal(drawn[0], drawn[1])


def test_one_class_has_a_sign():
    assert set(class_codes(3, 1).ravel()) <= {-1.0, 1.0}


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


def _edges(values, max_bins):
    return find_edges(values[None], max_bins, np.isnan(values[None]).any(axis=1))[0]


@pytest.mark.parametrize("max_bins", [2, 3, 16, 64, 200, 256])
@pytest.mark.parametrize("values", COLUMNS.values(), ids=COLUMNS)
def test_a_bin_is_the_number_of_edges_below(values, max_bins):
    edges = _edges(values, max_bins)
    assert len(edges) == max_bins - 1
    assert ((edges[:-1] < edges[1:]) | (edges[1:] == np.inf)).all()
    bins = np.empty(len(values), dtype=np.uint8)
    bin_values(values[None], edges[None], bins[None])
    assert_array_equal(bins, [sum(float(value) > edge for edge in edges) for value in values])
    missing = np.isnan(values)
    if missing.any():
        assert (bins[missing] == 0).all()
        assert (bins[~missing] > 0).all()
    distinct = np.unique(values[~missing])
    if len(distinct) + missing.any() <= max_bins and len(values) < 2048:
        assert len(np.unique(bins)) == len(distinct) + missing.any()


@pytest.mark.parametrize("far", [1.0, 1e6, 1.7e308, np.inf])
def test_bins_where_edges_are_close_together_or_far_apart(far):
    rng = np.random.default_rng(0)
    edges = np.sort(np.concatenate([[-far], 1e-9 * rng.standard_normal(60), [far]]))
    values = np.concatenate([edges, 1e-9 * rng.standard_normal(300), [np.nan, -np.inf, np.inf]])
    bins = np.empty(len(values), dtype=np.uint8)
    bin_values(values[None], edges[None], bins[None])
    assert_array_equal(bins, (values[:, None] > edges).sum(axis=1))


@pytest.mark.parametrize("max_bins", [16, 64, 256])
def test_bins_are_about_equal(max_bins):
    values = np.random.default_rng(0).standard_normal(100_000) ** 3
    edges = _edges(values, max_bins)
    assert np.isfinite(edges).all()
    counts = np.bincount(np.searchsorted(edges, values), minlength=max_bins)
    assert counts.min() > 0.3 * counts.mean()
    assert counts.max() < 2.5 * counts.mean()


def test_edges_of_directions_are_found_side_by_side():
    rng = np.random.default_rng(0)
    values = rng.standard_normal((4, 300)).round(1)
    values[2, ::7] = np.nan
    together = find_edges(values, 32, np.isnan(values).any(axis=1))
    assert_array_equal(together, [_edges(each, 32) for each in values])


def test_a_heavy_value_leaves_bins_for_the_others():
    values = np.concatenate([np.zeros(1500), np.random.default_rng(0).standard_normal(500)])
    bins = np.searchsorted(_edges(values, 64), values)
    assert len(np.unique(bins)) > 14


# -- directions --------------------------------------------------------------------------------


def made_directions(kind, d=7, k=3, n=40, seed=5):
    X, y = make_blobs(90, d, centers=k, random_state=0)
    return make_directions(kind, seed, n, (X, y, np.ones(90)))


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
        assert_array_equal(nonzeros, np.tile([3, 2], 20))
        assert len({tuple(row) for row in np.split(whole.indices, whole.indptr[1:-1])}) > 20
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
    made = made_directions(("sparse", density), d=12)
    whole = made.rows(np.arange(40))
    assert (np.diff(whole.indptr) == few).all()
    assert set(whole.data) == {-1.0, 1.0}
    assert_array_equal((whole.toarray() != 0).sum(axis=1), few)  # no feature twice


def test_random_families_choose_evenly():
    made = Directions(1, 10, {"sparse": 3000}, None, None)
    chosen = (made.rows(np.arange(3000)).toarray() != 0).sum(axis=0)
    assert_allclose(chosen, 750, rtol=0.12)


def test_every_second_sparse_direction_is_a_sum_or_a_difference():
    rows = Directions(3, 9, {"sparse": 400}, None, None).rows(np.arange(400)).toarray()
    pairs = rows[1::2]
    assert_array_equal((pairs != 0).sum(axis=1), 2)
    assert set(pairs.ravel()) == {-1.0, 0.0, 1.0}
    assert 0.4 < (pairs.sum(axis=1) == 0).mean() < 0.6
    assert len({tuple(np.flatnonzero(row)) for row in pairs}) == 36  # all there are


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
