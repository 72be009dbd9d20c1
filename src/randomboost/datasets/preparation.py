"""The paper's preparation: samples per class, random 75/25 splits, scaling."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from .dataset import Dataset

HUNDRED_PER_CLASS = ("usps", "pendigits")  # the paper draws 100 samples per class
STANDARDISED = ("colon-cancer",)  # as LIBSVM's file: by sample, then by gene


@dataclass(frozen=True)
class Split:
    """A training and a test part.

    Parameters
    ----------
    X, X_test : ndarray
        Features.
    y, y_test : ndarray
        Labels.
    """

    X: NDArray
    X_test: NDArray
    y: NDArray
    y_test: NDArray


def draw(y: NDArray, n_samples: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw random samples of every class.

    Parameters
    ----------
    y : ndarray
        Labels.
    n_samples : int
        Number of samples per class.
    rng : numpy.random.Generator
        Random number generator.

    Returns
    -------
    ndarray of int
        Numbers of the samples.
    """
    rows = [rng.choice(np.flatnonzero(y == c), n_samples, replace=False) for c in np.unique(y)]
    return np.concatenate(rows)


def scaled(name: str, X: NDArray, X_test: NDArray) -> tuple[NDArray, NDArray]:
    """Scale as in the paper: to [-1, 1], or to mean 0 and variance 1 for colon-cancer.

    Parameters
    ----------
    name : str
        Name of the set.
    X, X_test : ndarray
        Training part, from which the scaling is learned, and test part.

    Returns
    -------
    tuple of ndarray
        Both, scaled.
    """
    scaler = MinMaxScaler((-1, 1))
    if name in STANDARDISED:
        X, X_test = (StandardScaler().fit_transform(part.T).T for part in (X, X_test))
        scaler = StandardScaler()
    scaler.fit(X)
    return scaler.transform(X), scaler.transform(X_test)


def split(
    data: Dataset, repeat: int, *, test_size: float = 0.25, training_file: bool = False
) -> Split:
    """Return one of the paper's random splits.

    Parameters
    ----------
    data : Dataset
        The set. From usps and pendigits 100 samples per class are drawn first.
    repeat : int
        Number of the repeat; the same number gives the same split.
    test_size : float, default=0.25
        Fraction of the test part.
    training_file : bool, default=False
        For sets with a training and a test file at LIBSVM, split only the training file. The
        paper does not say which rows it used; docs/results compares.

    Returns
    -------
    Split
        Both parts, scaled by the training part.
    """
    X, y = np.asarray(data.X, dtype=np.float64), data.y
    if training_file:
        if data.part is None:
            raise ValueError(f"training_file=True: {data.name} has no official training part")
        X, y = X[data.part == "train"], y[data.part == "train"]
    if data.name in HUNDRED_PER_CLASS:
        rows = draw(y, 100, np.random.default_rng(repeat))
        X, y = X[rows], y[rows]
    X, X_test, y, y_test = train_test_split(X, y, test_size=test_size, random_state=repeat)
    X, X_test = scaled(data.name, X, X_test)
    return Split(X, X_test, y, y_test)
