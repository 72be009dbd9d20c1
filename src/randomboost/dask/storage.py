"""Where a shard keeps its large arrays: in memory, or in files that are mapped into it.

Mapped files are not memory of the process: the system reads and drops their pages as it needs to.
"""

from __future__ import annotations

import math
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import dask
import numpy as np
from numpy.typing import NDArray

BLOCK_BYTES = 1 << 23  # of an array that are looked at together
RANGE_BYTES = 1 << 23  # of rows that are merged and put in order together
_TRIES = 20  # to remove a folder


@contextmanager
def fit_folder(where: bool | str) -> Iterator[str | None]:
    """Make a folder for the files of a fit, and remove it afterwards.

    Parameters
    ----------
    where : bool or str
        False for none; True for one in the folder that Dask is configured to use, or else in that
        of the system; or the folder in which to make it.

    Yields
    ------
    str or None
        The folder.
    """
    if where is False:
        yield None
        return
    parent = dask.config.get("temporary-directory", None) if where is True else where
    try:
        folder = tempfile.mkdtemp(prefix="randomboost-", dir=parent)
    except OSError as error:
        raise ValueError(
            f"out_of_core={parent!r}: no folder can be made there ({error.strerror}): pass a "
            "folder that exists and can be written to"
        ) from error
    try:
        yield folder
    finally:
        _remove(folder)


def _remove(folder: str) -> None:
    """Remove a folder into which tasks of an interrupted fit may still write a file."""
    for _ in range(_TRIES):
        shutil.rmtree(folder, ignore_errors=True)
        if not Path(folder).exists():
            return
        time.sleep(0.1)


class FileRows(NamedTuple):
    """Rows in a file that tasks pass on by its name.

    Parameters
    ----------
    path : str
        The file.
    shape : tuple of int
        Numbers of rows and columns.
    dtype : dtype
        Type of the numbers.
    """

    path: str
    shape: tuple[int, int]
    dtype: np.dtype

    @classmethod
    def of(cls, values: NDArray, folder: str) -> FileRows:
        """Write rows to a new file in a folder."""
        handle, path = tempfile.mkstemp(dir=folder, suffix=".rows")
        with os.fdopen(handle, "wb") as file:
            np.ascontiguousarray(values).tofile(file)
        return cls(path, values.shape, values.dtype)

    def read(self, first: int, last: int) -> NDArray:
        """Return some rows."""
        width = self.shape[1]
        count, skipped = (last - first) * width, first * width * self.dtype.itemsize
        found = np.fromfile(self.path, self.dtype, count=count, offset=skipped)
        return found.reshape(last - first, width)


def remove_rows(folder: str) -> None:
    """Remove the files of rows from a folder.

    Parameters
    ----------
    folder : str
        The folder.
    """
    for path in Path(folder).glob("*.rows"):
        path.unlink(missing_ok=True)


class Storage:
    """Makes the large arrays of a shard.

    Parameters
    ----------
    folder : str or None
        Folder of the files; None to keep the arrays in memory.
    """

    def __init__(self, folder: str | None) -> None:
        self._folder = folder

    @property
    def on_disk(self) -> bool:
        """Whether arrays are in files."""
        return self._folder is not None

    def empty(self, shape: tuple[int, ...], dtype: Any) -> NDArray:
        """Return a new array; its file is removed with it, also where the process is killed.

        Parameters
        ----------
        shape : tuple of int
            Its shape.
        dtype : dtype
            Its type.

        Returns
        -------
        ndarray
            The array.
        """
        if self._folder is None or not all(shape):
            return np.empty(shape, dtype=dtype)
        handle, path = tempfile.mkstemp(dir=self._folder, suffix=".array")
        n_bytes = math.prod(shape) * np.dtype(dtype).itemsize
        try:
            if hasattr(os, "posix_fallocate"):  # a full disk would end the process later
                os.posix_fallocate(handle, 0, n_bytes)
        except OSError as error:
            raise OSError(
                f"out_of_core: a file of {n_bytes / 1e9:.3g} GB cannot be made in {self._folder} "
                f"({error.strerror}): make room there, or pass another folder as out_of_core"
            ) from error
        finally:
            os.close(handle)
        found = np.asarray(np.memmap(path, dtype=dtype, mode="w+", shape=shape))
        with suppress(OSError):  # where it is not allowed, the folder is removed after the fit
            Path(path).unlink()  # it stays readable as long as it is mapped
        return found

    def blocks(self, array: NDArray) -> Iterator[slice]:
        """Yield slices of rows: all of them at once in memory, at least one.

        Parameters
        ----------
        array : ndarray
            The array.

        Yields
        ------
        slice
            Rows.
        """
        step = max(1, len(array))
        if self._folder is not None:
            each = array.nbytes // step
            step = max(1, BLOCK_BYTES // max(1, each))
        for first in range(0, max(1, len(array)), step):
            yield slice(first, min(first + step, len(array)))

    def made(self, array: NDArray, function: Callable[[slice], NDArray]) -> NDArray:
        """Return what a function makes of the rows of an array.

        Parameters
        ----------
        array : ndarray
            The array.
        function : callable
            Returns as many rows as there are in a slice; those of a row depend on no other one.

        Returns
        -------
        ndarray
            All of them.
        """
        if self._folder is None:
            return function(slice(0, len(array)))
        out: NDArray | None = None
        for rows in self.blocks(array):
            found = function(rows)
            if out is None:
                out = self.empty((len(array), *found.shape[1:]), found.dtype)
            out[rows] = found
        assert out is not None
        return out

    def chosen(self, array: NDArray, which: NDArray | slice) -> NDArray:
        """Return some rows of an array: those of numbers or flags, or all of them.

        Parameters
        ----------
        array : ndarray
            The array.
        which : ndarray or slice
            The rows.

        Returns
        -------
        ndarray
            The rows.
        """
        if self._folder is None or isinstance(which, slice):
            return array[which]
        numbers = np.flatnonzero(which) if which.dtype == bool else which
        out = self.empty((len(numbers), *array.shape[1:]), array.dtype)
        for rows in self.blocks(out):
            out[rows] = array[numbers[rows]]
        return out
