"""What an ensemble computes, as plain arrays: what the exports write down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class StumpTable:
    """Stumps of all rounds, one or several a round: `high` where a value exceeds the threshold.

    Parameters
    ----------
    columns : ndarray of int64 of shape (n_rounds, n_members)
        Which value is compared.
    thresholds : ndarray of shape (n_rounds, n_members), of the model's dtype
        Thresholds.
    low, high : ndarray of float64 of shape (n_rounds, n_members)
        Outputs.
    """

    columns: NDArray[np.int64]
    thresholds: NDArray
    low: NDArray
    high: NDArray


@dataclass(frozen=True)
class TreeTable:
    """Trees of all rounds, one after the other.

    Parameters
    ----------
    starts : ndarray of int64 of shape (n_trees + 1,)
        Where the nodes of each tree begin.
    columns : ndarray of int64
        Which value a split compares, -1 for a leaf.
    thresholds : ndarray
        A value above goes right.
    left : ndarray of int64
        Left child, counted from the tree's first node, -1 for a leaf; the right one is next to it.
    values : ndarray
        Outputs of the leaves.
    rounded : bool
        Whether values are compared as float32.
    leaf_starts : ndarray of int64 of shape (n_leaves + 1,) or None
        For leaves with a vector of class scores: where the entries of each leaf begin, in the
        order of the nodes. `values` is not used then.
    leaf_classes : ndarray of int64 of shape (n_entries,) or None
        Class of every entry.
    leaf_values : ndarray of float32 of shape (n_entries,) or None
        What every entry adds to the score of its class.
    leaf_steps : ndarray of int16 of shape (n_entries,) or None
        The same in units of the tree.
    leaf_units : ndarray of float32 of shape (n_trees,) or None
        The units.
    """

    starts: NDArray[np.int64]
    columns: NDArray[np.int64]
    thresholds: NDArray
    left: NDArray[np.int64]
    values: NDArray
    rounded: bool = False
    leaf_starts: NDArray[np.int64] | None = None
    leaf_classes: NDArray[np.int64] | None = None
    leaf_values: NDArray[np.float32] | None = None
    leaf_steps: NDArray[np.int16] | None = None
    leaf_units: NDArray[np.float32] | None = None


@dataclass(frozen=True)
class LandmarkTable:
    """Similarities to landmarks, ``exp(-width * |z - point|**2)``, and their coefficients.

    The squared distance is ``|z|**2 + square - 2 * (z @ point)``, and not below 0. Here
    ``z = weight * x / sqrt(1 + (x / 3)**2)``, feature by feature, and 0 for a missing value.

    Parameters
    ----------
    points : ndarray of float32 of shape (n_landmarks, n_features)
        The landmarks.
    weights : ndarray of float32 of shape (n_features,)
        Weights of the features.
    width : float
        How fast the similarity falls.
    squares : ndarray of float64 of shape (n_landmarks,)
        Squared norms of the landmarks.
    coefficients : ndarray of float32 of shape (n_landmarks, n_classes)
        What a similarity adds to the scores, in double precision.
    """

    points: NDArray[np.float32]
    weights: NDArray[np.float32]
    width: float
    squares: NDArray
    coefficients: NDArray[np.float32]


@dataclass(frozen=True)
class LinearTable:
    """Sums of features times coefficients, less a number, in double precision.

    A missing feature counts as 0, and one beyond its limit as the limit, with its sign.

    Parameters
    ----------
    coefficients : ndarray of float32 of shape (n_features, n_classes)
        The coefficients.
    limits : ndarray of float32 of shape (n_features,)
        The limits, at least 0.
    base : ndarray of float64 of shape (n_classes,)
        What is subtracted from the sums.
    """

    coefficients: NDArray[np.float32]
    limits: NDArray[np.float32]
    base: NDArray


@dataclass(frozen=True)
class PlainTables:
    """What an ensemble computes, as plain arrays: what exports write down.

    Features are mixed into values (the same for all classes, or for every class its own), weak
    classifiers compare values with thresholds, and their outputs, times votes, or the entries of
    their leaves are summed.

    Parameters
    ----------
    stumps : StumpTable or None
        The weak classifiers, where they are stumps.
    trees : TreeTable or None
        The weak classifiers, where they are trees.
    n_views : int
        1, or the number of classes where every class sees values of its own.
    n_values : int
        Number of values of a view.
    rows : callable or None
        ``rows(numbers)`` returns a CSR matrix of shape (n_views * len(numbers), n_features) with
        the mixtures of some values, view after view; None where values are the features.
    votes : ndarray of float64 of shape (n_rounds, n_sums) or None
        What outputs are multiplied by; None for trees with vector leaves, whose entries are
        summed in float32, tree after tree.
    gaussian : tuple of (GaussianProjection, ndarray) or None
        How all mixtures are made from a seed: the projection, and the row of each value.
    baseline : ndarray of float32 or None
        What the sums begin with, if not with 0.
    decoding : {"loss", "hamming"} or None
        How sums become scores; None where they are the scores.
    code : ndarray of shape (n_classes, n_sums) or None
        The code of `decoding`.
    landmarks : tuple of LandmarkTable
        What is added to the sums of trees, rounded to float32 after it is summed itself; all tables
        have as many landmarks.
    linear : LinearTable or None
        The same, of a linear model instead.
    """

    stumps: StumpTable | None
    trees: TreeTable | None
    n_views: int
    n_values: int
    rows: Callable[[NDArray[np.int64]], Any] | None
    votes: NDArray | None
    gaussian: tuple[Any, NDArray[np.int64]] | None = None
    baseline: NDArray[np.float32] | None = None
    decoding: str | None = None
    code: NDArray | None = None
    landmarks: tuple[LandmarkTable, ...] = ()
    linear: LinearTable | None = None
