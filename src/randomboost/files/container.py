"""The bytes of a model file: a short head, a JSON header, plain arrays, a checksum.

::

    8 bytes   the signature
    4 bytes   version of the format, unsigned, little-endian as all numbers here
    4 bytes   length of the header
    header    JSON in UTF-8: {"arrays": [{"name", "dtype", "shape"}, ...], ...}
    arrays    one after the other in that order, C order, little-endian
    32 bytes  SHA-256 of everything before

A reader allocates nothing that the length of the file does not cover, and runs no code from it.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..runtime.checked_arrays import ModelFileError
from ..runtime.writing import whole_file

SIGNATURE = b"\x93RBOOST\n"
VERSION = 1
_HEAD = struct.Struct("<8sII")
_CHECKSUM = 32
_MOST_DIMENSIONS = 3
_KINDS = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64"
_DTYPES = {name: np.dtype(name).newbyteorder("<") for name in _KINDS.split()}


def write(path: str | os.PathLike[str], header: dict[str, Any], arrays: Mapping[str, Any]) -> None:
    """Write a file as a whole or not at all.

    Parameters
    ----------
    path : path
        Where; a file that is there is replaced.
    header : dict
        What JSON can hold, without the key "arrays".
    arrays : mapping of str to ndarray
        Arrays of numbers.
    """
    listed, parts = [], []
    for name, array in arrays.items():
        kind = array.dtype.name
        listed.append({"name": name, "dtype": kind, "shape": list(array.shape)})
        parts.append(np.ascontiguousarray(array, dtype=_DTYPES[kind]).tobytes())
    text = json.dumps(
        {**header, "arrays": listed}, ensure_ascii=False, allow_nan=False, separators=(",", ":")
    ).encode()
    body = b"".join([_HEAD.pack(SIGNATURE, VERSION, len(text)), text, *parts])
    with whole_file(path) as draft:
        draft.write_bytes(body + hashlib.sha256(body).digest())


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray]]:
    """Return header and arrays of a file.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    tuple of (dict, dict of str to ndarray)
        The header without the key "arrays", and the arrays, which own their memory.

    Raises
    ------
    ModelFileError
        If the file is not whole and right.
    """
    with open(path, "rb") as file:
        data = file.read()
    return parse(data, f"{os.fspath(path)}")


def parse(data: bytes, name: str) -> tuple[dict[str, Any], dict[str, NDArray]]:
    """Return header and arrays of the content of a file.

    Parameters
    ----------
    data : bytes
        The content.
    name : str
        What to call it in an error.

    Returns
    -------
    tuple of (dict, dict of str to ndarray)
        As `read`.
    """
    if len(data) < _HEAD.size or data[: len(SIGNATURE)] != SIGNATURE:
        raise ModelFileError(f"{name} is not a model file of randomboost")
    _, version, length = _HEAD.unpack_from(data)
    if not 1 <= version <= VERSION:
        raise ModelFileError(
            f"{name} has format version {version}, this randomboost reads up to {VERSION}: "
            "install a newer randomboost"
        )
    end = len(data) - _CHECKSUM
    if hashlib.sha256(data[: max(end, 0)]).digest() != data[max(end, 0) :]:
        raise ModelFileError(f"{name} is damaged or cut: its checksum does not match")
    if _HEAD.size + length > end:
        raise ModelFileError(f"{name} is damaged: its header is longer than the file")
    try:
        header = json.loads(data[_HEAD.size : _HEAD.size + length], parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{name} is damaged: its header is no JSON ({error})") from error
    if not isinstance(header, dict):
        raise ModelFileError(f"{name} is damaged: its header is no object")
    arrays, place = {}, _HEAD.size + length
    for item in _listed(header.pop("arrays", None), name):
        kind, shape = _DTYPES[item["dtype"]], tuple(item["shape"])
        count = math.prod(shape)
        if count * kind.itemsize > end - place:
            raise ModelFileError(f"{name} is damaged: array {item['name']!r} goes past its end")
        array = np.frombuffer(data, kind, count, place).reshape(shape)
        arrays[item["name"]] = array.astype(kind.newbyteorder("="))
        place += count * kind.itemsize
    if place != end:
        raise ModelFileError(f"{name} is damaged: {end - place} bytes belong to no array")
    return header, arrays


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _listed(items: Any, name: str) -> list[dict[str, Any]]:
    """Check the list of the arrays."""
    if not isinstance(items, list):
        raise ModelFileError(f"{name} is damaged: its header lists no arrays")
    seen = set()
    for item in items:
        fine = (
            isinstance(item, dict)
            and set(item) == {"name", "dtype", "shape"}
            and isinstance(item["name"], str)
            and item["name"] not in seen
            and isinstance(item["dtype"], str)
            and item["dtype"] in _DTYPES
            and isinstance(item["shape"], list)
            and len(item["shape"]) <= _MOST_DIMENSIONS
            and all(type(size) is int and 0 <= size < 2**48 for size in item["shape"])
        )
        if not fine:
            raise ModelFileError(f"{name} is damaged: {str(item)[:80]} describes no array")
        seen.add(item["name"])
    return items
