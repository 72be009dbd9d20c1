"""The rounds of RBoost-rank (Algorithm 1 of the paper)."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..ensembles.projected_learners import ProjectedLearners
from ..projections.matrices import make_projection
from ..projections.points import ProjectedPoints
from ..runtime.compiling import kernel
from ..runtime.memory import check_memory, memory_budget
from ..runtime.parallel import ThreadTeam
from ..search.projected import EXACT_BINS, ProjectedColumns
from ..search.sorted import SortedColumns
from ..solvers.corrective import LARGEST_WEIGHT, ROUND_TOLERANCE, minimise
from ..solvers.dual import check_dual, solve_dual
from ..solvers.matvec import OutputRows
from ..solvers.risk import PairwiseRisk
from ..solvers.stagewise import stagewise_weight
from ..solvers.warm import WarmSolver
from ..weak_learners import make_learner
from .loop import Trainer, TrainingData
from .stopwatch import phase

_DRAWN_TOGETHER = 16  # rounds
_FEW_POINTS = 100_000  # below this a second thread does not pay
_BYTES_A_POINT = 56  # scores, signed weights and what a search makes of them


@kernel
def _is_truth(outputs: NDArray, y: NDArray) -> bool:
    """Whether the outputs are +1 for every true class and -1 for all others."""
    for r in range(outputs.shape[0]):
        for i in range(outputs.shape[1]):
            if outputs[r, i] != (1 if y[i] == r else -1):
                return False
    return True


@kernel
def _add_weighted(scores: NDArray, outputs: NDArray, weight: float, start: int, stop: int) -> None:
    """Add the weighted outputs to the scores of some classes."""
    for r in range(start, stop):
        for i in range(scores.shape[1]):
            scores[r, i] += weight * outputs[r, i]


@dataclass(frozen=True)
class RankSettings:
    """Settings of Algorithm 1.

    Parameters
    ----------
    n_rounds : int
        Largest number of rounds, earlier ones included.
    weak_learner : str or estimator
        As for `weak_learners.make_learner`.
    loss : Loss
        The loss of pairwise margins.
    projection : str or object
        Kind of the matrices, as for `projections.matrices.make_projection`.
    n_projections : int
        Number n of projected dimensions.
    projections_per_round : int, float or None
        How many dimensions a round searches: all, a number, or a share.
    total : bool
        Whether all weights are corrected after every round.
    nu : float
        Weight of the l1 penalty of totally corrective training.
    tol : float
        Least edge beyond nu.
    solver_options : dict
        Options of L-BFGS-B.
    iterations_per_round : int or None
        Iterations of the solver after each round; None for a full solve.
    max_bins : int or None
        Bins of a histogram search; None for all thresholds.
    plain : bool
        Search by looking at every point, for comparison.
    max_memory : float or None
        Bytes that the search may take.
    seed : int
        Seed.
    """

    n_rounds: int
    weak_learner: Any
    loss: Any
    projection: Any
    n_projections: int
    projections_per_round: float | None
    total: bool
    nu: float
    tol: float
    solver_options: dict[str, Any]
    iterations_per_round: int | None
    max_bins: int | None
    plain: bool
    max_memory: float | None
    seed: int


def part_size(part: float | None, whole: int) -> int:
    """Return how many of the projected dimensions a round searches.

    Parameters
    ----------
    part : int, float or None
        A number, a share, or None for all.
    whole : int
        Number of dimensions.

    Returns
    -------
    int
        The number.
    """
    if part is None:
        return whole
    if isinstance(part, Integral):
        return min(int(part), whole)
    return max(1, round(part * whole))


class RankTrainer(Trainer):
    """The rounds of Algorithm 1.

    Parameters
    ----------
    settings : RankSettings
        The settings.
    data : TrainingData
        The data.
    start : ProjectedLearners or None
        Rounds to continue from.
    team : ThreadTeam
        Threads.
    """

    def __init__(
        self,
        settings: RankSettings,
        data: TrainingData,
        start: ProjectedLearners | None,
        team: ThreadTeam,
    ) -> None:
        self._team, self._settings = team, settings
        self._n_features, self._dtype = data.X.shape[1], data.X.dtype
        self._total = settings.total
        self._nu = settings.nu if self._total else 0.0
        self._tol = settings.tol
        self._iterations = settings.iterations_per_round
        self._warm = WarmSolver()
        self._gradient = np.empty(0)
        if start is None:
            known = data.X, data.y, data.sample_weight
            self._projection = make_projection(
                settings.projection, settings.seed, data.n_classes, settings.n_projections, known
            )
        else:
            self._projection = start.projection
        self._points = ProjectedPoints(data.X, self._projection)
        self._val_points = None
        if data.X_val is not None:
            self._val_points = ProjectedPoints(data.X_val, self._projection, merge=False)
        self._all_columns = np.arange(self._projection.n_projections)
        self._n_searched = part_size(settings.projections_per_round, len(self._all_columns))
        self._drawn: dict[int, tuple[np.random.Generator, NDArray[np.int64]]] = {}
        self._hypotheses = [] if start is None else list(start.hypotheses)
        check_memory(
            _BYTES_A_POINT * self._points.n_points,
            f"scores and weights of {len(data.y):,} samples and {data.n_classes:,} classes",
            "use fewer samples",
        )
        self._learner = make_learner(settings.weak_learner, self._points, self._make_columns)
        self._risk = PairwiseRisk.of(
            settings.loss, data.y, data.n_classes, data.sample_weight, "sum"
        )
        self._weights = np.empty(0) if start is None else start.weights
        self._path: list[NDArray] = [] if start is None else list(start.path or [])
        self._scores = np.zeros((data.n_classes, len(data.y)))
        self._val_scores = np.zeros((data.n_classes, data.n_validation))
        kind = np.int8 if self._learner.discrete else np.float64
        self._outputs, self._val_outputs = OutputRows(kind), OutputRows(kind)
        for t, hypothesis in enumerate(self._hypotheses):
            self._add(hypothesis, self._weights[t])
        if self._total and self._hypotheses:
            self._rescore(self._weights)
        self._loss, self._signed = self._risk.evaluate(self._scores, self._team)
        self._first_loss = self._loss
        # single precision ends at 1e38, weights of samples need not; a power of 2 costs no bits
        self._unit_of_weights = 2.0 ** max(0.0, np.floor(np.log2(np.abs(self._signed).max() + 1.0)))
        self._perfect = bool(self._hypotheses) and not self._total and self._orders_all_pairs()
        if self._total and self._hypotheses:
            self._revise()

    def _revise(self) -> None:
        """Solve for all weights where they are not the solution, as after a change of nu."""
        before = self._loss + self._nu * float(self._weights.sum())
        weights = self._solve(self._weights)
        if before - self._objective(weights)[0] > ROUND_TOLERANCE * self._unit():
            self._weights = self._path[-1] = weights
            self._rescore(weights)
            self._loss, self._signed = self._risk.evaluate(self._scores, self._team)

    def ensemble(self, n_rounds: int) -> ProjectedLearners:
        """Return the ensemble as it was after `n_rounds` rounds."""
        path = self._path[:n_rounds] if self._total else None
        weights = self._weights[:n_rounds] if path is None else path[-1]
        return ProjectedLearners(
            self._projection,
            self._hypotheses[:n_rounds],
            weights,
            path,
            self._n_features,
            self._dtype,
        )

    def _make_columns(self) -> Any:
        """Prepare the projected dimensions for the search that was asked for."""
        settings = self._settings
        if settings.plain:
            return SortedColumns(self._points, self._team)
        columns = ProjectedColumns(
            self._points,
            self._team,
            exact=settings.max_bins is None,
            max_bins=settings.max_bins or EXACT_BINS,
            searched=self._n_searched,
            searches=settings.n_rounds - len(self._hypotheses),
            max_memory=memory_budget(settings.max_memory),
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
        """Minimise (rankPrimal) or (App2) over all weights, or solve (rankDual) or (AppDual2)."""
        options = self._settings.solver_options
        if options["problem"] == "dual":
            check_dual(self._risk.loss, len(weights) * self._scores.size)
            return solve_dual(
                self._risk,
                self._outputs.matrix().reshape(-1, *self._scores.shape).astype(np.float64),
                self._nu,
                largest=LARGEST_WEIGHT,
                tolerance=options["ftol"] * self._unit(),
            )
        return minimise(self._objective, weights, options, unit=self._unit())[0]

    def _unit(self) -> float:
        """Return the size against which changes of the loss are judged, also where it is 0."""
        return self._risk.unit(max(self._loss, 1e-9 * self._first_loss))

    def _correct(self, edge: float) -> NDArray:
        """Correct all weights after a round whose weak classifier has the given edge."""
        weights = np.append(self._weights, 0.0)
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
        with phase("weights"):
            weights = self._solve(self._weights)
            self._weights = weights
            if self._path:
                self._path[-1] = weights
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
                rng = np.random.default_rng([self._settings.seed, t])
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
        rng, columns = self._draw(len(self._hypotheses))
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
            with phase("weights"):
                weights = self._correct(edge)
            self._rescore(weights)
        else:
            with phase("weights"):
                weight = stagewise_weight(
                    self._risk, self._scores, self._signed, outputs, discrete=self._learner.discrete
                )
            weights = np.append(self._weights, weight)
            self._place(outputs, hypothesis, weight)
            self._perfect = self._orders_all_pairs(outputs)
        self._loss, self._signed = self._risk.evaluate(self._scores, self._team, self._signed)
        self._hypotheses.append(hypothesis)
        self._weights = weights
        if self._total:
            self._path.append(weights)
        return {"loss": self._loss + self._nu * float(weights.sum()), "edge": edge}

    def _orders_all_pairs(self, outputs: NDArray | None = None) -> bool:
        """Whether the newest weak classifier says +1 for every true class and -1 for the rest."""
        if self._risk.form != "log-sum-exp":
            return False
        if outputs is None:
            newest = self._hypotheses[-1].outputs(self._points)
            outputs = self._points.unfold(newest)
        return bool(_is_truth(outputs, self._risk.y))

    def validation_labels(self) -> NDArray[np.int64]:
        """Return the predicted class numbers of the validation part."""
        return self._val_scores.argmax(axis=0)
