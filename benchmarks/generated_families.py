"""Generated tables of many kinds, on which defaults are chosen.

`family(name, seed)` draws a table: rows, columns, classes and noise are different for every seed.
A name is a kind and a size, as "rules-small"; `FAMILIES` has them all. Columns of categories are
pandas categoricals, sparse tables CSR matrices, and all others arrays. Labels are 0 .. k - 1, and
every class has at least four rows.

    python benchmarks/generated_families.py     # the shapes of all families
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from scipy.ndimage import gaussian_filter

Random = np.random.Generator
Table = tuple[Any, NDArray]
ROWS = {"small": (500, 3_000), "medium": (3_000, 30_000), "large": (30_000, 500_000)}
FEWEST = 4  # rows of a class
_ROWS_A_CLASS = 12  # on average, at least


def _between(rng: Random, low: float, high: float) -> int:
    """Return a whole number, drawn from a uniform distribution of the logarithm."""
    return int(np.exp(rng.uniform(np.log(low), np.log(high + 1))))


def _flipped(rng: Random, y: NDArray, n_classes: int, share: float) -> NDArray:
    """Return labels of which a share is drawn again from all classes."""
    again = rng.random(len(y)) < share
    return np.where(again, rng.integers(0, n_classes, len(y)), y)


def _bins(values: NDArray, weights: NDArray) -> NDArray:
    """Return classes as intervals of a number, with given shares of the rows."""
    cuts = np.quantile(values, np.cumsum(weights)[:-1] / weights.sum())
    return np.searchsorted(cuts, values)


def _categories(codes: NDArray, ordered: bool = False) -> pd.DataFrame:
    """Return columns of whole numbers as categoricals with names."""
    frame = {}
    for column, values in enumerate(codes.T):
        levels = [f"l{level:04d}" for level in range(int(values.max()) + 1)]
        frame[f"c{column}"] = pd.Categorical.from_codes(values, levels, ordered=ordered)
    return pd.DataFrame(frame)


def _tree_classes(rng: Random, X: NDArray, n_classes: int, largest: float) -> NDArray:
    """Return the classes of a random tree of axis-parallel splits, until leaves are small."""
    y = np.empty(len(X), dtype=np.int64)
    stack, label = [np.arange(len(X))], 0
    while stack:
        rows = stack.pop()
        lowest, highest = X[rows].min(axis=0), X[rows].max(axis=0)
        splitting = np.flatnonzero(lowest < highest)
        if len(rows) > largest and len(splitting):
            values = X[rows, rng.choice(splitting)]
            left = values <= rng.choice(values[values < values.max()])
            stack += [rows[left], rows[~left]]
            continue
        y[rows] = label % n_classes if label < n_classes else rng.integers(n_classes)
        label += 1
    return y


def rules(rng: Random, n_rows: int, n_classes: int) -> Table:
    """Return all-categorical columns whose interactions decide the class, without noise."""
    n_columns = rng.integers(5, 13)
    levels = rng.integers(2, 7, n_columns)
    codes = rng.integers(0, levels, (n_rows, n_columns))
    orders = [rng.permutation(count) for count in levels]  # the splits take sets of levels
    moved = np.stack([orders[j][codes[:, j]] for j in range(n_columns)], axis=1)
    used = rng.permutation(n_columns)[: rng.integers(4, min(n_columns, 8) + 1)]
    largest = max(n_rows / (n_classes * rng.integers(2, 12)), 20)
    return _categories(codes), _tree_classes(rng, moved[:, used], n_classes, largest)


def board(rng: Random, n_rows: int, n_classes: int) -> Table:
    """Return positions of pieces; the class is a range of distances between them, as in chess."""
    n_pieces = rng.integers(3, 5)
    places = rng.integers(0, 8, (n_rows, n_pieces, 2))
    gaps = np.abs(places[:, :, None] - places[:, None])
    steps = gaps.max(axis=3) + 0.5 * gaps.min(axis=3)
    pairs = [(i, j) for i in range(n_pieces) for j in range(i)]
    weights = 3.0 ** -rng.permutation(len(pairs)) * rng.choice([-1, 1], len(pairs))
    value = sum(w * steps[:, i, j] for w, (i, j) in zip(weights, pairs, strict=True))
    value = value + rng.normal(0, 0.5) * np.minimum(places[:, 0], 7 - places[:, 0]).min(axis=1)
    codes = places.reshape(n_rows, -1)
    y = _bins(value + 1e-9 * rng.random(n_rows), rng.uniform(0.2, 1.0, n_classes))
    return (_categories(codes) if rng.random() < 0.5 else codes.astype(np.float64)), y


def thresholds(rng: Random, n_rows: int, n_classes: int) -> Table:
    """Return numbers on which a tree of axis-parallel splits decides, with some noise."""
    X = rng.normal(size=(n_rows, rng.integers(6, 31)))
    X[:, ::3] = np.exp(X[:, ::3])
    X[:, 1::3] = np.round(2 * X[:, 1::3])
    largest = max(n_rows / (n_classes * rng.integers(1, 8)), 60)
    y = _tree_classes(rng, X[:, : rng.integers(2, 7)], n_classes, largest)
    return X, _flipped(rng, y, n_classes, rng.uniform(0.0, 0.15))


def clusters(rng: Random, n_rows: int, n_classes: int) -> Table:
    """Return Gaussian clusters, some a class, in correlated columns."""
    n_latent, per_class = rng.integers(4, 13), rng.integers(1, 7)
    centres = rng.normal(size=(n_classes * per_class, n_latent))
    cluster = rng.integers(0, len(centres), n_rows)
    spread = rng.uniform(0.25, 0.6, len(centres))[cluster, None]
    latent = centres[cluster] + spread * rng.normal(size=(n_rows, n_latent))
    mixing = rng.normal(size=(n_latent, rng.integers(n_latent, 3 * n_latent)))
    X = latent @ mixing + 0.1 * rng.normal(size=(n_rows, mixing.shape[1]))
    return X, cluster % n_classes


def smooth(rng: Random, n_rows: int, n_classes: int) -> Table:
    """Return points whose classes have curved borders: the largest of some random waves."""
    n_latent = rng.integers(2, 8)
    latent = rng.normal(size=(n_rows, n_latent))
    waves = rng.normal(size=(n_latent, 40)) * rng.uniform(0.4, 1.0)
    features = np.cos(latent @ waves + rng.uniform(0, 2 * np.pi, 40))
    y = (features @ rng.normal(size=(40, n_classes))).argmax(axis=1)
    bent = np.tanh(latent @ rng.normal(size=(n_latent, rng.integers(n_latent, 20))))
    X = np.concatenate([latent, bent], axis=1)
    return X + rng.uniform(0, 0.1) * rng.normal(size=X.shape), y


def oblique(rng: Random, n_rows: int, n_classes: int) -> Table:
    """Return points with linear borders, in columns of very different scales and tails."""
    n_columns = rng.integers(5, 41)
    X = rng.standard_t(4, size=(n_rows, n_columns))
    weights = rng.normal(size=(n_columns, n_classes)) * (rng.random((n_columns, n_classes)) < 0.5)
    scores = X @ weights + rng.uniform(0.1, 2.0) * rng.gumbel(size=(n_rows, n_classes))
    return X * np.exp(rng.normal(0, 2, n_columns)), scores.argmax(axis=1)


def images(rng: Random, n_rows: int, n_classes: int) -> Table:
    """Return pictures of smooth shapes, moved by a pixel or two, in pixels of 17 grey levels."""
    side, per_class = int(rng.integers(8, 15)), 3
    shapes = gaussian_filter(rng.normal(size=(n_classes * per_class, side, side)), (0, 1.5, 1.5))
    shapes = np.maximum(shapes / shapes.std(axis=(1, 2), keepdims=True), 0)
    drawn = rng.integers(0, len(shapes), n_rows)
    moves = rng.integers(-1, 2, (n_rows, 2))
    where = (np.arange(side) + moves[:, :, None]) % side
    X = shapes[drawn[:, None, None], where[:, 0, :, None], where[:, 1, None, :]]
    X = X * rng.uniform(0.6, 1.4, (n_rows, 1, 1)) + rng.normal(0, 0.5, X.shape)
    return np.clip(np.round(6 * X), 0, 16).reshape(n_rows, -1), drawn % n_classes


def text(rng: Random, n_rows: int, n_classes: int) -> Table:
    """Return counts of words as a CSR matrix: frequencies as in language, and topics."""
    n_words = _between(rng, 3_000, 40_000)
    base = 1.0 / np.arange(5, n_words + 5)
    own = rng.integers(20, n_words, (n_classes, 60))  # words that a class has more often
    common = np.cumsum(base) / base.sum()
    y = rng.integers(0, n_classes, n_rows)
    lengths = np.maximum(rng.poisson(rng.integers(20, 121), n_rows), 3)
    rows = np.repeat(np.arange(n_rows), lengths)
    words = np.minimum(np.searchsorted(common, rng.random(len(rows))), n_words - 1)
    topical = rng.random(len(rows)) < rng.uniform(0.05, 0.2)
    words[topical] = own[y[rows[topical]], rng.integers(0, 60, topical.sum())]
    counts = sparse.csr_matrix((np.ones(len(rows)), (rows, words)), shape=(n_rows, n_words))
    counts.sum_duplicates()
    return counts, y


def wide(rng: Random, n_rows: int, n_classes: int) -> Table:
    """Return more columns than rows carry: a few groups of correlated ones say something."""
    n_columns = _between(rng, 300, 1_500)
    y = rng.integers(0, n_classes, n_rows)
    hidden = rng.normal(size=(n_rows, 30))
    hidden[:, :8] += rng.uniform(0.6, 1.5) * rng.normal(size=(n_classes, 8))[y]
    loadings = rng.normal(size=(30, n_columns)) * (rng.random((30, n_columns)) < 0.1)
    return hidden @ loadings + rng.normal(size=(n_rows, n_columns)), y


def noisy(rng: Random, n_rows: int, n_classes: int) -> Table:
    """Return classes that overlap, some labels wrong, and columns that say nothing."""
    X, y = clusters(rng, n_rows, n_classes)
    X = X + rng.uniform(0.5, 1.5) * X.std() * rng.normal(size=X.shape)
    X = np.concatenate([X, rng.normal(size=(n_rows, rng.integers(2, 21)))], axis=1)
    return X, _flipped(rng, y, n_classes, rng.uniform(0.1, 0.4))


def imbalanced(rng: Random, n_rows: int, n_classes: int) -> Table:
    """Return clusters or trees with frequencies of classes as those of words."""
    share = np.arange(1, n_classes + 1) ** -rng.uniform(0.7, 1.5)
    n_drawn = int(min(n_rows / share.mean(), max(n_rows, 600_000)))
    X, y = (clusters if rng.random() < 0.5 else thresholds)(rng, n_drawn, n_classes)
    kept = np.flatnonzero(rng.random(n_drawn) < share[y])[:n_rows]
    return X[kept], y[kept]


def categorical(rng: Random, n_rows: int, n_classes: int) -> Table:
    """Return categories with few and with many levels, beside numbers; some say nothing."""
    scores = rng.gumbel(size=(n_rows, n_classes)) * rng.uniform(0.2, 1.0)
    frame: dict[str, Any] = {}
    for column in range(rng.integers(3, 10)):
        n_levels = _between(rng, 3, min(2_000, n_rows // 2))
        share = np.arange(1, n_levels + 1) ** -rng.uniform(0.0, 1.2)
        codes = rng.choice(n_levels, n_rows, p=share / share.sum())
        if rng.random() < 0.7:
            scores += rng.uniform(0.3, 1.2) * rng.normal(size=(n_levels, n_classes))[codes]
        levels = [f"l{level:04d}" for level in range(n_levels)]
        frame[f"c{column}"] = pd.Categorical.from_codes(codes, levels)
    for column in range(rng.integers(0, 8)):
        values = rng.normal(size=n_rows)
        scores += rng.normal(0, 0.5, n_classes) * np.tanh(values)[:, None]
        frame[f"x{column}"] = np.where(rng.random(n_rows) < 0.05, np.nan, values)
    return pd.DataFrame(frame), scores.argmax(axis=1)


def ordinal(rng: Random, n_rows: int, n_classes: int) -> Table:
    """Return ordered categories, and an ordered outcome that they decide with noise."""
    n_columns = rng.integers(4, 13)
    hidden = rng.normal(size=(n_rows, n_columns))
    codes = np.stack(
        [_bins(values, rng.uniform(0.3, 1, rng.integers(2, 8))) for values in hidden.T], axis=1
    )
    value = hidden @ rng.normal(size=n_columns) + hidden[:, 0] * hidden[:, 1]
    value += rng.uniform(0.0, 0.6) * value.std() * rng.normal(size=n_rows)
    return _categories(codes, ordered=True), _bins(value, rng.uniform(0.2, 1.0, n_classes))


def missing(rng: Random, n_rows: int, n_classes: int) -> Table:
    """Return numbers with gaps, at random or where the value is large, whole columns rounded."""
    X, y = (thresholds if rng.random() < 0.5 else oblique)(rng, n_rows, n_classes)
    large = np.quantile(X, 0.8, axis=0) < X
    chosen = rng.random(X.shape[1]) < 0.5
    gaps = np.where(chosen, large & (rng.random(X.shape) < 0.7), rng.random(X.shape) < 0.1)
    return np.where(gaps, np.nan, X), y


@dataclass(frozen=True)
class Kind:
    """A kind of tables.

    Parameters
    ----------
    make : callable
        Takes a random generator, the number of rows and that of classes.
    sizes : tuple of str
        The sizes that it has, keys of `ROWS`.
    classes : int
        The largest number of classes.
    """

    make: Callable[[Random, int, int], Table]
    sizes: tuple[str, ...] = tuple(ROWS)
    classes: int = 30


KINDS = {
    "rules": Kind(rules),
    "board": Kind(board, ("small", "medium"), 12),
    "thresholds": Kind(thresholds, classes=100),
    "clusters": Kind(clusters, classes=300),
    "smooth": Kind(smooth),
    "oblique": Kind(oblique, classes=50),
    "images": Kind(images, ("small", "medium"), 40),
    "text": Kind(text, ("small", "medium"), 20),
    "wide": Kind(wide, ("small",), 10),
    "noisy": Kind(noisy, classes=20),
    "imbalanced": Kind(imbalanced, classes=60),
    "categorical": Kind(categorical),
    "ordinal": Kind(ordinal, ("small", "medium"), 8),
    "missing": Kind(missing, ("small", "medium")),
}
FAMILIES = tuple(f"{name}-{size}" for name, kind in KINDS.items() for size in kind.sizes)


def family(name: str, seed: int) -> Table:
    """Return a table of a family.

    Parameters
    ----------
    name : str
        One of `FAMILIES`.
    seed : int
        Every seed gives another table, with other numbers of rows, columns and classes.

    Returns
    -------
    X : ndarray, DataFrame or csr_matrix
        Features.
    y : ndarray of int64
        Labels 0 .. k - 1.
    """
    if name not in FAMILIES:
        raise ValueError(f"name={name!r} is not a family: take one of {', '.join(FAMILIES)}")
    kind_name, size = name.rsplit("-", 1)
    kind = KINDS[kind_name]
    rng = np.random.default_rng([seed, *name.encode()])
    n_rows = _between(rng, *ROWS[size])
    n_classes = _between(rng, 3, min(kind.classes, n_rows // _ROWS_A_CLASS))
    X, y = kind.make(rng, n_rows, n_classes)
    kept = np.flatnonzero(np.bincount(y)[y] >= FEWEST)
    y = np.unique(y[kept], return_inverse=True)[1]
    return (X.iloc[kept].reset_index(drop=True) if isinstance(X, pd.DataFrame) else X[kept]), y


def main() -> None:
    for name in FAMILIES:
        X, y = family(name, 0)
        print(f"{name}: {X.shape[0]} x {X.shape[1]}, {y.max() + 1} classes, {type(X).__name__}")


if __name__ == "__main__":
    main()
