"""Weights of the rounds."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from .base import Display
from .style import color, dress, ink, need, split_pipeline


class WeightsDisplay(Display):
    """The weight of every round.

    Parameters
    ----------
    weights : array-like of shape (n_rounds,)
        The weights.
    label : str, default="round"
        What is weighted.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the weights.
    figure_ : matplotlib Figure
        Figure that holds them.
    """

    def __init__(self, weights: Any, *, label: str = "round") -> None:
        self.weights = np.asarray(weights, dtype=float)
        if self.weights.ndim != 1:
            raise ValueError(f"weights has shape {self.weights.shape}: pass one weight per round")
        self.label = label

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> WeightsDisplay:
        """Draw the weights of a fitted model.

        If a round has several weights (such as one per class) the sum of their absolute values is
        drawn; if weights belong to projections instead of rounds (RBoost-proj), they are drawn
        from the largest to the smallest.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier of this package, or a pipeline that ends in one.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        WeightsDisplay
            The display.
        """
        model, _ = split_pipeline(estimator)
        need(model, "weights_", cls.__name__)
        weights = np.asarray(model.weights_)
        if weights.ndim == 2:
            rounds = 0 if len(weights) == model.n_estimators_ else 1
            weights = np.abs(weights).sum(axis=1 - rounds)
        if len(weights) == model.n_estimators_:
            return cls(weights).plot(ax=ax)
        return cls(np.sort(weights)[::-1], label="projection, by weight").plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> WeightsDisplay:
        """Draw the weights.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        WeightsDisplay
            Itself.
        """
        ax = self._start(ax)
        numbers = np.arange(1, len(self.weights) + 1)
        ax.fill_between(
            np.concatenate([[0.5], numbers + 0.5]),
            np.append(self.weights, self.weights[-1]),
            step="post",
            color=color(0),
            alpha=0.75,
            linewidth=0,
        )
        reached = np.cumsum(np.abs(self.weights))
        half = int(np.searchsorted(reached, reached[-1] / 2)) + 1
        ax.axvline(half + 0.5, color=ink(), linewidth=0.9, linestyle=":")
        left = half < len(numbers) / 2
        ax.annotate(
            f"half of the weight\nin the first {half} of {len(numbers)}",
            (half + 0.5, 0.97),
            xycoords=("data", "axes fraction"),
            xytext=(4 if left else -4, 0),
            textcoords="offset points",
            ha="left" if left else "right",
            va="top",
            fontsize=8.5,
            color=ink(),
        )
        ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
        ax.set(xlabel=self.label, ylabel="weight", xlim=(0.5, len(numbers) + 0.5))
        low, high = ax.get_ylim()
        ax.set_ylim(low, high + 0.2 * (high - low))
        dress(ax, grid="y")
        return self
