"""The rounds of RBoost-rank (Algorithm 1 of the paper)."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..projections.matrices import GaussianProjection
from ..projections.points import ProjectedPoints
from ..runtime.compiling import kernel
from ..runtime.memory import check_memory, memory_budget
from ..runtime.parallel import ThreadTeam
from ..search.projected import EXACT_BINS, HISTOGRAM_BINS, ProjectedColumns
from ..search.sorted import SortedColumns
from ..solvers.corrective import ROUND_TOLERANCE, minimise, solver_options
from ..solvers.matvec import OutputRows
from ..solvers.risk import PairwiseRisk
from ..solvers.stagewise import stagewise_weight
from ..solvers.warm import WarmSolver
from ..weak_learners import make_learner
from .rounds import Model, Trainer, TrainingData

if TYPE_CHECKING:
    from ..estimators.rank import RBoostRankClassifier

_DRAWN_TOGETHER = 16  # rounds
_FEW_POINTS = 100_000  # below this a second thread does not pay
_BYTES_A_POINT = 56  # scores, signed weights and what a search makes of them


@kernel
def _is_truth(outputs, y):
    """Whether the outputs are +1 for every true class and -1 for all others."""
    for r in range(outputs.shape[0]):
        for i in range(outputs.shape[1]):
            if outputs[r, i] != (1 if y[i] == r else -1):
                return False
    return True


@kernel
def _add_weighted(scores, outputs, weight, start, stop):
    """Add the weighted outputs to the scores of some classes."""
    for r in range(start, stop):
        for i in range(scores.shape[1]):
            scores[r, i] += weight * outputs[r, i]


class RankTrainer(Trainer):
    """The rounds of Algorithm 1.

    Parameters
    ----------
    estimator : RBoostRankClassifier
        Its parameters.
    projection : GaussianProjection
        The class-wise matrices.
    data : TrainingData
        The data.
    start : Model
        Rounds to go on from.
    team : ThreadTeam
        Threads.
    """

    def __init__(
        self,
        estimator: RBoostRankClassifier,
        projection: GaussianProjection,
        data: TrainingData,
        start: Model,
        team: ThreadTeam,
    ) -> None:
        self._team = team
        self._seed = projection.seed
        self._total = estimator.correction == "total"
        self._nu = float(estimator.nu) if self._total else 0.0
        self._tol = float(estimator.tol)
        self._options = solver_options(estimator.solver_options)
        self._iterations = estimator.iterations_per_round
        self._warm = WarmSolver()
        self._gradient = np.empty(0)
        self._points = ProjectedPoints(data.X, projection)
        self._val_points = None
        if data.X_val is not None:
            self._val_points = ProjectedPoints(data.X_val, projection, merge=False)
        self._all_columns = np.arange(projection.n_projections)
        self._n_searched = _part_size(estimator.projections_per_round, projection.n_projections)
        self._drawn: dict[int, tuple[np.random.Generator, NDArray[np.int64]]] = {}
        n_left = estimator.n_estimators - len(start.hypotheses)
        check_memory(
            _BYTES_A_POINT * self._points.n_points,
            f"scores and weights of {len(data.y):,} samples and {projection.n_classes:,} classes",
            "use fewer samples",
        )
        self._learner = make_learner(
            estimator.weak_learner, self._points, lambda: self._make_columns(estimator, n_left)
        )
        self._risk = PairwiseRisk.of(
            estimator._get_loss(), data.y, projection.n_classes, data.sample_weight, "sum"
        )
        self.model = Model(list(start.hypotheses), start.weights, list(start.path or []))
        if not self._total:
            self.model.path = None
        self._scores = np.zeros((projection.n_classes, len(data.y)))
        self._val_scores = np.zeros(
            (projection.n_classes, 0 if data.y_val is None else len(data.y_val))
        )
        kind = np.int8 if self._learner.discrete else np.float64
        self._outputs, self._val_outputs = OutputRows(kind), OutputRows(kind)
        for t, hypothesis in enumerate(start.hypotheses):
            self._add(hypothesis, start.weights[t])
        if self._total and start.hypotheses:
            self._rescore(start.weights)
        self._loss, self._signed = self._risk.evaluate(self._scores, self._team)
        self._first_loss = self._loss
        # single precision ends at 1e38, weights of samples need not; a power of 2 costs no bits
        self._unit_of_weights = 2.0 ** max(0.0, np.floor(np.log2(np.abs(self._signed).max() + 1.0)))
        self._perfect = bool(start.hypotheses) and not self._total and self._orders_all_pairs()

    def _make_columns(self, estimator: RBoostRankClassifier, n_rounds: int) -> Any:
        """Prepare the projected dimensions for the search that was asked for."""
        search = estimator.search
        if search == "plain":
            return SortedColumns(self._points, self._team)
        if search == "auto":
            whole = self._n_searched == len(self._all_columns)
            search = "exact" if whole else "histogram"
        bins = EXACT_BINS if search == "exact" else int(estimator.max_bins or HISTOGRAM_BINS)
        columns = ProjectedColumns(
            self._points,
            self._team,
            exact=search == "exact",
            max_bins=bins,
            searched=self._n_searched,
            searches=n_rounds,
            max_memory=memory_budget(estimator.max_memory),
        )
        self.note = columns.describe()
        return columns

    def _add(self, hypothesis: Any, weight: float) -> None:
        """Add a weighted weak classifier to the scores, or its outputs to the matrices."""
        self._place(self._points.unfold(hypothesis.outputs(self._points)), hypothesis, weight)

    def _place(self, outputs: NDArray, hypothesis: Any, weight: float) -> None:
        val_outputs = None if self._val_points is None else hypothesis.outputs(self._val_points)
        if self._total:
            self._outputs.append(outputs)
            if val_outputs is not None:
                self._val_outputs.append(val_outputs)
        else:
            self._team.run(
                lambda start, stop: _add_weighted(self._scores, outputs, weight, start, stop),
                len(outputs),
                grain=1 + _FEW_POINTS // max(1, outputs.shape[1]),
            )
            if val_outputs is not None:
                self._val_scores += weight * val_outputs.reshape(self._val_scores.shape)

    def _rescore(self, weights: NDArray) -> None:
        self._scores = self._outputs.scores(weights, self._team).reshape(self._scores.shape)
        if self._val_points is not None:
            self._val_scores = self._val_outputs.scores(weights, self._team).reshape(
                self._val_scores.shape
            )

    def _solve(self, weights: NDArray) -> NDArray:
        """Minimise (rankPrimal) or (App2) over all weights."""
        return minimise(self._objective, weights, self._options, unit=self._unit())[0]

    def _unit(self) -> float:
        """Return the size against which changes of the loss are judged, also where it is 0."""
        return self._risk.unit(max(self._loss, 1e-9 * self._first_loss))

    def _correct(self, edge: float) -> NDArray:
        """Correct all weights after a round whose weak classifier has the given edge."""
        weights = np.append(self.model.weights, 0.0)
        if self._iterations is None:
            return self._solve(weights)
        value = self._loss + self._nu * float(weights.sum())
        if len(self._gradient) == len(weights) - 1:
            gradient = np.append(self._gradient, self._nu - edge)
        else:  # the first round of a warm start
            gradient = self._objective(weights)[1]
        weights, _, self._gradient = self._warm.improve(
            self._quick_objective,
            weights,
            value,
            gradient,
            iterations=self._iterations,
            tolerance=ROUND_TOLERANCE * self._unit(),
        )
        return weights

    def finish(self) -> float | None:
        """Solve for all weights to the full tolerance after the last round; return the loss."""
        if not self._total or self._iterations is None:
            return None
        weights = self._solve(self.model.weights)
        self.model.weights = weights
        if self.model.path:
            self.model.path[-1] = weights
        self._rescore(weights)
        return self._objective(weights)[0]

    def _objective(self, weights: NDArray) -> tuple[float, NDArray]:
        """Value and gradient of (rankPrimal) or (App2) at `weights`."""
        scores = self._outputs.scores(weights, self._team).reshape(self._scores.shape)
        value, signed = self._risk.evaluate(scores, self._team)
        gradient = self._nu - self._outputs.edges(signed, self._team)
        return value + self._nu * float(weights.sum()), gradient

    def _quick_objective(self, weights: NDArray) -> tuple[float, NDArray]:
        """Do the same with products in single precision."""
        scores = self._outputs.scores(weights.astype(np.float32), self._team)
        value, signed = self._risk.evaluate(
            scores.astype(np.float64).reshape(self._scores.shape), self._team
        )
        unit = self._unit_of_weights
        single = np.divide(
            signed, unit, out=np.empty(signed.shape, np.float32), casting="same_kind"
        )
        edges = self._outputs.edges(single, self._team)
        gradient = unit * (self._nu / unit - edges).astype(np.float64)
        return value + self._nu * float(weights.sum()), gradient

    def _draw(self, number: int) -> tuple[np.random.Generator, NDArray[np.int64]]:
        """Return a round's random numbers and the columns that it searches.

        Some rounds are drawn together, as code that is in the cache takes half the time.
        """
        if number not in self._drawn:
            self._drawn = {}
            for t in range(number, number + _DRAWN_TOGETHER):
                rng = np.random.default_rng([self._seed, t])
                columns = self._all_columns
                if self._n_searched < len(columns):
                    columns = np.sort(
                        rng.choice(len(columns), self._n_searched, replace=False, shuffle=False)
                    )
                self._drawn[t] = rng, columns
        return self._drawn[number]

    def step(self) -> dict[str, float] | str:
        """Run one round; return its loss and edge, or why there is no further round."""
        if self._perfect:
            return "a weak learner orders all training pairs rightly"
        rng, columns = self._draw(len(self.model.hypotheses))
        folded = self._points.fold(self._signed)
        found = self._learner.fit(folded, columns, rng) if folded.any() else None
        if found is None:
            return "no weak learner separates any two points"
        hypothesis, edge = found
        if edge <= self._nu + self._tol:
            return f"no weak learner has an edge above nu + tol = {self._nu + self._tol:g}"
        outputs = self._points.unfold(hypothesis.outputs(self._points))
        if self._total:
            self._place(outputs, hypothesis, 0.0)
            weights = self._correct(edge)
            self._rescore(weights)
        else:
            weight = stagewise_weight(
                self._risk, self._scores, self._signed, outputs, discrete=self._learner.discrete
            )
            weights = np.append(self.model.weights, weight)
            self._place(outputs, hypothesis, weight)
            self._perfect = self._orders_all_pairs(outputs)
        self._loss, self._signed = self._risk.evaluate(self._scores, self._team, self._signed)
        self.model.hypotheses.append(hypothesis)
        self.model.weights = weights
        if self.model.path is not None:
            self.model.path.append(weights)
        return {"loss": self._loss + self._nu * float(weights.sum()), "edge": edge}

    def _orders_all_pairs(self, outputs: NDArray | None = None) -> bool:
        """Whether the newest weak classifier says +1 for every true class and -1 for the rest."""
        if self._risk.form != "log-sum-exp":
            return False
        if outputs is None:
            newest = self.model.hypotheses[-1].outputs(self._points)
            outputs = self._points.unfold(newest)
        return bool(_is_truth(outputs, self._risk.y))

    def validation_scores(self) -> NDArray:
        """Return the scores of the validation part after the last round."""
        return self._val_scores


def _part_size(part: float | None, whole: int) -> int:
    """Return how many projected dimensions a round searches."""
    if part is None:
        return whole
    if isinstance(part, Integral):
        return min(int(part), whole)
    return max(1, round(part * whole))
