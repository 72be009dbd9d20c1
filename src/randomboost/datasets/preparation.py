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


def scaled(
    name: str, X: NDArray, X_test: NDArray, interval: tuple[float, float] | None = (-1, 1)
) -> tuple[NDArray, NDArray]:
    """Scale as in the paper: to [-1, 1], or to mean 0 and variance 1 for colon-cancer.

    Parameters
    ----------
    name : str
        Name of the set.
    X, X_test : ndarray
        Training part, from which the scaling is learned, and test part.
    interval : tuple of float or None, default=(-1, 1)
        Another interval; None leaves the values as they are.

    Returns
    -------
    tuple of ndarray
        Both, scaled.
    """
    if interval is None:
        return X, X_test
    scaler = MinMaxScaler(interval)
    if name in STANDARDISED:
        X, X_test = (StandardScaler().fit_transform(part.T).T for part in (X, X_test))
        scaler = StandardScaler()
    scaler.fit(X)
    return scaler.transform(X), scaler.transform(X_test)


def rows_of(data: Dataset, rows: str) -> NDArray[np.intp]:
    """Return the numbers of the rows that are split.

    Parameters
    ----------
    data : Dataset
        The set.
    rows : {"all", "train", "stacked"}
        All of them; or for sets with a training and a test file at LIBSVM, those of the training
        file, or those of both files and of the test file again.

    Returns
    -------
    ndarray of int
        The numbers.

    Raises
    ------
    ValueError
        If the set has no official training part.
    """
    if rows == "all":
        return np.arange(len(data.y))
    if data.part is None:
        raise ValueError(f"rows={rows!r}: {data.name} has no official training part")
    train, test = (np.flatnonzero(data.part == part) for part in ("train", "test"))
    return train if rows == "train" else np.concatenate([train, test, test])


def split(
    data: Dataset,
    repeat: int,
    *,
    test_size: float = 0.25,
    rows: str = "all",
    stratify: bool = False,
    interval: tuple[float, float] | None = (-1, 1),
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
    rows : {"all", "train", "stacked"}, default="all"
        For sets with a training and a test file at LIBSVM: the rows of both, of the training file
        only, or of both and of the test file a second time. The paper does not say which rows it
        used; docs/results compares.
    stratify : bool, default=False
        Whether both parts have the same shares of the classes.
    interval : tuple of float or None, default=(-1, 1)
        Interval to which features are scaled; None leaves them as they are.

    Returns
    -------
    Split
        Both parts, scaled by the training part.
    """
    chosen = rows_of(data, rows)
    if data.name in HUNDRED_PER_CLASS:
        chosen = chosen[draw(data.y[chosen], 100, np.random.default_rng(repeat))]
    X, y = np.asarray(data.X, dtype=np.float64)[chosen], data.y[chosen]
    X, X_test, y, y_test = train_test_split(
        X, y, test_size=test_size, random_state=repeat, stratify=y if stratify else None
    )
    X, X_test = scaled(data.name, X, X_test, interval)
    return Split(X, X_test, y, y_test)
