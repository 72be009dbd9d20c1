"""The class-wise random projection matrices P^(1) .. P^(k) of the paper.

Except for those of the user, projections are not stored: their rows are computed from the seed.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..preprocessing.merging import row_hashes, sample_keys
from ..runtime.random_stream import DATA_STREAM, normals
from .class_codes import class_codes
from .directions import (
    FAMILIES,
    Directions,
    discriminant_sample,
    family_weights,
    find_discriminants,
)


@dataclass(frozen=True)
class GaussianProjection:
    """One Gaussian matrix per class, entries N(0, 1) / sqrt(n), as a function of the seed.

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


@dataclass(frozen=True)
class CodedProjection:
    """Directions that all classes share, times a class code: a sign or 0 for each class.

    Parameters
    ----------
    seed : int
        Seed of the class codes.
    n_classes : int
        Number of classes k.
    n_projections : int
        Number of rows n of every matrix.
    directions : Directions
        The directions; row v uses direction v modulo their number.
    """

    seed: int
    n_classes: int
    n_projections: int
    directions: Directions

    def rows(
        self, indices: NDArray[np.int64], columns: tuple[int, int], dtype: np.dtype | type
    ) -> NDArray:
        """Return the given rows of all matrices; see `GaussianProjection.rows`."""
        signs = class_codes(self.seed, self.n_classes)
        n = len(self.directions)
        used, places = np.unique(indices % n, return_inverse=True)
        directions = self.directions.rows(used).toarray()[places, columns[0] : columns[1]]
        chosen = signs[(indices // n + 31 * (indices % n)) % len(signs)]
        return (chosen.T[:, :, None] * directions).astype(dtype)


@dataclass(frozen=True)
class GivenProjection:
    """Matrices that the user provides.

    Parameters
    ----------
    matrices : ndarray of shape (n_classes, n_projections, n_features)
        The matrices.
    seed : int
        Seed of the draws in training.
    """

    matrices: NDArray
    seed: int

    @property
    def n_classes(self) -> int:
        """Number of classes k."""
        return len(self.matrices)

    @property
    def n_projections(self) -> int:
        """Number of rows n of every matrix."""
        return self.matrices.shape[1]

    def rows(
        self, indices: NDArray[np.int64], columns: tuple[int, int], dtype: np.dtype | type
    ) -> NDArray:
        """Return the given rows of all matrices; see `GaussianProjection.rows`."""
        return self.matrices[:, indices, columns[0] : columns[1]].astype(dtype)


KINDS = ("gaussian", "sparse", "axis", "lda", "mixed")


def mixed_rows(
    projection: Any, columns: NDArray[np.int64], coefficients: NDArray, n_features: int
) -> NDArray:
    """Return a linear combination of rows of all matrices.

    Parameters
    ----------
    projection : GaussianProjection, CodedProjection or GivenProjection
        The matrices.
    columns : ndarray of int64
        Which rows (projected dimensions).
    coefficients : ndarray
        Their coefficients.
    n_features : int
        Number of features.

    Returns
    -------
    ndarray of shape (n_classes, n_features)
        ``sum_v c_v P^(r)[v]`` for every class r.
    """
    rows = projection.rows(columns, (0, n_features), np.float64)
    return np.einsum("v,rvj->rj", coefficients, rows)


def class_wise_mixtures(
    projection: Any,
    used: NDArray[np.int64],
    mixes: dict[int, Any],
    n_features: int,
    dtype: np.dtype,
) -> dict[str, Any]:
    """Return how the values of every class are made: rows of its matrix, and mixtures of them.

    Parameters
    ----------
    projection : GaussianProjection, CodedProjection or GivenProjection
        The matrices.
    used : ndarray of int64
        The rows that are used by themselves.
    mixes : dict of int to Combination
        Mixtures of rows, numbered from ``len(used)`` on.
    n_features : int
        Number of features.
    dtype : dtype
        Precision of the result.

    Returns
    -------
    dict
        "n_views", "rows" and "gaussian" of `ensembles.base.PlainTables`.
    """

    def rows(numbers: NDArray[np.int64]) -> Any:
        plain = used[np.where(numbers < len(used), numbers, 0)] if len(used) else numbers * 0
        made = projection.rows(plain, (0, n_features), dtype)
        for place in np.flatnonzero(numbers >= len(used)):
            mix = mixes[int(numbers[place])]
            made[:, place] = mixed_rows(projection, mix.columns, mix.coefficients, n_features)
        return sp.csr_array(made.reshape(-1, n_features))

    gaussian = isinstance(projection, GaussianProjection) and not mixes
    return {
        "n_views": projection.n_classes,
        "rows": rows,
        "gaussian": (projection, used) if gaussian else None,
    }


def split_kind(projection: Any) -> tuple[Any, float | None]:
    """Return the kind of the parameter `projection`, and the density that it may name.

    Parameters
    ----------
    projection : str, tuple or object
        One of `KINDS`, ``("sparse", density)``, or an object with `matrices`.

    Returns
    -------
    tuple of (str or object, float or None)
        The kind and the share of nonzeros of a sparse direction.
    """
    if not isinstance(projection, tuple):
        return projection, None
    if len(projection) == 2 and projection[0] == "sparse":
        density = projection[1]
        if isinstance(density, Real) and 0 < float(density) <= 1:
            return "sparse", float(density)
    raise ValueError(
        f"projection={projection!r}: a tuple must be ('sparse', density) with a density in (0, 1]"
    )


def _direction_counts(kind: str, n_projections: int, n_features: int) -> dict[str, int]:
    """Return the number of directions by family."""
    families = [name for name in FAMILIES if kind in (name, "mixed")]
    if kind == "mixed" and n_features == 1:
        families = ["axis"]
    weights = family_weights(families, n_features)
    mixed = sum(weights.values()) - weights.get("axis", 0.0)
    return {
        name: n_features if name == "axis" else max(1, round(n_projections * weight / mixed))
        for name, weight in weights.items()
    }


def make_directions(
    kind: Any,
    seed: int,
    n_projections: int,
    data: tuple[Any, NDArray[np.int64], NDArray],
) -> Directions:
    """Return the directions of a kind of projection.

    Parameters
    ----------
    kind : str or tuple
        One of `KINDS`, or ``("sparse", density)``.
    seed : int
        Seed.
    n_projections : int
        Number of directions besides the single features, divided among the families.
    data : tuple
        Scaled features, class numbers and sample weights, for discriminants.

    Returns
    -------
    Directions
        The directions.
    """
    X, y, weight = data
    kind, density = split_kind(kind)
    counts = _direction_counts(kind, n_projections, X.shape[1])
    chosen = discriminant_sample(sample_keys(row_hashes(X), y), y, seed)
    sample = X[chosen], y[chosen], weight[chosen]
    lda = find_discriminants(*sample, seed, counts.get("lda", 0), np.bincount(y, weight))
    return Directions(seed, X.shape[1], counts, density, lda)


def make_projection(
    kind: Any,
    seed: int,
    n_classes: int,
    n_projections: int,
    data: tuple[Any, NDArray[np.int64], NDArray],
) -> Any:
    """Return the class-wise matrices of a kind of projection.

    Parameters
    ----------
    kind : str, tuple or object
        One of `KINDS`, ``("sparse", density)``, or an object with the method
        ``matrices(n_classes, n_projections, n_features, seed)`` that returns an array of shape
        (n_classes, n_projections, n_features).
    seed, n_projections, data
        As for `make_directions`.
    n_classes : int
        Number of classes.

    Returns
    -------
    GaussianProjection, CodedProjection or GivenProjection
        The matrices.
    """
    if not isinstance(kind, str | tuple):
        n_features = data[0].shape[1]
        given = np.asarray(kind.matrices(n_classes, n_projections, n_features, seed))
        if given.ndim != 3 or given.shape[0] != n_classes or given.shape[2] != n_features:
            raise ValueError(
                f"projection={kind!r} returned matrices of shape {given.shape}: "
                f"return shape ({n_classes}, n_projections, {n_features})"
            )
        if not np.isfinite(given).all():
            raise ValueError(
                f"projection={kind!r} returned values that are not finite: return finite ones"
            )
        return GivenProjection(given.astype(np.float64), seed)
    if kind == "gaussian":
        return GaussianProjection(seed, DATA_STREAM, n_classes, n_projections)
    directions = make_directions(kind, seed, n_projections, data)
    return CodedProjection(seed, n_classes, n_projections, directions)


def changed_parameter(made: Any, kind: Any, n_projections: int) -> str | None:
    """Return which parameter no longer fits the projections of a model.

    Parameters
    ----------
    made : Projection or SharedView
        The projections of the model.
    kind, n_projections
        As for `make_projection`.

    Returns
    -------
    str or None
        The first such parameter. The effect of `n_projections` on a user's object is unknown.
    """
    kind, density = split_kind(kind)
    if isinstance(made, GivenProjection) or not isinstance(kind, str):
        same = isinstance(made, GivenProjection) and not isinstance(kind, str)
        return None if same else "projection"
    if isinstance(made, GaussianProjection):
        wrong = made.n_projections != n_projections
        return "projection" if kind != "gaussian" else "n_projections" if wrong else None
    directions = made.directions
    counts = _direction_counts(kind, n_projections, directions.n_features)
    if list(counts) != list(directions.counts):
        return "projection"
    if counts != directions.counts or made.n_projections != n_projections:
        return "n_projections"
    return "projection" if "sparse" in counts and density != directions.density else None
