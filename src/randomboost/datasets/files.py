"""Reading a data set from a file: CSV, NumPy, LIBSVM and ARFF."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_svmlight_file

from .dataset import DataFormError, Dataset

_CSV = (".csv.gz", ".csv")
_LIBSVM = ("", ".scale", "_scale", ".libsvm", ".svm")
_PACKED = ("", ".gz", ".bz2")


def find(name: str, folder: Path) -> Dataset | None:
    """Return a data set from a folder, or None.

    Parameters
    ----------
    name : str
        Name of the set; the file is called ``name.csv.gz``, ``name.csv``, ``name.npz``,
        ``name.arff``, or, as at LIBSVM, ``name``, ``name.scale`` or ``name_scale`` (``.t`` for the
        test part), possibly compressed by gzip or bzip2.
    folder : Path
        The folder.

    Returns
    -------
    Dataset or None
        The set.
    """
    readers: list[tuple[str, Callable[[str, Path], Dataset]]] = [
        *((ending, read_csv) for ending in _CSV),
        (".npz", read_npz),
        (".arff", read_arff),
        *((stem + packed, read_libsvm) for stem in _LIBSVM for packed in _PACKED),
    ]
    for ending, read in readers:
        path = folder / f"{name}{ending}"
        if path.is_file():
            try:
                return read(name, path)
            except (ValueError, KeyError, OSError) as error:
                raise DataFormError(
                    f"{path} cannot be read as data set {name!r}: {error}"
                ) from error
    return None


def forms(name: str) -> str:
    """Return the names and formats of the files that `find` reads, for messages.

    Parameters
    ----------
    name : str
        Name of the set.

    Returns
    -------
    str
        The text.
    """
    return (
        f"{name}.csv.gz (feature columns, an optional column 'split', last column 'class'), "
        f"{name}.npz (arrays X, y and an optional split), {name}.arff (class last), or the LIBSVM "
        f"file {name} (with {name}.t for the test part)"
    )


def read_csv(name: str, path: Path) -> Dataset:
    """Read feature columns, an optional column ``split``, and the last column ``class``.

    Parameters
    ----------
    name : str
        Name of the set.
    path : Path
        The file, possibly compressed by gzip.

    Returns
    -------
    Dataset
        The set.
    """
    import gzip

    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt") as file:
        header = file.readline().strip().split(",")
        rows = [line.strip().split(",") for line in file if line.strip()]
    if header[-1] != "class":
        raise DataFormError(f"its last column is {header[-1]!r}, not 'class'")
    if any(len(row) != len(header) for row in rows):
        raise DataFormError(f"not every row has {len(header)} columns")
    table = np.array(rows)
    features = [j for j, title in enumerate(header[:-1]) if title != "split"]
    part = table[:, header.index("split")] if "split" in header else None
    names = [header[j] for j in features]
    X = table[:, features].astype(np.float64)
    return Dataset(name, X, as_labels(table[:, -1]), names, str(path), part)


def read_npz(name: str, path: Path) -> Dataset:
    """Read the arrays X, y and, if there is one, split.

    Parameters
    ----------
    name : str
        Name of the set.
    path : Path
        The file.

    Returns
    -------
    Dataset
        The set; images are flattened.
    """
    with np.load(path, allow_pickle=False) as arrays:
        X = arrays["X"].reshape(len(arrays["X"]), -1)
        part = arrays.get("split")
        return Dataset(name, X, arrays["y"], source=str(path), part=part)


def read_libsvm(name: str, path: Path) -> Dataset:
    """Read a LIBSVM file, and its test part ``.t`` if there is one.

    Parameters
    ----------
    name : str
        Name of the set.
    path : Path
        The file.

    Returns
    -------
    Dataset
        The set, dense.
    """
    stem, packed = (path.stem, path.suffix) if path.suffix in (".gz", ".bz2") else (path.name, "")
    test = [path.with_name(stem + ".t" + ending) for ending in (packed, *_PACKED)]
    paths = [path, *[other for other in test if other.is_file()][:1]]
    parts = [load_svmlight_file(str(p)) for p in paths]
    width = max(X.shape[1] for X, _ in parts)
    X = np.zeros((sum(X.shape[0] for X, _ in parts), width))
    begin = 0
    for rows, _ in parts:
        X[begin : begin + rows.shape[0], : rows.shape[1]] = rows.toarray()
        begin += rows.shape[0]
    y = np.concatenate([labels for _, labels in parts])
    kind = np.repeat(["train", "test"][: len(parts)], [len(labels) for _, labels in parts])
    part = kind if len(parts) > 1 else None
    return Dataset(name, X, as_labels(y.astype(str)), source=str(path), part=part)


def read_arff(name: str, path: Path) -> Dataset:
    """Read an ARFF file with numeric attributes and the class last.

    Parameters
    ----------
    name : str
        Name of the set.
    path : Path
        The file.

    Returns
    -------
    Dataset
        The set.
    """
    names, rows, data = [], [], False
    for line in path.read_text(errors="replace").splitlines():
        line = line.strip()
        if not line or line.startswith("%"):
            continue
        if data:
            rows.append([value.strip().strip("'\"") for value in line.split(",")])
        elif line.lower().startswith("@attribute"):
            names.append(line.split(None, 1)[1].split(None, 1)[0].strip("'\""))
        elif line.lower().startswith("@data"):
            data = True
    table = np.array(rows)
    if table.ndim != 2 or table.shape[1] != len(names):
        raise DataFormError(f"not every row has {len(names)} values")
    X = table[:, :-1].astype(np.float64)
    return Dataset(name, X, as_labels(table[:, -1]), names[:-1], str(path))


def as_labels(values: NDArray) -> NDArray:
    """Return labels as integers if all of them are, else as text.

    Parameters
    ----------
    values : ndarray of str
        Labels as read.

    Returns
    -------
    ndarray
        The labels.
    """
    try:
        numbers = values.astype(np.float64)
    except ValueError:
        return values
    whole = numbers.astype(np.int64)
    return whole if (whole == numbers).all() else values
