"""The data sets of the performance suite: the paper's, MNIST, and generated many-class data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from data import load, split
from digits_features import digits, features
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

CLUSTERS_A_CLASS = 3
SPREAD = 1.0  # standard deviation inside a cluster, as that of the centres


@dataclass(frozen=True)
class Split:
    """One training and one test part; the labels are 0 .. k - 1.

    Parameters
    ----------
    X, X_test : ndarray
        Features.
    y, y_test : ndarray of int64
        Labels.
    """

    X: NDArray
    X_test: NDArray
    y: NDArray
    y_test: NDArray

    @property
    def n_classes(self) -> int:
        """Return the number of classes k."""
        return int(self.y.max()) + 1

    @property
    def n_points(self) -> int:
        """Return the number of (sample, class) pairs, m k."""
        return len(self.y) * self.n_classes


def encoded(X: NDArray, X_test: NDArray, y: NDArray, y_test: NDArray) -> Split:
    """Return the parts with labels as the numbers 0 .. k - 1, which XGBoost asks for."""
    labels, codes = np.unique(y, return_inverse=True)
    return Split(X, X_test, codes, np.searchsorted(labels, y_test))


def generated(
    n_classes: int, run: int, n_train: int = 20_000, n_features: int = 32, n_test: int = 10_000
) -> Split:
    """Return Gaussian clusters, three a class.

    The centres are N(0, I); a sample is its centre plus N(0, I), from a cluster drawn at
    random. Every class has a training row.
    """
    rng = np.random.default_rng([run, n_classes])
    n_clusters = CLUSTERS_A_CLASS * n_classes
    centres = rng.standard_normal((n_clusters, n_features))
    cluster = rng.integers(0, n_clusters, n_train + n_test)
    cluster[:n_classes] = np.arange(n_classes)
    X = centres[cluster] + SPREAD * rng.standard_normal((len(cluster), n_features))
    y = cluster % n_classes
    return Split(X[:n_train], X[n_train:], y[:n_train], y[n_train:])


def complete(name: str, run: int) -> Split:
    """Return all of one of the paper's sets, split 75/25 with the same classes in both parts."""
    X, y = load(name)
    return encoded(*train_test_split(X, y, test_size=0.25, stratify=y, random_state=run))


def _paper(name: str, run: int) -> Split:
    return encoded(*split(name, run))


def _digits(load: Callable[[int], tuple[NDArray, ...]], n_train: int, run: int) -> Split:
    return encoded(*load(n_train))


SETS: dict[str, Callable[[int], Split]] = {  # each takes the number of the run
    "pendigits-100": partial(_paper, "pendigits"),
    "vowel": partial(_paper, "vowel"),
    "usps-100": partial(_paper, "usps"),
    "satimage": partial(_paper, "satimage"),
    "mnist-10k-hog": partial(_digits, features, 10_000),
    "mnist-10k-pixels": partial(_digits, digits, 10_000),
    "mnist-60k-hog": partial(_digits, features, 60_000),
    "mnist-60k-pixels": partial(_digits, digits, 60_000),
    "generated-10": partial(generated, 10),
    "generated-100": partial(generated, 100),
    "generated-1000": partial(generated, 1000),
}
