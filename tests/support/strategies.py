"""Random parameters and random small data, for the tests of properties.

The values of a parameter are derived from what the estimator declares that it takes
(`_parameter_constraints`), so a new parameter is tested from its first day. Only what cannot be
derived is written here by name: objects, dictionaries, and sizes that are to stay small.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from hypothesis import strategies as st
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier
from sklearn.utils._param_validation import Interval, StrOptions, make_constraint

from randomboost import (
    AdaBoostClassifier,
    AdaBoostECCClassifier,
    AdaBoostMHClassifier,
    AdaBoostMOClassifier,
    MultiBoostClassifier,
    RandomBoostClassifier,
    RBoostProjClassifier,
    RBoostRankClassifier,
)
from randomboost.estimators.parameters import conditions_of
from randomboost.losses import LogisticLoss

ESTIMATORS = [
    RandomBoostClassifier,
    RBoostRankClassifier,
    RBoostProjClassifier,
    AdaBoostClassifier,
    AdaBoostECCClassifier,
    AdaBoostMHClassifier,
    AdaBoostMOClassifier,
    MultiBoostClassifier,
]


class SmoothHinge:
    """A loss of a user's own, with the two methods that are needed."""

    def value(self, margins):
        return np.where(margins < 0, 0.5 - margins, 0.5 * np.maximum(1 - margins, 0) ** 2)

    def derivative(self, margins):
        return -np.clip(1 - margins, 0, 1)


class Signs:
    """Projections of a user's own."""

    def matrices(self, n_classes, n_projections, n_features, seed):
        shape = n_classes, n_projections, n_features
        return np.random.default_rng(seed).choice([-1.0, 1.0], shape)


# -- parameters --------------------------------------------------------------------------------

MOST = {  # the largest value to be tried where more would only take time
    "n_estimators": 6,
    "n_projections": 40,
    "iterations_per_round": 30,
    "code_size": 12,
}

OBJECTS = {  # what stands behind a dictionary, an object or an array that a parameter takes
    "weak_learner": [
        DecisionTreeClassifier(max_depth=2),
        DecisionTreeRegressor(max_depth=1),
        ExtraTreeClassifier(max_leaf_nodes=4),
        DummyClassifier(),
        Ridge(),
    ],
    "loss": [LogisticLoss(), SmoothHinge()],
    "projection": [Signs(), ("sparse", 0.5), ("sparse", np.float32(1.0))],
    "categorical_features": [[0], (0,)],
    "solver_options": [{}, {"maxiter": 3, "ftol": 0.0}, {"maxls": 5, "maxcor": 1, "gtol": 1e-3}],
    "random_state": [np.random.RandomState(3)],
    "verbose": [0, 1],
    "n_jobs": [1, 2, 3, -1, -2, np.int64(1)],
}

BY_CLASSES = {  # depends on the labels, and is drawn with the data
    "class_weight": lambda labels, draw: {
        label: draw(st.sampled_from([0.5, 1, 3.0])) for label in labels
    },
    "partition": lambda labels, draw: (
        np.where(
            np.arange(len(labels))[:, None] <= draw(st.integers(0, len(labels) - 2)), [[1, -1]], 1
        )
        * np.where(np.arange(len(labels))[:, None] > len(labels) - 2, [[-1, 1]], 1)
    ),
}


def parameters_of(kind: type) -> list[str]:
    """Return the names of an estimator's parameters."""
    return [name for name in inspect.signature(kind).parameters]


def _whole_numbers(name, interval):
    low = int(interval.left)
    high = MOST.get(name, low + 15)
    if interval.right is not None:
        high = min(high, int(interval.right) - (interval.closed in ("left", "neither")))
    numbers = st.integers(low, high)
    if name not in MOST:
        largest = 10**12 if interval.right is None else int(interval.right)
        numbers |= st.just(largest - (interval.closed in ("left", "neither")))
    return numbers | numbers.map(lambda number: np.int64(number))


def _reals(interval):
    low, high = interval.left, 1e3 if interval.right is None else interval.right
    ends = {"exclude_min": interval.closed in ("right", "neither")}
    ends["exclude_max"] = interval.right is not None and interval.closed in ("left", "neither")
    numbers = st.floats(low, high, width=32, **ends)
    return numbers | numbers.map(np.float32) | st.floats(low, min(high, 0.5), **ends)


def values_of(kind: type, name: str) -> st.SearchStrategy | None:
    """Return valid values of a parameter, or None where nobody has said what they are."""
    found = [] if name in MOST else [st.just(inspect.signature(kind).parameters[name].default)]
    for constraint in kind._parameter_constraints[name]:
        if isinstance(constraint, StrOptions):
            found.append(st.sampled_from(sorted(constraint.options)))
        elif isinstance(constraint, Interval) and constraint.type is Integral:
            found.append(_whole_numbers(name, constraint))
        elif isinstance(constraint, Interval) and constraint.type is Real:
            found.append(_reals(constraint))
        elif constraint is None:
            found.append(st.none())
        elif constraint == "boolean":
            found.append(st.sampled_from([False, True, np.True_]))
        elif constraint == "random_state":
            found.append(st.integers(0, 2**32 - 1))
            found.append(st.sampled_from(OBJECTS[name]))
        elif name in OBJECTS:
            allows = make_constraint(constraint).is_satisfied_by
            found.append(st.sampled_from([value for value in OBJECTS[name] if allows(value)]))
        elif name not in BY_CLASSES:
            return None
    return st.one_of(found)


NONSENSE = [
    -1, 0, 3, 10**30, -0.5, 0.5, 2.5, np.nan, np.inf, -np.inf, True, None, "", "nonsense",
    b"stump", [], {}, (1, 2), object(), print, np.array([1.0, 2.0]), 1j,
]  # fmt: skip


def wrong_values_of(kind: type, name: str) -> list[Any]:
    """Return values that the declared constraints of a parameter leave out."""
    constraints = [make_constraint(c) for c in kind._parameter_constraints[name]]
    return [value for value in NONSENSE if not any(c.is_satisfied_by(value) for c in constraints)]


def is_moderate(kind: type, parameters: dict[str, Any]) -> bool:
    """Return whether scikit-learn sees X: Ridge squares it, trees make single precision of it."""
    weak_learner = parameters.get("weak_learner", "stump")
    if isinstance(weak_learner, Ridge):
        return True
    ours = isinstance(weak_learner, str) and weak_learner != "tree"
    return not (ours or parameters.get("scale", True))


def drop_without_effect(kind: type, parameters: dict[str, Any]) -> None:
    """Drop parameters that have no effect; that they are refused is tested elsewhere."""
    for condition in conditions_of(kind):
        if not condition.holds(kind(**parameters)):
            for name in condition.names:
                parameters.pop(name, None)


# -- data --------------------------------------------------------------------------------------


@dataclass
class Case:
    """An estimator and data to fit it to."""

    estimator: Any
    X: Any
    y: Any
    sample_weight: Any = None
    validation: dict[str, Any] = field(default_factory=dict)


MODERATE = ["normal", "few", "constant", "copy", "zeros"]
EXTREME = ["huge", "tiny", "spread"]
LABELS = ["text", "objects", "whole", "negative", "float", "small", "bool"]


def _column(kind, rng, n_rows, before, dtype):
    values = rng.standard_normal(n_rows)
    largest = 1e300 if dtype == np.float64 else 1e37
    return {
        "normal": values,
        "few": np.round(values),
        "constant": np.full(n_rows, values[0]),
        "copy": before if before is not None else values,
        "huge": values * largest,
        "tiny": values / largest,
        "spread": values * 10.0 ** rng.integers(-30, 30, n_rows),
        "zeros": np.where(rng.random(n_rows) < 0.7, -0.0, values),
        "missing": np.where(rng.random(n_rows) < 0.4, np.nan, values),
    }[kind]


def _matrix(draw, rng, n_rows, columns):
    dtype = draw(st.sampled_from([np.float64, np.float32]))
    kinds = draw(st.lists(st.sampled_from(columns), min_size=1, max_size=6))
    made: list[np.ndarray] = []
    for kind in kinds:
        made.append(_column(kind, rng, n_rows, made[-1] if made else None, dtype))
    return np.column_stack(made).astype(dtype)


def _labels(draw, rng, X, n_classes):
    """Return labels of exactly so many classes, learnable or not."""
    if draw(st.booleans()):
        codes = rng.integers(n_classes, size=len(X))
    else:
        order = np.argsort(np.nan_to_num(X[:, 0]), kind="stable")
        codes = np.empty(len(X), dtype=int)
        codes[order] = np.arange(len(X)) * n_classes // len(X)
    codes[rng.permutation(len(X))[:n_classes]] = np.arange(n_classes)
    kind = draw(st.sampled_from(LABELS[: None if n_classes == 2 else -1]))
    names = {
        "text": np.array([f"class {c}" for c in range(n_classes)]),
        "objects": np.array([c * "x" for c in range(n_classes)], dtype=object),
        "whole": np.arange(n_classes) * 1000,
        "negative": -np.arange(n_classes),
        "float": np.arange(n_classes) - 1.0,
        "small": np.arange(n_classes, dtype=np.uint8),
        "bool": np.array([False, True]),
    }[kind]
    return names[codes]


def _weights(draw, rng, y):
    kind = draw(st.sampled_from(["none", "zeros", "whole", "huge", "tiny", "list"]))
    if kind == "none":
        return None
    weights = rng.random(len(y)) + 0.1
    if kind == "zeros":
        _, first = np.unique(y, return_index=True)
        zeros = np.setdiff1d(np.flatnonzero(rng.random(len(y)) < 0.3), first)
        weights[zeros] = 0.0
    return {
        "zeros": weights,
        "whole": rng.integers(1, 4, len(y)),
        "huge": weights * 1e100,
        "tiny": weights * 1e-100,
        "list": weights.tolist(),
    }[kind]


def _table(draw, rng, X):
    table = pd.DataFrame(X, columns=[f"feature {j}" for j in range(X.shape[1])])
    kinds = rng.choice(["red", "green", "blue", None], len(X))
    table["colour"] = pd.Categorical(kinds) if draw(st.booleans()) else kinds
    return table


@st.composite
def cases(draw: Any, kind: type) -> Case:
    """Draw a valid estimator and data for it."""
    names = parameters_of(kind)
    chosen = draw(st.just(set(names)) | st.sets(st.sampled_from(names), max_size=10))
    parameters = {name: draw(values_of(kind, name)) for name in sorted(chosen)}
    for name in sorted(MOST.keys() & set(names)):
        parameters.setdefault(name, MOST[name])
    parameters.setdefault("random_state", 0)
    drop_without_effect(kind, parameters)
    trees = kind is RandomBoostClassifier

    n_classes = 2 if kind is AdaBoostClassifier else draw(st.integers(2, 6))
    n_rows = draw(st.integers(max(4, n_classes), 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    columns = MODERATE if is_moderate(kind, parameters) else MODERATE + EXTREME
    X = _matrix(draw, rng, n_rows, [*columns, "missing"] if trees else columns)
    y = _labels(draw, rng, X, n_classes)
    sample_weight = _weights(draw, rng, y)
    for name, make in BY_CLASSES.items():
        if name in parameters and draw(st.booleans()):
            parameters[name] = make(np.unique(y), draw)

    form = draw(st.sampled_from(["plain", "plain", "csr", "table", "fortran"]))
    if form == "csr" and kind._accept_sparse and not np.isnan(X).any():
        X = sp.csr_array(X)
        for name in ("categorical_features", "n_landmarks"):  # for dense data
            parameters.pop(name, None)
    elif form == "table" and trees:
        X = _table(draw, rng, X)
    elif form == "fortran":
        X = np.asfortranarray(X)
    validation = {}
    if draw(st.booleans()):
        rows = rng.permutation(n_rows)[: n_rows // 3]
        part = X.iloc[rows] if isinstance(X, pd.DataFrame) else X[rows]
        validation = {"X_val": part, "y_val": y[rows]}
        if draw(st.booleans()):
            validation["sample_weight_val"] = rng.integers(1, 4, len(rows))
        parameters.pop("validation_fraction", None)  # nothing is set aside
    return Case(kind(**parameters), X, y, sample_weight, validation)
