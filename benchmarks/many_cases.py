"""The fits of the page on many classes: data, models, settings, and what each costs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import peers
from measure import measure_fit, measure_use, warm_up
from peers import BASE
from sets import Split, blobs, generated, large, many_rows
from sklearn.base import clone

from randomboost.compare.measuring import file_bytes

OURS, FOREST, XGBOOST, VECTOR = "RandomBoost", "RandomForest", "XGBoost", "XGBoost, vector leaves"
MODELS = {
    OURS: peers.random_boost,
    XGBOOST: peers.xgboost,
    VECTOR: peers.xgboost_vector_leaves,
    BASE: peers.lightgbm,
    FOREST: peers.random_forest,
    "ExtraTrees": peers.extra_trees,
}
SET_NAMES = ("geo-timezone", "glyphs")
# Seconds of a fit on two cores, roughly, in the order of the models
SET_COSTS = ((10, 35, 190, 60, 10, 8), (60, 900, 1200, 900, 60, 60))
ROW_COSTS = {100_000: (15, 12, 9), 500_000: (60, 45, 45)}
CLASS_COSTS: dict[int, tuple[float, ...]] = {
    10: (8, 5, 10, 4, 40),
    100: (10, 45, 60, 35, 60),
    1000: (15, 300, 300, 300, 60),
    10_000: (30, 300, 300, 300, 300),
}
CLASS_ROWS = 100_000
CLASS_ROUNDS = 30
SAME_TREES: dict[str, Any] = {  # what RandomBoost would choose by the number of classes
    "early_stopping": False,
    "max_leaf_nodes": 1024,
    "min_samples_leaf": 5,
    "l2_regularization": 0.3,
    "n_sketches": 14,
}
SHORT = 300.0  # seconds that other models have for the fits over the number of classes
PARTS = (*SET_NAMES, "rows", "classes", "generated-1000")
_PROBABILITIES = 20_000_000  # that are computed at a time


@dataclass(frozen=True)
class Case:
    """A data set and the models that are fitted on it.

    Parameters
    ----------
    part : str
        The part of the page, one of `PARTS`.
    data : callable
        Takes the number of the split and returns the data.
    costs : dict of str to float
        Seconds of a fit on two cores, roughly, by model.
    n_splits : int
        Number of splits that exist.
    rounds : int or None
        Rounds of all models but forests; None for their defaults.
    settings : dict
        Parameters of RandomBoost that differ from the default.
    seconds : float or None
        A shorter limit for the other models.
    """

    part: str
    data: Callable[[int], Split]
    costs: dict[str, float]
    n_splits: int = 1
    rounds: int | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    seconds: float | None = None

    def model(self, name: str, data: Split, split: int) -> Any:
        """Return the model to be fitted."""
        rounds = None if name in (FOREST, "ExtraTrees") else self.rounds
        model = MODELS[name](rounds, data).set_params(random_state=split)
        return model.set_params(**self.settings) if name == OURS else model

    def limit(self, name: str, seconds: float) -> float:
        """Return the seconds that a stage of a model may take."""
        return seconds if name == OURS or self.seconds is None else min(self.seconds, seconds)


def _class_case(n_classes: int, n_rows: int, rounds: int, costs: dict[str, float]) -> Case:
    """Return the fits of the same trees at one number of classes."""
    data = partial(_without_run, partial(blobs, n_classes, n_rows, n_rows // 10))
    return Case("classes", data, costs, rounds=rounds, settings=SAME_TREES, seconds=SHORT)


def _row_case(n_rows: int, n_test: int, costs: dict[str, float]) -> Case:
    data = partial(_without_run, partial(many_rows, n_rows, n_test))
    return Case("rows", data, costs)


def _without_run(make: Callable[[], Split], run: int) -> Split:
    """Return data that have one split only."""
    return make()


def _full_cases() -> dict[str, Case]:
    """Return the fits of the page."""
    found = {
        name: Case(name, partial(large, name), dict(zip(MODELS, costs, strict=True)), n_splits=3)
        for name, costs in zip(SET_NAMES, SET_COSTS, strict=True)
    }
    for count, costs in ROW_COSTS.items():
        by_model = dict(zip((OURS, XGBOOST, BASE), costs, strict=True))
        found[f"rows/{count}"] = _row_case(count, 50_000, by_model)
    for count, costs in CLASS_COSTS.items():
        by_model = dict(zip((OURS, XGBOOST, VECTOR, BASE, FOREST), costs, strict=True))
        found[f"classes/{count}"] = _class_case(count, CLASS_ROWS, CLASS_ROUNDS, by_model)
    found["generated-1000"] = Case(
        "generated-1000", partial(generated, 1000), {OURS: 30}, n_splits=3
    )
    return found


def _quick_cases() -> dict[str, Case]:
    """Return tiny fits: every model on one set, ours on the others."""
    every = dict.fromkeys(MODELS, 0.5)
    ours = {OURS: 0.5}
    found = {
        name: Case(name, partial(large, name, most_classes=12), costs, rounds=3)
        for name, costs in zip(SET_NAMES, (every, ours), strict=True)
    }
    found["rows/500"] = _row_case(500, 200, ours)
    for count in (10, 100):
        found[f"classes/{count}"] = _class_case(count, 1000, 6, ours)
    data = partial(generated, 100, n_train=1000, n_test=200)
    found["generated-1000"] = Case("generated-1000", data, ours, rounds=3)
    return found


def cases(quick: bool) -> dict[str, Case]:
    """Return all fits by the name of their data: as on the page, or tiny ones."""
    return _quick_cases() if quick else _full_cases()


def class_count(name: str) -> int:
    """Return the number of classes of one of the fits over it."""
    return int(name.rpartition("/")[2])


def log_loss(model: Any, data: Split) -> float:
    """Return the mean log loss of the test part, computed on some rows at a time."""
    together = max(1, _PROBABILITIES // data.n_classes)
    losses = []
    for first in range(0, len(data.y_test), together):
        X, y = data.X_test[first : first + together], data.y_test[first : first + together]
        found = model.predict_proba(X).astype(np.float64)
        own = found[np.arange(len(y)), y] / found.sum(axis=1)
        losses.append(-np.log(np.maximum(own, np.finfo(np.float64).eps)))
    return float(np.concatenate(losses).mean())


def stored_bytes(model: Any, pickled: int) -> int:
    """Return the size of the smallest form in which a library stores a model."""
    if hasattr(model, "get_booster"):  # XGBoost
        return min(pickled, len(model.get_booster().save_raw("ubj")))
    return file_bytes(model) if hasattr(model, "model_") else pickled


def round_seconds(model: Any, data: Split, fit_s: float) -> float:
    """Return the time of a round, from a second fit of a third of the rounds."""
    rounds = model.n_estimators // 3
    shorter = clone(model).set_params(n_estimators=rounds)
    return (fit_s - measure_fit(shorter, data)["fit_s"]) / (model.n_estimators - rounds)


def measure_case(
    name: str, model_name: str, split: int, quick: bool, stage: Callable[[str], None]
) -> dict[str, Any]:
    """Make one measurement; `stage` is told what begins."""
    case = cases(quick)[name]
    stage("load")
    data = case.data(split)
    model = case.model(model_name, data, split)
    stage("warm-up")
    warm_up(model, data)
    stage("fit")
    record = measure_fit(model, data)
    stage("predict")
    record |= measure_use(model, data)
    record["bytes"] = stored_bytes(model, record["bytes"])
    stage("predict_proba")
    record["log_loss"] = log_loss(model, data)
    if case.part == "classes" and model_name == OURS:
        stage("second fit")
        record["round_s"] = round_seconds(model, data, record["fit_s"])
    shape = {"rows": len(data.y), "features": data.X.shape[1], "classes": data.n_classes}
    return record | {"shape": shape}
