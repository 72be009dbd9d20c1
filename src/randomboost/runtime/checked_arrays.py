"""Arrays on their way into and out of model files: compact types, and checks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray]


class ModelFileError(ValueError):
    """A file is damaged, no model file or of a later version, or a model cannot be saved."""


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

    def single(self, name: str, *shape: int | None) -> NDArray[np.float32]:
        """Return finite numbers as float32."""
        array = self.real(name, *shape)
        with np.errstate(over="ignore"):
            short = array.astype(np.float32)
        need(np.isfinite(short).all(), f"{name!r} has numbers that are too large")
        return short

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


def need_tree(inner: NDArray[np.bool_], left: NDArray, right: NDArray) -> None:
    """Raise where nodes are no tree whose children come after their parents.

    Parameters
    ----------
    inner : ndarray of bool of shape (n_nodes,)
        Which nodes have children; the first one is the root.
    left, right : ndarray of whole numbers of shape (n_nodes,)
        The children of those.
    """
    parents = np.flatnonzero(inner)
    children = np.concatenate([left[inner], right[inner]]).astype(np.int64)
    fine = (children > np.concatenate([parents, parents])).all()
    need(fine and len(children) == len(inner) - 1, "a node of a tree has no child")
    need(np.array_equal(np.sort(children), np.arange(1, len(inner))), "a node has two parents")


def pieces(sizes: NDArray[np.int64], total: int, what: str) -> list[slice]:
    """Return the parts that sizes cut a whole into.

    Parameters
    ----------
    sizes : ndarray of int64
        Sizes of the parts.
    total : int
        Size of the whole.
    what : str
        What has these sizes, for the error.

    Returns
    -------
    list of slice
        The parts.
    """
    need((sizes >= 0).all(), f"sizes of {what} are negative")
    need((sizes <= total).all(), f"sizes of {what} do not add up")  # nor does their sum overflow
    ends = np.cumsum(sizes, dtype=np.int64)
    need((int(ends[-1]) if len(ends) else 0) == total, f"sizes of {what} do not add up")
    return [slice(int(end - size), int(end)) for end, size in zip(ends, sizes, strict=True)]
