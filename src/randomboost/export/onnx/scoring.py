"""The scores of a model as nodes of a graph.

Arrays of values and outputs have the samples last, so that sums over features and over rounds run
along the first axis: there onnxruntime adds in order, as the package does, and values have the
same bits. That matters where samples lie just on a cut, as whole numbers often do. For mixtures of
many features a matrix product takes the place of these sums: it is many times as fast, may differ
in the last bit, and such mixtures hardly ever lie on a cut.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...ensembles.plain_tables import StumpTable, TreeTable
from ..portable import PortableModel
from .graph import Graph
from .landmark_nodes import add_landmarks
from .linear_nodes import add_linear
from .tree_nodes import (
    add_trees,
    after_prior,
    owners,
    single_entries,
    some_trees,
    vector_entries,
)

_SHORT = 8  # features up to which mixtures are summed in order
_DENSE = 16  # shared mixtures of fewer than 1 / _DENSE of the features are summed in order
_ROWS = 2048  # numbers a sample that a node makes, unless a round makes more
_PRODUCTS = 512  # the same for products that are summed, which should stay in the cache


def add_scores(graph: Graph, model: PortableModel, x: str) -> str:
    """Add the scores of a model to a graph.

    Parameters
    ----------
    graph : Graph
        The graph.
    model : PortableModel
        The model.
    x : str
        Its input, shape (n_samples, n_features), float32 or float64.

    Returns
    -------
    str
        The scores, shape (n_samples, n_classes), in the precision of the model.
    """
    builder = _Builder(graph, model, x)
    tables = model.tables
    if tables.trees is None:
        assert tables.stumps is not None
        sums = builder.stumps(tables.stumps)
    elif tables.votes is None:
        sums = builder.vector_trees(tables.trees)
    elif tables.n_views > 1:
        sums = builder.class_wise_trees(tables.trees)
    else:
        sums = builder.voting_trees(tables.trees)
    return graph.cast(graph.add("Transpose", builder.decoded(sums), perm=[1, 0]), model.dtype)


class _Builder:
    """Adds a model to a graph step by step."""

    def __init__(self, graph: Graph, model: PortableModel, x: str) -> None:
        self._graph, self._model = graph, model
        samples = self._raw = self._samples = self._scaled(x)
        self._features = self._filled = graph.add("Transpose", samples, perm=[1, 0])
        if model.missing:
            zero = graph.constant(np.zeros(1, model.dtype))
            self._samples = graph.add("Where", graph.add("IsNaN", samples), zero, samples)
            self._filled = graph.add("Transpose", self._samples, perm=[1, 0])

    def _scaled(self, x: str) -> str:
        graph, scaling = self._graph, self._model.scaling
        x = graph.cast(x, self._model.dtype)
        if self._model.fill is not None:
            fill = graph.constant(self._model.fill.astype(self._model.dtype))
            x = graph.add("Where", graph.add("IsNaN", x), fill, x)
        if scaling is None:
            return x
        x = graph.add("Div", graph.cast(x, np.float64), graph.constant(scaling.peak))
        x = graph.add("Sub", x, graph.constant(scaling.center))
        x = graph.add("Div", x, graph.constant(scaling.spread))
        return graph.cast(x, self._model.dtype)

    # -- values --------------------------------------------------------------------------------

    def _values(self, numbers: NDArray[np.int64]) -> str:
        """Add some values, shape (len(numbers) * n_views, n_samples), views side by side."""
        graph, model = self._graph, self._model
        if model.tables.rows is None:
            return graph.add("Gather", self._features, graph.constant(numbers), axis=0)
        rows = model.tables.rows(numbers)
        rows = rows[np.arange(rows.shape[0]).reshape(model.tables.n_views, -1).T.ravel()]
        lengths = np.diff(rows.indptr)
        if model.tables.n_views > 1 and lengths.max(initial=0) > _SHORT:
            # of transposed features it would fail in older versions of onnxruntime
            values = graph.add("MatMul", self._samples, graph.constant(rows.toarray().T))
            return graph.add("Transpose", values, perm=[1, 0])
        sizes = np.where(lengths == 1, 1, 2 ** np.ceil(np.log2(np.maximum(lengths, 2))).astype(int))
        sizes = np.where((lengths > 1) & (2 * sizes > model.n_features), model.n_features, sizes)
        parts = []
        for size in np.unique(sizes):
            alike = np.flatnonzero(sizes == size)
            step = max(1, _PRODUCTS // size)
            parts += np.split(alike, np.arange(step, len(alike), step))
        made = [self._sums_in_order(rows[part], sizes[part[0]]) for part in parts]
        together = made[0] if len(made) == 1 else graph.add("Concat", *made, axis=0)
        places = np.argsort(np.concatenate(parts))
        return graph.add("Gather", together, graph.constant(places), axis=0)

    def _shared_values(self) -> tuple[str, NDArray[np.int64]]:
        """Add the values that all classes see, samples first; return them and their columns."""
        graph, tables, dtype = self._graph, self._model.tables, self._model.dtype
        assert tables.rows is not None
        rows = tables.rows(np.arange(tables.n_values))
        long = np.diff(rows.indptr) > max(_SHORT, self._model.n_features // _DENSE)
        long &= dtype == np.float64  # in single precision the last bits matter too often
        short, long = np.flatnonzero(~long), np.flatnonzero(long)
        parts = []
        if len(short):
            parts.append(graph.add("Transpose", self._values(short), perm=[1, 0]))
        if len(long):
            factors = graph.constant(rows[long].toarray().T)
            parts.append(graph.add("MatMul", self._samples, factors))
        together = parts[0] if len(parts) == 1 else graph.add("Concat", *parts, axis=1)
        return together, np.argsort(np.concatenate([short, long]))

    def _sums_in_order(self, rows: Any, size: int) -> str:
        """Add mixtures of at most `size` features, summed in the order of the features."""
        graph, lengths = self._graph, np.diff(rows.indptr)
        if size == self._model.n_features and size > 1:
            every = graph.reshape(self._filled, size, 1, -1)
            factors = graph.constant(rows.toarray().T[:, :, None])
            return graph.total(graph.add("Mul", every, factors), 0)
        features = np.zeros((size, len(lengths)), dtype=np.int64)
        coefficients = np.zeros((size, len(lengths), 1), dtype=rows.dtype)
        places = np.arange(rows.nnz) - np.repeat(rows.indptr[:-1], lengths)
        owners = np.repeat(np.arange(len(lengths)), lengths)
        features[places, owners] = rows.indices
        coefficients[places, owners, 0] = rows.data
        keeps_missing = size == 1 and self._model.tables.n_views == 1
        source = self._features if keeps_missing else self._filled
        parts = graph.add("Gather", source, graph.constant(features), axis=0)
        return graph.total(graph.add("Mul", parts, graph.constant(coefficients)), 0)

    # -- weak classifiers ----------------------------------------------------------------------

    def _blocks(self, a_round: int) -> Iterator[slice]:
        """Yield rounds that are worked on together."""
        assert self._model.tables.votes is not None
        n_rounds = len(self._model.tables.votes)
        step = max(1, _ROWS // a_round)
        for start in range(0, n_rounds, step):
            yield slice(start, min(start + step, n_rounds))

    def _sum(self, parts: list[str]) -> str:
        """Add the sums of blocks."""
        total = parts[0]
        for part in parts[1:]:
            total = self._graph.add("Add", total, part)
        return total

    def stumps(self, table: StumpTable) -> str:
        """Add sums of stumps, shape (n_sums, n_samples)."""
        graph, n_views, votes = self._graph, self._model.tables.n_views, self._model.tables.votes
        assert votes is not None
        a_round = table.columns.shape[1] * n_views
        parts = []
        for block in self._blocks(max(a_round, votes.shape[1])):
            values = self._values(table.columns[block].ravel())
            cuts = graph.constant(np.repeat(table.thresholds[block].ravel(), n_views)[:, None])
            n_rounds = len(votes[block])
            above = graph.reshape(graph.add("Greater", values, cuts), n_rounds, a_round, -1)
            high = graph.constant((votes[block] * table.high[block])[:, :, None])
            low = graph.constant((votes[block] * table.low[block])[:, :, None])
            parts.append(graph.total(graph.add("Where", above, high, low), 0))
        return self._sum(parts)

    def _comparable(self, table: TreeTable, values: str) -> tuple[str, Any]:
        """Return values as trees compare them, samples first, and their precision."""
        values = self._graph.add("Transpose", values, perm=[1, 0])
        if not table.rounded:
            return values, self._model.dtype
        values = self._graph.cast(values, np.float32)
        return self._graph.cast(values, np.float64), np.float64

    def vector_trees(self, table: TreeTable) -> str:
        """Add sums of trees with vector leaves, shape (n_classes, n_samples)."""
        graph, model = self._graph, self._model
        values = self._raw
        if model.tables.rows is not None:
            values, places = self._shared_values()
            columns = np.where(table.columns < 0, -1, places[table.columns])
            table = replace(table, columns=columns)
        assert model.tables.baseline is not None
        table = after_prior(table, model.tables.baseline)
        entries = vector_entries(table)
        sums = add_trees(graph, values, table, entries, len(model.classes), model.dtype)
        if model.tables.landmarks:
            begin = add_landmarks(graph, self._samples, model.tables.landmarks)
            sums = graph.add("Add", sums, begin)
        if model.tables.linear is not None:
            begin = add_linear(graph, self._samples, model.tables.linear)
            sums = graph.add("Add", sums, begin)
        return graph.add("Transpose", sums, perm=[1, 0])

    def class_wise_trees(self, table: TreeTable) -> str:
        """Add sums of trees on values of every class, shape (n_classes, n_samples)."""
        graph, tables = self._graph, self._model.tables
        assert tables.votes is not None
        factors = tables.votes[:, 0][owners(table)]
        table = replace(table, values=table.values * factors)
        values = self._values(np.arange(tables.n_values))
        values, dtype = self._comparable(table, graph.reshape(values, tables.n_values, -1))
        entries = single_entries(table, np.zeros(len(table.starts) - 1, dtype=np.int64))
        sums = add_trees(graph, values, table, entries, 1, dtype)
        return graph.reshape(sums, tables.n_views, -1)

    def voting_trees(self, table: TreeTable) -> str:
        """Add sums of votes by trees that look at the features, shape (n_sums, n_samples)."""
        graph, votes = self._graph, self._model.tables.votes
        assert votes is not None
        a_round = (len(table.starts) - 1) // len(votes)
        features, dtype = self._comparable(table, self._features)
        parts = []
        for block in self._blocks(max(a_round, votes.shape[1])):
            some = some_trees(table, block.start * a_round, block.stop * a_round)
            n_trees = len(some.starts) - 1
            entries = single_entries(some, np.arange(n_trees))
            outputs = add_trees(graph, features, some, entries, n_trees, dtype)
            outputs = graph.cast(graph.add("Transpose", outputs, perm=[1, 0]), np.float64)
            outputs = graph.reshape(outputs, len(votes[block]), a_round, -1)
            factors = graph.constant(votes[block][:, :, None].astype(np.float64))
            parts.append(graph.total(graph.add("Mul", outputs, factors), 0))
        return self._sum(parts)

    def decoded(self, sums: str) -> str:
        """Add the scores that sums stand for, shape (n_classes, n_samples)."""
        graph, decoding, code = self._graph, self._model.tables.decoding, self._model.tables.code
        if decoding is None:
            return sums
        assert code is not None
        if decoding == "hamming":
            agreed = graph.add("MatMul", graph.constant(code), graph.add("Sign", sums))
            return graph.add("Div", agreed, graph.constant(np.array(float(code.shape[1]))))
        losses = graph.add("Mul", graph.constant(-code[:, :, None]), sums)
        return graph.add("Neg", graph.log_sum_exp(losses, 1))
