"""``randomboost compare``: our models and those of other libraries on the same folds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from ..compare.contest import Contest
from ..compare.entrants import Entrant, UnknownModelError, choose_entrants
from ..compare.folds import make_folds
from ..runtime.units import format_bytes, format_seconds
from .console import Terminal, plain_table
from .data import TrainingTable
from .options import DONE, FAILED, INTERRUPTED

_TEST = (
    "corrected resampled t-test over the folds against the model with the lowest error, with "
    "Holm's correction"
)
_LEGEND = (
    f"\np: {_TEST}; * below 0.05\n"
    "size: model file (ours) or pickled model (others); predict: time for one test fold"
)


def _entrants(only: str | None, n_rows: int, n_classes: int) -> list[Entrant]:
    """Return the models that ``--only`` names, or all that suit the data."""
    keys = None
    if only is not None:
        keys = [key.strip().lower() for key in only.split(",") if key.strip()]
        if not keys:
            raise typer.BadParameter("names no model", param_hint="--only")
    try:
        return choose_entrants(keys, n_rows, n_classes)
    except UnknownModelError as error:
        raise typer.BadParameter(str(error), param_hint="--only") from error


class ComparisonRun:
    """A run of ``randomboost compare``, which describes the parameters.

    Parameters
    ----------
    terminal : Terminal
        Where to print.
    data : TrainingTable
        The data.
    only : str or None
        Names of the models, separated by commas; None for all that suit the data.
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
        folds: int,
        repeats: int,
        seed: int,
    ) -> None:
        self.terminal = terminal
        self.data = data
        self.seed = seed
        self.splits = f"{folds} folds" + (f", repeated {repeats} times" if repeats > 1 else "")
        entrants = _entrants(only, len(data.y), len(np.unique(data.y)))
        parts = make_folds(data.y, folds, repeats, seed)
        self.contest = Contest(entrants, data.X, data.y, parts, seed)

    def run(self, report: str | None) -> int:
        """Measure all models, print the results and write the report; return the exit code."""
        contest, terminal = self.contest, self.terminal
        if report is not None and not Path(report).parent.is_dir():
            Path(report).parent.mkdir(parents=True)
        self.data.present(terminal)
        terminal.message(f"{len(contest.entrants)} models without tuning on {self.splits}")
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
        n_folds = len(contest.folds)
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

            return contest.run(before, after)

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
        failed = [f"{key} failed: {reason}" for key, reason in self.contest.failed.items()]
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
                "folds": self.splits,
                "seed": self.seed,
            },
            notes=[*self.data.left_out_notes(), *failed],
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
