"""Models on the same folds: a cell is one model on one fold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..significance import Comparison, compare
from .entrants import Entrant
from .folded_data import Cell


class Contest:
    """Models on the same folds.

    Parameters
    ----------
    entrants : sequence of Entrant
        The models.
    n_folds : int
        Number of folds.
    measure : callable
        Takes a model and the number of a fold, and returns the `Cell`.
    """

    def __init__(
        self,
        entrants: Sequence[Entrant],
        n_folds: int,
        measure: Callable[[Entrant, int], Cell],
    ) -> None:
        self.entrants = list(entrants)
        self.n_folds = n_folds
        self.cells: dict[tuple[str, int], Cell] = {}
        self.failed: dict[str, str] = {}
        self._measure = measure

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
            for number in range(self.n_folds):
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
            self.cells[entrant.key, number] = self._measure(entrant, number)
        except Exception as error:  # the other models continue
            self.failed[entrant.key] = " ".join(str(error).split()) or type(error).__name__

    # -- results -------------------------------------------------------------------------------

    def complete(self) -> tuple[list[Entrant], list[int]]:
        """Return models and folds such that each model was measured on each fold."""
        running = [entrant for entrant in self.entrants if entrant.key not in self.failed]
        numbers = [
            number
            for number in range(self.n_folds)
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
