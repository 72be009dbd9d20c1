"""One small fitted model of every form that a file can hold; shared by the tests of files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline

import randomboost
from randomboost.preprocessing.categories import TablePreparation
from randomboost.weak_learners import small_tree

X, y = load_wine(return_X_y=True)
NAMES = np.array(["barolo", "grignolino", "barbera"])


class Halves:
    """A projection of the user's own."""

    def matrices(self, n_classes: int, n_projections: int, n_features: int, seed: int) -> Any:
        rng = np.random.default_rng(seed)
        return rng.choice([-0.5, 0.5], (n_classes, n_projections, n_features))


_TREES: dict[str, dict[str, Any]] = {
    "trees": {},
    "trees-axis": {"projection": "axis"},
    "trees-gaussian": {"projection": "gaussian", "n_projections": 30},
    "trees-lda": {"projection": "lda", "n_projections": 20},
    "trees-density": {"projection": ("sparse", 0.4), "n_projections": 30},
    "trees-no-landmarks": {"n_landmarks": 0},
    "trees-few": {"leaf_classes": 1, "n_sketches": 2},
    "trees-several-starts": {"effort": "best", "n_landmarks": 8, "max_leaf_nodes": 4},
    "trees-linear": {},  # fitted to a CSR matrix
}
_RANK: dict[str, dict[str, Any]] = {
    "rank": {"n_projections": 50},
    "rank-total": {"correction": "total", "n_projections": 50},
    "rank-real": {"weak_learner": "real_stump", "scale": False, "n_projections": 50},
    "rank-wlda": {"weak_learner": "wlda", "n_projections": 20},
    "rank-tree": {"weak_learner": small_tree(), "n_projections": 20},
    "rank-coded": {"projection": "mixed", "n_projections": 30},
    "rank-given": {"projection": Halves(), "n_projections": 20},
}
_OTHERS = {
    "proj": "RBoostProjClassifier",
    "ada": "AdaBoostClassifier",
    "ecc": "AdaBoostECCClassifier",
    "mh": "AdaBoostMHClassifier",
    "mo": "AdaBoostMOClassifier",
    "multi": "MultiBoostClassifier",
}
SETTINGS: dict[str, tuple[str, dict[str, Any]]] = {
    name: ("RandomBoostClassifier", setting) for name, setting in _TREES.items()
} | {name: ("RBoostRankClassifier", setting) for name, setting in _RANK.items()}
for _short, _long in _OTHERS.items():
    _few = {"n_projections": 40, "selection": "violation"} if _short == "proj" else {}
    for _weak in ("stump", "real_stump", "wlda", "tree"):
        _learner = small_tree() if (_short, _weak) == ("proj", "tree") else _weak
        SETTINGS[f"{_short}-{_weak}"] = (_long, {"weak_learner": _learner, **_few})
SETTINGS["proj-code"] = ("RBoostProjClassifier", {"selection": "code", "n_projections": 40})
SETTINGS["mh-shared"] = ("AdaBoostMHClassifier", {"votes": "shared"})
SETTINGS["mo-hamming"] = ("AdaBoostMOClassifier", {"decoding": "hamming"})
SETTINGS["mo-random"] = ("AdaBoostMOClassifier", {"code": "random", "code_size": 7})


def make(name: str, n_estimators: int = 6) -> Any:
    """Fit the model of a name."""
    kind, setting = SETTINGS[name]
    model = getattr(randomboost, kind)(n_estimators=n_estimators, random_state=3, **setting)
    used = y < 2 if kind == "AdaBoostClassifier" else y < 3
    data = csr_array(X) if name == "trees-linear" else X
    return model.fit(data[used], NAMES[y[used]])


def table() -> pd.DataFrame:
    """Return the data as a table with categories and gaps."""
    frame = pd.DataFrame(X[:, :4].copy(), columns=["alcohol", "acid", "ash", "alkaline"])
    frame["shade"] = np.where(X[:, 9] > 5, "dark", np.where(X[:, 9] > 3, "middle", "pale"))
    frame.loc[::7, "ash"] = np.nan
    frame.loc[::11, "shade"] = None
    return frame


def make_pipeline_of_table() -> Any:
    """Fit a preparation and a classifier on the table."""
    model = randomboost.AdaBoostECCClassifier(n_estimators=6, random_state=3)
    return make_pipeline(TablePreparation(), model).fit(table(), y)
