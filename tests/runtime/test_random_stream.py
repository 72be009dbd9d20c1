"""The random stream: golden bits, Philox and the normal distribution against slow oracles."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri
from scipy.stats import kstest

from randomboost.projections.matrices import GaussianProjection
from randomboost.runtime.random_stream import DATA_STREAM, OUTPUT_STREAM, _normal, _philox, normals

words = st.integers(0, 2**32 - 1)

# Saved models depend on these bits: they must never change.
GOLDEN = [
    # seed, stream, class, row, column, value
    (0, DATA_STREAM, 0, 0, 0, "-0x1.05f49f2b37755p-2"),
    (0, DATA_STREAM, 0, 0, 1, "0x1.2d769e944ce93p+0"),
    (0, DATA_STREAM, 0, 0, 2, "0x1.42a76ea50bbacp-1"),
    (0, DATA_STREAM, 0, 0, 3, "0x1.11fbd69b1b1d6p-2"),
    (0, OUTPUT_STREAM, 0, 0, 0, "-0x1.d6c179dadc27dp-1"),
    (42, DATA_STREAM, 3, 17, 1000, "0x1.7753066f2be8ap+0"),
    (42, OUTPUT_STREAM, 3, 17, 1000, "-0x1.7552e68a005eap-2"),
    (2**32 + 5, DATA_STREAM, 2, 123456, 7, "-0x1.6dc8f03581e21p-1"),
    (2**63 + 12345678901, OUTPUT_STREAM, 25, 19999, 63, "0x1.e017c8a2d85a0p-1"),
    (2**64 - 1, DATA_STREAM, 1, 2**31, 65537, "-0x1.24bd681f4c40ap+1"),
]

# Random123's kat_vectors: counter, key, result
KNOWN_ANSWERS = [
    ([0] * 4, [0] * 2, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    (
        [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
        [0xA4093822, 0x299F31D0],
        "d16cfe09 94fdcceb 5001e420 24126ea1",
    ),
]


def philox_oracle(counter, key):
    """Philox-4x32-10 in Python's integers, as printed in Salmon et al. (2011)."""
    x, k = list(counter), list(key)
    for _ in range(10):
        high_0, low_0 = divmod(0xD2511F53 * x[0], 2**32)
        high_1, low_1 = divmod(0xCD9E8D57 * x[2], 2**32)
        x = [high_1 ^ x[1] ^ k[0], low_1, high_0 ^ x[3] ^ k[1], low_0]
        k = [(k[0] + 0x9E3779B9) % 2**32, (k[1] + 0xBB67AE85) % 2**32]
    return x


def philox(counter, key):
    return [int(word) for word in _philox(*(np.uint64(word) for word in [*counter, *key]))]


def word_oracle(seed, stream, label, row, column):
    return philox_oracle([column // 4, row, label, stream], [seed % 2**32, seed // 2**32])[
        column % 4
    ]


def one(seed, stream, label, row, column):
    return float(normals(seed, stream, label + 1, np.array([row]), (column, column + 1))[-1, 0, 0])


@pytest.mark.parametrize(("seed", "stream", "label", "row", "column", "value"), GOLDEN)
def test_golden_values(seed, stream, label, row, column, value):
    assert one(seed, stream, label, row, column).hex() == value


@pytest.mark.parametrize(("counter", "key", "result"), KNOWN_ANSWERS)
def test_philox_known_answers(counter, key, result):
    expected = [int(word, 16) for word in result.split()]
    assert philox_oracle(counter, key) == expected
    assert philox(counter, key) == expected


@given(st.lists(words, min_size=4, max_size=4), st.lists(words, min_size=2, max_size=2))
@settings(deadline=None, max_examples=60)
def test_philox_is_the_integer_oracle(counter, key):
    assert philox(counter, key) == philox_oracle(counter, key)


def test_normal_is_the_inverse_distribution_function():
    edge = np.arange(3000)
    tail = np.round(0.075 * 2**32) + np.arange(-50, 50)  # where AS 241 changes its formula
    word = np.concatenate(
        [
            edge,
            2**32 - 1 - edge,
            2**31 + np.arange(-500, 500),
            tail,
            2**32 - tail,
            2 ** np.arange(32),
            2**32 - 2 ** np.arange(32),
            np.random.default_rng(0).integers(0, 2**32, 20_000),
        ]
    ).astype(np.uint64)
    values = np.array([_normal(w) for w in word])
    expected = ndtri((word + 0.5) / 2.0**32)
    np.testing.assert_allclose(values, expected, rtol=1e-14, atol=0)


def test_normal_at_the_extreme_words():
    low, high = _normal(np.uint64(0)), _normal(np.uint64(2**32 - 1))
    assert low == -high
    np.testing.assert_allclose(low, ndtri(2.0**-33), rtol=1e-14, atol=0)
    assert _normal(np.uint64(2**31)) == -_normal(np.uint64(2**31 - 1)) > 0


@given(words)
@settings(deadline=None, max_examples=60)
def test_normal_is_odd_and_rises(word):
    value = _normal(np.uint64(word))
    assert value == -_normal(np.uint64(2**32 - 1 - word))
    further = min(word + 2**12, 2**32 - 1)
    assert value < _normal(np.uint64(further)) or further == word


@given(
    seed=st.integers(0, 2**64 - 1),
    stream=st.sampled_from([DATA_STREAM, OUTPUT_STREAM]),
    label=st.integers(0, 30),
    row=st.integers(0, 2**31),
    column=st.integers(0, 2**20),
)
@settings(deadline=None, max_examples=60)
def test_value_is_the_normal_of_its_own_word(seed, stream, label, row, column):
    word = word_oracle(seed, stream, label, row, column)
    expected = ndtri((word + 0.5) / 2.0**32)
    assert one(seed, stream, label, row, column) == pytest.approx(expected, rel=1e-14, abs=0)


@given(
    rows=st.lists(st.integers(0, 11), max_size=8),
    columns=st.tuples(st.integers(0, 13), st.integers(0, 13)).map(sorted),
    n_classes=st.integers(1, 4),
)
@settings(deadline=None, max_examples=60)
def test_any_block_is_a_slice_of_the_whole(rows, columns, n_classes):
    whole = normals(2**40 + 3, DATA_STREAM, 4, np.arange(12), (0, 13))
    rows = np.array(rows, dtype=np.int64)
    block = normals(2**40 + 3, DATA_STREAM, n_classes, rows, tuple(columns))
    np.testing.assert_array_equal(block, whole[:n_classes, rows, columns[0] : columns[1]])


def test_distribution_is_standard_normal():
    values = normals(11, DATA_STREAM, 4, np.arange(100), (0, 250)).ravel()
    deviation = 1 / np.sqrt(len(values))
    assert abs(values.mean()) < 3 * deviation
    assert abs(values.var() - 1) < 3 * np.sqrt(2) * deviation
    assert abs((values**3).mean()) < 3 * np.sqrt(15) * deviation
    assert kstest(values, "norm").pvalue > 0.01


def test_other_streams_seeds_and_classes_are_uncorrelated():
    def sample(seed=7, stream=DATA_STREAM):
        return normals(seed, stream, 2, np.arange(100), (0, 101))

    base = sample()
    others = {
        "seed": sample(seed=8)[0],
        "high word of the seed": sample(seed=7 + 2**32)[0],
        "stream": sample(stream=OUTPUT_STREAM)[0],
        "class": base[1],
        "next row": np.roll(base[0], 1, axis=0),
        "next column": np.roll(base[0], 1, axis=1),
        "next block of columns": np.roll(base[0], 4, axis=1),
    }
    for name, other in others.items():
        correlation = np.corrcoef(base[0].ravel(), other.ravel())[0, 1]
        assert abs(correlation) < 4 / np.sqrt(base[0].size), name
        assert not np.isin(other, base[0]).any() or name.startswith("next"), name


def test_scale_and_float32_are_applied_last():
    place = (5, OUTPUT_STREAM, 3, np.arange(20), (3, 30))
    plain = normals(*place)
    np.testing.assert_array_equal(normals(*place, scale=0.3), plain * 0.3)
    single = normals(*place, scale=0.3, dtype=np.float32)
    assert single.dtype == np.float32
    np.testing.assert_array_equal(single, (plain * 0.3).astype(np.float32))


def test_projection_rows_are_the_stream_over_root_n():
    projection = GaussianProjection(2**50 + 1, OUTPUT_STREAM, 3, 50)
    rows = projection.rows(np.array([49, 0, 7]), (2, 9), np.float64)
    whole = normals(2**50 + 1, OUTPUT_STREAM, 3, np.arange(50), (0, 9))
    np.testing.assert_array_equal(rows, whole[:, [49, 0, 7], 2:] * (1 / np.sqrt(50)))
