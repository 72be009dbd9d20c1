"""MNIST as the paper sees it: deslanted, HOG on three levels, PCA to 90 % of the variance.

The PCA is fitted on the training rows. The features are kept under output/.

    RANDOMBOOST_DATA=folder python benchmarks/digits_features.py 10000
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from data import folder
from numpy.typing import NDArray
from sklearn.decomposition import PCA

CACHE = Path(__file__).resolve().parent.parent / "output"
SIDE = 28
BLOCKS = (4, 7, 14)  # pixels; neighbouring blocks share half of them
ORIENTATIONS = 9
VARIANCE = 0.9
_BATCH = 2000  # images at a time: some 60 MB of oriented gradients


def digits(n_train: int) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Return pixels in [0, 1] and labels: some training rows, the same for all runs, and the test.

    Returns
    -------
    tuple of ndarray
        Training images, test images (both float32), training labels, test labels.
    """
    arrays = np.load(folder() / "mnist.npz")
    X = arrays["X"].reshape(len(arrays["X"]), -1).astype(np.float32) / 255
    train, test = (np.flatnonzero(arrays["split"] == part) for part in ("train", "test"))
    if n_train < len(train):
        train = np.sort(np.random.default_rng(0).choice(train, n_train, replace=False))
    return X[train], X[test], arrays["y"][train], arrays["y"][test]


def deslant(images: NDArray) -> NDArray:
    """Shear every image (count, side, side) so that its main axis is upright."""
    side = images.shape[1]
    place = np.arange(side, dtype=np.float32)
    mass = np.maximum(images.sum(axis=(1, 2)), 1e-6)
    row = (images.sum(axis=2) @ place) / mass
    column = (images.sum(axis=1) @ place) / mass
    from_row = place - row[:, None]
    from_column = place - column[:, None]
    mixed = np.einsum("iab,ia,ib->i", images, from_row, from_column)
    spread = np.einsum("iab,ia->i", images, from_row**2)
    shift = (mixed / np.maximum(spread, 1e-6))[:, None] * from_row  # by image and row
    wanted = np.clip(place + shift[:, :, None], 0, side - 1)
    left = np.minimum(wanted.astype(np.intp), side - 2)
    share = wanted - left
    return (1 - share) * np.take_along_axis(images, left, 2) + share * np.take_along_axis(
        images, left + 1, 2
    )


def oriented_gradients(images: NDArray) -> NDArray:
    """Return the gradient lengths by unsigned orientation, (count, orientations, side, side)."""
    down, across = np.gradient(images, axis=(1, 2))
    length = np.hypot(down, across)
    angle = np.arctan2(down, across) % np.pi * (ORIENTATIONS / np.pi)
    lower = np.floor(angle).astype(np.intp)
    share = angle - lower  # a length is divided between the two nearest orientations
    found = np.zeros((len(images), ORIENTATIONS, *images.shape[1:]), dtype=np.float32)
    for number, part in ((lower, 1 - share), (lower + 1, share)):
        place = (number % ORIENTATIONS)[:, None]
        parts = np.take_along_axis(found, place, 1) + (part * length)[:, None]
        np.put_along_axis(found, place, parts, 1)
    return found


def hog(images: NDArray) -> NDArray:
    """Return one histogram of orientations a block, each of length 1, all blocks of all levels."""
    sums = np.pad(oriented_gradients(images), ((0, 0), (0, 0), (1, 0), (1, 0)))
    sums = sums.cumsum(axis=2).cumsum(axis=3)
    levels = []
    for size in BLOCKS:
        begin = np.round(np.arange(0, SIDE - size + 0.1, size / 2)).astype(int)
        end = begin + size
        rows = sums[:, :, end] - sums[:, :, begin]
        blocks = rows[:, :, :, end] - rows[:, :, :, begin]
        length = np.sqrt((blocks**2).sum(axis=1, keepdims=True) + 1e-2)
        levels.append((blocks / length).reshape(len(images), -1))
    return np.concatenate(levels, axis=1)


def extract(X: NDArray) -> NDArray:
    """Return the HOG features of flat images, batch by batch."""
    images = X.reshape(-1, SIDE, SIDE)
    parts = [hog(deslant(images[at : at + _BATCH])) for at in range(0, len(images), _BATCH)]
    return np.concatenate(parts).astype(np.float32)


def features(n_train: int) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Return HOG+PCA features and labels as `digits` does, from the cache where they are."""
    path = CACHE / f"digits-{n_train}.npz"
    if not path.exists():
        X, X_test, y, y_test = digits(n_train)
        train, test = extract(X), extract(X_test)
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
