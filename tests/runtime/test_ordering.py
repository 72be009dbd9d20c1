"""Sorting and selecting in kernels, beside NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

from randomboost.runtime.ordering import kth_largest, sort_numbers


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5, 17, 40, 500])
def test_sorted_as_numpy_sorts(n):
    numbers = np.random.default_rng(n).integers(-50, 50, n + 3)
    expected = np.concatenate([np.sort(numbers[:n]), numbers[n:]])
    sort_numbers(numbers, n)
    np.testing.assert_array_equal(numbers, expected)


@pytest.mark.parametrize("n", [1, 2, 3, 10, 101])
@pytest.mark.parametrize("distinct", [1, 3, 1000])
def test_selected_as_numpy_sorts(n, distinct):
    values = np.random.default_rng(n).integers(0, distinct, n) / 7.0
    for k in range(1, n + 1):
        copied = np.concatenate([values, [1e9]])
        assert kth_largest(copied, n, k) == np.sort(values)[n - k]
        np.testing.assert_array_equal(np.sort(copied[:n]), np.sort(values))
