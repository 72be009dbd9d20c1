"""Point sets against explicit loops over classes, samples and features."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from randomboost.projections.matrices import GaussianProjection
from randomboost.projections.points import FeaturePoints, ProjectedPoints
from randomboost.runtime.parallel import ThreadTeam
from randomboost.runtime.random_stream import DATA_STREAM

N_SAMPLES, N_FEATURES, N_CLASSES, N_PROJECTIONS = 14, 4, 3, 6
PROJECTION = GaussianProjection(2**33 + 1, DATA_STREAM, N_CLASSES, N_PROJECTIONS)

dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64])
containers = pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix], ids=["dense", "csr"])
merges = pytest.mark.parametrize("merge", [True, False], ids=["merged", "unmerged"])
# few distinct numbers, so that equal rows, zero rows and zeros are common
matrices = arrays(np.float64, (9, 2), elements=st.sampled_from([0.0, -0.0, 1.0, -2.5, 0.1]))
weight_matrices = arrays(np.float64, (N_CLASSES, 9), elements=st.floats(-10, 10))


def draw(dtype=np.float64, *, seed=0):
    """Random data with zeros, three copies of one row, two of another and a row of zeros."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_SAMPLES, N_FEATURES))
    X[rng.random(X.shape) < 0.3] = 0
    X[5] = 0
    X[[7, 13]] = X[2]
    X[11] = X[0]
    return X.astype(dtype)


def matrix(dtype):
    """P^(r)[v, j] as (class, dimension, feature)."""
    return PROJECTION.rows(np.arange(N_PROJECTIONS), (0, N_FEATURES), dtype)


def project(X, directions):
    """``directions[r] . x_i``, feature by feature in the precision of the data."""
    out = np.zeros((len(directions), len(X)), X.dtype)
    for r, direction in enumerate(directions):
        for i, x in enumerate(X):
            for p, value in zip(direction, x, strict=True):
                out[r, i] += p * value
    return out


def tolerance(dtype):
    return 2e-6 if dtype == np.float32 else 1e-13


@dtypes
@containers
def test_column_does_not_depend_on_threads(dtype, container, monkeypatch):
    X = container(draw(dtype))
    alone, together = (ProjectedPoints(X, PROJECTION) for _ in range(2))
    monkeypatch.setattr("randomboost.projections.points._FEW_VALUES", 0)
    with ThreadTeam(2) as two:
        for v in range(N_PROJECTIONS):
            np.testing.assert_array_equal(together.column(v, two), alone.column(v))


@dtypes
@containers
@merges
def test_column_is_the_sum_in_the_order_of_the_features(dtype, container, merge):
    X = draw(dtype)
    points = ProjectedPoints(container(X), PROJECTION, merge=merge)
    for v in range(N_PROJECTIONS):
        column = points.column(v)
        assert column.shape == (points.n_points,)
        assert column.dtype == dtype
        expected = project(X, matrix(dtype)[:, v])
        np.testing.assert_array_equal(points.unfold(column), expected)


@dtypes
@containers
@merges
def test_along_is_the_sum_in_the_order_of_the_features(dtype, container, merge):
    X = draw(dtype)
    points = ProjectedPoints(container(X), PROJECTION, merge=merge)
    directions = np.random.default_rng(1).normal(size=(N_CLASSES, N_FEATURES)).astype(dtype)
    for given_directions in (directions, np.asfortranarray(directions)):
        found = points.along(given_directions)
        assert found.dtype == dtype
        np.testing.assert_array_equal(points.unfold(found), project(X, directions))


@dtypes
@containers
@merges
def test_block_is_the_columns_up_to_rounding(dtype, container, merge):
    points = ProjectedPoints(container(draw(dtype)), PROJECTION, merge=merge)
    for indices in ([4], [0, 1, 2, 3, 4, 5], [5, 2, 2]):
        block = points.block(np.array(indices))
        assert block.shape == (len(indices), points.n_points)
        assert block.dtype == dtype
        assert block.flags.c_contiguous
        expected = np.stack([points.column(v) for v in indices])
        np.testing.assert_allclose(block, expected, rtol=0, atol=tolerance(dtype))


@dtypes
@containers
def test_combine_is_the_sum_of_the_matrices(dtype, container):
    points = ProjectedPoints(container(draw(dtype)), PROJECTION)
    columns, coefficients = np.array([5, 0, 3]), np.array([0.7, -1.5, 0.25])
    expected = np.zeros((N_CLASSES, N_FEATURES))
    for v, coefficient in zip(columns, coefficients, strict=True):
        for r in range(N_CLASSES):
            expected[r] += coefficient * matrix(np.float64)[r, v]
    found = points.combine(columns, coefficients)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, expected, rtol=tolerance(dtype), atol=tolerance(dtype))
    mixed = points.along(found)
    expected = sum(c * points.column(v) for v, c in zip(columns, coefficients, strict=True))
    np.testing.assert_allclose(mixed, expected, rtol=0, atol=5 * tolerance(dtype))


@dtypes
@containers
@merges
@pytest.mark.parametrize("columns", [[1], [4, 0], [0, 1, 2, 3, 4, 5]])  # both ways to compute
def test_moments_are_weighted_mean_and_covariance(dtype, container, merge, columns):
    X = draw(dtype)
    points = ProjectedPoints(container(X), PROJECTION, merge=merge)
    weights = np.random.default_rng(2).uniform(0, 1, (N_CLASSES, N_SAMPLES))
    weights[0, :6] = 0
    mean, covariance = points.moments(points.fold(weights), np.array(columns))
    values = np.stack([project(X, matrix(dtype)[:, v]).ravel() for v in columns])
    values = values.astype(np.float64)
    np.testing.assert_allclose(
        mean, np.average(values, axis=1, weights=weights.ravel()), atol=10 * tolerance(dtype)
    )
    expected = np.cov(values, aweights=weights.ravel(), ddof=0)
    assert covariance.shape == (len(columns), len(columns))
    np.testing.assert_allclose(
        covariance, expected.reshape(covariance.shape), atol=10 * tolerance(dtype)
    )


def test_moments_use_both_ways():
    """The test above is worth its name only if its sizes take either branch."""
    distinct = N_SAMPLES - 3
    ways = {N_FEATURES * (N_FEATURES + n) > n * distinct for n in (1, 2, 6)}
    assert ways == {True, False}


@containers
def test_equal_rows_are_merged(container):
    X = draw()
    points = ProjectedPoints(container(X), PROJECTION)
    assert points.n_samples == N_SAMPLES
    assert points.n_features == N_FEATURES
    assert points.n_columns == N_PROJECTIONS
    assert points.n_points == N_CLASSES * (N_SAMPLES - 3)
    assert ProjectedPoints(container(X), PROJECTION, merge=False).n_points == N_CLASSES * N_SAMPLES
    distinct = container(np.delete(X, [7, 11, 13], axis=0))
    assert ProjectedPoints(distinct, PROJECTION).n_points == points.n_points


@containers
@dtypes
def test_points_do_not_depend_on_the_order_of_the_rows(container, dtype):
    X = draw(dtype)
    shuffle = np.random.default_rng(3).permutation(N_SAMPLES)
    weights = np.arange(N_CLASSES * N_SAMPLES, dtype=float).reshape(N_CLASSES, -1)
    one = ProjectedPoints(container(X), PROJECTION)
    two = ProjectedPoints(container(X[shuffle]), PROJECTION)
    np.testing.assert_array_equal(one.column(2), two.column(2))
    np.testing.assert_array_equal(one.fold(weights), two.fold(weights[:, shuffle]))


@merges
@given(X=matrices, weights=weight_matrices)
@settings(deadline=None, max_examples=60)
def test_fold_and_unfold(merge, X, weights):
    projection = GaussianProjection(5, DATA_STREAM, N_CLASSES, 4)
    points = ProjectedPoints(X, projection, merge=merge)
    n_distinct = len(np.unique(X + 0.0, axis=0))
    assert points.n_points == N_CLASSES * (n_distinct if merge else len(X))
    folded = points.fold(weights)
    assert folded.shape == (points.n_points,)
    outputs = np.sin(points.column(2))  # any function of a column's values
    spread = points.unfold(outputs)
    assert spread.shape == weights.shape
    assert np.vdot(weights, spread) == pytest.approx(folded @ outputs, rel=1e-12, abs=1e-12)
    # a point's weight is the sum over its class and its equal samples; a sample of zeros lies at 0
    # for every class, and the first class has the weights of all
    for r in range(N_CLASSES):
        for i in range(len(X)):
            number = points.unfold(np.arange(points.n_points))[r, i]
            alike = (X[i] == X).all(axis=1) if merge else np.arange(len(X)) == i
            expected = weights[r, alike].sum()
            if not X[i].any():
                expected = weights[:, alike].sum() if r == 0 else 0.0
            assert folded[number] == pytest.approx(expected, rel=1e-12, abs=1e-12)


@dtypes
@given(X=matrices)
@settings(deadline=None, max_examples=60)
def test_sparse_is_dense_bit_for_bit(dtype, X):
    projection = GaussianProjection(6, DATA_STREAM, N_CLASSES, 4)
    X = X.astype(dtype)
    explicit_zeros = sp.csr_matrix(np.ones_like(X))
    explicit_zeros.data[:] = X.ravel()
    dense = ProjectedPoints(X, projection)
    for data in (sp.csr_matrix(X), sp.csr_array(X), explicit_zeros):
        sparse = ProjectedPoints(data, projection)
        assert sparse.n_points == dense.n_points
        for v in range(4):
            expected = dense.unfold(dense.column(v))
            assert sparse.unfold(sparse.column(v)).tobytes() == expected.tobytes()


@dtypes
def test_feature_points(dtype):
    X = draw(dtype)
    points = FeaturePoints(X)
    assert (points.n_columns, points.n_points) == (N_FEATURES, N_SAMPLES)
    assert points.dtype == dtype
    for j in range(N_FEATURES):
        np.testing.assert_array_equal(points.column(j), X[:, j])
    block = points.block(np.array([3, 1, 1]))
    np.testing.assert_array_equal(block, X[:, [3, 1, 1]].T)
    assert block.flags.c_contiguous

    direction = points.combine(np.array([3, 0]), np.array([0.1, -2.0]))
    assert direction.dtype == dtype
    np.testing.assert_array_equal(direction, np.array([[-2.0, 0, 0, 0.1]], dtype))
    values = points.along(direction)
    assert values.dtype == dtype
    np.testing.assert_array_equal(values, project(X, direction)[0])

    weights = np.random.default_rng(4).uniform(0, 1, N_SAMPLES)
    mean, covariance = points.moments(weights, np.array([2, 0, 1]))
    chosen = X[:, [2, 0, 1]].astype(np.float64)
    atol = 10 * tolerance(dtype)
    np.testing.assert_allclose(mean, np.average(chosen, axis=0, weights=weights), atol=atol)
    expected = np.cov(chosen.T, aweights=weights, ddof=0)
    np.testing.assert_allclose(covariance, expected, atol=atol)
