"""Measurements to be made one after the other, with a bar that shows how many are left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from measure import Results, state_of_trees
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

ROOT = Path(__file__).resolve().parent.parent
STATE = "trees"  # of a measurement: see `state_of_trees`
MEASUREMENTS = "measurements.json"  # what a page is made of, in the folder of its pictures


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
    """

    key: str
    cost: float
    make: Callable[[], Any]
    needed: Callable[[], bool] = lambda: True


def forget(results: Results, jobs: list[Job]) -> None:
    """Forget what the measurements gave earlier."""
    for job in jobs:
        results.records.pop(job.key, None)


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
