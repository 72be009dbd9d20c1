"""Handwritten digits as in the paper: deslanted, HOG on three levels, PCA to 90 %.

The levels have blocks of 4, 7 and 14 pixels, and neighbouring blocks share half of them: 13 x 13,
7 x 7 and 3 x 3 blocks of a 28 x 28 image, so 227 histograms of 9 orientations, 2043 features. The
paper has 2172 features, which is not a multiple of 227 (nor of 9), and does not say how its blocks
end at the edge of the image. scikit-image's HOG moves its blocks by whole cells, so that blocks of
7 pixels cannot share half of them; hence the implementation here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.validation import check_array

from .dataset import Dataset
from .preparation import Split, draw

SIDE = 28
BLOCKS = (4, 7, 14)
ORIENTATIONS = 9
VARIANCE = 0.9
_BATCH = 2000  # images at a time: about 60 MB of oriented gradients


def _images(X: Any) -> NDArray:
    """Return flat square images as (count, side, side)."""
    X = check_array(X, dtype=[np.float32, np.float64])
    side = round(X.shape[1] ** 0.5)
    if side * side != X.shape[1]:
        raise ValueError(
            f"X has {X.shape[1]} features, which is not a square number: pass flat square images"
        )
    return X.reshape(-1, side, side)


class _Stateless(TransformerMixin, BaseEstimator):
    """A stateless transformer of images."""

    def fit(self, X: Any, y: Any = None) -> Any:
        """Check the images.

        Parameters
        ----------
        X : array-like of shape (n_samples, side * side)
            Flat images.
        y : ignored
            Not used.

        Returns
        -------
        self
            The transformer.
        """
        self.n_features_in_ = _images(X)[0].size
        return self


class Resize(_Stateless):
    """Resizes flat square images by spline interpolation.

    Parameters
    ----------
    side : int, default=28
        Pixels of a side.
    """

    def __init__(self, side: int = SIDE) -> None:
        self.side = side

    def transform(self, X: Any) -> NDArray:
        """Return images of `side` x `side` pixels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_pixels)
            Flat images.

        Returns
        -------
        ndarray of shape (n_samples, side * side)
            Flat images.
        """
        from scipy.ndimage import zoom

        images = _images(X)
        factor = self.side / images.shape[1]
        if factor != 1:
            images = zoom(
                images, (1, factor, factor), order=1, grid_mode=True, mode="grid-constant"
            )
        return images.reshape(len(images), -1)


class Deslant(_Stateless):
    """Shears every flat square image so that its main axis is upright."""

    def transform(self, X: Any) -> NDArray:
        """Return the upright images.

        Parameters
        ----------
        X : array-like of shape (n_samples, side * side)
            Flat images.

        Returns
        -------
        ndarray of the same shape
            Flat images.
        """
        images = _images(X)
        return deslant(images).reshape(len(images), -1)


class PyramidHOG(_Stateless):
    """Histograms of oriented gradients on blocks of several sizes, each of norm 1.

    Parameters
    ----------
    blocks : sequence of int, default=(4, 7, 14)
        Sides of the blocks in pixels; neighbouring blocks overlap by half.
    orientations : int, default=9
        Number of unsigned orientations.
    """

    def __init__(self, blocks: Sequence[int] = BLOCKS, orientations: int = ORIENTATIONS) -> None:
        self.blocks = blocks
        self.orientations = orientations

    def transform(self, X: Any) -> NDArray:
        """Return the histograms of all blocks of all levels.

        Parameters
        ----------
        X : array-like of shape (n_samples, side * side)
            Flat images.

        Returns
        -------
        ndarray of float32
            One row per image.
        """
        images = _images(X)
        parts = [
            self._histograms(images[begin : begin + _BATCH])
            for begin in range(0, len(images), _BATCH)
        ]
        return np.concatenate(parts).astype(np.float32)

    def _histograms(self, images: NDArray) -> NDArray:
        gradients = oriented_gradients(images, self.orientations)
        sums = np.pad(gradients, ((0, 0), (0, 0), (1, 0), (1, 0)))
        sums = sums.cumsum(axis=2).cumsum(axis=3)
        levels = []
        for size in self.blocks:
            begin = np.round(np.arange(0, images.shape[1] - size + 0.1, size / 2)).astype(int)
            end = begin + size
            rows = sums[:, :, end] - sums[:, :, begin]
            blocks = rows[:, :, :, end] - rows[:, :, :, begin]
            length = np.sqrt((blocks**2).sum(axis=1, keepdims=True) + 1e-2)
            levels.append((blocks / length).reshape(len(images), -1))
        return np.concatenate(levels, axis=1)


def deslant(images: NDArray) -> NDArray:
    """Shear images so that their main axes are upright.

    Parameters
    ----------
    images : ndarray of shape (count, side, side)
        Images, 0 for dark pixels.

    Returns
    -------
    ndarray of shape (count, side, side)
        Upright images.
    """
    side = images.shape[1]
    place = np.arange(side, dtype=images.dtype)
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


def oriented_gradients(images: NDArray, orientations: int = ORIENTATIONS) -> NDArray:
    """Return the gradient lengths by unsigned orientation.

    Parameters
    ----------
    images : ndarray of shape (count, side, side)
        Images.
    orientations : int, default=9
        Number of orientations; a length is divided between the two nearest.

    Returns
    -------
    ndarray of shape (count, orientations, side, side)
        The lengths.
    """
    down, across = np.gradient(images, axis=(1, 2))
    length = np.hypot(down, across)
    angle = np.arctan2(down, across) % np.pi * (orientations / np.pi)
    lower = np.floor(angle).astype(np.intp)
    share = angle - lower
    found = np.zeros((len(images), orientations, *images.shape[1:]), dtype=np.float32)
    for number, part in ((lower, 1 - share), (lower + 1, share)):
        place = (number % orientations)[:, None]
        parts = np.take_along_axis(found, place, 1) + (part * length)[:, None]
        np.put_along_axis(found, place, parts, 1)
    return found


def hog_features() -> Pipeline:
    """Return the paper's features before PCA: 28 x 28 pixels, deslanted, HOG on three levels.

    Returns
    -------
    Pipeline
        `Resize`, `Deslant` and `PyramidHOG`, all stateless.
    """
    return make_pipeline(Resize(), Deslant(), PyramidHOG())


def digit_features() -> Pipeline:
    """Return the paper's features of flat images in [0, 1]: HOG, then PCA to 90 % of the variance.

    Returns
    -------
    Pipeline
        To be fitted on the training images.
    """
    return make_pipeline(*(step for _, step in hog_features().steps), PCA(VARIANCE))


def digits_split(data: Dataset, per_class: int, repeat: int) -> Split:
    """Return some training samples per class and the test part, with PCA of the training part.

    Parameters
    ----------
    data : Dataset
        The set; its official test part, or, without one, 50 samples per class that are not in the
        training part (as in the paper for TiCC).
    per_class : int
        Training samples per class.
    repeat : int
        Number of the repeat.

    Returns
    -------
    Split
        PCA features.
    """
    rng = np.random.default_rng([repeat, per_class])
    if data.part is not None:
        pool, test = (np.flatnonzero(data.part == part) for part in ("train", "test"))
        train = pool[draw(data.y[pool], per_class, rng)]
    else:
        rows = draw(data.y, per_class + 50, rng).reshape(-1, per_class + 50)
        train, test = rows[:, :per_class].ravel(), rows[:, per_class:].ravel()
    bright = data.X[train].max()
    hog = hog_features().fit(data.X[train].astype(np.float32))
    X, X_test = (hog.transform(data.X[rows].astype(np.float32) / bright) for rows in (train, test))
    pca = PCA(VARIANCE, svd_solver="full").fit(X)
    X, X_test = (pca.transform(part).astype(np.float64) for part in (X, X_test))
    return Split(X, X_test, data.y[train], data.y[test])
