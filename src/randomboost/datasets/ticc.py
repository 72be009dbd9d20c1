"""TiCC handwritten characters (van der Maaten 2009): images of 56 x 56 pixels in a MATLAB file.

The set was not available when this was written: the reader accepts any arrangement of the images
and any names of the arrays.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .dataset import DataFormError, Dataset

NAME = "ticc"
SIDE = 56
FORM = (
    f"{NAME}.mat (MATLAB, before version 7.3: one array of {SIDE} x {SIDE} pixel images, with the "
    "sample as its first or last axis, and an array of labels whose name has 'label' in it)"
)


def find(folder: Path) -> Dataset | None:
    """Return the set from a folder, or None.

    Parameters
    ----------
    folder : Path
        The folder.

    Returns
    -------
    Dataset or None
        Flattened images and labels.
    """
    path = folder / f"{NAME}.mat"
    if not path.is_file():
        return None
    from scipy.io import loadmat

    try:
        arrays = {k: v for k, v in loadmat(path).items() if not k.startswith("__")}
    except (ValueError, OSError, NotImplementedError) as error:
        raise DataFormError(f"{path} is not {FORM}: {error}") from error
    labels = [v for k, v in arrays.items() if "label" in k.lower() and "writer" not in k.lower()]
    if len(labels) != 1:
        raise DataFormError(f"{path} is not {FORM}: it has {len(labels)} arrays of labels")
    y = np.array([str(np.squeeze(value)).strip() for value in labels[0].ravel()])
    for array in arrays.values():
        X = _images(np.asarray(array), len(y))
        if X is not None:
            return Dataset(NAME, X, y, source=str(path))
    raise DataFormError(f"{path} is not {FORM}: no array has {len(y)} images")


def _images(array: NDArray, n: int) -> NDArray | None:
    """Return an array as one flattened image per row, or None if it has another shape."""
    if array.shape == (n, SIDE, SIDE) or array.shape == (n, SIDE * SIDE):
        return array.reshape(n, -1).astype(np.float64)
    if array.shape == (SIDE, SIDE, n):
        return np.moveaxis(array, 2, 0).reshape(n, -1).astype(np.float64)
    if array.shape == (SIDE * SIDE, n):  # MATLAB stores an image column by column
        images = array.T.reshape(n, SIDE, SIDE).transpose(0, 2, 1)
        return images.reshape(n, -1).astype(np.float64)
    return None
