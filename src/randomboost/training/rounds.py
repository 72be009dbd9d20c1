"""What estimators and trainers hand to each other: data, models and the rounds of a fit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass
class TrainingData:
    """What a trainer sees: scaled features, class numbers, weights.

    Parameters
    ----------
    X : ndarray or CSR matrix
        Scaled features.
    y : ndarray of int64
        Class numbers.
    sample_weight : ndarray of float64
        Positive weights.
    X_val, y_val, val_weight
        Validation part, or None.
    """

    X: Any
    y: NDArray[np.int64]
    sample_weight: NDArray
    X_val: Any = None
    y_val: NDArray[np.int64] | None = None
    val_weight: NDArray | None = None


@dataclass
class Model:
    """The result of a training: weak classifiers and weights, after every round where needed.

    Parameters
    ----------
    hypotheses : list
        Weak classifiers.
    weights : ndarray or list
        The single vector w, or the weights by round.
    path : list of ndarray or None
        For totally corrective training the vector after every round; empty in a model from a
        file without them.
    codes : list
        What else a round chose: its code (RBoost-proj) or its votes (the classical family).
    state : dict of str to ndarray
        What else a trainer needs to go on after the last round as if it had not stopped.
    """

    hypotheses: list[Any] = field(default_factory=list)
    weights: Any = field(default_factory=lambda: np.empty(0))
    path: list[NDArray] | None = None
    codes: list[Any] = field(default_factory=list)
    state: dict[str, NDArray] = field(default_factory=dict)

    def truncated(self, n_rounds: int) -> Model:
        """Return the model as it was after `n_rounds` rounds."""
        if self.path is None:
            return Model(
                self.hypotheses[:n_rounds],
                self.weights[:n_rounds],
                None,
                self.codes[:n_rounds],
                self.state if n_rounds == len(self.hypotheses) else {},
            )
        return Model(
            self.hypotheses[:n_rounds],
            self.path[n_rounds - 1],
            self.path[:n_rounds],
            self.codes[:n_rounds],
        )


@dataclass
class BestRound:
    """The round with the lowest validation error (or loss) so far.

    Parameters
    ----------
    round : int
        Number of rounds then.
    error : float
        The error.
    """

    round: int
    error: float = np.inf

    def note(self, error: float, done: int) -> None:
        """Take note of the error after `done` rounds."""
        if error < self.error:
            self.round, self.error = done, error


def changed(name: str) -> ValueError:
    """Return the error of a warm start with a parameter that it cannot change.

    Parameters
    ----------
    name : str
        The parameter.

    Returns
    -------
    ValueError
        The error.
    """
    return ValueError(
        f"{name} differs from that of the fitted model: warm_start needs the same one; set "
        "warm_start=False to begin anew"
    )


class Trainer(ABC):
    """Runs the rounds of one fit."""

    model: Model
    note = ""  # how the work is done, for the user

    @abstractmethod
    def step(self) -> dict[str, float] | str:
        """Run one round; return what to note in the history, or why no round is possible."""

    def finish(self) -> float | None:
        """Do what is left to do after the last round; return the loss where that changes it."""
        return None

    @abstractmethod
    def validation_scores(self) -> NDArray:
        """Return the scores of the validation part after the last round, (k, m_val)."""

    def validation_loss(self) -> float | None:
        """Return the loss of the validation part where that decides about stopping."""
        return None
