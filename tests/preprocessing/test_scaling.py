"""Standard scaling against scikit-learn's, and at the ends of the floating-point range."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.preprocessing import StandardScaler

from randomboost.preprocessing.scaling import StandardScaling

KINDS = {"dense": np.asarray, "csr_matrix": sp.csr_matrix, "csr_array": sp.csr_array}
sparse_kinds = pytest.mark.parametrize("kind", ["csr_matrix", "csr_array"])
all_kinds = pytest.mark.parametrize("kind", KINDS)


def as_dense(X):
    return X.toarray() if sp.issparse(X) else X


def scaled(X, weight, kind="dense"):
    X = KINDS[kind](X)
    return as_dense(StandardScaling.learn(X, weight).apply(X))


def reference(X, weight, *, centred):
    scaler = StandardScaler(with_mean=centred).fit(X, sample_weight=weight)
    return scaler.transform(X)


def draw(n_samples=40, *, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, 5)) * [1e-3, 1, 20, 1e4, 1] + [0, 1, -3, 0, 100]
    X[rng.random(X.shape) < 0.4] = 0
    return X, rng.uniform(0.1, 3, n_samples)


@all_kinds
def test_equals_standard_scaler(kind):
    X, weight = draw()
    expected = reference(X, weight, centred=kind == "dense")
    np.testing.assert_allclose(scaled(X, weight, kind), expected, rtol=1e-10, atol=1e-12)


@given(
    arrays(np.float64, (7, 3), elements=st.integers(-3, 3).map(float)),
    arrays(np.float64, 7, elements=st.sampled_from([0.5, 1.0, 2.0, 3.0])),
)
@settings(deadline=None, max_examples=60)
def test_small_integers_equal_standard_scaler(X, weight):
    for kind in ("dense", "csr_matrix"):
        expected = reference(X, weight, centred=kind == "dense")
        np.testing.assert_allclose(scaled(X, weight, kind), expected, rtol=1e-9, atol=1e-12)


def test_weight_two_is_a_sample_given_twice():
    X, _ = draw()
    times = np.arange(len(X)) % 3 + 1
    weighted = StandardScaling.learn(X, times.astype(float))
    repeated = StandardScaling.learn(np.repeat(X, times, axis=0), np.ones(times.sum()))
    np.testing.assert_allclose(weighted.apply(X), repeated.apply(X), rtol=1e-10, atol=1e-12)


def test_new_data_use_the_learned_scaling():
    X, weight = draw()
    new, _ = draw(seed=1)
    expected = StandardScaler().fit(X, sample_weight=weight).transform(new)
    found = StandardScaling.learn(X, weight).apply(new)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
    sparse = StandardScaling.learn(sp.csr_matrix(X), weight).apply(sp.csr_matrix(new))
    expected = StandardScaler(with_mean=False).fit(X, sample_weight=weight).transform(new)
    np.testing.assert_allclose(sparse.toarray(), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("value", [0.0, -7.3, 1e300])
@pytest.mark.parametrize("n_samples", [1, 10, 200_000])
def test_dense_constant_columns_become_zero(n_samples, value):
    # only rounding may be left, not rounding divided by rounding
    X = np.full((n_samples, 1), value)
    weight = np.random.default_rng(0).uniform(0.1, 3, n_samples)
    for w in (weight, np.ones(n_samples)):
        assert np.abs(scaled(X, w)).max() < 1e-10


@sparse_kinds
@pytest.mark.parametrize("value", [0.0, -7.3, 1e300])
@pytest.mark.parametrize("n_samples", [1, 10, 1000])
def test_sparse_constant_columns_keep_their_size(kind, n_samples, value):
    # divided by its peak, and not by a deviation that is rounding only
    X = np.full((n_samples, 1), value)
    weight = np.random.default_rng(0).uniform(0.1, 3, n_samples)
    for w in (weight, np.ones(n_samples)):
        np.testing.assert_allclose(scaled(X, w, kind), np.sign(X), rtol=1e-12)


@all_kinds
@pytest.mark.parametrize("offset", [1e3, 1e6])
def test_deviation_far_from_zero(kind, offset):
    X, weight = draw()
    X = X[:, [1]] + offset
    mean = weight @ X / weight.sum()
    deviation = np.sqrt(weight @ (X - mean) ** 2 / weight.sum())
    found = StandardScaling.learn(KINDS[kind](X), weight)
    np.testing.assert_allclose(found.spread * found.peak, deviation, rtol=1e-6)


@all_kinds
@pytest.mark.parametrize("power", [900, -900])
def test_powers_of_two_change_no_bit(kind, power):
    X, weight = draw()
    np.testing.assert_array_equal(scaled(X * 2.0**power, weight, kind), scaled(X, weight, kind))


@all_kinds
@pytest.mark.parametrize("scale", [1e300, 1e-300, 1e-310])
def test_ends_of_the_range(kind, scale):
    X = np.array([[1.0, -3.0], [2.0, 0.0], [-4.0, 5.0], [0.0, 1.0]])
    weight = np.array([1.0, 2.0, 1.0, 0.5])
    expected = scaled(X, weight, kind)
    found = scaled(X * scale, weight, kind)
    # subnormal numbers have fewer digits
    np.testing.assert_allclose(found, expected, rtol=1e-12 if scale > 1e-305 else 1e-9)


@all_kinds
@pytest.mark.parametrize("scale", [1.0, 1e36, 1e-36])
def test_float32_stays_float32(kind, scale):
    X, weight = draw()
    X = (X / 1e4 * scale).astype(np.float32)
    data = KINDS[kind](X)
    found = StandardScaling.learn(data, weight).apply(data)
    assert found.dtype == np.float32
    assert sp.issparse(found) == (kind != "dense")
    expected = scaled(X.astype(np.float64), weight, kind)
    np.testing.assert_allclose(as_dense(found), expected, rtol=1e-6, atol=1e-7)


@all_kinds
def test_input_is_not_changed_and_zeros_stay_zeros(kind):
    X, weight = draw()
    data = KINDS[kind](X.copy())
    found = StandardScaling.learn(data, weight).apply(data)
    np.testing.assert_array_equal(as_dense(data), X)
    if kind != "dense":
        assert found.format == "csr"
        np.testing.assert_array_equal(found.toarray() == 0, X == 0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_data_may_be_overwritten(dtype):
    X = np.random.default_rng(0).normal(3.0, 5.0, size=(90_000, 2)).astype(dtype)
    scaling = StandardScaling.learn(X, np.ones(len(X)))
    expected = scaling.apply(X)
    found = scaling.apply(X, overwrite=True)
    assert found is X
    np.testing.assert_array_equal(found, expected)
