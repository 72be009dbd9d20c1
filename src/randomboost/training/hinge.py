"""MultiBoost with the hinge loss: every round solves a linear program."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linprog

from ..ensembles.coded_votes import CodedVotes
from ..runtime.parallel import ThreadTeam
from .column_generation import ColumnSettings, ColumnTrainer
from .loop import TrainingData


class HingeLoss:
    """The hinge loss ``max(0, 1 - rho)``; not smooth, so it is minimised as a linear program."""

    proba_scale = 1.0

    def value(self, margins: NDArray) -> NDArray:
        """Return ``max(0, 1 - margins)``."""
        return np.maximum(0.0, 1.0 - margins)

    def derivative(self, margins: NDArray) -> NDArray:
        """Return a subgradient."""
        return -(margins < 1.0).astype(np.float64)


class HingeTrainer(ColumnTrainer):
    """Rounds with the hinge loss: a linear program with one slack per sample, solved by HiGHS.

    The dual weights are the multipliers of the program's constraints.
    """

    def __init__(
        self,
        settings: ColumnSettings,
        data: TrainingData,
        start: CodedVotes | None,
        team: ThreadTeam,
    ) -> None:
        k, m = data.n_classes, len(data.y)
        self._share = data.sample_weight / data.sample_weight.sum()
        self._own = (data.y, np.arange(m))
        self._wrong = np.ones((k, m), dtype=bool)
        self._wrong[self._own] = False
        self._set_dual(np.broadcast_to(self._share / (k - 1), (k, m)))
        super().__init__(settings, data, start, team)
        if start is not None:  # for the multipliers
            self._solve(self._weights, start.n_rounds, quick=False)
            self._take(self._weights, start.n_rounds)

    def _set_dual(self, dual: NDArray) -> None:
        self._dual_signed = -np.where(self._wrong, dual, 0.0)
        self._dual_signed[self._own] = -self._dual_signed.sum(axis=0)

    def _evaluate(
        self, weights: NDArray, n_rounds: int, *, quick: bool = False
    ) -> tuple[float, NDArray, NDArray]:
        """Value of the program, signed weights C from its multipliers, and moments H^T C."""
        outputs = self._outputs[:n_rounds]
        scores = self._coding.effective(weights, n_rounds).T @ outputs
        margins = np.where(self._wrong, scores[self._own] - scores, np.inf)
        value = float(self._share @ np.maximum(0.0, 1.0 - margins.min(axis=0)))
        moments = outputs @ self._dual_signed.T
        return value + self._nu * float(weights.sum()), self._dual_signed, moments

    def _solve(self, weights: NDArray, n_rounds: int, *, quick: bool) -> NDArray:
        """Solve ``min nu 1^T w + sum_i s_i xi_i`` s.t. ``rho_ir >= 1 - xi_i``, w, xi >= 0."""
        k, m = self._wrong.shape
        classes, samples = np.nonzero(self._wrong)
        rows = np.arange(len(classes))
        outputs = self._outputs[:n_rounds].T[samples]  # (pairs, rounds)
        own = self._own[0][samples]
        blocks = [
            sp.csr_array(
                (
                    outputs[:, t].repeat(2) * np.tile([-1.0, 1.0], len(rows)),
                    (rows.repeat(2), np.stack([own, classes], axis=1).ravel()),
                ),
                shape=(len(rows), k),
            )
            for t in range(n_rounds)
        ]
        slack = sp.csr_array((-np.ones(len(rows)), (rows, samples)), shape=(len(rows), m))
        cost = np.concatenate([np.full(n_rounds * k, self._nu), self._share])
        found = linprog(
            cost,
            A_ub=sp.hstack([*blocks, slack], format="csc"),
            b_ub=-np.ones(len(rows)),
            method="highs",
        )
        dual = np.zeros((k, m))
        dual[classes, samples] = -found.ineqlin.marginals
        self._set_dual(dual)
        return np.maximum(found.x[: n_rounds * k], 0.0)
