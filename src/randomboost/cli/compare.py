"""``randomboost compare``: our models and those of other libraries on the same folds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from ..compare.contest import Cell, Contest
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
        terminal.message(f"{len(contest.entrants)} models with default parameters on {self.splits}")
        done = self._measure()
        entrants, numbers = contest.complete()
        for key, reason in contest.failed.items():
            terminal.message(f"{key} failed: {reason}")
        if not done:
            terminal.message(
                f"interrupted: {len(contest.cells)} fits done, {len(numbers)} folds are complete"
            )
        if not entrants:
            terminal.message("nothing was measured")
            return INTERRUPTED if not done else FAILED
        terminal.result(
            self._as_dict(entrants, numbers), self._table(entrants, numbers), self._legend()
        )
        if report is not None:
            self._write_report(report, entrants, numbers)
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

    def _cells(self, entrant: Entrant, numbers: list[int]) -> list[Cell]:
        return [self.contest.cells[entrant.key, number] for number in numbers]

    def _p_values(self, entrants: list[Entrant]) -> dict[str, float | None]:
        """Return for every model the p-value of its difference from the best one."""
        comparison = self.contest.comparison()
        if comparison is None:
            return {entrant.key: None for entrant in entrants}
        row = comparison.p_values[comparison.best]
        return {
            entrant.key: None if place == comparison.best or np.isnan(row[place]) else row[place]
            for place, entrant in enumerate(entrants)
        }

    def _as_dict(self, entrants: list[Entrant], numbers: list[int]) -> dict[str, Any]:
        p_values = self._p_values(entrants)
        models = []
        for entrant in entrants:
            cells = self._cells(entrant, numbers)
            models.append(
                {
                    "model": entrant.key,
                    "title": entrant.title,
                    "error": float(np.mean([cell.error for cell in cells])),
                    "errors": [cell.error for cell in cells],
                    "log_losses": [cell.log_loss for cell in cells],
                    "fit_seconds": [cell.fit_seconds for cell in cells],
                    "predict_seconds": [cell.predict_seconds for cell in cells],
                    "bytes": [cell.size for cell in cells],
                    "p_value_against_best": p_values[entrant.key],
                }
            )
        return {
            "data": self.data.name,
            "target": self.data.target,
            "rows": len(self.data.y),
            "folds": len(numbers),
            "seed": self.seed,
            "test": _TEST,
            "models": models,
            "failed": self.contest.failed,
        }

    def _table(self, entrants: list[Entrant], numbers: list[int]) -> Table:
        p_values = self._p_values(entrants)
        table = plain_table("model", "error %", "±", "log loss", "fit", "predict", "size", "p")
        table.columns[0].no_wrap = True
        rows = []
        for entrant in entrants:
            cells = self._cells(entrant, numbers)
            errors = 100 * np.array([cell.error for cell in cells])
            losses = [cell.log_loss for cell in cells if cell.log_loss is not None]
            p_value = p_values[entrant.key]
            line = [
                entrant.title,
                f"{errors.mean():.2f}",
                f"{errors.std(ddof=1):.2f}" if len(cells) > 1 else "-",
                f"{np.mean(losses):.4f}" if losses else "-",
                format_seconds(float(np.mean([cell.fit_seconds for cell in cells]))),
                format_seconds(float(np.mean([cell.predict_seconds for cell in cells]))),
                format_bytes(float(np.mean([cell.size for cell in cells]))),
                "" if p_value is None else f"{p_value:.3f}" + (" *" if p_value < 0.05 else "  "),
            ]
            rows.append((errors.mean(), line))
        for _, line in sorted(rows, key=lambda row: row[0]):
            table.add_row(*line)
        return table

    def _legend(self) -> str:
        return (
            f"\np: {_TEST}; * below 0.05\n"
            "size: model file (ours) or pickled model (others); predict: time for one test fold"
        )

    def _write_report(self, report: str, entrants: list[Entrant], numbers: list[int]) -> None:
        from ..report import ModelResult, write_comparison_report

        results = []
        for entrant in entrants:
            cells = self._cells(entrant, numbers)
            losses = [cell.log_loss for cell in cells if cell.log_loss is not None]
            results.append(
                ModelResult(
                    entrant.title,
                    error=[cell.error for cell in cells],
                    log_loss=losses if len(losses) == len(cells) else (),
                    fit_seconds=[cell.fit_seconds for cell in cells],
                    predict_seconds=[cell.predict_seconds for cell in cells],
                    size=[cell.size for cell in cells],
                )
            )
        write_comparison_report(
            report,
            results,
            part_names=[f"fold {number + 1}" for number in numbers],
            X=self.data.X,
            y=self.data.y,
            title=f"{Path(self.data.name).name}: comparison of models",
            facts={"data": Path(self.data.name).name, "target": self.data.target,
                   "folds": self.splits, "seed": self.seed},
            notes=[*self.data.left_out_notes(),
                   *(f"{key} failed: {reason}" for key, reason in self.contest.failed.items())],
        )  # fmt: skip
        self.terminal.message(f"report: {report}")
