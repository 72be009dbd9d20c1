"""The measurements of one model on one fold."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

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


@dataclass(frozen=True)
class FoldedData:
    """The data of a comparison; it is called with a model and the number of a fold.

    Parameters
    ----------
    X : DataFrame
        Features.
    y : ndarray of int
        Class numbers.
    n_classes : int
        Number of classes.
    folds : sequence of (ndarray, ndarray)
        Training and test rows.
    seed : int
        Seed of the models.
    """

    X: Any
    y: NDArray[np.int64]
    n_classes: int
    folds: Sequence[Fold]
    seed: int

    @classmethod
    def of_labels(cls, X: Any, y: Any, folds: Sequence[Fold], seed: int) -> FoldedData:
        """Return the data of a comparison for labels of any type.

        Parameters
        ----------
        X : DataFrame
            Features.
        y : ndarray
            Labels.
        folds : sequence of (ndarray, ndarray)
            Training and test rows.
        seed : int
            Seed of the models.

        Returns
        -------
        FoldedData
            The data.
        """
        classes, numbers = np.unique(y, return_inverse=True)
        return cls(X, numbers, len(classes), folds, seed)

    def warm_up(self, entrant: Entrant) -> None:
        """Let a model do what only the first fit of a process has to do.

        Parameters
        ----------
        entrant : Entrant
            The model.
        """
        train = self.folds[0][0]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            y = np.unique(self.y[train], return_inverse=True)[1]
            entrant.warm_up(entrant.view(self.X).iloc[train], y)

    def __call__(self, entrant: Entrant, number: int) -> Cell:
        """Fit a model on the training rows of a fold, and measure it on the test rows."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self._measured(entrant, *self.folds[number])

    def _measured(
        self, entrant: Entrant, train: NDArray[np.int64], test: NDArray[np.int64]
    ) -> Cell:
        X = entrant.view(self.X)
        X_train, X_test = X.iloc[train], X.iloc[test]
        present, y_train = np.unique(self.y[train], return_inverse=True)
        model = entrant.make(X, self.seed)
        fit_seconds = seconds(lambda: model.fit(X_train, y_train))
        if getattr(classifier_of(model), "stopped_", None) == "interrupted":
            raise KeyboardInterrupt  # ours return the rounds fitted so far instead of raising
        found: list[Any] = []
        predict_seconds = seconds(lambda: found.append(model.predict(X_test)))
        labels = present[np.ravel(found[0]).astype(np.int64)]  # CatBoost returns a column
        probabilities = None
        if hasattr(model, "predict_proba"):
            probabilities = np.zeros((len(test), self.n_classes))
            probabilities[:, present] = model.predict_proba(X_test)
        scores = score(
            [str(number) for number in self.y[test]],
            [str(number) for number in labels],
            probabilities,
            range(self.n_classes),
        )
        return Cell(
            scores.error, scores.log_loss, fit_seconds, predict_seconds, entrant.size(model)
        )
