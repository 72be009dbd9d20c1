"""Stump search against brute force over every column, cut and polarity."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from randomboost.projections.matrices import GaussianProjection
from randomboost.projections.points import FeaturePoints, ProjectedPoints
from randomboost.runtime.parallel import ThreadTeam
from randomboost.runtime.random_stream import DATA_STREAM
from randomboost.search import binned, joint, sorted
from randomboost.search.binned import BinnedColumns
from randomboost.search.fixed_point import to_fixed_point
from randomboost.search.joint import _WORTHWHILE, JointSearch, first_of_best
from randomboost.search.sorted import (
    SortedColumns,
    _sort_keys,
    argsort_rows,
    best_threshold,
    midpoints,
)
from randomboost.weak_learners import JointLearner

TOLERANCE = 1e-9  # of the mass
N_POINTS, N_COLUMNS = 12, 5

ALONE = ThreadTeam(1)


def exact_binned(points, team):
    return BinnedColumns(points, team, None)


class EagerTeam(ThreadTeam):
    """Threads that cut up the smallest work too."""

    def run(self, work, n_items, grain=1):
        super().run(work, n_items, 1)


# ---- data ---------------------------------------------------------------------------------------

searches = pytest.mark.parametrize("make", [SortedColumns, exact_binned], ids=["sorted", "binned"])
dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64])

# whole numbers: many equal values, and edges that tie exactly
tied_values = arrays(np.float64, (N_POINTS, N_COLUMNS), elements=st.integers(-1, 2).map(float))
free_values = arrays(np.float64, (N_POINTS, N_COLUMNS), elements=st.floats(-1e9, 1e9))
whole_weights = arrays(np.float64, N_POINTS, elements=st.integers(-3, 3).map(float))
free_weights = arrays(
    np.float64, N_POINTS, elements=st.floats(-1, 1).map(lambda w: w if abs(w) > 1e-99 else 0.0)
)
# three columns that all reach half of the mass, by different points
TIED_HALVES = (
    np.array([[0, 1, 0, 2, 0, 1, 0, 1], [1, 1, 0, 0, 0, 1, 0, 1], [2, 0, 1, 1, 2, 2, 2, 1.0]]).T,
    np.array([-3, -2, 0, -3, 0, -2, 1, -1.0]),
)
# the second and the third column are equally good; a cut between equal values of the third
# looks better still
TIED_COLUMNS = (
    np.array([[0, 2, 0, 2, 2, 0, 2, 0], [0, 1, 0, 0, 1, 2, 2, 2], [1, 2, 2, 0, 1, 1, 2, 0.0]]).T,
    np.array([0, -1, 3, -2, 3, -3, 1, 1.0]),
)
# two cuts of one column that are equally good
TIED_CUTS = (
    np.array([[2, 3, 0, 1, 2, 2, 0, 2, 0, 0, 0, 0.0]]).T,
    np.array([-3, -1, 0, 2, 1, 1, -2, 1, 3, 3, 2, 3]) / 10,
    [8, 3, 1, 9, 5, 4, 7, 2, 11, 0, 10, 6],
)
column_sets = st.lists(st.integers(0, N_COLUMNS - 1), min_size=1, max_size=N_COLUMNS).map(np.array)


def draw(n_points, n_columns, dtype=np.float64, *, seed=0):
    """Continuous columns, columns with many ties and one constant column."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_points, n_columns))
    X[:, 1::3] = np.round(X[:, 1::3])
    X[:, 2::6] = X[:, [2]] > 1
    X[:, 4] = 3.5
    return X.astype(dtype), rng.normal(size=n_points) + 0.1


def projected(n_samples, n_features=3, n_classes=3, n_projections=7, dtype=np.float64, *, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features))
    X[0] = 0
    X[3] = X[1]
    projection = GaussianProjection(seed + 2**40, DATA_STREAM, n_classes, n_projections)
    points = ProjectedPoints(X.astype(dtype), projection)
    weights = points.fold(rng.normal(size=(n_classes, n_samples)))
    return points, weights


# ---- oracles ------------------------------------------------------------------------------------


def edge_of(values, weights, threshold):
    return weights[values > threshold].sum() - weights[values <= threshold].sum()


def best_edge(points, weights, columns):
    """Largest edge over all columns, cuts between distinct values and both polarities."""
    best = None
    for column in columns:
        values = points.column(column)
        for below in np.unique(values)[:-1]:
            for polarity in (-1, 1):
                edge = polarity * edge_of(values, weights, below)
                best = edge if best is None else max(best, edge)
    return best


def assert_best(found, points, weights, columns, best):
    if best is None:
        assert found is None
        return
    column, threshold = found
    assert column in columns
    values = points.column(column)
    above = values > threshold
    assert above.any()
    assert not above.all()
    reached = abs(edge_of(values, weights, threshold))
    assert reached == pytest.approx(best, rel=0, abs=TOLERANCE * np.abs(weights).sum())


def assert_best_by_brute_force(found, points, weights, columns):
    assert_best(found, points, weights, columns, best_edge(points, weights, columns))


# ---- sorting ------------------------------------------------------------------------------------


def assert_sorts(values, kind=np.uint32):
    order = np.full(values.shape, 77, dtype=kind)
    argsort_rows(values, order)
    for row, found in zip(values, order, strict=True):
        np.testing.assert_array_equal(np.sort(found), np.arange(len(row)))
        np.testing.assert_array_equal(row[found], row[np.argsort(row)])


@pytest.mark.parametrize("width", [32, 64])
@given(data=st.data())
@settings(deadline=None, max_examples=60)
def test_argsort_of_any_numbers(width, data):
    numbers = st.floats(allow_nan=False, allow_infinity=False, width=width)
    few = st.sampled_from([0.0, -0.0, 1.0, -1.0])
    dtype = np.float32 if width == 32 else np.float64
    assert_sorts(data.draw(arrays(dtype, (2, 17), elements=numbers | few)))


@dtypes
@pytest.mark.parametrize("n", [1, 2, 100, 3000])
@pytest.mark.parametrize("kind", [np.uint16, np.uint32])
def test_argsort_of_hard_rows(dtype, n, kind):
    rng = np.random.default_rng(n)
    normal = rng.normal(size=n)
    rows = [
        normal,
        np.sort(normal),
        np.sort(normal)[::-1],
        np.round(normal),  # ties
        np.ones(n),
        rng.choice([0.0, -0.0, -1.0, 1.0], n),
        1e3 + 1e-6 * normal,  # a few values share a 32-bit key
        1e9 + 1e-6 * normal,  # all do
        -1e9 + 1e-6 * normal,
    ]
    assert_sorts(np.stack(rows).astype(dtype), kind)


def test_argsort_at_the_ends_of_the_range():
    rng = np.random.default_rng(0)
    normal = rng.normal(size=500)
    signs = np.sign(normal)
    rows = [
        normal * 1e300,
        normal * 1e-300,
        normal * 5e-320,  # subnormal
        signs * 10.0 ** rng.uniform(-320, 300, 500),
        rng.choice([1e300, -1e300, 1e308, -1e308, 5e-324, -5e-324, 0.0, -0.0], 500),
    ]
    assert_sorts(np.stack(rows))


@dtypes
def test_sort_keys_rise_with_the_value(dtype):
    """Wrong keys would leave the sorting right but slow."""
    tiny = np.float32(1e-45)
    values = np.array([-1e38, -2, -1.5, -1, -tiny, 0, tiny, 1, 1.5, 2, 1e38], dtype)
    keys = np.empty(len(values), np.int64)
    _sort_keys(values, keys)
    assert (np.diff(keys) > 0).all()
    assert keys[0] >= 0
    assert keys[-1] < 2**32


# ---- thresholds and fixed point -----------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(data=st.data())
@settings(deadline=None, max_examples=60)
def test_midpoints_separate(dtype, data):
    width, limit = (32, 2.0**126) if dtype == np.float32 else (64, 1e300)
    values = data.draw(arrays(dtype, (2, 6), elements=st.floats(-limit, limit, width=width)))
    values[1, 3:] = np.nextafter(values[0, 3:], dtype(np.inf))  # no number between
    below, above = values.min(axis=0), values.max(axis=0)
    below, above = below[below < above], above[below < above]
    threshold = midpoints(below, above)
    assert threshold.dtype == dtype
    assert (below <= threshold).all()
    assert (threshold < above).all()


@given(free_weights | whole_weights)
@settings(deadline=None, max_examples=60)
def test_fixed_point_is_proportional_and_leaves_room(weights):
    assume(weights.any())
    fixed = [int(number) for number in to_fixed_point(weights)]
    mass = sum(map(abs, fixed))
    assert 2**59 < mass < 2**61 + 2**12  # three times that fits into int64
    share = np.array([number / mass for number in fixed])
    np.testing.assert_allclose(share, weights / np.abs(weights).sum(), rtol=1e-14, atol=1e-17)


@given(values=tied_values | free_values, weights=free_weights | whole_weights)
@settings(deadline=None, max_examples=60)
def test_best_threshold_of_one_column(values, weights):
    assume(weights.any())
    points = FeaturePoints(values)
    below, above = best_threshold(points.column(0), to_fixed_point(weights))
    found = (0, below) if below < above else None
    assert_best_by_brute_force(found, points, weights, [0])
    if found is not None:
        distinct = np.unique(values[:, 0])
        assert above == distinct[np.searchsorted(distinct, below) + 1]


# ---- exact search -------------------------------------------------------------------------------


@searches
@given(
    values=tied_values | free_values,
    weights=free_weights | whole_weights,
    columns=column_sets,
)
@settings(deadline=None, max_examples=60)
def test_search_of_features(make, values, weights, columns):
    assume(weights.any())
    points = FeaturePoints(values)
    found = make(points, ALONE).search(weights, columns)
    assert_best_by_brute_force(found, points, weights, columns)


@example(*TIED_COLUMNS)
@example(*TIED_HALVES)
@given(values=tied_values, weights=whole_weights)
@settings(deadline=None, max_examples=60)
def test_the_first_of_equally_good_columns_wins(values, weights):
    """And both searches choose the same stump."""
    assume(weights.any())
    points, columns = FeaturePoints(values), np.arange(values.shape[1])
    each = [best_edge(points, weights, [column]) for column in columns]
    best = max((edge for edge in each if edge is not None), default=None)
    by_order = SortedColumns(points, ALONE).search(weights, columns)
    by_bins = exact_binned(points, ALONE).search(weights, columns)
    assert_best(by_bins, points, weights, columns, best)
    if best is not None:
        assert by_bins[0] == each.index(best)
    assert by_order == by_bins


@searches
@dtypes
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "csr"])
@given(
    X=arrays(np.float64, (8, 2), elements=st.sampled_from([0.0, -0.0, 1.0, -2.5, 0.1])),
    weights=arrays(np.float64, (3, 8), elements=st.integers(-3, 3).map(float)),
    columns=column_sets,
)
@settings(deadline=None, max_examples=30)
def test_search_of_projected_points(make, dtype, sparse, X, weights, columns):
    """With equal samples and zero samples: k points of the same value."""
    X = X.astype(dtype)
    projection = GaussianProjection(9, DATA_STREAM, 3, N_COLUMNS)
    points = ProjectedPoints(sp.csr_matrix(X) if sparse else X, projection)
    weights = points.fold(weights)
    assume(weights.any())
    found = make(points, ALONE).search(weights, columns)
    assert_best_by_brute_force(found, points, weights, columns)


@searches
@dtypes
@pytest.mark.parametrize("seed", range(3))
def test_search_of_larger_problems(make, dtype, seed):
    X, weights = draw(300, 9, dtype, seed=seed)
    points = FeaturePoints(X)
    columns = make(points, ALONE)
    for subset in (np.arange(9), np.array([4, 7, 1]), np.array([8]), np.array([2, 4])):
        found = columns.search(weights, subset)
        assert_best_by_brute_force(found, points, weights, subset)
    assert columns.search(weights, np.array([4])) is None

    points, weights = projected(60, dtype=dtype, seed=seed)
    found = make(points, ALONE).search(weights, np.arange(7))
    assert_best_by_brute_force(found, points, weights, np.arange(7))


@searches
@pytest.mark.parametrize("n_points", [1 << 16, (1 << 16) + 100])
def test_search_of_many_points(make, n_points):
    X, weights = draw(n_points, 5)
    points = FeaturePoints(X)
    columns = make(points, ALONE)
    if make is SortedColumns:
        assert columns.order.dtype == (np.uint16 if n_points == 1 << 16 else np.uint32)
    best = 0.0
    for j in range(5):
        order = np.argsort(X[:, j])
        real = np.diff(X[order, j]) > 0
        edges = weights.sum() - 2 * np.cumsum(weights[order])[:-1]
        best = max(best, np.abs(edges[real]).max(initial=0.0))
    found = columns.search(weights, np.arange(5))
    assert_best(found, points, weights, np.arange(5), best)


@searches
def test_nothing_to_search(make):
    weights = np.array([1.0, -2.0, 0.5])
    constant = FeaturePoints(np.full((3, 2), 7.0))
    assert make(constant, ALONE).search(weights, np.arange(2)) is None
    zeros = FeaturePoints(np.array([[0.0], [-0.0], [0.0]]))
    assert make(zeros, ALONE).search(weights, np.arange(1)) is None
    single = FeaturePoints(np.array([[1.0, 2.0]]))
    assert make(single, ALONE).search(np.array([1.0]), np.arange(2)) is None


@searches
def test_neighbouring_numbers_are_told_apart(make):
    values = np.array([1.0, np.nextafter(1.0, 2.0), -1e300, 1e300])
    points = FeaturePoints(values[:, None])
    weights = np.array([-1.0, 1.0, -1.0, 1.0])
    assert make(points, ALONE).search(weights, np.array([0])) == (0, 1.0)


@searches
@pytest.mark.parametrize("power", [900, -900, -1000])
def test_search_does_not_depend_on_the_unit_of_the_weights(make, power):
    X, weights = draw(50, 6)
    columns = make(FeaturePoints(X), ALONE)
    every = np.arange(6)
    assert columns.search(weights * 2.0**power, every) == columns.search(weights, every)


# ---- invariance ---------------------------------------------------------------------------------


@searches
@example(*TIED_COLUMNS, [2, 6, 1, 5, 3, 7, 4, 0])
@example(*TIED_CUTS)
@given(
    values=tied_values | free_values,
    weights=whole_weights | whole_weights.map(lambda weights: weights / 10),
    shuffle=st.permutations(range(N_POINTS)),
)
@settings(deadline=None, max_examples=60)
def test_search_does_not_depend_on_the_order_of_the_points(make, values, weights, shuffle):
    assume(weights.any())
    shuffle = np.array(shuffle)
    every = np.arange(values.shape[1])
    found = make(FeaturePoints(values), ALONE).search(weights, every)
    again = make(FeaturePoints(values[shuffle]), ALONE).search(weights[shuffle], every)
    assert again == found


@searches
def test_search_does_not_depend_on_the_order_of_the_samples(make):
    rng = np.random.default_rng(5)
    X, weights = rng.normal(size=(40, 4)), rng.normal(size=(3, 40))
    shuffle = rng.permutation(40)
    projection = GaussianProjection(3, DATA_STREAM, 3, 20)

    def search(X, weights):
        points = ProjectedPoints(X, projection)
        return make(points, ALONE).search(points.fold(weights), np.arange(20))

    column, threshold = search(X, weights)
    again = search(X[shuffle], weights[:, shuffle])
    assert again == (column, pytest.approx(threshold, rel=1e-12))


@searches
@dtypes
def test_threads_do_not_change_the_search(make, dtype, monkeypatch):
    monkeypatch.setattr(sorted, "_BLOCK_VALUES", 500)  # several blocks to share out
    monkeypatch.setattr(binned, "_BLOCK_VALUES", 500)
    X, weights = draw(200, 31, dtype)
    for points, c in [(FeaturePoints(X), weights), projected(30, dtype=dtype)]:
        every = np.arange(points.n_columns)
        with EagerTeam(3) as three:
            one, many = make(points, ALONE), make(points, three)
            for subset in (every, every[::2], every[:1]):
                assert one.search(c, subset) == many.search(c, subset)
        if make is SortedColumns:
            np.testing.assert_array_equal(one.order, many.order)
        else:
            np.testing.assert_array_equal(one.bins, many.bins)


@searches
def test_blocks_do_not_change_the_search(make, monkeypatch):
    X, weights = draw(200, 31)
    points, every = FeaturePoints(X), np.arange(31)
    found = make(points, ALONE).search(weights, every)
    for size in (1, 200, 1999, 31 * 200):
        monkeypatch.setattr(sorted, "_BLOCK_VALUES", size)
        monkeypatch.setattr(binned, "_BLOCK_VALUES", size)
        assert make(points, ALONE).search(weights, every) == found


# ---- bins ---------------------------------------------------------------------------------------


def assert_bins(columns, points, max_bins):
    """Non-empty bins, rising thresholds, and bins that follow from the thresholds."""
    for column in range(points.n_columns):
        values, bins = points.column(column), columns.bins[column]
        thresholds, n_bins = columns.thresholds[column], columns.n_bins[column]
        assert 1 <= n_bins <= max_bins
        assert len(thresholds) == n_bins - 1
        assert (np.diff(thresholds) > 0).all()
        np.testing.assert_array_equal(bins, np.searchsorted(thresholds, values, side="left"))
        assert (np.bincount(bins, minlength=n_bins) > 0).all()
        assert bins.max() == n_bins - 1


def best_edge_of_bins(columns, points, weights, subset):
    edges = [
        abs(edge_of(points.column(column), weights, threshold))
        for column in subset
        for threshold in columns.thresholds[column]
    ]
    return max(edges, default=None)


@given(
    values=tied_values | free_values,
    weights=free_weights | whole_weights,
    max_bins=st.sampled_from([2, 3, 4, 7, 100]),
    subset=column_sets,
)
@settings(deadline=None, max_examples=60)
def test_bins_and_their_search(values, weights, max_bins, subset):
    assume(weights.any())
    points = FeaturePoints(values)
    columns = BinnedColumns(points, ALONE, max_bins)
    assert_bins(columns, points, max_bins)
    found = columns.search(weights, subset)
    assert_best(found, points, weights, subset, best_edge_of_bins(columns, points, weights, subset))
    if found is not None:
        assert found[1] in columns.thresholds[found[0]]


@dtypes
@pytest.mark.parametrize("max_bins", [2, 16, 255, 256, 257, 400])
def test_bins_of_larger_problems(dtype, max_bins):
    X, weights = draw(600, 7, dtype)
    for points, c in [(FeaturePoints(X), weights), projected(200, dtype=dtype)]:
        columns = BinnedColumns(points, ALONE, max_bins)
        assert columns.bins.dtype == (np.uint8 if max_bins <= 256 else np.uint16)
        assert_bins(columns, points, max_bins)
        every = np.arange(points.n_columns)
        best = best_edge_of_bins(columns, points, c, every)
        assert_best(columns.search(c, every), points, c, every, best)


@pytest.mark.parametrize("max_bins", [2, 3, 7, 64, 99, 100, 1000])
def test_bins_of_distinct_values_are_even(max_bins):
    values = np.random.default_rng(0).permutation(100).astype(float)
    columns = BinnedColumns(FeaturePoints(values[:, None]), ALONE, max_bins)
    sizes = np.bincount(columns.bins[0])
    assert len(sizes) == min(max_bins, 100)
    assert sizes.max() - sizes.min() <= 1


@pytest.mark.parametrize("max_bins", [2, 3, 16])
@pytest.mark.parametrize("counts", [(1, 99), (99, 1), (50, 50), (2, 3, 95), (95, 3, 2)])
def test_a_column_with_two_values_has_two_bins(max_bins, counts):
    values = np.repeat(np.arange(len(counts), dtype=float), counts)
    columns = BinnedColumns(FeaturePoints(values[:, None]), ALONE, max_bins)
    assert columns.n_bins[0] >= 2
    found = columns.search(np.where(values > 0, 1.0, -1.0), np.array([0]))
    assert found is not None


def test_without_a_limit_every_value_has_its_own_bin():
    X, _ = draw(300, 7)
    columns = BinnedColumns(FeaturePoints(X), ALONE, None)
    assert_bins(columns, columns.points, 300)
    for column, values in enumerate(X.T):
        distinct, bins = np.unique(values, return_inverse=True)
        assert columns.n_bins[column] == len(distinct)
        np.testing.assert_array_equal(columns.bins[column], bins)
        middles = (distinct[:-1] + distinct[1:]) / 2
        np.testing.assert_allclose(columns.thresholds[column], middles, rtol=1e-12, atol=1e-15)


# ---- all codes at once --------------------------------------------------------------------------


def joint_oracle(X, thresholds, weights, codes):
    """Edges of every (feature, threshold), last a constant stump, and every code."""
    cuts = [(j, threshold) for j, some in enumerate(thresholds) for threshold in some]
    edges = np.zeros((len(cuts) + 1, codes.shape[1]))
    for at, (j, threshold) in enumerate([*cuts, (0, -np.inf)]):
        for v in range(codes.shape[1]):
            for i in range(len(X)):
                output = 1.0 if X[i, j] > threshold else -1.0
                for r in range(len(codes)):
                    edges[at, v] += output * weights[i, r] * codes[r, v]
    return edges


def all_edges(search, weights, codes):
    """The largest edge for every code, not for the best codes only."""
    return search.largest_edges(weights, codes, np.zeros(codes.shape[1]), codes.shape[1])


@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("max_bins", [None, 4])
@given(
    X=arrays(np.float64, (9, 3), elements=st.integers(-2, 2).map(float) | st.floats(-3, 3)),
    seed=st.integers(0, 10**6),
)
@settings(deadline=None, max_examples=12)
def test_joint_search(n_classes, max_bins, constant, X, seed):
    rng = np.random.default_rng(seed)
    weights, codes = rng.normal(size=(9, n_classes)), rng.normal(size=(n_classes, 5))
    columns = BinnedColumns(FeaturePoints(X), ALONE, max_bins)
    search = JointSearch(columns, ALONE, constant=constant)
    if not search.has_stumps:
        assert not constant
        return
    best, sums = all_edges(search, weights, codes)
    expected = np.abs(joint_oracle(X, columns.thresholds, weights, codes))
    if not constant:
        expected[-1] = 0.0
    tolerance = TOLERANCE * np.abs(weights).sum() * np.abs(codes).max()
    np.testing.assert_allclose(best, expected.max(axis=0), rtol=0, atol=tolerance)
    np.testing.assert_allclose(np.abs(sums @ codes), expected, rtol=0, atol=tolerance)
    for v in range(5):
        feature, threshold = search.stump(sums, codes[:, v])
        if constant and expected[-1, v] >= (1 - _WORTHWHILE) * best[v]:  # hardly better than none
            assert threshold == -np.inf
        else:
            assert threshold in columns.thresholds[feature]
            reached = abs(edge_of(X[:, feature], weights @ codes[:, v], threshold))
            assert reached == pytest.approx(best[v], rel=0, abs=tolerance)


@pytest.mark.parametrize("n_best", [1, 4, 30])
@pytest.mark.parametrize("spread", [0.0, 0.3, 30.0])
def test_bounds_leave_out_no_cut_of_the_best_codes(monkeypatch, n_best, spread):
    monkeypatch.setattr(joint, "_LONGEST", 3)
    X, _ = draw(80, 7)
    scanned = []
    scan = joint.JointSearch._scan

    def noted(search, sums, codes):
        scanned.append(len(sums))
        return scan(search, sums, codes)

    monkeypatch.setattr(joint.JointSearch, "_scan", noted)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        weights, codes = rng.normal(size=(80, 5)), rng.normal(size=(5, 30))
        offsets = spread * rng.normal(size=30)
        codes[:, 3] = 0
        search = JointSearch(BinnedColumns(FeaturePoints(X), ALONE, None), ALONE)
        edges, sums = search.largest_edges(weights, codes, offsets, n_best)
        expected = np.abs(sums @ codes).max(axis=0)
        assert (edges <= expected * (1 + 1e-12)).all()
        best = np.argsort(-(offsets + expected))[:n_best]
        np.testing.assert_allclose(edges[best], expected[best], rtol=1e-12)
        assert set(np.argsort(-(offsets + edges))[:n_best]) == set(best)
    if n_best == 1:
        assert sum(scanned) < 0.5 * 20 * len(sums)


def test_joint_search_of_constant_features():
    weights, codes = np.arange(6.0).reshape(3, 2), np.array([[1.0, -1.0, 0.5], [-2.0, 1.0, 3.0]])
    search = JointSearch(BinnedColumns(FeaturePoints(np.full((3, 4), 2.5)), ALONE, 16), ALONE)
    best, sums = all_edges(search, weights, codes)
    np.testing.assert_allclose(best, np.abs(weights.sum(axis=0) @ codes))
    assert search.stump(sums, codes[:, 0])[1] == -np.inf
    points = FeaturePoints(np.full((3, 4), 2.5))
    without = JointSearch(BinnedColumns(points, ALONE, 16), ALONE, constant=False)
    rng = np.random.default_rng(0)
    assert JointLearner(points, without).fit(weights, codes, np.zeros(3), rng) is None


def test_threads_do_not_change_the_joint_search():
    X, _ = draw(80, 7)
    rng = np.random.default_rng(1)
    weights, codes = rng.normal(size=(80, 5)), rng.normal(size=(5, 40))
    columns = BinnedColumns(FeaturePoints(X), ALONE, 16)
    with EagerTeam(3) as three:
        best, sums = all_edges(JointSearch(columns, ALONE), weights, codes)
        best_3, sums_3 = all_edges(JointSearch(columns, three), weights, codes)
    np.testing.assert_array_equal(best_3, best)
    np.testing.assert_array_equal(sums_3, sums)


def test_joint_search_does_not_depend_on_the_order_of_the_samples():
    X, _ = draw(80, 7)
    rng = np.random.default_rng(2)
    weights, codes = rng.normal(size=(80, 4)), rng.normal(size=(4, 30))
    shuffle = rng.permutation(80)

    def search(X, weights):
        search = JointSearch(BinnedColumns(FeaturePoints(X), ALONE, None), ALONE)
        best, sums = all_edges(search, weights, codes)
        return best, [search.stump(sums, code) for code in codes.T]

    best, stumps = search(X, weights)
    best_again, stumps_again = search(X[shuffle], weights[shuffle])
    np.testing.assert_allclose(best_again, best, rtol=1e-11)
    assert stumps_again == stumps


@pytest.mark.parametrize(
    ("values", "position"),
    [
        ([1.0], 0),
        ([0.0, 0.0], 0),
        ([1.0, 3.0, 2.0], 1),
        ([1.0, 3.0 - 1e-14, 3.0], 1),
        ([1.0, 3.0 - 1e-9, 3.0], 2),
        ([-5.0, -2.0, -2.0], 1),
    ],
)
def test_first_of_best(values, position):
    assert first_of_best(np.array(values)) == position
