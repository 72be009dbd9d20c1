"""Speed as ratios within one run, on pendigits with 100 samples a class and on iris.

RANDOMBOOST_DATA=folder python benchmarks/speed.py
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from typing import Any

import numpy as np
from data import split
from lightgbm import LGBMClassifier
from sklearn.base import clone
from sklearn.ensemble import AdaBoostClassifier as SklearnAdaBoost
from sklearn.tree import DecisionTreeClassifier

from randomboost import (
    AdaBoostClassifier,
    AdaBoostMOClassifier,
    RBoostProjClassifier,
    RBoostRankClassifier,
)
from randomboost.parallel import ThreadTeam, resolve_threads
from randomboost.points import ProjectedPoints
from randomboost.projections import GaussianProjection
from randomboost.random_stream import DATA_STREAM
from randomboost.search.sorted import SortedColumns

IRIS = """
import time
began = time.perf_counter()
from sklearn.datasets import load_iris
from randomboost import {name}
X, y = load_iris(return_X_y=True)
imported = time.perf_counter()
{name}(random_state=0).fit(X, y)
print(imported - began, time.perf_counter() - imported)
"""


def search_speed(X: Any, n_classes: int, n_projections: int) -> None:
    """Print time and memory of one exact search over all projected dimensions."""
    points = ProjectedPoints(X, GaussianProjection(0, DATA_STREAM, n_classes, n_projections))
    values = points.n_points * n_projections
    columns = np.arange(n_projections)
    weights = np.random.default_rng(0).standard_normal(points.n_points)
    weights -= weights.mean()
    with ThreadTeam(resolve_threads(None)) as team:
        began = time.perf_counter()
        sorted_columns = SortedColumns(points, team)
        sorting = time.perf_counter() - began
        times = []
        for _ in range(10):
            began = time.perf_counter()
            sorted_columns.search(weights, columns)
            times.append(time.perf_counter() - began)
    print(f"points: {points.n_points} in {n_projections} dimensions, {team.n_threads} threads")
    print(f"exact search  {1e9 * np.median(times) / values:5.2f} ns a point   (asked: 0.6)")
    print(f"memory        {sorted_columns.order.nbytes / values:5.2f} bytes a point (asked: 2)")
    print(f"sorting once  {1e9 * sorting / values:5.2f} ns a point")


def seconds(model: Any, X: Any, y: Any) -> float:
    """Return the time of one fit."""
    began = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - began


def classical_speed() -> None:
    """Print AdaBoost beside scikit-learn's, and the stumps a second of AdaBoost.MO."""
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
            f"(asked: 20), {100 * same:.1f} % of the test predictions the same; "
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
        "AdaBoost on data of the same shape (asked: 3)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=1000)
    rounds = parser.parse_args().rounds
    print("about 5 minutes on two cores")
    classical_speed()
    X, _, y, _ = split("pendigits", 0)
    for warm_up in (RBoostRankClassifier(2), RBoostProjClassifier(2)):
        warm_up.set_params(scale=False).fit(X, y)
    search_speed(X, 10, 20000)
    rank = RBoostRankClassifier(rounds, n_projections=20000, scale=False, random_state=0)
    proj = RBoostProjClassifier(rounds, n_projections=1000, scale=False, random_state=0, tol=0)
    times = {
        "rank exact, n = 20000": seconds(rank, X, y),
        "proj, n = 1000": seconds(proj, X, y),
        'proj, selection="code"': seconds(proj.set_params(selection="code"), X, y),
        "LightGBM": seconds(LGBMClassifier(n_estimators=rounds, verbose=-1), X, y),
    }
    base = times["rank exact, n = 20000"]
    for name, took in times.items():
        print(f"{name:24} {took:7.1f} s   {took / base:6.3f} of exact rank, {rounds} rounds")
    print("proj / rank asked: at most 1.5")
    for name in ("RBoostRankClassifier", "RBoostProjClassifier"):
        for _ in range(2):  # the second process finds a warm kernel cache
            done = subprocess.run(
                [sys.executable, "-c", IRIS.format(name=name)],
                capture_output=True,
                text=True,
                check=True,
            )
        imports, fit = map(float, done.stdout.split())
        print(
            f"iris, new process, {name}: fit {fit:.2f} s (asked: 2) after imports {imports:.2f} s"
        )


if __name__ == "__main__":
    main()
