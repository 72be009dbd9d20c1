"""Defaults beside defaults: RandomBoost and other libraries on the same splits.

The paper's 11 multi-class sets and the ten of dev/, ten splits each, and some large tables. Every
measurement is added to docs/beyond/results.csv at once: a run that was stopped, by Ctrl-C too, goes
on where it was. A process fits one model on all sets of a split; a fit that takes more than
--limit-seconds on two processors is ended. Quick models come first, and all sets of a split before
the next split.

Times of a run are marked as those of a busy machine. --times fits every model on split 0 again,
after a warm-up, on a machine that does nothing else; these are the times that the page shows.

    RANDOMBOOST_DATA=folder python benchmarks/beyond.py
    RANDOMBOOST_DATA=folder python benchmarks/beyond.py --models RandomBoost --fresh
    RANDOMBOOST_DATA=folder python benchmarks/beyond.py --only wine car --splits 0 1
    RANDOMBOOST_DATA=folder python benchmarks/beyond.py --times
    python benchmarks/beyond.py --page-only
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from beyond_models import LARGE_MODELS, MODELS, OURS, THREADS
from beyond_page import PAGE, RESULTS, write_page
from beyond_results import EXCEEDED, FAILED, OK, Row, append, latest, read
from beyond_sets import CASES, categories
from sklearn.metrics import log_loss
from threadpoolctl import threadpool_limits
from watched import watched

ROOT = Path(__file__).resolve().parent.parent
SPLITS = 10
FIRST_SPLITS = 3  # that slow models have before quick ones have the others
REPEATED_S = 2.0  # shorter fits are timed three times
LIMIT = 1200.0


class Cell(NamedTuple):
    """A model on a split of a set."""

    model: str
    split: int
    set: str


def _seconds(call: Any) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def _fit_seconds(cell: Cell, X: Any, y: Any, quiet: bool) -> tuple[Any, float]:
    """Return a fitted model and the time of a fit: on a quiet machine, after a warm-up."""
    found = []
    while not found or (quiet and len(found) < (4 if found[0] < REPEATED_S else 2)):
        model = MODELS[cell.model].make(categories(X), cell.split)
        found.append(_seconds(partial(model.fit, X, y)))
    return model, median(found[1:] or found)


def measured(cell: Cell, quiet: bool) -> dict[str, Any]:
    """Fit a model and use it; return the fields of its row that are measured."""
    warnings.simplefilter("ignore")
    X, X_test, y, y_test = CASES[cell.set].load(cell.split)
    with threadpool_limits(THREADS):
        model, fit_s = _fit_seconds(cell, X, y, quiet)
        predict_s = median(
            _seconds(partial(model.predict, X_test)) for _ in range(4 if quiet else 1)
        )
        labels = np.ravel(model.predict(X_test))  # CatBoost's are a column
        found = np.asarray(model.predict_proba(X_test), dtype=np.float64)
    found /= found.sum(axis=1, keepdims=True)
    return {
        "error": float(100 * np.mean(labels != y_test)),
        "log_loss": float(log_loss(y_test, found, labels=np.arange(found.shape[1]))),
        "fit_s": fit_s,
        "predict_s": predict_s,
    }


def source_commit() -> str:
    """Return the last commit of our source, with a plus if there are changes since."""
    git = partial(subprocess.run, cwd=ROOT, capture_output=True, text=True, check=True)
    commit = git(["git", "log", "-1", "--format=%h", "--", "src"]).stdout.strip()
    return commit + "+" * bool(git(["git", "status", "--porcelain", "src"]).stdout)


def as_row(cell: Cell, found: dict[str, Any], quiet: bool, commit: str) -> Row:
    """Return the row of a measurement."""
    model = MODELS[cell.model]
    about = {
        "set": cell.set,
        "split": cell.split,
        "model": cell.model,
        "busy": int(not quiet),
        "versions": model.versions,
        "commit": commit if cell.model.startswith(OURS) else "",
    }
    if "failed" in found:
        reason = " ".join(found["failed"].split())[:100]
        return Row(**about, status=f"{FAILED}: {reason}")
    if "exceeded" in found:
        return Row(**about, status=f"{EXCEEDED}: {found['exceeded'] / THREADS:g} s")
    return Row(**about, status=OK, **found)


def ordered(models: list[str], sets: list[str], splits: list[int]) -> Iterator[list[Cell]]:
    """Yield what is to be measured, the cells of a process at a time."""
    quick = [name for name in models if not MODELS[name].slow]
    slow = [name for name in models if MODELS[name].slow]
    small = [name for name in sets if CASES[name].group != "large"]
    large = [name for name in sets if CASES[name].group == "large"]
    first, later = splits[:FIRST_SPLITS], splits[FIRST_SPLITS:]
    for split in first:
        yield from ([Cell(model, split, name) for name in small] for model in (*quick, *slow))
    for name in large:
        yield from ([Cell(model, 0, name)] for model in models if model in LARGE_MODELS)
    for chosen in (quick, slow):
        for split in later:
            yield from ([Cell(model, split, name) for name in small] for model in chosen)


def pending(
    chunks: Iterator[list[Cell]], rows: list[Row], chosen: argparse.Namespace
) -> list[list[Cell]]:
    """Return the cells that have no row yet; all of them if they are measured again."""
    known = {} if chosen.fresh else latest(rows, quiet=chosen.times)
    done = {
        key for key, row in known.items() if not (chosen.retry and row.status.startswith(FAILED))
    }
    left = ([cell for cell in chunk if _key(cell) not in done] for chunk in chunks)
    return [chunk for chunk in left if chunk]


def _key(cell: Cell) -> tuple[str, int, str]:
    return cell.set, cell.split, cell.model


def cost(cell: Cell, rows: list[Row], limit: float) -> float:
    """Return the seconds of a cell on two cores, roughly: those of earlier splits where known."""
    known = [row.fit_s for row in rows if (row.set, row.model) == (cell.set, cell.model)]
    good = [seconds for seconds in known if seconds == seconds]
    if known and not good:
        return limit
    expected = median(good) if good else MODELS[cell.model].times * CASES[cell.set].seconds
    return 0.5 + min(expected, limit)


def run(chosen: argparse.Namespace) -> None:
    """Measure what is chosen and not there yet."""
    missing = [name for name in chosen.models if not MODELS[name].installed]
    if missing:
        print(f"not installed here, left out: {', '.join(missing)}")
    models = [name for name in chosen.models if name not in missing]
    rows = read(chosen.results)
    splits = [0] if chosen.times else chosen.splits
    chunks = pending(ordered(models, chosen.only, splits), rows, chosen)
    cells = [cell for chunk in chunks for cell in chunk]
    hours = sum(cost(cell, rows, chosen.limit_seconds) for cell in cells) / 3600
    hours *= 3 if chosen.times else 1
    print(f"{len(cells)} measurements, about {hours:.1f} hours on two idle cores", flush=True)
    commit, count = source_commit(), 0
    for chunk in chunks:
        work = partial(measured, quiet=chosen.times)
        for cell, found in watched(work, chunk, THREADS * chosen.limit_seconds):
            row = as_row(cell, found, chosen.times, commit)
            append(chosen.results, row)
            count += 1
            figures = f"{row.error:.2f} %, {row.fit_s:.2f} s" if row.good else row.status
            about = f"{cell.set}, split {cell.split}, {cell.model}"
            print(f"{time.strftime('%T')} {count}/{len(cells)} {about}: {figures}", flush=True)


def options() -> argparse.Namespace:
    """Return the options of the command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    several: dict[str, Any] = {"nargs": "+", "metavar": "NAME"}
    parser.add_argument("--only", choices=CASES, default=list(CASES), help="sets", **several)
    parser.add_argument("--models", choices=MODELS, default=list(MODELS), **several)
    parser.add_argument("--without", choices=MODELS, default=[], help="models left out", **several)
    parser.add_argument("--splits", nargs="+", type=int, default=list(range(SPLITS)))
    parser.add_argument("--limit-seconds", type=float, default=LIMIT, help="of a fit on two cores")
    parser.add_argument("--times", action="store_true", help="measure times, on a quiet machine")
    parser.add_argument("--fresh", action="store_true", help="measure what is chosen again")
    parser.add_argument("--retry", action="store_true", help="measure again what failed")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the file of all rows")
    parser.add_argument("--out", type=Path, default=PAGE, help="the page")
    parser.add_argument("--page-only", action="store_true", help="measure nothing")
    chosen = parser.parse_args()
    chosen.models = [name for name in chosen.models if name not in chosen.without]
    return chosen


def main() -> None:
    chosen = options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # ends the process of a fit too
    if not chosen.page_only:
        try:
            run(chosen)
        except KeyboardInterrupt:
            raise SystemExit("stopped; the same command goes on from here") from None
    write_page(read(chosen.results), chosen.out)
    print(f"page: {chosen.out.name}")


if __name__ == "__main__":
    main()
