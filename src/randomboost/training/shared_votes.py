"""Rounds of AdaBoost.MH with one weak classifier that all classes share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..ensembles.votes import Votes
from ..runtime.parallel import ThreadTeam
from ..search.joint import JointSearch, first_of_best
from ..weak_learners import StumpLearner
from ..weak_learners.stump import make_stump
from .loop import TrainingData
from .reweighting import ExponentialWeights, log_ratio
from .voting import FeatureSettings, VoteTrainer


class SharedTrainer(VoteTrainer):
    """Rounds with one weak classifier phi and votes in {-1, +1}^k that all classes share.

    The edge ``sum_l v_l sum_i D(i, l) Y_il phi(x_i)`` is the sum over the classes of absolute
    edges, so the best stump is found from the sums of all classes together. Any other weak
    learner is fitted for the votes of the best stump, and then given its own best votes.
    """

    def __init__(
        self, settings: FeatureSettings, data: TrainingData, start: Votes | None, team: ThreadTeam
    ) -> None:
        self._labels = np.where(data.y == np.arange(data.n_classes)[:, None], 1.0, -1.0)
        self._boosted = ExponentialWeights(np.broadcast_to(data.sample_weight, self._labels.shape))
        super().__init__(settings, data, start, team)
        self._search = JointSearch(self._binned_columns, team)

    def _add(self, hypothesis: Any, weight: Any, votes: NDArray) -> NDArray:
        outputs = super()._add(hypothesis, weight, votes)
        self._boosted.update(self._labels * np.outer(votes, outputs))
        return outputs

    def step(self) -> dict[str, float] | str:
        """Run one round; return its loss and edge, or why there is no further round."""
        signed = self._boosted.values * self._labels
        sums = self._search.edge_sums(np.ascontiguousarray(signed.T))[:-1]
        if not len(sums):
            return "no weak learner separates any two samples"
        best = first_of_best(np.abs(sums).sum(axis=1))
        votes = np.where(sums[best] >= 0, 1.0, -1.0)
        if isinstance(self._learner, StumpLearner) and self._learner.largest_edge:
            cut = self._search.cut(best)
            real = not self._learner.discrete
            hypothesis, _ = make_stump(self._points, votes @ signed, *cut, real=real)
        else:
            found = self._fit_learner(votes @ signed)
            if found is None:
                return "no weak learner separates any two samples"
            hypothesis = found[0]
        edges = signed @ hypothesis.outputs(self._points)
        edge = float(np.abs(edges).sum())
        if edge <= self._settings.tol:
            return f"no weak learner has an edge above tol = {self._settings.tol:g}"
        alpha = log_ratio(0.5 * (1.0 + edge), 0.5 * (1.0 - edge))
        self._add(hypothesis, alpha, alpha * np.where(edges >= 0, 1.0, -1.0))
        return {"loss": self._boosted.log_loss, "edge": edge}
