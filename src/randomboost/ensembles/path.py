"""The weights after every round of a totally corrective fit, in files."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..runtime.checked_arrays import Arrays, Taken, ints, need


def path_to_arrays(path: Sequence[NDArray]) -> Arrays:
    """Return the weights after every round as arrays.

    Parameters
    ----------
    path : sequence of ndarray
        The weights.

    Returns
    -------
    dict of str to ndarray
        What `path_from_arrays` takes.
    """
    return {
        "path.sizes": ints([len(part) for part in path]),
        "path.weights": np.concatenate([np.ravel(part) for part in path]),
    }


def path_from_arrays(taken: Taken, n_rounds: int) -> list[NDArray]:
    """Return the weights after every round; none where the file has none.

    Parameters
    ----------
    taken : Taken
        The arrays.
    n_rounds : int
        Number of rounds.

    Returns
    -------
    list of ndarray
        The weights.
    """
    if "path.sizes" not in taken:
        return []
    sizes = taken.whole("path.sizes", np.int64, n_rounds)
    values = taken.real("path.weights", None)
    need((sizes >= 0).all() and sizes.sum() == len(values), "its weights by round do not add up")
    return np.split(values, np.cumsum(sizes)[:-1])
