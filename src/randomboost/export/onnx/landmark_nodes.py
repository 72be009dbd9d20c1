"""Similarities to landmarks as nodes of a graph, in double precision."""

from __future__ import annotations

import numpy as np

from ...ensembles.plain_tables import LandmarkTable
from .graph import Graph

_FAR = 3e8  # from which on a bent value is 3; its square overflows nowhere


def add_landmarks(graph: Graph, samples: str, table: LandmarkTable) -> str:
    """Add weighted sums of similarities to landmarks.

    Matrix products do not add in the order of the package: before the sums are rounded to single
    precision their last bits may differ.

    Parameters
    ----------
    graph : Graph
        The graph.
    samples : str
        Scaled features, shape (n_samples, n_features), 0 for missing values.
    table : LandmarkTable
        The landmarks.

    Returns
    -------
    str
        The sums, shape (n_samples, n_classes), float32.
    """
    far, one, zero = (graph.constant(np.array(value)) for value in (_FAR, 1.0, 0.0))
    x = graph.cast(samples, np.float64)
    x = graph.add("Max", graph.add("Min", x, far), graph.constant(np.array(-_FAR)))
    t = graph.add("Div", x, graph.constant(np.array(3.0)))
    root = graph.add("Sqrt", graph.add("Add", one, graph.add("Mul", t, t)))
    weights, points, factors = (
        graph.cast(graph.constant(array), np.float64)  # half the size of a file
        for array in (table.weights, -2.0 * table.points.T, table.coefficients)
    )
    z = graph.add("Mul", graph.add("Div", x, root), weights)
    axis = graph.constant(np.array([1]))
    norms = graph.add("ReduceSum", graph.add("Mul", z, z), axis, keepdims=1)
    products = graph.add("MatMul", z, points)
    distances = graph.add("Add", norms, graph.constant(table.squares))
    distances = graph.add("Max", graph.add("Add", distances, products), zero)
    similarities = graph.add(
        "Exp", graph.add("Mul", distances, graph.constant(np.array(-table.width)))
    )
    return graph.cast(graph.add("MatMul", similarities, factors), np.float32)
