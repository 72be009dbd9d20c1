"""Projections and directions as JSON and arrays, and back: mostly a seed and some counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..runtime.checked_arrays import (
    Arrays,
    ModelFileError,
    Taken,
    count,
    floats,
    ints,
    need,
    pieces,
)
from .directions import FAMILIES, Directions
from .matrices import CodedProjection, GaussianProjection, GivenProjection


def projection_to_arrays(projection: Any) -> tuple[dict[str, Any], Arrays]:
    """Return class-wise matrices as JSON and arrays.

    Parameters
    ----------
    projection : GaussianProjection, CodedProjection or GivenProjection
        The matrices.

    Returns
    -------
    tuple of (dict, dict of str to ndarray)
        What `projection_from_arrays` takes.
    """
    if isinstance(projection, GaussianProjection):
        return {
            "kind": "gaussian",
            "seed": projection.seed,
            "stream": projection.stream,
            "n_projections": projection.n_projections,
        }, {}
    if isinstance(projection, GivenProjection):
        return {"kind": "given", "seed": projection.seed}, {
            "projection.matrices": floats(projection.matrices)
        }
    if isinstance(projection, CodedProjection):
        described, arrays = directions_to_arrays(projection.directions)
        own = {"kind": "coded", "seed": projection.seed, "n_projections": projection.n_projections}
        return own | described, arrays
    raise ModelFileError(f"a projection of type {type(projection).__name__} cannot be saved")


def projection_from_arrays(described: Any, taken: Taken, n_classes: int, n_features: int) -> Any:
    """Return the matrices that `projection_to_arrays` was given.

    Parameters
    ----------
    described : object
        JSON.
    taken : Taken
        The arrays.
    n_classes, n_features : int
        Numbers of classes and features.

    Returns
    -------
    GaussianProjection, CodedProjection or GivenProjection
        The matrices.
    """
    need(isinstance(described, dict), "its projection is not described")
    kind, seed = described.get("kind"), count(described, "seed", 2**63 - 1)
    if kind == "given":
        matrices = taken.real("projection.matrices", n_classes, None, n_features)
        return GivenProjection(matrices, seed)
    need(kind in ("gaussian", "coded"), "its projection is of no known kind")
    n_projections = count(described, "n_projections", 2**31 - 1)
    need(n_projections > 0, "its projection is empty")
    if kind == "gaussian":
        return GaussianProjection(seed, count(described, "stream", 255), n_classes, n_projections)
    directions = directions_from_arrays(described, taken, n_features)
    return CodedProjection(seed, n_classes, n_projections, directions)


def directions_to_arrays(directions: Directions) -> tuple[dict[str, Any], Arrays]:
    """Return directions as JSON and arrays.

    Parameters
    ----------
    directions : Directions
        The directions.

    Returns
    -------
    tuple of (dict, dict of str to ndarray)
        What `directions_from_arrays` takes.
    """
    described = {
        "direction_seed": directions.seed,
        "counts": directions.counts,
        "density": directions.density,
    }
    lda = directions.lda
    return described, {
        "lda.sizes": ints(np.diff(lda.indptr)),
        "lda.features": ints(lda.indices),
        "lda.coefficients": floats(lda.data),
    }


def directions_from_arrays(described: dict[str, Any], taken: Taken, n_features: int) -> Directions:
    """Return the directions that `directions_to_arrays` was given.

    Parameters
    ----------
    described : dict
        JSON.
    taken : Taken
        The arrays.
    n_features : int
        Number of features.

    Returns
    -------
    Directions
        The directions.
    """
    counts, density = described.get("counts"), described.get("density")
    need(isinstance(counts, dict) and counts, "its directions have no families")
    assert isinstance(counts, dict)
    need(list(counts) == [name for name in FAMILIES if name in counts], "families in disorder")
    counts = {name: count(counts, name, 2**31) for name in counts}
    need(counts.get("axis", n_features) == n_features, "one direction a feature is needed")
    fine = density is None or (type(density) in (int, float) and 0 < density <= 1)
    need(fine, "the density of its directions is no share")
    sizes = taken.whole("lda.sizes", np.int64, counts.get("lda", 0))
    features = taken.whole("lda.features", np.int32, None)
    coefficients = taken.real("lda.coefficients", len(features))
    pieces(sizes, len(features), "discriminants")
    need(((features >= 0) & (features < n_features)).all(), "a discriminant looks at no feature")
    starts = np.concatenate([[0], np.cumsum(sizes)])
    lda = sp.csr_array((coefficients, features, starts), shape=(len(sizes), n_features))
    seed = count(described, "direction_seed", 2**63 - 1)
    few = 3 if density is None else max(1, round(density * n_features))
    need(counts.get("sparse", 0) * few <= 2**28, "it has too many directions")
    directions = Directions(seed, n_features, counts, density, lda)
    need(len(directions) > 0, "its projection is empty")
    return directions
