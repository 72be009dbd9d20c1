"""The paper's preparation: samples a class, random 75/25 parts, scaling by the training part."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from .dataset import Dataset

A_HUNDRED = ("usps", "pendigits")  # the paper draws 100 samples of every class here
STANDARDISED = ("colon-cancer",)  # LIBSVM's file is: by sample, then by gene


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
    """Return the numbers of so many random samples of every class.

    Parameters
    ----------
    y : ndarray
        Labels.
    n_samples : int
        Samples a class.
    rng : numpy.random.Generator
        Draws them.

    Returns
    -------
    ndarray of int
        Numbers of samples.
    """
    rows = [rng.choice(np.flatnonzero(y == c), n_samples, replace=False) for c in np.unique(y)]
    return np.concatenate(rows)


def scaled(name: str, X: NDArray, X_test: NDArray) -> tuple[NDArray, NDArray]:
    """Scale as in the paper's data: to [-1, 1], or to mean 0 and deviation 1 for colon-cancer.

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
        The set. Of usps and pendigits 100 samples a class are drawn first.
    repeat : int
        Number of the repeat; the same number gives the same split.
    test_size : float, default=0.25
        Share of the test part.
    training_file : bool, default=False
        Where LIBSVM has a training and a test file, split the rows of the training file only.
        The paper does not say which rows it took; docs/results compares.

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
    if data.name in A_HUNDRED:
        rows = draw(y, 100, np.random.default_rng(repeat))
        X, y = X[rows], y[rows]
    X, X_test, y, y_test = train_test_split(X, y, test_size=test_size, random_state=repeat)
    X, X_test = scaled(data.name, X, X_test)
    return Split(X, X_test, y, y_test)
