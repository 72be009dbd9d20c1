"""Linear scores as nodes of a graph, in double precision."""

from __future__ import annotations

import numpy as np

from ...ensembles.plain_tables import LinearTable
from .graph import Graph


def add_linear(graph: Graph, samples: str, table: LinearTable) -> str:
    """Add weighted sums of the features.

    Parameters
    ----------
    graph : Graph
        The graph.
    samples : str
        Scaled features, shape (n_samples, n_features), 0 for missing values.
    table : LinearTable
        The coefficients.

    Returns
    -------
    str
        The sums, shape (n_samples, n_classes), float32.
    """
    x = graph.cast(samples, np.float64)
    limits, coefficients = (
        graph.cast(graph.constant(array), np.float64)  # half the size of a file
        for array in (table.limits, table.coefficients)
    )
    x = graph.add("Max", graph.add("Min", x, limits), graph.add("Neg", limits))
    sums = graph.add("MatMul", x, coefficients)
    return graph.cast(graph.add("Sub", sums, graph.constant(table.base)), np.float32)
