"""Reads the paper's data sets from the folder named by RANDOMBOOST_DATA."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler

HUNDRED_A_CLASS = {"usps", "pendigits"}  # the paper draws 100 samples of every class here


def folder() -> Path:
    """Return the data folder, or end with a message that says how to name it."""
    name = os.environ.get("RANDOMBOOST_DATA")
    if not name or not Path(name).is_dir():
        raise SystemExit(
            "set RANDOMBOOST_DATA to the folder that holds vowel.csv.gz and the other sets "
            "(columns: features, an optional 'split', then 'class')"
        )
    return Path(name)


def load(name: str) -> tuple[NDArray, NDArray]:
    """Return features and labels of one set."""
    if (folder() / f"{name}.npz").exists():
        arrays = np.load(folder() / f"{name}.npz")
        return arrays["X"].astype(np.float64), arrays["y"]
    table = pd.read_csv(folder() / f"{name}.csv.gz").drop(columns="split", errors="ignore")
    return table.drop(columns="class").to_numpy(np.float64), table["class"].to_numpy()


def split(name: str, repeat: int) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Return a random 75/25 split, scaled to [-1, 1] by its training part."""
    X, y = load(name)
    if name in HUNDRED_A_CLASS:
        rng = np.random.default_rng(repeat)
        rows = [rng.choice(np.flatnonzero(y == c), 100, replace=False) for c in np.unique(y)]
        X, y = X[np.concatenate(rows)], y[np.concatenate(rows)]
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=repeat)
    scaler = MinMaxScaler((-1, 1)).fit(X_train)
    return scaler.transform(X_train), scaler.transform(X_test), y_train, y_test
