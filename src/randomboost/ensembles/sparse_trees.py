"""Trees with sparse vector leaves: a fitted ensemble whose cost does not grow with k."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..trees.sparse_leaves import Leaves


class SparseTree(NamedTuple):
    columns: NDArray[np.int32]
    thresholds: NDArray
    left: NDArray[np.int32]
    gains: NDArray[np.float32]
    leaves: Leaves


class SparseTrees:
    @classmethod
    def pack(cls, directions, trees, prior, state):
        self = cls()
        self.trees, self.prior, self.state, self.directions = list(trees), prior, state, directions
        return self

    def __iter__(self):
        return iter(self.trees)
