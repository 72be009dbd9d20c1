"""Fit times in ``randomboost compare`` beside those of programs that use one library alone.

Prints the shortest of some fits of every model: in its process of a comparison, while those of the
other models wait, and right afterwards in a program that imports only the library. The shortest
is the one that other work on the machine disturbed least. About two minutes on digits.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys

from sklearn.datasets import load_digits

from randomboost.compare.apart import Apart
from randomboost.compare.entrants import choose_entrants
from randomboost.compare.folded_data import FoldedData
from randomboost.compare.folds import make_folds
from randomboost.runtime.units import format_seconds

# The program of a user, as text: what it imports is all that its process has.
PROGRAMS = {
    "randomboost": "from randomboost import RandomBoostClassifier as Model; "
    "arguments = {'random_state': 0}",
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


def digits(n_folds: int) -> FoldedData:
    """Return the data of the comparison, without the columns that are constant."""
    X, y = load_digits(return_X_y=True, as_frame=True)
    labels = y.to_numpy()
    return FoldedData.of_labels(X.loc[:, X.std() > 0], labels, make_folds(labels, n_folds, 1, 0), 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--models", nargs="+", choices=PROGRAMS)
    chosen = parser.parse_args()
    installed = [entrant.key for entrant in choose_entrants(None, 1797, 10)]
    keys = chosen.models or [key for key in installed if key in PROGRAMS]
    entrants = choose_entrants(keys, 1797, 10)
    print(f"{'model':<14}{'in compare':>12}{'alone':>12}{'ratio':>8}")
    with Apart(digits(chosen.folds)) as apart:
        for entrant in entrants:
            apart(entrant, 0)  # all processes run, as after the first fold of a comparison
        for entrant in entrants:
            folds = range(chosen.folds)
            here = min(apart(entrant, number).fit_seconds for number in folds)
            there = min(alone(entrant.key, chosen.folds))
            shown = [format_seconds(here), format_seconds(there), f"{here / there:.2f}"]
            print(f"{entrant.key:<14}{shown[0]:>12}{shown[1]:>12}{shown[2]:>8}", flush=True)
    if hasattr(os, "getloadavg"):
        print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
