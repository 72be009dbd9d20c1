"""Products with one vector against NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from randomboost.runtime.parallel import ThreadTeam
from randomboost.solvers import matvec
from randomboost.solvers.matvec import dots, weighted_sum

DTYPES = [np.int8, np.float32, np.float64]
TILE = matvec._TILE
SIZES = [0, 1, 5, TILE - 1, TILE, TILE + 1, 3 * TILE + 17]


@pytest.fixture(params=[1, 3], ids=["1 thread", "3 threads"])
def team(request, monkeypatch):
    monkeypatch.setattr(matvec, "_GRAIN", 0)  # cut up small work too
    with ThreadTeam(request.param) as team:
        yield team


def draw(dtype, n_rows, n_columns, *, seed=0):
    rng = np.random.default_rng(seed)
    if dtype == np.int8:
        return rng.choice(np.array([-1, 1], np.int8), (n_rows, n_columns))
    return rng.normal(size=(n_rows, n_columns)).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n_columns", SIZES)
@pytest.mark.parametrize("rows", [[], [3], [6, 0, 2], [1, 1, 5, 0], [0, 1, 2, 3, 4, 5, 6]])
def test_products(dtype, n_columns, rows, team):
    matrix = draw(dtype, 7, n_columns + 3)  # three spare columns that must not count
    rows = np.array(rows, dtype=np.int64)
    weights = np.linspace(-1, 2, len(rows))
    chosen = matrix[rows, :n_columns].astype(np.float64)
    found = weighted_sum(matrix, rows, weights, n_columns, team)
    assert found.shape == (n_columns,)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, weights @ chosen, rtol=1e-12, atol=1e-12)

    vector = np.random.default_rng(1).normal(size=n_columns)
    found = dots(matrix, rows, vector, team)
    assert found.shape == (len(rows),)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, chosen @ vector, rtol=1e-12, atol=1e-10)


@given(
    dtype=st.sampled_from(DTYPES),
    n_columns=st.integers(0, 40),
    rows=st.lists(st.integers(0, 19), max_size=20),
    seed=st.integers(0, 1000),
)
@settings(deadline=None, max_examples=60)
def test_products_are_the_explicit_loops(dtype, n_columns, rows, seed):
    matrix = draw(dtype, 20, 40, seed=seed)
    weights = np.random.default_rng(seed + 1).normal(size=len(rows))
    vector = np.random.default_rng(seed + 2).normal(size=n_columns)
    sums, products = [0.0] * n_columns, [0.0] * len(rows)
    for q, row in enumerate(rows):
        for p in range(n_columns):
            sums[p] += weights[q] * float(matrix[row, p])
            products[q] += float(matrix[row, p]) * vector[p]
    rows = np.array(rows, dtype=np.int64)
    with ThreadTeam(1) as team:
        found_sums = weighted_sum(matrix, rows, weights, n_columns, team)
        found_products = dots(matrix, rows, vector, team)
    np.testing.assert_allclose(found_sums, sums, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found_products, products, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
def test_threads_change_no_bit(dtype, monkeypatch):
    monkeypatch.setattr(matvec, "_GRAIN", 0)
    matrix = draw(dtype, 11, 2 * TILE + 5)
    rows = np.array([10, 3, 0, 4, 4, 7, 1])
    weights = np.random.default_rng(1).normal(size=len(rows))
    vector = np.random.default_rng(2).normal(size=matrix.shape[1])
    with ThreadTeam(1) as alone, ThreadTeam(3) as three:
        for width in (len(vector), 2 * TILE, 100):
            np.testing.assert_array_equal(
                weighted_sum(matrix, rows, weights, width, alone),
                weighted_sum(matrix, rows, weights, width, three),
            )
            np.testing.assert_array_equal(
                dots(matrix, rows, vector[:width], alone),
                dots(matrix, rows, vector[:width], three),
            )
