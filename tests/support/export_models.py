"""Fitted models of every kind that the exports must give back."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
from scipy.sparse import csr_array
from sklearn.datasets import load_wine
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import randomboost
from randomboost.ensembles.sparse_tree import SparseTree
from randomboost.ensembles.sparse_trees import SparseTrees
from randomboost.runtime.parallel import ThreadTeam
from randomboost.weak_learners import small_tree

X, y = load_wine(return_X_y=True)
TRAIN = slice(None, None, 2)
_FEW = {"n_projections": 40, "n_estimators": 8}
_ALONE = {"n_landmarks": 0}


class _Signs:
    """A projection of the user's own: single features with signs, some of them 0."""

    def matrices(self, n_classes, n_projections, n_features, seed):
        rng = np.random.default_rng(3)
        signs = rng.integers(-1, 2, (n_classes, n_projections, 1))
        return signs * np.eye(n_features)[rng.integers(0, n_features, n_projections)]


class SteepLoss:
    """The exponential loss of 3 rho, which has another factor of the probabilities."""

    proba_scale = 6.0

    def value(self, margins):
        return np.exp(-3.0 * margins)

    def derivative(self, margins):
        return -3.0 * np.exp(-3.0 * margins)


_KINDS = {
    "trees": ("RandomBoostClassifier", {"n_estimators": 8}),
    "trees-axis": ("RandomBoostClassifier", {"n_estimators": 8, "projection": "axis"}),
    "trees-few-features": (
        "RandomBoostClassifier",
        {"n_estimators": 2, "max_leaf_nodes": 4, "projection": "axis"},
    ),
    "trees-sparse": ("RandomBoostClassifier", {**_FEW, "projection": "sparse"}),
    "trees-dense": ("RandomBoostClassifier", {**_FEW, "projection": ("sparse", 0.5)}),
    "trees-gaussian": ("RandomBoostClassifier", {**_FEW, "projection": "gaussian"}),
    "trees-lda": ("RandomBoostClassifier", {**_FEW, "projection": "lda"}),
    "trees-mixed": ("RandomBoostClassifier", {"n_estimators": 30, "projection": "mixed"}),
    "trees-without-landmarks": ("RandomBoostClassifier", {**_FEW, **_ALONE}),
    "trees-without-landmarks-axis": (
        "RandomBoostClassifier",
        {"n_estimators": 8, "projection": "axis", **_ALONE},
    ),
    "trees-without-landmarks-mixed": (
        "RandomBoostClassifier",
        {"n_estimators": 30, "projection": "mixed", **_ALONE},
    ),
    "trees-without-landmarks-two-classes": ("RandomBoostClassifier", {**_FEW, **_ALONE}),
    "trees-several-starts": (
        "RandomBoostClassifier",
        {"n_estimators": 2, "effort": "best", "n_landmarks": 20, "max_leaf_nodes": 4},
    ),
    "trees-few-landmarks": ("RandomBoostClassifier", {**_FEW, "n_landmarks": 5}),
    "trees-linear": ("RandomBoostClassifier", _FEW),
    "trees-two-classes": ("RandomBoostClassifier", _FEW),
    "trees-many-classes": ("RandomBoostClassifier", {**_FEW, "leaf_classes": 5}),
    "rank-stumps": ("RBoostRankClassifier", _FEW),
    "rank-stumps-total": ("RBoostRankClassifier", {**_FEW, "correction": "total"}),
    "rank-stumps-mixed": ("RBoostRankClassifier", {**_FEW, "projection": "mixed"}),
    "rank-stumps-given": ("RBoostRankClassifier", {**_FEW, "projection": _Signs()}),
    "rank-stumps-loss": ("RBoostRankClassifier", {**_FEW, "loss": SteepLoss()}),
    "rank-real-stumps": ("RBoostRankClassifier", {**_FEW, "weak_learner": "real_stump"}),
    "rank-wlda": ("RBoostRankClassifier", {**_FEW, "weak_learner": "wlda"}),
    "rank-decision-trees": (
        "RBoostRankClassifier",
        {**_FEW, "weak_learner": DecisionTreeClassifier(max_depth=2)},
    ),
    "mo-hamming": ("AdaBoostMOClassifier", {"n_estimators": 4, "decoding": "hamming"}),
    "mo-random": ("AdaBoostMOClassifier", {"n_estimators": 4, "code": "random", "code_size": 2}),
    "multiboost-hinge": ("MultiBoostClassifier", {"n_estimators": 5, "loss": "hinge"}),
    "mh-regression-trees": (
        "AdaBoostMHClassifier",
        {"n_estimators": 4, "weak_learner": DecisionTreeRegressor(max_depth=2)},
    ),
}
for _short, _name, _more in (
    ("proj", "RBoostProjClassifier", {"n_projections": 40}),
    ("proj-printed", "RBoostProjClassifier", {"n_projections": 40, "selection": "violation"}),
    ("adaboost", "AdaBoostClassifier", {}),
    ("ecc", "AdaBoostECCClassifier", {}),
    ("mh", "AdaBoostMHClassifier", {}),
    ("mh-shared", "AdaBoostMHClassifier", {"votes": "shared"}),
    ("mo", "AdaBoostMOClassifier", {}),
    ("multiboost", "MultiBoostClassifier", {}),
):
    for _word in ("stump", "real_stump", "wlda", "tree"):
        _own = _word == "tree" and _name == "RBoostProjClassifier"
        _learner = small_tree() if _own else _word
        _KINDS[f"{_short}-{_word}"] = (
            _name,
            {"n_estimators": 6, "weak_learner": _learner, **_more},
        )

NAMES = sorted(_KINDS)
TREES = [name for name in NAMES if name.startswith("trees")]
WITHOUT_LANDMARKS = [name for name in TREES if "without-landmarks" in name]


def labels(name):
    """Return the labels of wine, or two or 40 classes of about the same size."""
    if name == "trees-many-classes":
        return X[:, 12].argsort().argsort() * 40 // len(y)
    return y > 0 if name.startswith("adaboost") or name.endswith("two-classes") else y


@cache
def fitted(name, dtype="float64"):
    """Return a model fitted to every second sample of wine."""
    kind, parameters = _KINDS[name]
    model = getattr(randomboost, kind)(random_state=0, **parameters)
    data = X[TRAIN].astype(dtype)
    return model.fit(csr_array(data) if name.endswith("linear") else data, labels(name)[TRAIN])


def own_scores(model, data):
    """Return the scores of all classes, also where there are two."""
    prepared = model.model_.inputs.scaled(data)
    scores = model.model_.ensemble.scores(prepared, ThreadTeam(1))
    return scores.T.astype(model.model_.inputs.dtype)


def with_trees(change):
    """Return a RandomBoost model without landmarks whose trees were changed."""
    model = randomboost.RandomBoostClassifier(8, n_landmarks=0, random_state=0)
    model.fit(X[TRAIN], y[TRAIN])
    old = model.model_.ensemble
    trees = [change(tree) for tree in old.trees()]
    fresh = SparseTrees.pack(old.directions, trees, old.prior, old.state, old.n_members)
    model.model_ = replace(model.model_, ensemble=fresh)
    return model


def without_class_0(tree):
    """Return a tree whose leaves have no entry of class 0, and the first one none at all."""
    leaves, sizes = tree.leaves, np.diff(tree.leaves.starts)
    owners = np.repeat(np.arange(len(sizes)), sizes)
    kept = (leaves.classes > 0) & (owners > 0)
    ends = np.cumsum(np.bincount(owners[kept], minlength=len(sizes)))
    return tree._replace(
        leaves=leaves._replace(
            starts=np.concatenate([[0], ends]),
            classes=leaves.classes[kept],
            steps=leaves.steps[kept],
        )
    )


def only_a_leaf(tree):
    """Return the first leaf of a tree as a tree without splits."""
    end = tree.leaves.starts[1]
    leaf = tree.leaves._replace(
        starts=tree.leaves.starts[:2],
        classes=tree.leaves.classes[:end],
        steps=tree.leaves.steps[:end],
        covers=tree.leaves.covers[:1],
    )
    none = np.full(1, -1, dtype=np.int32)
    return SparseTree(none, np.zeros(1), none, np.zeros(1, dtype=np.float32), leaf)
