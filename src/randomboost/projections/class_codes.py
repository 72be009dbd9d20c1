"""Class codes: which way every class goes at a split.

A split of a shared tree compares one value of a sample, ``a . x``, with a cut; the code of the
split says what that means for each class r: +1, the point (x, r) goes right where the value is
above the cut; -1, where it is not; 0, always left. As a row of the class-wise projections it is
``P^(r) = s_r a`` on samples shifted by the cut. Codes are functions of the seed, so that a model
stores only their numbers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..runtime.random_stream import CODE_STREAM, uniforms

LEFT, ABOVE, BELOW = 0, 1, 2
N_CODES = 256
_ZEROS = 0.3  # share of the classes that always go left


def class_codes(seed: int, n_classes: int) -> NDArray[np.uint8]:
    """Return the class codes of a seed.

    Parameters
    ----------
    seed : int
        Seed, 0 <= seed < 2**64.
    n_classes : int
        Number of classes k.

    Returns
    -------
    ndarray of uint8 of shape (N_CODES, n_classes)
        `LEFT`, `ABOVE` or `BELOW` for every class; no code is `LEFT` for all classes. A single
        class has one code, `ABOVE`.
    """
    if n_classes == 1:
        return np.full((1, 1), ABOVE, dtype=np.uint8)
    share = uniforms(seed, CODE_STREAM, N_CODES, n_classes)
    codes = np.where(share < 0.5 * (1 - _ZEROS), ABOVE, BELOW).astype(np.uint8)
    codes[share >= 1 - _ZEROS] = LEFT
    empty = np.flatnonzero((codes == LEFT).all(axis=1))
    codes[empty, empty % n_classes] = ABOVE
    return codes


def class_masks(codes: NDArray[np.uint8], first: int, last: int) -> NDArray[np.uint32]:
    """Return which classes of a range go right, as bits.

    Parameters
    ----------
    codes : ndarray of uint8 of shape (n, n_classes)
        Class codes.
    first, last : int
        The range, at most 32 classes.

    Returns
    -------
    ndarray of uint32 of shape (n, 2)
        The classes that go right below and above the cut; bit 0 stands for class `first`.
    """
    part = codes[:, first:last]
    bits = np.uint32(1) << np.arange(last - first, dtype=np.uint32)
    return np.stack([(part == BELOW) @ bits, (part == ABOVE) @ bits], axis=1).astype(np.uint32)
