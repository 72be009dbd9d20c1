"""Contributions of features to scores that are weighted sums of similarities to landmarks.

They are integrated gradients (the values of Aumann and Shapley): the gradient of a score is
integrated along the straight line from the mean of all features to the sample. Their sum is the
difference between the scores at both ends.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..runtime.parallel import OneBlasThread

_POINTS = 24  # on the line, of Gauss and Legendre's rule
_TOGETHER = 32  # rows that are explained together


def explain_landmarks(
    Z: NDArray, points: NDArray, width: float, coefficients: NDArray
) -> tuple[NDArray, NDArray]:
    """Return the contributions of features to one score of every row.

    Parameters
    ----------
    Z : ndarray of shape (n_rows, n_features)
        Bent and weighted features.
    points : ndarray of shape (n_landmarks, n_features)
        Those of the landmarks.
    width : float
        Width of the similarity.
    coefficients : ndarray of shape (n_rows, n_landmarks)
        Coefficients of the score that is explained in every row.

    Returns
    -------
    tuple of ndarray
        Contributions (n_rows, n_features), and the scores (n_rows,) where all features are 0.
    """
    squares = (points**2).sum(axis=1)
    out = np.empty(Z.shape)
    with OneBlasThread():
        base = coefficients @ np.exp(-width * squares)
        total = (coefficients * _similarities(Z, points, squares, width)).sum(axis=1)
        for first in range(0, len(Z), _TOGETHER):
            rows = slice(first, first + _TOGETHER)
            out[rows] = _integrated(Z[rows], points, squares, width, coefficients[rows])
    # what the rule misses is divided as the contributions are
    sizes = np.abs(out) + 1e-300
    out += (total - base - out.sum(axis=1))[:, None] * sizes / sizes.sum(axis=1, keepdims=True)
    return out, base


def _similarities(Z: NDArray, points: NDArray, squares: NDArray, width: float) -> NDArray:
    distances = (Z**2).sum(axis=1)[:, None] + squares - 2.0 * Z @ points.T
    return np.exp(-width * np.maximum(distances, 0.0))


def _integrated(
    Z: NDArray, points: NDArray, squares: NDArray, width: float, coefficients: NDArray
) -> NDArray:
    """Integrate the gradients along the lines to some rows.

    At the part p of the line the gradient is a sum over landmarks v of ``c_v s_v(p) (v - p Z)``,
    so only the similarities s are needed at every part.
    """
    places, steps = np.polynomial.legendre.leggauss(_POINTS)
    products, lengths = Z @ points.T, (Z**2).sum(axis=1)[:, None]
    pulls, pulls_of_places = np.zeros(products.shape), np.zeros(products.shape)
    for place, step in zip(0.5 * (places + 1.0), 0.5 * steps, strict=True):
        distances = place**2 * lengths + squares - (2.0 * place) * products
        near = step * np.exp(-width * np.maximum(distances, 0.0))
        pulls += near
        pulls_of_places += place * near
    back = (coefficients * pulls_of_places).sum(axis=1, keepdims=True)
    return 2.0 * width * ((coefficients * pulls) @ points - back * Z) * Z


def landmark_importances(points: NDArray, width: float, coefficients: NDArray) -> NDArray:
    """Return how much scores vary with every feature.

    Parameters
    ----------
    points : ndarray of shape (n_landmarks, n_features)
        Bent and weighted features of the landmarks.
    width : float
        Width of the similarity.
    coefficients : ndarray of shape (n_landmarks, n_classes)
        Coefficients of the scores.

    Returns
    -------
    ndarray of shape (n_features,)
        Mean squared gradient of the scores at landmarks, times the variance of the feature.
    """
    at = points[: _TOGETHER * 8]
    squares = (points**2).sum(axis=1)
    similarities = _similarities(at, points, squares, width)
    out = np.zeros(points.shape[1])
    for column in (coefficients - coefficients.mean(axis=1, keepdims=True)).T:
        pulls = similarities * column
        gradients = pulls @ points - pulls.sum(axis=1, keepdims=True) * at
        out += (gradients**2).mean(axis=0)
    return out * points.var(axis=0)
