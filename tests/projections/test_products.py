"""Products of small matrices: every sum in the order of its terms."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from randomboost.projections.products import add_product, padded


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_terms", [0, 1, 3, 4, 5, 11])
@pytest.mark.parametrize(("n_rows", "n"), [(4, 1), (8, 8), (4, 21)])
def test_sums_are_those_of_a_plain_loop(n_rows, n_terms, n, dtype):
    rng = np.random.default_rng(0)
    left = rng.normal(size=(n_rows, n_terms + 2)).astype(dtype)
    right = rng.normal(size=(n_terms, n + 3)).astype(dtype)
    out = rng.normal(size=(n_rows, n + 3)).astype(dtype)
    expected = out.copy()
    for j in range(n_terms):
        expected[:, :n] += left[:, 2 + j, None] * right[j, :n]
    add_product(left, 2, n_terms, right, n, out)
    assert_array_equal(out, expected)


@pytest.mark.parametrize(("n", "expected"), [(0, 0), (1, 4), (4, 4), (5, 8)])
def test_padded_matrices_end_with_zeros(n, expected):
    rows = np.ones((n, 3), dtype=np.float32)
    found = padded(rows)
    assert found.shape == (expected, 3)
    assert found.dtype == np.float32
    assert found.sum() == 3 * n
