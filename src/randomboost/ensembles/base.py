"""What every fitted ensemble offers: scores, importances, arrays for files, tables for exports."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray
from scipy.special import logsumexp, softmax

from ..runtime.checked_arrays import Arrays, Taken
from ..runtime.parallel import ThreadTeam
from .plain_tables import PlainTables


@dataclass(frozen=True)
class ModelShape:
    """The sizes that an ensemble does not store itself.

    Parameters
    ----------
    n_classes, n_features, n_rounds : int
        Numbers of classes, features and rounds.
    dtype : dtype
        Precision in which features are mixed and compared.
    """

    n_classes: int
    n_features: int
    n_rounds: int
    dtype: np.dtype


class Ensemble(ABC):
    """A fitted ensemble: weak classifiers, their weights, and how they become class scores.

    An ensemble knows prepared features (see `FittedModel`) and class numbers only: neither labels
    nor parameters of an estimator.
    """

    kind: ClassVar[str]  # names the ensemble in files
    takes_missing: ClassVar[bool] = False  # whether features may be missing
    is_sparse: ClassVar[bool] = False  # whether the best classes are found without all scores
    explains: ClassVar[bool] = False  # whether there are `contributions`
    takes_new_classes: ClassVar[bool] = False  # whether there is `with_classes`
    weights: NDArray  # what an estimator shows as `weights_`

    @property
    @abstractmethod
    def n_rounds(self) -> int:
        """Number of rounds."""

    @property
    def has_stages(self) -> bool:
        """Whether the ensemble after every round is known."""
        return True

    def with_classes(self, numbers: NDArray[np.int64], totals: NDArray) -> Ensemble:
        """Return the ensemble with further classes, which no round has seen.

        `numbers` (rising) are those of the known classes among all, `totals` the weights of all.
        """
        raise NotImplementedError(f"{self.kind} take no new classes")

    @abstractmethod
    def scores(self, X: Any, team: ThreadTeam) -> NDArray:
        """Return the scores of prepared features, shape (n_classes, n_samples)."""

    @abstractmethod
    def staged_scores(self, X: Any, team: ThreadTeam) -> Iterator[NDArray]:
        """Yield the scores after every round."""

    def best(self, X: Any, team: ThreadTeam) -> NDArray[np.int64]:
        """Return the class with the largest score, the first one where several have it."""
        return self.scores(X, team).argmax(axis=0)

    def top(
        self, X: Any, n: int, scale: float, team: ThreadTeam
    ) -> tuple[NDArray[np.int64], NDArray]:
        """Return the n most probable classes and their probabilities, the most probable first.

        Probabilities are ``softmax(scale F)``; both results have the shape (n_samples, n).
        """
        scores = scale * self.scores(X, team).T
        order = np.argsort(-scores, axis=1, kind="stable")[:, :n]
        chosen = np.take_along_axis(scores, order, axis=1)
        return order, np.exp(chosen - logsumexp(scores, axis=1, keepdims=True))

    def touched_probabilities(
        self, X: Any, scale: float, dtype: DTypeLike, team: ThreadTeam
    ) -> sp.csr_array:
        """Return ``softmax(scale F)`` of the classes that the ensemble says something about.

        Those are all classes here; the shape is (n_samples, n_classes).
        """
        scores = self.scores(X, team).T.astype(dtype)
        return sp.csr_array(softmax(scale * scores, axis=1))

    def contributions(
        self, X: Any, classes: NDArray[np.int64], team: ThreadTeam
    ) -> tuple[NDArray, NDArray]:
        """Return what features contribute to scores, and the scores that are expected without.

        `classes` (n_samples, n_outputs) are those to explain; of two classes the score is the
        difference to the other one's. The shapes are (n_samples, n_features, n_outputs) and
        (n_samples, n_outputs).
        """
        raise NotImplementedError(f"{self.kind} have no contributions")

    @abstractmethod
    def largest_margin(self) -> float:
        """Return the largest difference of two scores that any sample could have."""

    @abstractmethod
    def importances(self, n_features: int) -> NDArray:
        """Return the share of every feature, shape (n_features,); it sums to 1 or is all 0."""

    @abstractmethod
    def to_arrays(self, *, dense: bool) -> tuple[dict[str, Any], Arrays]:
        """Return the ensemble as JSON and arrays.

        With `dense` also what follows from the seed, in arrays whose names begin with "dense.",
        and the weights after every round.
        """

    @classmethod
    @abstractmethod
    def from_arrays(cls, described: dict[str, Any], taken: Taken, shape: ModelShape) -> Ensemble:
        """Return the ensemble that `to_arrays` was given, after checking that its parts fit."""

    @abstractmethod
    def tables(self, shape: ModelShape) -> PlainTables:
        """Return what the ensemble computes as plain arrays."""


def as_shares(importances: NDArray) -> NDArray:
    """Return importances that sum to 1, or all 0 where there are none.

    Parameters
    ----------
    importances : ndarray
        At least 0.

    Returns
    -------
    ndarray
        The shares.
    """
    total = importances.sum()
    return importances / total if total > 0 else importances
