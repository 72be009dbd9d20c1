"""Directions that follow from a seed."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from randomboost.projections.directions import Directions


def sparse_rows(d, count=12, density=None, seed=3):
    return Directions(seed, d, {"sparse": count}, density, None).rows(np.arange(count)).toarray()


def test_every_second_sparse_direction_is_a_sum_or_difference():
    rows = sparse_rows(9, 400)
    assert_array_equal((rows != 0).sum(axis=1), np.tile([3, 2], 200))
    pairs = rows[1::2]
    assert_array_equal(np.unique(pairs), [-1, 0, 1])
    sums = (pairs.sum(axis=1) != 0).mean()
    assert 0.4 < sums < 0.6
    assert len({tuple(np.flatnonzero(row)) for row in pairs}) == 36  # all there are


@pytest.mark.parametrize("d", [1, 2])
def test_few_features_are_all_mixed(d):
    rows = sparse_rows(d)
    assert_array_equal((rows != 0).sum(axis=1), d)


def test_a_density_gives_signs_only():
    rows = sparse_rows(10, density=0.4)
    assert_array_equal((rows != 0).sum(axis=1), 4)
    assert_array_equal(np.unique(rows), [-1, 0, 1])


def test_some_directions_are_those_of_all():
    every = Directions(5, 7, {"axis": 7, "sparse": 20, "gaussian": 5}, None, None)
    some = np.array([2, 8, 9, 25, 30])
    assert_array_equal(every.rows(some).toarray(), every.rows(np.arange(32)).toarray()[some])
