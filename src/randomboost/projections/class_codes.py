"""Class codes: a sign, or 0, for every class.

A direction ``a`` that all classes share becomes a row of the class-wise matrices by a class code s:
``P^(r) = s_r a``. Codes are functions of the seed, so that a model stores none.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..runtime.random_stream import CODE_STREAM, uniforms

_N_CODES = 256
_ZEROS = 0.3  # share of the classes with a 0


def class_codes(seed: int, n_classes: int) -> NDArray[np.float64]:
    """Return the class codes of a seed.

    Parameters
    ----------
    seed : int
        Seed, 0 <= seed < 2**64.
    n_classes : int
        Number of classes k.

    Returns
    -------
    ndarray of shape (n_codes, n_classes)
        -1, 0 or +1 for every class; no code is 0 for all classes.
    """
    share = uniforms(seed, CODE_STREAM, _N_CODES, n_classes)
    codes = np.where(share < 0.5 * (1 - _ZEROS), 1.0, -1.0)
    codes[share >= 1 - _ZEROS] = 0.0
    empty = np.flatnonzero((codes == 0).all(axis=1))
    codes[empty, empty % n_classes] = 1.0
    return codes
