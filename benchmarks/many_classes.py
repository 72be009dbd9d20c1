"""Size and ridge penalty of trees for many classes: what the default does, and what else it could.

Data are generated as for the table of performance, with other seeds, and pairs of samples of the
paper's sets, whose class is that of the one and that of the other. Prints a table of test errors
in percent and of times, means over the runs.

    RANDOMBOOST_DATA=folder python benchmarks/many_classes.py
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from data import load
from lightgbm import LGBMClassifier
from sets import Split, generated
from sklearn.ensemble import RandomForestClassifier

from randomboost import RandomBoostClassifier

N_TEST = 3000
FIRST_RUN = 100  # other data than the table of performance has


def pairs(first: str, second: str, n_train: int, run: int) -> Split:
    """Return pairs of samples; no sample is in pairs of both parts."""
    rng = np.random.default_rng(run)
    parts: list[list[Any]] = [[], []]
    for name in (first, second):
        X, labels = load(name)
        y = np.unique(labels, return_inverse=True)[1]
        order = rng.permutation(len(y))
        cut = 2 * len(y) // 3
        for part, members, count in (
            (parts[0], order[:cut], n_train),
            (parts[1], order[cut:], N_TEST),
        ):
            drawn = rng.choice(members, count)
            part.append((X[drawn], y[drawn], y.max() + 1))
    (X, y), (X_test, y_test) = (
        (np.hstack([one[0], other[0]]), one[1] * other[2] + other[1]) for one, other in parts
    )
    return Split(X, X_test, y, y_test)


SETS: dict[str, Callable[[int], Split]] = {
    "segment x satimage, 42 classes": partial(pairs, "segment", "satimage", 4000),
    "pendigits x pendigits, 100 classes": partial(pairs, "pendigits", "pendigits", 4000),
    "vowel x vowel, 121 classes": partial(pairs, "vowel", "vowel", 4000),
    "generated, 100 classes": lambda run: generated(100, run, 6000, n_test=N_TEST),
    "generated, 300 classes": lambda run: generated(300, run, 6000, n_test=N_TEST),
}
MODELS: dict[str, Callable[[int], Any]] = {
    "default": lambda run: RandomBoostClassifier(random_state=run),
    "255 leaves": lambda run: RandomBoostClassifier(max_leaf_nodes=255, random_state=run),
    "ridge 0.5": lambda run: RandomBoostClassifier(l2_regularization=0.5, random_state=run),
    "255 leaves, ridge 0.5": lambda run: RandomBoostClassifier(
        max_leaf_nodes=255, l2_regularization=0.5, random_state=run
    ),
    "1023 leaves": lambda run: RandomBoostClassifier(max_leaf_nodes=1023, random_state=run),
    "LightGBM": lambda run: LGBMClassifier(random_state=run, verbose=-1),
    "RandomForest": lambda run: RandomForestClassifier(random_state=run, n_jobs=-1),
}


def fit(model: Any, data: Split) -> tuple[float, float, float]:
    """Return the test error in percent, and the seconds of the fit and of the predictions."""
    start = perf_counter()
    model.fit(data.X, data.y)
    fitted = perf_counter()
    wrong = model.predict(data.X_test) != data.y_test
    return 100 * float(wrong.mean()), fitted - start, perf_counter() - fitted


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=2, help="runs of every fit (2)")
    runs = parser.parse_args().runs
    print(f"{len(SETS) * len(MODELS) * runs} fits, about {3 * runs} minutes on two cores\n")
    fit(RandomBoostClassifier(2), generated(10, 0, 200, n_test=20))  # loads or compiles the kernels
    print("| error, % (fit, s; predict 3000 rows, s) |", " | ".join(MODELS), "|")
    print("|---|" + "---|" * len(MODELS), flush=True)
    for name, make in SETS.items():
        splits = [make(FIRST_RUN + run) for run in range(runs)]
        cells = []
        for model in MODELS.values():
            found = [fit(model(run), data) for run, data in enumerate(splits)]
            error, fit_s, predict_s = np.mean(found, axis=0)
            cells.append(f"{error:.1f} ({fit_s:.1f}; {predict_s:.2f})")
        print(f"| {name} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
