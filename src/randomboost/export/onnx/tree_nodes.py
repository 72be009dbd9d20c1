"""Trees as the tree operator of ONNX.

ONNX has a newer, more compact one (TreeEnsemble, version 5 of ai.onnx.ml), but versions of
onnxruntime up to 1.23 lack it or give wrong sums, and skl2onnx does not take it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import numpy_helper

from ...ensembles.plain_tables import TreeTable
from ...projections.class_codes import BELOW, LEFT
from .graph import ML_DOMAIN, Graph


class Ensemble:
    """Trees that each add to one sum.

    Parameters
    ----------
    table : TreeTable
        The trees that are planted, in the order in which they are planted.
    """

    def __init__(self, table: TreeTable) -> None:
        self._table = table
        self._sources: list[int] = []  # the node of the table that a node comes from
        self._first: list[int] = []  # the child of a split where the value is above; -1: leaf
        self._roots: list[int] = []
        self._targets: list[int] = []  # by tree

    def plant(self, number: int, target: int, codes: NDArray[np.uint8] | None = None) -> None:
        """Add a tree as one class sees it.

        Parameters
        ----------
        number : int
            Number of the tree in the table.
        target : int
            The sum that its outputs are added to.
        codes : ndarray of uint8 or None
            Which way the class goes, by number of the code; None: right where above. Splits
            that do not concern the class are left out.
        """
        table, start = self._table, int(self._table.starts[number])

        def way(node: int) -> Any:
            return None if codes is None or table.codes is None else codes[table.codes[node]]

        def split_or_leaf(node: int) -> int:
            while table.left[node] >= 0 and way(node) == LEFT:
                node = start + int(table.left[node])
            return node

        root = len(self._sources)
        queue = [split_or_leaf(start)]
        for node in queue:  # grows while it is walked
            left = int(table.left[node])
            self._sources.append(node)
            self._first.append(-1 if left < 0 else root + len(queue))
            if left >= 0:
                children = [split_or_leaf(start + left + 1), split_or_leaf(start + left)]
                queue += children[::-1] if way(node) == BELOW else children
        self._roots.append(root)
        self._targets.append(target)

    def add_to(self, graph: Graph, values: str, n_targets: int, dtype: Any) -> str:
        """Add the trees to a graph.

        Parameters
        ----------
        graph : Graph
            The graph.
        values : str
            What the splits look at, shape (n_samples, n_values).
        n_targets : int
            Number of sums.
        dtype : dtype
            Precision of `values`.

        Returns
        -------
        str
            The sums, shape (n_samples, n_targets), float32.
        """
        sources, first = np.array(self._sources), np.array(self._first)
        inner = first >= 0
        sizes = np.diff([*self._roots, len(first)])
        trees, starts = np.repeat(np.arange(len(sizes)), sizes), np.repeat(self._roots, sizes)
        numbers = np.arange(len(first)) - starts
        attributes: dict[str, Any] = {
            "n_targets": n_targets,
            "nodes_treeids": trees,
            "nodes_nodeids": numbers,
            "nodes_featureids": np.where(inner, self._table.columns[sources], 0),
            "nodes_modes": ["BRANCH_GT" if split else "LEAF" for split in inner],
            "nodes_truenodeids": np.where(inner, first - starts, 0),
            "nodes_falsenodeids": np.where(inner, first - starts + 1, 0),
            "target_treeids": trees[~inner],
            "target_nodeids": numbers[~inner],
            "target_ids": np.repeat(self._targets, sizes)[~inner],
        }
        floats = {
            "nodes_values": np.where(inner, self._table.thresholds[sources], 0).astype(dtype),
            "target_weights": self._table.values[sources][~inner].astype(dtype),
        }
        for name, array in floats.items():
            if np.dtype(dtype) == np.float64:
                attributes[f"{name}_as_tensor"] = numpy_helper.from_array(array)
            else:
                attributes[name] = array
        return graph.add("TreeEnsembleRegressor", values, domain=ML_DOMAIN, **attributes)
