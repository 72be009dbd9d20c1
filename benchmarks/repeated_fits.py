"""Whether memory stays flat over many small fits of every kind: ``--fits 1000`` for each.

Counts what Python holds (tracemalloc) and what the process holds (resident memory) after a first
part, which fills caches, and at the end. Ends with an error where either has grown by more than
the limits below.
"""

from __future__ import annotations

import argparse
import gc
import resource
import sys
import tracemalloc
from pathlib import Path

import numpy as np

from randomboost import (
    AdaBoostECCClassifier,
    AdaBoostMHClassifier,
    MultiBoostClassifier,
    RandomBoostClassifier,
    RBoostProjClassifier,
    RBoostRankClassifier,
)

MODELS = [
    RandomBoostClassifier(3, n_projections=20, random_state=0, n_jobs=2),
    RBoostRankClassifier(3, n_projections=20, random_state=0, n_jobs=2),
    RBoostProjClassifier(3, n_projections=20, random_state=0),
    AdaBoostECCClassifier(3, random_state=0),
    AdaBoostMHClassifier(3, random_state=0),
    MultiBoostClassifier(3, random_state=0),
]
MOST_PYTHON = 200_000  # bytes that Python may hold more at the end
MOST_RESIDENT = 15_000_000  # bytes that the process may hold more


def resident() -> int:
    status = Path("/proc/self/statm")
    if status.exists():
        return int(status.read_text().split()[1]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def fit_all(n_fits: int) -> tuple[int, int]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    y = (X[:, :2] > 0).sum(axis=1)
    for _ in range(n_fits):
        for model in MODELS:
            model.fit(X, y).predict(X)
    gc.collect()
    return tracemalloc.get_traced_memory()[0], resident()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fits", type=int, default=1000, help="fits of every model")
    n_fits = parser.parse_args().fits
    fit_all(1)  # kernels are loaded, which is slow while memory is traced
    tracemalloc.start()
    first = max(10, n_fits // 10)
    before = fit_all(first)
    after = fit_all(n_fits - first)
    python, process = (b - a for a, b in zip(before, after, strict=True))
    print(f"{n_fits} fits of each of {len(MODELS)} models")
    print(f"Python holds {python:+,} bytes since fit {first}, the process {process:+,} bytes")
    return int(python > MOST_PYTHON or process > MOST_RESIDENT)


if __name__ == "__main__":
    sys.exit(main())
