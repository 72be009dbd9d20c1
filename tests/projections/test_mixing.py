"""Values along directions by plain code, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from randomboost.projections.mixing import as_mixtures, project
from randomboost.runtime.parallel import ThreadTeam

ONE, THREE = ThreadTeam(1), ThreadTeam(3)


def made(d, seed=0):
    """Directions of no feature, of one, of some and of all."""
    rng = np.random.default_rng(seed)
    rows = [np.zeros(d)]
    for size in (1, 2, 3, d, d, 1, d // 2, d, d - 1, d, d):
        row = np.zeros(d)
        row[rng.permutation(d)[:size]] = rng.normal(size=size)
        rows.append(row)
    return sp.csr_array(np.array(rows))


def plain(X, rows):
    out = np.zeros((rows.shape[0], len(X)), dtype=X.dtype)
    for v in range(rows.shape[0]):
        entries = slice(rows.indptr[v], rows.indptr[v + 1])
        terms = zip(rows.indices[entries], rows.data[entries].astype(X.dtype), strict=True)
        single = entries.stop - entries.start == 1
        for j, c in terms:
            out[v] += c * (X[:, j] if single else np.nan_to_num(X[:, j], nan=0.0))
    return out


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [3, 4, 17])
@pytest.mark.parametrize("n", [1, 8, 64, 150])
@pytest.mark.parametrize("holes", [False, True])
def test_values_are_those_of_plain_code(d, n, holes, dtype):
    X = np.random.default_rng(1).normal(size=(n, d)).astype(dtype)
    X[::2, 1] = np.nan if holes else 0
    rows = made(d)
    found = project(X, rows, ONE)
    assert found.dtype == dtype
    assert_array_equal(found, plain(X, rows))
    assert_array_equal(project(np.asfortranarray(X), rows, THREE), found)


def test_directions_of_all_features_are_apart():
    mixtures = as_mixtures(made(17), np.float32)
    assert_array_equal(mixtures.full, [4, 5, 8, 10, 11])
    assert mixtures.matrix.shape == (8, 17)
    assert_array_equal(np.diff(mixtures.starts), [0, 1, 2, 3, 0, 0, 1, 8, 0, 16, 0, 0])
    assert len(as_mixtures(made(3), np.float32).full) == 0
