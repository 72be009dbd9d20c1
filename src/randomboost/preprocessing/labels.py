"""Class labels, the weights of classes, and whether a split can be stratified."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..runtime.exact_sums import class_totals


def distinct_labels(y: Any, name: str) -> NDArray:
    """Return the distinct labels in order.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels.
    name : str
        Name of the argument, for error messages.

    Returns
    -------
    ndarray
        The labels.

    Raises
    ------
    ValueError
        If they cannot be ordered, such as text and numbers.
    """
    try:
        return np.unique(np.asarray(y))
    except TypeError as error:
        raise ValueError(
            f"{name} has labels of several kinds, which have no order ({error}): make all of them "
            "text or all of them numbers, and leave out samples whose label is missing"
        ) from error


def class_factors(
    class_weight: Any, classes: NDArray, class_numbers: NDArray[np.int64], sample_weight: NDArray
) -> NDArray:
    """Return the factor of every class.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
        Weights by label. "balanced": all classes of nonzero weight get the same total weight; a
        sample of weight 2 counts as two.
    classes : ndarray
        Class labels.
    class_numbers : ndarray of int64
        Class numbers of the samples.
    sample_weight : ndarray of float64
        Weights of the samples.

    Returns
    -------
    ndarray of shape (n_classes,)
        The factors.

    Raises
    ------
    ValueError
        If a weight is missing, negative or not a number.
    """
    if isinstance(class_weight, str):
        return balanced_factors(class_totals(class_numbers, sample_weight, len(classes)))
    try:
        from sklearn.utils import compute_class_weight

        factors = compute_class_weight(class_weight, classes=classes, y=classes)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"class_weight={class_weight!r} does not fit: {error}; give a weight for every class"
        ) from error
    if not (np.isfinite(factors).all() and (factors >= 0).all()):
        raise ValueError("class_weight has a negative or infinite weight: weights are >= 0")
    return factors


def balanced_factors(totals: NDArray) -> NDArray:
    """Return factors by which all classes of nonzero weight get the same total weight.

    Parameters
    ----------
    totals : ndarray of shape (n_classes,)
        Total weights of the classes.

    Returns
    -------
    ndarray of shape (n_classes,)
        The factors; their weighted mean is 1.
    """
    used = totals > 0
    return used * totals.sum() / (used.sum() * np.where(used, totals, 1.0))


def can_stratify(counts: NDArray[np.int64], n_validation: int) -> bool:
    """Return whether a split can be stratified: both parts have room for all classes.

    Parameters
    ----------
    counts : ndarray of int64 of shape (n_classes,)
        Number of samples of every class.
    n_validation : int
        Number of samples in the validation part.

    Returns
    -------
    bool
        Whether every class has two samples, and no part fewer samples than there are classes.
    """
    room = min(n_validation, counts.sum() - n_validation) >= len(counts)
    return bool(room and counts.min() >= 2)
