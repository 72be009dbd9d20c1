"""Cells: the single fits of an experiment, their settings and their measurement."""

from __future__ import annotations

import platform
import time
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import scipy
import sklearn
from numpy.typing import NDArray
from sklearn.model_selection import KFold

import randomboost

from .. import datasets
from ..datasets import Split
from ..datasets.digits import digits_split
from ..training import stopwatch

VARIANTS: dict[str, dict[str, Any]] = {  # suffixes of sets that are prepared in another way
    "train": {"rows": "train"},
    "stacked": {"rows": "stacked"},
    "stratified": {"stratify": True},
    "raw": {"interval": None},
    "unit": {"interval": (0, 1)},
}
STOPS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2)  # tolerances of the objective whose last rounds are noted
GRID = 100  # points per side of a boundary figure
_PROJECTIONS = 20  # figure-toyrank shows the best of so many random projections
_BASE = {"m": 600, "k": 8, "d": 16, "T": 80, "n": 4000}


@dataclass(frozen=True)
class Cell:
    """One fit of an experiment, as plain data.

    Parameters
    ----------
    experiment, set, method : str
        Names.
    repeat : int
        Number of the repeat; also the seed.
    estimator : str
        Class in `randomboost`.
    parameters : dict
        Its parameters, without nu if that is tuned.
    rounds : int
        Number of rounds.
    measure : str
        What is measured (see `experiments.Experiment`).
    curve : bool
        Whether the errors after every round are kept.
    directions : int
        If not 0, n is this multiple of the number of features.
    sources : tuple of str
        Where data may come from.
    grid : str
        How nu is tuned: "coarse", "paper", or "" if it is not.
    path : tuple of float
        Candidates for nu of a tuning cell, the largest first; empty for reported cells.
    limits : tuple of int
        Rounds after which the fit goes on to the next candidate.
    fold, folds : int
        Validation part of a tuning cell.
    """

    experiment: str
    set: str
    method: str
    repeat: int
    estimator: str
    parameters: dict[str, Any]
    rounds: int
    measure: str = "errors"
    curve: bool = True
    directions: int = 0
    sources: tuple[str, ...] = datasets.loading.SOURCES
    grid: str = ""
    path: tuple[float, ...] = ()
    limits: tuple[int, ...] = ()
    fold: int = 0
    folds: int = 1

    @property
    def name(self) -> str:
        """Return the name of the cell's file."""
        name = f"{self.set}--{self.method}--{self.repeat}"
        return f"{name}--path--{self.fold}" if self.path else name

    def describe(self) -> dict[str, Any]:
        """Return everything the result depends on, as it is read back from JSON."""
        lists = {name: list(getattr(self, name)) for name in ("sources", "path", "limits")}
        return asdict(self) | lists


@lru_cache(maxsize=64)
def loaded(name: str, sources: tuple[str, ...]) -> datasets.Dataset:
    """Return a data set, cached.

    Parameters
    ----------
    name : str
        Data set.
    sources : tuple of str
        Where data may come from.

    Returns
    -------
    Dataset
        The set.
    """
    return datasets.load(name, sources=sources)


@lru_cache(maxsize=2)
def parts(name: str, repeat: int, sources: tuple[str, ...]) -> Split:
    """Return the training and test part of a repeat.

    Parameters
    ----------
    name : str
        Data set; ``@n`` for n training samples per class, ``+`` and one of `VARIANTS` for another
        preparation.
    repeat : int
        Number of the repeat.
    sources : tuple of str
        Where data may come from.

    Returns
    -------
    Split
        Both parts.
    """
    if "@" in name:
        base, count = name.split("@")
        return digits_split(loaded(base, sources), int(count), repeat)
    base, *variants = name.split("+")
    settings = {key: value for each in variants for key, value in VARIANTS[each].items()}
    test_size = 0.75 if name in datasets.caltech.SETS else 0.25
    return datasets.split(loaded(base, sources), repeat, test_size=test_size, **settings)


def make(cell: Cell, n_features: int, nu: float | None, threads: int | None) -> Any:
    """Return the estimator of a cell.

    Parameters
    ----------
    cell : Cell
        The cell.
    n_features : int
        Number of features.
    nu : float or None
        The tuned nu.
    threads : int or None
        Threads of the fit.

    Returns
    -------
    estimator
        The estimator, not fitted.
    """
    parameters = {key: value for key, value in cell.parameters.items() if key != "project"}
    if cell.directions:
        parameters["n_projections"] = cell.directions * n_features
    if nu is not None:
        parameters["nu"] = nu
    kind = getattr(randomboost, cell.estimator)
    return kind(cell.rounds, random_state=cell.repeat, n_jobs=threads, **parameters)


def run(cell: Cell, nu: float | None = None, threads: int | None = None) -> dict[str, Any]:
    """Measure a cell.

    Parameters
    ----------
    cell : Cell
        The cell.
    nu : float or None, default=None
        The tuned nu, for a reported cell.
    threads : int or None, default=None
        Threads of the fit; the errors do not depend on it.

    Returns
    -------
    dict
        Plain data.
    """
    if cell.path:
        return _validate(cell, threads)
    if cell.measure == "boundary":
        return _boundary(cell, nu, threads)
    if cell.measure == "time":
        return _time(cell, threads)
    part = parts(cell.set, cell.repeat, cell.sources)
    model = make(cell, part.X.shape[1], nu, threads)
    with stopwatch.measured() as spent:
        result = _fitted(model, part.X, part.y)
    if "weights" in spent:
        result["correction_cpu"] = spent["weights"]
    if cell.grid:
        result["stops"] = _stops(model.train_history_["loss"])
    began = time.perf_counter()
    labels = model.predict(part.X_test)
    result["predict_seconds"] = time.perf_counter() - began
    wrong = [int((labels != part.y_test).sum())]
    if cell.curve:
        wrong = [int((at != part.y_test).sum()) for at in model.staged_predict(part.X_test)]
    shape = {"n_train": len(part.y), "n_test": len(part.y_test), "n_features": part.X.shape[1]}
    return {**result, **shape, "nu": nu, "wrong": wrong, "train_wrong": _wrong(model, part)}


def _wrong(model: Any, part: Split) -> int:
    return int((model.predict(part.X) != part.y).sum())


def _fitted(model: Any, X: NDArray, y: NDArray) -> dict[str, Any]:
    """Fit; return times, rounds and versions. A fit stopped by Ctrl-C is not a result."""
    began, cpu = time.perf_counter(), time.process_time()
    model.fit(X, y)
    noted = {"seconds": time.perf_counter() - began, "cpu": time.process_time() - cpu}
    if model.stopped_ == "interrupted":
        raise KeyboardInterrupt
    versions = {
        "randomboost": randomboost.__version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "python": platform.python_version(),
    }
    rounds = int(model.n_estimators_)
    return {**noted, "rounds": rounds, "stopped": model.stopped_, "versions": versions}


def _stops(losses: NDArray) -> dict[str, int]:
    """Return after how many rounds a change of the objective was first below each tolerance."""
    changes = np.abs(np.diff(losses)) / np.maximum(np.abs(losses[:-1]), np.finfo(float).tiny)
    small = [np.flatnonzero(changes < tol) for tol in STOPS]
    return {
        f"{tol:g}": int(found[0]) + 2 if len(found) else len(losses)
        for tol, found in zip(STOPS, small, strict=True)
    }


def _validate(cell: Cell, threads: int | None) -> dict[str, Any]:
    """Count the wrong predictions on one fold of the training part, by candidate of nu.

    One fit serves all candidates: every smaller nu continues from the weak classifiers of the
    larger ones.
    """
    if cell.measure == "boundary":
        data = loaded(cell.set, cell.sources)
        X, y = data.X, data.y
    else:
        part = parts(cell.set, cell.repeat, cell.sources)
        X, y = part.X, part.y
    folds = KFold(max(cell.folds, 4), shuffle=True, random_state=0).split(X)
    fit, val = list(folds)[cell.fold]
    model = make(cell, X.shape[1], None, threads).set_params(warm_start=True)
    wrong, rounds, seconds, cpu = [], [], 0.0, 0.0
    for nu, limit in zip(cell.path, cell.limits, strict=True):
        result = _fitted(model.set_params(nu=nu, n_estimators=limit), X[fit], y[fit])
        wrong.append(int((model.predict(X[val]) != y[val]).sum()))
        rounds.append(result["rounds"])
        seconds, cpu = seconds + result["seconds"], cpu + result["cpu"]
    total = {"seconds": seconds, "cpu": cpu, "rounds": rounds[-1], "path_rounds": rounds}
    return {**result, **total, "wrong": wrong, "n_test": len(val)}


# -- boundaries ------------------------------------------------------------------------------------


def _boundary(cell: Cell, nu: float | None, threads: int | None) -> dict[str, Any]:
    """Fit a whole toy set; return the predicted classes on a grid, by round."""
    data = loaded(cell.set, cell.sources)
    X, y = data.X, data.y
    matrix = None
    if cell.parameters.get("project"):
        matrix = _best_projection(cell, X, y, threads)
        X = X @ matrix.T
    model = make(cell, X.shape[1], nu, threads)
    result = _fitted(model, X, y)
    low, high = X.min(axis=0) - 0.5, X.max(axis=0) + 0.5
    across, up = (np.linspace(low[j], high[j], GRID) for j in (0, 1))
    points = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    shown = {5, 100, 1000, result["rounds"]}
    grids = {
        str(t): "".join(map(str, np.searchsorted(data.classes, labels)))
        for t, labels in enumerate(model.staged_predict(points), 1)
        if t in shown
    }
    return {
        **result,
        "nu": nu,
        "wrong": [int((model.predict(X) != y).sum())],
        "n_test": len(y),
        "extent": [float(low[0]), float(high[0]), float(low[1]), float(high[1])],
        "matrix": None if matrix is None else matrix.tolist(),
        "grids": grids,
    }


def _best_projection(cell: Cell, X: NDArray, y: NDArray, threads: int | None) -> NDArray:
    """Return the random 2 x 2 projection with the lowest error on a held-out quarter."""
    rng = np.random.default_rng(cell.repeat)
    matrices = rng.standard_normal((_PROJECTIONS, 2, 2)) / np.sqrt(2)
    order = rng.permutation(len(y))
    val, fit = order[: len(y) // 4], order[len(y) // 4 :]
    errors = []
    for matrix in matrices:
        Z = X @ matrix.T
        model = make(cell, 2, None, threads).set_params(n_estimators=min(cell.rounds, 100))
        errors.append(np.mean(model.fit(Z[fit], y[fit]).predict(Z[val]) != y[val]))
    return matrices[int(np.argmin(errors))]


# -- times -----------------------------------------------------------------------------------------


def _time(cell: Cell, threads: int | None) -> dict[str, Any]:
    """Fit generated data with one size changed; the name of the set is such as "m=1200"."""
    letter, value = cell.set.split("=")
    size = {**_BASE, "T": cell.rounds, letter: int(value)}
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((3 * size["k"], size["d"]))
    cluster = np.arange(size["m"]) % len(centres)
    X = centres[cluster] + rng.standard_normal((size["m"], size["d"]))
    y = cluster % size["k"]
    parameters = dict(cell.parameters)
    part = cell.parameters["n_projections"] / _BASE["n"]
    parameters["n_projections"] = max(int(size["n"] * part), 10)
    kind = getattr(randomboost, cell.estimator)
    kind(2, random_state=0, n_jobs=threads, **parameters).fit(X[:100], y[:100] % 2)  # compiles
    model = kind(size["T"], random_state=0, n_jobs=threads, **parameters)
    return {**_fitted(model, X, y), "wrong": [], "n_test": 0, "size": size}
