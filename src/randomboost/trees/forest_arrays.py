"""Trees as arrays, in the smallest types that hold them, and back, all checked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..projections.class_codes import N_CODES
from ..runtime.checked_arrays import Arrays, Taken, floats, ints, need, need_tree, pieces
from .forest import Tree


def forest_to_arrays(trees: Sequence[Tree]) -> Arrays:
    """Return trees as arrays.

    Parameters
    ----------
    trees : sequence of Tree
        The trees.

    Returns
    -------
    dict of str to ndarray
        What `forest_from_arrays` takes.
    """
    columns = np.concatenate([tree.columns for tree in trees])
    split = columns >= 0

    def of(name: str, where: NDArray) -> NDArray:
        return np.concatenate([getattr(tree, name) for tree in trees])[where]

    return {
        "forest.sizes": ints([len(tree.columns) for tree in trees]),
        "forest.splits": np.packbits(split),
        "forest.columns": ints(columns[split]),
        "forest.codes": ints(of("codes", split)),
        "forest.left": ints(of("left", split)),
        "forest.thresholds": floats(of("thresholds", split)),
        "forest.gains": of("gains", split).astype(np.float32),
        "forest.values": of("values", ~split).astype(np.float32),
    }


def forest_from_arrays(taken: Taken, n_columns: int) -> list[Tree]:
    """Return the trees of a file.

    Parameters
    ----------
    taken : Taken
        The arrays.
    n_columns : int
        Number of directions that they may look at.

    Returns
    -------
    list of Tree
        The trees.
    """
    sizes = taken.whole("forest.sizes", np.int64, None)
    need(len(sizes) and (sizes > 0).all(), "a tree has no node")
    bits = taken.whole("forest.splits", np.uint8, None)
    need((sizes <= 8 * len(bits)).all(), "the sizes of trees do not add up")
    total = int(sizes.sum())
    need(len(bits) == -(-total // 8), "the sizes of trees do not add up")
    split = np.unpackbits(bits, count=total).astype(bool)
    n_splits = int(split.sum())

    def spread(values: NDArray, where: NDArray, filler: float) -> NDArray:
        out = np.full(total, filler, dtype=values.dtype)
        out[where] = values
        return out

    columns = taken.whole("forest.columns", np.int32, n_splits)
    codes = taken.whole("forest.codes", np.int32, n_splits)
    left = taken.whole("forest.left", np.int32, n_splits)
    need(((columns >= 0) & (columns < n_columns)).all(), "a tree looks at no direction")
    need(((codes >= 0) & (codes < N_CODES)).all(), "a split has no code")
    gains = taken.real("forest.gains", n_splits, finite=False).astype(np.float32)
    values = taken.real("forest.values", total - n_splits).astype(np.float32)
    nodes = (
        spread(columns, split, -1),
        spread(codes, split, -1),
        spread(taken.real("forest.thresholds", n_splits, finite=False), split, 0.0),
        spread(left, split, -1),
        spread(values, ~split, 0.0),
        spread(gains, split, 0.0),
    )
    trees = []
    for part in pieces(sizes, total, "trees"):
        tree = Tree(*(array[part] for array in nodes))
        left = tree.left.astype(np.int64)
        need_tree(tree.columns >= 0, left, left + 1)
        trees.append(tree)
    return trees
