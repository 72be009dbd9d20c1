"""Times of explanations, and of prediction sets by MAPIE with many classes.

python benchmarks/answers.py   prints the figures of docs/guide/explain.md and prediction-sets.md
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from mapie.classification import SplitConformalClassifier
from measure import PeakMemory
from sets import blobs, generated

from randomboost import RandomBoostClassifier
from randomboost.ensembles.started_trees import apart

ROWS = 1000
EXPLAINED = {  # training samples, classes
    "small": (4000, 5),
    "large": (50_000, 5),
    "many classes": (20_000, 1000),
}
CALLS = 3


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the median CPU time of some calls, after one that compiles, and the last result."""
    work()
    times = []
    for _ in range(CALLS):
        begin = time.process_time()
        result = work()
        times.append(time.process_time() - begin)
    return float(np.median(times)), result


def explain() -> None:
    """Print the time of an explanation of 1000 rows, and how exactly it adds up."""
    print(f"{ROWS} rows of 30 features, default models, one thread")
    for name, (n_train, n_classes) in EXPLAINED.items():
        data = generated(n_classes, 0, n_train=n_train, n_features=30, n_test=ROWS)
        model = RandomBoostClassifier(random_state=0).fit(data.X, data.y).set_params(n_jobs=1)
        seconds, found = timed(lambda model=model, data=data: model.explain(data.X_test))
        off = np.abs(found.scores - model.decision_function(data.X_test).max(axis=1)).max()
        trees = apart(model.model_.ensemble)[1]
        leaves, n_trees = len(trees.covers), trees.n_trees
        print(
            f"{name}: {n_train} samples, {n_classes} classes, {n_trees} trees of "
            f"{leaves / n_trees:.0f} leaves: {seconds:.2f} s, off by {off:.1e}"
        )


def prediction_sets() -> None:
    """Print time, memory and sizes of prediction sets with 1000 classes."""
    data = blobs(1000, 10_000, 10_000, n_features=16)
    model = RandomBoostClassifier(30, early_stopping=False, random_state=0)
    model.fit(data.X, data.y)
    halves = np.array_split(np.arange(len(data.y_test)), 2)
    print(f"1000 classes, {model.score(data.X_test, data.y_test):.1%} right, sets of 90%")
    for score in ("lac", "aps"):
        begin = time.perf_counter()
        with PeakMemory() as peak, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sets = SplitConformalClassifier(
                model, confidence_level=0.9, conformity_score=score, prefit=True, random_state=0
            )
            sets.conformalize(data.X_test[halves[0]], data.y_test[halves[0]])
            members = sets.predict_set(data.X_test[halves[1]])[1][:, :, 0]
        seconds = time.perf_counter() - begin
        held = members[np.arange(len(members)), data.y_test[halves[1]]].mean()
        print(
            f"{score}: {members.sum(axis=1).mean():.1f} classes, coverage {held:.1%}, "
            f"{seconds:.1f} s, {peak.bytes / 1e6:.0f} MB"
        )


if __name__ == "__main__":
    explain()
    prediction_sets()
