"""Rounds of one weak classifier with a vote for every class: AdaBoost, and what others build on."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..ensembles.votes import Votes
from ..projections.points import FeaturePoints
from ..runtime.parallel import ThreadTeam
from ..search.binned import BinnedColumns
from ..weak_learners import StumpLearner, make_learner
from .loop import Trainer, TrainingData
from .reweighting import ExponentialWeights


@dataclass(frozen=True)
class FeatureSettings:
    """Settings of methods whose weak classifiers look at the features.

    Parameters
    ----------
    weak_learner : str or estimator
        As for `weak_learners.make_learner`.
    tol : float
        Least edge of a weak classifier.
    max_bins : int or None
        Bins of a feature; None for all thresholds.
    seed : int
        Seed.
    """

    weak_learner: Any
    tol: float
    max_bins: int | None
    seed: int


class VoteTrainer(Trainer):
    """Rounds that each add one weak classifier with its votes.

    Parameters
    ----------
    settings : FeatureSettings
        The settings.
    data : TrainingData
        The data.
    start : Votes or None
        Rounds to continue from.
    team : ThreadTeam
        Threads.
    """

    _needs_scores: ClassVar[bool] = False  # whether `step` looks at the training scores

    def __init__(
        self, settings: FeatureSettings, data: TrainingData, start: Votes | None, team: ThreadTeam
    ) -> None:
        self._settings, self._data, self._team = settings, data, team
        self._points = FeaturePoints(data.X)
        self._val_points = None if data.X_val is None else FeaturePoints(data.X_val)
        self._learner = make_learner(
            settings.weak_learner, self._points, lambda: self._binned_columns
        )
        self._columns = np.arange(self._points.n_columns)
        self._scores = np.zeros((data.n_classes, len(data.y)))
        self._val_scores = np.zeros((data.n_classes, data.n_validation))
        self._hypotheses: list[Any] = []
        self._weights: list[Any] = []
        self._votes: list[NDArray] = []
        if start is not None:
            rounds = zip(start.hypotheses, start.weights, start.votes, strict=True)
            for hypothesis, weight, votes in rounds:
                self._add(hypothesis, weight, votes)

    @cached_property
    def _binned_columns(self) -> BinnedColumns:
        return BinnedColumns(self._points, self._team, self._settings.max_bins)

    def ensemble(self, n_rounds: int) -> Votes:
        """Return the ensemble as it was after `n_rounds` rounds."""
        weights, votes = self._weights[:n_rounds], self._votes[:n_rounds]
        return Votes(self._hypotheses[:n_rounds], np.array(weights), np.array(votes))

    def _rng(self) -> np.random.Generator:
        """Return the round's generator."""
        return np.random.default_rng([self._settings.seed, len(self._hypotheses)])

    def _fit_learner(self, signed: NDArray) -> tuple[Any, float] | None:
        """Return the weak classifier for signed weights and its edge; plain stumps draw nothing."""
        rng = None if isinstance(self._learner, StumpLearner) else self._rng()
        return self._learner.fit(signed, self._columns, rng)

    def _add(self, hypothesis: Any, weight: Any, votes: NDArray) -> NDArray:
        """Add a weak classifier with its votes to ensemble and scores; return its outputs."""
        outputs = hypothesis.outputs(self._points)
        if self._needs_scores:
            self._scores += np.outer(votes, outputs)
        if self._val_points is not None:
            self._val_scores += np.outer(votes, hypothesis.outputs(self._val_points))
        self._hypotheses.append(hypothesis)
        self._weights.append(weight)
        self._votes.append(votes)
        return outputs

    @abstractmethod
    def step(self) -> dict[str, float] | str:
        """Run one round; return what to note in the history, or why no round is possible."""

    def validation_labels(self) -> NDArray[np.int64]:
        """Return the predicted class numbers of the validation part."""
        return self._val_scores.argmax(axis=0)


class AdaBoostTrainer(VoteTrainer):
    """Rounds of discrete AdaBoost; real-valued weak learners are weighted by the same formula."""

    def __init__(
        self, settings: FeatureSettings, data: TrainingData, start: Votes | None, team: ThreadTeam
    ) -> None:
        self._label = np.where(data.y == 1, 1.0, -1.0)
        self._boosted = ExponentialWeights(data.sample_weight)
        self._perfect = False
        super().__init__(settings, data, start, team)

    def _add(self, hypothesis: Any, weight: Any, votes: Any) -> Any:
        outputs = super()._add(hypothesis, weight, votes)
        self._boosted.update(weight * self._label * outputs)
        self._perfect = bool((outputs == self._label).all())
        return outputs

    def step(self) -> dict[str, float] | str:
        """Run one round; return its loss and edge, or why there is no further round."""
        if self._perfect:
            return "a weak learner classifies all training samples correctly"
        found = self._fit_learner(self._label * self._boosted.values)
        if found is None:
            return "no weak learner separates any two samples"
        hypothesis, edge = found
        if edge <= self._settings.tol:
            return f"no weak learner has an edge above tol = {self._settings.tol:g}"
        alpha = 0.5 * float(np.log((1.0 + edge) / max(1.0 - edge, 2e-10)))
        self._add(hypothesis, alpha, np.array([-0.5, 0.5]) * alpha)
        return {"loss": self._boosted.log_loss, "edge": edge}
