"""Data sets from OpenML, through scikit-learn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import fetch_openml

from .catalogue import OpenML
from .dataset import Dataset
from .files import as_labels

_BASES = {"A": 1.0, "G": 2.0, "C": 3.0, "T": 4.0}


def fetch(name: str, place: OpenML, cache: Path) -> Dataset:
    """Return a set from OpenML or from the cache.

    Parameters
    ----------
    name : str
        Name of the set.
    place : OpenML
        Its place at OpenML.
    cache : Path
        Cache folder of scikit-learn.

    Returns
    -------
    Dataset
        The set, in the paper's form.
    """
    bunch = fetch_openml(
        data_id=place.data_id, as_frame=True, data_home=str(cache), parser="auto", n_retries=1
    )
    table = bunch.data.drop(columns=list(place.drop), errors="ignore")
    y = np.asarray(bunch.target.astype(str))
    if place.form == "one-hot":
        table = _one_hot(table)
        X = table.to_numpy(np.float64)
    elif place.form == "bases":
        X, y = _bases(table, y)
    else:
        rows = ~table.isna().any(axis=1).to_numpy()
        X, y = table[rows].to_numpy(np.float64), y[rows]
    names = [str(title) for title in table.columns]
    return Dataset(name, X, as_labels(y), names, f"OpenML {place.data_id}")


def _one_hot(table: Any) -> Any:
    import pandas as pd

    columns = {}
    for title in table.columns:
        values = table[title].astype(str).str.strip("'\"")
        for value in sorted(values.unique()):
            columns[f"{title}_{value}"] = (values == value).astype(float)
    return pd.DataFrame(columns)


def _bases(table: Any, y: NDArray) -> tuple[NDArray, NDArray]:
    """Return bases as numbers, without rows of ambiguous bases; label -1 is a junction."""
    letters = table.astype(str).apply(lambda column: column.str.strip("'\" "))
    rows = letters.isin(list(_BASES)).all(axis=1).to_numpy()
    X = letters[rows].replace(_BASES).to_numpy(np.float64)
    return X, np.where(y[rows] == "N", "1", "-1")
