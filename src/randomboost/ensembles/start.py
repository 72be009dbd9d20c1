"""What trees may start from: scores of another model, of which there are several kinds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..runtime.checked_arrays import Arrays, Taken
from ..runtime.parallel import ThreadTeam
from .base import ModelShape
from .plain_tables import PlainTables


class Start(ABC):
    """Scores that boosting starts from; a frozen dataclass.

    Parameters
    ----------
    share : float
        Part of the loss of the prior that the scores remove, on samples they do not know.
    """

    name: ClassVar[str]  # for messages, in the plural
    share: float
    n_turns = 1  # that members take among several starts

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]

    def equals(self, other: Any) -> bool:
        """Return whether these are the scores of other ones, bit for bit."""
        mine, theirs = self.to_arrays(), other.to_arrays()
        return mine.keys() == theirs.keys() and all(
            np.array_equal(mine[name], theirs[name]) for name in mine
        )

    def taken(self, X: Any) -> Any:
        """Return prepared features in the form that these scores need them in.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
            Scaled data.

        Returns
        -------
        ndarray or CSR matrix
            The same.
        """
        return X

    @property
    def fitted(self) -> tuple[Any, ...]:
        """The scores that were fitted one by one."""
        return (self,)

    @property
    def n_landmarks(self) -> int:
        """Number of landmarks."""
        return 0

    @abstractmethod
    def scores(self, X: Any, team: ThreadTeam) -> NDArray[np.float32]:
        """Return the scores of prepared features.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
            Scaled data.
        team : ThreadTeam
            Threads.

        Returns
        -------
        ndarray of float32 of shape (n_classes, n_samples)
            The scores.
        """

    @abstractmethod
    def contributions(self, X: Any, classes: NDArray[np.int64]) -> tuple[NDArray, NDArray]:
        """Return what features contribute to scores, as `Ensemble.contributions` does.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
            Scaled data.
        classes : ndarray of int64 of shape (n_samples, n_outputs)
            The classes to explain in every row.

        Returns
        -------
        tuple of ndarray
            Contributions (n_samples, n_features, n_outputs) and base values (n_samples,
            n_outputs).
        """

    @abstractmethod
    def importances(self) -> NDArray:
        """Return how much the scores vary with every feature."""

    @abstractmethod
    def largest_margin(self) -> float:
        """Return a bound of the difference between any two scores of a row."""

    @abstractmethod
    def with_classes(self, numbers: NDArray[np.int64], n_classes: int) -> Start:
        """Return the scores with further classes, which have none.

        Parameters
        ----------
        numbers : ndarray of int64
            Numbers of the known classes among all, rising.
        n_classes : int
            Number of all classes.

        Returns
        -------
        Start
            The scores.
        """

    @abstractmethod
    def to_arrays(self) -> Arrays:
        """Return the arrays of a file by name."""

    @classmethod
    @abstractmethod
    def from_arrays(cls, taken: Taken, shape: ModelShape) -> Start:
        """Return the scores that `to_arrays` was given.

        Parameters
        ----------
        taken : Taken
            The arrays of a file.
        shape : ModelShape
            The sizes of the model.

        Returns
        -------
        Start
            The scores.
        """

    @abstractmethod
    def in_tables(self, tables: PlainTables) -> PlainTables:
        """Return the tables of trees with those of the scores."""
