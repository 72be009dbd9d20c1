"""One tree with sparse vector leaves, and many of them in common arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..trees.leaves import Leaves


class SparseTree(NamedTuple):
    """One tree.

    Parameters
    ----------
    columns : ndarray of int32 of shape (n_nodes,)
        Direction of every split, -1 for a leaf.
    thresholds : ndarray of float64
        Cuts; larger values go right.
    left : ndarray of int32
        Left child of every split, -1 for a leaf; the right child comes next to it.
    gains : ndarray of float32
        What every split gained in training.
    leaves : Leaves
        Vectors of the leaves, in the order of the nodes.
    """

    columns: NDArray[np.int32]
    thresholds: NDArray
    left: NDArray[np.int32]
    gains: NDArray[np.float32]
    leaves: Leaves

    def scaled(self, factor: np.float32) -> SparseTree:
        """Return the tree with its values multiplied, exactly if by a power of two."""
        unit = np.float32(self.leaves.unit * factor)
        return self._replace(leaves=self.leaves._replace(unit=unit))


def packed(trees: Sequence[SparseTree], n_directions: int) -> dict[str, NDArray]:
    """Return trees in common arrays, tree after tree.

    Parameters
    ----------
    trees : sequence of SparseTree
        The trees, one at least.
    n_directions : int
        Number of directions.

    Returns
    -------
    dict of str to ndarray
        Fields of `SparseTrees`.
    """
    sizes = [len(tree.columns) for tree in trees]
    short = np.int16 if max(max(sizes), n_directions) < 2**15 else np.int32
    counts = np.concatenate([np.diff(tree.leaves.starts) for tree in trees])
    return {
        "starts": np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        "columns": np.concatenate([tree.columns for tree in trees]).astype(short),
        "thresholds": np.concatenate([tree.thresholds for tree in trees]),
        "left": np.concatenate([tree.left for tree in trees]).astype(short),
        "gains": np.concatenate([tree.gains for tree in trees]),
        "leaf_starts": np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        "classes": np.concatenate([tree.leaves.classes for tree in trees]),
        "steps": np.concatenate([tree.leaves.steps for tree in trees]),
        "units": np.array([tree.leaves.unit for tree in trees], dtype=np.float32),
        "covers": np.concatenate([tree.leaves.covers for tree in trees]),
    }
