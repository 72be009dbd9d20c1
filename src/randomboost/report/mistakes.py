"""Why the worst mistakes were made: contributions to the predicted and to the true class."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .summary import column_names, number, take

_MOST_ROWS = 4
_MOST_FEATURES = 6


def explain_mistakes(
    model: Any, X: Any, y: NDArray, labels: NDArray, shares: NDArray, names: Any
) -> list[dict[str, Any]]:
    """Return why the most confident mistakes were made.

    Parameters
    ----------
    model : estimator
        A fitted classifier, or a pipeline that ends in one.
    X : array-like of shape (n_samples, n_features)
        Data.
    y, labels : ndarray of shape (n_samples,)
        True and predicted classes; all true ones are known to the model.
    shares : ndarray of shape (n_samples, n_classes)
        Probabilities.
    names : sequence of shape (n_samples,)
        What the rows are called.

    Returns
    -------
    list of dict
        For every row its name, both classes with probability and score, and the features whose
        contributions differ most between both; empty where the model explains nothing.
    """
    from ..plots.style import split_pipeline

    last, _ = split_pipeline(model)
    wrong = np.flatnonzero(labels != y)
    if not len(wrong) or not hasattr(last, "explain") or not last.model_.ensemble.explains:
        return []
    confidence = shares[wrong].max(axis=1)
    rows = wrong[np.argsort(-confidence, kind="stable")][:_MOST_ROWS]
    chosen = take(X, rows)
    pairs = np.stack([labels[rows], y[rows]], axis=1)
    # the scores of two classes are opposite ones
    explained = pairs if len(last.classes_) > 2 else pairs[:, :1]
    found = last.explain(split_pipeline(model, chosen)[1], classes=explained)
    columns = found.feature_names
    values: Any = found.data if found.display_data is None else found.display_data
    if chosen.shape[1] == len(columns):
        columns = column_names(chosen)
        values = chosen.to_numpy(dtype=object) if hasattr(chosen, "to_numpy") else found.data
    places = np.searchsorted(last.classes_, pairs)
    return [
        {
            "row": str(names[row]),
            "classes": [
                {"name": str(label), "share": float(shares[row, at])}
                for label, at in zip(pairs[place], places[place], strict=True)
            ],
            "scores": [f"{value:+.2f}" for value in found.scores[place]],
            "bases": [f"{value:+.2f}" for value in found.base_values[place]],
            **_features(found.values[place], columns, values[place]),
        }
        for place, row in enumerate(rows)
    ]


def _features(contributions: NDArray, columns: Any, values: Any) -> dict[str, Any]:
    """Return the features that speak most for one class and against the other, and the rest."""
    difference = contributions[:, 0] - contributions[:, 1:].sum(axis=1)
    order = np.argsort(-np.abs(difference), kind="stable")
    top, rest = order[:_MOST_FEATURES], order[_MOST_FEATURES:]
    longest = max(float(np.abs(difference[top]).max(initial=0.0)), 1e-12)
    return {
        "features": [
            {
                "name": str(columns[place]),
                "value": number(values[place]),
                "contributions": [f"{value:+.2f}" for value in contributions[place]],
                "share": float(abs(difference[place])) / longest,
                "misleads": bool(difference[place] > 0),
            }
            for place in top
        ],
        "n_others": len(rest),
        "others": [f"{value:+.2f}" for value in contributions[rest].sum(axis=0)],
    }
