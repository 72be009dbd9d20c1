"""Models stay the same bit for bit: digests of small fits, made before the code was redesigned.

``make update-outputs``, or ``python tests/estimators/test_same_models.py`` for this table alone,
writes it again after a change that is meant to give other models. Elementary functions, kernels
that sum in an order of the compiler's and BLAS round differently on other processors and in other
versions; there the table says nothing, and the tests are skipped.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine
from sklearn.tree import DecisionTreeClassifier

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
from randomboost.runtime.compiling import kernel
from randomboost.weak_learners import small_tree

TABLE = Path(__file__).parent / "model_digests.json"
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")

# -- data --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Task:
    """What to fit, with what beside X and y, and what to predict."""

    X: Any
    y: Any
    new: Any
    given: dict[str, Any] = field(default_factory=dict)


def as_table(X):
    """Return some features of the wines as a table with categories and gaps."""
    table = pd.DataFrame(X[:, :4].copy(), columns=["alcohol", "acid", "ash", "alkaline"])
    table["shade"] = np.where(X[:, 9] > 5, "dark", np.where(X[:, 9] > 3, "middle", "pale"))
    table.loc[::7, "ash"] = np.nan
    table.loc[::11, "shade"] = None
    return table


@cache
def tasks() -> dict[str, Task]:
    """Return the tasks by name."""
    X, y = load_wine(return_X_y=True)
    names = np.array(["barolo", "grignolino", "barbera"])[y]
    weight = np.random.default_rng(1).integers(0, 4, len(y)).astype(float)
    two = y < 2
    single, table = X.astype(np.float32), as_table(X)
    digits, digit = (part[:600] for part in load_digits(return_X_y=True))
    csr = sp.csr_matrix(digits)
    halves = {"X_val": X[1::2], "y_val": y[1::2]}
    return {
        "wine": Task(X, names, X),
        "wine, weighted": Task(X, names, X, {"sample_weight": weight}),
        "wine, numbers": Task(X, y, X),
        "wine, float32": Task(single, y, single),
        "wine, table": Task(table, y, table),
        "wine, halves": Task(X[::2], y[::2], X, halves),
        "two wines": Task(X[two], names[two], X),
        "two wines, weighted": Task(X[two], names[two], X, {"sample_weight": weight[two]}),
        "two wines, numbers": Task(X[two], y[two], X),
        "two wines alone": Task(X[two], y[two], X[two]),
        "digits": Task(digits, digit, digits),
        "digits, csr": Task(csr, digit, csr),
    }


# -- cases -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """An estimator and the name of a task; with `warm` fitted in two halves."""

    estimator: Any
    task: str = "wine"
    warm: bool = False

    def fit(self) -> Any:
        """Return the fitted estimator."""
        task, model = tasks()[self.task], clone(self.estimator)
        if self.warm:
            model.set_params(n_estimators=3, warm_start=True).fit(task.X, task.y)
            model.set_params(n_estimators=6)
        return model.fit(task.X, task.y, **task.given)


class Halves:
    """Projections of a user's own."""

    def matrices(self, n_classes, n_projections, n_features, seed):
        shape = n_classes, n_projections, n_features
        return np.random.default_rng(seed).choice([-0.5, 0.5], shape)


def tree_cases():
    def trees(n_estimators=6, random_state=3, **settings):
        return RandomBoostClassifier(n_estimators, random_state=random_state, **settings)

    settings = {
        "trees": {},
        "trees-gaussian": {"projection": "gaussian", "n_projections": 30},
        "trees-lda": {"projection": "lda", "n_projections": 20},
        "trees-axis": {"projection": "axis"},
        "trees-sparse": {"projection": "sparse", "n_projections": 30},
        "trees-density": {"projection": ("sparse", 0.4), "n_projections": 30},
        "trees-sketches": {"n_sketches": 1},
        "trees-leaf-classes": {"leaf_classes": 1},
        "trees-subsample": {"subsample": 1.0},
        "trees-leaves": {
            "max_leaf_nodes": 5,
            "min_samples_leaf": 4,
            "l2_regularization": 2.0,
            "learning_rate": 0.3,
        },
        "trees-depth": {"max_depth": 2},
        "trees-max-features": {"max_features": 0.1},
        "trees-bins": {"max_bins": 16},
        "trees-no-landmarks": {"n_landmarks": 0},
        "trees-few-landmarks": {"n_landmarks": 10},
        "trees-balanced": {"class_weight": "balanced"},
    }
    early = trees(40, early_stopping=True, n_iter_no_change=5)
    return {name: Case(trees(**setting)) for name, setting in settings.items()} | {
        "trees-weights": Case(trees(), "wine, weighted"),
        "trees-float32": Case(trees(), "wine, float32"),
        "trees-csr": Case(trees(), "digits, csr"),
        "trees-digits": Case(trees(12, random_state=0), "digits"),
        "trees-table": Case(trees(), "wine, table"),
        "trees-early": Case(early, "digits"),
        "trees-X_val": Case(trees(), "wine, halves"),
        "trees-warm": Case(trees(), "digits", warm=True),
        "trees-two-classes": Case(trees(), "two wines, numbers"),
    }


def rank_cases():
    def rank(n_estimators=6, n_projections=50, **settings):
        return RBoostRankClassifier(
            n_estimators, n_projections=n_projections, random_state=3, **settings
        )

    total = {"correction": "total"}
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    settings = {
        "rank-stump": {},
        "rank-total": total,
        "rank-total-logistic": {**total, "loss": "logistic", "nu": 1e-3},
        "rank-total-full": {**total, "iterations_per_round": None},
        "rank-logistic": {"loss": "logistic"},
        "rank-real": {"weak_learner": "real_stump", "scale": False},
        "rank-wlda": {"weak_learner": "wlda", "n_projections": 20},
        "rank-coded": {"projection": "mixed", "n_projections": 30},
        "rank-lda": {"projection": "lda", "n_projections": 30},
        "rank-axis": {"projection": "axis", "n_projections": 30},
        "rank-given": {"projection": Halves(), "n_projections": 20},
        "rank-part": {"projections_per_round": 10},
        "rank-estimator": {"weak_learner": tree, "n_projections": 20},
    }
    early = rank(20, early_stopping=True, n_iter_no_change=3)
    return {name: Case(rank(**setting)) for name, setting in settings.items()} | {
        "rank-default-size": Case(rank(8, n_projections=2000), "digits"),
        "rank-weights": Case(rank(), "wine, weighted"),
        "rank-csr": Case(rank(), "digits, csr"),
        "rank-early": Case(early, "digits"),
        "rank-warm": Case(rank(), "digits", warm=True),
        "rank-total-warm": Case(rank(**total), "digits", warm=True),
    }


def feature_cases():
    """Return the methods whose weak learners look at the features."""
    size = {"n_estimators": 6, "random_state": 3}
    found = {}
    for short, kind in {
        "proj": RBoostProjClassifier,
        "ada": AdaBoostClassifier,
        "ecc": AdaBoostECCClassifier,
        "mh": AdaBoostMHClassifier,
        "mo": AdaBoostMOClassifier,
        "multi": MultiBoostClassifier,
    }.items():
        data = "two wines" if short == "ada" else "wine"
        model = kind(**size)
        tree = "tree"
        if short == "proj":
            model.set_params(n_projections=40, selection="violation")
            tree = small_tree()
        for learner in ("stump", "real_stump", "wlda"):
            found[f"{short}-{learner}"] = Case(clone(model).set_params(weak_learner=learner), data)
        found[f"{short}-tree"] = Case(clone(model).set_params(weak_learner=tree), data)
        bins = clone(model).set_params(max_bins=8)
        found[f"{short}-histogram"] = Case(bins, f"{data}, weighted")
        alone = "two wines alone" if short == "ada" else "wine, numbers"
        found[f"{short}-warm"] = Case(model, alone, warm=True)
        if short not in ("proj", "multi"):
            gini = clone(model).set_params(weak_learner="gini_stump")
            found[f"{short}-gini"] = Case(gini, f"{data}, numbers")
    proj = RBoostProjClassifier(**size, n_projections=40)
    full = clone(proj).set_params(selection="violation", iterations_per_round=None)
    return found | {
        "proj-code": Case(proj),
        "proj-full": Case(full),
        "mh-shared": Case(AdaBoostMHClassifier(**size, votes="shared")),
        "mo-random": Case(AdaBoostMOClassifier(**size, code="random", code_size=7)),
        "mo-hamming": Case(AdaBoostMOClassifier(**size, decoding="hamming")),
        "ecc-max-cut": Case(AdaBoostECCClassifier(**size, partition="max-cut")),
        "multi-hinge": Case(MultiBoostClassifier(**size, loss="hinge")),
    }


CASES = tree_cases() | rank_cases() | feature_cases()

# Found by OPENBLAS_CORETYPE=Nehalem and =SkylakeX: all others have no matrix product that counts.
WITHOUT_BLAS = {
    *("rank-stump", "rank-logistic", "rank-real", "rank-coded", "rank-axis", "rank-given"),
    *("rank-part", "rank-default-size", "rank-weights", "rank-csr", "rank-early", "rank-warm"),
    *("ada-stump", "ada-real_stump", "ada-tree", "ada-histogram", "ada-warm", "ada-gini"),
    *("ecc-stump", "ecc-real_stump", "ecc-histogram", "ecc-warm", "ecc-gini", "ecc-max-cut"),
    *("mh-stump", "mh-real_stump", "mh-tree", "mh-histogram", "mh-warm", "mh-gini", "mh-shared"),
    *("mo-stump", "mo-real_stump", "mo-tree", "mo-histogram", "mo-warm", "mo-gini"),
    *("mo-random", "mo-hamming"),
}

# -- digests -----------------------------------------------------------------------------------


def digest_of(*arrays):
    """Return a digest of types, shapes and values; strings may stand between the arrays."""
    made = hashlib.sha256()
    for array in arrays:
        if isinstance(array, str):
            made.update(array.encode())
            continue
        array = np.ascontiguousarray(array)
        made.update(str((array.dtype.str, array.shape)).encode())
        made.update(array.tobytes())
    return made.hexdigest()[:32]


def digest_of_model(model, X):
    """Return the digest of weights, predictions, importances, history and stages."""
    history = model.train_history_
    return digest_of(
        model.weights_,
        model.decision_function(X),
        model.predict_proba(X),
        model.feature_importances_,
        *(part for name in sorted(history) for part in (name, history[name])),
        *model.staged_decision_function(X),
    )


def digest_of_case(case):
    """Return the digest of the model of a case."""
    task = tasks()[case.task]
    return digest_of_model(case.fit(), task.X if case.warm else task.new)


@kernel(fastmath={"reassoc"})
def _dot(values, factors):
    """Return a sum of products, in an order of the compiler's."""
    total = 0 * values[0]
    for i in range(len(values)):
        total += values[i] * factors[i]
    return total


@cache
def machine() -> dict[str, Any]:
    """Return what decides how results are rounded."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(97, 131)), rng.normal(size=(131, 53))
    single = a.astype(np.float32)
    functions = [
        function(values)
        for values in (np.abs(a), np.abs(single))
        for function in (np.exp, np.log, np.log1p, np.tanh, np.sum, np.var)
    ]
    libm = [[math.exp(v), math.log(abs(v)), math.log1p(abs(v))] for v in a.ravel().tolist()]
    kernels = [_dot(row, row[::-1].copy()) for values in (a, single) for row in values]
    return {
        "versions": {name: version(name) for name in PACKAGES},
        "functions": digest_of(*functions, np.array(libm)),
        "kernels": digest_of(np.array(kernels)),
        "blas": digest_of(a @ b, single @ b.astype(np.float32)),
    }


def reason_to_skip(table, name):
    """Return why a digest need not be equal on this machine, or None."""
    here = machine()
    for package, made_with in table["versions"].items():
        if here["versions"][package] != made_with:
            return f"the digests were made with {package} {made_with}"
    if here["functions"] != table["functions"]:
        return "the digests were made where elementary functions round differently"
    if here["kernels"] != table["kernels"]:
        return "the digests were made where compiled kernels round differently"
    if name not in WITHOUT_BLAS and here["blas"] != table["blas"]:
        return "the digests were made where BLAS rounds differently"
    return None


@pytest.fixture(scope="module")
def table():
    return json.loads(TABLE.read_text())


@pytest.mark.parametrize("name", CASES)
def test_the_model_is_the_same(table, name):
    reason = reason_to_skip(table, name)
    if reason is not None:
        pytest.skip(reason)
    assert digest_of_case(CASES[name]) == table["digests"][name]


def test_the_table_has_all_cases(table):
    assert set(table["digests"]) == set(CASES)
    assert set(CASES) >= WITHOUT_BLAS
    assert len(set(table["digests"].values())) > 0.9 * len(CASES)


def test_the_digest_sees_a_small_change():
    """A digest that does not depend on the model would always be the same."""
    case = Case(RandomBoostClassifier(2, random_state=0, n_projections=20))
    model, X = case.fit(), tasks()["wine"].X
    before = digest_of_model(model, X)
    assert digest_of_model(case.fit(), X) == before
    units = model.model_.ensemble.trees.units
    units[0] *= np.float32(1 + 2.0**-16)
    assert digest_of_model(model, X) != before


def write_table():
    """Write the digests of this machine, and print the cases whose digest changes."""
    before = json.loads(TABLE.read_text())["digests"]
    digests = {name: digest_of_case(case) for name, case in CASES.items()}
    for name in sorted(before.keys() | digests.keys()):
        if before.get(name) != digests.get(name):
            print(f"digest of {name}: {before.get(name)} -> {digests.get(name)}")
    TABLE.write_text(json.dumps({**machine(), "digests": digests}, indent=1) + "\n")


if __name__ == "__main__":
    write_table()
