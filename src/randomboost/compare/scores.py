"""Scores of predictions: error, log loss, balanced accuracy, scores by class, confusion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_SMALLEST = 1e-15  # probabilities are clipped from below in the log loss


@dataclass(frozen=True)
class Scores:
    """Scores of the predictions of some rows.

    Parameters
    ----------
    classes : list of str
        The classes of the model.
    confusion : ndarray of shape (n_classes, n_classes)
        Number of rows by true and predicted class.
    n_unknown : int
        Number of rows of a class that the model does not know; they count as errors.
    log_loss : float or None
        Log loss over the rows of known classes; None without probabilities.
    """

    classes: list[str]
    confusion: NDArray[np.int64]
    n_unknown: int
    log_loss: float | None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.confusion.sum()) + self.n_unknown

    @property
    def error(self) -> float:
        """Fraction of the rows that are misclassified."""
        return 1.0 - float(np.trace(self.confusion)) / self.n_rows

    def by_class(self) -> list[dict[str, Any]]:
        """Return precision, recall and F1 of every class; None where they are undefined."""
        rows = self.confusion.sum(axis=1)
        predicted = self.confusion.sum(axis=0)
        found = []
        for place, name in enumerate(self.classes):
            correct = int(self.confusion[place, place])
            both = int(rows[place] + predicted[place])
            found.append(
                {
                    "class": name,
                    "rows": int(rows[place]),
                    "precision": correct / predicted[place] if predicted[place] else None,
                    "recall": correct / rows[place] if rows[place] else None,
                    "f1": 2 * correct / both if both else None,
                }
            )
        return found

    @property
    def balanced_accuracy(self) -> float | None:
        """Mean recall over the classes that occur; None if there are none."""
        recalls = [entry["recall"] for entry in self.by_class() if entry["recall"] is not None]
        return float(np.mean(recalls)) if recalls else None

    def as_dict(self) -> dict[str, Any]:
        """Return all scores as plain values that JSON can represent."""
        return {
            "rows": self.n_rows,
            "error": self.error,
            "log_loss": self.log_loss,
            "balanced_accuracy": self.balanced_accuracy,
            "rows_of_unknown_class": self.n_unknown,
            "classes": self.by_class(),
            "confusion": self.confusion.tolist(),
        }

    def summary(self) -> str:
        """Return the main scores in one line."""
        parts = [f"error {100 * self.error:.2f} %"]
        if self.log_loss is not None:
            parts.append(f"log loss {self.log_loss:.4f}")
        if self.balanced_accuracy is not None:
            parts.append(f"balanced accuracy {100 * self.balanced_accuracy:.2f} %")
        return ", ".join(parts) + f" ({self.n_rows} rows)"


def score(
    truth: Sequence[str], predicted: Sequence[str], probabilities: NDArray | None, classes: Any
) -> Scores:
    """Return the scores of predictions.

    Parameters
    ----------
    truth, predicted : sequence of str
        True and predicted labels as strings.
    probabilities : ndarray of shape (n_rows, n_classes) or None
        Probabilities of the classes.
    classes : sequence
        The classes of the model.

    Returns
    -------
    Scores
        The scores.
    """
    return score_parts([(truth, predicted, probabilities)], classes)


def score_parts(
    parts: Iterable[tuple[Sequence[str], Sequence[str], NDArray | None]], classes: Any
) -> Scores:
    """Return the scores of predictions of which some rows are there at a time.

    Parameters
    ----------
    parts : iterable of tuple
        True labels, predicted labels and probabilities of some rows, see `score`.
    classes : sequence
        The classes of the model.

    Returns
    -------
    Scores
        The scores.
    """
    names = [str(name) for name in classes]
    places = {name: place for place, name in enumerate(names)}
    confusion = np.zeros((len(names), len(names)), dtype=np.int64)
    n_unknown, found = 0, []
    for truth, predicted, probabilities in parts:
        true = np.array([places.get(label, -1) for label in truth], dtype=np.int64)
        chosen = np.array([places[label] for label in predicted], dtype=np.int64)
        known = true >= 0
        np.add.at(confusion, (true[known], chosen[known]), 1)
        n_unknown += int((~known).sum())
        if probabilities is not None:
            found.append(probabilities[known, true[known]])
    own = np.concatenate(found) if found else np.empty(0)
    loss = float(-np.log(np.maximum(own, _SMALLEST)).mean()) if len(own) else None
    return Scores(names, confusion, n_unknown, loss)
