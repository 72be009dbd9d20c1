"""Distribution of the margins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from .base import Display
from .style import (
    color,
    curve_number,
    dashes,
    dress,
    ink,
    need,
    shorten,
    show_percent,
    split_pipeline,
)


class MarginDisplay(Display):
    """Cumulative distribution of the margins.

    The fraction left of 0 is the error.

    Parameters
    ----------
    margins : dict of str to array-like
        The margins of the samples, by name: parts of the data, or models.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the curves.
    figure_ : matplotlib Figure
        Figure that holds them.
    """

    def __init__(self, margins: Mapping[str, Any]) -> None:
        self.margins = {name: np.sort(np.asarray(part)) for name, part in margins.items()}
        for name, part in self.margins.items():
            if part.ndim != 1 or not len(part):
                raise ValueError(f"margins[{name!r}] has no margins: pass one per sample")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        X_train: Any = None,
        y_train: Any = None,
        ax: Axes | None = None,
    ) -> MarginDisplay:
        """Draw the normalised margins of a fitted model.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier with ``margins``, or a pipeline that ends in one.
        X, y : array-like
            Test data.
        X_train, y_train : array-like, default=None
            Training data, for a second curve.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        MarginDisplay
            The display.
        """
        margins = {}
        for name, part, labels in (("training", X_train, y_train), ("test", X, y)):
            if part is not None:
                model, part = split_pipeline(estimator, part)
                need(model, "margins", cls.__name__)
                margins[name] = model.margins(part, labels)
        return cls(margins).plot(ax=ax)

    @classmethod
    def from_predictions(
        cls, y_true: Any, y_proba: Any, *, labels: Any = None, ax: Axes | None = None
    ) -> MarginDisplay:
        """Draw the margins of probabilities: of the true class minus the largest other one.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True labels.
        y_proba : array-like of shape (n_samples, n_classes)
            Probabilities.
        labels : array-like of shape (n_classes,), default=None
            Labels of the columns; None for those of `y_true` in order.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        MarginDisplay
            The display.
        """
        y_true, shares, columns = true_columns(y_true, y_proba, labels)
        rows = np.arange(len(y_true))
        own = shares[rows, columns].copy()
        shares[rows, columns] = -np.inf
        return cls({"test": own - shares.max(axis=1)}).plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> MarginDisplay:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        MarginDisplay
            Itself.
        """
        ax = self._start(ax)
        for place, (name, part) in enumerate(self.margins.items()):
            number = curve_number(name, place)
            ax.step(
                np.concatenate([part[:1], part]),
                np.linspace(0, 1, len(part) + 1),
                where="post",
                label=f"{shorten(name)}, {100 * np.mean(part <= 0):.3g}% at most 0",
                color=color(number),
                linestyle=dashes(number),
                linewidth=1.7,
            )
        ax.axvline(0, ymax=0.82, color=ink(), linewidth=0.9)  # the legend is above
        show_percent(ax.yaxis)
        ax.set(xlabel="margin", ylabel="samples with at most this margin", ylim=(0, 1.02))
        ax.legend(loc="upper left")
        dress(ax)
        return self


def true_columns(y_true: Any, y_proba: Any, labels: Any) -> tuple[Any, Any, Any]:
    """Return labels, a copy of the probabilities, and the column of every label."""
    y_true = np.asarray(y_true)
    shares = np.array(y_proba, dtype=np.float64)
    labels = np.unique(y_true) if labels is None else np.asarray(labels)
    if shares.shape != (len(y_true), len(labels)):
        raise ValueError(
            f"y_proba has shape {shares.shape} but there are {len(y_true)} samples and "
            f"{len(labels)} labels: pass a row for every sample and a column for every label"
        )
    order = np.argsort(labels)
    columns = order[np.searchsorted(labels, y_true, sorter=order).clip(max=len(labels) - 1)]
    unknown = y_true[labels[columns] != y_true]
    if len(unknown):
        raise ValueError(f"y_true has the label {unknown[0]!s}, which is not in labels: add it")
    return y_true, shares, columns
