"""Many classes and many rows: RandomBoost beside other libraries, and the page that shows it.

Every fit has a process of its own, which is ended where it takes too much time or memory. What is
measured is kept at once: a run that was stopped goes on where it was. Writes the tables and the
picture of docs/many-classes.md; the text around them is written by hand.

    RANDOMBOOST_DATA=folder python benchmarks/many_classes.py
    RANDOMBOOST_DATA=folder python benchmarks/many_classes.py --only glyphs --fresh \
        --models RandomBoost
    python benchmarks/many_classes.py --only rows classes
    RANDOMBOOST_DATA=folder python benchmarks/many_classes.py --quick
    python benchmarks/many_classes.py --page-only
"""

from __future__ import annotations

import argparse
import signal
from functools import partial
from pathlib import Path

from alone import Limits, run_alone
from jobs import MEASUREMENTS, ROOT, Job, forget, run_jobs
from many_cases import MODELS, PARTS, SET_NAMES, cases, measure_case
from many_classes_page import PAGE, write_page
from measure import Results, environment

from randomboost.datasets.loading import VARIABLE, folders

STARTING = 4.0  # seconds of a process beside its fit
USING = 1.4  # times the seconds of a fit: warming up, predicting


def went_well(results: Results, key: str) -> bool:
    """Return whether the first split, which comes before the others, was measured."""
    return "error" in results.records.get(key, ())


def chosen_jobs(results: Results, chosen: argparse.Namespace) -> list[Job]:
    """Return the chosen measurements: split by split, the models taking turns."""
    jobs = []
    for name, case in cases(chosen.quick).items():
        if case.part not in chosen.only:
            continue
        for split in (split for split in chosen.splits if split < case.n_splits):
            for model in (model for model in case.costs if model in chosen.models):
                limits = Limits(case.limit(model, chosen.limit_seconds), chosen.limit_gb)
                work = partial(measure_case, name, model, split, chosen.quick)
                key, first = (f"{name}/{model}/{number}" for number in (split, chosen.splits[0]))
                jobs.append(
                    Job(
                        key,
                        STARTING + min(USING * case.costs[model], limits.seconds),
                        partial(run_alone, work, limits),
                        (lambda: True) if key == first else partial(went_well, results, first),
                    )
                )
                if limits.allow_more(results.records.get(key, {})):
                    del results.records[key]
    return jobs


def check_data(parts: list[str]) -> None:
    """Raise an error that names the remedy where a set is missing."""
    for name in (name for name in SET_NAMES if name in parts):
        if not any((folder / "large" / f"{name}.npz").exists() for folder in folders()):
            raise SystemExit(
                f"large/{name}.npz was not found: set {VARIABLE} to the folder that holds it, or "
                f"leave it out with --only"
            )


def announce(jobs: list[Job], limits: Limits) -> None:
    """Say what the measurements will cost."""
    minutes = sum(job.cost for job in jobs) / 60
    print(
        f"{len(jobs)} fits, about {minutes:.0f} minutes on two cores; a stage of a fit is ended "
        f"after {limits.seconds:g} s, or above {limits.gigabytes:g} GB",
        flush=True,
    )
    lines = Path("/proc/meminfo").read_text().splitlines()
    free = next(int(line.split()[1]) / 1e6 for line in lines if line.startswith("MemAvailable"))
    if free < limits.gigabytes:
        print(f"only {free:.0f} GB of memory are free: consider --limit-gb", flush=True)


def options() -> argparse.Namespace:
    """Return the options of the command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--quick", action="store_true", help="tiny sizes, to see that all of it works")
    add("--only", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART", help="parts")
    add("--models", nargs="+", choices=MODELS, default=list(MODELS), metavar="MODEL")
    add("--splits", nargs="+", type=int, default=[0, 1, 2], help="splits of the sets (0 1 2)")
    add("--limit-seconds", type=float, default=1200.0, help="of loading, fit, prediction (1200)")
    add("--limit-gb", type=float, default=20.0, help="memory of a process (20)")
    add("--results", type=Path, help="file that keeps the measurements")
    add("--out", type=Path, help="the page")
    add("--fresh", action="store_true", help="forget earlier measurements of what is chosen")
    add("--page-only", action="store_true", help="measure nothing")
    return parser.parse_args()


def main() -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that the fit's process ends too
    chosen = options()
    folder = ROOT / "output" / "many-classes-quick" if chosen.quick else PAGE.with_suffix("")
    results = Results(chosen.results or folder / MEASUREMENTS)
    if not chosen.page_only:
        check_data(chosen.only)
        jobs = chosen_jobs(results, chosen)
        if chosen.fresh:
            forget(results, jobs)
        jobs = [job for job in jobs if not results.done(job.key)]
        announce(jobs, Limits(chosen.limit_seconds, chosen.limit_gb))
        results.put("environment", environment())
        try:
            run_jobs(results, jobs)
        except KeyboardInterrupt:
            raise SystemExit("stopped; the same command goes on where it was") from None
    out = chosen.out or folder.with_suffix(".md")
    write_page(results.records, chosen.quick, out)
    print(f"page: {out.name}")


if __name__ == "__main__":
    main()
