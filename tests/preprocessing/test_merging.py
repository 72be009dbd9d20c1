"""Hashes of rows, the canonical order, and choices by the keys of samples."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from randomboost.preprocessing import merging
from randomboost.preprocessing.merging import merge_samples, row_hashes, sample_keys
from randomboost.preprocessing.row_choice import (
    choose_by_class,
    draw,
    find_limits,
    held_out_counts,
    hold_out,
)
from randomboost.runtime.exact_sums import as_whole, class_totals, finest_unit


def made(seed=0, n=200, repeated=True):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3 if repeated else 10**6, (n, 3)).astype(float)
    X[rng.random((n, 3)) < 0.1] = np.nan
    return X, rng.integers(0, 3, n), rng.integers(1, 4, n).astype(float)


def counted(X, y, weight):
    """Slow and obvious: the weight of every distinct sample."""
    found = {}
    for row, label, each in zip(X, y, weight, strict=True):
        name = tuple(None if value != value else float(value) for value in row), int(label)
        found[name] = found.get(name, 0.0) + each
    return found


@pytest.mark.parametrize("seed", range(3))
def test_equal_samples_are_merged(seed):
    data = made(seed)
    X, y, weight, hashes = merge_samples(*data)
    assert counted(X, y, weight) == counted(*data)
    assert len(y) == len(counted(*data))
    assert_array_equal(hashes, row_hashes(X))
    assert (np.diff(hashes.astype(object)) >= 0).all()


@pytest.mark.parametrize("collide", [False, True])
def test_order_does_not_matter(collide, monkeypatch):
    if collide:  # many rows have one hash
        monkeypatch.setattr(merging, "row_hashes", lambda X: row_hashes(X) % np.uint64(5))
    data = made()
    first = merge_samples(*data)
    assert counted(*first[:3]) == counted(*data)
    assert len(first[1]) == len(counted(*data))
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(data[0]))
        again = merge_samples(*(part[order] for part in data))
        for one, two in zip(first, again, strict=True):
            assert_array_equal(one, two)


def test_hashes_of_sparse_rows_are_those_of_dense_ones():
    X = np.array([[0.0, 1.5, -2.0], [-0.0, 1.5, -2.0], [1.5, 0.0, 2.0], [0.0, 0.0, 0.0]])
    assert_array_equal(row_hashes(sp.csr_array(X)), row_hashes(X))
    assert_array_equal(row_hashes(X.astype(np.float32)), row_hashes(X))
    assert len(np.unique(row_hashes(X))) == 3


def test_hashes_of_small_numbers_differ():
    X = np.array([[a, b] for a in range(300) for b in range(300)], dtype=float)
    hashes = row_hashes(X)
    assert len(np.unique(hashes)) == len(X)
    shares = np.bincount((hashes >> np.uint64(61)).astype(int), minlength=8) / len(X)
    assert np.abs(shares - 0.125).max() < 0.01


# -- choices ---------------------------------------------------------------------------------------


def test_the_smallest_draws_are_chosen():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 4, 5000)
    draws = draw(rng.integers(0, 2**63, 5000).astype(np.uint64), 7)
    wanted = np.array([5, 0, 800, 10**6])
    chosen = choose_by_class(draws, labels, wanted)
    for label in range(4):
        own = np.sort(draws[labels == label])
        assert_array_equal(np.sort(draws[chosen & (labels == label)]), own[: wanted[label]])


def test_limits_are_found_where_draws_are_not_even():
    """Then the first limits are too low."""
    draws, labels = np.arange(2**63, 2**63 + 1000, dtype=np.uint64), np.zeros(1000, dtype=int)

    def below(limits):
        found = draws <= limits[0]
        return draws[found], labels[found]

    limits = find_limits(below, np.array([10]), np.array([1000]))
    assert (draws <= limits[0]).sum() == 10


def test_a_part_is_held_out():
    rng = np.random.default_rng(0)
    labels = rng.choice(3, 1000, p=[0.7, 0.2, 0.1])
    keys = sample_keys(rng.integers(0, 2**63, 1000).astype(np.uint64), labels)
    held = hold_out(keys, labels, 100, 1)
    counts = np.bincount(labels)
    assert np.abs(np.bincount(labels[held]) - counts / 10).max() <= 1
    assert held.sum() == 100
    order = rng.permutation(1000)
    assert_array_equal(hold_out(keys[order], labels[order], 100, 1), held[order])
    assert (hold_out(keys, labels, 100, 2) != held).any()
    labels[0] = 3  # a class of one sample
    assert hold_out(keys, labels, 100, 1).sum() == 100


@settings(deadline=None)
@given(st.lists(st.integers(2, 50), min_size=2, max_size=6), st.floats(0.05, 0.9))
def test_a_class_keeps_a_sample(counts, share):
    counts = np.array(counts)
    n_held = int(np.ceil(share * counts.sum()))
    held = held_out_counts(counts, n_held)
    if held is not None:
        assert (held < counts).all()
        assert (np.abs(held - n_held * counts / counts.sum()) <= 1).all()


# -- sums ------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=50)
@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=40), st.integers(0, 9))
def test_totals_are_exact_enough_and_know_no_order(weights, seed):
    weight = np.array(weights)
    labels = np.random.default_rng(seed).integers(0, 3, len(weight))
    found = class_totals(labels, weight, 3)
    expected = np.bincount(labels, weight, 3)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * weight.max())
    assert_array_equal(class_totals(labels[::-1], weight[::-1], 3), found)


def test_units_are_fine_and_sums_do_not_overflow():
    for n in (1, 1000, 10**9):
        unit = finest_unit(3.0, n)
        assert 2**59 < n * (as_whole(np.array([3.0]), unit)[0].item()) < 2**62


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_rows_are_left_out(kind, monkeypatch):
    monkeypatch.setattr(merging, "_TOGETHER", 7)
    rng = np.random.default_rng(0)
    X, rows = rng.normal(size=(50, 3)), rng.random(50) < 0.3
    found = merging.without(kind(X.copy()), rows)
    assert_array_equal(found.toarray() if kind is sp.csr_array else found, X[~rows])
