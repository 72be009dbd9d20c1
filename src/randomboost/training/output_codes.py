"""Output codes of AdaBoost.MO: which dichotomies of the classes are boosted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def complete_code(n_classes: int) -> NDArray:
    """Return all 2^(k-1) - 1 dichotomies of k classes.

    Parameters
    ----------
    n_classes : int
        Number of classes k.

    Returns
    -------
    ndarray of shape (n_classes, 2^(k-1) - 1)
        -1 and +1; the first class is always +1.
    """
    numbers = np.arange(2 ** (n_classes - 1) - 1)
    bits = (numbers[None, :] >> np.arange(n_classes - 1)[:, None]) & 1
    return np.vstack([np.ones(len(numbers)), 2.0 * bits - 1.0])


def random_code(n_classes: int, size: int, rng: np.random.Generator) -> NDArray:
    """Return distinct random dichotomies, as many as asked for where there are so many.

    Parameters
    ----------
    n_classes : int
        Number of classes.
    size : int
        Number of dichotomies.
    rng : numpy.random.Generator
        Draws them.

    Returns
    -------
    ndarray of shape (n_classes, at most size)
        -1 and +1; the first class is always +1.
    """
    if n_classes <= 20 and 2 ** (n_classes - 1) - 1 <= 4 * size:
        code = complete_code(n_classes)
        return code[:, np.sort(rng.permutation(code.shape[1])[:size])]
    code = np.empty((n_classes, 0))
    while code.shape[1] < size:
        drawn = rng.choice([-1.0, 1.0], (n_classes, size))
        drawn[0] = 1.0
        code = np.unique(np.hstack([code, drawn]), axis=1)
        code = code[:, np.abs(code.sum(axis=0)) < n_classes]
    return code[:, np.sort(rng.permutation(code.shape[1])[:size])]
