"""Runs the cells of an experiment: finished ones are skipped, failures are reported."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..datasets import DataNotFoundError
from ..datasets.loading import SOURCES
from .cells import Cell, loaded, run
from .costs import expected, size
from .experiments import Experiment, Method, get, quick
from .known import KnownRuns
from .runs import Row, rows_of
from .store import Store

_FEW = 300  # with fewer training samples the coarse tuning of nu uses three folds


@dataclass(frozen=True)
class Options:
    """How an experiment is run.

    Parameters
    ----------
    out : Path
        Folder of the results.
    repeats : int or None
        Repeats; None for as many as the paper.
    quick : bool
        The small version, on data of installed packages.
    only : sequence of str
        Names of sets and methods to restrict the run to.
    jobs : int
        Cells that run in parallel, each in its own process.
    grid : {"paper", "coarse"}
        How nu is tuned; the small version always uses "coarse".
    threads : int or None
        Threads of a fit; None for the cores divided by `jobs`.
    rounds : int or None
        Rounds instead of the experiment's, for tests.
    known : Path or None
        Folder of results that were made elsewhere: the rows of its runs.csv files count as
        finished, and new ones are added to them.
    """

    out: Path
    repeats: int | None = None
    quick: bool = False
    only: Sequence[str] = ()
    jobs: int = 1
    grid: str = "paper"
    threads: int | None = None
    rounds: int | None = None
    known: Path | None = None


@dataclass
class Plan:
    """The cells of an experiment.

    Parameters
    ----------
    experiment : Experiment
        The experiment, as it is run.
    options : Options
        How it is run.
    groups : list of list of Cell
        The cells to report, grouped by set and method.
    left_out : dict of str to Exception
        Sets that are not available, and why.
    """

    experiment: Experiment
    options: Options
    groups: list[list[Cell]]
    left_out: dict[str, Exception]
    store: Store = field(init=False)
    known: KnownRuns = field(init=False)

    def __post_init__(self) -> None:
        self.store = Store(self.folder / "cells")
        known = self.options.known
        self.known = KnownRuns(None if known is None else known / self.folder.name / "runs.csv")

    @property
    def folder(self) -> Path:
        """Return the folder of this experiment's cells."""
        name = self.experiment.cells_of or self.experiment.name
        return self.options.out / (f"{name}-quick" if self.options.quick else name)

    @property
    def pages(self) -> Path:
        """Return the folder of this experiment's tables and figures."""
        name = self.experiment.name
        return self.options.out / (f"{name}-quick" if self.options.quick else name)

    def result(self, cell: Cell) -> dict[str, Any] | None:
        """Return the saved result of a cell.

        Parameters
        ----------
        cell : Cell
            The cell.

        Returns
        -------
        dict or None
            The result; None if the cell is not finished.
        """
        return self.store.load(cell.name, cell.describe())

    def cells(self) -> list[Cell]:
        """Return the reported cells."""
        return [cell for group in self.groups for cell in group]

    def finished(self) -> list[tuple[Cell, dict[str, Any]]]:
        """Return the reported cells that were finished here, with their results."""
        found = [(cell, self.result(cell)) for cell in self.cells() if not self.known.row(cell)]
        return [(cell, result) for cell, result in found if result is not None]

    def rows(self) -> list[Row]:
        """Return one row per finished reported cell, of known runs and of those made here."""
        results = self.finished()
        made = {cell.name: row for (cell, _), row in zip(results, rows_of(results), strict=True)}
        found = [self.known.row(cell) or made.get(cell.name) for cell in self.cells()]
        return [row for row in found if row is not None]

    def to_do(self) -> list[Cell]:
        """Return the unfinished cells, with those that tune nu for them."""
        todo: dict[str, Cell] = {}
        for cell in self.cells():
            if self.known.row(cell) is None and self.result(cell) is None:
                trials = self.trials(cell) if self._known_nu(cell) is None else []
                for other in (*trials, cell):
                    if self.result(other) is None:
                        todo[other.name] = other
        return list(todo.values())

    def seconds(self) -> float:
        """Return the approximate cost of the unfinished cells, in seconds of one core."""
        return sum(expected(cell) for cell in self.to_do())

    # -- tuning nu -----------------------------------------------------------------------------

    def method(self, cell: Cell) -> Method:
        """Return the method of a cell.

        Parameters
        ----------
        cell : Cell
            The cell.

        Returns
        -------
        Method
            Its method.
        """
        return next(method for method in self.experiment.methods if method.key == cell.method)

    def trials(self, cell: Cell) -> list[Cell]:
        """Return the cells that tune nu for a cell, one per fold, all within its training part.

        Parameters
        ----------
        cell : Cell
            A reported cell.

        Returns
        -------
        list of Cell
            Empty if nu is not tuned.
        """
        if not cell.grid:
            return []
        method = self.method(cell)
        tuned = method.nu_of or method
        if cell.grid == "paper":
            values, folds, repeat = method.grid, 5, cell.repeat
        else:
            values, folds, repeat = method.coarse, 1, 0
            if size(cell.set)[0] < _FEW:
                folds = 3
        if size(cell.set)[2] == 2 and method.two_class:
            values = method.two_class
        limits = [cell.rounds] * len(values)
        if tuned.parameters.get("selection") == "violation":  # it hardly ever stops by itself
            limits = [-(-cell.rounds * part // len(values)) for part in range(1, len(values) + 1)]
        trial = replace(
            cell,
            method=tuned.key,
            parameters=dict(tuned.parameters),
            repeat=repeat,
            curve=False,
            path=tuple(sorted(values, reverse=True)),
            limits=tuple(limits),
            folds=folds,
        )
        return [replace(trial, fold=fold) for fold in range(folds)]

    def _known_nu(self, cell: Cell) -> float | None:
        """Return the nu of a known run whose trials are those of a cell."""
        if not cell.grid:
            return None
        tuned = self.method(cell).nu_of or self.method(cell)
        sharing = [each for each in self.experiment.methods if each.nu_of == tuned]
        return self.known.nu(
            replace(cell, method=each.key, parameters=dict(each.parameters))
            for each in (tuned, *sharing)
        )

    def choice(self, cell: Cell) -> float | None:
        """Return the nu with the fewest wrong predictions in the trials; the largest if tied.

        Parameters
        ----------
        cell : Cell
            A reported cell, whose trials are finished or known.

        Returns
        -------
        float or None
            The tuned nu; None if nu is not tuned.
        """
        known = self._known_nu(cell)
        if known is not None:
            return known
        wrong: dict[float, int] = defaultdict(int)
        for trial in self.trials(cell):
            result = self.result(trial)
            if result is None:
                raise ValueError(f"nu of {cell.name} cannot be tuned: {trial.name} is missing")
            for nu, count in zip(trial.path, result["wrong"], strict=True):
                wrong[nu] += count
        return min(wrong, key=lambda nu: (wrong[nu], -nu)) if wrong else None


def plan(name: str, options: Options) -> Plan:
    """Return the plan of an experiment.

    Parameters
    ----------
    name : str
        Name of the experiment.
    options : Options
        How it is run.

    Returns
    -------
    Plan
        The plan.
    """
    experiment = quick(get(name)) if options.quick else get(name)
    if options.rounds is not None:
        at = tuple(t for t in experiment.at if t < options.rounds)
        at = (*at, options.rounds) if experiment.at else ()
        experiment = replace(experiment, rounds=options.rounds, at=at)
    sets, methods = _restricted(experiment, options.only)
    experiment = replace(experiment, sets=sets, methods=methods)
    sources = ("packages",) if options.quick else SOURCES
    problems = {base: _missing(base, sources) for base in dict.fromkeys(map(_base, sets))}
    left_out = {base: problem for base, problem in problems.items() if problem is not None}
    repeats = experiment.repeats if options.repeats is None else options.repeats
    grid = "coarse" if options.quick else options.grid
    groups = []
    available = [name for name in sets if _base(name) not in left_out]
    for name in sorted(available, key=lambda name: (_work(name), name)):
        for method in methods:
            first = _cell(experiment, name, method, sources, grid)
            groups.append([replace(first, repeat=repeat) for repeat in range(repeats)])
    return Plan(experiment, options, groups, left_out)


def _work(name: str) -> int:
    m, d, k = size(name)
    return m * k * (d + 20)


def _cell(
    experiment: Experiment, name: str, method: Method, sources: tuple[str, ...], grid: str
) -> Cell:
    rounds = experiment.rounds
    if name.startswith("T="):
        rounds = int(name[2:])
    return Cell(
        experiment=experiment.cells_of or experiment.name,
        set=name,
        method=method.key,
        repeat=0,
        estimator=method.estimator,
        parameters=dict(method.parameters),
        rounds=rounds,
        measure=experiment.measure,
        curve=experiment.curve,
        directions=method.directions,
        sources=sources,
        grid=grid if method.grid else "",
    )


def _restricted(
    experiment: Experiment, only: Sequence[str]
) -> tuple[tuple[str, ...], tuple[Method, ...]]:
    known = {*experiment.sets, *(method.key for method in experiment.methods)}
    unknown = [name for name in only if name not in known]
    if unknown:
        raise ValueError(
            f"--only {unknown[0]!r} is not a set or method of {experiment.name}: use "
            f"{', '.join(sorted(known))}"
        )
    sets = tuple(name for name in experiment.sets if name in only) or experiment.sets
    methods = tuple(method for method in experiment.methods if method.key in only)
    return sets, methods or experiment.methods


def _base(name: str) -> str:
    return name.split("@")[0].split("+")[0]


def _missing(name: str, sources: tuple[str, ...]) -> Exception | None:
    """Return why a set is not available, or None."""
    try:
        if "=" not in name:
            loaded(name, sources)
    except (DataNotFoundError, ValueError) as error:
        return error
    return None


@dataclass
class Outcome:
    """How a run ended.

    Parameters
    ----------
    done : int
        Number of cells that were run.
    failed : dict of str to str
        Cells that failed, and why.
    """

    done: int = 0
    failed: dict[str, str] = field(default_factory=dict)


def execute(plan: Plan, advance: Callable[[Cell, float], None] | None = None) -> Outcome:
    """Run all unfinished cells; save each at once.

    Parameters
    ----------
    plan : Plan
        The plan.
    advance : callable or None
        Called after every cell with the cell and its expected seconds.

    Returns
    -------
    Outcome
        What was run and what failed.
    """
    outcome = Outcome()
    threads = plan.options.threads
    if threads is None:
        threads = max(1, (os.cpu_count() or 1) // max(plan.options.jobs, 1))
    results = (_in_turn if plan.options.jobs <= 1 else _side_by_side)(plan, threads)
    for cell, result in results:
        if isinstance(result, Exception):
            outcome.failed[cell.name] = re.sub(r"\s+", " ", f"{type(result).__name__}: {result}")
        else:
            plan.store.save(cell.name, cell.describe(), result)
            outcome.done += 1
        if advance is not None:
            advance(cell, expected(cell))
    return outcome


Result = tuple[Cell, dict[str, Any] | Exception]


def _in_turn(plan: Plan, threads: int) -> Iterator[Result]:
    """Yield the results of cells one by one; trials come before the cells that need them."""
    for cell in plan.to_do():
        try:
            yield cell, run(cell, _nu(plan, cell), threads)
        except Exception as error:
            yield cell, error


def _side_by_side(plan: Plan, threads: int) -> Iterator[Result]:
    """Yield results of several processes; a cell starts when its trials are saved."""
    waiting = plan.to_do()
    running: dict[Future, Cell] = {}
    with ProcessPoolExecutor(plan.options.jobs) as pool:
        while waiting or running:
            open_names = {cell.name for cell in (*waiting, *running.values())}
            ready = [cell for cell in waiting if not _needs(plan, cell) & open_names]
            for cell in ready[: plan.options.jobs - len(running)]:
                waiting.remove(cell)
                try:
                    running[pool.submit(run, cell, _nu(plan, cell), threads)] = cell
                except ValueError as error:  # a trial failed
                    yield cell, error
            for future in wait(running, return_when=FIRST_COMPLETED).done if running else ():
                problem = future.exception()
                if problem is not None and not isinstance(problem, Exception):
                    raise problem
                yield running.pop(future), future.result() if problem is None else problem


def _needs(plan: Plan, cell: Cell) -> set[str]:
    return set() if cell.path else {trial.name for trial in plan.trials(cell)}


def _nu(plan: Plan, cell: Cell) -> float | None:
    return None if cell.path else plan.choice(cell)
