"""Landmarks and trees together: scores, margins, importances, arrays of files."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax

from randomboost.ensembles import KINDS
from randomboost.ensembles.base import ModelShape
from randomboost.ensembles.landmark_average import start_of
from randomboost.ensembles.landmark_scores import LandmarkScores
from randomboost.ensembles.started_trees import LandmarkTrees, apart, together
from randomboost.files import ModelFileError
from randomboost.projections.landmarks import Landmarks
from randomboost.runtime.checked_arrays import Taken
from randomboost.runtime.parallel import ThreadTeam
from randomboost.training.loop import TrainingData
from randomboost.training.tree_boosting import SketchTrainer
from randomboost.training.tree_settings import SketchSettings

ONE, THREE = ThreadTeam(1), ThreadTeam(3)
SETTINGS = SketchSettings(
    max_leaves=6, n_sketches=3, max_bins=32, seed=3, n_projections=20, n_landmarks=40
)
ROUNDS = 5


def made_data(n_classes, m=300, d=6, seed=0):
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(5).normal(size=(n_classes, d))
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, m - n_classes)])
    return centres[y] + 0.7 * rng.normal(size=(m, d)), y


def made(n_classes, rounds=ROUNDS, data=None, **settings):
    X, y = made_data(n_classes) if data is None else data
    given = TrainingData(X, y, n_classes, np.ones(len(y)))
    trainer = SketchTrainer(replace(SETTINGS, **settings), given, None, ONE)
    for _ in range(rounds):
        assert isinstance(trainer.step(), dict)
    return trainer.ensemble(rounds)


@pytest.fixture(scope="module", params=[(2, 1, 1), (5, 1, 1), (3, 8, 3)])
def ensemble(request):
    n_classes, n_members, n_starts = request.param
    return made(n_classes, n_members=n_members, n_starts=n_starts)


def n_classes_of(ensemble):
    return ensemble.start.parts[0].coefficients.shape[1]


def shape_of(ensemble):
    return ModelShape(n_classes_of(ensemble), 6, ROUNDS, np.dtype(np.float64))


@pytest.fixture(scope="module")
def rows(ensemble):
    return made_data(n_classes_of(ensemble), seed=1)[0]


def plain_part(part, X):
    Z = np.nan_to_num(X)
    Z = Z / np.sqrt(1 + (Z / 3) ** 2) * part.landmarks.weights.astype(np.float64)
    differences = Z[:, None] - part.landmarks.points.astype(np.float64)
    similarities = np.exp(-part.landmarks.width * (differences**2).sum(axis=2))
    return (similarities @ part.coefficients.astype(np.float64)).T


def plain_start(ensemble, X):
    parts = ensemble.start.parts
    return sum(plain_part(part, X) for part in parts) / ensemble.start.n_turns


def test_an_ensemble_is_what_it_starts_from_and_trees(ensemble):
    assert isinstance(ensemble, LandmarkTrees)
    assert KINDS[ensemble.kind] is LandmarkTrees
    start, trees = apart(ensemble)
    assert (start, trees) == (ensemble.start, ensemble.trees)
    assert apart(trees) == (None, trees)
    assert together(None, trees) is trees
    assert together(start, trees).start is start
    assert ensemble.n_rounds == trees.n_rounds == ROUNDS
    assert ensemble.takes_missing
    assert ensemble.explains
    assert ensemble.takes_new_classes
    assert ensemble.is_sparse
    assert_array_equal(ensemble.weights, trees.weights)


@pytest.mark.parametrize("holes", [False, True])
def test_scores_are_those_of_plain_code(ensemble, rows, holes):
    X = np.where(np.arange(rows.size).reshape(rows.shape) % 4 == 0, np.nan, rows) if holes else rows
    scores = ensemble.scores(X, ONE)
    assert scores.dtype == np.float32
    assert_allclose(
        scores, ensemble.trees.scores(X, ONE) + plain_start(ensemble, X), rtol=1e-5, atol=1e-5
    )
    assert_array_equal(ensemble.scores(X, THREE), scores)
    assert_array_equal(ensemble.scores(X[40:90], ONE), scores[:, 40:90])
    assert np.abs(plain_start(ensemble, X)).max() > 0.5


def test_sparse_rows_are_taken_as_dense_ones(ensemble, rows):
    X = np.where(rows > 0.5, rows, 0.0)
    for method in (ensemble.scores, lambda X, team: list(ensemble.staged_scores(X, team))):
        assert_array_equal(method(sp.csr_array(X), ONE), method(X, ONE))


def test_stages_end_with_the_scores(ensemble, rows):
    stages = list(ensemble.staged_scores(rows, ONE))
    assert len(stages) == ROUNDS
    assert_array_equal(stages[-1], ensemble.scores(rows, ONE))
    begin = ensemble.start.scores(rows, ONE)
    for stage, trees in zip(stages, ensemble.trees.staged_scores(rows, ONE), strict=True):
        assert_array_equal(stage, trees + begin)


@pytest.mark.parametrize("n", [1, 2, 100])
@pytest.mark.parametrize("scale", [0.5, 2.0])
def test_best_classes_are_those_of_the_scores(ensemble, rows, n, scale):
    scores = ensemble.scores(rows, ONE)
    labels, chances = ensemble.top(rows, n, scale, THREE)
    order = np.argsort(-scores.T, axis=1, kind="stable")[:, :n]
    assert_array_equal(labels, order)
    expected = softmax(scale * scores.T.astype(np.float64), axis=1)
    assert_allclose(chances, np.take_along_axis(expected, order, axis=1), rtol=1e-5)
    assert_array_equal(ensemble.best(rows, ONE), scores.argmax(axis=0))
    touched = ensemble.touched_probabilities(rows, scale, np.float64, ONE)
    assert_allclose(touched.toarray(), expected, rtol=1e-5)


def test_no_margin_exceeds_the_largest(ensemble):
    rng = np.random.default_rng(0)
    # landmarks of all classes among the rows: there scores are large
    landmarks = []
    for part in ensemble.start.parts:
        weights = part.landmarks.weights.astype(np.float64)
        bent = np.clip(part.landmarks.points / weights, -2.999, 2.999)
        landmarks.append(bent / np.sqrt(1 - (bent / 3) ** 2))
    X = np.vstack([*landmarks, *(scale * rng.normal(size=(3000, 6)) for scale in (0.3, 1, 3, 100))])
    of_start = np.ptp(ensemble.start.scores(X, ONE), axis=0).max()
    bound = ensemble.start.largest_margin()
    assert of_start <= bound
    assert bound < 20 * of_start
    assert np.ptp(ensemble.scores(X, ONE), axis=0).max() <= ensemble.largest_margin()
    assert ensemble.largest_margin() == bound + ensemble.trees.largest_margin()


def test_the_bound_is_reached_where_one_landmark_says_it_all():
    landmarks = Landmarks(np.zeros((1, 2), np.float32), np.ones(2, np.float32), 0.5)
    scores = LandmarkScores(landmarks, np.array([[1.5, -2.0, 0.5]], np.float32), 0.3)
    assert scores.largest_margin() == pytest.approx(3.5)
    assert np.ptp(scores.scores(np.zeros((1, 2)), ONE)) == pytest.approx(3.5)


def test_importances_are_shares_that_find_the_features_that_matter():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 6))
    y = (X[:, 2] * X[:, 4] > 0).astype(np.int64)
    for rounds in (1, 8):
        found = made(2, rounds, (X, y), n_landmarks=150)
        for importances in (found.importances(6), found.start.importances()):
            shares = importances / importances.sum()
            assert (importances >= 0).all()
            assert shares[[2, 4]].sum() > 0.6
            assert set(np.argsort(shares)[-2:]) == {2, 4}
        assert found.importances(6).sum() == pytest.approx(1.0)


def test_importances_are_mean_squared_slopes(ensemble):
    """By finite differences at the landmarks, in the space of bent features."""
    start = ensemble.start.parts[-1]
    points = start.landmarks.points.astype(np.float64)
    C = start.coefficients.astype(np.float64)
    C = C - C.mean(axis=1, keepdims=True)

    def scores(Z):
        distances = ((Z[:, None] - points) ** 2).sum(axis=2)
        return np.exp(-start.landmarks.width * distances) @ C

    expected = np.empty(6)
    for j in range(6):
        step = 1e-5 * np.eye(6)[j]
        slopes = (scores(points + step) - scores(points - step)) / 2e-5
        expected[j] = (slopes**2).sum(axis=1).mean() * points[:, j].var()
    found = start.importances()
    assert_allclose(found / found.sum(), expected / expected.sum(), rtol=1e-5)


def test_importances_without_trees_that_split_are_those_of_the_landmarks(ensemble):
    none = LandmarkTrees(ensemble.start, ensemble.trees)
    none.trees = _Splitless()
    found = none.importances(6)
    expected = ensemble.start.importances()
    assert_allclose(found, expected / expected.sum())


class _Splitless:
    def importances(self, n_features):
        return np.zeros(n_features)


@pytest.mark.parametrize("dense", [False, True])
def test_arrays_give_the_same_ensemble(ensemble, rows, dense):
    described, arrays = ensemble.to_arrays(dense=dense)
    again = LandmarkTrees.from_arrays(described, Taken(arrays), shape_of(ensemble))
    assert_array_equal(again.scores(rows, ONE), ensemble.scores(rows, ONE))
    assert_array_equal(again.importances(6), ensemble.importances(6))
    assert again.start.equals(ensemble.start)
    assert again.start.share == ensemble.start.share
    copy = pickle.loads(pickle.dumps(ensemble))
    assert_array_equal(copy.scores(rows, ONE), ensemble.scores(rows, ONE))


DAMAGE = {
    "points without a feature": {"landmarks.points": np.s_[:, 1:]},
    "points without a landmark": {"landmarks.points": np.s_[1:]},
    "no landmark": {"landmarks.points": np.s_[:0], "landmarks.coefficients": np.s_[:0]},
    "a start less": {"landmarks.about": np.s_[2:]},
    "a weight less": {"landmarks.weights": np.s_[1:]},
    "a class less": {"landmarks.coefficients": np.s_[:, 1:]},
    "no share": {"landmarks.about": np.s_[:1]},
    "no turns": {"landmarks.turns": np.s_[:0]},
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_arrays_of_other_sizes_are_refused(ensemble, damage):
    described, arrays = ensemble.to_arrays(dense=False)
    arrays = arrays | {name: arrays[name][part] for name, part in DAMAGE[damage].items()}
    with pytest.raises(ModelFileError, match="damaged"):
        LandmarkTrees.from_arrays(described, Taken(arrays), shape_of(ensemble))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e60])
@pytest.mark.parametrize("name", ["points", "weights", "coefficients", "about"])
def test_arrays_with_impossible_numbers_are_refused(ensemble, name, value):
    described, arrays = ensemble.to_arrays(dense=False)
    name = f"landmarks.{name}"
    changed = arrays[name].astype(np.float64)
    changed.flat[-1] = value
    with pytest.raises(ModelFileError, match="damaged"):
        LandmarkTrees.from_arrays(described, Taken(arrays | {name: changed}), shape_of(ensemble))
    del arrays[name]
    with pytest.raises(ModelFileError, match=f"no array '{name}'"):
        LandmarkTrees.from_arrays(described, Taken(arrays), shape_of(ensemble))


def test_a_similarity_that_grows_is_refused(ensemble):
    described, arrays = ensemble.to_arrays(dense=False)
    for place, value, message in ((0, -0.1, "does not fall"), (1, 1.5, "share"), (1, -1, "share")):
        about = arrays["landmarks.about"].copy()
        about[place] = value
        with pytest.raises(ModelFileError, match=message):
            LandmarkTrees.from_arrays(
                described, Taken(arrays | {"landmarks.about": about}), shape_of(ensemble)
            )


def test_new_classes_have_no_score_of_landmarks(ensemble, rows):
    n = n_classes_of(ensemble)
    numbers = np.arange(n) + (np.arange(n) >= 1)  # a new class at place 1, and one at the end
    wide = ensemble.with_classes(numbers, np.full(n + 2, 10.0))
    begin = wide.start.scores(rows, ONE)
    assert_array_equal(begin[numbers], ensemble.start.scores(rows, ONE))
    new = np.setdiff1d(np.arange(n + 2), numbers)
    assert (begin[new] == 0).all()
    scores = wide.scores(rows, ONE)
    shift = scores[numbers] - ensemble.scores(rows, ONE)
    assert_allclose(shift, np.broadcast_to(shift[:, :1], shift.shape), atol=1e-5)
    assert_array_equal(scores[new], np.broadcast_to(wide.trees.prior[new, None], scores[new].shape))


def test_tables_say_what_the_ensemble_computes(ensemble, rows):
    tables = ensemble.tables(shape_of(ensemble))
    sums = np.zeros((len(rows), n_classes_of(ensemble)))
    for table in tables.landmarks:
        Z = rows / np.sqrt(1 + (rows / 3) ** 2) * table.weights.astype(np.float64)
        products = Z @ table.points.astype(np.float64).T
        distances = np.maximum((Z**2).sum(axis=1)[:, None] + table.squares - 2 * products, 0)
        sums += np.exp(-table.width * distances) @ table.coefficients.astype(np.float64)
    assert_allclose(ensemble.start.scores(rows, ONE), sums.T, rtol=1e-5, atol=1e-6)
    assert tables.trees is not None
    assert_array_equal(tables.baseline, ensemble.trees.prior)
    assert ensemble.trees.tables(shape_of(ensemble)).landmarks == ()


def test_members_take_turns_and_every_last_one_starts_without_landmarks():
    X, y = made_data(3)
    given = TrainingData(X, y, 3, np.ones(len(y)))
    trainer = SketchTrainer(replace(SETTINGS, n_members=8, n_starts=3), given, None, ONE)
    found = [member.rows.scores.dense() for member in trainer._members]
    for member, scores in enumerate(found):
        assert (start_of(member, 3, 4) is None) == (member % 4 == 3)
        assert_array_equal(scores, found[member % 4])
    prior = np.log(np.bincount(y) / len(y)).astype(np.float32)
    assert_allclose(found[3], np.broadcast_to(prior[:, None], found[3].shape), rtol=1e-5)
    assert len({scores.tobytes() for scores in found}) == 4
    start = trainer._start
    assert len(start) == 3
    assert start.share == pytest.approx(sum(part.share for part in start.parts) / 4)


def test_turns():
    assert [start_of(member, 1, 1) for member in range(3)] == [0, 0, 0]
    assert [start_of(member, 1, 2) for member in range(4)] == [0, None, 0, None]
    assert [start_of(member, 2, 4) for member in range(5)] == [0, 1, None, None, 0]
    assert [start_of(member, 0, 1) for member in range(3)] == [None] * 3
