"""Weak classifiers on plain features as the tables that exports write."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..weak_learners.hypotheses import FittedEstimator, SmallTree, Stump
from .base import ModelShape
from .plain_tables import PlainTables, StumpTable, TreeTable


def feature_tables(
    rounds: Sequence[Sequence[Any]], shape: ModelShape, votes: NDArray, **decoding: Any
) -> PlainTables:
    """Return weak classifiers that look at the features themselves as tables.

    Parameters
    ----------
    rounds : sequence of sequence
        The weak classifiers of every round.
    shape : ModelShape
        Sizes of the model.
    votes : ndarray
        What outputs are multiplied by.
    **decoding
        Further fields of `PlainTables`.

    Returns
    -------
    PlainTables
        The tables.
    """
    members = [member for row in rounds for member in row]
    rest: dict[str, Any] = {"n_views": 1, "n_values": shape.n_features, "rows": None}
    rest |= {"votes": votes} | decoding
    if not all(isinstance(member, Stump) for member in members):
        return PlainTables(None, small_tree_table(members), **rest)
    columns = np.array([member.column for member in members], dtype=np.int64)
    mixes = [member.combination for member in members if member.combination is not None]
    if mixes:
        used, columns = np.unique(np.maximum(columns, 0), return_inverse=True)
        mixed = [member.combination is not None for member in members]
        columns[mixed] = len(used) + np.arange(len(mixes))
        rest |= {"n_values": len(used) + len(mixes), "rows": _feature_rows(shape, used, mixes)}
    size = (len(rounds), -1)
    table = StumpTable(
        columns.reshape(size),
        np.array([member.threshold for member in members]).astype(shape.dtype).reshape(size),
        np.array([member.left for member in members], dtype=np.float64).reshape(size),
        np.array([member.right for member in members], dtype=np.float64).reshape(size),
    )
    return PlainTables(table, None, **rest)


def _feature_rows(shape: ModelShape, used: NDArray[np.int64], mixes: list[Any]) -> Callable:
    """Return the rows of some single features and then of mixtures."""
    d = shape.n_features
    parts = [sp.csr_array((np.ones(len(used)), used, np.arange(len(used) + 1)), (len(used), d))]
    for mix in mixes:
        order = np.argsort(mix.columns, kind="stable")
        place = mix.columns[order], [0, len(order)]
        parts.append(sp.csr_array((mix.coefficients[order], *place), (1, d)))
    every = sp.vstack(parts, format="csr").astype(shape.dtype)
    return lambda numbers: every[numbers]


def small_tree_table(members: Iterable[Any]) -> TreeTable:
    """Return decision trees that were taken over from scikit-learn as one table.

    Parameters
    ----------
    members : iterable of FittedEstimator
        The trees; constant stumps may be among them.

    Returns
    -------
    TreeTable
        The trees.
    """
    parts = [_nodes(member) for member in members]
    sizes = [len(part[0]) for part in parts]
    columns, thresholds, left, values = (
        np.concatenate([part[i] for part in parts]) for i in range(4)
    )
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return TreeTable(starts, columns, thresholds, left, values, rounded=True)


def _nodes(member: Any) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Return columns, thresholds, left children and outputs, with children side by side."""
    if isinstance(member, Stump) and member.left == member.right:  # a constant
        return np.array([-1]), np.zeros(1), np.array([-1]), np.array([member.left])
    if not isinstance(member, FittedEstimator) or not isinstance(member.estimator, SmallTree):
        kind = type(getattr(member, "estimator", member)).__name__
        raise ValueError(
            f"the model has weak classifiers of the kind {kind} (beside others): only stumps, "
            "'wlda' and decision trees can be exported, and only one of these in a model"
        )
    tree = member.estimator
    order, left = [0], []
    for node in order:  # grows while it is walked
        inner = tree.features[node] >= 0
        left.append(len(order) if inner else -1)
        order += [int(tree.left[node]), int(tree.right[node])] if inner else []
    share = (np.clip(tree.values[order], -1.0, 1.0) + 1.0) / 2.0
    return (
        np.where(tree.features[order] < 0, -1, member.columns[tree.features[order]]).astype(
            np.int64
        ),
        tree.thresholds[order],
        np.array(left, dtype=np.int64),
        member.negative + share * (member.positive - member.negative),
    )
