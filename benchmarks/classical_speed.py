"""Speed of the classical family as ratios within one run; `performance.py` has the rest.

RANDOMBOOST_DATA=folder python benchmarks/classical_speed.py
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from data import split
from sklearn.base import clone
from sklearn.ensemble import AdaBoostClassifier as SklearnAdaBoost
from sklearn.tree import DecisionTreeClassifier

from randomboost import AdaBoostClassifier, AdaBoostMOClassifier


def seconds(model: Any, X: Any, y: Any) -> float:
    """Return the time of one fit."""
    began = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - began


def main() -> None:
    for name in ("german.numer", "splice"):
        X, X_test, y, _ = split(name, 0)
        ours = AdaBoostClassifier(1000, weak_learner="gini_stump", n_jobs=1)
        theirs = SklearnAdaBoost(DecisionTreeClassifier(max_depth=1), n_estimators=1000)
        clone(ours).set_params(n_estimators=2).fit(X, y)
        ratio = seconds(theirs, X, y) / seconds(ours, X, y)
        same = np.mean(ours.predict(X_test) == theirs.predict(X_test))
        plain = seconds(AdaBoostClassifier(1000, n_jobs=1), X, y)
        print(
            f"{name}: 1000 rounds {ratio:.0f} times as fast as scikit-learn's AdaBoost "
            f"(target: 20), {100 * same:.1f} % of the test predictions the same; "
            f"largest-edge stumps take {plain:.2f} s"
        )
    X, _, y, _ = split("pendigits", 0)
    binary = np.unique(y, return_inverse=True)[1] % 2
    one = AdaBoostClassifier(1000)
    many = AdaBoostMOClassifier(1000)
    for model, labels in ((one, binary), (many, y)):
        clone(model).set_params(n_estimators=2).fit(X, labels)
    one_rate = 1000 / seconds(one, X, binary)
    many_rate = 511 * 1000 / seconds(many, X, y)
    print(
        f"AdaBoost.MO {many_rate:.0f} stumps a second, {many_rate / one_rate:.1f} times as many as "
        "AdaBoost on data of the same shape (target: 3)"
    )


if __name__ == "__main__":
    main()
