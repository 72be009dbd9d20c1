"""What notebooks show below scikit-learn's diagram of a fitted classifier: key figures, a curve."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

_WIDTH, _HEIGHT = 300, 90  # pixels of the curves
_MOST_POINTS = 150
# name in the history, words, colour (readable on light and dark pages), dashes
_CURVES = (
    ("loss", "training loss", "#2f86c7", ""),
    ("validation_loss", "validation loss", "#d1700f", "5 2"),
    ("validation_error", "validation error", "#d1700f", "5 2"),
)


def fitted_html(model: Any) -> str:
    """Return key figures and the learning curve of a fitted classifier as HTML.

    Parameters
    ----------
    model : estimator
        A classifier, fitted or not.

    Returns
    -------
    str
        The element; empty if the classifier is not fitted.
    """
    history = getattr(model, "train_history_", None)
    if history is None:
        return ""
    facts = [
        _count(model.n_estimators_, "round"),
        _count(len(model.classes_), "class", "classes"),
        _count(model.n_features_in_, "feature"),
    ]
    stopped = f"<br><small>{escape(str(model.stopped_))}</small>" if model.stopped_ else ""
    drawn = _curves(history)
    return (
        '<div style="font: 13px/1.5 system-ui, sans-serif; margin: 4px 0 8px">'
        f"<div>{', '.join(facts)}{stopped}</div>{drawn}</div>"
    )


def _count(number: int, one: str, many: str = "") -> str:
    return f"<b>{number:,}</b> {one if number == 1 else many or one + 's'}"


def _curves(history: dict[str, NDArray]) -> str:
    """Return the curves of losses as an SVG element, or of the error where there are none."""
    shown = [curve for curve in _CURVES if curve[0] in history]
    if any(name.endswith("loss") for name, *_ in shown):
        shown = [curve for curve in shown if curve[0].endswith("loss")]
    values = {name: np.asarray(history[name], dtype=np.float64).ravel() for name, *_ in shown}
    values = {name: each for name, each in values.items() if np.isfinite(each).sum() > 1}
    if not values:
        return ""
    highest = max(float(each[np.isfinite(each)].max()) for each in values.values())
    lowest = min(0.0, *(float(each[np.isfinite(each)].min()) for each in values.values()))
    lines, legend = [], []
    for name, words, color, dashes in shown:
        if name in values:
            points = _points(values[name], lowest, highest)
            lines.append(
                f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="1.5"'
                f' stroke-dasharray="{dashes}"/>'
            )
            last = values[name][np.isfinite(values[name])][-1]
            legend.append(f'<span style="color: {color}">{words} {last:.4g}</span>')
    label = escape(" and ".join(words for name, words, *_ in shown if name in values))
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" role="img"'
        f' aria-label="{label} by round" style="display: block; max-width: 100%; height: auto">'
        f'<path d="M0.5 0V{_HEIGHT - 0.5}H{_WIDTH}" fill="none" stroke="#8a919a"/>'
        f"{''.join(lines)}</svg><div>{', '.join(legend)}</div>"
    )


def _points(values: NDArray, lowest: float, highest: float) -> str:
    """Return at most some hundred points of a curve, as SVG writes them."""
    rounds = np.unique(np.linspace(0, len(values) - 1, min(len(values), _MOST_POINTS)).astype(int))
    rounds = rounds[np.isfinite(values[rounds])]
    across = 2 + rounds / max(len(values) - 1, 1) * (_WIDTH - 4)
    spread = highest - lowest or 1.0
    down = 2 + (highest - values[rounds]) / spread * (_HEIGHT - 5)
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(across, down, strict=True))
