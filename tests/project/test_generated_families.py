"""The generated tables on which defaults are chosen: the same for a seed, and fit for learning."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from generated_families import FAMILIES, FEWEST, KINDS, ROWS, family

sys.path.pop()

SMALL = [name for name in FAMILIES if name.endswith("-small")]


def same(left, right):
    if isinstance(left, pd.DataFrame):
        return left.equals(right)
    if sparse.issparse(left):
        return left.shape == right.shape and (left != right).nnz == 0
    return np.array_equal(left, right, equal_nan=True)


@pytest.mark.parametrize("name", SMALL)
def test_a_seed_gives_one_table_and_another_seed_another(name):
    X, y = family(name, 3)
    again = family(name, 3)
    assert same(X, again[0])
    assert np.array_equal(y, again[1])
    other = family(name, 4)
    assert X.shape != other[0].shape or not same(X, other[0])


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("seed", range(5))
def test_tables_can_be_split_and_learned(name, seed):
    X, y = family(name, seed)
    counts = np.bincount(y)
    assert X.shape[0] == len(y) <= ROWS["small"][1]
    assert len(y) > ROWS["small"][0] / 3
    assert 2 <= len(counts) <= KINDS[name.rsplit("-", 1)[0]].classes
    assert counts.min() >= FEWEST
    assert y.dtype == np.int64


def test_an_unknown_family_is_named():
    with pytest.raises(ValueError, match=r"name='stars'.*rules-small"):
        family("stars", 0)
