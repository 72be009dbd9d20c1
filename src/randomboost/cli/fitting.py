"""Fits that can be interrupted at any moment: checkpoints, resuming, and the estimated time."""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Any

from sklearn.pipeline import Pipeline

from .. import FitInterruptedWarning, files
from ..compare.entrants import classifier_of, needs_preparation
from ..preprocessing.categories import TablePreparation
from ..runtime.units import format_seconds
from .console import Terminal

_LONG = 20.0  # the remaining time is reported if it is longer, in seconds
_FIRST_ROUNDS = 4


class Checkpoint:
    """A file with the rounds fitted so far.

    Parameters
    ----------
    path : Path
        The file.
    every : float
        Seconds between two checkpoints.
    run : dict
        Identity of the run; a run with another identity cannot continue from the file.
    """

    def __init__(self, path: Path, every: float, run: dict[str, Any]) -> None:
        self.path = path
        self._every = every
        self._run = run
        self._written = time.monotonic()

    def due(self) -> bool:
        """Return whether a checkpoint is due."""
        return time.monotonic() - self._written >= self._every

    def write(self, model: Any) -> None:
        """Write the model so far, with everything that a warm start needs."""
        files.save(model, self.path, dense=True, notes={"run": self._run})
        self._written = time.monotonic()

    def read(self) -> Any:
        """Return the model so far."""
        run = files.describe(self.path)["notes"].get("run", {})
        differing = [name for name in self._run if run.get(name) != self._run[name]]
        if differing:
            raise ValueError(
                f"{self.path} belongs to another run (its {differing[0]} differs): use the same "
                "data and options, or start again with --force"
            )
        return files.load(self.path)

    def remove(self) -> None:
        """Remove the file, and temporary files that a killed process left beside it."""
        self.path.unlink(missing_ok=True)
        for part in self.path.parent.glob(f".{self.path.name}.*.part"):
            part.unlink(missing_ok=True)


class Rounds:
    """Callback of a fit: reports the estimated time, and writes checkpoints.

    Parameters
    ----------
    terminal : Terminal
        Where to print messages.
    n_done : int
        Number of rounds fitted already.
    n_rounds : int or None
        Number of all rounds, where it is known.
    checkpoint : Checkpoint or None
        Where to save the rounds.
    preparation : TablePreparation or None
        Transformer in front of the classifier.
    """

    def __init__(
        self,
        terminal: Terminal,
        n_done: int,
        n_rounds: int | None,
        checkpoint: Checkpoint | None,
        preparation: Any,
    ) -> None:
        self._terminal = terminal
        self._done = self._start = n_done
        self._n_rounds = n_rounds
        self._checkpoint = checkpoint
        self._preparation = preparation
        self._began = 0.0

    def __call__(self, snapshot: Any) -> None:
        """Count a round."""
        self._done += 1
        since = self._done - self._start
        if since == 1:
            self._began = time.monotonic()  # the first round may compile kernels
        elif since == _FIRST_ROUNDS:
            self._report_time((time.monotonic() - self._began) / (since - 1))
        unfinished = self._done != self._n_rounds  # a last solve follows the last round
        if self._checkpoint is not None and unfinished and self._checkpoint.due():
            self._checkpoint.write(joined(self._preparation, snapshot()))

    def _report_time(self, seconds: float) -> None:
        if self._n_rounds is None:
            return
        left = seconds * (self._n_rounds - self._done)
        if left > _LONG:
            self._terminal.message(
                f"about {format_seconds(left)} for the remaining {self._n_rounds - self._done} "
                "rounds; Ctrl-C saves the model with the rounds fitted so far"
            )


def joined(preparation: Any, model: Any) -> Any:
    """Return the fitted preparation and the fitted classifier as one model.

    Parameters
    ----------
    preparation : TablePreparation or None
        The transformer, if there is one.
    model : classifier
        The classifier.

    Returns
    -------
    classifier or Pipeline
        The model.
    """
    if preparation is None:
        return model
    return Pipeline([("table", preparation), ("model", model)])


def fit(
    model: Any,
    X: Any,
    y: Any,
    terminal: Terminal,
    checkpoint: Checkpoint | None = None,
    *,
    resume: bool,
) -> Any:
    """Fit a classifier to a table.

    Parameters
    ----------
    model : classifier
        A classifier of randomboost.
    X : DataFrame
        Features.
    y : ndarray
        Labels.
    terminal : Terminal
        Where to print messages.
    checkpoint : Checkpoint or None
        Where to save the rounds fitted so far.
    resume : bool
        Continue from the checkpoint, if there is one.

    Returns
    -------
    classifier or Pipeline
        The fitted model; after Ctrl-C with the rounds fitted so far.
    """
    preparation, numbers, n_done, settings = None, X, 0, model.get_params()
    if resume and checkpoint is not None and checkpoint.path.exists():
        so_far = checkpoint.read()
        model = classifier_of(so_far)
        n_done = model.n_estimators_
        model.set_params(**{**settings, "warm_start": True})
        terminal.message(f"continuing after round {n_done}, from {checkpoint.path}")
    if needs_preparation(model):
        preparation = TablePreparation()
        numbers = preparation.fit_transform(X, y)
    rounds = Rounds(terminal, n_done, model.n_estimators, checkpoint, preparation)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitInterruptedWarning)  # reported by the caller
        model.fit(numbers, y, on_round=rounds)
    model.set_params(warm_start=False, verbose=0)
    return joined(preparation, model)
