"""Parts of the samples, and the factor of scores that do not know their labels."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.special import log_softmax

from randomboost.training.out_of_fold import best_factor, first_samples, split, trusted_factor


def made_scores(size, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, 300)
    scores = size * (rng.normal(size=(300, 4)) + np.eye(4)[y])
    share = rng.exponential(size=300)
    share /= share.sum()
    return scores, np.bincount(y, share, 4), y, share


@pytest.mark.parametrize("size", [0.05, 1.0, 4.0])
@pytest.mark.parametrize("seed", range(4))
def test_the_chosen_factor_has_no_slope(seed, size):
    scores, prior, y, share = made_scores(size, seed)
    factor, loss = best_factor(scores, prior, y, share)

    def at(a):
        return -share @ log_softmax(a * scores + np.log(prior), axis=1)[np.arange(300), y]

    assert loss == pytest.approx(at(factor), rel=1e-12)
    step = 1e-4 * factor
    assert abs(at(factor + step) - at(factor - step)) / (2 * step) * factor < 5e-4
    assert loss <= min(at(0.9 * factor), at(1.1 * factor))


def test_factors_are_bounded():
    y = np.arange(40) % 2
    share, prior = np.full(40, 1 / 40), np.full(2, 0.5)
    factor, loss = best_factor(np.eye(2)[y], prior, y, share)
    assert factor <= np.exp(4.5) + 1e-9
    assert loss < 0.1
    wrong, _ = best_factor(np.eye(2)[1 - y], prior, y, share)
    assert wrong == pytest.approx(np.exp(-2.0))


def test_few_samples_are_trusted_less():
    scores, prior, y, share = made_scores(1.0, 0)
    factor, loss = best_factor(scores, prior, y, share)
    for n_samples, trusted in ((150, 0.5), (1350, 0.9)):
        found, removed = trusted_factor(scores, prior, y, share, n_samples)
        assert found == pytest.approx(trusted * factor)
        assert removed == pytest.approx(1 + loss / (prior @ np.log(prior)))


def test_parts_are_those_of_numpy():
    for n in (0, 3, 5, 17):
        parts = split(n, 5)
        for part, expected in zip(parts, np.array_split(np.arange(n), 5), strict=True):
            assert_array_equal(np.arange(n)[part], expected)


def test_the_choice_of_samples_does_not_depend_on_their_order():
    keys = np.random.default_rng(0).integers(0, 2**63, 500).astype(np.uint64)
    order = np.random.default_rng(1).permutation(500)
    every = first_samples(keys, 7, 500)
    assert_array_equal(np.sort(every), np.arange(500))
    for n in (500, 100):
        chosen = first_samples(keys, 7, n)
        assert_array_equal(chosen, every[:n])
        assert_array_equal(keys[order][first_samples(keys[order], 7, n)], keys[chosen])
        assert (first_samples(keys, 8, n) != chosen).any()
