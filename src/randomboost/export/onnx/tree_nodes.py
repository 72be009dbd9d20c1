"""Trees as the tree operator of ONNX.

ONNX has a newer, more compact one (TreeEnsemble, version 5 of ai.onnx.ml), but versions of
onnxruntime up to 1.23 lack it or give wrong sums, and skl2onnx does not take it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from onnx import numpy_helper

from ...ensembles.plain_tables import TreeTable
from .graph import ML_DOMAIN, Graph


class Entries(NamedTuple):
    """What leaves add to sums.

    Parameters
    ----------
    nodes : ndarray of int64
        The leaf of every entry, by its place among the nodes of all trees.
    targets : ndarray of int64
        The sum that is added to.
    weights : ndarray
        What is added.
    """

    nodes: NDArray[np.int64]
    targets: NDArray[np.int64]
    weights: NDArray


def owners(table: TreeTable) -> NDArray[np.int64]:
    """Return the tree that every node belongs to.

    Parameters
    ----------
    table : TreeTable
        The trees.

    Returns
    -------
    ndarray of int64 of shape (n_nodes,)
        Numbers of trees.
    """
    return np.repeat(np.arange(len(table.starts) - 1), np.diff(table.starts))


def some_trees(table: TreeTable, first: int, last: int) -> TreeTable:
    """Return some of the trees that have one output a leaf.

    Parameters
    ----------
    table : TreeTable
        The trees.
    first, last : int
        The first one, and the one after the last.

    Returns
    -------
    TreeTable
        Those trees.
    """
    nodes = slice(table.starts[first], table.starts[last])
    return replace(
        table,
        starts=table.starts[first : last + 1] - table.starts[first],
        columns=table.columns[nodes],
        thresholds=table.thresholds[nodes],
        left=table.left[nodes],
        values=table.values[nodes],
    )


def single_entries(table: TreeTable, targets: NDArray[np.int64]) -> Entries:
    """Return the outputs of leaves as entries.

    Parameters
    ----------
    table : TreeTable
        Trees that have one output a leaf.
    targets : ndarray of int64 of shape (n_trees,)
        The sum that each tree adds to.

    Returns
    -------
    Entries
        One entry a leaf.
    """
    nodes = np.flatnonzero(table.left < 0)
    return Entries(nodes, targets[owners(table)[nodes]], table.values[nodes])


def vector_entries(table: TreeTable) -> Entries:
    """Return the vectors of leaves as entries.

    Parameters
    ----------
    table : TreeTable
        Trees that have vector leaves.

    Returns
    -------
    Entries
        The entries of all leaves; targets are classes.
    """
    assert table.leaf_starts is not None
    assert table.leaf_classes is not None
    assert table.leaf_values is not None
    nodes = np.repeat(np.flatnonzero(table.left < 0), np.diff(table.leaf_starts))
    return Entries(nodes, table.leaf_classes, table.leaf_values)


def after_prior(table: TreeTable, prior: NDArray[np.float32]) -> TreeTable:
    """Return trees after a first one that has a single leaf with the prior.

    `base_values` would not do: onnxruntime leaves them out of sums that no leaf of a sample adds
    to, and adds them last, where the package begins with them.

    Parameters
    ----------
    table : TreeTable
        Trees that have vector leaves.
    prior : ndarray of float32 of shape (n_classes,)
        Scores before the first tree.

    Returns
    -------
    TreeTable
        One tree more.
    """
    assert table.leaf_starts is not None
    assert table.leaf_classes is not None
    assert table.leaf_values is not None
    n_classes = len(prior)
    return replace(
        table,
        starts=np.append(0, table.starts + 1),
        columns=np.append(-1, table.columns),
        thresholds=np.append(table.thresholds.dtype.type(0), table.thresholds),
        left=np.append(-1, table.left),
        values=np.append(np.float32(0), table.values),
        leaf_starts=np.append(0, table.leaf_starts + n_classes),
        leaf_classes=np.append(np.arange(n_classes), table.leaf_classes),
        leaf_values=np.append(prior, table.leaf_values),
        leaf_steps=None,
        leaf_units=None,
    )


def add_trees(
    graph: Graph,
    values: str,
    table: TreeTable,
    entries: Entries,
    n_targets: int,
    dtype: Any,
) -> str:
    """Add trees to a graph.

    Parameters
    ----------
    graph : Graph
        The graph.
    values : str
        What the splits compare, shape (n_samples, n_values).
    table : TreeTable
        The trees.
    entries : Entries
        What their leaves add to the sums.
    n_targets : int
        Number of sums.
    dtype : dtype
        Precision of `values`.

    Returns
    -------
    str
        The sums, shape (n_samples, n_targets), float32; 0 where no leaf adds anything.
    """
    trees = owners(table)
    numbers = np.arange(len(trees)) - table.starts[trees]
    inner = table.left >= 0
    attributes: dict[str, Any] = {
        "n_targets": n_targets,
        "nodes_treeids": trees,
        "nodes_nodeids": numbers,
        "nodes_featureids": np.where(inner, table.columns, 0),
        "nodes_modes": ["BRANCH_GT" if split else "LEAF" for split in inner],
        "nodes_truenodeids": np.where(inner, table.left + 1, 0),
        "nodes_falsenodeids": np.where(inner, table.left, 0),
        "target_treeids": trees[entries.nodes],
        "target_nodeids": numbers[entries.nodes],
        "target_ids": entries.targets,
    }
    floats = {
        "nodes_values": np.where(inner, table.thresholds, 0),
        "target_weights": entries.weights,
    }
    for name, array in floats.items():
        if np.dtype(dtype) == np.float64:
            attributes[f"{name}_as_tensor"] = numpy_helper.from_array(array.astype(np.float64))
        else:
            attributes[name] = array.astype(np.float32)
    return graph.add("TreeEnsembleRegressor", values, domain=ML_DOMAIN, **attributes)
