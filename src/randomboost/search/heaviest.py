"""The heaviest points, found without sorting: weights in buckets of a quarter octave."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..runtime.compiling import kernel

N_BUCKETS = 2048
_SHIFT = 21  # keeps the exponent and two bits of the fraction of a float32


@kernel
def add_masses(sizes: NDArray, masses: NDArray) -> NDArray[np.uint32]:
    """Add sizes (float32, >= 0) to the masses of their buckets; return the bucket of every size."""
    buckets = sizes.view(np.uint32) >> np.uint32(_SHIFT)
    for i in range(len(sizes)):
        masses[buckets[i]] += sizes[i]
    return buckets


@kernel
def first_heavy(masses: NDArray, spared: float) -> int:
    """First bucket that is not among the lightest: those below it weigh at most `spared`."""
    first = 0
    left_out = 0.0
    while first < N_BUCKETS - 1 and left_out + masses[first] <= spared:
        left_out += masses[first]
        first += 1
    return first


@kernel
def heavy_from(sizes: NDArray, spared: float) -> tuple[NDArray[np.uint32], int]:
    """Bucket of every size (float32, >= 0), and the first bucket not among the lightest."""
    masses = np.zeros(N_BUCKETS)
    buckets = add_masses(sizes, masses)
    return buckets, first_heavy(masses, spared)


def min_size(bucket: int) -> np.float32:
    """Return the smallest size in a bucket.

    Parameters
    ----------
    bucket : int
        Number of the bucket.

    Returns
    -------
    numpy.float32
        Sizes from here on are in this bucket or a heavier one.
    """
    return np.array([bucket << _SHIFT], np.uint32).view(np.float32)[0]
