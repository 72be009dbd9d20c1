"""Importance of the features."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from .base import Display
from .style import checked_most, color, finish_bars, ink, need, shorten_all, split_pipeline


class ImportanceDisplay(Display):
    """The features that a model uses most.

    Parameters
    ----------
    importances : array-like of shape (n_features,)
        Importances.
    names : array-like of str of shape (n_features,), default=None
        Names of the features.
    max_features : int, default=20
        Number of features to show.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the bars.
    figure_ : matplotlib Figure
        Figure that holds them.
    """

    def __init__(self, importances: Any, names: Any = None, *, max_features: int = 20) -> None:
        self.importances = np.asarray(importances, dtype=float)
        if names is None:
            names = [f"feature {number}" for number in range(len(self.importances))]
        if len(names) != len(self.importances):
            raise ValueError(
                f"names has {len(names)} names for {len(self.importances)} features: pass one each"
            )
        self.names = list(names)
        self.max_features = checked_most(max_features)

    @property
    def size(self) -> tuple[float, float]:
        """Return the width and height in inches that suit the number of bars."""
        return 4.3, 0.8 + 0.21 * min(self.max_features, max(len(self.importances), 5))

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        names: Any = None,
        max_features: int = 20,
        ax: Axes | None = None,
    ) -> ImportanceDisplay:
        """Draw the importances of a fitted model.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier with ``feature_importances_``, or a pipeline that ends in one.
        names : array-like of str, default=None
            Names of the features; None for those of the training data.
        max_features : int, default=20
            Number of features to show.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        ImportanceDisplay
            The display.
        """
        model, _ = split_pipeline(estimator)
        need(model, "feature_importances_", cls.__name__)
        if names is None:
            names = getattr(model, "feature_names_in_", None)
        if names is None and model is not estimator:
            first = estimator[:-1]
            names = (
                first.get_feature_names_out() if hasattr(first, "get_feature_names_out") else None
            )
        return cls(model.feature_importances_, names, max_features=max_features).plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> ImportanceDisplay:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        ImportanceDisplay
            Itself.
        """
        ax = self._start(ax)
        top = np.argsort(-self.importances, kind="stable")[: self.max_features]
        places = np.arange(len(top))
        bars = ax.barh(places, self.importances[top], height=0.68, color=color(0))
        ax.bar_label(bars, fmt="{:.3g}", padding=3, fontsize=8, color=ink())
        ax.margins(x=0.14, y=0.02)
        ax.set_xlabel(
            "importance"
            if len(top) == len(self.importances)
            else f"importance ({len(top)} of {len(self.importances)} features)"
        )
        finish_bars(ax, shorten_all([self.names[number] for number in top]))
        return self
