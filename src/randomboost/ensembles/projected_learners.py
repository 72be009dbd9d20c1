"""RBoost-rank: weak classifiers on projected data, ``F_r(x) = sum_t w_t h_t(P^(r) x)``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..projections.matrices import class_wise_mixtures, mixed_rows
from ..projections.points import ProjectedPoints
from ..projections.projection_arrays import projection_from_arrays, projection_to_arrays
from ..runtime.checked_arrays import Arrays, Taken, floats, ints, need
from ..runtime.parallel import ThreadTeam
from ..weak_learners.hypotheses import FittedEstimator, Stump, Stumps, columns_in_use, pack
from ..weak_learners.hypothesis_arrays import hypotheses_from_arrays, hypotheses_to_arrays
from .base import Ensemble, ModelShape, as_shares
from .feature_tables import small_tree_table
from .path import path_from_arrays, path_to_arrays
from .plain_tables import PlainTables, StumpTable, TreeTable
from .projected_stumps import StumpScorer


class ProjectedLearners(Ensemble):
    """One weak classifier and one weight a round, on the projections of every class.

    Parameters
    ----------
    projection : GaussianProjection, CodedProjection or GivenProjection
        The class-wise matrices.
    hypotheses : sequence
        Weak classifiers.
    weights : ndarray of shape (n_rounds,)
        The single weight vector w.
    path : list of ndarray or None
        The weights after every round of a totally corrective fit (empty where a file did not have
        them); None for a stage-wise fit.
    n_features : int
        Number of features.
    dtype : dtype
        Precision of the data that the model was trained on.
    """

    kind = "projected data"

    def __init__(
        self,
        projection: Any,
        hypotheses: Sequence[Any],
        weights: NDArray,
        path: list[NDArray] | None,
        n_features: int,
        dtype: np.dtype,
    ) -> None:
        self.projection, self.hypotheses = projection, pack(hypotheses)
        self.weights, self.path = weights, path
        self.n_features, self.dtype = n_features, dtype

    def __getstate__(self) -> dict[str, Any]:
        names = ("projection", "hypotheses", "weights", "path", "n_features", "dtype")
        return {name: getattr(self, name) for name in names}

    @property
    def n_rounds(self) -> int:
        """Number of rounds."""
        return len(self.hypotheses)

    @property
    def has_stages(self) -> bool:
        """Whether the weights after every round are known."""
        return self.path is None or len(self.path) >= self.n_rounds

    @cached_property
    def _scorer(self) -> StumpScorer | None:
        if not isinstance(self.hypotheses, Stumps):
            return None
        return StumpScorer(
            self.projection, self.hypotheses, self.weights, self.n_features, self.dtype
        )

    def scores(self, X: Any, team: ThreadTeam) -> NDArray:
        """Return the scores, shape (n_classes, n_samples)."""
        if self._scorer is not None:
            return self._scorer.scores(X, team)
        points = ProjectedPoints(X, self.projection, merge=False)
        scores = np.zeros(points.n_points)
        for weight, hypothesis in zip(self.weights, self.hypotheses, strict=True):
            scores += weight * hypothesis.outputs(points)
        return scores.reshape(self.projection.n_classes, -1)

    def staged_scores(self, X: Any, team: ThreadTeam) -> Iterator[NDArray]:
        """Yield the scores after every round."""
        points = ProjectedPoints(X, self.projection, merge=False)
        shape = (self.projection.n_classes, X.shape[0])
        scores = np.zeros(points.n_points)
        outputs = np.empty((0 if self.path is None else len(self.path), points.n_points))
        for t, hypothesis in enumerate(self.hypotheses):
            output = hypothesis.outputs(points)
            if self.path is None:
                scores = scores + self.weights[t] * output
            else:
                outputs[t] = output
                scores = self.path[t] @ outputs[: t + 1]
            yield scores.reshape(shape)

    def largest_margin(self) -> float:
        """Return ``2 sum_t w_t``."""
        return 2.0 * float(np.abs(self.weights).sum())

    def importances(self, n_features: int) -> NDArray:
        """Return the share of every feature in the directions, weighted by the weights."""
        importances = np.zeros(n_features)
        for weight, hypothesis in zip(self.weights, self.hypotheses, strict=True):
            energy = self._energy(hypothesis)
            importances += abs(weight) * energy / energy.sum()
        return as_shares(importances)

    def _energy(self, hypothesis: Stump | FittedEstimator) -> NDArray:
        """Squared length of a weak classifier's directions, by feature."""
        mix = getattr(hypothesis, "combination", None)
        if mix is not None:
            rows = mixed_rows(self.projection, mix.columns, mix.coefficients, self.n_features)
            return (rows**2).sum(axis=0)
        columns = hypothesis.columns_used()
        rows = self.projection.rows(columns, (0, self.n_features), np.float64)
        return np.einsum("v,rvj->j", hypothesis.column_shares(), rows**2)

    def to_arrays(self, *, dense: bool) -> tuple[dict[str, Any], Arrays]:
        """Return the ensemble as JSON and arrays; with `dense` also the projections in use."""
        described, arrays = projection_to_arrays(self.projection)
        arrays |= hypotheses_to_arrays(self.hypotheses)
        arrays["weights"] = self.weights
        if dense:
            used = columns_in_use(self.hypotheses)
            rows = self.projection.rows(used, (0, self.n_features), np.float64)
            arrays |= {"dense.numbers": ints(used), "dense.rows": floats(rows)}
            arrays |= path_to_arrays(self.path) if self.path else {}
        return {"projection": described, "corrective": self.path is not None}, arrays

    @classmethod
    def from_arrays(
        cls, described: dict[str, Any], taken: Taken, shape: ModelShape
    ) -> ProjectedLearners:
        """Return the ensemble that `to_arrays` was given."""
        projection = projection_from_arrays(
            described.get("projection"), taken, shape.n_classes, shape.n_features
        )
        hypotheses = hypotheses_from_arrays(taken, projection.n_projections)
        need(len(hypotheses) == shape.n_rounds, "the number of rounds does not fit")
        sizes = range(1, shape.n_rounds + 1)
        path = path_from_arrays(taken, sizes) if described.get("corrective") else None
        weights = taken.real("weights", shape.n_rounds)
        return cls(projection, hypotheses, weights, path, shape.n_features, shape.dtype)

    def tables(self, shape: ModelShape) -> PlainTables:
        """Return stumps or small trees on the projections in use."""
        votes = np.asarray(self.weights, dtype=np.float64)[:, None]
        hypotheses = self.hypotheses
        mixes: dict[int, Any] = {}
        stumps: StumpTable | None = None
        trees: TreeTable | None = None
        if isinstance(hypotheses, Stumps):
            used = np.unique(hypotheses.columns[hypotheses.columns >= 0]).astype(np.int64)
            columns = np.searchsorted(used, hypotheses.columns).astype(np.int64)
            mixes = {len(used) + i: mix for i, mix in enumerate(hypotheses.combinations.values())}
            columns[list(hypotheses.combinations)] = list(mixes)
            stumps = StumpTable(
                columns[:, None],
                hypotheses.thresholds.astype(shape.dtype)[:, None],
                hypotheses.left.astype(np.float64)[:, None],
                hypotheses.right.astype(np.float64)[:, None],
            )
        else:
            trees = small_tree_table(hypotheses)
            used = np.unique(trees.columns[trees.columns >= 0])
            places = np.searchsorted(used, trees.columns)
            trees = replace(trees, columns=np.where(trees.columns < 0, -1, places))
        mixtures = class_wise_mixtures(self.projection, used, mixes, self.n_features, shape.dtype)
        return PlainTables(stumps, trees, n_values=len(used) + len(mixes), votes=votes, **mixtures)
