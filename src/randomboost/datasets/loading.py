"""Loading a data set from a folder, an installed package or OpenML."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from urllib.error import URLError

from . import caltech, files, openml, packages, ticc, toy
from .catalogue import SETS, Entry, digest
from .dataset import DataFormError, DataNotFoundError, Dataset

SOURCES = ("folder", "packages", "openml")
VARIABLE = "RANDOMBOOST_DATA"


def names() -> list[str]:
    """Return the names of all sets that `load` knows.

    Returns
    -------
    list of str
        The names.
    """
    return [*SETS, *toy.SETS, ticc.NAME, *caltech.SETS]


def cache_folder() -> Path:
    """Return the user's cache folder of this package.

    Returns
    -------
    Path
        The folder; it may not exist.
    """
    for variable in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        if os.environ.get(variable):
            return Path(os.environ[variable]) / "randomboost"
    return Path.home() / ".cache" / "randomboost"


def folders(folder: str | os.PathLike | None = None) -> list[Path]:
    """Return the folders to search: the one given, that of the environment, the user's cache.

    Parameters
    ----------
    folder : path or None
        The one given.

    Returns
    -------
    list of Path
        The folders, in the order of the search.
    """
    if folder is not None and not Path(folder).is_dir():
        raise DataNotFoundError(f"folder={str(folder)!r} is not a folder: pass one that exists")
    named = os.environ.get(VARIABLE)
    found = [folder, named or None, cache_folder()]
    return [Path(place) for place in found if place is not None]


def load(
    name: str,
    folder: str | os.PathLike | None = None,
    *,
    sources: Sequence[str] = SOURCES,
) -> Dataset:
    """Return one of the paper's data sets, or a toy set.

    Parameters
    ----------
    name : str
        Name of the set, one of `names`.
    folder : path or None, default=None
        Folder to search first; then come that of the environment variable RANDOMBOOST_DATA and
        the user's cache.
    sources : sequence of {"folder", "packages", "openml"}
        Where to search; the order is folder, packages, OpenML.

    Returns
    -------
    Dataset
        Unscaled features and labels.

    Raises
    ------
    DataNotFoundError
        If the set was not found; the message says which file to put where.
    DataFormError
        If its rows, features, classes or values differ from those of the paper.

    Examples
    --------
    >>> from randomboost import datasets
    >>> datasets.load("wine", sources=["packages"]).X.shape
    (178, 13)
    """
    if name in toy.SETS:
        return toy.make(name)
    if name not in names():
        raise ValueError(f"name={name!r} is not a known data set: use one of {', '.join(names())}")
    places = folders(folder) if "folder" in sources else []
    for place in places:
        found = _in_folder(name, place)
        if found is not None:
            return found
    found = packages.find(name) if "packages" in sources else None
    if found is not None:
        return _checked(found, SETS[name], values=True)
    entry = SETS.get(name)
    failed = ""
    if entry is not None and entry.openml is not None and "openml" in sources:
        try:
            found = openml.fetch(name, entry.openml, cache_folder() / "openml")
            return _checked(found, entry, values=True)
        except (URLError, OSError) as error:
            failed = f"; OpenML could not be reached ({error})"
    raise _not_found(name, folder, failed)


def _in_folder(name: str, place: Path) -> Dataset | None:
    if name == ticc.NAME:
        return ticc.find(place)
    if name in caltech.SETS:
        return caltech.find(name, place)
    found = files.find(name, place)
    return None if found is None else _checked(found, SETS[name], values=False)


def _checked(found: Dataset, entry: Entry, *, values: bool) -> Dataset:
    """Check the size of a set and, if `values`, its values; return it."""
    if (
        found.name == "breast-cancer" and found.X.shape[1] == 10
    ):  # LIBSVM's version includes the patient's id
        found = replace(found, X=found.X[:, 1:], feature_names=list(found.feature_names)[1:])
    rows, features = found.X.shape
    size = rows, features, len(found.classes)
    wanted = entry.rows, entry.features, entry.classes
    if size != wanted:
        raise DataFormError(
            f"{found.name} from {found.source} has {size[0]} rows, {size[1]} features and "
            f"{size[2]} classes, not {wanted[0]}, {wanted[1]} and {wanted[2]}: it is a "
            "different version of the set"
        )
    if values and entry.digest is not None and digest(found.X) != entry.digest:
        raise DataFormError(
            f"{found.name} from {found.source} has different values than the paper's set: put the "
            f"right file into a folder and set {VARIABLE} to it; {files.forms(found.name)}"
        )
    return found


def _form(name: str) -> str:
    """Return which file a set should be."""
    if name == ticc.NAME:
        return ticc.FORM
    if name in caltech.SETS:
        return caltech.FORM
    return files.forms(name)


def _not_found(name: str, folder: str | os.PathLike | None, failed: str) -> DataNotFoundError:
    place = folder or os.environ.get(VARIABLE) or cache_folder()
    package = packages.package_of(name)
    hint = f", or install the package {package}" if package and package != "scikit-learn" else ""
    return DataNotFoundError(
        f"data set {name!r} was not found: put {_form(name)} into the folder {place} (or set "
        f"another by folder= or {VARIABLE}){hint}{failed}",
        _form(name) + hint,
    )
