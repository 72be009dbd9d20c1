"""Train the classifiers on scikit-learn's digits and compare them with its own boosting.

Prints the test errors and saves a plot of test error against rounds as output/digits.png.
"""

from __future__ import annotations

import time
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from sklearn.datasets import load_digits
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split

from randomboost import RBoostProjClassifier, RBoostRankClassifier
from randomboost.plots import RoundsDisplay

ROUNDS = 400
PLOT = Path("output/digits.png")


def main() -> None:
    X, y = load_digits(return_X_y=True)
    parts = train_test_split(X, y, test_size=0.25, random_state=0, stratify=y)
    X_train, X_test, y_train, y_test = parts
    models = {
        "RBoost-rank": RBoostRankClassifier(random_state=0, verbose=1),
        "RBoost-rank, stumps": RBoostRankClassifier(
            ROUNDS, weak_learner="stump", random_state=0, verbose=1
        ),
        "RBoost-proj, stumps": RBoostProjClassifier(ROUNDS, random_state=0, verbose=1),
        "HistGradientBoosting": HistGradientBoostingClassifier(random_state=0),
    }
    print(
        f"digits: {len(X_train)} training and {len(X_test)} test images, 10 classes; trees as they "
        f"come, {ROUNDS} rounds of stumps; less than a minute on two cores"
    )
    stages = {}
    for name, model in models.items():
        began = time.perf_counter()
        model.fit(X_train, y_train)
        seconds = time.perf_counter() - began
        error = 1 - model.score(X_test, y_test)
        print(f"{name:24} test error {100 * error:5.2f} %   fit {seconds:5.1f} s")
        stages[name] = model.staged_predict(X_test)
    display = RoundsDisplay.from_predictions(y_test, stages, log=True)
    display.ax_.set_title("Digits: test error by round")
    PLOT.parent.mkdir(exist_ok=True)
    display.figure_.savefig(PLOT, dpi=120)
    print(f"plot: {PLOT}")


if __name__ == "__main__":
    main()
