"""Shapley values of trees, as path-dependent TreeSHAP defines them, by Gauss's quadrature.

The game of a tree: a leaf counts with the probability that a sample comes to it if splits on known
players follow the sample, and splits on all others the shares of the training samples. For a leaf
of value v this is ``v prod_q a_q``, where ``a_q`` is o_q, whether the sample passes all splits of
player q above the leaf, if q is known, and else z_q, the product of the shares there. The Shapley
value of player p is then an integral of a polynomial,

    v (o_p - z_p) integral_0^1 prod_{q != p} (o_q t + z_q (1 - t)) dt,

which a Gauss-Legendre rule of n points gives exactly for 2 n players on a path. The product is
kept for every node and point on the way down. On the way up the sums over the leaves below a node
go to the player of the split above it, less what the player's last split above has counted of
them. The cost is that of two walks through the tree for every point.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..runtime.compiling import kernel

_ROWS = 16  # rows that go through a tree together


class Paths(NamedTuple):
    """What the walks need to know of the nodes of trees; nodes are counted within a tree.

    Parameters
    ----------
    parents : ndarray of int32 of shape (n_nodes,)
        Node above, -1 for a root.
    players : ndarray of int32 of shape (n_nodes,)
        Player of the split above, -1 for a root.
    before : ndarray of int32 of shape (n_nodes,)
        Node below the last split of the same player further up, 0 where there is none.
    shares : ndarray of float64 of shape (n_nodes,)
        Product of the shares of the training samples at the player's splits down to here.
    n_points : ndarray of int64 of shape (n_trees,)
        Points of the quadrature that every tree needs.
    expected_share : ndarray of float64 of shape (n_leaves,)
        Share of the training samples that come to every leaf of a tree.
    """

    parents: NDArray[np.int32]
    players: NDArray[np.int32]
    before: NDArray[np.int32]
    shares: NDArray
    n_points: NDArray[np.int64]
    expected_share: NDArray


@kernel
def _follow(
    starts: NDArray, players: NDArray, children: NDArray, covers: NDArray, parents: NDArray,
    above: NDArray, before: NDArray, shares: NDArray, n_points: NDArray, expected: NDArray,
) -> None:  # fmt: skip
    """Fill in the fields of `Paths`."""
    weights = np.empty(len(children))
    counts = np.zeros(len(children), np.int64)  # distinct players above
    for t in range(len(starts) - 1):
        root, end = starts[t], starts[t + 1]
        for node in range(end - 1, root - 1, -1):
            child = children[node]
            weights[node] = covers[-1 - child] if child < 0 else weights[child] + weights[child + 1]
        parents[root], above[root], before[root], shares[root] = -1, -1, 0, 1.0
        most = 0
        for node in range(root, end):
            child = children[node]
            if child < 0:
                expected[-1 - child] = weights[node] / weights[root]
                most = max(most, counts[node])
                continue
            last = node  # the last node below a split of the same player, else the root
            while last > root and above[last] != players[node]:
                last = root + parents[last]
            for below in range(child, child + 2):
                parents[below] = node - root
                above[below] = players[node]
                before[below] = last - root
                shares[below] = shares[last] * weights[below] / weights[node]
                counts[below] = counts[node] + (1 if last == root else 0)
        n_points[t] = max((most + 1) // 2, 1)


def follow_paths(
    starts: NDArray[np.int64],
    players: NDArray[np.int32],
    children: NDArray[np.int32],
    covers: NDArray[np.uint16],
) -> Paths:
    """Return what the walks need to know of the nodes.

    Parameters
    ----------
    starts : ndarray of int64 of shape (n_trees + 1,)
        First node of every tree.
    players : ndarray of int32 of shape (n_nodes,)
        Player of every split.
    children : ndarray of int32 of shape (n_nodes,)
        Left child of every split, counted over all trees, the right one next to it; -1 less its
        number for a leaf. Children come after their parents.
    covers : ndarray of uint16 of shape (n_leaves,)
        Weight of every leaf's training samples, above 0.

    Returns
    -------
    Paths
        The fields.
    """
    n_nodes = len(children)
    parents, above, before = np.empty((3, n_nodes), dtype=np.int32)
    paths = Paths(
        parents,
        above,
        before,
        np.empty(n_nodes),
        np.empty(len(starts) - 1, dtype=np.int64),
        np.empty(len(covers)),
    )
    _follow(starts, players, children, covers, *paths)
    return paths


def quadrature(n_points: NDArray[np.int64]) -> tuple[NDArray, NDArray]:
    """Return rules of Gauss and Legendre on [0, 1].

    Parameters
    ----------
    n_points : ndarray of int64
        Numbers of points, in any order and more than once.

    Returns
    -------
    tuple of ndarray
        Points and weights; row n of each has the rule of n points, if that is one of the numbers.
    """
    most = int(n_points.max())
    points, weights = np.zeros((2, most + 1, most))
    for n in np.unique(n_points):
        at, weight = np.polynomial.legendre.leggauss(n)
        points[n, :n], weights[n, :n] = 0.5 * (at + 1.0), 0.5 * weight
    return points, weights


@kernel
def _find_wanted(children: NDArray, root: int, end: int, values: NDArray, wanted: NDArray) -> int:
    """List the nodes with leaves of a value other than 0 below them, root first; return how many.

    Nodes are counted within the tree.
    """
    flags = np.zeros(end - root, np.bool_)
    for node in range(end - 1, root - 1, -1):
        child = children[node]
        if child < 0:
            flags[node - root] = values[-1 - child] != 0.0
        else:
            flags[node - root] = flags[child - root] or flags[child + 1 - root]
    n = 0
    for node in range(end - root):
        if flags[node]:
            wanted[n] = node
            n += 1
    return n


@kernel
def _find_passed(
    data: NDArray, columns: NDArray, limits: NDArray, children: NDArray, root: int,
    wanted: NDArray, parents: NDArray, before: NDArray, passed: NDArray,
) -> None:  # fmt: skip
    """Fill in whether rows pass all splits of the player above a node: 1 or 0."""
    n = data.shape[1]
    for i in range(n):
        passed[0, i] = 1.0
    for e in range(1, len(wanted)):
        node = wanted[e]
        parent = root + parents[node]
        right = root + node > children[parent]
        values, limit = data[columns[parent]], limits[parent]
        last, now = passed[before[node]], passed[node]
        for i in range(n):
            now[i] = last[i] if (values[i] > limit) == right else 0.0


@kernel
def _walk_down(
    points: NDArray, wanted: NDArray, parents: NDArray, before: NDArray, shares: NDArray,
    passed: NDArray, products: NDArray, n: int,
) -> None:  # fmt: skip
    """Fill in ``prod_q (o_q t + z_q (1 - t))`` over the players above every node, by point."""
    for j in range(len(points) * n):
        products[0, j] = 1.0
    for e in range(1, len(wanted)):
        node = wanted[e]
        share, last = shares[node], shares[before[node]]
        never = share / last  # not passed before
        old, now = passed[before[node]], passed[node]
        source, target = products[parents[node]], products[node]
        for k in range(len(points)):
            t = points[k]
            divisor = 1.0 / (t + last * (1.0 - t))
            missed = share * (1.0 - t) * divisor  # passed before, but not now
            kept = (t + share * (1.0 - t)) * divisor
            for i in range(n):
                factor = never + old[i] * (missed - never) + now[i] * (kept - missed)
                target[np.uint64(k * n + i)] = source[np.uint64(k * n + i)] * factor


@kernel
def _walk_up(
    points: NDArray, weights: NDArray, wanted: NDArray, parents: NDArray, players: NDArray,
    before: NDArray, shares: NDArray, children: NDArray, root: int, values: NDArray,
    passed: NDArray, products: NDArray, out: NDArray, n: int,
) -> None:  # fmt: skip
    """Add what the points of the quadrature give to every player; products become sums."""
    for e in range(len(wanted)):
        node = wanted[e]
        child = children[root + node]
        value = values[-1 - child] if child < 0 else 0.0
        own = products[node]
        for j in range(len(points) * n):
            own[j] = value * own[j]
    for e in range(len(wanted) - 1, 0, -1):
        node = wanted[e]
        share, last = shares[node], shares[before[node]]
        old, now = passed[before[node]], passed[node]
        own, total, to = products[node], products[parents[node]], out[players[node]]
        for k in range(len(points)):
            t = points[k]
            counted = (1.0 - last) / (t + last * (1.0 - t))
            kept = weights[k] * ((1.0 - share) / (t + share * (1.0 - t)) - counted)
            missed = weights[k] * (-1.0 / (1.0 - t) - counted)  # passed before, but not now
            for i in range(n):
                amount = own[np.uint64(k * n + i)]
                total[np.uint64(k * n + i)] += amount
                to[i] += amount * (old[i] * missed + now[i] * (kept - missed))


@kernel
def add_contributions(
    data: NDArray, starts: NDArray, columns: NDArray, limits: NDArray, children: NDArray,
    parents: NDArray, players: NDArray, before: NDArray, shares: NDArray, n_points: NDArray,
    points: NDArray, weights: NDArray, values: NDArray, out: NDArray,
) -> None:  # fmt: skip
    """Add the Shapley values of all trees to ``out`` (n_players, n_rows).

    ``data`` (n_columns, n_rows) is compared with the limits, ``values`` are those of the leaves.
    """
    most = 0
    for tree in range(len(n_points)):
        most = max(most, starts[tree + 1] - starts[tree])
    n_rows = min(_ROWS, data.shape[1])
    wanted = np.empty(most, np.int64)
    passed = np.empty((most, n_rows))
    products = np.empty((most, n_rows * points.shape[1]))
    for tree in range(len(n_points)):
        root, end = starts[tree], starts[tree + 1]
        of = slice(root, end)
        nodes = wanted[: _find_wanted(children, root, end, values, wanted)]
        if len(nodes) < 2:
            continue
        n = n_points[tree]
        at, weight = points[n, :n], weights[n, :n]
        for first in range(0, data.shape[1], n_rows):
            part, to = data[:, first : first + n_rows], out[:, first : first + n_rows]
            _find_passed(
                part, columns, limits, children, root, nodes, parents[of], before[of], passed
            )
            _walk_down(
                at, nodes, parents[of], before[of], shares[of], passed, products, part.shape[1]
            )
            _walk_up(
                at, weight, nodes, parents[of], players[of], before[of], shares[of], children,
                root, values, passed, products, to, part.shape[1],
            )  # fmt: skip
