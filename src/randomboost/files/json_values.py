"""Labels, names and parameters as JSON, without loss of type."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..runtime.checked_arrays import ModelFileError

_PLAIN = (str, bool, int, float)
_MOST_BYTES = 1 << 28  # of an array of strings, each as long as the longest


class NotSaved:
    """Placeholder in a loaded model for a parameter that was an object, which files do not hold.

    Parameters
    ----------
    name : str
        What it was.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"NotSaved({self.name!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NotSaved) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)


def encode(value: Any) -> Any:
    """Return a plain value as JSON.

    Parameters
    ----------
    value : object
        None, str, bool, number, list, tuple or dict (with any plain keys) of them. NumPy's scalars
        become Python's.

    Returns
    -------
    object
        What `decode` turns back into the value.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return {"float": repr(value)}
    if value is None or isinstance(value, _PLAIN):
        return value
    if isinstance(value, list | tuple):
        name = "list" if isinstance(value, list) else "tuple"
        return {name: [encode(item) for item in value]}
    if isinstance(value, dict):
        return {"dict": [[encode(key), encode(item)] for key, item in value.items()]}
    return {"object": type(value).__name__}


def decode(value: Any) -> Any:
    """Return the value that `encode` was given; objects become `NotSaved`.

    Parameters
    ----------
    value : object
        JSON.

    Returns
    -------
    object
        The value.
    """
    if value is None or isinstance(value, _PLAIN):
        return value
    if isinstance(value, dict) and len(value) == 1:
        ((kind, content),) = value.items()
        if kind == "float" and content in ("nan", "inf", "-inf"):
            return float(content)
        if kind == "object" and isinstance(content, str):
            return NotSaved(content)
        if kind in ("list", "tuple") and isinstance(content, list):
            items = [decode(item) for item in content]
            return items if kind == "list" else tuple(items)
        if kind == "dict" and isinstance(content, list) and all(map(_is_pair, content)):
            return {decode(key): decode(item) for key, item in content}
    raise ModelFileError(f"the model file is damaged: {str(value)[:60]} stands for no value")


def _is_pair(item: Any) -> bool:
    return (
        isinstance(item, list)
        and len(item) == 2
        and (item[0] is None or isinstance(item[0], _PLAIN))
    )


def encode_labels(labels: NDArray) -> dict[str, Any]:
    """Return an array of labels or names as JSON.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        Numbers, booleans, strings, or objects of those types.

    Returns
    -------
    dict
        Its dtype and values.
    """
    values = labels.tolist()
    if labels.dtype.kind not in "OUbiuf" or not all(isinstance(v, _PLAIN) for v in values):
        raise ModelFileError(
            f"labels of type {type(values[0]).__name__} (dtype {labels.dtype}) cannot be saved: "
            "use strings or numbers, or pickle the model"
        )
    kind = labels.dtype.kind
    return {"dtype": {"O": "object", "U": "str"}.get(kind, labels.dtype.name), "values": values}


def decode_labels(labels: Any) -> NDArray:
    """Return the array that `encode_labels` was given.

    Parameters
    ----------
    labels : object
        JSON.

    Returns
    -------
    ndarray
        The labels.
    """
    try:
        kind, values = labels["dtype"], labels["values"]
        known = kind in ("object", "str", "bool") or np.dtype(kind).kind in "iuf"
        plain = isinstance(values, list) and all(isinstance(value, _PLAIN) for value in values)
        if (
            not known
            or not plain
            or (kind == "str" and not all(isinstance(v, str) for v in values))
        ):
            raise TypeError("no labels")
        if kind == "str" and 4 * len(values) * max(map(len, values), default=0) > _MOST_BYTES:
            raise ValueError("strings of very different lengths")
        return np.array(values, dtype=kind)
    except (TypeError, KeyError, ValueError, OverflowError) as error:
        raise ModelFileError("the model file is damaged: its labels cannot be read") from error
