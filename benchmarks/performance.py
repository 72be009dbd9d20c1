"""Speed, size and error of our classifiers beside others', and the page that shows them.

What is measured is kept at once: a run that was stopped goes on where it was. Names for --only are
the data sets, asked-a to asked-i, scaling, and the groups "sets" and "asked". Beside the page lie
the measurements it is made of, measurements.json, from which a run can go on too.

    RANDOMBOOST_DATA=folder python benchmarks/performance.py --quick
    RANDOMBOOST_DATA=folder python benchmarks/performance.py --only vowel asked-c scaling
    RANDOMBOOST_DATA=folder python benchmarks/performance.py --fresh --only vowel \
        --models RandomBoost --results docs/performance/measurements.json
    python benchmarks/performance.py --page-only
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import scaling
from asked import QUESTIONS, answer
from costs import OVERHEAD, Plan
from measure import Results, environment, measure_warm, state_of_trees
from page import MEASUREMENTS, STATE, write_page
from peers import PEERS, table_key
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from sets import SETS, Split

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Job:
    """One measurement to be made.

    Parameters
    ----------
    key : str
        Its name in the results.
    cost : float
        Seconds on two cores, roughly.
    make : callable
        Makes it.
    needed : callable
        Says, when its turn comes, whether it is still wanted.
    parts : str or None
        How the names of the measurements begin that it makes on the way.
    """

    key: str
    cost: float
    make: Callable[[], Any]
    needed: Callable[[], bool] = lambda: True
    parts: str | None = None


@lru_cache(maxsize=1)
def load(name: str, run: int) -> Split:
    """Return a data set, the last one from memory."""
    return SETS[name](run)


def _shape(name: str) -> dict[str, int]:
    data = load(name, 0)
    return {"rows": len(data.y), "features": data.X.shape[1], "classes": data.n_classes}


def _table_entry(name: str, model: str, rounds: int | None, run: int) -> dict[str, Any]:
    data = load(name, run)
    return measure_warm(PEERS[model].model(rounds, data, run), data)


def _went_well(results: Results, first: str) -> bool:
    """Return whether the first run, which comes before the others, did not fail."""
    return "failed" not in results.records[first]


def set_jobs(results: Results, plan: Plan, name: str, models: list[str]) -> Iterator[Job]:
    """Yield the measurements on one set: run by run, the models taking turns."""
    yield Job(f"set/{name}", 0.0, partial(_shape, name))
    for run in range(plan.runs):
        for model in models:
            for rounds in plan.settings(name):
                cost = plan.cost(name, model, rounds)
                if not isinstance(cost, int | float):
                    continue
                start = table_key(name, model, rounds)
                yield Job(
                    f"{start}/{run}",
                    OVERHEAD * cost,
                    partial(_table_entry, name, model, rounds, run),
                    partial(_went_well, results, f"{start}/0") if run else lambda: True,
                )


def scaling_jobs() -> Iterator[Job]:
    """Yield the fits of the scaling picture."""
    n_fits = sum(len(sizes) * len(scaling.models(axis)) for axis, sizes in scaling.SIZES.items())
    for axis, sizes in scaling.SIZES.items():
        for size in sizes:
            for model in scaling.models(axis):
                make = partial(scaling.fit_time, model, axis, size)
                yield Job(scaling.key(model, axis, size), scaling.COST / n_fits, make)


def chosen_jobs(results: Results, plan: Plan, only: list[str], models: list[str]) -> list[Job]:
    """Return the chosen measurements."""
    jobs: list[Job] = []
    for name in SETS:
        if name in only or ("sets" in only and name in plan.sets):
            jobs += set_jobs(results, plan, name, models)
    for name, question in QUESTIONS.items():
        if name in only or "asked" in only:
            make = partial(answer, results, name)
            jobs.append(Job(name, question.cost, make, parts=f"asked/{name[-1]}"))
    if "scaling" in only:
        jobs += scaling_jobs()
    unique = {job.key: job for job in reversed(jobs)}  # settings that are the same have one name
    return list(reversed(unique.values()))


def forget(results: Results, jobs: list[Job]) -> None:
    """Forget what the measurements gave earlier, and what they made on the way."""
    keys = {job.key for job in jobs}
    parts = tuple(job.parts for job in jobs if job.parts)
    for key in [key for key in results.records if key in keys or key.startswith(parts)]:
        del results.records[key]


def _with_state(make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return a measurement with the state of the trees that it is of."""
    return {**make(), STATE: state_of_trees()}


def run_jobs(results: Results, jobs: list[Job]) -> None:
    """Make the measurements, showing which and how many are left."""
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, TimeRemainingColumn()) as progress:
        task = progress.add_task("", total=sum(job.cost for job in jobs))
        for number, job in enumerate(jobs, start=1):
            progress.update(task, description=f"{number}/{len(jobs)} {job.key}")
            if not progress.console.is_terminal:  # a log shows no bar
                progress.console.print(f"{number}/{len(jobs)} {job.key}", markup=False)
            if job.needed():
                results.attempt(job.key, partial(_with_state, job.make))
                failed = results.records[job.key].get("failed")
                if failed:
                    progress.console.print(
                        f"{job.key}: {failed}: {results.records[job.key]['message']}", markup=False
                    )
            progress.advance(task, job.cost)


def options() -> argparse.Namespace:
    """Return the options of the command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [*SETS, *QUESTIONS, "scaling", "sets", "asked"]
    parser.add_argument("--quick", action="store_true", help="three sets, few rounds, one run")
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME", help="parts to measure")
    parser.add_argument("--models", nargs="+", choices=PEERS, default=list(PEERS), metavar="MODEL")
    parser.add_argument("--runs", type=int, help="runs of every fit (3, quick: 1)")
    parser.add_argument("--out", type=Path, help="the page")
    parser.add_argument("--results", type=Path, help="file that keeps the measurements")
    parser.add_argument(
        "--fresh",
        action="store_true",
        help="forget earlier measurements of the chosen parts and models",
    )
    parser.add_argument("--page-only", action="store_true", help="measure nothing")
    return parser.parse_args()


def main() -> None:
    chosen = options()
    plan = Plan(chosen.quick, chosen.runs or (1 if chosen.quick else 3))
    kind = "performance-quick" if plan.quick else "performance"
    results = Results(chosen.results or ROOT / "output" / f"{kind}.json")
    if not chosen.page_only:
        only = chosen.only or (["sets"] if plan.quick else ["sets", "asked", "scaling"])
        jobs = chosen_jobs(results, plan, only, chosen.models)
        if chosen.fresh:
            forget(results, jobs)
        jobs = [job for job in jobs if not results.done(job.key)]
        minutes = sum(job.cost for job in jobs) / 60
        print(f"{len(jobs)} measurements, about {minutes:.1f} minutes on two cores")
        results.put("environment", environment())
        run_jobs(results, jobs)
    out = chosen.out or ROOT / ("output" if plan.quick else "docs") / f"{kind}.md"
    write_page(results.records, plan, out)
    results.write(out.with_suffix("") / MEASUREMENTS)
    print(f"page: {out.name}")


if __name__ == "__main__":
    main()
