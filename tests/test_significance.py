"""Tests of significance against SciPy, published tables and written-out sums."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from randomboost.significance import compare


@pytest.fixture
def errors():
    shift = np.array([0.0, 0.005, 0.1, 0.3])
    return np.random.default_rng(0).random((12, 4)) * 0.1 + shift


def test_nemenyi_has_the_published_critical_difference(errors):
    # Demsar (2006), Table 5: q = 2.343, 2.569, 2.728 for 3, 4, 5 models at 5%
    for n_models, q in ((3, 2.343), (4, 2.569), (5, 2.728)):
        found = compare(np.random.default_rng(1).random((14, n_models)), method="nemenyi")
        expected = q * np.sqrt(n_models * (n_models + 1) / (6 * 14))
        assert found.critical_difference == pytest.approx(expected, rel=1e-3)
        gaps = np.abs(found.ranks[:, None] - found.ranks[None, :])
        np.testing.assert_array_equal(found.p_values < 0.05, gaps > found.critical_difference)


def test_ranks_and_friedman(errors):
    found = compare(errors)
    order = np.argsort(np.argsort(errors, axis=1), axis=1) + 1
    np.testing.assert_allclose(found.ranks, order.mean(axis=0))
    assert found.friedman_p == pytest.approx(stats.friedmanchisquare(*errors.T).pvalue)
    assert compare([[0.1, 0.1, 0.4]] * 3).ranks.tolist() == [1.5, 1.5, 3.0]


def test_holm_over_all_pairs(errors):
    found = compare(errors, method="wilcoxon")
    pairs = [(i, j) for i in range(4) for j in range(i)]
    raw = {p: stats.wilcoxon(errors[:, p[0]], errors[:, p[1]]).pvalue for p in pairs}
    largest = 0.0
    for place, pair in enumerate(sorted(pairs, key=raw.__getitem__)):
        largest = max(largest, min(1.0, (len(pairs) - place) * raw[pair]))
        assert found.p_values[pair] == pytest.approx(largest)
        assert found.p_values[pair[::-1]] == pytest.approx(largest)


def test_corrected_t_of_one_pair():
    one, two = np.array([0.10, 0.12, 0.08, 0.11, 0.09]), np.array([0.13, 0.12, 0.12, 0.14, 0.11])
    d = two - one
    t = d.mean() / np.sqrt((1 / 5 + 1 / 4) * d.var(ddof=1))
    found = compare(np.stack([one, two], axis=1), method="corrected_t")
    assert found.p_values[0, 1] == pytest.approx(2 * stats.t.sf(t, 4))
    # the plain t-test takes folds to be independent, and is surer
    assert found.p_values[0, 1] > stats.ttest_rel(one, two).pvalue


def test_groups_join_neighbours_that_do_not_differ(errors):
    found = compare(errors, ["a", "b", "c", "d"], method="wilcoxon")
    assert [sorted(group) for group in found.groups()] == [[0, 1]]
    assert found.best in (0, 1)
    nothing = compare(np.random.default_rng(2).random((5, 3)), method="corrected_t")
    assert [sorted(group) for group in nothing.groups()] == [[0, 1, 2]]


@pytest.mark.parametrize("method", ["wilcoxon", "corrected_t", "nemenyi"])
def test_small_and_equal_input(method):
    single = compare([[0.1, 0.2, 0.3]], method=method)
    assert np.isnan(single.p_values[0, 1])
    assert single.groups() == []
    equal = compare([[0.1, 0.1, 0.1]] * 4, method=method)
    np.testing.assert_allclose(equal.p_values, 1.0)
    assert equal.friedman_p == 1.0
    assert len(equal.groups()[0]) == 3
    assert compare([[0.1], [0.2]], method=method).p_values.shape == (1, 1)


def test_names_of_a_table():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"one": [0.1, 0.2], "two": [0.2, 0.3]})
    assert compare(table).names == ("one", "two")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"errors": [0.1, 0.2]}, "errors has shape"),
        ({"errors": [[0.1, np.nan]]}, "missing values"),
        ({"errors": [[0.1, 0.2]], "names": ["one"]}, "names has 1"),
        ({"errors": [[0.1, 0.2]], "method": "guess"}, "method='guess'"),
        ({"errors": [[0.1, 0.2]], "alpha": 5}, "alpha=5"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        compare(**arguments)
