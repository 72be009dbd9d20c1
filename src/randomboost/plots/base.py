"""What all displays have: axes and a figure."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .style import SIZE


class Display:
    """Base of the displays, after scikit-learn's convention.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the last plot.
    figure_ : matplotlib Figure
        Figure that holds them.
    """

    ax_: Axes
    figure_: Figure

    @property
    def size(self) -> tuple[float, float]:
        """Return the width and height of a new figure, in inches."""
        return SIZE

    def _start(self, ax: Axes | None) -> Axes:
        """Return the axes to draw on, those of a new figure if none are given."""
        if ax is None:
            ax = plt.subplots(figsize=self.size, layout="constrained")[1]
        self.ax_ = ax
        self.figure_ = ax.figure  # type: ignore[assignment]  # or a part of one
        return ax
