"""Scores of stumps against the obvious loop, and bits that no block or thread may change."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from randomboost.ensembles import projected_stumps as prediction
from randomboost.ensembles.projected_stumps import StumpScorer
from randomboost.projections.matrices import GaussianProjection
from randomboost.projections.points import FeaturePoints, ProjectedPoints
from randomboost.runtime.parallel import ThreadTeam
from randomboost.runtime.random_stream import DATA_STREAM
from randomboost.weak_learners.hypotheses import Combination, Stump, Stumps, pack

N_CLASSES, N_PROJECTIONS, N_ROUNDS = 3, 20, 23
PROJECTION = GaussianProjection(2**35 + 9, DATA_STREAM, N_CLASSES, N_PROJECTIONS)
ALONE = ThreadTeam(1)

dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64])
containers = pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix], ids=["dense", "csr"])
outputs = pytest.mark.parametrize("real", [False, True], ids=["discrete", "real"])


class EagerTeam(ThreadTeam):
    """Threads that cut up the smallest work too."""

    def run(self, work, n_items, grain=1):
        super().run(work, n_items, 1)


def draw_data(n_samples=17, n_features=6, dtype=np.float64, *, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features))
    X[rng.random(X.shape) < 0.3] = 0
    X[1] = 0
    X[2] = X[0]
    return X.astype(dtype)


def draw_model(X, *, real=False, combinations=True, seed=0):
    """Stumps whose thresholds are values of the data: a wrong last bit changes a score."""
    rng = np.random.default_rng(seed + 100)
    points = ProjectedPoints(X, PROJECTION, merge=False)
    stumps = []
    for t in range(N_ROUNDS):
        left, right = rng.uniform(-1, 1, 2) if real else rng.permutation([-1.0, 1.0])
        mix = None
        if combinations and t % 4 == 1:
            mix = Combination(rng.choice(N_PROJECTIONS, 3, replace=False), rng.normal(size=3))
        stump = Stump(-1 if mix else int(rng.integers(N_PROJECTIONS)), 0.0, left, right, mix)
        threshold = float(rng.choice(stump.values(points)))
        stumps.append(Stump(stump.column, threshold, left, right, mix))
    return Stumps(stumps), rng.normal(size=N_ROUNDS)


def score(X, stumps, weights, team=ALONE):
    scorer = StumpScorer(PROJECTION, stumps, weights, X.shape[1], X.dtype)
    return scorer.scores(X, team)


def score_oracle(X, stumps, weights):
    """One class, sample and round at a time, sums in the order of features and rounds."""
    X = X.toarray() if sp.issparse(X) else X
    dtype, n_features = X.dtype, X.shape[1]
    scores = np.zeros((N_CLASSES, len(X)))
    for stump, weight in zip(stumps, weights, strict=True):
        if stump.combination is None:
            rows = PROJECTION.rows(np.array([stump.column]), (0, n_features), dtype)[:, 0]
        else:
            mix = stump.combination
            rows = PROJECTION.rows(mix.columns, (0, n_features), np.float64)
            rows = np.einsum("v,rvj->rj", mix.coefficients, rows).astype(dtype)
        for r in range(N_CLASSES):
            for i, x in enumerate(X):
                value = dtype.type(0)
                for p, feature in zip(rows[r], x, strict=True):
                    value += p * feature
                above = value > dtype.type(stump.threshold)
                scores[r, i] += weight * (stump.right if above else stump.left)
    return scores


@dtypes
@containers
@outputs
@pytest.mark.parametrize("n_features", [1, 3, 4, 6, 9])
def test_scores_are_the_obvious_loop(dtype, container, real, n_features):
    X = draw_data(n_features=n_features, dtype=dtype)
    stumps, weights = draw_model(X, real=real)
    found = score(container(X), stumps, weights)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, score_oracle(X, stumps, weights))


@dtypes
@containers
@outputs
def test_scores_are_the_sum_of_the_outputs_in_training(dtype, container, real):
    X = container(draw_data(dtype=dtype))
    stumps, weights = draw_model(X, real=real)
    for merge in (True, False):
        points = ProjectedPoints(X, PROJECTION, merge=merge)
        expected = np.zeros((N_CLASSES, X.shape[0]))
        for stump, weight in zip(stumps, weights, strict=True):
            expected += weight * points.unfold(stump.outputs(points))
        np.testing.assert_array_equal(score(X, stumps, weights), expected)


@dtypes
@containers
@pytest.mark.parametrize(
    ("block_bytes", "rounds"),
    [(1, 256), (1, 1), (3 * 6 * 8 * 5, 256), (1 << 27, 1), (1 << 27, 7), (2000, 4)],
)
def test_blocks_of_rounds_change_no_bit(dtype, container, block_bytes, rounds, monkeypatch):
    X = container(draw_data(dtype=dtype))
    stumps, weights = draw_model(X)
    expected = score(X, stumps, weights)
    monkeypatch.setattr(prediction, "_BLOCK_BYTES", block_bytes)
    monkeypatch.setattr(prediction, "_ROUNDS", rounds)
    scorer = StumpScorer(PROJECTION, stumps, weights, X.shape[1], X.dtype)
    for _ in range(2):  # a scorer may be used again
        np.testing.assert_array_equal(scorer.scores(X, ALONE), expected)


@dtypes
@containers
@given(seed=st.integers(0, 1000), rows=st.lists(st.integers(0, 16), min_size=1, max_size=17))
@settings(deadline=None, max_examples=20)
def test_rows_are_scored_on_their_own(dtype, container, seed, rows):
    X = container(draw_data(dtype=dtype, seed=seed))
    stumps, weights = draw_model(X, seed=seed)
    together = score(X, stumps, weights)
    np.testing.assert_array_equal(score(X[rows], stumps, weights), together[:, rows])
    for i in rows[:3]:
        np.testing.assert_array_equal(score(X[[i]], stumps, weights)[:, 0], together[:, i])


@dtypes
@containers
@pytest.mark.parametrize("team_type", [EagerTeam, ThreadTeam])
def test_threads_change_no_bit(dtype, container, team_type):
    X = container(draw_data(8000, dtype=dtype))
    stumps, weights = draw_model(X[:50])
    expected = score(X, stumps, weights)
    with team_type(3) as three:
        np.testing.assert_array_equal(score(X, stumps, weights, three), expected)
        np.testing.assert_array_equal(score(X[:2], stumps, weights, three), expected[:, :2])


@dtypes
def test_sparse_scores_are_the_dense_ones(dtype):
    X = draw_data(200, dtype=dtype)
    stumps, weights = draw_model(X)
    expected = score(X, stumps, weights)
    for sparse in (sp.csr_matrix(X), sp.csr_array(X)):
        np.testing.assert_array_equal(score(sparse, stumps, weights), expected)


def test_no_rounds_and_no_rows():
    X = draw_data()
    stumps, weights = draw_model(X)
    for container in (np.asarray, sp.csr_matrix):
        none = score(container(X), Stumps([]), np.zeros(0))
        np.testing.assert_array_equal(none, np.zeros((N_CLASSES, len(X))))
        assert score(container(X)[:0], stumps, weights).shape == (N_CLASSES, 0)


# ---- the stumps themselves ----------------------------------------------------------------------


@dtypes
def test_a_stump_says_right_above_its_threshold_only(dtype):
    # 0.1 is not a float32: the threshold counts in the precision of the data
    points = FeaturePoints(np.array([[0.1], [0.2], [-1.0], [0.3]], dtype))
    found = Stump(0, 0.1, -1.0, 1.0).outputs(points)
    assert found.dtype == np.int8
    assert found.tolist() == [-1, 1, -1, 1]
    found = Stump(0, 0.2, 0.25, -1.0).outputs(points)
    assert found.dtype == np.float64
    assert found.tolist() == [0.25, 0.25, 0.25, -1.0]
    mixed = Stump(-1, 0.0, 1.0, -1.0, Combination(np.array([0]), np.array([-2.0])))
    assert mixed.outputs(points).tolist() == [1, 1, -1, 1]


@outputs
def test_packed_stumps_are_the_stumps(real):
    stumps, _ = draw_model(draw_data(), real=real)
    plain = [stumps[t] for t in range(N_ROUNDS)]
    packed = pack(plain)
    assert isinstance(packed, Stumps)
    assert packed.left.dtype == packed.right.dtype == (np.float64 if real else np.int8)
    assert len(packed) == N_ROUNDS
    assert list(packed) == plain
    assert packed[-1] == plain[-1]
    assert list(packed[3:9:2]) == plain[3:9:2]
    with pytest.raises(IndexError):
        packed[N_ROUNDS]
    assert [packed.combinations.get(t) for t in range(N_ROUNDS)] == [s.combination for s in plain]
