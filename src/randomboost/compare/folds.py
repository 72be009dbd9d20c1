"""Splits into training and test rows, the same for every model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import (
    RepeatedKFold,
    RepeatedStratifiedKFold,
    train_test_split,
)

from ..preprocessing.labels import can_stratify

Fold = tuple[NDArray[np.int64], NDArray[np.int64]]


def make_folds(y: Any, n_folds: int, n_repeats: int, seed: int) -> list[Fold]:
    """Return the training and test rows of a (repeated) cross-validation.

    Parameters
    ----------
    y : ndarray
        Labels.
    n_folds, n_repeats : int
        Number of folds, and number of repetitions with different folds.
    seed : int
        Seed of the shuffling.

    Returns
    -------
    list of (ndarray, ndarray)
        Indices of the rows; stratified if every class has at least `n_folds` of them.
    """
    if len(y) < n_folds:
        raise ValueError(f"{n_folds} folds need at least {n_folds} rows: there are {len(y)}")
    rarest = np.unique(y, return_counts=True)[1].min()
    kind = RepeatedStratifiedKFold if rarest >= n_folds else RepeatedKFold
    folds = kind(n_splits=n_folds, n_repeats=n_repeats, random_state=seed)
    parts = list(folds.split(np.zeros(len(y)), y))
    if any(len(np.unique(y[train])) < 2 for train, _ in parts):
        raise ValueError(
            "the training part of a fold has only one class: use fewer folds or more rows"
        )
    return parts


def hold_out(y: Any, share: float, seed: int) -> Fold:
    """Return the training and test rows of one split.

    Parameters
    ----------
    y : ndarray
        Labels.
    share : float
        Fraction of the rows to hold out.
    seed : int
        Seed of the shuffling.

    Returns
    -------
    tuple of (ndarray, ndarray)
        Indices of the rows; stratified if every class has at least two of them and both parts
        have room for all classes.
    """
    class_numbers = np.unique(y, return_inverse=True)[1]
    n_test = int(np.ceil(share * len(y)))
    train, test = train_test_split(
        np.arange(len(y)),
        test_size=share,
        random_state=seed,
        stratify=y if can_stratify(np.bincount(class_numbers), n_test) else None,
    )
    return np.sort(train), np.sort(test)
