"""How good predictions are: error, log loss, balanced accuracy, by class, confusion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from ..cli.console import plain_table

_SMALLEST = 1e-15  # probabilities are not taken below this in the log loss
_SHOWN_CLASSES = 12


@dataclass(frozen=True)
class Scores:
    """Scores of the predictions of some rows.

    Parameters
    ----------
    classes : list of str
        The classes of the model.
    confusion : ndarray of shape (n_classes, n_classes)
        Rows by true class and predicted class.
    n_unknown : int
        Rows of a class that the model does not know; they count as errors.
    log_loss : float or None
        Mean of -log of the probability of the true class, over rows of known classes.
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
        """Share of rows that are classified wrongly."""
        return 1.0 - float(np.trace(self.confusion)) / self.n_rows

    def by_class(self) -> list[dict[str, Any]]:
        """Return precision, recall and F1 of every class; None where there is nothing to count."""
        rows = self.confusion.sum(axis=1)
        said = self.confusion.sum(axis=0)
        found = []
        for place, name in enumerate(self.classes):
            right = int(self.confusion[place, place])
            both = int(rows[place] + said[place])
            found.append(
                {
                    "class": name,
                    "rows": int(rows[place]),
                    "precision": right / said[place] if said[place] else None,
                    "recall": right / rows[place] if rows[place] else None,
                    "f1": 2 * right / both if both else None,
                }
            )
        return found

    @property
    def balanced_accuracy(self) -> float | None:
        """Mean recall of the classes that have rows; None where none has."""
        recalls = [entry["recall"] for entry in self.by_class() if entry["recall"] is not None]
        return float(np.mean(recalls)) if recalls else None

    def as_dict(self) -> dict[str, Any]:
        """Return all scores as JSON can hold them."""
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

    def class_table(self) -> Table:
        """Return the scores by class."""
        table = plain_table("class", "rows", "precision", "recall", "F1")
        for entry in self.by_class():
            shares = [entry[name] for name in ("precision", "recall", "f1")]
            cells = ["-" if share is None else f"{share:.3f}" for share in shares]
            table.add_row(entry["class"], str(entry["rows"]), *cells)
        return table

    def confusion_table(self) -> Table | None:
        """Return true classes against predicted ones, or None where there are many classes."""
        if len(self.classes) > _SHOWN_CLASSES:
            return None
        table = plain_table("true \\ predicted", *self.classes)
        for name, row in zip(self.classes, self.confusion, strict=True):
            table.add_row(name, *(str(count) if count else "·" for count in row))
        return table


def score(
    truth: Sequence[str], predicted: Sequence[str], probabilities: NDArray | None, classes: Any
) -> Scores:
    """Return the scores of predictions.

    Parameters
    ----------
    truth, predicted : sequence of str
        True and predicted labels as words.
    probabilities : ndarray of shape (n_rows, n_classes) or None
        Probabilities of the classes.
    classes : sequence
        The classes of the model.

    Returns
    -------
    Scores
        The scores.
    """
    names = [str(name) for name in classes]
    places = {name: place for place, name in enumerate(names)}
    true = np.array([places.get(word, -1) for word in truth], dtype=np.int64)
    said = np.array([places[word] for word in predicted], dtype=np.int64)
    known = true >= 0
    confusion = np.zeros((len(names), len(names)), dtype=np.int64)
    np.add.at(confusion, (true[known], said[known]), 1)
    loss = None
    if probabilities is not None and known.any():
        own = probabilities[known, true[known]]
        loss = float(-np.log(np.maximum(own, _SMALLEST)).mean())
    return Scores(names, confusion, int((~known).sum()), loss)
