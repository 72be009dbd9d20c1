"""Which points carry the weight: sizes in buckets of a quarter octave, found without sorting."""

from __future__ import annotations

import numpy as np

from ..compiling import kernel


@kernel
def heavy_from(sizes, spared):
    """Bucket of every size, and the first bucket that is not among the lightest.

    The sizes (float32, >= 0) in the buckets below that one add up to at most `spared`.
    """
    buckets = sizes.view(np.uint32) >> np.uint32(21)  # exponent and two bits of the fraction
    masses = np.zeros(2048)
    for i in range(len(sizes)):
        masses[buckets[i]] += sizes[i]
    first = 0
    left_out = 0.0
    while first < 2047 and left_out + masses[first] <= spared:
        left_out += masses[first]
        first += 1
    return buckets, first
