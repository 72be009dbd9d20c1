"""Fits of default models on data that grows: by rows, by features, by classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from beyond_models import BASE, MODELS, OURS
from measure import measure_fit, measure_use, warm_up
from sets import Split
from sklearn.datasets import make_classification

NAMES = (
    OURS,
    BASE,
    "XGBoost",
    "XGBoost, vector leaves",
    "HistGradientBoosting",
    "RandomForest",
    "CatBoost",
    "ChimeraBoost",
)
AXES = {
    "rows": (1000, 10_000, 100_000, 1_000_000),
    "features": (10, 30, 100, 300),
    "classes": (2, 10, 50, 200),
}
QUICK_AXES = {"rows": (500, 1000), "features": (10, 30), "classes": (2, 10)}
TEST_ROWS = 10_000
_CLUSTERS_A_CLASS, _INFORMATIVE, _REDUNDANT = 3, 15, 5
_FITS, _ENOUGH = 3, 10.0  # a model is fitted so often, or until it took so many seconds


class Shape(NamedTuple):
    """Size of the training data.

    Parameters
    ----------
    rows, features, classes : int
        Its numbers of them.
    """

    rows: int = 10_000
    features: int = 30
    classes: int = 10

    @property
    def cost(self) -> float:
        """Seconds of LightGBM's fit on two cores, roughly."""
        return 0.5 + 3e-7 * self.rows * self.features**0.7 * self.classes


def shapes(axis: str, quick: bool) -> list[Shape]:
    """Return the sizes along an axis, all others as usual."""
    usual = Shape(rows=1000) if quick else Shape()
    return [usual._replace(**{axis: size}) for size in (QUICK_AXES if quick else AXES)[axis]]


def key(shape: Shape, model: str) -> str:
    """Return the name of a measurement."""
    return "fit/" + "x".join(map(str, shape)) + f"/{model}"


def generated(shape: Shape) -> Split:
    """Return generated data: three clusters a class in at most 15 of the features."""
    informative = min(_INFORMATIVE, shape.features // 2 + 2)
    X, y = make_classification(
        shape.rows + TEST_ROWS,
        shape.features,
        n_informative=informative,
        n_redundant=min(_REDUNDANT, shape.features - informative),
        n_classes=shape.classes,
        n_clusters_per_class=_CLUSTERS_A_CLASS,
        random_state=0,
    )
    rows = shape.rows
    return Split(X[:rows], X[rows:], y[:rows], y[rows:])


def measure_shape(shape: Shape, name: str, stage: Callable[[str], None]) -> dict[str, Any]:
    """Fit a model some times and use it; `stage` is told what begins."""
    stage("load")
    data = generated(shape)
    model = MODELS[name].make([], 0)
    stage("warm-up")
    warm_up(model, data)
    found: list[dict[str, Any]] = []
    while len(found) < _FITS and sum(record["fit_s"] for record in found) < _ENOUGH:
        stage("fit")
        found.append(measure_fit(model, data))
    stage("predict")
    times = [record["fit_s"] for record in found]
    return {**found[0], **measure_use(model, data), "fit_s": float(np.median(times))}
