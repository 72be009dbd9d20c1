"""Time, size and memory of default models as data grows, and the page that shows them.

Every fit has a process of its own, which is ended where it takes too much time or memory; a model
that exceeded a limit is not tried on larger data. What is measured is kept at once: a run that was
stopped goes on where it was. Models of libraries that are not installed are left out.

    python benchmarks/performance.py
    python benchmarks/performance.py --only rows --models RandomBoost LightGBM --fresh
    python benchmarks/performance.py --page-only
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import roofline
from alone import Limits, run_alone
from beyond_models import MODELS
from growing import AXES, NAMES, Shape, key, measure_shape, shapes
from jobs import MEASUREMENTS, ROOT, Job, forget, run_jobs
from measure import Results, environment
from page import write_page

_ROOFLINE_COST = 40.0
_LIMITS = Limits(120.0, 12.0)


def _needed(results: Results, smaller: list[Shape], model: str) -> bool:
    """Return whether a model is worth trying after smaller data."""
    records = (results.records.get(key(shape, model), {}) for shape in smaller)
    return not any("exceeded" in record for record in records)


def fit_jobs(
    results: Results, axis: str, models: list[str], limits: Limits, quick: bool
) -> Iterator[Job]:
    """Yield the fits along an axis: size by size, the models one after the other."""
    along = shapes(axis, quick)
    for place, shape in enumerate(along):
        for model in models:
            yield Job(
                key(shape, model),
                shape.cost * MODELS[model].times,
                partial(run_alone, partial(measure_shape, shape, model), limits),
                partial(_needed, results, along[:place], model),
            )


def chosen_jobs(results: Results, chosen: argparse.Namespace) -> list[Job]:
    """Return the chosen measurements."""
    models = [name for name in chosen.models if MODELS[name].installed]
    limits = Limits(chosen.limit_seconds, chosen.limit_gb)
    jobs = [
        job
        for axis in AXES
        if axis in chosen.only
        for job in fit_jobs(results, axis, models, limits, chosen.quick)
    ]
    if "roofline" in chosen.only:
        jobs.append(Job("roofline", _ROOFLINE_COST, roofline.measure))
    unique = {job.key: job for job in reversed(jobs)}  # axes share the usual size
    return list(reversed(unique.values()))


def options() -> argparse.Namespace:
    """Return the options of the command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parts = [*AXES, "roofline"]
    add = parser.add_argument
    add("--quick", action="store_true", help="tiny data")
    add("--only", nargs="+", choices=parts, default=parts, metavar="PART", help=", ".join(parts))
    add("--models", nargs="+", choices=NAMES, default=list(NAMES), metavar="MODEL")
    add("--limit-seconds", type=float, default=_LIMITS.seconds, help="of a fit")
    add("--limit-gb", type=float, default=_LIMITS.gigabytes, help="of a process")
    add("--out", type=Path, help="the page")
    add("--results", type=Path, help="file that keeps the measurements")
    add("--fresh", action="store_true", help="forget earlier measurements of what is chosen")
    add("--page-only", action="store_true", help="measure nothing")
    return parser.parse_args()


def main() -> None:
    chosen = options()
    folder = ROOT / ("output" if chosen.quick else "docs")
    out = chosen.out or folder / ("performance-quick.md" if chosen.quick else "performance.md")
    results = Results(chosen.results or out.with_suffix("") / MEASUREMENTS)
    if not chosen.page_only:
        jobs = chosen_jobs(results, chosen)
        if chosen.fresh:
            forget(results, jobs)
        more = Limits(chosen.limit_seconds, chosen.limit_gb)
        for job in jobs:
            if more.allow_more(results.records.get(job.key, {})):
                del results.records[job.key]
        jobs = [job for job in jobs if not results.done(job.key)]
        minutes = sum(job.cost for job in jobs) / 60
        print(f"{len(jobs)} measurements, about {minutes:.0f} minutes on two cores")
        results.put("environment", environment())
        run_jobs(results, jobs)
    write_page(results.records, chosen.quick, out)
    print(f"page: {out.name}")


if __name__ == "__main__":
    main()
