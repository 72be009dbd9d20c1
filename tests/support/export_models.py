"""Fitted models of every kind that the exports must give back."""

from __future__ import annotations

from functools import cache

import numpy as np
from sklearn.datasets import load_wine
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import randomboost

X, y = load_wine(return_X_y=True)
TRAIN = slice(None, None, 2)
_RANK = {"n_projections": 40, "n_estimators": 8}
_STUMPS = {**_RANK, "weak_learner": "stump"}


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
    "rank-trees": ("RBoostRankClassifier", {"n_estimators": 8}),
    "rank-trees-sparse": ("RBoostRankClassifier", {**_RANK, "projection": "sparse"}),
    "rank-trees-dense": ("RBoostRankClassifier", {**_RANK, "projection": "sparse", "density": 0.5}),
    "rank-trees-gaussian": ("RBoostRankClassifier", {**_RANK, "projection": "gaussian"}),
    "rank-trees-given": ("RBoostRankClassifier", {**_RANK, "projection": _Signs()}),
    "rank-trees-unscaled": ("RBoostRankClassifier", {**_RANK, "scale": False}),
    "rank-stumps": ("RBoostRankClassifier", _STUMPS),
    "rank-stumps-total": ("RBoostRankClassifier", {**_STUMPS, "correction": "total"}),
    "rank-stumps-mixed": ("RBoostRankClassifier", {**_STUMPS, "projection": "mixed"}),
    "rank-stumps-given": ("RBoostRankClassifier", {**_STUMPS, "projection": _Signs()}),
    "rank-stumps-loss": ("RBoostRankClassifier", {**_STUMPS, "loss": SteepLoss()}),
    "rank-real-stumps": ("RBoostRankClassifier", {**_STUMPS, "weak_learner": "real_stump"}),
    "rank-wlda": ("RBoostRankClassifier", {**_STUMPS, "weak_learner": "wlda"}),
    "rank-decision-trees": (
        "RBoostRankClassifier",
        {**_RANK, "weak_learner": DecisionTreeClassifier(max_depth=2)},
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
    for _learner in ("stump", "real_stump", "wlda", "tree"):
        _KINDS[f"{_short}-{_learner}"] = (
            _name,
            {"n_estimators": 6, "weak_learner": _learner, **_more},
        )

NAMES = sorted(_KINDS)


def labels(name):
    """Return the labels of wine, two of them for AdaBoost."""
    return y > 0 if name.startswith("adaboost") else y


@cache
def fitted(name, dtype="float64"):
    """Return a model fitted to every second sample of wine."""
    kind, parameters = _KINDS[name]
    model = getattr(randomboost, kind)(random_state=0, **parameters)
    return model.fit(X[TRAIN].astype(dtype), labels(name)[TRAIN])
