"""The rounds of a fit: what a trainer offers, the history, validation and early stopping."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..ensembles.base import Ensemble
from ..runtime.exact_sums import class_totals


@dataclass(frozen=True)
class TrainingData:
    """What a trainer sees: scaled features, class numbers, weights.

    Parameters
    ----------
    X : ndarray or CSR matrix
        Scaled features.
    y : ndarray of int64
        Class numbers.
    n_classes : int
        Number of classes.
    sample_weight : ndarray of float64
        Positive weights.
    X_val, y_val, val_weight
        Validation part, or None.
    held : ndarray of int64 or None
        Numbers of the samples that are held out from a part of the model, to decide when to stop.
    part_of : int or None
        Number of samples of the whole where these are a part of it: settings that depend on the
        size of the data are those of the whole.
    keys : ndarray of uint64 or None
        Numbers of the samples by their content, for random choices; None to make them.
    rows : object or None
        What stands for the samples where they are on other machines; X, y and the weights then
        have a shape only.
    categorical : bool
        Whether most columns of the input have categories.
    """

    X: Any
    y: NDArray[np.int64]
    n_classes: int
    sample_weight: NDArray
    X_val: Any = None
    y_val: NDArray[np.int64] | None = None
    val_weight: NDArray | None = None
    part_of: int | None = None
    held: NDArray[np.int64] | None = None
    keys: NDArray[np.uint64] | None = None
    rows: Any = None
    categorical: bool = False

    @property
    def size(self) -> int:
        """Number of samples that settings are chosen for."""
        return self.part_of or len(self.y)

    def class_shares(self) -> NDArray:
        """Return the total weight of every class, for weights of mean 1."""
        if self.rows is not None:
            return self.rows.class_shares()
        totals = class_totals(self.y, self.sample_weight, self.n_classes)
        return totals * (len(self.y) / totals.sum())

    @property
    def n_validation(self) -> int:
        """Number of validation samples."""
        return 0 if self.y_val is None else len(self.y_val)

    @property
    def checked(self) -> tuple[NDArray[np.int64], NDArray | None] | None:
        """Class numbers and weights of the samples whose error is noted after every round."""
        if self.y_val is not None:
            return self.y_val, self.val_weight
        if self.rows is not None:
            return self.rows.held_labels()
        return None if self.held is None else (self.y[self.held], self.sample_weight[self.held])


class Trainer(ABC):
    """Runs the rounds of one fit."""

    note = ""  # how the work is done, for the user
    n_rounds: int | None = None  # the most, where the trainer chooses it

    @abstractmethod
    def step(self) -> dict[str, float] | str:
        """Run one round; return what to note in the history, or why no round is possible."""

    def finish(self) -> float | None:
        """Do what is left to do after the last round; return the loss where that changes it."""
        return None

    @abstractmethod
    def ensemble(self, n_rounds: int) -> Ensemble:
        """Return the ensemble as it was after `n_rounds` rounds."""

    @abstractmethod
    def validation_labels(self) -> NDArray[np.int64]:
        """Return the predicted class numbers of the validation part after the last round."""

    def validation_loss(self) -> float | None:
        """Return the loss of the validation part where that decides about stopping."""
        return None

    def temperature(self, n_rounds: int) -> float:
        """Return the factor of the scores in probabilities that the validation part asks for."""
        return 1.0


@dataclass(frozen=True)
class Schedule:
    """How many rounds there may be, and when to stop before.

    Parameters
    ----------
    n_rounds : int
        Largest number of rounds, earlier ones included.
    patience : int or None
        Rounds without a lower validation error after which to stop; None: never.
    keep_best : bool
        Whether the model ends with the best round, or keeps all of them.
    """

    n_rounds: int
    patience: int | None
    keep_best: bool = True

    def revised(self, n_rounds: int | None) -> Schedule:
        """Return the schedule with the largest number of rounds that a trainer chose, if it did."""
        return self if n_rounds is None else replace(self, n_rounds=n_rounds)


@dataclass
class History:
    """What is noted of every round, and which round was best on the validation part.

    Parameters
    ----------
    before : dict of str to ndarray
        The history of the rounds that a warm start continues from.
    n_before : int
        Number of these rounds.
    """

    before: dict[str, NDArray]
    n_before: int
    noted: list[dict[str, float]] = field(default_factory=list)
    best_round: int = 0
    best_measure: float = np.inf

    def __post_init__(self) -> None:
        self.best_round = self.n_before
        old = self.before
        measures = old.get("validation_loss", old.get("validation_error", np.empty(0)))
        for done, measure in enumerate(measures[: self.n_before], start=1):
            self._compare(float(measure), done)

    @property
    def n_rounds(self) -> int:
        """Number of rounds, earlier ones included."""
        return self.n_before + len(self.noted)

    def _compare(self, measure: float, done: int) -> None:
        if measure < self.best_measure:
            self.best_round, self.best_measure = done, measure

    def forget_best(self) -> None:
        """Let only rounds to come be the best one."""
        self.best_round, self.best_measure = self.n_before, np.inf

    def add(self, noted: dict[str, float]) -> None:
        """Add what is noted of a round."""
        self.noted.append(noted)
        measure = noted.get("validation_loss", noted.get("validation_error", np.inf))
        self._compare(measure, self.n_rounds)

    def as_arrays(self) -> dict[str, NDArray]:
        """Return the whole history by name."""
        n = self.n_before
        new = {
            key: np.array([noted[key] for noted in self.noted]) for key in (self.noted or [{}])[0]
        }
        return {
            key: np.concatenate([self.before.get(key, np.full(n, np.nan))[:n], values])
            for key, values in new.items()
        } or self.before


def run(
    trainer: Trainer,
    data: TrainingData,
    schedule: Schedule,
    history: History,
    after_round: Callable[[], None],
) -> str:
    """Run rounds and fill in the history.

    Parameters
    ----------
    trainer : Trainer
        Runs a round.
    data : TrainingData
        The data; its validation part is scored after every round.
    schedule : Schedule
        When to stop.
    history : History
        Filled in as the rounds are run.
    after_round : callable
        Called after every round.

    Returns
    -------
    str
        Why the rounds ended; empty where all are done.
    """
    while history.n_rounds < schedule.n_rounds:
        noted = trainer.step()
        if isinstance(noted, str):
            return noted
        history.add(noted | _validation(trainer, data))
        after_round()
        waited = history.n_rounds - history.best_round
        if schedule.patience is not None and waited >= schedule.patience:
            return f"no lower validation error for {schedule.patience} rounds"
    return ""


def finish(trainer: Trainer, data: TrainingData, history: History) -> None:
    """Have the trainer do what is left after the last round, and correct the history by that.

    Parameters
    ----------
    trainer : Trainer
        The trainer.
    data : TrainingData
        The data.
    history : History
        The history; its last round is corrected.
    """
    loss = trainer.finish() if history.noted else None
    if loss is not None:
        history.noted[-1] |= {"loss": loss} | _validation(trainer, data)


def _validation(trainer: Trainer, data: TrainingData) -> dict[str, float]:
    """Return the validation error, and the loss where there is one."""
    if data.checked is None:
        return {}
    y, weight = data.checked
    wrong = trainer.validation_labels() != y
    noted = {"validation_error": float(np.average(wrong, weights=weight))}
    loss = trainer.validation_loss()
    return noted if loss is None else noted | {"validation_loss": loss}
