"""A comparison: which models take part, how it goes, and what came of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from ..compare.contest import Cell, Contest, Entrant, Other, Own
from ..compare.folds import make_folds
from ..compare.peers import RIVALS
from .console import Talk, in_bytes, in_time, plain_table
from .data import TrainingTable
from .models import MODELS

_DONE, _FAILED, _INTERRUPTED = 0, 1, 130
_ASKED_FOR = {"rank-paper"}  # takes minutes on small data
_TEST = "corrected resampled t-test over the folds, against the lowest error, Holm's correction"


def choose_entrants(only: str | None, n_rows: int, n_classes: int) -> list[Entrant]:
    """Return the models that take part.

    Parameters
    ----------
    only : str or None
        Their names with commas between them; None for all that suit.
    n_rows, n_classes : int
        Size of the data.

    Returns
    -------
    list of Entrant
        The models.
    """
    if only is not None:
        keys = list(dict.fromkeys(key.strip().lower() for key in only.split(",") if key.strip()))
        for key in keys:
            if key not in MODELS and key not in RIVALS:
                raise typer.BadParameter(
                    f"{key!r} is not one of {', '.join([*MODELS, *RIVALS])}", param_hint="--only"
                )
            if key in RIVALS and not RIVALS[key].installed:
                raise ValueError(f"{key} is not installed: pip install {key}")
        if not keys:
            raise typer.BadParameter("names no model", param_hint="--only")
        return [Own(key) if key in MODELS else Other(key) for key in keys]
    own = [key for key in MODELS if key not in _ASKED_FOR and (key != "adaboost" or n_classes == 2)]
    others = [
        key
        for key, rival in RIVALS.items()
        if rival.installed and (rival.most_rows is None or n_rows <= rival.most_rows)
    ]
    return [*map(Own, own), *map(Other, others)]


class ComparisonRun:
    """What ``randomboost compare`` does; see there for the parameters.

    Parameters
    ----------
    talk : Talk
        Where to say how it goes.
    data : TrainingTable
        The data.
    only : str or None
        Models.
    folds, repeats : int
        The cross-validation.
    seed : int
        Seed.
    """

    def __init__(
        self,
        talk: Talk,
        data: TrainingTable,
        *,
        only: str | None,
        folds: int,
        repeats: int,
        seed: int,
    ) -> None:
        self.talk = talk
        self.data = data
        self.seed = seed
        self.what = f"{folds} folds" + (f", {repeats} times" if repeats > 1 else "")
        entrants = choose_entrants(only, len(data.y), len(np.unique(data.y)))
        parts = make_folds(data.y, folds, repeats, seed)
        self.contest = Contest(entrants, data.X, data.y, parts, seed)

    def go(self, report: str | None) -> int:
        """Measure, print, write the page; return the exit code."""
        contest, talk = self.contest, self.talk
        if report is not None and not Path(report).parent.is_dir():
            Path(report).parent.mkdir(parents=True)
        talk.say(f"{self.data.name}: {len(self.data.y)} rows")
        talk.show(self.data.overview())
        for remark in self.data.remarks:
            talk.say(remark)
        talk.say(f"{len(contest.entrants)} models, each as it comes, on {self.what}")
        done = self._run()
        entrants, numbers = contest.complete()
        for key, reason in contest.failed.items():
            talk.say(f"{key} failed: {reason}")
        if not done:
            talk.say(f"interrupted: {len(contest.cells)} cells, {len(numbers)} folds are complete")
        if not entrants:
            talk.say("nothing was measured")
            return _INTERRUPTED if not done else _FAILED
        talk.result(
            self._as_dict(entrants, numbers), self._table(entrants, numbers), self._legend()
        )
        if report is not None:
            self._write_report(report, entrants, numbers)
        return _DONE if done else _INTERRUPTED

    def _run(self) -> bool:
        """Measure, with a bar on a terminal and a line for every cell elsewhere."""
        contest, talk = self.contest, self.talk
        n_folds = len(contest.folds)
        shown = talk.errors.is_terminal and not talk.quiet
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        with Progress(
            *columns, TimeElapsedColumn(), console=talk.errors, disable=not shown, transient=True
        ) as bar:
            task = bar.add_task("", total=n_folds * len(contest.entrants))

            def before(entrant: Entrant, number: int) -> None:
                bar.update(task, description=f"fold {number + 1}: {entrant.title}")

            def after(entrant: Entrant, number: int) -> None:
                bar.advance(task)
                cell = contest.cells.get((entrant.key, number))
                if cell is not None and not shown:
                    talk.say(
                        f"fold {number + 1} of {n_folds}, {entrant.title}: error "
                        f"{100 * cell.error:.2f} %, fit {in_time(cell.fit_seconds)}"
                    )

            return contest.run(before, after)

    # -- results -------------------------------------------------------------------------------

    def _cells(self, entrant: Entrant, numbers: list[int]) -> list[Cell]:
        return [self.contest.cells[entrant.key, number] for number in numbers]

    def _p_values(self, entrants: list[Entrant]) -> dict[str, float | None]:
        """Return for every model how likely its distance to the best is by chance."""
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
                in_time(float(np.mean([cell.fit_seconds for cell in cells]))),
                in_time(float(np.mean([cell.predict_seconds for cell in cells]))),
                in_bytes(float(np.mean([cell.size for cell in cells]))),
                "" if p_value is None else f"{p_value:.3f}" + (" *" if p_value < 0.05 else "  "),
            ]
            rows.append((errors.mean(), line))
        for _, line in sorted(rows, key=lambda row: row[0]):
            table.add_row(*line)
        return table

    def _legend(self) -> str:
        return (
            f"\np: {_TEST}; * below 0.05\n"
            "size: the model file of ours, the pickled model of others; predict: one test fold"
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
                   "folds": self.what, "seed": self.seed},
            notes=[*(f"Column {c.name} is left out: {c.reason}." for c in self.data.left_out),
                   *(f"{key} failed: {reason}" for key, reason in self.contest.failed.items())],
        )  # fmt: skip
        self.talk.say(f"page: {report}")
