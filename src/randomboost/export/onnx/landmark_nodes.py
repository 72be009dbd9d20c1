"""Similarities to landmarks as nodes of a graph, in double precision."""

from __future__ import annotations

from functools import reduce

import numpy as np

from ...ensembles.plain_tables import LandmarkTable
from .graph import Graph

_FAR = 3e8  # from which on a bent value is 3; its square overflows nowhere


def add_landmarks(graph: Graph, samples: str, tables: tuple[LandmarkTable, ...]) -> str:
    """Add weighted sums of similarities to landmarks.

    Matrix products do not add in the order of the package: before the sums are rounded to single
    precision their last bits may differ.

    Parameters
    ----------
    graph : Graph
        The graph.
    samples : str
        Scaled features, shape (n_samples, n_features), 0 for missing values.
    tables : tuple of LandmarkTable
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
    bent = graph.add("Div", x, root)
    sums = [_weighted_sums(graph, bent, table, zero) for table in tables]
    total = reduce(lambda some, more: graph.add("Add", some, more), sums)
    return graph.cast(total, np.float32)


def _weighted_sums(graph: Graph, bent: str, table: LandmarkTable, zero: str) -> str:
    """Add weighted sums of the similarities of bent features to some landmarks."""
    weights, points, factors = (
        graph.cast(graph.constant(array), np.float64)  # half the size of a file
        for array in (table.weights, -2.0 * table.points.T, table.coefficients)
    )
    z = graph.add("Mul", bent, weights)
    axis = graph.constant(np.array([1]))
    norms = graph.add("ReduceSum", graph.add("Mul", z, z), axis, keepdims=1)
    products = graph.add("MatMul", z, points)
    distances = graph.add("Add", norms, graph.constant(table.squares))
    distances = graph.add("Max", graph.add("Add", distances, products), zero)
    similarities = graph.add(
        "Exp", graph.add("Mul", distances, graph.constant(np.array(-table.width)))
    )
    return graph.add("MatMul", similarities, factors)
