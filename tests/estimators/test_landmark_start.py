"""RandomBoostClassifier with landmarks: when there are any, warm starts, files."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_classification

from randomboost import RandomBoostClassifier, load
from randomboost.ensembles.sparse_trees import SparseTrees
from randomboost.ensembles.started_trees import LandmarkTrees, LinearTrees
from randomboost.runtime.parallel import ThreadTeam

ONE = ThreadTeam(1)
SMALL = RandomBoostClassifier(10, n_projections=60, early_stopping=False, random_state=0)


def made_data(m=240, n_classes=3, seed=0):
    return make_classification(
        m, 8, n_informative=6, n_redundant=0, n_classes=n_classes, random_state=seed
    )


X, Y = made_data()


def start_of(model):
    return model.model_.ensemble.start


def test_the_default_has_landmarks_where_they_pay():
    assert isinstance(clone(SMALL).fit(X, Y).model_.ensemble, LandmarkTrees)
    sparse = clone(SMALL).fit(sp.csr_array(X), Y)
    assert isinstance(sparse.model_.ensemble, LinearTrees)
    many, target = make_blobs(400, 4, centers=65, random_state=0)
    assert isinstance(clone(SMALL).fit(many, target).model_.ensemble, SparseTrees)
    some = target < 64
    assert isinstance(clone(SMALL).fit(many[some], target[some]).model_.ensemble, LandmarkTrees)


def test_a_number_of_landmarks():
    for n_landmarks in (1, 7, 10**6):
        model = clone(SMALL).set_params(n_landmarks=n_landmarks).fit(X, Y)
        assert start_of(model).n_landmarks == min(n_landmarks, len(X))
        assert model.score(X, Y) > 0.8
    none = clone(SMALL).set_params(n_landmarks=0).fit(X, Y)
    assert isinstance(none.model_.ensemble, SparseTrees)


def test_landmarks_help_where_classes_lie_along_curves():
    rng = np.random.default_rng(0)
    data = rng.normal(size=(1200, 6))
    target = (np.sin(2 * data[:, 0]) + data[:, 1] * data[:, 2] > 0).astype(int)
    errors = [
        1
        - clone(SMALL)
        .set_params(n_landmarks=n)
        .fit(data[:400], target[:400])
        .score(data[400:], target[400:])
        for n in (0, None)
    ]
    assert errors[1] < errors[0]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ((sp.csr_array(X), Y), "n_landmarks=20 needs dense data: leave n_landmarks at None, or"),
        ((X, np.arange(240) % 65), "n_landmarks=20 is for at most 64 classes, and y has 65: leave"),
    ],
)
def test_landmarks_that_cannot_be_are_refused(data, message):
    with pytest.raises(ValueError, match=message):
        clone(SMALL).set_params(n_landmarks=20).fit(*data)
    clone(SMALL).set_params(n_landmarks=0, n_estimators=2).fit(*data)


@pytest.mark.parametrize("value", [-1, 2.5, "many"])
def test_wrong_numbers_of_landmarks(value):
    with pytest.raises(ValueError, match="n_landmarks"):
        clone(SMALL).set_params(n_landmarks=value).fit(X, Y)


def test_training_goes_on_from_the_scores_of_the_landmarks(monkeypatch):
    """Scores in training are the prior, cross-fitted scores, and those of the trees."""
    from randomboost.estimators import randomboost as estimator

    made = []

    class Kept(estimator.SketchTrainer):
        def __init__(self, settings, data, *others):
            super().__init__(settings, data, *others)
            made.append((self, data))

    monkeypatch.setattr(estimator, "SketchTrainer", Kept)
    model = clone(SMALL).set_params(n_landmarks=200).fit(X, Y)
    ((trainer, data),) = made
    ensemble = model.model_.ensemble
    begins = []
    for number, member in enumerate(trainer._members):
        trees = ensemble.trees.member(number).scores(data.X, ONE)
        begins.append(member.rows.scores.dense() - trees)
    own = start_of(model).scores(data.X, ONE)
    for begin in begins:
        assert_allclose(begin, begins[0], atol=1e-4)
        assert np.abs(begin - own).max() > 0.05  # those know the labels of the samples
        assert np.corrcoef(begin.ravel(), own.ravel())[0, 1] > 0.7


# -- data of every form ------------------------------------------------------------------------


def test_sparse_rows_have_the_scores_of_dense_ones():
    data = np.where(np.abs(X) < 0.5, 0.0, X)
    model = clone(SMALL).fit(data, Y)
    assert_array_equal(model.decision_function(sp.csr_array(data)), model.decision_function(data))
    assert_array_equal(model.predict(sp.csr_array(data)), model.predict(data))
    assert_array_equal(
        list(model.staged_predict(sp.csr_array(data))), list(model.staged_predict(data))
    )


def test_sparse_rows_are_made_dense_in_pieces(monkeypatch):
    """They are where scaling centres them: never all at once."""
    monkeypatch.setattr("randomboost.preprocessing.inputs._DENSE_VALUES", 7 * X.shape[1])
    data = np.where(np.abs(X) < 0.5, 0.0, X)
    model, rows = clone(SMALL).fit(data, Y), sp.csr_array(data)
    assert {piece.shape[0] for piece in model.model_.inputs.pieces(rows)} <= {7, len(X) % 7}
    assert len(model.model_.inputs.pieces(data)) == 1
    assert_array_equal(model.decision_function(rows), model.decision_function(data))
    assert_array_equal(model.predict(rows), model.predict(data))


def test_validation_data_may_be_sparse():
    settings = {"early_stopping": True, "n_estimators": 30}
    dense = clone(SMALL).set_params(**settings).fit(X, Y, X_val=X[:60], y_val=Y[:60])
    sparse = clone(SMALL).set_params(**settings)
    sparse.fit(X, Y, X_val=sp.csr_array(X[:60]), y_val=Y[:60])
    assert_array_equal(sparse.decision_function(X), dense.decision_function(X))


def test_validation_scores_are_those_of_prediction():
    model = clone(SMALL).set_params(early_stopping=True)
    model.fit(X[:160], Y[:160], X_val=X[160:], y_val=Y[160:])
    errors = [(labels != Y[160:]).mean() for labels in model.staged_predict(X[160:])]
    history = model.train_history_["validation_error"][: len(errors)]
    assert_allclose(errors, history, atol=1e-12)


@pytest.mark.filterwarnings("error")
def test_missing_and_huge_values():
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.3, np.nan, X)
    holes[:, 5] = 3.0
    holes[0, 0], holes[1, 1] = 1e200, -1e200
    model = clone(SMALL).fit(holes, Y)
    assert np.isfinite(model.decision_function(holes)).all()
    assert np.isfinite(model.decision_function(np.full((1, 8), 1e300))).all()
    assert np.isfinite(model.decision_function(np.full((1, 8), np.nan))).all()
    assert model.score(holes[2:], Y[2:]) > 0.7


def test_single_precision_is_close_to_double_precision():
    double = clone(SMALL).fit(X, Y)
    single = clone(SMALL).fit(X.astype(np.float32), Y)
    assert single.model_.inputs.dtype == np.float32
    assert (single.predict(X.astype(np.float32)) == double.predict(X)).mean() > 0.9


def test_labels_may_change_their_names():
    names = np.array(["c", "a", "b"])
    longer = clone(SMALL).set_params(n_estimators=40)
    model, named = clone(longer).fit(X, Y), clone(longer).fit(X, names[Y])
    assert (named.predict(X) == names[model.predict(X)]).mean() > 0.97


# -- warm starts and files ---------------------------------------------------------------------


@pytest.mark.parametrize("effort", ["default", "best"])
@pytest.mark.parametrize("n_landmarks", [None, 30])
def test_a_warm_start_on_the_same_data_gives_the_bits_of_one_fit(n_landmarks, effort):
    whole = clone(SMALL).set_params(n_landmarks=n_landmarks, effort=effort).fit(X, Y)
    parts = clone(whole).set_params(n_estimators=4, warm_start=True).fit(X, Y)
    first = start_of(parts)
    parts.set_params(n_estimators=10).fit(X, Y)
    assert start_of(parts).equals(first)
    assert_array_equal(parts.decision_function(X), whole.decision_function(X))
    assert_array_equal(parts.train_history_["loss"], whole.train_history_["loss"])
    assert_array_equal(parts.predict_proba(X), whole.predict_proba(X))


def test_a_warm_start_after_loading_gives_the_bits_of_one_fit(tmp_path):
    whole = clone(SMALL).fit(X, Y)
    parts = clone(SMALL).set_params(n_estimators=4, warm_start=True).fit(X, Y)
    parts.save(tmp_path / "model.rboost")
    parts = load(tmp_path / "model.rboost").set_params(n_estimators=10).fit(X, Y)
    assert_array_equal(parts.decision_function(X), whole.decision_function(X))


def test_a_warm_start_on_other_data_keeps_the_landmarks():
    model = clone(SMALL).set_params(n_estimators=4, warm_start=True).fit(X[:120], Y[:120])
    first, before = start_of(model), model.decision_function(X)
    model.set_params(n_estimators=30).fit(X, Y)
    assert start_of(model).equals(first)
    stages = list(model.staged_decision_function(X))
    assert_allclose(stages[3], before, atol=1e-6)
    assert model.score(X[120:], Y[120:]) > (before[120:].argmax(axis=1) == Y[120:]).mean()


def test_a_warm_start_with_new_classes():
    known = Y < 2
    model = clone(SMALL).set_params(n_estimators=5, warm_start=True).fit(X[known], Y[known])
    first = start_of(model)
    model.set_params(n_estimators=60).fit(X, Y)
    assert_array_equal(model.classes_, [0, 1, 2])
    coefficients = start_of(model).parts[0].coefficients
    assert_array_equal(coefficients[:, :2], first.parts[0].coefficients)
    assert (coefficients[:, 2] == 0).all()
    assert model.score(X, Y) > 0.9


def test_a_warm_start_with_too_many_classes_leaves_the_model_as_it_is():
    model = clone(SMALL).set_params(warm_start=True).fit(X, Y)
    before = model.decision_function(X)
    model.set_params(n_estimators=12)
    with pytest.raises(ValueError, match=r"at most 64 classes, and y has 70.*n_landmarks=0"):
        model.fit(np.tile(X, (3, 1)), np.arange(720) % 70)
    assert_array_equal(model.decision_function(X), before)


def test_the_best_effort_has_several_starts():
    model = clone(SMALL).set_params(n_estimators=2, effort="best").fit(X, Y)
    assert len(start_of(model)) == 3
    assert len(start_of(clone(SMALL).fit(X, Y))) == 1
    points = [part.landmarks.points for part in start_of(model).parts]
    assert not np.array_equal(*points[:2])
    none = clone(model).set_params(n_landmarks=0).fit(X, Y)
    assert isinstance(none.model_.ensemble, SparseTrees)


@pytest.mark.parametrize("effort", ["default", "best"])
@pytest.mark.parametrize("n_landmarks", [None, 0, 12])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_files_give_the_same_model(n_landmarks, dtype, effort, tmp_path):
    data = X.astype(dtype)
    model = clone(SMALL).set_params(n_landmarks=n_landmarks, effort=effort).fit(data, Y)
    for dense in (False, True):
        model.save(tmp_path / "model.rboost", dense=dense)
        again = load(tmp_path / "model.rboost")
        assert again.get_params() == model.get_params()
        assert_array_equal(again.predict_proba(data), model.predict_proba(data))
        assert_array_equal(again.feature_importances_, model.feature_importances_)
        explained = again.explain(data[:5]), model.explain(data[:5])
        assert_array_equal(explained[0].values, explained[1].values)


def test_early_stopping_of_bags_scores_held_out_samples():
    model = clone(SMALL).set_params(early_stopping=True, n_estimators=200, n_iter_no_change=5)
    model.fit(X, Y)
    assert model.n_estimators_ < 200
