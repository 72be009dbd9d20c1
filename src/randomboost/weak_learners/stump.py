"""Decision stumps, discrete and real-valued."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..runtime.compiling import kernel
from .hypotheses import Combination, Points, Stump

_TINY = float(np.finfo(np.float64).tiny)


@kernel(fastmath={"reassoc"})
def _side_sums(
    values: NDArray, threshold: float, weights: NDArray
) -> tuple[float, float, float, float]:
    """Sum up the weights and their absolute values below a threshold and above it."""
    left = 0.0
    left_mass = 0.0
    right = 0.0
    right_mass = 0.0
    for i in range(len(values)):
        above = weights[i] if values[i] > threshold else 0.0
        below = 0.0 if values[i] > threshold else weights[i]
        right += above
        right_mass += abs(above)
        left += below
        left_mass += abs(below)
    return left, left_mass, right, right_mass


class ColumnSearch(Protocol):
    """A search for the best cut (see `search`)."""

    points: Any

    def search(self, weights: NDArray, columns: NDArray[np.int64]) -> tuple[int, float] | None:
        """Return the column and the threshold with the largest absolute edge."""
        ...


def make_stump(
    points: Points,
    weights: NDArray,
    column: int,
    threshold: float,
    *,
    real: bool,
    combination: Combination | None = None,
    majority: bool = False,
) -> tuple[Stump, float]:
    """Return the stump of a cut, and its edge ``sum c h``.

    The outputs of a discrete stump are the signs with the larger edge; those of a real-valued one
    are (sum of c) / (sum of |c|) on either side, in [-1, 1].

    Parameters
    ----------
    points : Points
        The points.
    weights : ndarray of shape (n_points,)
        Signed weights c.
    column, threshold, combination
        The cut, as in `Stump`.
    real : bool
        Whether the outputs are real-valued.
    majority : bool
        The output of a side is the sign of its own sum, which may be the same on both.

    Returns
    -------
    tuple of (Stump, float)
        The stump and its edge.
    """
    values = Stump(column, threshold, 0.0, 1.0, combination).values(points)
    left_sum, left_mass, right_sum, right_mass = _side_sums(
        values, points.dtype.type(threshold), weights
    )
    if real:
        outputs = left_sum / max(left_mass, _TINY), right_sum / max(right_mass, _TINY)
    elif majority:
        outputs = (1.0 if left_sum > 0 else -1.0, 1.0 if right_sum > 0 else -1.0)
    else:
        outputs = (-1.0, 1.0) if right_sum >= left_sum else (1.0, -1.0)
    edge = outputs[0] * left_sum + outputs[1] * right_sum
    return Stump(column, threshold, *outputs, combination), edge


class StumpLearner:
    """Finds the stump with the largest edge over the given columns (rankWeak).

    Parameters
    ----------
    columns : SortedColumns or BinnedColumns
        The columns to search.
    real : bool
        Real-valued instead of discrete outputs, at the same cut: among outputs in [-1, 1] the
        discrete ones have the largest edge.
    gini : bool
        The cut with the lowest Gini impurity instead of the largest edge: the stump of a decision
        tree, whose sides may have the same output.
    """

    def __init__(self, columns: Any, *, real: bool = False, gini: bool = False) -> None:
        self._columns = columns
        self._search = columns.search_gini if gini else columns.search
        self._real = real
        self._gini = gini
        self.discrete = not real
        self.largest_edge = not gini

    def fit(
        self, weights: NDArray, columns: NDArray[np.int64], rng: np.random.Generator
    ) -> tuple[Stump, float] | None:
        """Return the best stump and its edge.

        Parameters
        ----------
        weights : ndarray of shape (n_points,)
            Signed weights, not all zero.
        columns : ndarray of int64
            Columns to search.
        rng : numpy.random.Generator
            Not used by stumps.

        Returns
        -------
        tuple of (Stump, float) or None
            None if all columns are constant.
        """
        found = self._search(weights, columns)
        if found is None:
            return None
        return make_stump(
            self._columns.points, weights, *found, real=self._real, majority=self._gini
        )
