"""Every parameter is documented and checked, and has an effect or is refused."""

from __future__ import annotations

import inspect
import re
from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from randomboost import (
    AdaBoostClassifier,
    AdaBoostMHClassifier,
    AdaBoostMOClassifier,
    MultiBoostClassifier,
    RandomBoostClassifier,
    RBoostProjClassifier,
    RBoostRankClassifier,
)
from randomboost.estimators import CLASSIFIERS
from randomboost.estimators.parameters import (
    STOPPING,
    TABLE,
    check_parameters,
    conditions_of,
    defaults_of,
)

KINDS = list(CLASSIFIERS.values())
EACH = [(kind, name) for kind in KINDS for name in defaults_of(kind)]


def name_of(value):
    return value.__name__ if inspect.isclass(value) else str(value)


each_kind = pytest.mark.parametrize("kind", KINDS, ids=name_of)

# -- declared and documented -------------------------------------------------------------------


@each_kind
def test_there_are_not_too_many(kind):
    assert len(defaults_of(kind)) <= 24


@each_kind
def test_the_table_has_them_all(kind):
    names = list(defaults_of(kind))
    assert set(names) <= set(TABLE)
    assert list(kind._parameter_constraints) == names
    assert set(kind._allowed) <= set(names) | set(TABLE)
    assert all(set(condition.names) <= set(names) for condition in conditions_of(kind))


def test_the_table_has_no_others():
    used = {name for _, name in EACH}
    assert set(TABLE) == used


def documented(kind):
    """Return what the docstring says of every parameter: its types with the default."""
    text = inspect.getdoc(kind)
    section = text.split("\nParameters\n----------\n")[1].split("\nAttributes\n----------\n")[0]
    return dict(re.findall(r"^(\w+) : (.+)$", section, flags=re.MULTILINE))


@each_kind
def test_docstrings_name_the_defaults(kind):
    found = documented(kind)
    assert list(found) == list(defaults_of(kind))
    for name, default in defaults_of(kind).items():
        said = re.search(r", default=(.+)$", found[name])
        assert said, f"{name}: no default in {found[name]!r}"
        value = {"None": None, "True": True, "False": False}.get(said[1], said[1].strip('"'))
        if isinstance(default, float | int) and not isinstance(default, bool):
            value = type(default)(value)
        assert value == default, name


# -- in effect ---------------------------------------------------------------------------------

SIZE = {"n_estimators": 12, "n_projections": 40, "random_state": 0}

OTHER = {  # a value other than the default
    "n_estimators": 9,
    "effort": "fast",
    "weak_learner": "real_stump",
    "loss": "exponential",
    "learning_rate": 0.3,
    "max_leaf_nodes": 4,
    "max_depth": 2,
    "min_samples_leaf": 30,
    "l2_regularization": 5.0,
    "subsample": 0.5,
    "n_sketches": 2,
    "leaf_classes": 1,
    "n_landmarks": 3,
    "n_projections": 50,
    "projection": "sparse",
    "projections_per_round": 10,
    "max_features": 0.9,
    "correction": "total",
    "nu": 0.01,
    "selection": "violation",
    "stopping": "violation",
    "tol": 0.3,
    "solver_options": {"maxiter": 1},
    "iterations_per_round": 1,
    "max_bins": 4,
    "max_memory": 1e5,
    "constant_stumps": False,
    "votes": "shared",
    "partition": "max-cut",
    "code": "random",
    "code_size": 4,
    "decoding": "hamming",
    "categorical_features": [0],
    "scale": False,
    "class_weight": {1: 5.0},
    "early_stopping": True,
    "validation_fraction": 0.4,
    "n_iter_no_change": 1,
    "warm_start": True,
    "random_state": 1,
    "n_jobs": 2,
    "verbose": 1,
}
OTHER_OF = {
    (RBoostRankClassifier, "loss"): "logistic",
    (MultiBoostClassifier, "stopping"): "objective",
    (MultiBoostClassifier, "tol"): 0.05,
}

EARLY = {"early_stopping": True}
DRAWS = {"weak_learner": ExtraTreeClassifier(max_depth=2)}
TOTAL = {"correction": "total"}
FULLY = {"iterations_per_round": None}

BASE: dict[tuple[type | None, str], dict[str, Any]] = {  # where a parameter has an effect
    (None, "validation_fraction"): EARLY,
    (None, "n_iter_no_change"): {  # a pause after which the error falls again
        **EARLY,
        "n_estimators": 60,
        "validation_fraction": 0.2,
        "random_state": 1,
    },
    (None, "scale"): {"weak_learner": Ridge()},  # stumps do not depend on it
    (RandomBoostClassifier, "n_iter_no_change"): {
        **EARLY,
        "n_estimators": 60,
        "subsample": 0.05,
    },
    (RBoostRankClassifier, "scale"): {},
    (AdaBoostClassifier, "random_state"): DRAWS,
    (AdaBoostMHClassifier, "random_state"): DRAWS,
    (AdaBoostMOClassifier, "random_state"): DRAWS,
    (MultiBoostClassifier, "random_state"): DRAWS,
    (RBoostRankClassifier, "nu"): TOTAL,
    (RBoostRankClassifier, "iterations_per_round"): TOTAL,
    (RBoostRankClassifier, "solver_options"): {**TOTAL, **FULLY},
    (RBoostProjClassifier, "solver_options"): FULLY,
    (MultiBoostClassifier, "solver_options"): FULLY,
    (RBoostProjClassifier, "stopping"): {"tol": 0.02},
    (MultiBoostClassifier, "stopping"): {"tol": 0.02},
    (AdaBoostMOClassifier, "code_size"): {"code": "random"},
    (None, "constant_stumps"): {"max_bins": 2},  # cuts are poor
}
MANY_CLASSES = {"code", "partition"}  # few classes have few partitions, and all of them are used

SPEED_ONLY = {
    "n_jobs": "threads share the work, and sums that decide are whole numbers",
    "verbose": "it shows progress",
    "max_memory": "what does not fit is computed again",
}


def other(kind, name):
    return OTHER_OF.get((kind, name), OTHER[name])


@cache
def data_of(kind, n_classes=4):
    """Return overlapping classes, with features of different scales."""
    n_classes = 2 if kind is AdaBoostClassifier else n_classes
    X, y = make_blobs(400, 6, centers=n_classes, cluster_std=7.0, random_state=1)
    return X * np.array([1, 100, 0.1, 1, 1, 10]), y


def small(kind, settings):
    """Return an estimator that is fitted in no time."""
    own = {name: value for name, value in SIZE.items() if name in defaults_of(kind)}
    return kind(**{**own, **settings})


@cache
def fitted(kind, n_classes, settings=()):
    """Return a small fitted model with settings, given as pairs, and its data; do not change it."""
    X, y = data_of(kind, n_classes)
    return small(kind, dict(settings)).fit(X, y), X, y


def n_classes_of(name):
    """Return the number of classes with which a parameter has an effect."""
    return 7 if name in MANY_CLASSES else 4


def base_of(kind, name):
    """Return settings with which a parameter has an effect."""
    return BASE.get((kind, name), BASE.get((None, name), {}))


def is_same_model(one, two, X):
    return np.array_equal(one.weights_, two.weights_) and np.array_equal(
        one.decision_function(X), two.decision_function(X)
    )


@pytest.mark.parametrize(
    ("kind", "name"), [each for each in EACH if each[1] != "warm_start"], ids=name_of
)
def test_a_parameter_has_an_effect(kind, name):
    model, X, y = fitted(kind, n_classes_of(name), tuple(base_of(kind, name).items()))
    assert getattr(model, name) != other(kind, name)
    changed = clone(model).set_params(**{name: other(kind, name)})
    same = is_same_model(model, changed.fit(X, y), X)
    assert same == (name in SPEED_ONLY), SPEED_ONLY.get(name, "no effect")


@each_kind
def test_warm_start_continues(kind):
    X, y = data_of(kind)
    rounds = []
    for warm in (False, True):
        model = small(kind, {"n_estimators": 4, "warm_start": warm}).fit(X, y)
        made: list[int] = []
        model.set_params(n_estimators=7).fit(X, y, on_round=lambda _, made=made: made.append(1))
        assert model.n_estimators_ == 7
        rounds.append(len(made))
    assert rounds == [7, 3]


# Parameters that are taken in the default combination although they change nothing there.
SILENT = {
    **SPEED_ONLY,
    "constant_stumps": "on these data some cut is always better than none",
    "warm_start": "the first fit has nothing to continue",
}
SILENT_OF = {
    **{
        (kind, "n_iter_no_change"): "a warning: scikit-learn's checks set it for every classifier"
        for kind in KINDS
        if kind is not RandomBoostClassifier
    },
    **{
        (kind, "scale"): "stumps do not depend on it"
        for kind in KINDS
        if kind is not RBoostRankClassifier
    },
    **{(kind, "random_state"): "nothing is drawn" for kind, name in BASE if name == "random_state"},
}


def is_refused(model):
    """Return whether a parameter has no effect, and the model says so."""
    try:
        check_parameters(model)
    except ValueError as error:
        return "has no effect here" in str(error)
    return False


@pytest.mark.parametrize(("kind", "name"), EACH, ids=name_of)
def test_no_parameter_is_silent_by_default(kind, name):
    """What has no effect in the default combination is refused, with few exceptions."""
    base = BASE[kind, name] if name == "stopping" else {}  # the default tolerances take long
    if (kind, name) == (RandomBoostClassifier, "n_iter_no_change"):
        base = {"n_estimators": 60}  # the loss falls at first
    model, X, y = fitted(kind, n_classes_of(name), tuple(base.items()))
    reason = SILENT.get(name) or SILENT_OF.get((kind, name))
    changed = clone(model).set_params(**{name: other(kind, name)})
    if is_refused(changed):
        assert reason is None
        return
    assert is_same_model(model, changed.fit(X, y), X) == (reason is not None), reason


# -- refused -----------------------------------------------------------------------------------

# settings in which some condition does not hold
WITHOUT = [
    {},
    {"projection": "axis"},
    {"weak_learner": DecisionTreeClassifier(max_depth=2)},
    {"loss": "hinge"},
]


def without_effect():
    """Return every condition of every estimator with settings in which it does not hold."""
    for kind in KINDS:
        for condition in conditions_of(kind):
            for settings in WITHOUT:
                if set(settings) <= set(defaults_of(kind)) and not condition.holds(
                    kind(**settings)
                ):
                    yield kind, condition, settings
                    break
            else:
                assert condition in STOPPING  # "auto" is not False
                yield kind, condition, {"early_stopping": False}


class Untouchable:
    """Data that must not be looked at."""

    def __getattr__(self, name):
        raise AssertionError(f"X.{name} was looked at before the parameters were checked")


REFUSED = [
    pytest.param(kind, name, condition, settings, id=f"{kind.__name__}-{name}")
    for kind, condition, settings in without_effect()
    for name in condition.names
]


@pytest.mark.parametrize(("kind", "name", "condition", "settings"), REFUSED)
def test_what_has_no_effect_is_reported_with_the_remedy(kind, name, condition, settings):
    value, default = other(kind, name), defaults_of(kind)[name]
    model = kind(**settings)
    assert getattr(model, name) == default
    model.set_params(**{name: value})
    message = (
        f"{name}={value!r} has no effect here: {condition.remedy}, or leave {name} at its default "
        f"({default!r})"
    )
    if condition.refused:
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            model.fit(Untouchable(), Untouchable())
    else:
        with pytest.warns(UserWarning, match=f"^{re.escape(message)}$"):
            check_parameters(model)


def test_every_condition_is_tried():
    tried = {(param.values[0], param.values[1]) for param in REFUSED}
    assert tried == {
        (kind, name)
        for kind in KINDS
        for condition in conditions_of(kind)
        for name in condition.names
    }


@each_kind
def test_nothing_is_set_aside_where_validation_data_is_given(kind):
    X, y = data_of(kind)
    model = small(kind, {**EARLY, "validation_fraction": 0.4})
    message = "validation_fraction=0.4 has no effect here: it is for fits without X_val"
    with pytest.raises(ValueError, match=message):
        model.fit(X, y, X_val=X, y_val=y)
