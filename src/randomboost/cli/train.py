"""``randomboost train``: read a table, fit a model, save it, score it, write a report."""

from __future__ import annotations

import secrets
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.base import clone

from .. import __version__, files
from ..compare.entrants import classifier_of
from ..compare.folds import hold_out, make_folds
from ..compare.scores import Scores, score
from ..reading import Decision
from ..runtime.units import format_bytes, format_seconds
from .console import Terminal
from .data import TrainingTable, read_training_table, save_decisions
from .fitting import Checkpoint, fit
from .large_data import LargeTable, lack_of_memory, large_folder, read_large_table
from .large_fit import fit_large, need_dask, score_large
from .models import make_model
from .options import DONE, INTERRUPTED
from .outputs import check_writable

_REPORT_SHARE = 0.2  # fraction of the rows that is held out for a report without --test-size

_LARGE = "randomboost"  # the model that can be trained out of core


class TrainingRun:
    """A run of ``randomboost train``, which describes the parameters.

    Parameters
    ----------
    terminal : Terminal
        Where to print.
    out : str
        Model file, or ``-`` for standard output.
    model : str
        Name of the model.
    settings : sequence of str
        Parameters as ``name=value``.
    seed : int or None
        Seed of the splits and of the model; None for a random one.
    cv : int
        Number of folds of a cross-validation, or 0.
    test_size : float
        Fraction of the rows to hold out.
    report : str or None
        HTML file.
    checkpoint_every : float
        Seconds between checkpoints.
    resume, force : bool
        Continue from a checkpoint; replace the model file.
    out_of_core : bool or None
        Whether to keep the data on disk; None to do so if it does not fit in memory.
    """

    data: TrainingTable
    train: Any  # indices of the training rows
    test: Any  # indices of the rows held out

    def __init__(
        self,
        terminal: Terminal,
        *,
        out: str,
        model: str,
        settings: Sequence[str],
        seed: int | None,
        cv: int,
        test_size: float,
        report: str | None,
        checkpoint_every: float,
        resume: bool,
        force: bool,
        out_of_core: bool | None = None,
    ) -> None:
        self.terminal = terminal
        self._out_of_core = out_of_core
        self._large: TemporaryDirectory[str] | None = None
        self.out, self._name = Path(out), out
        if out == "-":  # written to a file first: half a model is never passed on
            self._folder = TemporaryDirectory(prefix="randomboost-")
            self.out, self._name = Path(self._folder.name) / "model.rboost", "standard output"
        self._is_file = out != "-"
        self.model_name = model
        self.settings = list(settings)
        self.cv = cv
        self.report = report
        self.checkpoint_every = checkpoint_every
        self.resume = resume
        self._checkpoint_path = self.out.with_name(self.out.name + ".checkpoint")
        self.model = make_model(model, settings, verbose=terminal.verbose)
        self._check_files(force)
        if report and not test_size:
            share = f"{100 * _REPORT_SHARE:.0f} %"
            terminal.message(f"--report without --test-size: {share} of the rows are held out")
        self.test_size = test_size or (_REPORT_SHARE if report else 0.0)
        self.seed = self._seed(seed)
        self.model.set_params(random_state=self.seed)

    def _check_files(self, force: bool) -> None:
        """Check before the fit that the files can be written."""
        for path in [self.out, *([Path(self.report)] if self.report else [])]:
            check_writable(path)
        if self._checkpoint_path.exists():
            if force and not self.resume:
                self._checkpoint_path.unlink()
            elif not self.resume:
                raise ValueError(
                    f"{self._checkpoint_path} exists from an interrupted run: --resume continues "
                    "from it, --force starts again"
                )
        elif self.out.exists() and not force:
            raise ValueError(f"{self.out} already exists: --force replaces it")

    def _seed(self, seed: int | None) -> int:
        if seed is not None:
            return seed
        if self.resume and self._checkpoint_path.exists():
            kept = files.describe(self._checkpoint_path)["notes"].get("run", {}).get("seed")
            if isinstance(kept, int):
                return kept
        return secrets.randbelow(2**31)

    def read(
        self, path: str, target: str | None, save_columns: str | None = None, **reading: Any
    ) -> None:
        """Read the data; the parameters are those of `read_training_table`."""
        if self._is_large(path, reading["format"], reading["header"]):
            self._large = large_folder(self.out)
            self.data = read_large_table(path, target, self._large.name, self._split, **reading)
        else:
            self.data = read_training_table(path, target, **reading)
            self._split(self.data.y)
        if save_columns is not None:
            save_decisions(save_columns, self.data)
        self.data.present(self.terminal)

    def _split(self, y: Any) -> Any:
        """Choose the rows to train on and those to hold out, and return these."""
        self.train, self.test = np.arange(len(y)), np.arange(0)
        if self.test_size:
            self.train, self.test = hold_out(y, self.test_size, self.seed)
        return self.test

    def _is_large(self, path: str, format: str | None, header: bool) -> bool:
        """Return whether the data stays on disk, and say so."""
        if self._out_of_core is False or (self._out_of_core is None and self.model_name != _LARGE):
            return False
        reason = "--out-of-core"
        if self._out_of_core is None:
            lack = lack_of_memory(path, format, header)
            if lack is None:
                return False
            needed, free = map(format_bytes, lack)
            reason = f"{path} would take about {needed} of memory, and {free} may be used"
        if self.model_name != _LARGE:
            raise ValueError(f"{reason}: only --model {_LARGE} is trained out of core")
        for option, given in (("--cv", self.cv), ("--report", self.report)):
            if given:
                raise ValueError(
                    f"{reason}, but {option} needs all of the table in memory: leave it out "
                    "(--test-size gives scores), or try --in-memory"
                )
        need_dask()
        self.terminal.message(
            f"{reason}: training out of core, with files in {self.out.parent.resolve()} (the model "
            "is the same)"
        )
        return True

    def close(self) -> None:
        """Remove the files of a fit out of core."""
        if self._large is not None:
            self._large.cleanup()

    def run(self) -> int:
        """Fit, save and score; return the exit code."""
        checkpoint = Checkpoint(self._checkpoint_path, self.checkpoint_every, self._identity())
        began = time.perf_counter()
        model = self._fit(checkpoint)
        notes = {**self._notes(), "seconds": time.perf_counter() - began, "scores": {}}
        classifier = classifier_of(model)
        interrupted = classifier.stopped_ == "interrupted"
        notes["stopped"] = classifier.stopped_
        scores = self._test_scores(model)
        if scores is not None:
            notes["scores"]["held_out"] = scores.as_dict()
        files.save(model, self.out, notes=notes)
        if interrupted:
            self._keep(checkpoint, model)
        else:
            checkpoint.remove()
        self._report_fit(classifier, notes["seconds"], scores)
        if self.cv and not interrupted:
            interrupted = not self._cross_validate(notes)
            files.save(model, self.out, notes=notes)
        if self.report:
            self._write_report(model, notes)
        if not self._is_file:
            sys.stdout.buffer.write(self.out.read_bytes())
        self.terminal.result({**notes, "out": self._name, "rounds": classifier.n_estimators_})
        return INTERRUPTED if interrupted else DONE

    def _fit(self, checkpoint: Checkpoint) -> Any:
        """Return the fitted model."""
        model, data = clone(self.model), self.data
        if isinstance(data, LargeTable):
            assert self._large is not None
            return fit_large(
                model, data, self._large.name, self.terminal, checkpoint, resume=self.resume
            )
        X, y = data.X.iloc[self.train], data.y[self.train]
        return fit(model, X, y, self.terminal, checkpoint, resume=self.resume)

    # -- scores --------------------------------------------------------------------------------

    def _test_scores(self, model: Any) -> Scores | None:
        if isinstance(self.data, LargeTable):
            return score_large(model, self.data)
        if not len(self.test):
            return None
        return _scored(model, self.data.X.iloc[self.test], self.data.y[self.test])

    def _cross_validate(self, notes: dict[str, Any]) -> bool:
        """Add the scores of the folds to the notes; return whether all folds were done."""
        X, y = self.data.X.iloc[self.train], self.data.y[self.train]
        found: list[Scores] = []
        folds = make_folds(y, self.cv, 1, self.seed)
        quiet = Terminal(quiet=True)
        try:
            for number, (train, test) in enumerate(folds, start=1):
                model = fit(
                    clone(self.model).set_params(verbose=0), X.iloc[train], y[train], quiet,
                    resume=False,
                )  # fmt: skip
                if classifier_of(model).stopped_ == "interrupted":
                    raise KeyboardInterrupt
                found.append(_scored(model, X.iloc[test], y[test]))
                self.terminal.message(f"fold {number} of {self.cv}: {found[-1].summary()}")
        except KeyboardInterrupt:
            self.terminal.message(
                f"cross-validation interrupted after {len(found)} folds; the model is saved"
            )
        if found:
            errors = np.array([scores.error for scores in found])
            losses = np.array([scores.log_loss for scores in found], dtype=float)
            notes["scores"]["cross_validation"] = {
                "folds": len(found),
                "error": errors.mean(),
                "error_deviation": errors.std(ddof=1) if len(found) > 1 else None,
                "log_loss": losses.mean(),
                "errors": errors.tolist(),
            }
            spread = f" ± {100 * errors.std(ddof=1):.2f}" if len(found) > 1 else ""
            self._print_score(
                f"cross-validation: error {100 * errors.mean():.2f}{spread} %, log loss "
                f"{losses.mean():.4f}"
            )
        return len(found) == self.cv

    # -- notes, messages, report ---------------------------------------------------------------

    def _identity(self) -> dict[str, Any]:
        """Return what a run must have in common with the one whose checkpoint it continues."""
        return {
            "model": self.model_name,
            "settings": self.settings,
            "seed": self.seed,
            "test_size": self.test_size,
            "target": self.data.target,
            "columns": [column.as_dict() for column in self.data.columns],
            "data": self.data.digest(),
        }

    def _notes(self) -> dict[str, Any]:
        data = self.data
        return {
            "version": __version__,
            "model": self.model_name,
            "settings": self.settings,
            "seed": self.seed,
            "data": data.name if data.name.startswith(("sklearn:", "standard")) else
            Path(data.name).name,
            "rows": len(self.train),
            "rows_held_out": len(self.test),
            "target": data.target,
            "columns": [column.as_dict() for column in data.columns],
            "decisions": [_noted(decision) for decision in data.decisions],
            "left_out": [{"name": c.name, "reason": c.reason} for c in data.left_out],
            "remarks": data.remarks,
        }  # fmt: skip

    def _keep(self, checkpoint: Checkpoint, model: Any) -> None:
        """Write a checkpoint of an interrupted fit, if there are rounds left."""
        classifier = classifier_of(model)
        if classifier.n_estimators_ != classifier.n_estimators:
            checkpoint.write(model)

    def _report_fit(self, classifier: Any, seconds: float, scores: Scores | None) -> None:
        rounds = f"{classifier.n_estimators_} rounds in {format_seconds(seconds)}"
        size = format_bytes(self.out.stat().st_size)
        if classifier.stopped_ == "interrupted":
            remedy = "; the same command with --resume continues" if self._is_file else ""
            self.terminal.message(f"interrupted: {self._name} ({size}) has {rounds}{remedy}")
        else:
            self.terminal.message(f"{self._name} ({size}): {rounds}, {classifier.stopped_}")
        if scores is not None:
            self._print_score(f"held out: {scores.summary()}")

    def _print_score(self, text: str) -> None:
        """Print a result: on standard output, unless that gets the model or JSON."""
        if self._is_file and not self.terminal.as_json:
            self.terminal.result({}, text)
        else:
            self.terminal.message(text)

    def _write_report(self, model: Any, notes: dict[str, Any]) -> None:
        from ..report import write_training_report

        data = self.data
        classifier = classifier_of(model)
        facts = {
            "data": notes["data"],
            "model": self.model_name,
            "settings": ", ".join(self.settings) or "default",
            "rounds": classifier.n_estimators_,
            "fit": format_seconds(notes["seconds"]),
            "file": f"{Path(self._name).name}, {format_bytes(self.out.stat().st_size)}",
            "seed": self.seed,
        }
        cross = notes["scores"].get("cross_validation")
        if cross:
            facts[f"error in {cross['folds']} folds"] = f"{100 * cross['error']:.2f} %"
        write_training_report(
            self.report,
            model,
            data.X.iloc[self.test],
            data.y[self.test],
            X_train=data.X.iloc[self.train],
            y_train=data.y[self.train],
            title=f"{notes['data']}: {data.target}",
            facts=facts,
            notes=[*data.left_out_notes(), *(f"{remark}." for remark in data.remarks)],
        )
        self.terminal.message(f"report: {self.report}")


def _noted(decision: Decision) -> dict[str, Any]:
    """Return a decision without examples of the data, which a model file should not have."""
    line = decision.as_dict()
    return {key: value for key, value in line.items() if value != "" and key != "examples"}


def _scored(model: Any, X: Any, y: Any) -> Scores:
    truth = [str(label) for label in y]
    predicted = [str(label) for label in model.predict(X)]
    return score(truth, predicted, model.predict_proba(X), classifier_of(model).classes_)
