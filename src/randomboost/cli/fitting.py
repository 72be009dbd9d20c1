"""Fits that can be stopped at any moment: checkpoints, resuming, and what a fit will cost."""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Any

from sklearn.pipeline import Pipeline

from .. import FitInterruptedWarning, files
from ..preprocessing.categories import TablePreparation
from .console import Talk, in_time
from .models import needs_preparation

_LONG = 20.0  # seconds from which on a fit is announced
_FIRST_ROUNDS = 4


class Checkpoint:
    """The file that holds the rounds done so far.

    Parameters
    ----------
    path : Path
        The file.
    every : float
        Seconds between two writings.
    run : dict
        What the run is about; a run that differs in it cannot go on from the file.
    """

    def __init__(self, path: Path, every: float, run: dict[str, Any]) -> None:
        self.path = path
        self._every = every
        self._run = run
        self._written = time.monotonic()

    def due(self) -> bool:
        """Return whether it is time to write."""
        return time.monotonic() - self._written >= self._every

    def write(self, model: Any) -> None:
        """Write the model so far, with all that a warm start needs."""
        files.save(model, self.path, dense=True, notes={"run": self._run})
        self._written = time.monotonic()

    def read(self) -> Any:
        """Return the model so far."""
        run = files.describe(self.path)["notes"].get("run", {})
        differing = [name for name in self._run if run.get(name) != self._run[name]]
        if differing:
            raise ValueError(
                f"{self.path} is of another run (its {differing[0]} differs): use the same data "
                "and options, or begin anew with --force"
            )
        return files.load(self.path)

    def remove(self) -> None:
        """Remove the file, and what a killed process may have left beside it."""
        self.path.unlink(missing_ok=True)
        for part in self.path.parent.glob(f".{self.path.name}.*.part"):
            part.unlink(missing_ok=True)


class Rounds:
    """Follows the rounds of a fit: says what it will cost, and writes checkpoints.

    Parameters
    ----------
    talk : Talk
        Where to say it.
    n_done, n_rounds : int
        Rounds done already, and rounds to do in all.
    checkpoint : Checkpoint or None
        Where to keep the rounds.
    preparation : TablePreparation or None
        What stands before the classifier.
    """

    def __init__(
        self,
        talk: Talk,
        n_done: int,
        n_rounds: int,
        checkpoint: Checkpoint | None,
        preparation: Any,
    ) -> None:
        self._talk = talk
        self._done = self._start = n_done
        self._n_rounds = n_rounds
        self._checkpoint = checkpoint
        self._preparation = preparation
        self._began = 0.0

    def __call__(self, snapshot: Any) -> None:
        """Take note of a round."""
        self._done += 1
        since = self._done - self._start
        if since == 1:
            self._began = time.monotonic()  # the first round may have compiled kernels
        elif since == _FIRST_ROUNDS:
            self._say_cost((time.monotonic() - self._began) / (since - 1))
        unfinished = self._done < self._n_rounds  # the last round is followed by a last solve
        if self._checkpoint is not None and unfinished and self._checkpoint.due():
            self._checkpoint.write(joined(self._preparation, snapshot()))

    def _say_cost(self, seconds: float) -> None:
        left = seconds * (self._n_rounds - self._done)
        if left > _LONG:
            self._talk.say(
                f"about {in_time(left)} for the {self._n_rounds - self._done} rounds to come; "
                "Ctrl-C keeps those done"
            )


def joined(preparation: Any, model: Any) -> Any:
    """Return the fitted preparation and the fitted classifier as one model.

    Parameters
    ----------
    preparation : TablePreparation or None
        What stands before it.
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


def classifier_of(model: Any) -> Any:
    """Return the classifier of a model with or without a preparation."""
    return model[-1] if isinstance(model, Pipeline) else model


def fit(
    model: Any, X: Any, y: Any, talk: Talk, checkpoint: Checkpoint | None = None, *, resume: bool
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
    talk : Talk
        Where to say how it goes.
    checkpoint : Checkpoint or None
        Where to keep the rounds done so far.
    resume : bool
        Go on from the checkpoint, if there is one.

    Returns
    -------
    classifier or Pipeline
        The fitted model; after Ctrl-C with the rounds done until then.
    """
    preparation, n_done, settings = None, 0, model.get_params()
    if resume and checkpoint is not None and checkpoint.path.exists():
        so_far = checkpoint.read()
        model = classifier_of(so_far)
        preparation = so_far[0] if isinstance(so_far, Pipeline) else None
        n_done = model.n_estimators_
        model.set_params(**{**settings, "warm_start": True})
        talk.say(f"going on after round {n_done}, from {checkpoint.path}")
    elif needs_preparation(model):
        preparation = TablePreparation().fit(X, y)
    rounds = Rounds(talk, n_done, model.n_estimators, checkpoint, preparation)
    numbers = X if preparation is None else preparation.transform(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitInterruptedWarning)  # the caller says it
        model.fit(numbers, y, on_round=rounds)
    model.set_params(warm_start=False, verbose=0)
    return joined(preparation, model)
