"""The weights after every round of a totally corrective fit, in files."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..runtime.checked_arrays import Arrays, Taken, ints, need, pieces


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


def path_from_arrays(taken: Taken, expected: Sequence[int]) -> list[NDArray]:
    """Return the weights after every round; none where the file has none.

    Parameters
    ----------
    taken : Taken
        The arrays.
    expected : sequence of int
        How many weights there must be after every round.

    Returns
    -------
    list of ndarray
        The weights.
    """
    if "path.sizes" not in taken:
        return []
    sizes = taken.whole("path.sizes", np.int64, len(expected))
    need(np.array_equal(sizes, expected), "a round has too many or too few weights")
    values = taken.real("path.weights", None)
    return [values[part] for part in pieces(sizes, len(values), "the weights by round")]
