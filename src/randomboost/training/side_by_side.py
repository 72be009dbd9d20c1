"""Boosting many dichotomies of the classes side by side (AdaBoost.MH per class, AdaBoost.MO).

Dichotomy j gives class r the label ``code[r, j]``. Every round finds a weak classifier for each
dichotomy and weighs it by itself; the weights of all (sample, dichotomy) sum to 1.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..ensembles.votes import vote_importances
from ..estimators.base import BaseBoostingClassifier
from ..losses import ExponentialLoss, Loss
from ..projections.points import FeaturePoints
from ..runtime.compiling import kernel
from ..runtime.parallel import ThreadTeam
from ..search.binned import BinnedColumns
from ..search.per_dichotomy import DichotomySearch
from ..weak_learners import StumpLearner, make_learner
from ..weak_learners.hypotheses import Hypothesis, Stump
from .rounds import Model, Trainer, TrainingData
from .voting import LEAST_MASS


@kernel
def _stump_outputs(features, columns, thresholds, signs, out, start, stop):
    """``out[j, i] = +-1`` for the dichotomies start .. stop."""
    for j in range(start, stop):
        values = features[columns[j]]
        for i in range(len(values)):
            out[j, i] = signs[j] if values[i] > thresholds[j] else -signs[j]


@dataclass(frozen=True)
class StumpRow:
    """One discrete stump for every dichotomy.

    Parameters
    ----------
    columns : ndarray of int32
        Features.
    thresholds : ndarray
        Thresholds.
    signs : ndarray of int8
        Outputs above the threshold.
    """

    columns: NDArray[np.int32]
    thresholds: NDArray
    signs: NDArray[np.int8]

    def outputs(self, points: FeaturePoints) -> NDArray:
        """Return the outputs, shape (n_dichotomies, n_samples)."""
        out = np.empty((len(self.columns), points.n_points), np.int8)
        thresholds = self.thresholds.astype(points.dtype)
        _stump_outputs(
            points.features, self.columns, thresholds, self.signs, out, 0, len(self.columns)
        )
        return out

    def members(self) -> list[Hypothesis]:
        """Return the stumps one by one."""
        return [
            Stump(int(c), float(t), -float(s), float(s))
            for c, t, s in zip(self.columns, self.thresholds, self.signs, strict=True)
        ]


@dataclass(frozen=True)
class HypothesisRow:
    """One weak classifier of any kind for every dichotomy.

    Parameters
    ----------
    hypotheses : list
        The weak classifiers.
    """

    hypotheses: list[Any]

    def outputs(self, points: FeaturePoints) -> NDArray:
        """Return the outputs, shape (n_dichotomies, n_samples)."""
        return np.stack([h.outputs(points) for h in self.hypotheses])

    def members(self) -> list[Hypothesis]:
        """Return the weak classifiers one by one."""
        return self.hypotheses


class DichotomyTrainer(Trainer):
    """Rounds that each add one weak classifier a dichotomy.

    Parameters
    ----------
    estimator : DichotomyClassifier
        Its parameters.
    code : ndarray of shape (n_classes, n_dichotomies)
        Labels -1 and +1.
    data : TrainingData
        The data.
    start : Model
        Rounds to go on from.
    team : ThreadTeam
        Threads.
    """

    def __init__(
        self,
        estimator: DichotomyClassifier,
        code: NDArray,
        data: TrainingData,
        start: Model,
        team: ThreadTeam,
    ) -> None:
        self._seed = estimator._seed
        self._tol = estimator.tol
        self._decode = estimator._decode
        self._points = FeaturePoints(data.X)
        self._val_points = None if data.X_val is None else FeaturePoints(data.X_val)
        columns = BinnedColumns(self._points, team, estimator._bin_limit())
        self._search = DichotomySearch(columns, team)
        self._learner = make_learner(estimator.weak_learner, self._points, lambda: columns)
        self._plain = (
            isinstance(self._learner, StumpLearner)
            and self._learner.discrete
            and self._learner.largest_edge
        )
        self._labels = np.ascontiguousarray(code[data.y].T)  # (n_dichotomies, n_samples)
        weight = np.broadcast_to(data.sample_weight, self._labels.shape)
        self._weight = weight / weight.sum()
        self._log_loss = 0.0
        n_val = 0 if data.y_val is None else len(data.y_val)
        self._val_sums = np.zeros((code.shape[1], n_val))
        self.model = Model([], [])
        for row, alphas in zip(start.hypotheses, start.weights, strict=True):
            self._add(row, alphas, row.outputs(self._points))

    def _add(self, row: Any, alphas: NDArray, outputs: NDArray) -> None:
        self._weight *= np.exp(-(alphas[:, None] * self._labels) * outputs)
        total = self._weight.sum()
        self._weight /= total
        self._log_loss += float(np.log(total))
        if self._val_points is not None:
            self._val_sums += alphas[:, None] * row.outputs(self._val_points)
        self.model.hypotheses.append(row)
        self.model.weights.append(alphas)

    def _find(self, signed: NDArray) -> Any:
        if self._plain:
            features, thresholds, edges = self._search.search(np.ascontiguousarray(signed.T))
            return StumpRow(features, thresholds, np.sign(edges).astype(np.int8))
        rng = np.random.default_rng([self._seed, len(self.model.hypotheses)])
        columns = np.arange(self._points.n_columns)
        found = [self._learner.fit(row, columns, rng) if row.any() else None for row in signed]
        nothing = Stump(0, -np.inf, 0.0, 0.0)
        return HypothesisRow([nothing if f is None else f[0] for f in found])

    def step(self) -> dict[str, float] | str:
        """Run one round; return its loss and edge, or why there is no further round."""
        signed = self._weight * self._labels
        row = self._find(signed)
        outputs = row.outputs(self._points)
        edges = np.einsum("ji,ji->j", signed, outputs)
        if edges.sum() <= self._tol:
            return f"no weak learner has an edge above tol = {self._tol:g}"
        mass = self._weight.sum(axis=1)
        floor = 2.0 * LEAST_MASS * np.maximum(mass, np.finfo(np.float64).tiny)
        alphas = 0.5 * np.log(np.maximum(mass + edges, floor) / np.maximum(mass - edges, floor))
        self._add(row, alphas, outputs)
        return {"loss": self._log_loss, "edge": float(edges.sum())}

    def validation_scores(self) -> NDArray:
        """Return the scores of the validation part after the last round."""
        return self._decode(self._val_sums)


class DichotomyClassifier(BaseBoostingClassifier):
    """Base of the classifiers that boost dichotomies side by side."""

    @abstractmethod
    def _decode(self, sums: NDArray) -> NDArray:
        """Turn sums of votes by dichotomy (J, m) into scores by class (k, m)."""

    def _get_loss(self) -> Loss:
        return ExponentialLoss()

    def _probability_scale(self) -> float:
        # exp(-Y f) is smallest at f = log(p / (1 - p)) / 2, and two classes score f and -f
        return 1.0

    def _finish(self, model: Model) -> None:
        self._rows = list(model.hypotheses)
        self.weights_ = np.array(model.weights)

    def _model(self) -> Model:
        return Model(list(self._rows), list(self.weights_))

    def _sums(self, X: Any) -> Iterator[NDArray]:
        points = FeaturePoints(X)
        sums = np.zeros((self.weights_.shape[1], X.shape[0]))
        for alphas, row in zip(self.weights_, self._rows, strict=True):
            sums = sums + alphas[:, None] * row.outputs(points)
            yield sums

    def _scores(self, X: Any, team: ThreadTeam) -> NDArray:
        for sums in self._sums(X):
            final = sums
        return self._decode(final)

    def _staged_scores(self, X: Any) -> Iterator[NDArray]:
        for sums in self._sums(X):
            yield self._decode(sums)

    def _largest_margin(self) -> float:
        return 2.0 * float(np.abs(self.weights_).sum(axis=0).max())

    @property
    def feature_importances_(self) -> NDArray:
        """Return the share of the weights on every feature."""
        check_is_fitted(self)
        members = [member for row in self._rows for member in row.members()]
        votes = np.outer(self.weights_.ravel(), [-1.0, 1.0])
        return vote_importances(members, votes, self.n_features_in_)
