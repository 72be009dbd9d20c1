"""MNIST for the benchmarks: pixels, or the paper's features, which are kept under output/.

RANDOMBOOST_DATA=folder python benchmarks/digits_features.py 10000
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA

from randomboost import datasets
from randomboost.datasets.digits import VARIANCE, hog_features

CACHE = Path(__file__).resolve().parent.parent / "output"


def digits(n_train: int) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Return pixels in [0, 1] and labels: some training rows, the same for all runs, and the test.

    Returns
    -------
    tuple of ndarray
        Training images, test images (both float32), training labels, test labels.
    """
    mnist = datasets.load("mnist")
    X = mnist.X.astype(np.float32) / 255
    train, test = (np.flatnonzero(mnist.part == part) for part in ("train", "test"))
    if n_train < len(train):
        train = np.sort(np.random.default_rng(0).choice(train, n_train, replace=False))
    return X[train], X[test], mnist.y[train], mnist.y[test]


def features(n_train: int) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Return HOG+PCA features and labels as `digits` does, from the cache where they are."""
    path = CACHE / f"digits-{n_train}.npz"
    if not path.exists():
        X, X_test, y, y_test = digits(n_train)
        hog = hog_features()
        train, test = hog.fit_transform(X), hog.transform(X_test)
        pca = PCA(VARIANCE, svd_solver="covariance_eigh").fit(train)
        path.parent.mkdir(exist_ok=True)
        arrays = {"X": pca.transform(train), "X_test": pca.transform(test)}
        np.savez(path, y=y, y_test=y_test, **arrays)
    arrays = np.load(path)
    return arrays["X"], arrays["X_test"], arrays["y"], arrays["y_test"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("n_train", type=int, nargs="*", default=[10_000, 60_000])
    for n_train in parser.parse_args().n_train:
        X, X_test, _, _ = features(n_train)
        print(f"{len(X)} training and {len(X_test)} test rows of {X.shape[1]} features")


if __name__ == "__main__":
    main()
