"""The directions that the trees of a fit choose from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..projections.directions import Directions
from ..projections.matrices import split_kind
from .tree_settings import SketchSettings

_SHARES = {"sparse": 0.55, "gaussian": 0.18, "lda": 0.27}  # of the directions beside the features
_PLAIN = {"axis": 4.0, "sparse": 1.0, "gaussian": 0.1, "lda": 0.1}  # factors of the weights
_MOST_BYTES = 1 << 28  # of the bins, beyond which there are fewer directions


def direction_counts(settings: SketchSettings, n_samples: int, n_features: int) -> dict[str, int]:
    """Return the number of directions by family.

    Parameters
    ----------
    settings : SketchSettings
        The settings.
    n_samples, n_features : int
        Size of the data: where the bins would take too much memory there are fewer directions.

    Returns
    -------
    dict of str to int
        The numbers, in the order of `projections.directions.FAMILIES`. Every member of a bag has
        discriminants of its own, equally many, half as many as a single one.
    """
    kind = split_kind(settings.projection)[0]
    n = settings.n_projections
    n = max(n // 10, min(n, int(_MOST_BYTES / n_samples) - n_features), 1)
    if kind == "axis" or (kind == "mixed" and n_features == 1):
        return {"axis": n_features}
    counts = {kind: n}
    if kind == "mixed":
        counts = {name: max(1, round(n * share)) for name, share in _SHARES.items()}
        counts = {"axis": n_features} | counts
    if "lda" in counts and settings.n_members > 1:
        counts["lda"] = settings.n_members * -(-counts["lda"] // 2)
    return counts


def choose_directions(settings: SketchSettings, rows: Any, seeds: Sequence[int]) -> Directions:
    """Return the directions that the trees choose from.

    Parameters
    ----------
    settings : SketchSettings
        The settings.
    rows : LocalRows
        The samples, or what stands for them; discriminants are made from them.
    seeds : sequence of int
        Seeds of the members.

    Returns
    -------
    Directions
        Every feature by itself, and mixtures of features.
    """
    counts = direction_counts(settings, *rows.shape)
    each = counts.get("lda", 0) // len(seeds)
    found = [rows.discriminants(member, seed, each) for member, seed in enumerate(seeds)]
    lda = sp.csr_array(sp.vstack(found, format="csr"))
    density = split_kind(settings.projection)[1]
    return Directions(settings.seed, rows.shape[1], counts, density, lda)


def first_weights(directions: Directions, *, plain: bool) -> NDArray[np.float64]:
    """Return the weight of each family before any tree has shown what it gains.

    Parameters
    ----------
    directions : Directions
        The directions.
    plain : bool
        Whether rules or thresholds of single features are expected.

    Returns
    -------
    ndarray of shape (n_families,)
        The weights.
    """
    factors = [_PLAIN[name] if plain else 1.0 for name in directions.counts]
    return directions.weights * factors


def family_bounds(directions: Directions, member: int, n_members: int) -> NDArray[np.int64]:
    """Return the first direction of every family that a member may use, and the one past the last.

    Parameters
    ----------
    directions : Directions
        The directions.
    member, n_members : int
        Number of the member, and how many there are: each has a part of the discriminants.

    Returns
    -------
    ndarray of int64 of shape (n_families, 2)
        The bounds.
    """
    bounds = np.stack([directions.starts[:-1], directions.starts[1:]], axis=1)
    for family, name in enumerate(directions.counts):
        if name == "lda":
            each = directions.counts[name] // n_members
            first = directions.starts[family] + member * each
            bounds[family] = first, first + each
    return bounds
