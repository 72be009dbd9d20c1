"""RandomBoost, one tree a round for all classes: what it learns, and from which data."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_blobs

from randomboost import RandomBoostClassifier, RBoostRankClassifier
from randomboost.ensembles.started_trees import apart
from randomboost.estimators import randomboost as estimator
from randomboost.runtime.parallel import ThreadTeam

ONE = ThreadTeam(1)


@pytest.fixture
def trainers(monkeypatch):
    """Keep the trainers of all fits, with their data."""
    kept = []

    class Kept(estimator.SketchTrainer):
        def __init__(self, settings, data, *others):
            super().__init__(settings, data, *others)
            self.data = data
            kept.append(self)

    monkeypatch.setattr(estimator, "SketchTrainer", Kept)
    return kept


class Own:
    """A projection of a user's own."""

    def __repr__(self):
        return "own"

    def matrices(self, n_classes, n_projections, n_features, seed):
        rng = np.random.default_rng(seed)
        return rng.standard_normal((n_classes, n_projections, n_features))


def cross_entropy(model, X, y):
    """The mean loss of a model by its decision function; y are class numbers."""
    return -np.log(softmax(model.decision_function(X), axis=1)[np.arange(len(y)), y]).mean()


def neighbours(X):
    """Numbers with nothing between them in single precision."""
    X = (1 + np.round(2 * X) * np.finfo(np.float32).eps).astype(np.float32)
    return X * np.float32(1.5)


DATA = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "neighbours": neighbours,
    "csr": lambda X: sp.csr_array(np.where(np.abs(X) < 3, 0, X)),
    "missing": lambda X: np.where(np.arange(X.size).reshape(X.shape) % 5 == 0, np.nan, X),
    "few values": lambda X: np.round(X / 3),
}


@pytest.mark.parametrize("projection", ["mixed", "gaussian"])
@pytest.mark.parametrize("form", DATA)
def test_training_scores_are_those_of_prediction(noisy, trainers, form, projection):
    X, y = DATA[form](noisy[0]), noisy[1]
    model = RandomBoostClassifier(
        15,
        n_projections=40,
        projection=projection,
        n_landmarks=0,
        early_stopping=False,
        random_state=0,
    )
    model.fit(X, y)
    (trainer,) = trainers
    ensemble = model.model_.ensemble
    scores = ensemble.scores(trainer.data.X, ONE)
    for number, member in enumerate(trainer._members):
        own = ensemble.member(number).scores(trainer.data.X, ONE)
        assert_array_equal(own, member.rows.scores.dense())
    *_, staged = ensemble.staged_scores(trainer.data.X, ONE)
    assert_array_equal(staged, scores)
    shorter = clone(model).set_params(n_estimators=14).fit(X, y)
    trainer = trainers[-1]
    losses = []
    for number in range(ensemble.n_members):
        own = shorter.model_.ensemble.member(number).scores(trainer.data.X, ONE)
        chances = softmax(own.astype(np.float64), axis=0)[trainer.data.y, np.arange(len(y))]
        losses.append(-np.log(chances).mean())
    assert_allclose(model.train_history_["loss"][-1], np.mean(losses), rtol=1e-5)


@pytest.mark.parametrize("k", [2, 33])
def test_staged_scores_end_at_the_scores(k):
    X, y = make_blobs(20 * k, 5, centers=k, random_state=0)
    model = RandomBoostClassifier(8, n_projections=30, random_state=0).fit(X, y)
    stages = list(model.staged_decision_function(X))
    assert len(stages) == 8
    assert_array_equal(stages[-1], model.decision_function(X))


@pytest.mark.parametrize("projection", ["mixed", "gaussian"])
@pytest.mark.parametrize("k", [2, 7, 32, 33, 70])
def test_few_samples_have_the_scores_that_they_have_among_many(k, projection):
    X, y = make_blobs(12 * k, 5, centers=k, cluster_std=4, random_state=0)
    X[::5, 0] = np.nan
    model = RandomBoostClassifier(12, n_projections=40, projection=projection, random_state=0)
    many = model.fit(X, y).decision_function(X)
    for n in (1, 3, 8, 9):
        assert_array_equal(model.decision_function(X[4 : 4 + n]), many[4 : 4 + n])


SMALL = RandomBoostClassifier(40, n_projections=120, random_state=0)
STUMPS = RBoostRankClassifier(40, n_projections=60, random_state=0)
KINDS = ["gaussian", "sparse", "axis", "lda", "mixed"]


def with_projection(model, projection):
    """Return a model with projections of a kind; trees on single features take no number."""
    model = clone(model).set_params(projection=projection)
    if isinstance(model, RandomBoostClassifier) and projection == "axis":
        model.set_params(n_projections=RandomBoostClassifier().n_projections)
    return model


def held_out_error(model, X, y):
    """Error on every third sample of a fit on the others."""
    held_out = np.arange(len(y)) % 3 == 0
    return 1 - clone(model).fit(X[~held_out], y[~held_out]).score(X[held_out], y[held_out])


@pytest.mark.parametrize("data", ["iris", "wine"])
@pytest.mark.parametrize("learner", [SMALL, STUMPS], ids=["trees", "stumps"])
@pytest.mark.parametrize("projection", KINDS)
def test_projections(projection, learner, data, wine):
    X, y = wine if data == "wine" else load_iris(return_X_y=True)
    model = with_projection(learner, projection)
    assert held_out_error(model, X, y) < 0.16
    importances = model.fit(X, y).feature_importances_
    assert_allclose(importances.sum(), 1)
    assert (importances >= 0).all()


def test_matrices_of_a_users_own(noisy, wine):
    assert held_out_error(clone(STUMPS).set_params(projection=Own()), *wine) < 0.16
    with pytest.raises(ValueError, match="'projection' parameter"):
        clone(SMALL).set_params(projection=Own()).fit(*noisy)


class WrongShape:
    def matrices(self, n_classes, n_projections, n_features, seed):
        return np.ones((n_projections, n_classes, n_features))


class NotFinite(Own):
    def matrices(self, *args):
        return np.log(np.abs(super().matrices(*args)) > 1)


@pytest.mark.filterwarnings("ignore:divide by zero")
def test_wrong_matrices(noisy):
    for projection, message in ((WrongShape(), "shape"), (NotFinite(), "not finite")):
        model = clone(STUMPS).set_params(projection=projection)
        with pytest.raises(ValueError, match=message):
            model.fit(*noisy)


@pytest.mark.parametrize("projection", KINDS)
def test_the_loss_falls(wine, projection):
    losses = with_projection(SMALL, projection).fit(*wine).train_history_["loss"]
    assert (np.diff(losses) < 1e-3).all()
    assert losses[-1] < 0.2 * losses[0]


def test_digits_by_default():
    X, y = load_digits(return_X_y=True)
    model = RandomBoostClassifier(40, random_state=0)
    assert held_out_error(model, X, y) < 0.06


def test_probabilities_are_about_right():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 2))
    truth = softmax(np.stack([X[:, 0], X[:, 1], 0 * X[:, 0]], axis=1), axis=1)
    y = (rng.random((4000, 1)) > truth.cumsum(axis=1)).sum(axis=1)
    model = RandomBoostClassifier(25, max_leaf_nodes=8, random_state=0).fit(X[:3000], y[:3000])
    assert np.abs(model.predict_proba(X[3000:]) - truth[3000:]).mean() < 0.06


# missing values


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("projection", ["axis", "mixed"])
def test_missing_values_tell_something(projection, dtype):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 4)).astype(dtype)
    y = rng.integers(3, size=400)
    X[y == 1, 2] = np.nan
    X[rng.random(400) < 0.1, 0] = np.nan
    model = with_projection(SMALL, projection).set_params(max_leaf_nodes=8)
    model.fit(X[:300], y[:300])
    assert_array_equal(model.predict(X[300:]) == 1, y[300:] == 1)
    assert model.feature_importances_.argmax() == 2


@pytest.mark.parametrize("projection", ["sparse", "gaussian", "lda"])
def test_missing_values_in_mixtures(wine, projection):
    X, y = wine
    X = X.copy()
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    model = with_projection(SMALL, projection)
    assert held_out_error(model, X, y) < 0.2
    assert np.isfinite(model.fit(X, y).decision_function(X)).all()


def test_missing_values_that_training_did_not_have(wine):
    X, y = wine
    model = clone(SMALL).fit(X, y)
    X = X.copy()
    X[:, 3] = np.nan
    assert np.isfinite(model.decision_function(X)).all()
    assert model.score(X, y) > 0.8


def test_columns_without_any_value(wine):
    X, y = wine
    empty = np.hstack([np.full((len(X), 1), np.nan), X])
    assert held_out_error(SMALL, empty, y) < 0.12
    with pytest.raises(ValueError, match="no weak learner"):
        clone(SMALL).fit(np.full((6, 2), np.nan), [0, 1, 0, 1, 0, 1])


@pytest.mark.parametrize("weak_learner", ["stump", "real_stump", "wlda"])
def test_stumps_refuse_missing_values(wine, weak_learner):
    X, y = wine
    model = clone(STUMPS).set_params(weak_learner=weak_learner)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(X < 1, np.nan, X), y)


def test_missing_values_in_sparse_data_are_refused(wine):
    X, y = wine
    broken = sp.csr_array(np.where(X > 100, np.nan, X))
    with pytest.raises(ValueError, match="NaN"):
        clone(SMALL).fit(broken, y)
    with pytest.raises(ValueError, match="NaN"):
        clone(SMALL).fit(X, y).predict(broken)


# unusual data


def test_scale_and_shift_matter_little(wine):
    X, y = wine
    factors, shifts = np.ones(13), np.zeros(13)
    factors[[2, 5]] = 1e6, 1e-6
    shifts[[3, 7]] = 1e4, -30.0
    changed = X * factors + shifts
    # other numbers may draw other samples and landmarks, and hold out others
    for n_landmarks, most, mean in ((0, 1e-3, 1e-4), (60, 0.5, 0.02), (None, 0.8, 0.05)):
        model = clone(SMALL).set_params(
            subsample=1.0, early_stopping=False, n_landmarks=n_landmarks
        )
        plain = clone(model).fit(X[::2], y[::2]).predict_proba(X)
        other = clone(model).fit(changed[::2], y[::2]).predict_proba(changed)
        assert np.abs(plain - other).max() < most
        assert np.abs(plain - other).mean() < mean
        assert (plain.argmax(axis=1) == other.argmax(axis=1)).mean() > 0.98


@pytest.mark.parametrize("projection", ["mixed", "axis", "gaussian"])
def test_two_classes(projection):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 4))
    y = np.where((X[:, 0] > 0) ^ (X[:, 1] > 0), "odd", "even")
    model = with_projection(SMALL, projection).set_params(n_estimators=60)
    assert held_out_error(model, X, y) < 0.12
    assert model.fit(X, y).decision_function(X).shape == (600,)


def test_a_hundred_classes():
    X, y = make_blobs(1500, 6, centers=100, cluster_std=0.3, random_state=0)
    model = RandomBoostClassifier(20, n_projections=120, learning_rate=0.3, random_state=0)
    assert held_out_error(model, X, y) < 0.1


@pytest.mark.parametrize("projection", KINDS)
def test_one_feature(projection):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 1))
    y = np.digitize(X[:, 0], [-1, 0, 1])
    model = with_projection(SMALL, projection)
    assert held_out_error(model, X, y) < (0.3 if projection == "gaussian" else 0.1)


def test_constant_features():
    rng = np.random.default_rng(0)
    X = np.full((300, 200), 7.0)
    X[:, 11] = rng.standard_normal(300)
    y = np.digitize(X[:, 11], [-0.5, 0.5])
    for projection in ("mixed", "axis"):
        model = with_projection(SMALL, projection).fit(X, y)
        assert model.score(X, y) > 0.95
        assert model.stopped_.startswith(("all rounds done", "no lower validation"))


def test_a_class_of_one_sample(wine):
    X, y = wine
    y = np.where(np.arange(len(y)) == 100, 9, y)
    model = clone(SMALL).set_params(n_estimators=80).fit(X, y)
    assert model.score(X, y) == 1
    early = clone(SMALL).set_params(early_stopping=True).fit(X, y)
    assert set(early.predict(X)) >= {0, 1, 2}


def test_one_sample_a_class():
    X, y = np.eye(5), np.arange(5)
    model = clone(SMALL).set_params(l2_regularization=0.0).fit(X, y)
    assert model.score(X, y) == 1


def test_fitted_samples_end_the_fit():
    X, y = make_blobs(60, 3, centers=3, cluster_std=0.1, random_state=0)
    model = RandomBoostClassifier(
        2000, n_projections=30, learning_rate=1.0, l2_regularization=0.0, random_state=0
    )
    model.fit(X, y)
    assert model.stopped_ in ("all samples are fitted", "no tree separates any two samples")
    assert model.score(X, y) == 1
    assert model.n_estimators_ < 2000
    assert np.isfinite(model.decision_function(X)).all()


def test_margins_of_unequal_classes_stay_within_one():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 3))
    y = (np.arange(1000) % 250 == 0).astype(int)
    margins = RandomBoostClassifier(1, random_state=0).fit(X, y).margins(X, y)
    assert np.abs(margins).max() <= 1


# settings


def leaves_of(model):
    _, trees = apart(model.model_.ensemble)
    return np.array([(tree.columns < 0).sum() for tree in trees.trees()])


@pytest.mark.parametrize(
    ("settings", "most"),
    [
        ({"max_leaf_nodes": 5}, 5),
        ({"max_depth": 1}, 2),
        ({"max_depth": 3}, 8),
        ({"max_leaf_nodes": 2}, 2),
    ],
)
def test_sizes_of_trees(noisy, settings, most):
    model = clone(SMALL).set_params(**settings).fit(*noisy)
    assert leaves_of(model).max() == most


def test_min_samples_leaf_makes_smaller_trees(noisy):
    model = clone(SMALL).set_params(min_samples_leaf=20).fit(*noisy)
    assert 2 <= leaves_of(model).max() <= 150 // 20


def test_a_tiny_subsample_has_a_sample():
    X, y = load_iris(return_X_y=True)
    model = clone(SMALL).set_params(subsample=0.01).fit(X[::15], y[::15])
    assert model.n_estimators_ == 40


@pytest.mark.parametrize("max_bins", [2, 3, 16, 256])
def test_max_bins(wine, max_bins):
    X, y = wine
    assert held_out_error(clone(SMALL).set_params(max_bins=max_bins), X, y) < 0.12


def test_early_stopping():
    X, y = make_blobs(2000, 3, centers=3, cluster_std=6, random_state=0)
    model = RandomBoostClassifier(
        15, n_projections=30, learning_rate=1.0, n_iter_no_change=3, random_state=0
    )
    large = clone(model).set_params(early_stopping=True).fit(X, y)
    losses = large.train_history_["validation_loss"]
    assert large.stopped_.startswith("no lower validation")
    assert large.n_estimators_ == losses.argmin() + 1 == len(losses) - 3
    given = clone(model).fit(X[:500], y[:500], X_val=X[500:800], y_val=y[500:800])
    losses = given.train_history_["validation_loss"]
    assert given.n_estimators_ == losses.argmin() + 1 < 15
    assert_allclose(losses.min(), cross_entropy(given, X[500:800], y[500:800]), rtol=1e-5)
    for never in (
        clone(model).set_params(early_stopping=False),
        RBoostRankClassifier(15, n_projections=30, n_iter_no_change=3, random_state=0),
    ):
        never.fit(X[:500], y[:500], X_val=X[500:800], y_val=y[500:800])
        assert never.n_estimators_ == 15
        assert len(never.train_history_["validation_error"]) == 15


def test_weights_of_samples_count(noisy):
    X, y = noisy
    model = clone(SMALL)
    twice = clone(model).fit(np.vstack([X, X[:50]]), np.concatenate([y, y[:50]]))
    weighted = clone(model).fit(X, y, sample_weight=np.where(np.arange(150) < 50, 2.0, 1.0))
    assert_array_equal(twice.decision_function(X), weighted.decision_function(X))
    heavy = clone(model).fit(X, y, sample_weight=np.where(y == 1, 50.0, 1.0))
    assert (heavy.predict(X) == 1).sum() > (twice.predict(X) == 1).sum()


def test_a_pickle_gives_the_same_scores():
    X, y = make_blobs(1200, 8, centers=60, cluster_std=8, random_state=0)
    model = RandomBoostClassifier(20, n_projections=60, random_state=0).fit(X, y)
    size = len(pickle.dumps(model))
    model.predict(X)
    assert len(pickle.dumps(model)) == size  # no caches
    copy = pickle.loads(pickle.dumps(model))
    assert_array_equal(copy.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_leaf_nodes": 1}, "max_leaf_nodes"),
        ({"max_depth": 0}, "max_depth"),
        ({"subsample": 0.0}, "subsample"),
        ({"subsample": 1.5}, "subsample"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"n_sketches": 0}, "n_sketches"),
        ({"leaf_classes": 0}, "leaf_classes"),
        ({"max_features": 1.5}, "max_features"),
        ({"projection": ("sparse", 0.0)}, "density"),
        ({"projection": ("lda", 0.5)}, "density"),
        ({"max_bins": 257}, "max_bins"),
        ({"min_samples_leaf": 0}, "min_samples_leaf"),
        ({"l2_regularization": -1.0}, "l2_regularization"),
        ({"early_stopping": "never"}, "early_stopping"),
        ({"max_features": 0}, "max_features"),
    ],
)
def test_settings_that_do_not_fit(noisy, settings, message):
    with pytest.raises(ValueError, match=message):
        clone(SMALL).set_params(**settings).fit(*noisy)


def test_stumps_have_no_softmax_loss(noisy):
    for weak_learner in ("stump", "wlda"):
        model = clone(STUMPS).set_params(weak_learner=weak_learner, loss="softmax")
        with pytest.raises(ValueError, match="'loss' parameter"):
            model.fit(*noisy)


def test_the_papers_setting(noisy):
    model = RBoostRankClassifier.paper(n_estimators=7, n_projections=50, random_state=0)
    by_hand = RBoostRankClassifier(7, n_projections=50, random_state=0)
    assert_array_equal(
        model.fit(*noisy).decision_function(noisy[0]),
        by_hand.fit(*noisy).decision_function(noisy[0]),
    )
    paper = RBoostRankClassifier.paper()
    assert (paper.n_estimators, paper.n_projections) == (1000, 20000)
    assert (paper.loss, paper.projection, paper.weak_learner) == (
        "exponential",
        "gaussian",
        "stump",
    )


@pytest.mark.parametrize("n_classes", [2, 90])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_probabilities_are_those_of_the_dense_form(n_classes, dtype):
    X, y = make_blobs(900, 5, centers=n_classes, cluster_std=3.0, random_state=0)
    X = X.astype(dtype)
    model = RandomBoostClassifier(n_estimators=4, leaf_classes=3, random_state=0).fit(X, y)
    dense = model.predict_proba(X)
    found = model.predict_proba(X, sparse_output=True)
    assert isinstance(found, sp.csr_array)
    assert found.shape == dense.shape
    assert found.dtype == dense.dtype == dtype
    rows = np.repeat(np.arange(len(X)), np.diff(found.indptr))
    assert_allclose(found.data, dense[rows, found.indices], atol=1e-6)
    assert found.sum(axis=1).max() <= 1 + 1e-6
    labels, chances = model.predict_topk(X, 1)
    assert_array_equal(labels[:, 0], model.predict(X))
    assert_allclose(chances[:, 0], dense.max(axis=1), rtol=1e-4)
    if n_classes > 2:
        assert found.nnz < dense.size / 2


@pytest.mark.parametrize("n_classes", [2, 3])
def test_sparse_probabilities_of_other_ensembles_are_all(n_classes):
    X, y = load_iris(return_X_y=True)
    X, y = X[y < n_classes], y[y < n_classes]
    model = RBoostRankClassifier(n_estimators=10, random_state=0).fit(X, y)
    found = model.predict_proba(X, sparse_output=True)
    assert isinstance(found, sp.csr_array)
    assert_allclose(found.toarray(), model.predict_proba(X), atol=1e-6)
