"""Exports beside the package on all data sets: the same labels and probabilities, size, CPU time.

RANDOMBOOST_DATA=folder python benchmarks/exports.py   writes docs/exports.md (about 15 minutes)
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
from data import load
from numpy.typing import NDArray

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
from randomboost.datasets import MULTI_CLASS, TWO_CLASS
from randomboost.export.c_source import to_c
from randomboost.export.javascript import to_js
from randomboost.export.onnx import to_onnx
from randomboost.runtime.parallel import ThreadTeam

PAGE = Path(__file__).parents[1] / "docs" / "exports.md"
TRAIN, TEST, TEST_SOME = 2000, 10_000, 300
MODELS: dict[str, Callable[[], Any]] = {
    "RandomBoost, 100 trees": lambda: RandomBoostClassifier(
        100, early_stopping=False, random_state=0
    ),
    "RBoost-rank, 200 stumps": lambda: RBoostRankClassifier(
        200, n_projections=500, max_bins=64, random_state=0
    ),
    "RBoost-proj as printed, 50 stumps": lambda: RBoostProjClassifier(
        50, n_projections=500, selection="violation", random_state=0
    ),
    "AdaBoost, 100 stumps": lambda: AdaBoostClassifier(100),
    "AdaBoost.ECC, 100 stumps": lambda: AdaBoostECCClassifier(100, random_state=0),
    "AdaBoost.MH, 50 trees": lambda: AdaBoostMHClassifier(50, weak_learner="tree", random_state=0),
    "AdaBoost.MO, 20 dichotomies": lambda: AdaBoostMOClassifier(
        30, code="random", code_size=20, random_state=0
    ),
    "MultiBoost, 50 stumps": lambda: MultiBoostClassifier(50, random_state=0),
}
HEAD = """\
# Exports, measured

Written by `python benchmarks/exports.py`. All classifiers are trained in double precision on
{train} samples (at random) of every [paper table](datasets.md), exported, and compared with the
package on up to {test} samples (C and JavaScript: {some}), given as float32 to both. "Labels" and
"scores": how many differ, over all sets. "Probabilities": the largest difference. Sizes and times
are medians over the sets, the largest in brackets; times are the CPU time of one thread as a
multiple of the package's own. C makes the projections of stumps from the seed in every call,
JavaScript (in Node) and the package once.

"""
ONNX_AND_C = """\
| model | sets | ONNX: labels | probabilities | size | time | C: labels | scores | text | time |
|---|---|---|---|---|---|---|---|---|---|
"""
JAVASCRIPT = """
| model | sets | JavaScript: labels | probabilities | text | time |
|---|---|---|---|---|---|
"""
NODE = """
const { cpuUsage } = process;
const model = require("./model.js");
const rows = JSON.parse(require("fs").readFileSync("rows.json"));
const probabilities = rows.map((row) => [...model.predictProba(row)]);
const seconds = [1, 2, 3].map(() => {
  const began = cpuUsage();
  rows.forEach((row) => model.predictProba(row));
  const used = cpuUsage(began);
  return (used.user + used.system) / 1e6;
});
const labels = rows.map((row) => model.predict(row));
console.log(JSON.stringify({ labels, probabilities, seconds: Math.min(...seconds) }));
"""


def cpu_time(work: Callable[[], Any]) -> float:
    """Return the least CPU time of three calls."""
    times = []
    for _ in range(3):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)


class Compiled:
    """A model as a C library."""

    def __init__(self, text: str, folder: Path) -> None:
        source, library = folder / "model.c", folder / f"model{time.monotonic_ns()}.so"
        source.write_text(text)
        command = ["cc", "-std=c99", "-O2", "-shared", "-fPIC", "-o", library, source, "-lm"]
        subprocess.run(command, check=True)
        self._predict = ctypes.CDLL(str(library)).predict
        self._predict.argtypes = [ctypes.c_void_p, ctypes.c_void_p]

    def __call__(self, X: NDArray, n_classes: int) -> tuple[NDArray, NDArray]:
        """Return numbers of classes and scores."""
        scores = np.empty((len(X), n_classes))
        starts = zip(
            range(X.ctypes.data, X.ctypes.data + X.nbytes, X.strides[0]),
            range(scores.ctypes.data, scores.ctypes.data + scores.nbytes, scores.strides[0]),
            strict=True,
        )
        return np.array([self._predict(*start) for start in starts]), scores


def in_node(text: str, X: NDArray, folder: Path) -> dict[str, Any]:
    """Return what a model in JavaScript predicts: labels, probabilities, seconds of CPU."""
    (folder / "model.js").write_text(text)
    (folder / "rows.json").write_text(json.dumps(X.tolist()))
    done = subprocess.run(["node", "-e", NODE], cwd=folder, check=True, capture_output=True)
    return json.loads(done.stdout)


def compare(model: Any, X: NDArray, folder: Path) -> dict[str, float]:
    """Return what is to be known of the exports of a fitted model."""
    X = X.astype(np.float32)
    content = to_onnx(model).SerializeToString()
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    text = to_c(model)
    library = Compiled(text, folder)
    some = np.ascontiguousarray(X[:TEST_SOME], dtype=np.float64)
    found, probabilities = session.run(None, {"X": X})
    numbers, scores = library(some, len(model.classes_))
    fitted = model.model_
    own_scores = fitted.ensemble.scores(fitted.inputs.scaled(X[:TEST_SOME]), ThreadTeam(1)).T
    script = to_js(model)
    told = in_node(script, some, folder)
    expected = model.predict_proba(X[:TEST_SOME])
    own = cpu_time(lambda: model.predict_proba(X)) / len(X)
    return {
        "samples": len(X),
        "labels": int((found != model.predict(X)).sum()),
        "probabilities": float(np.abs(probabilities - model.predict_proba(X)).max()),
        "bytes": len(content),
        "time": cpu_time(lambda: session.run(None, {"X": X})) / len(X) / own,
        "some": len(some),
        "c_labels": int((model.classes_[numbers] != model.predict(X[:TEST_SOME])).sum()),
        "c_scores": int((scores != own_scores).any(axis=1).sum()),
        "c_bytes": len(text),
        "c_time": cpu_time(lambda: library(some, len(model.classes_))) / len(some) / own,
        "js_labels": int((np.array(told["labels"]) != model.predict(X[:TEST_SOME])).sum()),
        "js_probabilities": float(np.abs(told["probabilities"] - expected).max()),
        "js_bytes": len(script),
        "js_time": told["seconds"] / len(some) / own,
    }


def lines(name: str, found: list[dict[str, float]]) -> tuple[str, str]:
    """Return the lines of a model in the two tables."""

    def spread(key: str, unit: float, form: str) -> str:
        values = np.array([each[key] for each in found]) / unit
        return f"{np.median(values):{form}} ({values.max():{form}})"

    def total(key: str) -> int:
        return int(sum(each[key] for each in found))

    def worst(key: str) -> str:
        return f"{max(each[key] for each in found):.0e}"

    return (
        f"| {name} | {len(found)} | {total('labels')} of {total('samples')} | "
        f"{worst('probabilities')} | {spread('bytes', 1000, '.0f')} kB | "
        f"{spread('time', 1, '.1f')} | {total('c_labels')} of {total('some')} | "
        f"{total('c_scores')} | {spread('c_bytes', 1000, '.0f')} kB | "
        f"{spread('c_time', 1, '.1f')} |\n",
        f"| {name} | {len(found)} | {total('js_labels')} of {total('some')} | "
        f"{worst('js_probabilities')} | {spread('js_bytes', 1000, '.0f')} kB | "
        f"{spread('js_time', 1, '.1f')} |\n",
    )


def main() -> None:
    results: dict[str, list[dict[str, float]]] = {name: [] for name in MODELS}
    sets = os.environ.get("SETS", "").split() or [*TWO_CLASS, *MULTI_CLASS]
    with tempfile.TemporaryDirectory() as folder:
        for place in sets:
            X, y = load(place)
            order = np.random.default_rng(0).permutation(len(X))
            train, test = order[:TRAIN], order[-TEST:]
            for name, make in MODELS.items():
                if name.startswith("AdaBoost,") and len(np.unique(y)) > 2:
                    continue
                model = make().set_params(n_jobs=1).fit(X[train], y[train])
                results[name].append(compare(model, X[test], Path(folder)))
                print(place, *lines(name, results[name][-1:]), end="", flush=True)
    told = [lines(name, found) for name, found in results.items() if found]
    first, second = ("".join(part) for part in zip(*told, strict=True))
    head = HEAD.format(train=TRAIN, test=TEST, some=TEST_SOME)
    PAGE.write_text(head + ONNX_AND_C + first + JAVASCRIPT + second)
    kinds = ("labels", "c_labels", "js_labels")
    differ = sum(each[kind] for found in results.values() for each in found for kind in kinds)
    raise SystemExit(f"{differ:.0f} labels differ" if differ else 0)


if __name__ == "__main__":
    main()
