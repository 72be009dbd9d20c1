"""Models on the same folds: a cell is one model on one fold."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..significance import Comparison, compare
from .entrants import Entrant, classifier_of
from .folds import Fold
from .measuring import seconds
from .scores import score


@dataclass(frozen=True)
class Cell:
    """Measurements of a model on a fold.

    Parameters
    ----------
    error : float
        Fraction of the test rows that are misclassified.
    log_loss : float or None
        Log loss on the test rows; None for a model without probabilities.
    fit_seconds, predict_seconds : float
        Duration of the fit, and of the prediction of the test rows.
    size : int
        Size of the model in bytes.
    """

    error: float
    log_loss: float | None
    fit_seconds: float
    predict_seconds: float
    size: int


class Contest:
    """Models on the same folds.

    Parameters
    ----------
    entrants : sequence of Entrant
        The models.
    X : DataFrame
        Features.
    y : ndarray
        Labels.
    folds : sequence of (ndarray, ndarray)
        Training and test rows.
    seed : int
        Seed of the models.
    """

    def __init__(
        self, entrants: Sequence[Entrant], X: Any, y: Any, folds: Sequence[Fold], seed: int
    ) -> None:
        self.entrants = list(entrants)
        self.folds = folds
        self.cells: dict[tuple[str, int], Cell] = {}
        self.failed: dict[str, str] = {}
        self._X = X
        self._classes, self._y = np.unique(y, return_inverse=True)
        self._seed = seed

    def run(
        self, before: Callable[[Entrant, int], None], after: Callable[[Entrant, int], None]
    ) -> bool:
        """Measure all cells, fold by fold.

        Parameters
        ----------
        before, after : callable
            Called with the model and the number of the fold before and after each cell.

        Returns
        -------
        bool
            Whether all cells were measured; False after Ctrl-C, which keeps the cells so far.
        """
        try:
            for number in range(len(self.folds)):
                for entrant in self.entrants:
                    before(entrant, number)
                    self._attempt(entrant, number)
                    after(entrant, number)
        except KeyboardInterrupt:
            return False
        return True

    def _attempt(self, entrant: Entrant, number: int) -> None:
        if entrant.key in self.failed:
            return
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.cells[entrant.key, number] = self._measured(entrant, number)
        except Exception as error:  # the other models continue
            self.failed[entrant.key] = " ".join(str(error).split()) or type(error).__name__

    def _measured(self, entrant: Entrant, number: int) -> Cell:
        train, test = self.folds[number]
        X = entrant.view(self._X)
        X_train, X_test = X.iloc[train], X.iloc[test]
        present, y_train = np.unique(self._y[train], return_inverse=True)
        if number == 0:
            entrant.warm_up(X_train, y_train)
        model = entrant.make(X, self._seed)
        fit_seconds = seconds(lambda: model.fit(X_train, y_train))
        if getattr(classifier_of(model), "stopped_", None) == "interrupted":
            raise KeyboardInterrupt  # ours return the rounds fitted so far instead of raising
        found: list[Any] = []
        predict_seconds = seconds(lambda: found.append(model.predict(X_test)))
        labels = present[np.ravel(found[0]).astype(np.int64)]  # CatBoost returns a column
        probabilities = None
        if hasattr(model, "predict_proba"):
            probabilities = np.zeros((len(test), len(self._classes)))
            probabilities[:, present] = model.predict_proba(X_test)
        scores = score(
            [str(number) for number in self._y[test]],
            [str(number) for number in labels],
            probabilities,
            range(len(self._classes)),
        )
        return Cell(
            scores.error, scores.log_loss, fit_seconds, predict_seconds, entrant.size(model)
        )

    # -- results -------------------------------------------------------------------------------

    def complete(self) -> tuple[list[Entrant], list[int]]:
        """Return models and folds such that each model was measured on each fold."""
        running = [entrant for entrant in self.entrants if entrant.key not in self.failed]
        numbers = [
            number
            for number in range(len(self.folds))
            if all((entrant.key, number) in self.cells for entrant in running)
        ]
        if numbers:
            return running, numbers
        done = [entrant for entrant in running if (entrant.key, 0) in self.cells]
        return done, [0] if done else []

    def comparison(self) -> Comparison | None:
        """Return the significance of the differences; None with fewer than 2 models or folds."""
        entrants, numbers = self.complete()
        if len(entrants) < 2 or len(numbers) < 2:
            return None
        errors = [[self.cells[e.key, number].error for e in entrants] for number in numbers]
        return compare(np.array(errors), [e.title for e in entrants], method="corrected_t")

    def results(self) -> list[dict[str, Any]]:
        """Return the measurements of the complete models and folds.

        Returns
        -------
        list of dict
            For every model its name and title, its mean error, lists of all measurements by fold,
            and the p-value of its difference from the best model, or None if there is none.
        """
        entrants, numbers = self.complete()
        comparison = self.comparison()
        found = []
        for place, entrant in enumerate(entrants):
            cells = [self.cells[entrant.key, number] for number in numbers]
            p_value = None
            if comparison is not None and place != comparison.best:
                p_value = float(comparison.p_values[comparison.best, place])
            found.append(
                {
                    "model": entrant.key,
                    "title": entrant.title,
                    "error": float(np.mean([cell.error for cell in cells])),
                    "errors": [cell.error for cell in cells],
                    "log_losses": [cell.log_loss for cell in cells],
                    "fit_seconds": [cell.fit_seconds for cell in cells],
                    "predict_seconds": [cell.predict_seconds for cell in cells],
                    "bytes": [cell.size for cell in cells],
                    "p_value_against_best": None if p_value != p_value else p_value,
                }
            )
        return found
