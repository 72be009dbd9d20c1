"""Defaults against defaults: RandomBoost and other libraries with their default parameters.

The paper's 11 multi-class sets, complete, split 75/25 with stratification; MNIST's pixels beside
LightGBM; and variants of our default. What is measured is kept at once: a run that was stopped
goes on where it was. CatBoost, which takes longer than all others together, comes last, from the
smallest set to the largest.

    RANDOMBOOST_DATA=folder python benchmarks/beyond.py
    RANDOMBOOST_DATA=folder python benchmarks/beyond.py --only wine glass --models LightGBM
    python benchmarks/beyond.py --page-only
"""

from __future__ import annotations

import argparse
import hashlib
import warnings
from collections.abc import Iterator
from functools import cache, lru_cache, partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import peers
from beyond_page import ECE_BINS, LAST, MNIST, OURS, SVM, cell_key, write_page
from measure import Results, cores, environment, measure, trees_of, warm_up
from numpy.typing import NDArray
from peers import BASE, PEERS, Peer
from performance import ROOT, Job, run_jobs
from sets import SETS, Split, complete
from sklearn.metrics import log_loss

import randomboost
from randomboost import RandomBoostClassifier, RBoostRankClassifier

MODELS = {
    OURS: Peer(peers.random_boost),
    **{name: PEERS[name] for name in (BASE, "XGBoost", "HistGradientBoosting", "RandomForest")},
    SVM: Peer(peers.svm),
    LAST: Peer(peers.catboost),
}
VARIANTS: dict[str, dict[str, Any]] = {  # what differs from the default
    "projection axis": {"projection": "axis"},
    "projection sparse": {"projection": "sparse"},
    "projection lda": {"projection": "lda"},
    "projection gaussian": {"projection": "gaussian"},
    "2 leaves": {"max_leaf_nodes": 2},
    "31 leaves": {"max_leaf_nodes": 31},
    "subsample 1": {"subsample": 1.0},
    "1 sketch": {"n_sketches": 1},
    "as many sketches as classes": {"n_sketches": 100},
    "1 class per leaf": {"leaf_classes": 1},
    "learning rate 0.04": {"learning_rate": 0.04},
    "30 rounds": {"n_estimators": 30},
    "1000 rounds": {"n_estimators": 1000},
    "all rounds": {"early_stopping": False},
    "one fit, early stopping": {"early_stopping": True},
}
STUMPS = "the paper's stumps"
SPLITS, VARIANT_SPLITS = 10, 3

# Seconds of a fit of LightGBM and of CatBoost on two idle cores, roughly, from the smallest set to
# the largest; of the others, in multiples of LightGBM's.
SECONDS = {
    "wine": (0.1, 3.0),
    "glass": (0.3, 5.0),
    "svmguide2": (0.2, 4.0),
    "svmguide4": (0.5, 8.0),
    "vehicle": (0.5, 7.0),
    "vowel": (0.8, 12.0),
    "segment": (1.2, 14.0),
    "satimage": (2.0, 13.0),
    "dna": (0.7, 25.0),
    "pendigits": (3.0, 18.0),
    "usps": (12.0, 450.0),
    MNIST: (20.0, 0.0),
}
PAPER_SETS = [name for name in SECONDS if name != MNIST]
_TIMES = {"XGBoost": 1.5, "HistGradientBoosting": 2.5, "RandomForest": 0.5, SVM: 0.3}
_VARIANT_TIMES = {"1000 rounds": 2.0, STUMPS: 4.0}
_OVERHEAD = 0.5  # seconds of loading, warming up and predicting


@lru_cache(maxsize=1)
def load(name: str, run: int) -> Split:
    """Return a data set, the last one from memory."""
    return SETS[MNIST](run) if name == MNIST else complete(name, run)


def make(name: str, data: Split | None, seed: int) -> Any:
    """Return a model or a variant of ours, to be fitted."""
    if name in MODELS:
        return MODELS[name].model(None, data, seed)
    if name == STUMPS:
        model = RBoostRankClassifier.paper(n_projections=2000, n_estimators=300)
    else:
        model = RandomBoostClassifier(**VARIANTS[name])
    return model.set_params(n_jobs=cores(), random_state=seed)


@cache
def fingerprint(name: str) -> str:
    """Return a short text that is another one when the settings or the library are."""
    model = make(name, None, 0)
    settings = {k: v for k, v in model.get_params().items() if k not in ("n_jobs", "thread_count")}
    package = type(model).__module__.split(".")[0].replace("sklearn", "scikit-learn")
    edition = randomboost.__version__ if package == "randomboost" else version(package)
    text = repr((type(model).__name__, package, edition, sorted(settings.items())))
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def other_variants() -> list[str]:
    """Return the variants that are not what the default is by now."""
    return [name for name in (*VARIANTS, STUMPS) if fingerprint(name) != fingerprint(OURS)]


@cache
def code() -> str:
    """Return a short text that is another one when our source is."""
    root = Path(randomboost.__file__).parent
    found = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        found.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    return found.hexdigest()[:8]


def calibration_error(probabilities: NDArray, y: NDArray) -> float:
    """Return the expected calibration error: |accuracy - confidence| by bin of the confidence."""
    confidence = probabilities.max(axis=1)
    right = probabilities.argmax(axis=1) == y
    bins = np.minimum((confidence * ECE_BINS).astype(int), ECE_BINS - 1)
    gaps = np.bincount(bins, right - confidence, minlength=ECE_BINS)
    return float(np.abs(gaps).sum() / len(y))


@cache
def _warm(name: str, set_name: str) -> None:
    data = load(set_name, 0)
    warm_up(make(name, data, 0), data)


def measured(name: str, set_name: str, run: int) -> dict[str, Any]:
    """Fit a model on a split; return all that is measured."""
    _warm(name, set_name)
    data = load(set_name, run)
    model = make(name, data, run)
    record = {**measure(model, data), "trees": trees_of(model)}
    record["test_rows"] = len(data.y_test)
    if hasattr(model, "predict_proba"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = model.predict_proba(data.X_test).astype(np.float64)
        found /= found.sum(axis=1, keepdims=True)
        record["log_loss"] = float(log_loss(data.y_test, found, labels=np.arange(data.n_classes)))
        record["ece"] = calibration_error(found, data.y_test)
    if type(model).__module__.startswith("randomboost"):
        record["code"] = code()
    return record


def _shape(name: str) -> dict[str, int]:
    data = load(name, 0)
    rows = len(data.y) + (0 if name == MNIST else len(data.y_test))
    return {"rows": rows, "features": data.X.shape[1], "classes": data.n_classes}


def _cost(name: str, set_name: str) -> float:
    base, slow = SECONDS[set_name]
    return _OVERHEAD + (
        slow if name == LAST else base * {**_TIMES, **_VARIANT_TIMES}.get(name, 1.0)
    )


def cell(name: str, set_name: str, run: int) -> Job:
    """Return the measurement of a model, or a variant of ours, on a split."""
    key = cell_key(set_name, name, run, fingerprint(name), variant=name not in MODELS)
    return Job(key, _cost(name, set_name), partial(measured, name, set_name, run))


def all_jobs(sets: list[str], models: list[str], n_splits: int) -> Iterator[Job]:
    """Yield what is to be measured: split by split, the models taking turns; CatBoost last."""
    for name in sets:
        yield Job(f"set/{name}", 0.0, partial(_shape, name))
    paper_sets = [name for name in PAPER_SETS if name in sets]
    quick = [name for name in MODELS if name in models and name != LAST]
    variants = [name for name in other_variants() if name in models]
    for run in range(n_splits):
        for set_name in paper_sets:
            yield from (cell(name, set_name, run) for name in quick)
    if MNIST in sets:
        yield from (cell(name, MNIST, 0) for name in (OURS, BASE) if name in models)
    for run in range(min(n_splits, VARIANT_SPLITS)):
        for set_name in paper_sets:
            yield from (cell(name, set_name, run) for name in variants)
    if LAST in models:
        for set_name in paper_sets:
            yield from (cell(LAST, set_name, run) for run in range(n_splits))


def options() -> argparse.Namespace:
    """Return the options of the command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [*MODELS, *VARIANTS, STUMPS]
    parser.add_argument("--only", nargs="+", choices=SECONDS, default=list(SECONDS), metavar="SET")
    parser.add_argument(
        "--models", nargs="+", choices=names, default=names, metavar="MODEL", help=", ".join(names)
    )
    parser.add_argument("--splits", type=int, default=SPLITS)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "beyond.md", help="the page")
    parser.add_argument("--results", type=Path, default=ROOT / "output" / "beyond.json")
    parser.add_argument("--fresh", action="store_true", help="measure what is chosen again")
    parser.add_argument("--page-only", action="store_true", help="measure nothing")
    return parser.parse_args()


def run(results: Results, chosen: argparse.Namespace) -> None:
    """Measure what is chosen and not there yet."""
    models = chosen.models
    if LAST in models and find_spec("catboost") is None:
        print(f"{LAST} is not installed: left out")
        models = [name for name in models if name != LAST]
    jobs = list(all_jobs(chosen.only, models, chosen.splits))
    if chosen.fresh:
        for job in jobs:
            results.records.pop(job.key, None)
    jobs = [job for job in jobs if not results.done(job.key)]
    minutes = sum(job.cost for job in jobs) / 60
    slow = sum(job.cost for job in jobs if f"/{LAST}/" in job.key) / 60
    print(
        f"{len(jobs)} measurements, about {minutes:.1f} minutes on two idle cores "
        f"(the last {slow:.1f} for {LAST})"
    )
    extra = {} if find_spec("catboost") is None else {"catboost": version("catboost")}
    results.put("environment", {**environment(), **extra})
    settings = {name: fingerprint(name) for name in models}
    results.put("settings", {**results.records.get("settings", {}), **settings})
    run_jobs(results, jobs)


def main() -> None:
    chosen = options()
    results = Results(chosen.results)
    if not chosen.page_only:
        run(results, chosen)
    elif "settings" not in results.records:
        raise SystemExit("nothing is measured yet")
    write_page(results.records, list(MODELS), other_variants(), PAPER_SETS, chosen.out)
    print(f"page: {chosen.out.name}")


if __name__ == "__main__":
    main()
