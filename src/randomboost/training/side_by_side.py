"""Boosting many dichotomies of the classes side by side (AdaBoost.MH per class, AdaBoost.MO).

Dichotomy j gives class r the label ``code[r, j]``. Every round finds a weak classifier for each
dichotomy and weighs it by itself; the weights of all (sample, dichotomy) sum to 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..ensembles.dichotomies import Dichotomies, HypothesisRow, StumpRow, decode
from ..projections.points import FeaturePoints
from ..runtime.parallel import ThreadTeam
from ..search.binned import BinnedColumns
from ..search.per_dichotomy import DichotomySearch
from ..weak_learners import StumpLearner, make_learner
from ..weak_learners.hypotheses import Stump
from .loop import Trainer, TrainingData
from .reweighting import LEAST_MASS, ExponentialWeights
from .voting import FeatureSettings


class DichotomyTrainer(Trainer):
    """Rounds that each add one weak classifier per dichotomy.

    Parameters
    ----------
    settings : FeatureSettings
        The settings.
    code : ndarray of shape (n_classes, n_dichotomies)
        Labels -1 and +1.
    decoding : {"loss", "hamming"} or None
        How sums become scores (see `ensembles.dichotomies.decode`).
    data : TrainingData
        The data.
    start : Dichotomies or None
        Rounds to continue from.
    team : ThreadTeam
        Threads.
    """

    def __init__(
        self,
        settings: FeatureSettings,
        code: NDArray,
        decoding: str | None,
        data: TrainingData,
        start: Dichotomies | None,
        team: ThreadTeam,
    ) -> None:
        self._settings, self._code, self._decoding = settings, code, decoding
        self._points = FeaturePoints(data.X)
        self._val_points = None if data.X_val is None else FeaturePoints(data.X_val)
        columns = BinnedColumns(self._points, team, settings.max_bins)
        self._search = DichotomySearch(columns, team)
        self._learner = make_learner(settings.weak_learner, self._points, lambda: columns)
        self._plain = (
            isinstance(self._learner, StumpLearner)
            and self._learner.discrete
            and self._learner.largest_edge
        )
        self._labels = np.ascontiguousarray(code[data.y].T)  # (n_dichotomies, n_samples)
        self._boosted = ExponentialWeights(np.broadcast_to(data.sample_weight, self._labels.shape))
        self._val_sums = np.zeros((code.shape[1], data.n_validation))
        self._rows: list[Any] = []
        self._alphas: list[NDArray] = []
        if start is not None:
            for row, alphas in zip(start.rows, start.weights, strict=True):
                self._add(row, alphas, row.outputs(self._points))

    def ensemble(self, n_rounds: int) -> Dichotomies:
        """Return the ensemble as it was after `n_rounds` rounds."""
        alphas = np.array(self._alphas[:n_rounds])
        return Dichotomies(self._rows[:n_rounds], alphas, self._code, self._decoding)

    def _add(self, row: Any, alphas: NDArray, outputs: NDArray) -> None:
        self._boosted.update((alphas[:, None] * self._labels) * outputs)
        if self._val_points is not None:
            self._val_sums += alphas[:, None] * row.outputs(self._val_points)
        self._rows.append(row)
        self._alphas.append(alphas)

    def _find(self, signed: NDArray) -> Any:
        if self._plain:
            features, thresholds, edges = self._search.search(np.ascontiguousarray(signed.T))
            return StumpRow(features, thresholds, np.sign(edges).astype(np.int8))
        rng = np.random.default_rng([self._settings.seed, len(self._rows)])
        columns = np.arange(self._points.n_columns)
        found = [self._learner.fit(row, columns, rng) if row.any() else None for row in signed]
        nothing = Stump(0, -np.inf, 0.0, 0.0)
        return HypothesisRow([nothing if f is None else f[0] for f in found])

    def step(self) -> dict[str, float] | str:
        """Run one round; return its loss and edge, or why there is no further round."""
        signed = self._boosted.values * self._labels
        row = self._find(signed)
        outputs = row.outputs(self._points)
        edges = np.einsum("ji,ji->j", signed, outputs)
        if edges.sum() <= self._settings.tol:
            return f"no weak learner has an edge above tol = {self._settings.tol:g}"
        mass = self._boosted.values.sum(axis=1)
        floor = 2.0 * LEAST_MASS * np.maximum(mass, np.finfo(np.float64).tiny)
        alphas = 0.5 * np.log(np.maximum(mass + edges, floor) / np.maximum(mass - edges, floor))
        self._add(row, alphas, outputs)
        return {"loss": self._boosted.log_loss, "edge": float(edges.sum())}

    def validation_labels(self) -> NDArray[np.int64]:
        """Return the predicted class numbers of the validation part."""
        return decode(self._val_sums, self._code, self._decoding).argmax(axis=0)
