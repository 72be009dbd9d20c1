"""Sparse trees as the arrays of a model file, and back, after checks; as tables of exports."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..projections.directions import Directions
from ..runtime.checked_arrays import Arrays, Taken, floats, ints, need, need_tree, pieces
from .base import ModelShape
from .plain_tables import PlainTables, TreeTable

_STATE = ("due", "earned", "tries", "known", "usual")  # rows of a trainer's state


def trees_to_arrays(trees: Any) -> Arrays:
    """Return the arrays of trees by the names that files give them.

    Parameters
    ----------
    trees : SparseTrees
        The trees.

    Returns
    -------
    dict of str to ndarray
        The arrays; of nodes only those of splits.
    """
    split = trees.columns >= 0
    return {
        "trees.sizes": ints(np.diff(trees.starts)),
        "trees.splits": np.packbits(split),
        "trees.columns": ints(trees.columns[split]),
        "trees.left": ints(trees.left[split]),
        "trees.thresholds": floats(trees.thresholds[split]),
        "trees.gains": trees.gains[split].astype(np.float32),
        "leaves.sizes": ints(np.diff(trees.leaf_starts)),
        "leaves.classes": ints(trees.classes),
        "leaves.steps": trees.steps,
        "leaves.units": trees.units,
        "leaves.covers": trees.covers,
        "prior": floats(trees.prior),
        "state": trees.state,
    }


def _split_flags(taken: Taken, sizes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which nodes of a file's trees are splits."""
    bits = taken.whole("trees.splits", np.uint8, None)
    fine = (sizes > 0).all() and (sizes <= 8 * len(bits)).all()
    need(fine and len(bits) == -(-int(sizes.sum()) // 8), "the sizes of trees do not add up")
    return np.unpackbits(bits, count=int(sizes.sum())).astype(bool)


def _spread(values: NDArray, where: NDArray[np.bool_], filler: float) -> NDArray:
    """Return values in their places, the filler in all others."""
    out = np.full(len(where), filler, dtype=values.dtype)
    out[where] = values
    return out


def trees_from_arrays(
    taken: Taken, directions: Directions, n_members: int, shape: ModelShape
) -> dict[str, NDArray]:
    """Return the fields of the trees that `trees_to_arrays` was given.

    Parameters
    ----------
    taken : Taken
        The arrays of a file.
    directions : Directions
        The directions.
    n_members : int
        Number of trees of a round.
    shape : ModelShape
        The sizes of the model.

    Returns
    -------
    dict of str to ndarray
        What `SparseTrees` has beside the directions.
    """
    n_trees = shape.n_rounds * n_members
    sizes = taken.whole("trees.sizes", np.int64, n_trees)
    split = _split_flags(taken, sizes)
    n_splits = int(split.sum())
    n_leaves = len(split) - n_splits
    columns = taken.whole("trees.columns", np.int32, n_splits)
    fine = ((columns >= 0) & (columns < len(directions))).all()
    need(fine, "a tree looks at no direction")
    thresholds = taken.real("trees.thresholds", n_splits, finite=False)
    gains = taken.real("trees.gains", n_splits, finite=False).astype(np.float32)
    left = _spread(taken.whole("trees.left", np.int32, n_splits), split, -1)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    for first, last in itertools.pairwise(starts):
        need_tree(split[first:last], left[first:last], left[first:last] + 1)
    counts = taken.whole("leaves.sizes", np.int64, n_leaves)
    classes = taken.whole("leaves.classes", np.int64, None)
    pieces(counts, len(classes), "leaves")
    fine = ((classes >= 0) & (classes < shape.n_classes)).all()
    need(fine, "a leaf has a value for no class")
    covers = taken.whole("leaves.covers", np.uint16, n_leaves)
    need(covers.all(), "a leaf has no training sample")
    return {
        "starts": starts,
        "columns": _spread(columns, split, -1),
        "thresholds": _spread(thresholds, split, 0.0),
        "left": left,
        "gains": _spread(gains, split, 0.0),
        "leaf_starts": np.concatenate([[0], np.cumsum(counts)]),
        "classes": classes.astype(np.uint16 if shape.n_classes <= 2**16 else np.uint32),
        "steps": taken.whole("leaves.steps", np.int16, len(classes)),
        "units": taken.single("leaves.units", n_trees),
        "covers": covers,
        "prior": taken.single("prior", shape.n_classes),
        "state": taken.real("state", n_members, len(_STATE), len(directions.counts)),
    }


def tree_tables(trees: Any, shape: ModelShape) -> PlainTables:
    """Return trees as the tables that exports write.

    Parameters
    ----------
    trees : SparseTrees
        The trees.
    shape : ModelShape
        The sizes of the model.

    Returns
    -------
    PlainTables
        The trees with their vector leaves.
    """
    split = trees.columns >= 0
    table = TreeTable(
        trees.starts,
        np.where(split, trees._places, -1).astype(np.int64),
        trees.thresholds.astype(shape.dtype),
        trees.left.astype(np.int64),
        np.zeros(len(split), dtype=np.float32),
        leaf_starts=trees.leaf_starts.astype(np.int64),
        leaf_classes=trees.classes.astype(np.int64),
        leaf_values=trees._values,
        leaf_steps=trees.steps,
        leaf_units=trees.units,
    )

    def rows(numbers: NDArray[np.int64]) -> Any:
        return trees.directions.rows(trees._used[numbers]).astype(shape.dtype)

    values: dict[str, Any] = {"n_values": len(trees._used), "rows": rows}
    return PlainTables(None, table, n_views=1, **values, votes=None, baseline=trees.prior)
