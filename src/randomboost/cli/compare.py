"""``randomboost compare``: our models and those of other libraries on the same folds."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import typer
from joblib import cpu_count
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from ..compare.apart import Apart
from ..compare.contest import Contest
from ..compare.entrants import Entrant, UnknownModelError, choose_entrants
from ..compare.folded_data import FoldedData
from ..compare.folds import make_folds
from ..runtime.units import format_bytes, format_seconds
from .console import Terminal, plain_table
from .data import TrainingTable
from .options import DONE, FAILED, INTERRUPTED
from .outputs import check_writable

_TEST = (
    "corrected resampled t-test over the folds against the model with the lowest error, with "
    "Holm's correction"
)
_FEW_FOLDS = 5
_BUSY = 0.5  # load of a core by others from which times are doubtful
_LEGEND = (
    f"\np: {_TEST}; * below 0.05\n"
    "size: model file (ours) or pickled model (others); predict: time for one test fold"
)


def _entrants(only: str | None, everything: bool, n_rows: int, n_classes: int) -> list[Entrant]:
    """Return the models that ``--only`` names, or those that suit the data."""
    keys = None
    if only is not None:
        if everything:
            raise typer.BadParameter("cannot be combined with --only", param_hint="--all")
        keys = [key.strip().lower() for key in only.split(",") if key.strip()]
        if not keys:
            raise typer.BadParameter("names no model", param_hint="--only")
    try:
        return choose_entrants(keys, n_rows, n_classes, everything=everything)
    except UnknownModelError as error:
        raise typer.BadParameter(str(error), param_hint="--only") from error


def _load_note() -> str | None:
    """Return a note if other processes keep the cores busy; None if not, or if unknown."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    if load < _BUSY * cpu_count():
        return None
    return (
        f"Other processes are using this machine (load {load:.1f} on {cpu_count()} cores), so all "
        "times are too long, above all those of libraries whose threads wait actively (OpenMP)."
    )


class ComparisonRun:
    """A run of ``randomboost compare``, which describes the parameters.

    Parameters
    ----------
    terminal : Terminal
        Where to print.
    data : TrainingTable
        The data.
    only : str or None
        Names of the models, separated by commas; None for those that suit the data.
    everything : bool
        Whether the methods that the paper compares with take part too.
    folds, repeats : int
        Number of folds and of repetitions of the cross-validation.
    seed : int
        Seed of the folds and of the models.
    """

    def __init__(
        self,
        terminal: Terminal,
        data: TrainingTable,
        *,
        only: str | None,
        everything: bool,
        folds: int,
        repeats: int,
        seed: int,
    ) -> None:
        self.terminal = terminal
        self.data = data
        self.seed = seed
        self.splits = f"{folds} folds" + (f", repeated {repeats} times" if repeats > 1 else "")
        self.notes: list[str] = []
        entrants = _entrants(only, everything, len(data.y), len(np.unique(data.y)))
        parts = make_folds(data.y, folds, repeats, seed)
        self.apart = Apart(FoldedData.of_labels(data.X, data.y, parts, seed))
        self.contest = Contest(entrants, len(parts), self.apart)

    def run(self, report: str | None) -> int:
        """Measure all models, print the results and write the report; return the exit code."""
        contest, terminal = self.contest, self.terminal
        if report is not None:
            Path(report).parent.mkdir(parents=True, exist_ok=True)
            check_writable(report)
        self.data.present(terminal)
        terminal.message(
            f"{len(contest.entrants)} models without tuning, each in a process of its own, on "
            f"{self.splits}: {len(contest.entrants) * contest.n_folds} fits, one after the other"
        )
        busy = _load_note()
        if busy is not None:
            self.notes.append(busy)
            terminal.message(busy)
        with self.apart:
            done = self._measure()
        models, numbers = contest.results(), contest.complete()[1]
        for key, reason in contest.failed.items():
            terminal.message(f"{key} failed: {reason}")
        if not done:
            terminal.message(
                f"interrupted: {len(contest.cells)} fits done, {len(numbers)} folds are complete"
            )
        if not models:
            terminal.message("nothing was measured")
            return INTERRUPTED if not done else FAILED
        terminal.result(self._as_dict(models, len(numbers)), _table(models), _LEGEND)
        if report is not None:
            self._write_report(report, models, numbers)
        return DONE if done else INTERRUPTED

    def _measure(self) -> bool:
        """Measure all models, with a progress bar on a terminal and one line per fit elsewhere."""
        contest, terminal = self.contest, self.terminal
        n_folds = contest.n_folds
        began = time.monotonic()
        shown = terminal.errors.is_terminal and not terminal.quiet
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        with Progress(
            *columns,
            TimeElapsedColumn(),
            console=terminal.errors,
            disable=not shown,
            transient=True,
        ) as bar:
            task = bar.add_task("", total=n_folds * len(contest.entrants))

            def before(entrant: Entrant, number: int) -> None:
                bar.update(task, description=f"fold {number + 1}: {entrant.title}")

            def after(entrant: Entrant, number: int) -> None:
                bar.advance(task)
                cell = contest.cells.get((entrant.key, number))
                if cell is not None and not shown:
                    terminal.message(
                        f"fold {number + 1} of {n_folds}, {entrant.title}: error "
                        f"{100 * cell.error:.2f} %, fit {format_seconds(cell.fit_seconds)}"
                    )
                if number == 0 and entrant is contest.entrants[-1] and n_folds > 1:
                    self._tell_cost(time.monotonic() - began)

            return contest.run(before, after)

    def _tell_cost(self, taken: float) -> None:
        """Say what the folds after the first one will take, once the first one is done."""
        first = [cell for (_, number), cell in self.contest.cells.items() if number == 0]
        fold = sum(cell.fit_seconds + 2 * cell.predict_seconds for cell in first)
        self.terminal.message(
            f"the first fold took {format_seconds(taken)}, with starting and compiling; the other "
            f"{self.contest.n_folds - 1} will take about "
            f"{format_seconds((self.contest.n_folds - 1) * fold)}; Ctrl-C shows the results so far"
        )

    # -- results -------------------------------------------------------------------------------

    def _as_dict(self, models: list[dict[str, Any]], n_folds: int) -> dict[str, Any]:
        return {
            "data": self.data.name,
            "target": self.data.target,
            "rows": len(self.data.y),
            "folds": n_folds,
            "seed": self.seed,
            "test": _TEST,
            "models": models,
            "failed": self.contest.failed,
        }

    def _power_note(self, n_folds: int) -> list[str]:
        """Return a note on what the test can show with few folds."""
        if n_folds > _FEW_FOLDS:
            return []
        return [
            f"With {n_folds} folds only large differences are significant, and one that is not may "
            "still be real: --repeats 3 measures more often."
        ]

    def _write_report(self, report: str, models: list[dict[str, Any]], numbers: list[int]) -> None:
        from ..report import ModelResult, write_comparison_report

        results = [
            ModelResult(
                model["title"],
                error=model["errors"],
                log_loss=() if None in model["log_losses"] else model["log_losses"],
                fit_seconds=model["fit_seconds"],
                predict_seconds=model["predict_seconds"],
                size=model["bytes"],
            )
            for model in models
        ]
        name = Path(self.data.name).name
        notes = [f"{key} failed: {reason}" for key, reason in self.contest.failed.items()]
        notes += [*self.notes, *self._power_note(len(numbers)), *self.data.left_out_notes()]
        write_comparison_report(
            report,
            results,
            part_names=[f"fold {number + 1}" for number in numbers],
            X=self.data.X,
            y=self.data.y,
            title=f"{name}: comparison of models",
            facts={
                "data": name,
                "target": self.data.target,
                "models": "default parameters, all cores, a process each",
                "cross-validation": self.splits,
                "seed": self.seed,
            },
            notes=notes,
        )
        self.terminal.message(f"report: {report}")


def _table(models: list[dict[str, Any]]) -> Table:
    """Return the mean measurements of the models, lowest error first."""
    table = plain_table("model", "error %", "±", "log loss", "fit", "predict", "size", "p")
    table.columns[0].no_wrap = True
    for model in sorted(models, key=lambda model: model["error"]):
        errors = 100 * np.array(model["errors"])
        losses = [loss for loss in model["log_losses"] if loss is not None]
        p_value = model["p_value_against_best"]
        table.add_row(
            model["title"],
            f"{errors.mean():.2f}",
            f"{errors.std(ddof=1):.2f}" if len(errors) > 1 else "-",
            f"{np.mean(losses):.4f}" if losses else "-",
            format_seconds(float(np.mean(model["fit_seconds"]))),
            format_seconds(float(np.mean(model["predict_seconds"]))),
            format_bytes(float(np.mean(model["bytes"]))),
            "" if p_value is None else f"{p_value:.3f}" + (" *" if p_value < 0.05 else "  "),
        )
    return table
