"""Projections as JSON and arrays, and back: mostly a seed and some counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..files.container import ModelFileError
from ..trees.views import ClassView, SharedView
from ..weak_learners.hypothesis_arrays import Arrays, Taken, count, floats, ints, need
from .directions import FAMILIES, Directions
from .matrices import CodedProjection, GaussianProjection, GivenProjection


def pack(projection: Any) -> tuple[dict[str, Any], Arrays]:
    """Return a projection, or how trees see samples, as JSON and arrays.

    Parameters
    ----------
    projection : object
        One of those of `randomboost.projections.matrices` and `randomboost.trees.views`.

    Returns
    -------
    tuple of (dict, dict of str to ndarray)
        What `unpack` takes.
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
    if isinstance(projection, ClassView):
        inner, arrays = pack(projection.projection)
        return {"kind": "class view", "of": inner}, arrays
    if not isinstance(projection, CodedProjection | SharedView):
        raise ModelFileError(f"a projection of type {type(projection).__name__} cannot be saved")
    directions = projection.directions
    coded = isinstance(projection, CodedProjection)
    described = {
        "kind": "coded" if coded else "shared view",
        "seed": projection.seed,
        "n_projections": getattr(projection, "n_projections", len(directions)),
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


def _directions(described: dict[str, Any], taken: Taken, n_features: int) -> Directions:
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
    need((sizes >= 0).all() and sizes.sum() == len(features), "its discriminants do not add up")
    need(((features >= 0) & (features < n_features)).all(), "a discriminant looks at no feature")
    starts = np.concatenate([[0], np.cumsum(sizes)])
    lda = sp.csr_array((coefficients, features, starts), shape=(len(sizes), n_features))
    seed = count(described, "direction_seed", 2**63 - 1)
    few = 3 if density is None else max(1, round(density * n_features))
    need(counts.get("sparse", 0) * few <= 2**28, "it has too many directions")
    return Directions(seed, n_features, counts, density, lda)


def unpack(described: Any, taken: Taken, n_classes: int, n_features: int) -> Any:
    """Return the projection that `pack` was given.

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
    object
        The projection.
    """
    need(isinstance(described, dict), "its projection is not described")
    kind = described.get("kind")
    if kind == "class view":
        inner = unpack(described.get("of"), taken, n_classes, n_features)
        need(not isinstance(inner, SharedView | ClassView), "its views are nested")
        return ClassView(inner, n_features)
    seed = count(described, "seed", 2**63 - 1)
    if kind == "given":
        matrices = taken.real("projection.matrices", n_classes, None, n_features)
        return GivenProjection(matrices, seed)
    need(kind in ("gaussian", "coded", "shared view"), "its projection is of no known kind")
    n_projections = count(described, "n_projections", 2**31 - 1)
    need(n_projections > 0, "its projection is empty")
    if kind == "gaussian":
        return GaussianProjection(seed, count(described, "stream", 255), n_classes, n_projections)
    directions = _directions(described, taken, n_features)
    need(len(directions) > 0, "its projection is empty")
    if kind == "coded":
        return CodedProjection(seed, n_classes, n_projections, directions)
    return SharedView(seed, n_classes, directions)
