"""The data sets of the performance suite: the paper's, MNIST, and generated many-class data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from data import load
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

from randomboost.datasets.loading import VARIABLE, folders

CLUSTERS_A_CLASS = 3
SPREAD = 1.0  # standard deviation inside a cluster, as that of the centres
CLOSE = 0.25  # standard deviation of the centres of close classes


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


def blobs(n_classes: int, n_train: int, n_test: int, n_features: int = 32) -> Split:
    """Return one Gaussian cluster a class, half of the classes in groups of five close ones.

    The centres of groups and of single classes are N(0, I), those of a group's classes N(0, I / 16)
    about its centre; a sample is its centre plus N(0, I / 4). Every class has a training row.
    """
    rng = np.random.default_rng([n_classes, n_features])
    centres = rng.standard_normal((n_classes, n_features))
    close = np.arange(n_classes // 2)
    offsets = CLOSE * rng.standard_normal((len(close), n_features))
    centres[close] = centres[close // 5 * 5] + offsets
    y = rng.integers(0, n_classes, n_train + n_test)
    y[:n_classes] = np.arange(n_classes)
    X = centres[y] + SPREAD / 2 * rng.standard_normal((len(y), n_features))
    X = X.astype(np.float32)
    return Split(X[:n_train], X[n_train:], y[:n_train], y[n_train:])


def many_rows(n_train: int, n_test: int = 50_000) -> Split:
    """Return generated data of ten classes, three clusters each, in 15 of 30 features."""
    X, y = make_classification(
        n_train + n_test,
        30,
        n_informative=15,
        n_redundant=5,
        n_classes=10,
        n_clusters_per_class=3,
        random_state=0,
    )
    return Split(X[:n_train], X[n_train:], y[:n_train], y[n_train:])


def large(name: str, run: int, most_classes: int | None = None) -> Split:
    """Return a set of hundreds of classes, large/<name>.npz, split 75/25 with stratification.

    A number of classes keeps the most frequent ones, and at most 30 rows of each.
    """
    places = [folder / "large" / f"{name}.npz" for folder in folders()]
    path = next((place for place in places if place.exists()), None)
    if path is None:
        raise FileNotFoundError(
            f"large/{name}.npz was not found: set {VARIABLE} to the folder that holds it"
        )
    with np.load(path) as file:
        X, y = file["X"], file["y"]
    if most_classes is not None:
        frequent = np.argsort(-np.bincount(y), kind="stable")[:most_classes]
        kept = np.concatenate([np.flatnonzero(y == label)[:30] for label in frequent])
        X, y = X[kept], y[kept]
    X = X.astype(np.float32, copy=False)
    return encoded(*train_test_split(X, y, test_size=0.25, stratify=y, random_state=run))


def complete(name: str, run: int) -> Split:
    """Return all of one of the paper's sets, split 75/25 with the same classes in both parts."""
    X, y = load(name)
    return encoded(*train_test_split(X, y, test_size=0.25, stratify=y, random_state=run))
