"""Weak classifiers as arrays, in the smallest types that hold them, and back, all checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..runtime.checked_arrays import (
    Arrays,
    ModelFileError,
    Taken,
    floats,
    ints,
    need,
    need_tree,
    pieces,
)
from .hypotheses import Combination, FittedEstimator, SmallTree, Stump

_SMALL_TREE = tuple(SmallTree.__dataclass_fields__)


def _pack_stumps(stumps: Sequence[Stump]) -> Arrays:
    arrays = {
        "stumps.columns": ints([stump.column for stump in stumps]),
        "stumps.thresholds": floats([stump.threshold for stump in stumps]),
        "stumps.left": floats([stump.left for stump in stumps]),
        "stumps.right": floats([stump.right for stump in stumps]),
    }
    mixes = [stump.combination for stump in stumps if stump.combination is not None]
    if mixes:
        arrays["mixes.sizes"] = ints([len(mix.columns) for mix in mixes])
        arrays["mixes.columns"] = ints(np.concatenate([mix.columns for mix in mixes]))
        arrays["mixes.coefficients"] = floats(np.concatenate([mix.coefficients for mix in mixes]))
    return arrays


def _unpack_stumps(taken: Taken, n_columns: int) -> list[Stump]:
    columns = taken.whole("stumps.columns", np.int32, None)
    size = len(columns)
    thresholds = taken.real("stumps.thresholds", size, finite=False)
    left, right = taken.real("stumps.left", size), taken.real("stumps.right", size)
    need(((columns >= -1) & (columns < n_columns)).all(), "a stump looks at no column")
    mixed = np.flatnonzero(columns < 0)
    mixes: dict[int, Combination] = {}
    if len(mixed):
        sizes = taken.whole("mixes.sizes", np.int64, len(mixed))
        which = taken.whole("mixes.columns", np.int64, None)
        values = taken.real("mixes.coefficients", len(which))
        need(((which >= 0) & (which < n_columns)).all(), "a combination looks at no column")
        need((sizes > 0).all(), "a combination is empty")
        for t, part in zip(mixed, pieces(sizes, len(which), "combinations"), strict=True):
            mixes[int(t)] = Combination(which[part], values[part])
    return [
        Stump(int(c), float(cut), float(low), float(high), mixes.get(t))
        for t, (c, cut, low, high) in enumerate(zip(columns, thresholds, left, right, strict=True))
    ]


def _pack_small_trees(weak: Sequence[FittedEstimator]) -> Arrays:
    for one in weak:
        if not isinstance(one.estimator, SmallTree):
            raise ModelFileError(
                f"weak classifiers of type {type(one.estimator).__name__} cannot be saved in this "
                "format, which holds stumps and trees: use pickle or skops"
            )
    trees = [one.estimator for one in weak]
    arrays = {
        "small.seen": ints([len(one.columns) for one in weak]),
        "small.columns": ints(np.concatenate([one.columns for one in weak])),
        "small.outputs": floats([(one.negative, one.positive) for one in weak]),
        "small.sizes": ints([len(tree.features) for tree in trees]),
    }
    for name in _SMALL_TREE:
        values = np.concatenate([getattr(tree, name) for tree in trees])
        arrays[f"small.{name}"] = ints(values) if values.dtype.kind == "i" else floats(values)
    return arrays


def _unpack_small_trees(taken: Taken, n_columns: int) -> list[FittedEstimator]:
    sizes = taken.whole("small.sizes", np.int64, None)
    need((sizes > 0).all(), "a tree has no node")
    features = taken.whole("small.features", np.int32, None)
    n_nodes = len(features)
    fields = {
        "features": features,
        "left": taken.whole("small.left", np.int32, n_nodes),
        "right": taken.whole("small.right", np.int32, n_nodes),
        "thresholds": taken.real("small.thresholds", n_nodes, finite=False),
        "values": taken.real("small.values", n_nodes),
        "gains": taken.real("small.gains", n_nodes),
    }
    seen = taken.whole("small.seen", np.int64, len(sizes))
    columns = taken.whole("small.columns", np.int64, None)
    need(((columns >= 0) & (columns < n_columns)).all(), "a tree looks at no column")
    outputs = taken.real("small.outputs", len(sizes), 2)
    found = []
    nodes = pieces(sizes, n_nodes, "trees")
    for place, (part, own) in enumerate(
        zip(nodes, pieces(seen, len(columns), "the columns of trees"), strict=True)
    ):
        tree = SmallTree(**{name: values[part] for name, values in fields.items()})
        need_tree(tree.features >= 0, tree.left, tree.right)
        need((tree.features < own.stop - own.start).all(), "a tree looks at no column")
        negative, positive = outputs[place]
        found.append(FittedEstimator(columns[own], tree, float(negative), float(positive)))
    return found


def hypotheses_to_arrays(weak: Sequence[Any]) -> Arrays:
    """Return stumps and fitted decision trees, in any order, as arrays.

    Parameters
    ----------
    weak : sequence of Stump or FittedEstimator
        The weak classifiers.

    Returns
    -------
    dict of str to ndarray
        What `hypotheses_from_arrays` takes.
    """
    stumps = [one for one in weak if isinstance(one, Stump)]
    others = [one for one in weak if not isinstance(one, Stump)]
    arrays = _pack_stumps(stumps)
    if others:
        arrays |= _pack_small_trees(others)
        arrays["are_trees"] = np.array([not isinstance(one, Stump) for one in weak])
    return arrays


def hypotheses_from_arrays(taken: Taken, n_columns: int) -> list[Any]:
    """Return the weak classifiers of a file.

    Parameters
    ----------
    taken : Taken
        The arrays.
    n_columns : int
        Number of columns (features or projected dimensions) that they may look at.

    Returns
    -------
    list
        The weak classifiers.
    """
    stumps = _unpack_stumps(taken, n_columns)
    if "are_trees" not in taken:
        return stumps
    kinds = taken.flags("are_trees")
    trees = _unpack_small_trees(taken, n_columns)
    fits = len(kinds) == len(stumps) + len(trees) and kinds.sum() == len(trees)
    need(fits, "the kinds of the weak classifiers do not add up")
    each = {False: iter(stumps), True: iter(trees)}
    return [next(each[bool(kind)]) for kind in kinds]
