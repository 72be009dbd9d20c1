"""What RBoost-proj and MultiBoost share: column generation with an l1 penalty."""

from __future__ import annotations

from ..solvers.corrective import solver_options
from ..training.column_generation import ColumnSettings
from .base import BaseBoostingClassifier


class ColumnClassifier(BaseBoostingClassifier):
    """Base of the classifiers that solve for all weights again after every round."""

    def _check_settings(self) -> None:
        super()._check_settings()
        solver_options(self.solver_options)

    def _column_settings(
        self, reading: str, n_projections: int | None, seed: int
    ) -> ColumnSettings:
        return ColumnSettings(
            reading=reading,
            n_projections=n_projections,
            weak_learner=self.weak_learner,
            loss=self._get_loss(),
            nu=float(self.nu),
            stopping=self.stopping,
            tol=float(self.tol),
            solver_options=solver_options(self.solver_options),
            iterations_per_round=self.iterations_per_round,
            max_bins=self.max_bins,
            constant_stumps=bool(self.constant_stumps),
            seed=seed,
            last_value=self._last_loss(),
        )
