"""Caltech-256, two groups of classes, with pre-computed features (Gehler and Nowozin 2009).

The features were not available when this was written. Every kind of feature (PHOG, appearance,
region covariance, LBP) is one MATLAB file with a matrix of features and the names of the classes;
all kinds are concatenated.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .dataset import DataFormError, Dataset

SETS: dict[str, tuple[str, ...]] = {
    "caltech-related": (
        "bulldozer",
        "firetruck",
        "motorbikes",
        "schoolbus",
        "snowmobile",
        "car-side",
    ),
    "caltech-mixed": (
        "dog",
        "horse",
        "zebra",
        "helicopter",
        "fighter-jet",
        "motorbikes",
        "car-side",
        "dolphin",
        "goose",
        "cactus",
    ),
}
FOLDER = "caltech256"
FORM = (
    f"the folder {FOLDER} with one MATLAB file per kind of feature (phog.mat, app.mat, regcov.mat, "
    "lbp.mat), each with 'features' (images x features) and 'labels' (class names such as "
    "'car-side' or '252.car-side', the images in the same order in all files)"
)


def find(name: str, folder: Path) -> Dataset | None:
    """Return one group of classes from a folder, or None.

    Parameters
    ----------
    name : {"caltech-related", "caltech-mixed"}
        Which group.
    folder : Path
        The folder that holds ``caltech256``.

    Returns
    -------
    Dataset or None
        The concatenated features, and class names.
    """
    paths = sorted((folder / FOLDER).glob("*.mat"))
    if not paths:
        return None
    blocks, names, y = [], [], None
    for path in paths:
        X, labels = _read(path)
        if y is not None and not np.array_equal(y, labels):
            raise DataFormError(
                f"{path} has its images in a different order than {paths[0]}: {FORM}"
            )
        y = labels
        blocks.append(X)
        names += [f"{path.stem}_{j}" for j in range(X.shape[1])]
    assert y is not None
    rows = np.isin(y, SETS[name])
    missing = set(SETS[name]) - set(y[rows])
    if missing:
        raise DataFormError(f"{folder / FOLDER} has no images of {', '.join(sorted(missing))}")
    return Dataset(name, np.hstack(blocks)[rows], y[rows], names, str(folder / FOLDER))


def _read(path: Path) -> tuple[NDArray, NDArray]:
    from scipy.io import loadmat

    try:
        arrays = loadmat(path)
        X, labels = np.asarray(arrays["features"], dtype=np.float64), arrays["labels"]
    except (KeyError, ValueError, OSError, NotImplementedError) as error:
        raise DataFormError(f"{path} is not as expected ({error}): {FORM}") from error
    y = np.array([_class_name(value) for value in labels.ravel()])
    if X.ndim != 2 or len(X) != len(y):
        raise DataFormError(f"{path} has {len(y)} labels for features of shape {X.shape}: {FORM}")
    return X, y


def _class_name(value: object) -> str:
    """Return 'car-side' for '252.car-side-101', the names of Caltech-256's folders."""
    name = str(np.squeeze(np.asarray(value))).strip()
    name = name.split(".", 1)[-1] if name[:1].isdigit() else name
    for ending in ("-101", "s-101"):
        name = name.removesuffix(ending)
    return {"fire-truck": "firetruck", "school-bus": "schoolbus"}.get(name, name)
