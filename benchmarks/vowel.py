"""Readings of Algorithm 2 and variants of the classical methods on vowel.

A diagnosis on test parts. Every line is printed when it is finished, and added to a file named by
--csv; docs/results/proj-vowel.csv has those of docs/results/proj-vowel.md.

    RANDOMBOOST_DATA=folder python benchmarks/vowel.py --repeats 2
    RANDOMBOOST_DATA=folder python benchmarks/vowel.py --repeats 5 --only ECC
"""

from __future__ import annotations

import argparse
import csv
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.ensemble import AdaBoostClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.tree import DecisionTreeClassifier

from randomboost import (
    AdaBoostECCClassifier,
    AdaBoostMHClassifier,
    AdaBoostMOClassifier,
    MultiBoostClassifier,
    RBoostProjClassifier,
    datasets,
)
from randomboost.ensembles.class_votes import make_coding
from randomboost.projections.matrices import GaussianProjection
from randomboost.training.column_generation import ColumnTrainer


@dataclass(frozen=True)
class PairedProjection(GaussianProjection):
    """Every row of the matrices and its negative: w >= 0 over both is a w of any sign."""

    def rows(self, indices: NDArray, columns: tuple[int, int], dtype: Any) -> NDArray:
        """Return the rows as `GaussianProjection` does."""
        half = self.n_projections // 2
        rows = super().rows(indices % half, columns, dtype)
        return rows * np.where(indices < half, 1, -1)[None, :, None].astype(dtype)


class FreeSignTrainer(ColumnTrainer):
    """Algorithm 2 with paired rows."""

    def __init__(self, settings: Any, data: Any, start: Any, team: Any) -> None:
        super().__init__(settings, data, start, team)
        self._projection = PairedProjection(**vars(self._projection))
        none = np.empty(0, dtype=np.int64)  # no round has chosen a code yet
        size = data.n_classes
        self._coding = make_coding(settings.reading, self._projection, size, team, none)


class FreeSignProj(RBoostProjClassifier):
    """Algorithm 2 without the constraint w >= 0."""

    def _make_trainer(self, data: Any, start: Any, seed: int, team: Any) -> Any:
        settings = super()._settings(seed)
        return FreeSignTrainer(settings, data, start, team)


PRINTED = RBoostProjClassifier(1000, n_projections=1000, scale=False, selection="violation")
CODES = clone(PRINTED).set_params(selection="code")


def _with(model: Any, **parameters: Any) -> Any:
    return clone(model).set_params(**parameters)


READINGS: dict[str, Any] = {
    "printed, n = 1000, nu = 1e-4": _with(PRINTED, nu=1e-4),
    "printed, nu = 1e-5": _with(PRINTED, nu=1e-5),
    "printed, nu = 1e-6": _with(PRINTED, nu=1e-6),
    "printed, n = 4000, nu = 1e-5": _with(PRINTED, n_projections=4000, nu=1e-5),
    "printed, n = 16000, nu = 1e-5": _with(PRINTED, n_projections=16000, nu=1e-5),
    "printed, any sign of w, nu = 1e-5": FreeSignProj(
        1000, n_projections=2000, scale=False, selection="violation", nu=1e-5
    ),
    "printed, real-valued stumps, nu = 1e-5": _with(PRINTED, weak_learner="real_stump", nu=1e-5),
    "printed, never stops early (tol = 0), nu = 1e-5": _with(PRINTED, tol=0.0, nu=1e-5),
    "one code a round, n = 1000, nu = 1e-4": _with(CODES, nu=1e-4),
    "one code a round, nu = 1e-5": _with(CODES, nu=1e-5),
    "one code a round, nu = 1e-6": _with(CODES, nu=1e-6),
    "one code a round, n = 200, nu = 1e-5": _with(CODES, n_projections=200, nu=1e-5),
    "one code a round, n = 5000, nu = 1e-5": _with(CODES, n_projections=5000, nu=1e-5),
    "one code a round, real-valued stumps, nu = 1e-5": _with(
        CODES, weak_learner="real_stump", nu=1e-5
    ),
    "one code a round, tol = 0, nu = 1e-6": _with(CODES, tol=0.0, nu=1e-6),
    "MultiBoost (a weight for every class), nu = 1e-6": MultiBoostClassifier(1000, nu=1e-6),
    "ECC": AdaBoostECCClassifier(1000),
    "ECC, 5000 rounds": AdaBoostECCClassifier(5000),
    "ECC, Gini stumps": AdaBoostECCClassifier(1000, weak_learner="gini_stump"),
    "MH": AdaBoostMHClassifier(1000),
    "MH, Gini stumps": AdaBoostMHClassifier(1000, weak_learner="gini_stump"),
    "MH, shared votes": AdaBoostMHClassifier(1000, votes="shared"),
    "MO": AdaBoostMOClassifier(1000),
    "scikit-learn, one against the rest": OneVsRestClassifier(
        AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=1000)
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=None)
    parser.add_argument("--only", default="", help="beginning of the readings to try")
    parser.add_argument("--training-file", action="store_true", help="only LIBSVM's training file")
    parser.add_argument("--csv", type=Path, help="file to which the lines are added")
    options = parser.parse_args()
    vowel = datasets.load("vowel")
    print("| reading | repeats | test error, % | deviation | training error, % | rounds | CPU s |")
    print("|---|---|---|---|---|---|---|")
    for name, model in READINGS.items():
        if not name.startswith(options.only):
            continue
        errors, trained, rounds, began = [], [], [], time.process_time()
        for repeat in range(options.repeats):
            part = datasets.split(vowel, repeat, rows="train" if options.training_file else "all")
            fitted = clone(model)
            if options.rounds:
                fitted.set_params(n_estimators=options.rounds)
            if "random_state" in fitted.get_params(deep=False):
                fitted.set_params(random_state=repeat)
            fitted.fit(part.X, part.y)
            errors.append(100 * (1 - fitted.score(part.X_test, part.y_test)))
            trained.append(100 * (1 - fitted.score(part.X, part.y)))
            rounds.append(getattr(fitted, "n_estimators_", 1000))
        seconds = (time.process_time() - began) / options.repeats
        line = {
            "reading": name,
            "repeats": options.repeats,
            "error": f"{np.mean(errors):.1f}",
            "deviation": f"{np.std(errors):.1f}" if options.repeats > 1 else "",
            "train_error": f"{np.mean(trained):.1f}",
            "rounds": f"{np.mean(rounds):.0f}",
            "cpu": f"{seconds:.0f}",
        }
        print("| " + " | ".join(str(value) for value in line.values()) + " |", flush=True)
        if options.csv is not None:
            is_new = not options.csv.exists()
            with options.csv.open("a", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, list(line), lineterminator="\n")
                if is_new:
                    writer.writeheader()
                writer.writerow(line)


if __name__ == "__main__":
    main()
