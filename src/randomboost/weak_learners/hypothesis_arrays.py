"""Weak classifiers as arrays, in the smallest types that hold them, and back, all checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..files.container import ModelFileError
from ..projections.class_codes import N_CODES
from ..training.side_by_side import HypothesisRow, StumpRow
from ..trees.forest import Tree
from .hypotheses import Combination, FittedEstimator, SmallTree, Stump

Arrays = dict[str, NDArray]
_SMALL_TREE = tuple(SmallTree.__dataclass_fields__)


def need(condition: Any, what: str) -> None:
    """Raise where something in a file is not as it must be.

    Parameters
    ----------
    condition : object
        Whether it is.
    what : str
        What is wrong where it is not.
    """
    if not condition:
        raise ModelFileError(f"the model file is damaged: {what}")


def count(described: dict[str, Any], name: str, highest: int) -> int:
    """Return a whole number of a header, from 0 to `highest`.

    Parameters
    ----------
    described : dict
        The header or a part of it.
    name : str
        The key.
    highest : int
        Largest value.

    Returns
    -------
    int
        The number.
    """
    value = described.get(name)
    if type(value) is not int or not 0 <= value <= highest:
        raise ModelFileError(f"the model file is damaged: {name!r} is {str(value)[:40]}")
    return value


def ints(values: Any) -> NDArray:
    """Return whole numbers in the smallest type that holds them.

    Parameters
    ----------
    values : array-like
        The numbers.

    Returns
    -------
    ndarray
        The same.
    """
    values = np.asarray(values, dtype=np.int64)
    lowest, highest = (int(values.min()), int(values.max())) if values.size else (0, 0)
    for kind in (np.uint8, np.int8, np.uint16, np.int16, np.int32):
        if np.iinfo(kind).min <= lowest and highest <= np.iinfo(kind).max:
            return values.astype(kind)
    return values


def floats(values: Any) -> NDArray:
    """Return numbers as float32 where that loses nothing, else as float64.

    Parameters
    ----------
    values : array-like
        The numbers.

    Returns
    -------
    ndarray
        The same.
    """
    values = np.asarray(values, dtype=np.float64)
    with np.errstate(over="ignore"):
        short = values.astype(np.float32)
    return short if np.array_equal(short.astype(np.float64), values) else values


class Taken:
    """Hands out the arrays of a file by name, in the type and shape that is asked for.

    Parameters
    ----------
    arrays : dict of str to ndarray
        The arrays.
    """

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = arrays

    def __contains__(self, name: str) -> bool:
        return name in self._arrays

    def names(self, prefix: str) -> list[str]:
        """Return the names that begin so."""
        return [name for name in self._arrays if name.startswith(prefix)]

    def whole(self, name: str, kind: type, *shape: int | None) -> NDArray:
        """Return whole numbers; None in the shape stands for any size."""
        array = self._shaped(name, shape)
        need(array.dtype.kind in "iu", f"{name!r} is not of whole numbers")
        if array.size:
            limits = np.iinfo(kind)
            fits = int(array.min()) >= limits.min and int(array.max()) <= limits.max
            need(fits, f"{name!r} has numbers that are too large")
        return array.astype(kind)

    def real(self, name: str, *shape: int | None, finite: bool = True) -> NDArray:
        """Return numbers as float64."""
        array = self._shaped(name, shape).astype(np.float64)
        fine = np.isfinite(array).all() if finite else not np.isnan(array).any()
        need(fine, f"{name!r} has values that are not finite")
        return array

    def real_matrix(self, name: str) -> NDArray:
        """Return finite numbers of any shape."""
        need(name in self._arrays, f"it has no array {name!r}")
        return self.real(name, *self._arrays[name].shape)

    def real_or_missing(self, name: str) -> NDArray:
        """Return a row of numbers, some of which may be missing."""
        return self._shaped(name, (None,)).astype(np.float64)

    def flags(self, name: str) -> NDArray[np.bool_]:
        """Return a row of flags."""
        return self._shaped(name, (None,)).astype(bool)

    def _shaped(self, name: str, shape: tuple[int | None, ...]) -> NDArray:
        need(name in self._arrays, f"it has no array {name!r}")
        array = self._arrays[name]
        fits = array.ndim == len(shape) and all(
            wanted is None or wanted == size
            for wanted, size in zip(shape, array.shape, strict=True)
        )
        need(fits, f"{name!r} has shape {array.shape}")
        return array


def _pieces(sizes: NDArray[np.int64], total: int, what: str) -> list[slice]:
    """Return the parts that sizes cut a whole into."""
    ends = np.cumsum(sizes, dtype=np.int64)
    need(len(sizes) == 0 or (sizes >= 0).all(), f"sizes of {what} are negative")
    need((int(ends[-1]) if len(ends) else 0) == total, f"sizes of {what} do not add up")
    return [slice(int(end - size), int(end)) for end, size in zip(ends, sizes, strict=True)]


# -- stumps, small trees and estimators --------------------------------------------------------


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
        for t, part in zip(mixed, _pieces(sizes, len(which), "combinations"), strict=True):
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
    nodes = _pieces(sizes, n_nodes, "trees")
    for place, (part, own) in enumerate(
        zip(nodes, _pieces(seen, len(columns), "the columns of trees"), strict=True)
    ):
        tree = SmallTree(**{name: values[part] for name, values in fields.items()})
        order = np.arange(len(tree.features))
        inner = tree.features >= 0
        for child in (tree.left, tree.right):
            fine = (child[inner] > order[inner]) & (child[inner] < len(order))
            need(fine.all(), "a node of a tree has no child")
        need((tree.features < own.stop - own.start).all(), "a tree looks at no column")
        negative, positive = outputs[place]
        found.append(FittedEstimator(columns[own], tree, float(negative), float(positive)))
    return found


def _pack_list(weak: Sequence[Any]) -> Arrays:
    """Pack stumps and fitted estimators in any order."""
    stumps = [one for one in weak if isinstance(one, Stump)]
    others = [one for one in weak if not isinstance(one, Stump)]
    arrays = _pack_stumps(stumps)
    if others:
        arrays |= _pack_small_trees(others)
        arrays["are_trees"] = np.array([not isinstance(one, Stump) for one in weak])
    return arrays


def _unpack_list(taken: Taken, n_columns: int) -> list[Any]:
    stumps = _unpack_stumps(taken, n_columns)
    if "are_trees" not in taken:
        return stumps
    kinds = taken.flags("are_trees")
    trees = _unpack_small_trees(taken, n_columns)
    fits = len(kinds) == len(stumps) + len(trees) and kinds.sum() == len(trees)
    need(fits, "the kinds of the weak classifiers do not add up")
    each = {False: iter(stumps), True: iter(trees)}
    return [next(each[bool(kind)]) for kind in kinds]


# -- trees shared by all classes ---------------------------------------------------------------


def _pack_forest(trees: Sequence[Tree]) -> Arrays:
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


def _unpack_forest(taken: Taken, n_columns: int) -> list[Tree]:
    sizes = taken.whole("forest.sizes", np.int64, None)
    need(len(sizes) and (sizes > 0).all(), "a tree has no node")
    total = int(sizes.sum())
    bits = taken.whole("forest.splits", np.uint8, None)
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
    for part in _pieces(sizes, total, "trees"):
        tree = Tree(*(array[part] for array in nodes))
        inner = tree.columns >= 0
        order = np.arange(len(tree.columns))
        fine = (tree.left[inner] > order[inner]) & (tree.left[inner] + 1 < len(order))
        need(fine.all(), "a node of a tree has no child")
        trees.append(tree)
    return trees


# -- all of them -------------------------------------------------------------------------------


def pack(weak: Sequence[Any]) -> tuple[str, Arrays]:
    """Return the kind and the arrays of the weak classifiers of a model.

    Parameters
    ----------
    weak : sequence
        Weak classifiers by round, or rows of them.

    Returns
    -------
    tuple of (str, dict of str to ndarray)
        What `unpack` takes.
    """
    first = weak[0]
    if isinstance(first, Tree):
        return "forest", _pack_forest(weak)
    if isinstance(first, StumpRow):
        return "stump rows", {
            "rows.columns": ints(np.stack([row.columns for row in weak])),
            "rows.thresholds": floats(np.stack([row.thresholds for row in weak])),
            "rows.signs": np.stack([row.signs for row in weak]).astype(np.int8),
        }
    if isinstance(first, HypothesisRow):
        return "rows", _pack_list([member for row in weak for member in row.members()])
    return "list", _pack_list(weak)


def unpack(kind: str, taken: Taken, n_rounds: int, n_columns: int) -> list[Any]:
    """Return the weak classifiers of a model.

    Parameters
    ----------
    kind : str
        What `pack` said.
    taken : Taken
        The arrays.
    n_rounds : int
        Number of rounds.
    n_columns : int
        Number of columns (features or projected dimensions) that they may look at.

    Returns
    -------
    list
        The weak classifiers.
    """
    found: list[Any]
    if kind == "forest":
        found = _unpack_forest(taken, n_columns)
    elif kind == "stump rows":
        columns = taken.whole("rows.columns", np.int32, n_rounds, None)
        thresholds = taken.real("rows.thresholds", *columns.shape, finite=False)
        signs = taken.whole("rows.signs", np.int8, *columns.shape)
        need(((columns >= 0) & (columns < n_columns)).all(), "a stump looks at no column")
        found = list(map(StumpRow, columns, thresholds, signs))
    else:
        need(kind in ("rows", "list"), f"{kind[:40]!r} is no kind of weak classifiers")
        found = _unpack_list(taken, n_columns)
        if kind == "rows":
            need(n_rounds > 0 and len(found) % n_rounds == 0, "rows of different lengths")
            size = len(found) // n_rounds
            found = [HypothesisRow(found[size * t : size * (t + 1)]) for t in range(n_rounds)]
    need(len(found) == n_rounds and n_rounds > 0, "the number of rounds does not fit")
    return found
