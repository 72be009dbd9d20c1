"""Correspondence analysis of the levels of a category and the classes.

Its axes give every class a score such that the mean scores of the levels differ most. Counts are
sparse: nothing of size levels times classes is made unless that is small.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, svds

from ..runtime.parallel import OneBlasThread

PRIOR = 10.0  # samples with the average class distribution that are added to every level and class
_DENSE = 1 << 18  # levels times classes up to which the matrix is made


def class_scores(
    levels: NDArray[np.int64], labels: NDArray[np.int64], weight: NDArray, n_axes: int
) -> NDArray:
    """Return the scores of the classes along the first axes.

    Parameters
    ----------
    levels, labels : ndarray of int64 of shape (n_samples,)
        Number of the level and of the class of every sample.
    weight : ndarray of shape (n_samples,)
        Weights of the samples.
    n_axes : int
        Largest number of axes.

    Returns
    -------
    ndarray of shape (n_classes, n_axes)
        The scores, with mean 0 over the samples. There are fewer axes where there are few levels
        or classes.
    """
    shape = (int(levels.max()) + 1, int(labels.max()) + 1)
    counts = sp.coo_array((weight, (levels, labels)), shape=shape).tocsr()
    by_level, by_class = counts.sum(axis=1), counts.sum(axis=0)
    share = by_class / by_class.sum()
    left, right = 1.0 / np.sqrt(by_level + PRIOR), 1.0 / np.sqrt(by_class + PRIOR)
    n_axes = min(n_axes, shape[0] - 1, shape[1] - 1)
    if n_axes < 1:
        return np.zeros((shape[1], 0))
    with OneBlasThread():
        if shape[0] * shape[1] <= _DENSE or n_axes >= min(shape) - 1:
            surplus = counts.toarray() - np.outer(by_level, share)
            axes = np.linalg.svd(left[:, None] * surplus * right, full_matrices=False)[2][:n_axes]
        else:
            axes = _sparse_axes(counts, by_level * left, share, left, right, n_axes)
    peaks = np.take_along_axis(axes, np.abs(axes).argmax(axis=1)[:, None], axis=1)
    scores = (axes * np.sign(peaks) * right).T  # the sign of an axis is arbitrary
    return (scores - share @ scores) * np.sqrt(by_class.sum())


def _sparse_axes(
    counts: sp.csr_array,
    means: NDArray,
    share: NDArray,
    left: NDArray,
    right: NDArray,
    n_axes: int,
) -> NDArray:
    """Return the first right singular vectors of the scaled surplus over independence."""
    scaled = sp.csr_array(sp.diags_array(left) @ counts @ sp.diags_array(right))
    expected = share * right
    operator = LinearOperator(
        counts.shape,
        matvec=lambda v: scaled @ v.ravel() - means * (expected @ v.ravel()),
        rmatvec=lambda u: scaled.T @ u.ravel() - expected * (means @ u.ravel()),
        dtype=np.float64,
    )
    start = np.random.default_rng(20130207).standard_normal(min(counts.shape))
    _, sizes, axes = svds(operator, k=n_axes, v0=start, tol=1e-6)
    return axes[np.argsort(-sizes, kind="stable")]
