"""A loaded data set, and errors of loading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


class DataNotFoundError(FileNotFoundError):
    """A data set was not found; the message says which file to put where.

    Parameters
    ----------
    message : str
        The message.
    form : str
        Description of the file, without the folder.
    """

    def __init__(self, message: str, form: str = "") -> None:
        super().__init__(message)
        self.form = form


class DataFormError(ValueError):
    """A data set was found, but its contents are not as expected."""


@dataclass(frozen=True)
class Dataset:
    """Features and labels of one data set.

    Parameters
    ----------
    name : str
        Name of the set.
    X : ndarray of shape (n_samples, n_features)
        Features, unscaled.
    y : ndarray of shape (n_samples,)
        Class labels.
    feature_names : sequence of str
        Names of the features.
    source : str
        Where it was found.
    part : ndarray of str or None
        "train" or "test" by sample, where the set has an official split.
    """

    name: str
    X: NDArray = field(repr=False)
    y: NDArray = field(repr=False)
    feature_names: Sequence[str] = field(default=(), repr=False)
    source: str = ""
    part: NDArray | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not len(self.feature_names):
            names = [f"f{j}" for j in range(self.X.shape[1])]
            object.__setattr__(self, "feature_names", names)

    @property
    def classes(self) -> NDArray:
        """Return the class labels in order."""
        return np.unique(self.y)
