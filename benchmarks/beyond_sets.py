"""The data of the page on defaults: the paper's sets, those of dev/, and some large tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from digits_features import digits
from numpy.typing import NDArray
from sets import Split, complete, encoded, many_rows
from sklearn.model_selection import train_test_split

from randomboost.datasets.loading import VARIABLE, folders


@dataclass(frozen=True)
class Case:
    """A data set.

    Parameters
    ----------
    group : str
        The part of the page, one of `GROUPS`.
    load : callable
        Takes the number of a split; returns X, X_test, y, y_test.
    rows : int
        Rows of both parts.
    classes : int
        Number of classes.
    seconds : float
        Time of a fit of LightGBM on two idle cores, roughly.
    """

    group: str
    load: Callable[[int], tuple[Any, Any, NDArray, NDArray]]
    rows: int
    classes: int
    seconds: float


def table_path(name: str) -> Path:
    """Return where a table of dev/ is."""
    places = [folder / "dev" / f"{name}.csv.gz" for folder in folders()]
    path = next((place for place in places if place.exists()), None)
    if path is None:
        raise FileNotFoundError(
            f"dev/{name}.csv.gz was not found: set {VARIABLE} to the folder that holds it"
        )
    return path


def _parts(data: Split) -> tuple[Any, Any, NDArray, NDArray]:
    return data.X, data.X_test, data.y, data.y_test


def table(name: str, split: int) -> tuple[Any, Any, NDArray, NDArray]:
    """Return a table of dev/, split 75/25 with stratification; columns of text are categoricals."""
    frame = pd.read_csv(table_path(name))
    y = frame.pop("class").to_numpy()
    text = [column for column in frame if not pd.api.types.is_numeric_dtype(frame[column])]
    frame = frame.astype(dict.fromkeys(text, "category"))
    parts = train_test_split(frame, y, test_size=0.25, stratify=y, random_state=split)
    return _parts(encoded(*parts))


def _paper(name: str, split: int) -> tuple[Any, Any, NDArray, NDArray]:
    return _parts(complete(name, split))


def _rows(n_train: int, split: int) -> tuple[Any, Any, NDArray, NDArray]:
    return _parts(many_rows(n_train))


def _mnist(split: int) -> tuple[Any, Any, NDArray, NDArray]:
    return _parts(encoded(*digits(60_000)))


_PAPER = {  # rows, classes, seconds
    "wine": (178, 3, 0.1),
    "glass": (214, 6, 0.3),
    "svmguide2": (391, 3, 0.2),
    "svmguide4": (612, 6, 0.5),
    "vehicle": (846, 4, 0.5),
    "vowel": (990, 11, 0.8),
    "segment": (2310, 7, 1.2),
    "dna": (3186, 3, 0.7),
    "satimage": (6435, 6, 2.0),
    "pendigits": (10992, 10, 3.0),
    "usps": (9298, 10, 12.0),
}
_TABLES = {
    "cleveland": (297, 5, 0.3),
    "led7digit": (500, 10, 0.4),
    "flare": (1066, 6, 0.5),
    "contraceptive": (1473, 3, 0.4),
    "yeast": (1484, 10, 1.2),
    "car": (1728, 4, 0.5),
    "texture": (5500, 11, 4.0),
    "optdigits": (5620, 10, 3.0),
    "kr-vs-k": (28056, 18, 5.0),
    "letter": (20000, 26, 8.0),
}
GROUPS = {"paper": "The paper's sets", "dev": "Other sets", "large": "Large tables"}
CASES = {
    **{name: Case("paper", partial(_paper, name), *about) for name, about in _PAPER.items()},
    **{name: Case("dev", partial(table, name), *about) for name, about in _TABLES.items()},
    "generated-20000": Case("large", partial(_rows, 20_000), 70_000, 10, 4.0),
    "generated-100000": Case("large", partial(_rows, 100_000), 150_000, 10, 10.0),
    "generated-500000": Case("large", partial(_rows, 500_000), 550_000, 10, 45.0),
    "mnist": Case("large", _mnist, 70_000, 10, 90.0),
}


def of_group(group: str) -> list[str]:
    """Return the names of the sets of a group."""
    return [name for name, case in CASES.items() if case.group == group]


def categories(X: Any) -> list[str]:
    """Return the names of the columns that are categoricals; none of an array."""
    if isinstance(X, np.ndarray):
        return []
    return [name for name in X if isinstance(X[name].dtype, pd.CategoricalDtype)]
