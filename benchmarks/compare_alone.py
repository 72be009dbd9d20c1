"""Fit times in ``randomboost compare`` beside those of programs that use one library alone.

Prints both for every model: the median over the folds of a comparison, and the same fits in a
program that imports nothing of the comparison: the library, its data as one array, a fit on a few
rows, then the folds. About two minutes on digits; load on the machine shows in both.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys

import numpy as np
from sklearn.datasets import load_digits

from randomboost.compare.apart import Apart
from randomboost.compare.contest import Contest
from randomboost.compare.entrants import choose_entrants
from randomboost.compare.folded_data import FoldedData
from randomboost.compare.folds import make_folds
from randomboost.runtime.units import format_seconds

# The program of a user, as text: what it imports is all that its process has.
PROGRAMS = {
    "randomboost": "from randomboost import RandomBoostClassifier as Model; arguments = {}",
    "rank": "from randomboost import RBoostRankClassifier as Model; arguments = {}",
    "proj": "from randomboost import RBoostProjClassifier as Model; arguments = {}",
    "lightgbm": "from lightgbm import LGBMClassifier as Model; arguments = {'verbose': -1}",
    "xgboost": "from xgboost import XGBClassifier as Model; arguments = {}",
    "catboost": "from catboost import CatBoostClassifier as Model; "
    "arguments = {'verbose': False, 'allow_writing_files': False}",
    "histgb": "from sklearn.ensemble import HistGradientBoostingClassifier as Model; "
    "arguments = {}",
    "forest": "from sklearn.ensemble import RandomForestClassifier as Model; "
    "arguments = {'n_jobs': -1}",
    "logistic": """
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
Model = lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
arguments = {}
""",
    "svm": """
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC
Model = lambda: make_pipeline(MinMaxScaler((-1, 1)), SVC(C=10))
arguments = {}
""",
}
FITS = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold
X, y = load_digits(return_X_y=True)
X = X[:, X.std(axis=0) > 0]
Model(**arguments).fit(X[:100], y[:100])
folds = StratifiedKFold(int(sys.argv[1]), shuffle=True, random_state=0)
times = []
for train, _ in folds.split(X, y):
    model, X_train, y_train = Model(**arguments), X[train], y[train]
    began = time.perf_counter()
    model.fit(X_train, y_train)
    times.append(time.perf_counter() - began)
print(json.dumps(times))
"""


def alone(key: str, n_folds: int) -> list[float]:
    """Return the fit times of a model in a program of its own."""
    code = PROGRAMS[key] + "\n" + FITS
    command = [sys.executable, "-c", code, str(n_folds)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(ended.stdout.splitlines()[-1])


def compared(keys: list[str], n_folds: int) -> dict[str, list[float]]:
    """Return the fit times of the models in a comparison."""
    X, y = load_digits(return_X_y=True, as_frame=True)
    X = X.loc[:, X.std() > 0]
    entrants = choose_entrants(keys, len(y), 10)
    data = FoldedData.of_labels(X, y.to_numpy(), make_folds(y.to_numpy(), n_folds, 1, 0), 0)
    with Apart(data) as apart:
        contest = Contest(entrants, n_folds, apart)
        contest.run(lambda *_: None, lambda *_: None)
    for key, reason in contest.failed.items():
        print(f"{key} failed: {reason}", file=sys.stderr)
    return {result["model"]: result["fit_seconds"] for result in contest.results()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--models", nargs="+", choices=PROGRAMS)
    chosen = parser.parse_args()
    installed = [entrant.key for entrant in choose_entrants(None, 1797, 10)]
    keys = chosen.models or [key for key in installed if key in PROGRAMS]
    together = compared(keys, chosen.folds)
    print(f"{'model':<14}{'in compare':>12}{'alone':>12}{'ratio':>8}")
    for key in together:
        here, there = np.median(together[key]), np.median(alone(key, chosen.folds))
        print(
            f"{key:<14}{format_seconds(here):>12}{format_seconds(there):>12}{here / there:>8.2f}",
            flush=True,
        )
    if hasattr(os, "getloadavg"):
        print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
