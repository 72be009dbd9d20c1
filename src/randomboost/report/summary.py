"""Summaries of data, and numbers as text."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..preprocessing.categories import category_columns, is_table

MISSING = "—"
_MOST_COLUMNS = 200


def percent(share: float) -> str:
    """Return a fraction as a percentage: 0.0123 gives 1.23%."""
    return f"{100 * share:.2f}%"


def number(value: Any) -> str:
    """Return a value as text; a dash if it is missing."""
    if value is None or value != value:
        return MISSING
    if isinstance(value, float | np.floating):
        return f"{value:,.0f}" if 1e4 <= abs(float(value)) < 1e9 else f"{value:.4g}"
    return str(value)


def column_names(X: Any) -> list[str]:
    """Return the names of the columns of a table; those of an array are numbered."""
    if is_table(X):
        return [str(name) for name in X.columns]
    return [f"feature {place}" for place in range(np.shape(X)[1])]


def class_balance(*labels: Any) -> list[dict[str, Any]]:
    """Return the count and the fraction of every class in some label vectors.

    Parameters
    ----------
    *labels : array-like
        Labels of the parts of the data.

    Returns
    -------
    list of dict
        Name, counts and fractions ("shares") of every class.
    """
    parts = [np.asarray(part) for part in labels]
    classes = np.unique(np.concatenate(parts))
    counts = np.array([[np.sum(part == label) for part in parts] for label in classes])
    shares = counts / counts.sum(axis=0)
    return [
        {"name": str(label), "counts": counts[row].tolist(), "shares": shares[row].tolist()}
        for row, label in enumerate(classes)
    ]


def data_summary(X: Any) -> dict[str, Any]:
    """Return a summary of data: size, kinds of columns, missing values.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        A pandas table, an array, or a sparse matrix.

    Returns
    -------
    dict
        "facts", a dict of text; "columns", a dict for each of the first columns of a table; and
        "left_out", the number of other columns.
    """
    n_rows, n_columns = np.shape(X)
    facts = {"rows": f"{n_rows:,}", "columns": f"{n_columns:,}"}
    if not is_table(X):
        if hasattr(X, "toarray"):
            facts["kind"] = f"sparse, {percent(X.nnz / max(n_rows * n_columns, 1))} stored"
            return {"facts": facts, "columns": [], "left_out": 0}
        values = np.asarray(X)
        facts["kind"] = f"numbers ({values.dtype})"
        facts["missing"] = _gaps(int(np.sum(values != values)), values.size)
        return {"facts": facts, "columns": [], "left_out": 0}
    categories = set(category_columns(X))
    facts["numeric"] = f"{n_columns - len(categories):,}"
    facts["categorical"] = f"{len(categories):,}"
    facts["missing"] = _gaps(int(X.isna().to_numpy().sum()), n_rows * n_columns)
    columns = [_describe(X[name], name in categories) for name in X.columns[:_MOST_COLUMNS]]
    return {"facts": facts, "columns": columns, "left_out": n_columns - len(columns)}


def _gaps(count: int, cells: int) -> str:
    return f"{count:,} values ({percent(count / max(cells, 1))})" if count else "none"


def _describe(column: Any, is_category: bool) -> dict[str, Any]:
    """Return the summary of one column."""
    known = column.dropna()
    found = {
        "name": str(column.name),
        "kind": "category" if is_category else "number",
        "missing": float(column.isna().mean()) if len(column) else 0.0,
        "distinct": int(known.nunique()),
        "values": MISSING,
    }
    if not len(known):
        return found
    if is_category:
        common = known.astype(object).value_counts()
        shown = ", ".join(str(value)[:40] for value in common.index[:3])
        found["values"] = shown + (" …" if len(common) > 3 else "")
    else:
        low, middle, high = np.quantile(known.to_numpy(dtype=np.float64), [0, 0.5, 1])
        found["values"] = f"{number(low)} to {number(high)}, median {number(middle)}"
    return found


def some_rows(n_rows: int, most: int) -> NDArray:
    """Return the indices of all rows, or of a random sample if there are too many."""
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(0).choice(n_rows, most, replace=False))


def take(X: Any, rows: NDArray) -> Any:
    """Return some rows of a table, a list, an array or a sparse matrix."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return X[rows] if hasattr(X, "shape") else np.asarray(X)[rows]
