"""Directions whose values trees compare with cuts: single features and mixtures of them.

Families: "axis" (every feature by itself), "sparse" (three features with random coefficients,
or the sum or difference of two), "gaussian" (all features) and "lda" (Fisher's discriminant
between random groups of classes on random features). All but the last are functions of the seed,
so that a model does not store them; discriminants depend on the training data and are stored.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..preprocessing.row_choice import choose_by_class, draw
from ..runtime.random_stream import CHOICE_STREAM, DIRECTION_STREAM, normals, uniforms
from .mixing import project as project  # where trees are grown it is known as one of directions

FAMILIES = ("axis", "sparse", "gaussian", "lda")
_MANY_FEATURES = 32  # with more, mixtures of many features have a lower weight
_FEW = 3  # features of a sparse direction if no density is given
_MAX_LDA_FEATURES = 40
_LDA_POOL = 400  # maximum number of features that discriminants use
_LDA_SAMPLES = 10_000  # maximum number of samples that they are estimated from, about
_LDA_RIDGE = 0.03  # ridge penalty, as a share of the mean variance


def family_weights(families: Iterable[str], n_features: int) -> dict[str, float]:
    """Return the weight of each family before training.

    Mixtures of all or of many features are mostly noise if there are very many features.

    Parameters
    ----------
    families : iterable of str
        Names out of `FAMILIES`.
    n_features : int
        Number of features.

    Returns
    -------
    dict of str to float
        1 for single features and sparse mixtures, at most 1 for the other families.
    """
    wide = min(1.0, _MANY_FEATURES / n_features)
    return {name: wide if name in ("gaussian", "lda") else 1.0 for name in families}


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
        Share of nonzeros, each -1 or +1, in a sparse direction; None for 3 normal ones, and in
        every second direction two of -1 or +1.
    lda : CSR matrix
        The discriminants.
    """

    def __init__(
        self, seed: int, n_features: int, counts: dict[str, int], density: float | None, lda: Any
    ) -> None:
        self.seed, self.n_features, self.counts = seed, n_features, counts
        self.density, self.lda = density, lda
        self.starts = np.concatenate([[0], np.cumsum(list(counts.values()))]).astype(np.int64)
        self.weights = np.array(list(family_weights(counts, n_features).values()))
        self._sparse: Any = None  # computed on first use

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.seed, self.n_features, self.counts, self.density, self.lda)

    def __len__(self) -> int:
        return int(self.starts[-1])

    def rows(self, indices: NDArray[np.int64]) -> Any:
        """Return some directions.

        Parameters
        ----------
        indices : ndarray of int64
            Numbers of the directions, rising.

        Returns
        -------
        CSR matrix of shape (len(indices), n_features)
            Their coefficients.
        """
        families = np.searchsorted(self.starts, indices, side="right") - 1
        parts = []
        for place, name in enumerate(self.counts):
            wanted = indices[families == place] - self.starts[place]
            if len(wanted):
                parts.append(self._family(name, wanted))
        return sp.csr_array(sp.vstack(parts, format="csr"))

    def _family(self, name: str, wanted: NDArray[np.int64]) -> Any:
        """Return some directions of a family."""
        shape = len(wanted), self.n_features
        if name == "axis":
            return sp.csr_array((np.ones(shape[0]), wanted, np.arange(shape[0] + 1)), shape=shape)
        if name == "lda":
            return self.lda[wanted]
        if name == "gaussian":
            return sp.csr_array(normals(self.seed, DIRECTION_STREAM, 1, wanted, (0, shape[1]))[0])
        if self._sparse is None:
            self._sparse = self._make_sparse(self.counts["sparse"])
        return self._sparse[wanted]

    def _make_sparse(self, count: int) -> Any:
        d = self.n_features
        few = min(_FEW if self.density is None else max(1, round(self.density * d)), d)
        features = _choose(uniforms(self.seed, CHOICE_STREAM, count, few), d)
        values = normals(self.seed, DIRECTION_STREAM, 2, np.arange(count), (0, few))[1]
        signs = np.where(values < 0, -1.0, 1.0)
        if self.density is not None:
            values = signs
        elif few == _FEW:
            pairs = np.arange(1, count, 2)
            signs[pairs, pairs // 2 % few] = 0.0
            values[pairs] = signs[pairs]
        starts = np.arange(0, count * few + 1, few)
        found = sp.csr_array((values.ravel(), features.ravel(), starts), shape=(count, d))
        found.eliminate_zeros()
        return found


def _choose(shares: NDArray, n: int) -> NDArray[np.int64]:
    """Draw without replacement: for every row of uniform numbers, rising integers below n."""
    chosen = np.empty(shares.shape, dtype=np.int64)
    for row, share in zip(chosen, shares, strict=True):
        taken: set[int] = set()  # Floyd's algorithm
        for place, value in enumerate(share):
            top = n - len(share) + place
            drawn = int(value * (top + 1))
            taken.add(top if drawn in taken else drawn)
        row[:] = sorted(taken)
    return chosen


def discriminant_counts(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many samples of every class discriminants are estimated from, at most.

    Parameters
    ----------
    counts : ndarray of int64 of shape (n_classes,)
        Number of samples of every class.

    Returns
    -------
    ndarray of int64
        The numbers.
    """
    most = max(2, _LDA_SAMPLES // max(int((counts > 0).sum()), 1))
    return np.minimum(counts, most)


def discriminant_sample(
    keys: NDArray[np.uint64], y: NDArray[np.int64], seed: int
) -> NDArray[np.int64]:
    """Return the samples that discriminants are estimated from.

    Parameters
    ----------
    keys : ndarray of uint64
        Keys of all samples.
    y : ndarray of int64
        Their class numbers.
    seed : int
        Seed.

    Returns
    -------
    ndarray of int64
        Numbers of samples, rising.
    """
    wanted = discriminant_counts(np.bincount(y))
    if wanted.sum() == len(y):
        return np.arange(len(y))
    return np.flatnonzero(choose_by_class(draw(keys, seed), y, wanted))


def _class_moments(
    X: Any, y: NDArray[np.int64], sample_weight: NDArray, features: NDArray[np.int64]
) -> tuple[NDArray, NDArray, NDArray[np.int64]]:
    """Return the class means, the covariance within classes and the class numbers."""
    means, scatter, total = [], np.zeros((len(features), len(features))), 0.0
    present, starts = np.unique(y[order := np.argsort(y, kind="stable")], return_index=True)
    for members in np.split(order, starts[1:]):
        part = X[members][:, features]
        part = np.nan_to_num(part.toarray() if sp.issparse(part) else part, nan=0.0)
        part = part.astype(np.float64)
        weight = sample_weight[members]
        means.append(weight @ part / weight.sum())
        part -= means[-1]
        scatter += (part * weight[:, None]).T @ part
        total += weight.sum()
    return np.array(means), scatter / total, present


def _ranks(draws: NDArray) -> NDArray[np.int64]:
    """Return the places of the entries of every row in a random order, 0 for the first."""
    return draws.argsort(axis=1).argsort(axis=1)


def _random_groups(rng: np.random.Generator, totals: NDArray, count: int) -> NDArray:
    """Return coefficients of the class means whose sum is the distance of two random groups.

    Every second pair of groups has one class each, the others have all classes.
    """
    n = len(totals)
    places = _ranks(rng.random((count, n)))
    sizes = np.minimum(1 + (rng.random(count) * (n - 1)).astype(np.int64), max(n - 1, 1))
    ends = np.full(count, n)
    sizes[1::2], ends[1::2] = 1, 2
    first = np.where(places < sizes[:, None], totals, 0.0)
    second = np.where((places >= sizes[:, None]) & (places < ends[:, None]), totals, 0.0)
    return first / first.sum(axis=1, keepdims=True) - second / second.sum(axis=1, keepdims=True)


def _fisher(within: NDArray, steps: NDArray) -> NDArray:
    """Return Fisher's directions, or plain sums if values are too large to be squared.

    ``within`` is (n, d, d) and ``steps`` (n, d).
    """
    d = steps.shape[1]
    ridges = _LDA_RIDGE * within.trace(axis1=1, axis2=2) / d + 1e-9
    usable = np.isfinite(within).all(axis=(1, 2)) & np.isfinite(ridges)
    found = np.ones_like(steps)
    matrices = within[usable] + ridges[usable, None, None] * np.eye(d)
    found[usable] = np.linalg.solve(matrices, steps[usable][:, :, None])[:, :, 0]
    lengths = np.sqrt((found**2).sum(axis=1))
    found[~((lengths > 0) & (lengths < np.inf))] = 1.0
    return found / np.sqrt((found**2).sum(axis=1, keepdims=True))


def find_discriminants(
    X: Any,
    y: NDArray[np.int64],
    sample_weight: NDArray,
    seed: int,
    count: int,
    totals: NDArray | None = None,
) -> Any:
    """Return Fisher's discriminants of random groups of classes on random features.

    Half of them separate two classes, half a random group of classes from all others.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        Scaled data, or a sample of it; missing values count as 0.
    y : ndarray of int64
        Class numbers.
    sample_weight : ndarray
        Weights.
    seed : int
        Seed.
    count : int
        Number of discriminants.
    totals : ndarray of shape (n_classes,) or None
        Total weights of the classes in all of the data; None for those of the samples.

    Returns
    -------
    CSR matrix of shape (count, n_features)
        The directions, of norm 1.
    """
    d = X.shape[1]
    if not count:
        return sp.csr_array((0, d))
    rng = np.random.Generator(np.random.Philox(seed))
    pool = np.sort(rng.choice(d, min(d, _LDA_POOL), replace=False))
    most = min(len(pool), _MAX_LDA_FEATURES)
    sizes = np.ceil(most * rng.uniform(0.3, 1.0, count)).astype(np.int64)
    used = _ranks(rng.random((count, len(pool)))) < sizes[:, None]
    values = np.zeros(used.shape)
    with np.errstate(over="ignore", invalid="ignore"):  # unscaled data; see `_fisher`
        means, scatter, present = _class_moments(X, y, sample_weight, pool)
        totals = (np.bincount(y, sample_weight) if totals is None else totals)[present]
        steps = _random_groups(rng, totals, count) @ means
        for size in np.unique(sizes):
            each = np.flatnonzero(sizes == size)
            features = np.nonzero(used[each])[1].reshape(-1, size)
            within = scatter[features[:, :, None], features[:, None, :]]
            found = _fisher(within, np.take_along_axis(steps[each], features, axis=1))
            values[each[:, None], features] = found
    rows, columns = np.nonzero(used)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return sp.csr_array(
        (values[rows, columns], pool[columns].astype(np.int32), starts), shape=(count, d)
    )
