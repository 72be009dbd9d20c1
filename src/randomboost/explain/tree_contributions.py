"""Contributions of features to the scores of trees with sparse vector leaves.

The players of the game are the features, and the mixtures of several features that splits compare.
What a mixture contributes is divided among its features, see `divide`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..projections.mixing import project
from ..runtime.memory import check_memory
from ..runtime.parallel import ThreadTeam
from .tree_shapley import Paths, add_contributions, follow_paths, quadrature

_TOGETHER = 256  # rows that are explained together


class TreeArrays(NamedTuple):
    """Trees with sparse vector leaves as plain arrays.

    Parameters
    ----------
    starts : ndarray of int64 of shape (n_trees + 1,)
        First node of every tree.
    columns : ndarray of int32 of shape (n_nodes,)
        Row of `directions` that a split compares; anything for a leaf.
    limits : ndarray of shape (n_nodes,)
        Larger values go right.
    children : ndarray of int32 of shape (n_nodes,)
        As for `tree_shapley.follow_paths`.
    covers : ndarray of uint16 of shape (n_leaves,)
        Weight of every leaf's training samples.
    leaves, classes, values : ndarray of shape (n_entries,)
        Leaf, class and value of every entry of the leaf vectors.
    prior : ndarray of shape (n_classes,)
        Scores before the first tree.
    directions : CSR matrix of shape (n_columns, n_features)
        Coefficients of what splits compare.
    """

    starts: NDArray[np.int64]
    columns: NDArray[np.int32]
    limits: NDArray
    children: NDArray[np.int32]
    covers: NDArray[np.uint16]
    leaves: NDArray[np.int64]
    classes: NDArray
    values: NDArray
    prior: NDArray
    directions: Any


class _Players:
    """Directions of one feature are the player of that feature, all others one each.

    Parameters
    ----------
    directions : CSR matrix of shape (n_directions, n_features)
        Coefficients of the directions.
    """

    def __init__(self, directions: Any) -> None:
        sizes = np.diff(directions.indptr)
        single = sizes == 1
        features = directions.indices[directions.indptr[:-1][single]]
        self.features, places = np.unique(features, return_inverse=True)
        self.mixtures = directions[~single].astype(np.float64)
        self.count = len(self.features) + self.mixtures.shape[0]
        self.of_direction = np.empty(len(sizes), dtype=np.int32)
        self.of_direction[single] = places
        self.of_direction[~single] = np.arange(len(self.features), self.count)

    def as_features(self, contributions: NDArray, X: Any) -> NDArray:
        """Return contributions (n_players, n_rows) as those of features (n_rows, n_features)."""
        out = np.zeros(X.shape)
        n = len(self.features)
        out[:, self.features] = contributions[:n].T
        if self.mixtures.shape[0]:
            out += divide(contributions[n:], self.mixtures, X)
        return out


def divide(contributions: NDArray, mixtures: Any, X: Any) -> NDArray:
    """Divide the contributions of mixtures of features among the features.

    Feature j of a mixture ``u = sum_j c_j x_j`` of scaled features, whose mean is 0, gets the share
    ``(u c_j x_j + c_j**2) / (u**2 + sum_i c_i**2)``. That is its part in u where u is large, and
    its part in the squared length of the mixture where u is small; the shares add up to 1. A
    feature that pulls the mixture to the other side has a negative share.

    Parameters
    ----------
    contributions : ndarray of shape (n_mixtures, n_rows)
        Contributions of the mixtures.
    mixtures : CSR matrix of shape (n_mixtures, n_features)
        Coefficients.
    X : ndarray or CSR matrix of shape (n_rows, n_features)
        Scaled data; missing values count as 0.

    Returns
    -------
    ndarray of shape (n_rows, n_features)
        Contributions of the features.
    """
    x = np.nan_to_num(X.toarray() if sp.issparse(X) else X, nan=0.0).astype(np.float64)
    u = mixtures @ x.T
    squares = mixtures.power(2)
    length = np.sqrt(np.asarray(squares.sum(axis=1)))
    root = np.hypot(u, length.reshape(-1, 1))
    root[root == 0] = 1.0
    by_value = mixtures.T @ (contributions * (u / root) / root)
    by_length = squares.T @ (contributions / root / root)
    return x * by_value.T + by_length.T


class _Scores:
    """The leaf values of one class after the other.

    Parameters
    ----------
    trees : TreeArrays
        The trees.
    paths : Paths
        What is known of their nodes.
    """

    def __init__(self, trees: TreeArrays, paths: Paths) -> None:
        self._trees, self._paths = trees, paths
        self._order = np.argsort(trees.classes, kind="stable")
        n_classes = len(trees.prior)
        self._starts = np.searchsorted(trees.classes[self._order], np.arange(n_classes + 1))

    def of_class(self, number: int) -> tuple[float, NDArray]:
        """Return the base value of a class and its values in all leaves.

        Of two classes the score is the difference to the other one's, as in `decision_function`.
        """
        values = np.zeros(len(self._trees.covers))
        base = self._add(number, 1.0, values)
        if len(self._trees.prior) == 2:
            base += self._add(1 - number, -1.0, values)
        return base, values

    def _add(self, number: int, sign: float, values: NDArray) -> float:
        entries = self._order[self._starts[number] : self._starts[number + 1]]
        leaves, added = self._trees.leaves[entries], sign * self._trees.values[entries]
        values[leaves] += added
        expected = (added * self._paths.expected_share[leaves]).sum()
        return sign * float(self._trees.prior[number]) + float(expected)


def _pieces(classes: NDArray[np.int64]) -> list[tuple[int, NDArray[np.int64]]]:
    """Return (class, places where it stands), at most `_TOGETHER` places each."""
    order = np.argsort(classes, kind="stable")
    ends = np.flatnonzero(np.diff(classes[order])) + 1
    return [
        (int(classes[group[0]]), group[first : first + _TOGETHER])
        for group in np.split(order, ends)
        for first in range(0, len(group), _TOGETHER)
    ]


def explain_trees(
    trees: TreeArrays, X: Any, classes: NDArray[np.int64], team: ThreadTeam
) -> tuple[NDArray, NDArray]:
    """Return the contributions of features to the scores of classes.

    Parameters
    ----------
    trees : TreeArrays
        The trees.
    X : ndarray or CSR matrix of shape (n_rows, n_features)
        Scaled data.
    classes : ndarray of int64 of shape (n_rows, n_outputs)
        The classes to explain in every row.
    team : ThreadTeam
        Threads.

    Returns
    -------
    tuple of ndarray
        Contributions (n_rows, n_features, n_outputs), and base values (n_rows, n_outputs).
    """
    n_features = X.shape[1]
    check_memory(
        8.0 * classes.size * n_features,
        f"contributions of {n_features:,} features to {classes.size:,} scores",
        "explain fewer rows or fewer classes at a time",
    )
    players = _Players(trees.directions)
    # the player of a leaf is never asked for
    by_node = players.of_direction[np.where(trees.children < 0, 0, trees.columns)]
    paths = follow_paths(trees.starts, by_node, trees.children, trees.covers)
    rule = quadrature(paths.n_points)
    scores = _Scores(trees, paths)
    n_outputs = classes.shape[1]
    contributions = np.empty((classes.size, n_features))
    bases = np.empty(classes.size)
    pieces = _pieces(classes.ravel())
    alone = ThreadTeam(1)

    def work(number: int) -> None:
        label, places = pieces[number]
        rows = X[places // n_outputs]
        bases[places], values = scores.of_class(label)
        data = project(rows, trees.directions, alone)
        out = np.zeros((players.count, len(places)))
        limits = trees.limits.astype(data.dtype, copy=False)
        add_contributions(
            data, trees.starts, trees.columns, limits, trees.children, *paths[:5], *rule, values,
            out,
        )  # fmt: skip
        contributions[places] = players.as_features(out, rows)

    team.for_each(work, len(pieces))
    shape = classes.shape[0], n_outputs, n_features
    return contributions.reshape(shape).transpose(0, 2, 1), bases.reshape(shape[:2])
