"""What the classical algorithms share: weak classifiers on the features, and votes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils.validation import check_is_fitted

from ..ensembles.votes import largest_vote_margin, staged_vote_scores, vote_importances, vote_scores
from ..estimators.base import BaseBoostingClassifier
from ..losses import ExponentialLoss, Loss
from ..projections.points import FeaturePoints
from ..runtime.parallel import ThreadTeam
from ..search.binned import BinnedColumns
from ..weak_learners import StumpLearner, make_learner
from ..weak_learners.hypotheses import Stump, pack
from .rounds import Model, Trainer, TrainingData

CLASSICAL_CONSTRAINTS: dict[str, list] = {
    **BaseBoostingClassifier._parameter_constraints,
    "weak_learner": [
        StrOptions({"stump", "real_stump", "gini_stump", "wlda", "tree"}),
        HasMethods("fit"),
    ],
}
LEAST_MASS = 1e-6  # lower bound of a share of weight, so that votes stay finite


def log_ratio(gained: float, lost: float) -> float:
    """Return ``log(gained / lost) / 2`` with neither taken below `LEAST_MASS`.

    Parameters
    ----------
    gained, lost : float
        Shares of weight.

    Returns
    -------
    float
        The weight of a vote.
    """
    return 0.5 * float(np.log(max(gained, LEAST_MASS) / max(lost, LEAST_MASS)))


class VoteTrainer(Trainer):
    """Rounds that each add one weak classifier with its votes.

    Parameters
    ----------
    estimator : VoteBoostingClassifier
        Its parameters.
    data : TrainingData
        The data.
    start : Model
        Rounds to go on from.
    team : ThreadTeam
        Threads.
    """

    _needs_scores: ClassVar[bool] = False  # whether `step` looks at the training scores

    def __init__(self, estimator: Any, data: TrainingData, start: Model, team: ThreadTeam) -> None:
        self._data = data
        self._seed = estimator._seed
        self._tol = estimator.tol
        self._n_classes = len(estimator.classes_)
        self._points = FeaturePoints(data.X)
        self._val_points = None if data.X_val is None else FeaturePoints(data.X_val)
        self._learner = make_learner(
            estimator.weak_learner,
            self._points,
            lambda: BinnedColumns(self._points, team, estimator._bin_limit()),
        )
        self._columns = np.arange(self._points.n_columns)
        n_val = 0 if data.y_val is None else len(data.y_val)
        self._scores = np.zeros((self._n_classes, len(data.y)))
        self._val_scores = np.zeros((self._n_classes, n_val))
        self.model = Model([], [], None, [])
        for hypothesis, weight, votes in zip(
            start.hypotheses, start.weights, start.codes, strict=True
        ):
            self._add(hypothesis, weight, votes)

    def _rng(self) -> np.random.Generator | None:
        """Return the round's generator; plain stumps draw nothing."""
        if isinstance(self._learner, StumpLearner):
            return None
        return np.random.default_rng([self._seed, len(self.model.hypotheses)])

    def _add(self, hypothesis: Any, weight: Any, votes: NDArray) -> NDArray:
        """Add a weak classifier with its votes to model and scores; return its outputs."""
        outputs = hypothesis.outputs(self._points)
        if self._needs_scores:
            self._scores += np.outer(votes, outputs)
        if self._val_points is not None:
            self._val_scores += np.outer(votes, hypothesis.outputs(self._val_points))
        self.model.hypotheses.append(hypothesis)
        self.model.weights.append(weight)
        self.model.codes.append(votes)
        return outputs

    @abstractmethod
    def step(self) -> dict[str, float] | str:
        """Run one round; return what to note in the history, or why no round is possible."""

    def validation_scores(self) -> NDArray:
        """Return the scores of the validation part after the last round."""
        return self._val_scores


class VoteBoostingClassifier(BaseBoostingClassifier):
    """Base of the classifiers with ``F_r(x) = sum_t V_tr h_t(x)``."""

    _parameter_constraints: ClassVar[dict[str, list]] = CLASSICAL_CONSTRAINTS
    _votes: NDArray

    def _get_loss(self) -> Loss:
        return ExponentialLoss()

    def _finish(self, model: Model) -> None:
        self._hypotheses = pack(model.hypotheses)
        self.weights_ = np.array(model.weights)
        self._votes = np.array(model.codes)

    def _model(self) -> Model:
        return Model(list(self._hypotheses), list(self.weights_), None, list(self._votes))

    def _scores(self, X: Any, team: ThreadTeam) -> NDArray:
        return vote_scores(X, self._hypotheses, self._votes, team)

    def _staged_scores(self, X: Any) -> Iterator[NDArray]:
        return staged_vote_scores(X, self._hypotheses, self._votes)

    def _largest_margin(self) -> float:
        return largest_vote_margin(self._votes)

    @property
    def feature_importances_(self) -> NDArray:
        """Return how much the weak classifiers on every feature move the scores apart."""
        check_is_fitted(self)
        return vote_importances(self._hypotheses, self._votes, self.n_features_in_)


def with_outputs(hypothesis: Any, negative: float, positive: float) -> Any:
    """Return a discrete weak classifier with other outputs instead of -1 and +1.

    Parameters
    ----------
    hypothesis : Stump or FittedEstimator
        A weak classifier with outputs -1 and +1.
    negative, positive : float
        Outputs that take their place.

    Returns
    -------
    Stump or FittedEstimator
        The same weak classifier with the new outputs.
    """
    if isinstance(hypothesis, Stump):
        new = {-1.0: negative, 1.0: positive}
        return Stump(
            hypothesis.column,
            hypothesis.threshold,
            new[hypothesis.left],
            new[hypothesis.right],
            hypothesis.combination,
        )
    return hypothesis.with_outputs(negative, positive)
