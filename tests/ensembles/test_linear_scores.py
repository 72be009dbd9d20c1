"""Linear scores: sums, limits, contributions, arrays of files."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from randomboost import RandomBoostClassifier, load
from randomboost.ensembles.base import ModelShape
from randomboost.ensembles.linear_scores import LinearScores
from randomboost.files import ModelFileError
from randomboost.runtime.checked_arrays import Taken
from randomboost.runtime.parallel import ThreadTeam

ONE, THREE = ThreadTeam(1), ThreadTeam(3)
D = 7


@pytest.fixture(params=[2, 5])
def scores(request):
    rng = np.random.default_rng(request.param)
    coefficients = rng.normal(size=(D, request.param)).astype(np.float32)
    means, limits = rng.uniform(0, 1, (2, D)).astype(np.float32)
    return LinearScores(coefficients, means, 1 + limits, 0.4)


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    return np.where(rng.random((9000, D)) < 0.6, 0.0, 2 * rng.normal(size=(9000, D)))


def plain(scores, X):
    C, means, limits = (
        part.astype(np.float64) for part in (scores.coefficients, scores.means, scores.limits)
    )
    return ((np.clip(X, -limits, limits) - means) @ C).T


def test_scores_are_those_of_plain_code(scores, rows):
    found = scores.scores(sp.csr_array(rows), ONE)
    assert found.dtype == np.float32
    assert_allclose(found, plain(scores, rows), rtol=1e-5, atol=1e-5)
    assert_array_equal(scores.scores(rows, ONE), found)
    assert_array_equal(scores.scores(sp.csr_array(rows), THREE), found)
    assert_array_equal(scores.scores(sp.csr_array(rows[40:90]), ONE), found[:, 40:90])
    holes = np.where(rows == 0, np.nan, rows)
    assert_array_equal(scores.scores(holes, ONE), found)


def test_no_margin_exceeds_the_largest(scores, rows):
    found = np.vstack([rows, 1e300 * rows])
    largest = np.ptp(scores.scores(found, ONE), axis=0).max()
    assert np.isfinite(largest)
    assert largest <= scores.largest_margin()
    pair = scores.coefficients[:, 0] - scores.coefficients[:, 1]
    extreme = np.sign(pair)[None] * 1e9
    values = scores.scores(np.vstack([extreme, -extreme]), ONE).astype(np.float64)
    assert np.abs(values[0] - values[1]).max() <= scores.largest_margin() * (1 + 1e-6)


def test_contributions_add_up_to_the_scores(scores, rows):
    n_classes = scores.coefficients.shape[1]
    classes = np.tile(np.arange(n_classes), (50, 1))
    contributions, bases = scores.contributions(sp.csr_array(rows[:50]), classes)
    expected = plain(scores, rows[:50]).T
    if n_classes == 2:
        expected = expected - expected[:, ::-1]
    assert contributions.shape == (50, D, n_classes)
    assert (bases == 0).all()
    assert_allclose(contributions.sum(axis=1), expected, atol=1e-6)
    at_means, _ = scores.contributions(np.minimum(scores.means, scores.limits)[None], classes[:1])
    assert_allclose(at_means, 0.0, atol=1e-7)


def test_importances_do_not_depend_on_a_shift_of_all_classes(scores):
    shifted = LinearScores(scores.coefficients + 3, scores.means, scores.limits, 0.4)
    assert_allclose(scores.importances(), shifted.importances(), rtol=1e-4)
    differences = scores.coefficients[:, :, None] - scores.coefficients[:, None]
    assert_allclose(scores.importances(), (differences**2).mean(axis=(1, 2)) / 2, rtol=1e-4)


def test_arrays_give_the_same_scores(scores, rows):
    shape = ModelShape(scores.coefficients.shape[1], D, 3, np.dtype(np.float64))
    again = LinearScores.from_arrays(Taken(scores.to_arrays()), shape)
    assert again.equals(scores)
    assert again.share == scores.share
    copy = pickle.loads(pickle.dumps(scores))
    assert_array_equal(copy.scores(rows, ONE), scores.scores(rows, ONE))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ["coefficients", "means", "limits", "share"])
def test_damaged_arrays_are_refused(scores, name):
    shape = ModelShape(scores.coefficients.shape[1], D, 3, np.dtype(np.float64))
    name, arrays = f"linear.{name}", scores.to_arrays()
    for value in (np.nan, np.inf, 1e60):
        changed = arrays[name].astype(np.float64)
        changed.flat[-1] = value
        with pytest.raises(ModelFileError, match="damaged"):
            LinearScores.from_arrays(Taken(arrays | {name: changed}), shape)
    with pytest.raises(ModelFileError, match="has shape"):
        LinearScores.from_arrays(Taken(arrays | {name: arrays[name][:0]}), shape)
    if name in ("linear.limits", "linear.share"):
        with pytest.raises(ModelFileError, match=r"negative|share of its linear scores"):
            LinearScores.from_arrays(Taken(arrays | {name: -arrays[name]}), shape)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_fitted_models_with_linear_scores(dtype, tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    X = sp.csr_array(rng.poisson(0.3 + (np.arange(60) % 3 == y[:, None]), (300, 60)).astype(dtype))
    model = RandomBoostClassifier(8, n_projections=40, random_state=0).fit(X, y)
    for dense in (False, True):
        model.save(tmp_path / "model.rboost", dense=dense)
        again = load(tmp_path / "model.rboost")
        assert_array_equal(again.predict_proba(X), model.predict_proba(X))
        assert_array_equal(again.feature_importances_, model.feature_importances_)
    assert_array_equal(model.predict(X), model.decision_function(X).argmax(axis=1))
    assert_array_equal(model.decision_function(X.toarray()), model.decision_function(X))
    explained = model.explain(X[:5])
    sums = np.asarray(explained.values).sum(axis=1) + np.asarray(explained.base_values)
    assert_allclose(sums, model.decision_function(X[:5]).max(axis=1), atol=1e-4)
    assert np.abs(model.margins(X, y)).max() <= 1
