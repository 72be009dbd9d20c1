"""Rounds of AdaBoost.ECC: each parts the classes in two and lets a weak classifier vote."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..ensembles.votes import Votes
from ..losses import ExponentialLoss
from ..runtime.parallel import ThreadTeam
from ..solvers.risk import PairwiseRisk
from .loop import TrainingData
from .reweighting import log_ratio
from .voting import FeatureSettings, VoteTrainer


def random_half(n_classes: int, rng: np.random.Generator) -> NDArray:
    """Return a partition with half of the classes on either side (Li 2006).

    Parameters
    ----------
    n_classes : int
        Number of classes.
    rng : numpy.random.Generator
        Draws it.

    Returns
    -------
    ndarray of shape (n_classes,)
        -1 and +1.
    """
    partition = np.ones(n_classes)
    partition[rng.permutation(n_classes)[: n_classes // 2]] = -1.0
    return partition


def max_cut(between: NDArray, partition: NDArray) -> NDArray:
    """Return a partition with a large weight between its sides, by moving single classes.

    Parameters
    ----------
    between : ndarray of shape (n_classes, n_classes)
        Weight of the pairs of two classes.
    partition : ndarray of shape (n_classes,)
        Where to begin.

    Returns
    -------
    ndarray of shape (n_classes,)
        A partition that no single move improves.
    """
    between = between + between.T
    np.fill_diagonal(between, 0.0)
    partition = partition.copy()
    while True:
        gains = partition * (between @ partition)  # what moving a class adds to the cut
        gains[np.abs(gains) <= 1e-12 * between.sum()] = 0.0
        best = int(gains.argmax())
        if gains[best] <= 0:
            return partition
        partition[best] = -partition[best]


class ECCTrainer(VoteTrainer):
    """The rounds of AdaBoost.ECC.

    With scores ``F_l = 1/2 sum_t g_t mu_t(l)`` the weights of the pairs (i, l) are those of the
    pairwise exponential risk.
    """

    _needs_scores = True

    def __init__(
        self,
        settings: FeatureSettings,
        partition: Any,
        data: TrainingData,
        start: Votes | None,
        team: ThreadTeam,
    ) -> None:
        super().__init__(settings, data, start, team)
        self._partition = partition
        self._risk = PairwiseRisk(
            ExponentialLoss(), data.y, data.n_classes, data.sample_weight, "log-sum-exp"
        )
        self._first_loss = self._risk.evaluate(np.zeros_like(self._scores))[0]
        self._signed = self._risk.evaluate(self._scores)[1]

    def _choose_partition(self, rng: np.random.Generator) -> NDArray:
        if not isinstance(self._partition, str):
            matrix = np.asarray(self._partition, dtype=np.float64)
            return matrix[:, len(self._hypotheses) % matrix.shape[1]]
        partition = random_half(self._data.n_classes, rng)
        if self._partition == "max-cut":
            between = np.zeros((self._data.n_classes, self._data.n_classes))
            np.add.at(between, self._data.y, np.maximum(-self._signed, 0.0).T)
            partition = max_cut(between, partition)
        return partition

    def step(self) -> dict[str, float] | str:
        """Run one round; return its loss and edge, or why there is no further round."""
        rng = self._rng()
        partition = self._choose_partition(rng)
        weights = partition @ self._signed  # 2 mu(y_i) times the weight of pairs that it parts
        mass = float(np.abs(weights).sum())
        found = self._learner.fit(weights / mass, self._columns, rng) if mass > 0 else None
        if found is None:
            return "no weak learner separates any two samples"
        hypothesis, edge = found
        if edge <= self._settings.tol:
            return f"no weak learner has an edge above tol = {self._settings.tol:g}"
        alpha, beta = self._vote_sizes(hypothesis, weights / mass, edge)
        size = max(abs(alpha), abs(beta))
        if self._learner.discrete:
            hypothesis = hypothesis.with_outputs(-beta / size, alpha / size)
        self._add(hypothesis, (alpha, beta), 0.5 * size * partition)
        loss, self._signed = self._risk.evaluate(self._scores)
        return {"loss": loss - self._first_loss, "edge": edge}

    def _vote_sizes(self, hypothesis: Any, weights: NDArray, edge: float) -> tuple[float, float]:
        """Sizes of the positive and of the negative vote."""
        if not self._learner.discrete:
            size = log_ratio(1.0 + edge, 1.0 - edge)
            return size, size
        positive = hypothesis.outputs(self._points) > 0
        gained, lost = np.maximum(weights, 0.0), np.maximum(-weights, 0.0)
        return (
            log_ratio(float(gained[positive].sum()), float(lost[positive].sum())),
            log_ratio(float(lost[~positive].sum()), float(gained[~positive].sum())),
        )
