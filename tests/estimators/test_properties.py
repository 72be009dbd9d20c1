"""What holds for every estimator, whatever valid parameters and data it is given.

``RANDOMBOOST_EXAMPLES=5000`` tries so many new examples of each test instead of a few that are
the same in every run.
"""

from __future__ import annotations

import os
import pickle
import re
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils._param_validation import InvalidParameterError
from strategies import ESTIMATORS, cases, parameters_of, values_of, wrong_values_of

import randomboost
from randomboost.files import ModelFileError

MANY = os.environ.get("RANDOMBOOST_EXAMPLES")
FEW = 40

examples = settings(
    max_examples=int(MANY or FEW),
    derandomize=MANY is None,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)

# A fit may end with one of these where the data or the parameters leave nothing to learn.
NOTHING_TO_LEARN = re.compile(
    "no weak learner could be fitted|fewer than two classes|leaves no training sample"
    "|GiB may be used"
)


def names(kind):
    return kind.__name__


each_estimator = pytest.mark.parametrize("kind", ESTIMATORS, ids=names)


def same(a, b):
    """Return whether two parameters, arrays or tables are equal, missing values included."""
    return pickle.dumps(a) == pickle.dumps(b)


def copied(value):
    return pickle.loads(pickle.dumps(value))


@each_estimator
def test_every_parameter_has_values(kind):
    """A parameter is checked by the estimator, and these tests know what to give it."""
    for name in parameters_of(kind):
        assert name in kind._parameter_constraints, f"{name} is not in _parameter_constraints"
        assert values_of(kind, name) is not None, f"tell tests/strategies.py values of {name}"
        assert wrong_values_of(kind, name), f"nothing is wrong for {name}"


@each_estimator
@given(data=st.data())
@examples
def test_a_fit_keeps_its_promises(kind, data):
    check_case(data.draw(cases(kind)))


def check_case(case):
    model, X, y = case.estimator, case.X, case.y
    before = copied((X, y, case.sample_weight, case.validation))
    parameters = copied(model.get_params())
    try:
        model.fit(X, y, case.sample_weight, **case.validation)
    except (ValueError, MemoryError) as error:
        if not NOTHING_TO_LEARN.search(str(error)):
            raise
        assert not hasattr(model, "classes_")
        return
    assert same(before, copied((X, y, case.sample_weight, case.validation)))
    if not isinstance(parameters["random_state"], np.random.RandomState):
        assert same(parameters, copied(model.get_params()))
    check_predictions(model, X, y)
    check_stages(model, X)
    check_copies(case)


def check_predictions(model, X, y):
    n_rows, n_classes = len(y), len(np.unique(y))
    assert_array_equal(model.classes_, np.unique(y))
    decision, chances = model.decision_function(X), model.predict_proba(X)
    assert decision.shape == ((n_rows,) if n_classes == 2 else (n_rows, n_classes))
    assert np.isfinite(decision).all()
    assert chances.shape == (n_rows, n_classes)
    assert_allclose(chances.sum(axis=1), 1.0, rtol=1e-5)
    assert (chances >= 0).all()
    labels = model.predict(X)
    assert labels.dtype == model.classes_.dtype
    best = chances[np.arange(n_rows), np.searchsorted(model.classes_, labels)]
    assert_array_equal(best, chances.max(axis=1))
    margins = model.margins(X, y)
    assert np.abs(margins).max() <= 1 + 1e-6
    importances = model.feature_importances_
    assert (importances >= 0).all()
    assert not importances.any() or np.isclose(importances.sum(), 1.0)
    one = X.iloc[:1] if hasattr(X, "iloc") else X[:1]
    assert_allclose(model.decision_function(one), decision[:1], rtol=1e-4, atol=1e-6)


def check_stages(model, X):
    decision = model.decision_function(X)
    stages = list(model.staged_decision_function(X))
    assert len(stages) == model.n_estimators_
    size = np.abs(decision).max()
    assert_allclose(stages[-1], decision, rtol=1e-5, atol=1e-6 * size + 1e-30)
    chances = list(model.staged_predict_proba(X))[-1]
    assert_allclose(chances, model.predict_proba(X), rtol=1e-4, atol=1e-6)
    *_, labels = model.staged_predict(X)
    assert_array_equal(labels, model._as_labels(stages[-1]))


def check_copies(case):
    model, X = case.estimator, case.X
    decision, chances = model.decision_function(X), model.predict_proba(X)
    pickled = copied(model)
    assert_array_equal(pickled.decision_function(X), decision)
    assert_array_equal(pickled.predict_proba(X), chances)
    assert_array_equal(pickled.predict(X), model.predict(X))
    check_file(model, X)
    if isinstance(model.random_state, int | np.integer):
        again = clone(model).fit(X, case.y, case.sample_weight, **case.validation)
        assert_array_equal(again.decision_function(X), decision)
        assert_array_equal(again.weights_, model.weights_)


def check_file(model, X):
    """A saved model comes back bit for bit, or is refused by name of what cannot be saved."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.rboost"
        try:
            model.save(path, dense=True)
        except ModelFileError:
            learner = getattr(model, "weak_learner", "tree")
            if type(learner) in (str, DecisionTreeClassifier):
                raise
            assert not path.exists()
            return
        loaded = randomboost.load(path)
        assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
        assert_array_equal(loaded.predict(X), model.predict(X))
        assert loaded.predict(X).dtype == model.predict(X).dtype
        for stage, expected in zip(
            loaded.staged_decision_function(X), model.staged_decision_function(X), strict=True
        ):
            assert_array_equal(stage, expected)
        model.save(path)
        assert_array_equal(randomboost.load(path).decision_function(X), model.decision_function(X))


class Untouchable:
    """Data that must not be looked at."""

    def __getattr__(self, name):
        raise AssertionError(f"X.{name} was looked at before the parameters were checked")


@each_estimator
@given(data=st.data())
@examples
def test_wrong_parameters_are_refused_before_any_work(kind, data):
    name = data.draw(st.sampled_from(parameters_of(kind)))
    wrong = data.draw(st.sampled_from(wrong_values_of(kind, name)))
    model = kind().set_params(**{name: wrong})
    state = dict(vars(model))
    with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of {kind.__name__}"):
        model.fit(Untouchable(), Untouchable())
    assert vars(model) == state
