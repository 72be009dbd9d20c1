"""Sums that depend neither on the order of what is added nor on how it is divided.

Numbers are rounded to whole multiples of a power of two, chosen so that sums stay below 2**62.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .compiling import kernel

_LARGEST = 62  # sums stay below two to this power


def finest_unit(peak: float, n: int) -> float:
    """Return the finest unit in which so many numbers can be added.

    Parameters
    ----------
    peak : float
        Bound of their absolute values.
    n : int
        How many there are.

    Returns
    -------
    float
        A power of two.
    """
    return 2.0 ** (math.frexp(peak)[1] + int(n).bit_length() - _LARGEST)


def as_whole(values: NDArray, unit: float) -> NDArray[np.int64]:
    """Return positive numbers in whole units, at least one.

    Parameters
    ----------
    values : ndarray
        Positive numbers.
    unit : float
        The unit.

    Returns
    -------
    ndarray of int64
        The numbers.
    """
    return np.maximum(np.rint(values / unit), 1.0).astype(np.int64)


@kernel
def _add_up(amounts: NDArray, groups: NDArray, sums: NDArray) -> None:
    for i in range(len(amounts)):
        sums[groups[i]] += amounts[i]


def group_sums(amounts: NDArray[np.int64], groups: NDArray, n: int) -> NDArray[np.int64]:
    """Return the sum of every group.

    Parameters
    ----------
    amounts : ndarray of int64
        What is added up.
    groups : ndarray of int
        Number of the group of every amount.
    n : int
        Number of groups.

    Returns
    -------
    ndarray of int64 of shape (n,)
        The sums.
    """
    sums = np.zeros(n, dtype=np.int64)
    _add_up(amounts, groups, sums)
    return sums


def class_totals(labels: NDArray[np.int64], weight: NDArray, n_classes: int) -> NDArray:
    """Return the total weight of every class.

    Parameters
    ----------
    labels : ndarray of int64
        Class numbers.
    weight : ndarray
        Weights, not negative.
    n_classes : int
        Number of classes.

    Returns
    -------
    ndarray of float64 of shape (n_classes,)
        The totals.
    """
    used = weight > 0
    if not used.all():
        labels, weight = labels[used], weight[used]
    unit = finest_unit(float(weight.max(initial=1e-300)), len(weight))
    return group_sums(as_whole(weight, unit), labels, n_classes) * unit
