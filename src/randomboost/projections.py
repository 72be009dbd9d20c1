"""The class-wise random projection matrices P^(1) .. P^(k) of the paper.

A projection is never stored: its rows are made anew from the seed when they are needed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .random_stream import normals


@dataclass(frozen=True)
class GaussianProjection:
    """One Gaussian matrix a class, entries N(0, 1) / sqrt(n), as a function of the seed.

    Parameters
    ----------
    seed : int
        Seed, 0 <= seed < 2**64.
    stream : int
        `random_stream.DATA_STREAM` or `random_stream.OUTPUT_STREAM`.
    n_classes : int
        Number of classes k.
    n_projections : int
        Number of rows n of every matrix.
    """

    seed: int
    stream: int
    n_classes: int
    n_projections: int

    def rows(
        self, indices: NDArray[np.int64], columns: tuple[int, int], dtype: np.dtype | type
    ) -> NDArray:
        """Return the given rows of all matrices, restricted to a range of columns.

        Parameters
        ----------
        indices : ndarray of int64
            Row numbers below `n_projections`.
        columns : tuple of int
            First column and the one past the last.
        dtype : dtype
            Type of the result.

        Returns
        -------
        ndarray of shape (n_classes, len(indices), columns[1] - columns[0])
            ``P^(r)[v, j]`` for every class r.
        """
        return normals(
            self.seed,
            self.stream,
            self.n_classes,
            indices,
            columns,
            scale=1.0 / np.sqrt(self.n_projections),
            dtype=dtype,
        )


PROJECTIONS = {"gaussian": GaussianProjection}
