"""Measures one fitted model, and keeps every measurement in a file as soon as it is made."""

from __future__ import annotations

import ctypes
import gc
import hashlib
import json
import os
import platform
import warnings
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sets import Split
from sklearn.base import clone

from randomboost.compare.measuring import pickled_bytes, seconds
from randomboost.runtime.writing import whole_file

PREDICTED_ROWS = 10_000
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "lightgbm", "xgboost", "catboost")
_DIGESTS = Path(__file__).resolve().parent.parent / "tests/estimators/model_digests.json"
_WARM_POINTS = 20_000_000  # points that a warm-up may project


class Results:
    """Measurements by name, in a JSON file that is replaced whole after each of them.

    Parameters
    ----------
    path : Path
        The file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.records: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}

    def done(self, key: str) -> bool:
        """Return whether a measurement is there; one that failed is made again."""
        return key in self.records and "failed" not in self.records[key]

    def put(self, key: str, record: Any) -> None:
        """Keep a measurement."""
        self.records[key] = record
        self.write(self._path)

    def write(self, path: Path) -> None:
        """Write all measurements to a file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as draft:
            draft.write_text(json.dumps(self.records, indent=1) + "\n")

    def once(self, key: str, make: Callable[[], Any]) -> Any:
        """Return the measurement of that name, made now if it is not there."""
        if not self.done(key):
            self.put(key, make())
        return self.records[key]

    def attempt(self, key: str, make: Callable[[], Any]) -> None:
        """Make a measurement if it is not there; keep why it failed where it did."""
        try:
            self.once(key, make)
        except Exception as error:  # the other measurements go on
            self.put(key, {"failed": type(error).__name__, "message": str(error)})


def cores() -> int:
    """Return the number of cores this process may use."""
    return len(os.sched_getaffinity(0))


def environment() -> dict[str, Any]:
    """Return cores, and the versions of the packages that are installed."""
    packages = {}
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            packages[name] = version(name)
    return {"cores": cores(), "python": platform.python_version(), **packages}


def state_of_trees() -> str:
    """Return what changes when RandomBoost gives other models, by the digests of the tests."""
    digests = json.loads(_DIGESTS.read_text())["digests"]
    trees = sorted(item for item in digests.items() if item[0].startswith("trees"))
    return hashlib.md5(json.dumps(trees).encode(), usedforsecurity=False).hexdigest()[:12]


def memory_of(process: int | str, field: str = "VmRSS") -> int:
    """Return a size in /proc/<process>/status in bytes; 0 of a process that has ended."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return 1024 * next((int(line.split()[1]) for line in lines if line.startswith(field)), 0)


class PeakMemory:
    """Context manager: by how much resident memory rose at most, in `bytes`.

    Memory that earlier fits left with the allocator is given back first; the highest resident
    size is the one the kernel notes, which is reset at the start.
    """

    bytes = 0

    def __enter__(self) -> PeakMemory:
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")
        self._start = memory_of("self")
        return self

    def __exit__(self, *_: object) -> None:
        self.bytes = memory_of("self", "VmHWM") - self._start


def warm_up(model: Any, data: Split) -> None:
    """Fit a few rounds, so that no kernel is compiled or loaded while the clock runs.

    Ours take the whole training part, as kernels differ by the size of the data; rank and proj in
    few dimensions, kept in memory and not.
    """
    parameters = model.get_params(deep=False)
    rounds = next((name for name in ("max_iter", "n_estimators") if name in parameters), None)
    if rounds is None:  # nothing to compile
        return
    changes: list[dict[str, Any]] = [{rounds: 3}]
    part = slice(200)
    if "n_sketches" in parameters:
        part = slice(None)
    elif "n_projections" in parameters and parameters.get("projection") != "axis":
        part = slice(None)
        n_projections = int(np.clip(_WARM_POINTS // data.n_points, 16, 256))
        changes[0]["n_projections"] = n_projections
        if parameters.get("projections_per_round"):
            changes[0]["projections_per_round"] = 2
        if "max_memory" in parameters:
            changes.append({**changes[0], "max_memory": n_projections * data.n_points / 2})
    X, y = data.X[part], np.unique(data.y[part], return_inverse=True)[1]
    with warnings.catch_warnings(), suppress(MemoryError):
        warnings.simplefilter("ignore")
        for change in changes:
            clone(model).set_params(**change).fit(X, y).predict(X[:1])


def rounds_of(model: Any) -> int:
    """Return the number of rounds, or trees, in a fitted model; 0 for a model without."""
    for name in ("n_iter_", "n_estimators_", "tree_count_"):
        if hasattr(model, name):
            return int(getattr(model, name))
    if getattr(model, "estimators_", None) is not None:  # ChimeraBoost may have None
        return len(model.estimators_)
    if hasattr(model, "get_num_boosting_rounds"):
        return int(model.get_num_boosting_rounds())
    return 0


def tiled(X: NDArray) -> NDArray:
    """Return the rows again and again, up to 10 000."""
    return np.ascontiguousarray(X[np.arange(PREDICTED_ROWS) % len(X)])


def _call_times(models: dict[str, Any], X: NDArray, calls: int, slow: float) -> dict[str, float]:
    """Return the median seconds of a prediction, models taking turns.

    A model that takes more than `slow` seconds gets a tenth of the calls, or the first alone.
    """
    first = {name: seconds(lambda m=model: m.predict(X)) for name, model in models.items()}
    times: dict[str, list[float]] = {name: [] for name in models}
    for call in range(calls):
        for name, model in models.items():
            if call < (calls if first[name] < slow else calls // 10):
                times[name].append(seconds(lambda m=model: m.predict(X)))
    return {name: float(np.median(taken or [first[name]])) for name, taken in times.items()}


def prediction_times(models: dict[str, Any], X: NDArray) -> dict[str, dict[str, float]]:
    """Return the median times of 10 000 rows (s) and of one row (ms), models taking turns."""
    many = _call_times(models, tiled(X), 5, slow=2.0)
    one = _call_times(models, X[:1].copy(), 50, slow=0.02)
    return {name: {"predict_s": many[name], "single_ms": 1000 * one[name]} for name in models}


def measure_fit(model: Any, data: Split) -> dict[str, Any]:
    """Fit a model; return the time and the rise of memory."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with PeakMemory() as peak:
            fit_s = seconds(lambda: model.fit(data.X, data.y))
    if getattr(model, "stopped_", None) == "interrupted":
        raise KeyboardInterrupt  # ours keep the rounds done so far and go on
    return {"fit_s": fit_s, "peak_bytes": peak.bytes}


def measure_use(model: Any, data: Split) -> dict[str, Any]:
    """Use a fitted model; return its error, size, and times of predictions."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        predicted = np.ravel(model.predict(data.X_test))  # CatBoost's labels are a column
        return {
            "error": float(100 * np.mean(predicted != data.y_test)),
            **prediction_times({"": model}, data.X_test)[""],
            "bytes": pickled_bytes(model),
            "rounds": rounds_of(model),
        }
