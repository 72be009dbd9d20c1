"""The paper's data sets for the benchmarks, from the folder named by RANDOMBOOST_DATA."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np
from numpy.typing import NDArray

from randomboost import datasets


def load(name: str) -> tuple[NDArray, NDArray]:
    """Return features and labels of one set."""
    data = datasets.load(name)
    return np.asarray(data.X, dtype=np.float64), data.y


def split(name: str, repeat: int) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Return one of the paper's 75/25 splits, scaled by its training part."""
    return astuple(datasets.split(datasets.load(name), repeat))
