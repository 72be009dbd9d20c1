"""The rounds of RBoost-proj (Algorithm 2 of the paper) and of MultiBoost: column generation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..ensembles.class_votes import make_coding
from ..ensembles.coded_votes import CodedVotes
from ..losses import LogisticLoss
from ..projections.matrices import GaussianProjection
from ..projections.points import FeaturePoints
from ..runtime.parallel import ThreadTeam
from ..runtime.random_stream import OUTPUT_STREAM
from ..search.binned import BinnedColumns
from ..search.joint import JointSearch
from ..solvers.corrective import LARGEST_WEIGHT, ROUND_TOLERANCE, minimise
from ..solvers.dual import check_dual, solve_dual
from ..solvers.newton import NewtonSolver
from ..solvers.responses import Responses
from ..solvers.risk import PairwiseRisk
from ..solvers.warm import WarmSolver
from ..weak_learners import EstimatorLearner, JointLearner, StumpLearner, WLDALearner, small_tree
from .loop import Trainer, TrainingData
from .stopwatch import phase

_SLACK = 1e-3  # share of nu by which a constraint may be off
_MOST_SOLVES = 10  # how often the active set of one round may grow
_MOST_WAIT = 32  # rounds between two full solves that test for the end
_MOST_SCORES = 200_000  # of a weight: Newton's method keeps those of all positive weights
_PAIRS = 20  # curvature pairs that quick rounds keep: w has hundreds of entries


@dataclass(frozen=True)
class ColumnSettings:
    """Settings of totally corrective training by column generation.

    Parameters
    ----------
    reading : {"code", "violation", "free"}
        How w becomes votes (see `ensembles.class_votes`).
    n_projections : int or None
        Number n of rows of the class-wise matrices; None for free votes.
    weak_learner : str or estimator
        "stump", "real_stump", "wlda", "tree" or an estimator.
    loss : Loss
        The loss of pairwise margins.
    nu : float
        Weight of the l1 penalty.
    stopping : {"objective", "violation"}
        What ends the training.
    tol : float
        Tolerance of `stopping`.
    solver_options : dict
        Options of the solver, see `solvers.corrective`.
    iterations_per_round : int or None
        Iterations of the solver after each round; None for a full solve.
    max_bins : int or None
        Bins of a feature; None for all thresholds.
    constant_stumps : bool
        Whether a stump may be constant.
    seed : int
        Seed.
    last_value : float or None
        Objective after the rounds to continue from, if any; where it is another one now, as after
        a change of nu, w is solved for first.
    """

    reading: str
    n_projections: int | None
    weak_learner: Any
    loss: Any
    nu: float
    stopping: str
    tol: float
    solver_options: dict[str, Any]
    iterations_per_round: int | None
    max_bins: int | None
    constant_stumps: bool
    seed: int
    last_value: float | None = None


class ColumnTrainer(Trainer):
    """The rounds of Algorithm 2, and of every method with effective weights linear in w.

    Parameters
    ----------
    settings : ColumnSettings
        The settings.
    data : TrainingData
        The data.
    start : CodedVotes or None
        Rounds to continue from.
    team : ThreadTeam
        Threads.
    """

    def __init__(
        self,
        settings: ColumnSettings,
        data: TrainingData,
        start: CodedVotes | None,
        team: ThreadTeam,
    ) -> None:
        self._settings, self._team, self._n_classes = settings, team, data.n_classes
        self._nu, self._tol = settings.nu, settings.tol
        self._iterations = settings.iterations_per_round
        self._projection = None
        if settings.n_projections is not None:
            size = data.n_classes, settings.n_projections
            self._projection = GaussianProjection(settings.seed, OUTPUT_STREAM, *size)
        self._chosen: list[int] = [] if start is None else start.chosen.tolist()
        self._coding = make_coding(
            settings.reading,
            self._projection,
            data.n_classes,
            team,
            np.array(self._chosen, dtype=np.int64),
        )
        self._points = FeaturePoints(data.X)
        self._val_points = None if data.X_val is None else FeaturePoints(data.X_val)
        self._learner = self._make_learner(settings.weak_learner, settings.max_bins, team)
        self._risk = PairwiseRisk.of(
            settings.loss, data.y, data.n_classes, data.sample_weight, "mean"
        )
        self._hypotheses = [] if start is None else list(start.hypotheses)
        self._weights = self._coding.first_weights() if start is None else start.coefficients
        self._path: list[NDArray] = [] if start is None else list(start.path)
        self._outputs = np.zeros((64, len(data.y)))
        self._single_outputs = np.zeros((64, len(data.y)), np.float32)
        self._val_outputs = np.empty((64, data.n_validation))
        for t, hypothesis in enumerate(self._hypotheses):
            self._append(t, hypothesis)
        self._warm = WarmSolver(self._coding.typical, _PAIRS)
        self._newton = None
        if (  # full solves of Algorithm 2 as printed
            self._iterations is None
            and self._coding.rows is not None
            and data.n_classes * len(data.y) <= _MOST_SCORES
            and isinstance(settings.loss, LogisticLoss)
            and settings.solver_options["problem"] == "primal"
        ):
            self._newton = NewtonSolver(self._risk, LARGEST_WEIGHT * self._coding.typical)
            self._responses = Responses(len(self._weights), data.n_classes, len(data.y))
        self._take(self._weights, len(self._hypotheses))
        self._exact = self._iterations is None or not self._hypotheses
        self._settled = False
        self._tests, self._next_test = 0, 0
        if start is not None and settings.last_value != self._objective_value:
            self._revise()

    def _revise(self) -> None:
        """Solve for w where it is not the solution, as after a change of nu."""
        n_rounds, before, exact = len(self._hypotheses), self._objective_value, self._exact
        weights = self._correct(self._weights, n_rounds, quick=False)
        if before - self._objective_value > ROUND_TOLERANCE * self._risk.unit(before):
            self._weights = self._path[-1] = weights
        else:
            self._take(self._weights, n_rounds)
            self._exact = exact

    def ensemble(self, n_rounds: int) -> CodedVotes:
        """Return the ensemble as it was after `n_rounds` rounds."""
        return CodedVotes(
            self._settings.reading,
            self._projection,
            self._n_classes,
            self._hypotheses[:n_rounds],
            self._path[n_rounds - 1],
            self._path[:n_rounds],
            np.array(self._chosen[:n_rounds], dtype=np.int64),
        )

    def _make_learner(self, kind: Any, max_bins: int | None, team: ThreadTeam) -> JointLearner:
        columns = BinnedColumns(self._points, team, max_bins)
        search = JointSearch(columns, team, constant=self._settings.constant_stumps)
        kind = small_tree() if isinstance(kind, str) and kind == "tree" else kind
        if not isinstance(kind, str):
            learner = EstimatorLearner(self._points, kind)
            return JointLearner(self._points, search, learner=learner, n_candidates=1)
        if kind == "wlda":
            wlda = WLDALearner(self._points, StumpLearner(columns))
            return JointLearner(self._points, search, learner=wlda)
        return JointLearner(self._points, search, real=kind == "real_stump")

    def _append(self, t: int, hypothesis: Any) -> None:
        """Put the outputs of weak classifier t into the matrices H."""
        if t == len(self._outputs):
            self._outputs = np.concatenate([self._outputs, np.zeros_like(self._outputs)])
            self._single_outputs = self._outputs.astype(np.float32)
            self._val_outputs = np.concatenate(
                [self._val_outputs, np.empty_like(self._val_outputs)]
            )
        self._outputs[t] = self._single_outputs[t] = hypothesis.outputs(self._points)
        if self._val_points is not None:
            self._val_outputs[t] = hypothesis.outputs(self._val_points)

    def _evaluate(
        self, weights: NDArray, n_rounds: int, *, quick: bool = False
    ) -> tuple[float, NDArray, NDArray]:
        """Value of (logPrimal), signed weights C, and moments H^T C at `weights`.

        A quick evaluation multiplies in single precision.
        """
        outputs: NDArray[Any] = (self._single_outputs if quick else self._outputs)[:n_rounds]
        kind = outputs.dtype
        effective = self._coding.effective(weights.astype(kind, copy=False), n_rounds)
        scores = effective.T @ outputs
        value, signed = self._risk.evaluate(scores.astype(np.float64, copy=False), self._team)
        moments = outputs @ signed.astype(kind, copy=False).T
        return value + self._nu * float(weights.sum()), signed, moments

    def _take(self, weights: NDArray, n_rounds: int) -> None:
        """Evaluate the weights that the next weak classifier is to add to."""
        self._objective_value, self._signed, self._moments = self._evaluate(weights, n_rounds)
        self._taken = n_rounds

    def _correct(self, weights: NDArray, n_rounds: int, *, quick: bool) -> NDArray:
        """Solve for w, a few steps if `quick`; take and return what was found."""
        with phase("weights"):
            weights = self._solve(weights, n_rounds, quick=quick)
        self._take(weights, n_rounds)
        self._exact = not quick
        return weights

    def _solve(self, weights: NDArray, n_rounds: int, *, quick: bool) -> NDArray:
        """Minimise (logPrimal) over an active set of w that grows until no v is missing.

        A quick solve makes a few steps on the first active set.
        """
        if not quick and self._newton is not None:
            return self._solve_newton(weights, n_rounds)
        active = np.zeros(len(weights), dtype=bool)
        for _ in range(1 if quick else _MOST_SOLVES):
            value, _, moments = self._evaluate(weights, n_rounds, quick=quick)
            constraints = self._coding.constraints(moments).astype(np.float64, copy=False)
            wanted = constraints > self._nu * (1.0 + _SLACK) + 1e-12
            wanted |= (weights > 0) & (constraints < self._nu * (1.0 - _SLACK) - 1e-12)
            if not (wanted & ~active).any():
                break
            active |= wanted | (weights > 0)
            which = np.flatnonzero(active)
            if quick:
                gradient = np.where(active, self._nu - constraints, 0.0)
                weights = self._improve(weights, which, n_rounds, value, gradient)
            else:
                weights = self._solve_active(weights, which, n_rounds)
        return weights

    def _solve_newton(self, weights: NDArray, n_rounds: int) -> NDArray:
        """Minimise (logPrimal) by Newton's method.

        A new weak classifier takes part at once with all of w, which can disturb the last solution
        much. The first step therefore minimises the model of the risk made before it came.
        """
        assert self._newton is not None
        coding, options = self._coding, self._settings.solver_options
        coding.prepare(n_rounds)

        def evaluate(weights: NDArray) -> tuple[float, NDArray, NDArray]:
            value, signed, moments = self._evaluate(weights, n_rounds)
            return value, signed, self._nu - coding.constraints(moments)

        def responses(which: NDArray[np.int64]) -> tuple[NDArray, NDArray[np.int64]]:
            assert coding.rows is not None
            return self._responses.at(which, n_rounds, coding.rows, self._single_outputs)

        lead = None
        if n_rounds == self._taken + 1:  # the newest weak classifier disturbs the last solution
            newest = coding.effective(weights, n_rounds)[-1], self._outputs[n_rounds - 1]
            moments = self._outputs[:n_rounds] @ self._newton.shifted(self._signed, *newest).T
            lead = self._signed, self._nu - coding.constraints(moments)
        return self._newton.solve(
            evaluate,
            responses,
            weights,
            lead=lead,
            slack=_SLACK * self._nu + 1e-12,
            tolerance=options["ftol"],
            iterations=options["maxiter"],
        )

    def _solve_active(self, start: NDArray, active: NDArray[np.int64], n_rounds: int) -> NDArray:
        """Minimise (logPrimal) over the active entries of w, the others being 0."""
        if self._settings.solver_options["problem"] == "dual":
            return self._solve_dual(len(start), active, n_rounds)

        def spread(part: NDArray) -> NDArray:
            weights = np.zeros(len(start))
            weights[active] = part
            return weights

        def objective(part: NDArray) -> tuple[float, NDArray]:
            value, _, moments = self._evaluate(spread(part), n_rounds)
            return value, self._nu - self._coding.constraints(moments, active)

        unit = self._risk.unit(self._objective_value)
        typical, options = self._coding.typical, self._settings.solver_options
        found = minimise(objective, start[active], options, typical=typical, unit=unit)
        return spread(found[0])

    def _solve_dual(self, n_weights: int, active: NDArray[np.int64], n_rounds: int) -> NDArray:
        """Solve (logDual) over the constraints of the active entries of w; return all of w."""
        n_samples = self._outputs.shape[1]
        check_dual(self._risk.loss, len(active) * n_samples * self._n_classes)
        responses = np.empty((len(active), self._n_classes, n_samples))
        weights = np.zeros(n_weights)
        for place, v in enumerate(active):
            weights[v] = 1.0
            effective = self._coding.effective(weights, n_rounds)
            responses[place] = effective.T @ self._outputs[:n_rounds]
            weights[v] = 0.0
        weights[active] = solve_dual(
            self._risk,
            responses,
            self._nu,
            largest=LARGEST_WEIGHT * self._coding.typical,
            tolerance=self._settings.solver_options["ftol"]
            * self._risk.unit(self._objective_value),
        )
        return weights

    def _improve(
        self,
        start: NDArray,
        active: NDArray[np.int64],
        n_rounds: int,
        value: float,
        gradient: NDArray,
    ) -> NDArray:
        """Make a few steps on the active entries of w, where the gradient of the others is 0.

        The solver sees all of w, so that what it learned stays true when the active set changes.
        """

        def objective(weights: NDArray) -> tuple[float, NDArray]:
            value, _, moments = self._evaluate(weights, n_rounds, quick=True)
            gradient = np.zeros(len(weights))
            gradient[active] = self._nu - self._coding.constraints(moments, active)
            return value, gradient

        assert self._iterations is not None
        return self._warm.improve(
            objective,
            start,
            value,
            gradient,
            iterations=self._iterations,
            tolerance=ROUND_TOLERANCE * self._risk.unit(self._objective_value),
        )[0]

    def _choose(self, t: int) -> tuple[Any, int, float] | None:
        """Return the weak classifier, its code and the violation of (logWeak) in round t.

        Where w is solved for, no earlier constraint exceeds nu. After a few steps some still do,
        by as much as a new weak classifier adds; further steps take care of that, and it must not
        decide which code is chosen.
        """
        rng = np.random.default_rng([self._settings.seed, t])
        offsets = self._coding.offsets(self._moments)
        if not self._exact:
            offsets = np.minimum(offsets, self._nu)
        signed = np.ascontiguousarray(self._signed.T)
        return self._learner.fit(signed, self._coding.codes(t), offsets, rng)

    def _is_satisfied(self, violation: float) -> bool:
        """Whether training ends because no constraint is violated."""
        limit = self._nu * (1.0 + _SLACK) + self._tol
        return self._settings.stopping == "violation" and violation <= limit

    def _has_settled(self, before: float) -> bool:
        """Whether training ends because the objective is as it was before the round."""
        change = abs(before - self._objective_value) / self._risk.unit(before)
        return self._settings.stopping == "objective" and change < self._tol

    def step(self) -> dict[str, float] | str:
        """Run one round; return its loss and violation, or why there is no further round.

        What a few steps say of the end is believed only if a full solve before and one after a
        round say the same. Where they do not, the next ones come after twice as many rounds.
        """
        if self._settled:
            return f"the objective changed by less than tol = {self._tol:g}"
        t = len(self._hypotheses)
        found = self._choose(t)
        if found is not None and not self._exact and self._is_satisfied(found[2]):
            self._weights = self._correct(self._weights, t, quick=False)
            found = self._choose(t)
        if found is None:
            return "no weak learner separates any two samples"
        hypothesis, code, violation = found
        if self._is_satisfied(violation):
            return f"no constraint is violated by more than tol = {self._tol:g}"
        self._append(t, hypothesis)
        start = self._coding.choose(t, code, self._weights)
        before, exact = self._objective_value, self._exact
        weights = self._correct(start, t + 1, quick=self._iterations is not None)
        if not self._exact and self._has_settled(before) and t >= self._next_test:
            weights = self._correct(weights, t + 1, quick=False)
            if exact:  # the round has gone from one full solve to the next
                self._tests += 1
                self._next_test = t + min(2**self._tests, _MOST_WAIT)
        self._settled = exact and self._exact and self._has_settled(before)
        self._hypotheses.append(hypothesis)
        self._weights = weights
        self._path.append(weights)
        self._chosen.append(code)
        return {"loss": self._objective_value, "edge": violation}

    def finish(self) -> float:
        """Solve for w to the full tolerance after the last round; return the objective."""
        n_rounds = len(self._hypotheses)
        weights = self._correct(self._weights, n_rounds, quick=False)
        self._weights = self._path[-1] = weights
        return self._objective_value

    def validation_labels(self) -> NDArray[np.int64]:
        """Return the predicted class numbers of the validation part."""
        n_rounds = len(self._hypotheses)
        effective = self._coding.effective(self._weights, n_rounds)
        return (effective.T @ self._val_outputs[:n_rounds]).argmax(axis=0)
