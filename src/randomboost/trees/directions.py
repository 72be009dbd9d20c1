"""Directions that shared trees compare with cuts: single features and mixtures of them.

Families: "axis" (every feature by itself), "sparse" (few features with random coefficients),
"gaussian" (all features) and "lda" (Fisher's discriminant between random groups of classes on
random features). All but the last are functions of the seed alone, so a model need not store
them; discriminants are functions of seed and training data and are stored.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..compiling import kernel
from ..parallel import ThreadTeam
from ..random_stream import CHOICE_STREAM, DIRECTION_STREAM, normals, uniforms

FAMILIES = ("axis", "sparse", "gaussian", "lda")
_FEW = 3  # features of a sparse direction where no density is given
_MOST_LDA_FEATURES = 40
_LDA_SAMPLES = 4000  # samples that a discriminant is estimated from
_LDA_RIDGE = 0.1  # share of the mean variance that is added to every variance


class Directions:
    """Rows of coefficients, family after family.

    Parameters
    ----------
    seed : int
        Seed of the random families.
    n_features : int
        Number of features d.
    counts : dict of str to int
        Number of directions by family, in the order of `FAMILIES`.
    density : float or None
        Share of nonzeros, each -1 or +1, of a sparse direction; None for 3 normal ones.
    lda : CSR matrix
        The discriminants.
    """

    def __init__(
        self, seed: int, n_features: int, counts: dict[str, int], density: float | None, lda: Any
    ) -> None:
        self.seed, self.n_features, self.counts = seed, n_features, counts
        self.density, self.lda = density, lda
        self.starts = np.concatenate([[0], np.cumsum(list(counts.values()))]).astype(np.int64)

    def __len__(self) -> int:
        return int(self.starts[-1])

    def rows(self, indices: NDArray[np.int64]) -> Any:
        """Return some directions.

        Parameters
        ----------
        indices : ndarray of int64
            Their numbers, rising.

        Returns
        -------
        CSR matrix of shape (len(indices), n_features)
            Their coefficients.
        """
        families = np.searchsorted(self.starts, indices, side="right") - 1
        parts = []
        for place, (name, count) in enumerate(self.counts.items()):
            wanted = indices[families == place] - self.starts[place]
            if len(wanted):
                parts.append(self._family(name, count)[wanted])
        return sp.csr_array(sp.vstack(parts, format="csr"))

    def _family(self, name: str, count: int) -> Any:
        d = self.n_features
        if name == "axis":
            return sp.eye_array(d, format="csr")
        if name == "lda":
            return self.lda
        numbers = np.arange(count)
        if name == "gaussian":
            return sp.csr_array(normals(self.seed, DIRECTION_STREAM, 1, numbers, (0, d))[0])
        few = _FEW if self.density is None else max(1, round(self.density * d))
        few = min(few, d)
        features = _choose(uniforms(self.seed, CHOICE_STREAM, count, few), d)
        values = normals(self.seed, DIRECTION_STREAM, 2, numbers, (0, few))[1]
        if self.density is not None:
            values = np.where(values < 0, -1.0, 1.0)
        starts = np.arange(0, count * few + 1, few)
        return sp.csr_array((values.ravel(), features.ravel(), starts), shape=(count, d))


def _choose(shares: NDArray, n: int) -> NDArray[np.int64]:
    """Return as many different numbers below n a row as there are shares, in rising order."""
    chosen = np.empty(shares.shape, dtype=np.int64)
    for row, share in zip(chosen, shares, strict=True):
        taken: list[int] = []  # Floyd's way of drawing without replacement
        for place, value in enumerate(share):
            top = n - len(share) + place
            drawn = int(value * (top + 1))
            taken.append(top if drawn in taken else drawn)
        row[:] = sorted(taken)
    return chosen


def find_discriminants(
    X: Any, y: NDArray[np.int64], sample_weight: NDArray, seed: int, count: int
) -> Any:
    """Return Fisher's discriminants of random groups of classes on random features.

    Half of them tell one class from another, half a random group of classes from all others.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        Scaled data; missing values count as 0.
    y : ndarray of int64
        Class numbers.
    sample_weight : ndarray
        Weights.
    seed : int
        Seed.
    count : int
        How many.

    Returns
    -------
    CSR matrix of shape (count, n_features)
        The directions, of length 1.
    """
    rng = np.random.Generator(np.random.Philox(seed))
    d = X.shape[1]
    present = np.unique(y)
    most = min(d, _MOST_LDA_FEATURES)
    chosen, values = [], []
    for v in range(count):
        few = int(np.ceil(most * rng.uniform(0.3, 1.0)))
        features = np.sort(rng.choice(d, few, replace=False))
        order = rng.permutation(present)
        cut = 1 if v % 2 else int(rng.integers(1, len(order)))
        groups = (order[:cut], order[cut : 2 if v % 2 else None])
        means, scatter, total = [], np.zeros((few, few)), 0.0
        for group in groups:
            members = np.flatnonzero(np.isin(y, group))
            if len(members) > _LDA_SAMPLES // 2:
                members = np.sort(rng.choice(members, _LDA_SAMPLES // 2, replace=False))
            part = X[members][:, features]
            part = np.nan_to_num(part.toarray() if sp.issparse(part) else part, nan=0.0)
            weight = sample_weight[members]
            mean = weight @ part / weight.sum()
            centred = part - mean
            scatter += (centred * weight[:, None]).T @ centred
            total += weight.sum()
            means.append(mean)
        scatter /= total
        spread = np.trace(scatter) / few
        scatter[np.diag_indices(few)] += _LDA_RIDGE * spread + 1e-9
        direction = np.linalg.solve(scatter, means[0] - means[1])
        length = np.linalg.norm(direction)
        chosen.append(features)
        values.append(direction / length if length > 0 else np.ones(few))
    starts = np.concatenate([[0], np.cumsum([len(part) for part in chosen])])
    return sp.csr_array(
        (np.concatenate(values or [[]]), np.concatenate(chosen or [[]]).astype(np.int32), starts),
        shape=(count, d),
    )


@kernel
def _project(X, starts, features, coefficients, first, last, out):
    """``out[v, i] = sum_j c_vj X[i, j]`` over rows first .. last; NaN counts as 0 in a mixture."""
    for v in range(len(starts) - 1):
        begin, end = starts[v], starts[v + 1]
        if end - begin == 1:  # a feature by itself keeps its missing values
            j = features[begin]
            c = coefficients[begin]
            for i in range(first, last):
                out[v, i] = c * X[i, j]
            continue
        for i in range(first, last):
            total = 0.0
            for e in range(begin, end):
                x = X[i, features[e]]
                if x == x:
                    total += coefficients[e] * x
            out[v, i] = total


def project(X: Any, rows: Any, team: ThreadTeam) -> NDArray:
    """Return the values of samples along directions, the same bits whatever the other samples.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        Scaled data.
    rows : CSR matrix of shape (n_directions, n_features)
        Directions.
    team : ThreadTeam
        Threads.

    Returns
    -------
    ndarray of shape (n_directions, n_samples), of the type of X
        The values.
    """
    if sp.issparse(X):
        return np.ascontiguousarray((X @ rows.T).toarray().T.astype(X.dtype, copy=False))
    out = np.empty((rows.shape[0], X.shape[0]), dtype=X.dtype)

    def work(first: int, last: int) -> None:
        _project(X, rows.indptr, rows.indices, rows.data, first, last, out)

    team.run(work, X.shape[0], grain=1 + 200_000 // max(rows.nnz, 1))
    return out
