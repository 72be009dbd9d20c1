"""The estimator face of methods with effective weights linear in w: RBoost-proj, MultiBoost."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..ensembles.class_votes import Coding
from ..ensembles.votes import largest_vote_margin, vote_importances, vote_scores
from ..projections.points import FeaturePoints
from ..runtime.parallel import ThreadTeam
from ..training.rounds import Model
from ..weak_learners.hypotheses import pack
from .base import BaseBoostingClassifier


class CodedClassifier(BaseBoostingClassifier):
    """Base of the totally corrective classifiers with ``F_r(x) = sum_t A_tr(w) h_t(x)``."""

    _codes: NDArray[np.int64]

    @abstractmethod
    def _coding(self, team: ThreadTeam) -> Coding:
        """Return how weights become votes."""

    def _finish(self, model: Model) -> None:
        self._hypotheses = pack(model.hypotheses)
        self.weights_ = model.weights
        self._path = model.path
        self._codes = np.array(model.codes, dtype=np.int64)
        with ThreadTeam(1) as team:
            self._effective = self._coding(team).effective(model.weights, len(model.hypotheses))

    def _model(self) -> Model:
        return Model(list(self._hypotheses), self.weights_, self._path, list(self._codes))

    def _scores(self, X: Any, team: ThreadTeam) -> NDArray:
        return vote_scores(X, self._hypotheses, self._effective, team)

    def _staged_scores(self, X: Any) -> Iterator[NDArray]:
        points = FeaturePoints(X)
        outputs = np.stack([h.outputs(points) for h in self._hypotheses]).astype(np.float64)
        with ThreadTeam(1) as team:
            coding = self._coding(team)
            for t, weights in enumerate(self._path or [], start=1):
                yield coding.effective(weights, t, keep=True).T @ outputs[:t]

    def _largest_margin(self) -> float:
        return largest_vote_margin(self._effective)

    @property
    def feature_importances_(self) -> NDArray:
        """Return how much the weak classifiers on every feature move the scores apart."""
        check_is_fitted(self)
        return vote_importances(self._hypotheses, self._effective, self.n_features_in_)
