"""Models on the same folds: every cell is one model on one fold."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline

from ..cli.models import TITLES, make_model, needs_preparation
from ..preprocessing.categories import TablePreparation
from ..significance import Comparison, compare
from .folds import Fold
from .measuring import file_bytes, pickled_bytes, seconds
from .peers import RIVALS
from .scores import score


@dataclass(frozen=True)
class Cell:
    """What was measured of a model on a fold.

    Parameters
    ----------
    error : float
        Share of wrong test rows.
    log_loss : float or None
        Of the test rows; None for a model without probabilities.
    fit_seconds, predict_seconds : float
        Times.
    size : int
        Bytes of the model.
    """

    error: float
    log_loss: float | None
    fit_seconds: float
    predict_seconds: float
    size: int


class Entrant:
    """A model that takes part.

    Parameters
    ----------
    key : str
        Its name on the command line.
    title : str
        Its name for people.
    """

    def __init__(self, key: str, title: str) -> None:
        self.key = key
        self.title = title

    def view(self, X: Any) -> Any:
        """Return a table as the model wants it."""
        return X

    def make(self, X: Any, seed: int) -> Any:
        """Return the model, not fitted."""
        raise NotImplementedError

    def warm_up(self, X: Any, y: Any) -> None:
        """Do what only the first fit of a process does."""

    def size(self, model: Any) -> int:
        """Return the bytes of a fitted model."""
        return pickled_bytes(model)


class Own(Entrant):
    """A model of ours.

    Parameters
    ----------
    key : str
        Its name on the command line.
    """

    def __init__(self, key: str) -> None:
        super().__init__(key, TITLES[key])

    def make(self, X: Any, seed: int) -> Any:
        """Return the model, not fitted."""
        model = make_model(self.key, random_state=seed)
        return make_pipeline(TablePreparation(), model) if needs_preparation(model) else model

    def warm_up(self, X: Any, y: Any) -> None:
        """Fit two rounds, so that no kernel is compiled or loaded while the clock runs."""
        model = self.make(X, 0)
        (model[-1] if hasattr(model, "steps") else model).set_params(n_estimators=2)
        model.fit(X, y).predict(X.iloc[:2])

    def size(self, model: Any) -> int:
        """Return the bytes of the model file."""
        return file_bytes(model)


class Other(Entrant):
    """A model of another library.

    Parameters
    ----------
    key : str
        Its name on the command line.
    """

    def __init__(self, key: str) -> None:
        self._rival = RIVALS[key]
        super().__init__(key, self._rival.title)

    def view(self, X: Any) -> Any:
        """Return a table as the model wants it; some refuse certain names of columns."""
        renamed = X.set_axis([f"f{number}" for number in range(X.shape[1])], axis=1)
        return self._rival.view(renamed)

    def make(self, X: Any, seed: int) -> Any:
        """Return the model, not fitted."""
        model = self._rival.make(X)
        seeds = [name for name in model.get_params() if name.split("__")[-1] == "random_state"]
        return model.set_params(**dict.fromkeys(seeds or ["random_state"], seed))


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
        """Measure all cells, fold by fold; return whether all were done before Ctrl-C.

        Parameters
        ----------
        before, after : callable
            Called with model and number of the fold before and after each cell.

        Returns
        -------
        bool
            False after Ctrl-C; what was measured until then is in `cells`.
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
        except Exception as error:  # the other models go on
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
        last = model[-1] if hasattr(model, "steps") else model
        if getattr(last, "stopped_", None) == "interrupted":
            raise KeyboardInterrupt  # ours keep the rounds done so far and go on
        found: list[Any] = []
        predict_seconds = seconds(lambda: found.append(model.predict(X_test)))
        labels = present[np.ravel(found[0]).astype(np.int64)]  # CatBoost's are a column
        probabilities = None
        if hasattr(model, "predict_proba"):
            probabilities = np.zeros((len(test), len(self._classes)))
            probabilities[:, present] = model.predict_proba(X_test)
        scores = score(
            [str(code) for code in self._y[test]],
            [str(code) for code in labels],
            probabilities,
            range(len(self._classes)),
        )
        return Cell(
            scores.error, scores.log_loss, fit_seconds, predict_seconds, entrant.size(model)
        )

    # -- what came of it -----------------------------------------------------------------------

    def complete(self) -> tuple[list[Entrant], list[int]]:
        """Return models and folds such that every one of these models has all of these folds."""
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
        """Return the significance of differences, or None where too little was done."""
        entrants, numbers = self.complete()
        if len(entrants) < 2 or len(numbers) < 2:
            return None
        errors = [[self.cells[e.key, number].error for e in entrants] for number in numbers]
        return compare(np.array(errors), [e.title for e in entrants], method="corrected_t")
