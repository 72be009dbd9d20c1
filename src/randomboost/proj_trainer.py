"""The rounds of RBoost-proj (Algorithm 2 of the paper)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .base import Model, Trainer, TrainingData
from .coding import Coding
from .parallel import ThreadTeam
from .points import FeaturePoints
from .risk import PairwiseRisk
from .search.binned import BinnedColumns
from .search.joint import JointSearch
from .solvers.corrective import ROUND_TOLERANCE, minimise, solver_options
from .solvers.warm import WarmSolver
from .weak_learners import EstimatorLearner, JointLearner, StumpLearner, WLDALearner

_SLACK = 1e-3  # share of nu by which a constraint may be off
_MOST_SOLVES = 10  # how often the active set of one round may grow


class ProjTrainer(Trainer):
    """The rounds of Algorithm 2, and of every method with effective weights linear in w.

    Parameters
    ----------
    estimator : CodedClassifier
        Its parameters.
    coding : Coding
        How weights become votes.
    data : TrainingData
        The data.
    start : Model
        Rounds to go on from.
    team : ThreadTeam
        Threads.
    """

    def __init__(
        self,
        estimator: Any,
        coding: Coding,
        data: TrainingData,
        start: Model,
        team: ThreadTeam,
    ) -> None:
        self._seed = estimator._seed
        self._team = team
        self._coding = coding
        self._nu = estimator.nu
        self._tol = estimator.tol
        self._stopping = estimator.stopping
        self._options = solver_options(estimator.solver_options)
        self._iterations = estimator.iterations_per_round
        self._points = FeaturePoints(data.X)
        self._val_points = None if data.X_val is None else FeaturePoints(data.X_val)
        self._learner = self._make_learner(estimator.weak_learner, estimator._bin_limit(), team)
        self._risk = PairwiseRisk.of(
            estimator._get_loss(), data.y, len(estimator.classes_), data.sample_weight, "mean"
        )
        weights = start.weights if start.hypotheses else self._coding.first_weights()
        self._path = list(start.path or [])
        self.model = Model(list(start.hypotheses), weights, self._path, list(start.codes))
        self._outputs = np.zeros((64, len(data.y)))
        self._single_outputs = np.zeros((64, len(data.y)), np.float32)
        self._val_outputs = np.empty((64, 0 if data.y_val is None else len(data.y_val)))
        for t, hypothesis in enumerate(start.hypotheses):
            self._append(t, hypothesis)
        self._objective_value, self._signed, self._moments = self._evaluate(
            weights, len(start.hypotheses)
        )
        self._settled = False

    def _make_learner(self, kind: Any, max_bins: int | None, team: ThreadTeam) -> JointLearner:
        columns = BinnedColumns(self._points, team, max_bins)
        search = JointSearch(columns, team)
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

    def _solve(self, weights: NDArray, n_rounds: int, *, quick: bool) -> NDArray:
        """Minimise (logPrimal) over an active set of w that grows until no v is missing.

        A quick solve makes a few steps on the first active set.
        """
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
            part = self._solve_active(
                weights, which, n_rounds, (value, self._nu - constraints[which]), quick=quick
            )
            weights = np.zeros(len(weights))
            weights[which] = part
        return weights

    def _solve_active(
        self,
        start: NDArray,
        active: NDArray[np.int64],
        n_rounds: int,
        begin: tuple[float, NDArray],
        *,
        quick: bool,
    ) -> NDArray:
        """Minimise (logPrimal) over the active entries of w, the others being 0."""

        def objective(part: NDArray) -> tuple[float, NDArray]:
            weights = np.zeros(len(start))
            weights[active] = part
            value, _, moments = self._evaluate(weights, n_rounds, quick=quick)
            constraints = self._coding.constraints(moments, active)
            return value, self._nu - constraints.astype(np.float64, copy=False)

        unit = self._risk.unit(self._objective_value)
        typical = self._coding.typical
        if not quick:
            return minimise(objective, start[active], self._options, typical=typical, unit=unit)[0]
        assert self._iterations is not None
        return WarmSolver(typical).improve(
            objective,
            start[active],
            *begin,
            iterations=self._iterations,
            tolerance=ROUND_TOLERANCE * unit,
        )[0]

    def step(self) -> dict[str, float] | str:
        """Run one round; return its loss and violation, or why there is no further round."""
        if self._settled:
            return f"the objective changed by less than tol = {self._tol:g}"
        t = len(self.model.hypotheses)
        rng = np.random.default_rng([self._seed, t])
        codes = self._coding.codes(t)
        offsets = self._coding.offsets(self._moments)
        found = self._learner.fit(np.ascontiguousarray(self._signed.T), codes, offsets, rng)
        if found is None:
            return "no weak learner separates any two samples"
        hypothesis, code, violation = found
        if self._stopping == "violation" and violation <= self._nu * (1.0 + _SLACK) + self._tol:
            return f"no constraint is violated by more than tol = {self._tol:g}"
        self._append(t, hypothesis)
        start = self._coding.choose(t, code, self.model.weights)
        weights = self._solve(start, t + 1, quick=self._iterations is not None)
        before = self._objective_value
        self._objective_value, self._signed, self._moments = self._evaluate(weights, t + 1)
        change = abs(before - self._objective_value) / self._risk.unit(before)
        self._settled = self._stopping == "objective" and change < self._tol
        self.model.hypotheses.append(hypothesis)
        self.model.weights = weights
        self._path.append(weights)
        self.model.codes.append(code)
        return {"loss": self._objective_value, "edge": violation}

    def finish(self) -> float:
        """Solve for w to the full tolerance after the last round; return the objective."""
        n_rounds = len(self.model.hypotheses)
        weights = self._solve(self.model.weights, n_rounds, quick=False)
        self.model.weights = self._path[-1] = weights
        return self._evaluate(weights, n_rounds)[0]

    def validation_scores(self) -> NDArray:
        """Return the scores of the validation part after the last round."""
        n_rounds = len(self.model.hypotheses)
        effective = self._coding.effective(self.model.weights, n_rounds)
        return effective.T @ self._val_outputs[:n_rounds]
