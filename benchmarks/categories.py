"""Errors with columns of categories, ours and LightGBM's.

Without a data folder it makes its tables: random levels, which tell nothing, and informative ones.
With RANDOMBOOST_DATA it also takes tables whose columns are all categories or mostly: the error of
four splits inside the training part of each, never of its test part. Every line is printed when it
is finished; all of it takes some minutes.

    python benchmarks/categories.py
    RANDOMBOOST_DATA=folder python benchmarks/categories.py
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

from randomboost import RandomBoostClassifier

SETS = {
    "car": "dev/car",
    "kr-vs-k, 6000 rows": "dev/kr-vs-k",
    "flare": "dev/flare",
    "contraceptive": "dev/contraceptive",
    "mushrooms": "mushrooms_categorical",
}
NUMBERS = {"contraceptive": ["f0", "f3"]}
N_ROWS, N_SPLITS = 4000, 4


def errors(X: Any, y: NDArray, seed: int) -> tuple[float, float, float]:
    """Return both errors in percent on a quarter of the rows, and the last column's importance."""
    a, b = train_test_split(np.arange(len(y)), random_state=seed, stratify=y)
    ours = RandomBoostClassifier(random_state=seed).fit(X.iloc[a], y[a])
    other = lgb.LGBMClassifier(verbose=-1).fit(X.iloc[a], y[a])
    first, second = (100 * (1 - each.score(X.iloc[b], y[b])) for each in (ours, other))
    return first, second, ours.feature_importances_[-1]


def random_levels(n_levels: int, seed: int) -> tuple[Any, NDArray]:
    X, y = make_classification(N_ROWS, 10, n_informative=6, n_classes=4, random_state=seed)
    table = pd.DataFrame(X).rename(columns=str)
    if n_levels:
        level = np.random.default_rng(seed).integers(n_levels, size=N_ROWS)
        table["level"] = pd.Categorical(level)
    return table, y


def informative_levels(n_levels: int, seed: int) -> tuple[Any, NDArray]:
    rng = np.random.default_rng(seed)
    level = rng.integers(n_levels, size=N_ROWS)
    shares = rng.dirichlet(np.full(4, 0.4), n_levels).cumsum(axis=1)
    y = np.minimum((rng.random(N_ROWS)[:, None] > shares[level]).sum(axis=1), 3)
    X = rng.standard_normal((N_ROWS, 6)) + 0.5 * rng.standard_normal((4, 6))[y]
    return pd.DataFrame(X).rename(columns=str).assign(level=pd.Categorical(level)), y


def training_part(name: str, folder: Path) -> tuple[Any, NDArray]:
    table = pd.read_csv(folder / f"{SETS[name]}.csv.gz")
    y = pd.factorize(table.pop("class"), sort=True)[0]
    if "6000" in name:
        chosen = train_test_split(np.arange(len(y)), train_size=6000, random_state=0, stratify=y)[0]
        table, y = table.iloc[chosen], y[chosen]
    chosen = train_test_split(np.arange(len(y)), random_state=0, stratify=y)[0]
    chosen = chosen[np.bincount(y)[y[chosen]] >= 8]  # every part of a split has all classes
    words = [column for column in table if column not in NUMBERS.get(name, [])]
    table = table.astype(dict.fromkeys(words, str)).astype(dict.fromkeys(words, "category"))
    return table.iloc[chosen].reset_index(drop=True), pd.factorize(y[chosen])[0]


def cases() -> Iterator[tuple[str, list[tuple[float, float, float]]]]:
    for n_levels in (0, 50, 500, 2000):
        name = f"{n_levels:,} random levels" if n_levels else "no column of categories"
        yield name, [errors(*random_levels(n_levels, seed), seed) for seed in range(N_SPLITS)]
    for n_levels in (20, 200, 1000):
        name = f"{n_levels:,} informative levels"
        yield name, [errors(*informative_levels(n_levels, seed), seed) for seed in range(N_SPLITS)]
    if "RANDOMBOOST_DATA" in os.environ:
        for name in SETS:
            data = training_part(name, Path(os.environ["RANDOMBOOST_DATA"]))
            yield name, [errors(*data, seed) for seed in range(N_SPLITS)]


def main() -> None:
    print("| data | RandomBoost | LightGBM | importance of the last column |")
    print("|---|---|---|---|")
    for name, found in cases():
        ours, other, importance = np.mean(found, axis=0)
        print(f"| {name} | {ours:.1f} % | {other:.1f} % | {importance:.2f} |", flush=True)


if __name__ == "__main__":
    main()
