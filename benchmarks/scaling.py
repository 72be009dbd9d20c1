"""How the time of a fit grows with each size of the problem."""

from __future__ import annotations

from typing import Any

import numpy as np
from measure import seconds, warm_up
from peers import lightgbm
from sets import generated

from randomboost import RandomBoostClassifier, RBoostProjClassifier, RBoostRankClassifier

BASE = {"m": 1000, "n": 1000, "k": 10, "d": 16, "T": 50}
SIZES = {  # one is varied while the others stay at BASE
    "m": (500, 1000, 2000, 4000, 8000),
    "n": (500, 1000, 2000, 4000, 8000),
    "k": (5, 10, 20, 40, 80),
    "d": (8, 16, 32, 64, 128),
    "T": (25, 50, 100, 200, 400),
}
MEANING = {
    "m": "training rows m",
    "n": "projected dimensions n",
    "k": "classes k",
    "d": "features d",
    "T": "rounds T",
}
DIMENSIONS_A_ROUND = 100
MODELS = ("RandomBoost", "rank exact", "rank part", "proj", "LightGBM")
COST = 300.0  # seconds of all fits on two cores, roughly


def key(model: str, axis: str, size: int) -> str:
    """Return the name of a measurement."""
    return f"scaling/{model}/{axis}/{size}"


def models(axis: str) -> list[str]:
    """Return the models that have a size."""
    return [model for model in MODELS if axis != "n" or model != "LightGBM"]


def _model(name: str, n_rounds: int, n_projections: int) -> Any:
    if name == "LightGBM":
        return lightgbm(n_rounds)
    common = {"n_projections": n_projections, "scale": False, "random_state": 0}
    if name == "RandomBoost":
        return RandomBoostClassifier(n_rounds, early_stopping=False, **common)
    if name == "proj":
        return RBoostProjClassifier(n_rounds, selection="violation", tol=0, **common)
    part = DIMENSIONS_A_ROUND if name == "rank part" else None
    return RBoostRankClassifier.paper(n_estimators=n_rounds, projections_per_round=part, **common)


def fit_time(name: str, axis: str, size: int) -> dict[str, float]:
    """Return the median time of three fits on generated data."""
    at = {**BASE, axis: size}
    data = generated(at["k"], 0, n_train=at["m"], n_features=at["d"], n_test=1)
    model = _model(name, at["T"], at["n"])
    warm_up(model, data)
    times = [seconds(lambda: model.fit(data.X, data.y)) for _ in range(3)]
    return {"fit_s": float(np.median(times))}


def slope(sizes: list[int], times: list[float]) -> float:
    """Return the slope of log time over log size, by least squares."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def exponent(sizes: list[int], times: list[float]) -> float:
    """Return the slope of log time over log size on the larger half, by least squares."""
    half = len(sizes) // 2
    return slope(sizes[half:], times[half:])


def curves(records: dict[str, Any]) -> dict[tuple[str, str], tuple[list[int], list[float]]]:
    """Return sizes and times by axis and model, where they were measured."""
    found = {}
    for axis, sizes in SIZES.items():
        for model in models(axis):
            done = [size for size in sizes if "fit_s" in records.get(key(model, axis, size), ())]
            times = [records[key(model, axis, size)]["fit_s"] for size in done]
            if len(done) > 2:  # the exponent needs two in the larger half
                found[axis, model] = (done, times)
    return found
