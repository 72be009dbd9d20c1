"""Predictions of a model on Dask collections, which are computed when they are asked for."""

from __future__ import annotations

from typing import Any

import dask
import numpy as np
from numpy.typing import NDArray

from .source import Source, is_table, need_collection


def _numbers(X: Any, model: Any, n: int | None) -> NDArray:
    """Return probabilities, or with n the numbers and the probabilities of the best classes."""
    n_classes = len(model.classes_)
    if not len(X):
        shape = (0, n_classes) if n is None else (0, 2 * min(n, n_classes))
        return np.empty(shape, dtype=model.model_.inputs.dtype if n is None else np.float64)
    if n is None:
        return model.predict_proba(X)
    labels, probabilities = model.predict_topk(X, n)
    numbers = np.searchsorted(model.classes_, labels)
    return np.concatenate([numbers, probabilities], axis=1).astype(np.float64)


def _table_of_numbers(X: Any, model: Any, n: int | None, columns: list[Any]) -> Any:
    import pandas as pd

    return pd.DataFrame(_numbers(X, model, n), index=X.index, columns=columns)


def _labels(X: Any, model: Any) -> NDArray:
    return model.predict(X) if len(X) else model.classes_[:0]


def _series_of_labels(X: Any, model: Any) -> Any:
    import pandas as pd

    return pd.Series(_labels(X, model), index=X.index)


def lazy_labels(model: Any, X: Any) -> Any:
    """Return the predicted labels.

    Parameters
    ----------
    model : RandomBoostClassifier
        The model.
    X : Dask array or dataframe
        Data.

    Returns
    -------
    Dask array or series
        The labels.
    """
    need_collection(X, "X")
    shared = dask.delayed(model, pure=True)
    if is_table(X):
        import pandas as pd

        meta = pd.Series(model.classes_[:0])
        return X.map_partitions(_series_of_labels, shared, meta=meta)
    return X.map_blocks(
        _labels, shared, drop_axis=1, dtype=model.classes_.dtype, meta=model.classes_[:0]
    )


def _numbers_of(model: Any, X: Any, n: int | None, columns: list[Any]) -> Any:
    need_collection(X, "X")
    shared = dask.delayed(model, pure=True)
    dtype = model.model_.inputs.dtype if n is None else np.dtype(np.float64)
    if is_table(X):
        import pandas as pd

        meta = pd.DataFrame(np.empty((0, len(columns)), dtype=dtype), columns=columns)
        return X.map_partitions(_table_of_numbers, shared, n, columns, meta=meta)
    meta = np.empty((0, 0), dtype=dtype)
    chunks = X.chunks[0], (len(columns),)
    return X.map_blocks(_numbers, shared, n, chunks=chunks, dtype=dtype, meta=meta)


def lazy_probabilities(model: Any, X: Any) -> Any:
    """Return the probabilities of all classes.

    Parameters
    ----------
    model : RandomBoostClassifier
        The model.
    X : Dask array or dataframe
        Data.

    Returns
    -------
    Dask array or dataframe
        The probabilities; the columns of a dataframe are the labels.
    """
    return _numbers_of(model, X, None, model.classes_.tolist())


def lazy_topk(model: Any, X: Any, n: int) -> tuple[Any, Any]:
    """Return the labels and the probabilities of the most probable classes.

    Parameters
    ----------
    model : RandomBoostClassifier
        The model.
    X : Dask array or dataframe
        Data.
    n : int
        How many classes.

    Returns
    -------
    tuple of Dask arrays or dataframes
        Labels and probabilities.
    """
    most = min(n, len(model.classes_))
    both = _numbers_of(model, X, n, list(range(2 * most)))
    classes = model.classes_
    if not is_table(X):
        numbers = both[:, :most]
        meta = np.empty((0, 0), dtype=classes.dtype)
        labels = numbers.map_blocks(_take, classes, dtype=classes.dtype, meta=meta)
        return labels, both[:, most:].astype(model.model_.inputs.dtype)
    import pandas as pd

    meta = pd.DataFrame({place: classes[:0] for place in range(most)})
    labels = both[list(range(most))].map_partitions(_take_columns, classes, meta=meta)
    probabilities = both[list(range(most, 2 * most))].rename(columns=lambda place: place - most)
    return labels, probabilities.astype(model.model_.inputs.dtype)


def _take(numbers: NDArray, classes: NDArray) -> NDArray:
    return classes[numbers.astype(np.intp)]


def _take_columns(table: Any, classes: NDArray) -> Any:
    return table.apply(lambda column: _take(column.to_numpy(), classes))


def lazy_accuracy(model: Any, source: Source, client: Any) -> float:
    """Return the accuracy of a model.

    Parameters
    ----------
    model : RandomBoostClassifier
        The model.
    source : Source
        Data with labels and weights.
    client : Client or None
        Computes it; None for Dask's default.

    Returns
    -------
    float
        Weighted share of the samples whose label is predicted.
    """
    found = source.map_raw(_hits, dask.delayed(model, pure=True))
    parts = dask.compute(*found) if client is None else client.gather(client.compute(found))
    right, total = np.sum(parts, axis=0)
    return float(right / total)


def _hits(X: Any, y: Any, weight: Any, model: Any) -> NDArray:
    labels = np.asarray(y).reshape(-1)
    weights = np.ones(len(labels)) if weight is None else np.asarray(weight).reshape(-1)
    return np.array([weights[_labels(X, model) == labels].sum(), weights.sum()])
