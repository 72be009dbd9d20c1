"""A warm start ignores no change of a parameter: it has an effect, or the fit is refused."""

from __future__ import annotations

import copy
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from test_parameters import (
    EACH,
    EARLY,
    SPEED_ONLY,
    base_of,
    data_of,
    each_kind,
    is_same_model,
    n_classes_of,
    name_of,
    other,
    small,
)

from randomboost import RandomBoostClassifier
from randomboost.estimators.parameters import defaults_of

# What the first rounds decide for all others, so that another value is refused.
KEPT = {
    "n_landmarks",
    "n_projections",
    "projection",
    "correction",
    "selection",
    "votes",
    "code",
    "code_size",
    "decoding",
    "categorical_features",
    "scale",
    "random_state",
}
# Defaults that stand for what the fitted model has.
CHOOSES_ITSELF = {(RandomBoostClassifier, "n_landmarks")}


def start(kind, n_classes, settings):
    """Return a model with half of its rounds, and one that continued it to the last."""
    X, y = data_of(kind, n_classes)
    whole = small(kind, {**settings, "warm_start": True})
    half = copy.copy(whole).set_params(n_estimators=whole.n_estimators // 2).fit(X, y)
    return half, continued(half, X, y, n_estimators=whole.n_estimators)


@cache
def start_once(kind, n_classes, settings):
    """Return what `start` does, for settings as pairs; do not change it."""
    return start(kind, n_classes, dict(settings))


def continued(model, X, y, **parameters):
    return copy.copy(model).set_params(**parameters).fit(X, y)


def is_same_fit(one, two, X):
    """Return whether models and histories are the same."""
    first, second = one.train_history_, two.train_history_
    same = first.keys() == second.keys()
    same = same and all(np.array_equal(first[key], second[key]) for key in first)
    return same and is_same_model(one, two, X)


@pytest.mark.parametrize(
    ("kind", "name"), [each for each in EACH if each[1] != "warm_start"], ids=name_of
)
def test_a_warm_start_ignores_no_change(kind, name):
    n_classes = n_classes_of(name)
    half, same = start_once(kind, n_classes, tuple(base_of(kind, name).items()))
    X, y = data_of(kind, n_classes)
    changes = {"n_estimators": same.n_estimators, name: other(kind, name)}
    if name in KEPT:
        with pytest.raises(ValueError, match=rf"\b{name}\b.*warm_start=False"):
            continued(half, X, y, **changes)
    else:
        ignored = is_same_fit(same, continued(half, X, y, **changes), X)
        assert ignored == (name in SPEED_ONLY), SPEED_ONLY.get(name, "no effect")


@pytest.mark.parametrize(("kind", "name"), [each for each in EACH if each[1] in KEPT], ids=name_of)
def test_a_warm_start_ignores_no_change_back_to_the_default(kind, name):
    n_classes = n_classes_of(name)
    half, same = start(kind, n_classes, {**base_of(kind, name), name: other(kind, name)})
    X, y = data_of(kind, n_classes)
    default = 0 if name == "random_state" else defaults_of(kind)[name]
    changes = {"n_estimators": same.n_estimators, name: default}
    if (kind, name) in CHOOSES_ITSELF:
        assert is_same_fit(same, continued(half, X, y, **changes), X)
    else:
        with pytest.raises(ValueError, match=rf"\b{name}\b.*warm_start=False"):
            continued(half, X, y, **changes)


@each_kind
@pytest.mark.parametrize("random_state", [None, np.random.RandomState(1)], ids=["None", "state"])
def test_a_warm_start_keeps_seed_and_held_out_samples(kind, random_state):
    half, same = start_once(kind, 4, tuple(EARLY.items()))
    X, y = data_of(kind)
    found = continued(half, X, y, n_estimators=same.n_estimators, random_state=random_state)
    assert is_same_fit(same, found, X)


@pytest.mark.parametrize("levels", [0, 4, 40])
def test_losses_of_held_out_samples_go_on_as_in_a_longer_fit(levels):
    X, y = make_classification(600, 8, n_informative=6, n_classes=4, random_state=0)
    X = pd.DataFrame(X).add_prefix("x")
    if levels:
        X["level"] = pd.Categorical(y * levels // 4 + np.arange(600) % max(levels // 4, 1))
    whole = RandomBoostClassifier(9, random_state=0).fit(X, y)
    half = RandomBoostClassifier(4, random_state=0, warm_start=True).fit(X, y)
    assert is_same_fit(whole, half.set_params(n_estimators=9).fit(X, y), X)
