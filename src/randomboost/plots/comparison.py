"""Comparison of several models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter, LogLocator, MaxNLocator, NullLocator

from ..significance import Comparison, compare, model_names
from .base import Display
from .style import FAINT, SIZE, color, dress, ink, marker, shorten_all, show_percent

_TESTS = {
    "corrected_t": "corrected t-test, Holm",
    "wilcoxon": "Wilcoxon, Holm",
    "nemenyi": "Nemenyi",
}
_NARROW, _FEW = 0.5, 4  # decades of costs below which an axis has evenly spaced ticks; their number


class ErrorsDisplay(Display):
    """Errors of every model by fold or data set, and their means.

    Parameters
    ----------
    errors : array-like of shape (n_parts, n_models)
        A row for every fold or data set. The columns of a pandas table name the models.
    names : sequence of str, default=None
        Names of the models.
    label : str, default="error"
        Name of the numbers; errors are shown in per cent.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the points.
    figure_ : matplotlib Figure
        Figure that holds them.
    """

    def __init__(
        self, errors: Any, names: Sequence[str] | None = None, *, label: str = "error"
    ) -> None:
        names = model_names(errors) if names is None else names
        self.errors = np.asarray(errors, dtype=float)
        if self.errors.ndim != 2 or len(names) != self.errors.shape[1]:
            raise ValueError(
                f"errors has shape {self.errors.shape} for {len(names)} names: pass a row for "
                "every part and a column for every model"
            )
        self.names = list(names)
        self.label = label

    @property
    def size(self) -> tuple[float, float]:
        """Return the width and height in inches that suit the number of models."""
        return 4.5, 0.9 + 0.27 * max(len(self.names), 3)

    def plot(self, ax: Axes | None = None) -> ErrorsDisplay:
        """Draw the points, the best model at the top.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        ErrorsDisplay
            Itself.
        """
        ax = self._start(ax)
        means = self.errors.mean(axis=0)
        order = np.argsort(means, kind="stable")
        places = np.arange(len(order))
        for place, number in enumerate(order):
            found = self.errors[:, number]
            ax.plot(found, np.full(len(found), place), "o", color=FAINT, alpha=0.6, markersize=4)
        ax.plot(means[order], places, "D", color=color(0), markersize=6)
        for place, number in enumerate(order):
            ax.annotate(
                f"{100 * means[number]:.2f}%" if self.label == "error" else f"{means[number]:.3g}",
                (1.02, place),
                xycoords=("axes fraction", "data"),
                va="center",
                fontsize=9,
                color=ink(),
            )
        ax.set_yticks(places, shorten_all([self.names[number] for number in order]))
        ax.set_ylim(len(order) - 0.5, -0.5)
        if self.label == "error":
            show_percent(ax.xaxis)
        ax.set_xlabel(f"{self.label} (diamond: mean)")
        dress(ax)
        return self


class TradeOffDisplay(Display):
    """Error of every model against its cost.

    Parameters
    ----------
    costs : array-like of shape (n_models,)
        Cost of every model, such as seconds or bytes; positive, or NaN for a model that is left
        out here but has the same style in other plots of the same models.
    errors : array-like of shape (n_models,)
        Errors in [0, 1].
    names : sequence of str
        Names of the models.
    label : str, default="fit, seconds"
        Name of the costs.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the points.
    figure_ : matplotlib Figure
        Figure that holds them.
    """

    def __init__(
        self, costs: Any, errors: Any, names: Sequence[str], *, label: str = "fit, seconds"
    ) -> None:
        self.costs = np.asarray(costs, dtype=float)
        self.errors = np.asarray(errors, dtype=float)
        if not len(self.costs) == len(self.errors) == len(names):
            raise ValueError(
                f"there are {len(self.costs)} costs, {len(self.errors)} errors and {len(names)} "
                "names: pass one of each for every model"
            )
        if (self.costs <= 0).any() or np.isnan(self.costs).all():
            raise ValueError("costs must be positive (or NaN): the axis is logarithmic")
        self.names = list(names)
        self.label = label

    @property
    def size(self) -> tuple[float, float]:
        """Return the width and height in inches that suit the number of models."""
        return SIZE[0], SIZE[1] + 0.17 * -(-len(self.names) // 2)

    def plot(self, ax: Axes | None = None, *, legend: bool = True) -> TradeOffDisplay:
        """Draw the points.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        legend : bool, default=True
            Whether to name the models below the axes.

        Returns
        -------
        TradeOffDisplay
            Itself.
        """
        ax = self._start(ax)
        for number, name in enumerate(shorten_all(self.names)):
            if np.isnan(self.costs[number]):
                continue
            ax.plot(
                self.costs[number],
                self.errors[number],
                marker(number),
                color=color(number),
                markersize=7,
                linestyle="",
                label=name,
            )
        ax.set(xscale="log", xlabel=self.label, ylabel="error")
        self._place_ticks(ax)
        show_percent(ax.yaxis)
        ax.margins(0.08, 0.1)
        if legend:
            ax.legend(
                loc="upper center",
                bbox_to_anchor=(0.45, -0.2),
                ncols=2,
                handletextpad=0.2,
                columnspacing=1,
            )
        dress(ax)
        return self

    def _place_ticks(self, ax: Axes) -> None:
        """Label the logarithmic axis of the costs with few round numbers."""
        lowest, highest = np.nanmin(self.costs), np.nanmax(self.costs)
        decades = np.log10(highest / lowest)
        subs = (1, 2, 5) if decades < 1.5 else (1, 3) if decades < 3 else (1,)
        narrow = decades < _NARROW
        ax.xaxis.set_major_locator(
            MaxNLocator(_FEW) if narrow else LogLocator(subs=subs, numticks=12)
        )
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_major_formatter(
            EngFormatter(sep="") if lowest >= 1 and highest >= 1e4 else "{x:g}"
        )


class CriticalDifferenceDisplay(Display):
    """Mean ranks of models; a bar joins those that do not differ significantly.

    Parameters
    ----------
    comparison : randomboost.significance.Comparison
        Ranks and p-values.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the diagram.
    figure_ : matplotlib Figure
        Figure that holds it.

    Examples
    --------
    >>> import numpy as np
    >>> from randomboost.plots import CriticalDifferenceDisplay
    >>> errors = np.random.default_rng(0).random((20, 3)) + [0.0, 0.2, 0.9]
    >>> display = CriticalDifferenceDisplay.from_errors(errors, ["one", "two", "three"])
    >>> display.comparison.groups()
    [[0, 1]]
    """

    def __init__(self, comparison: Comparison) -> None:
        if len(comparison.names) < 2:
            raise ValueError("comparison has one model only: compare at least two")
        self.comparison = comparison

    @property
    def size(self) -> tuple[float, float]:
        """Return the width and height in inches that suit the number of models."""
        return SIZE[0], 1.3 + 0.25 * len(self.comparison.names)

    @classmethod
    def from_errors(
        cls,
        errors: Any,
        names: Sequence[str] | None = None,
        *,
        method: str = "nemenyi",
        alpha: float = 0.05,
        ax: Axes | None = None,
    ) -> CriticalDifferenceDisplay:
        """Draw the diagram of models with these errors.

        Parameters
        ----------
        errors : array-like of shape (n_parts, n_models)
            A row for every fold or data set. The columns of a pandas table name the models.
        names : sequence of str, default=None
            Names of the models.
        method : {"nemenyi", "wilcoxon", "corrected_t"}, default="nemenyi"
            The test, see `randomboost.significance.compare`.
        alpha : float, default=0.05
            Level of significance.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        CriticalDifferenceDisplay
            The display.
        """
        return cls(compare(errors, names, method=method, alpha=alpha)).plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> CriticalDifferenceDisplay:
        """Draw the diagram.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        CriticalDifferenceDisplay
            Itself.
        """
        ax = self._start(ax)
        ranks, n_models = self.comparison.ranks, len(self.comparison.names)
        order = np.argsort(ranks, kind="stable")
        places = np.arange(n_models)
        names = shorten_all(self.comparison.names)
        span = n_models - 0.8  # of the ranks; numbers and bars stand right of it
        groups = self.comparison.groups()
        ax.hlines(places, 1, ranks[order], color=FAINT, linewidth=1)
        ax.plot(ranks[order], places, "o", color=color(0), markersize=6)
        for place, number in enumerate(order):
            text = f"{ranks[number]:.2f}"
            right = n_models + 0.06 * span
            ax.text(right, place, text, va="center", fontsize=9, color=ink())
        row_of = {int(number): place for place, number in enumerate(order)}
        for number, group in enumerate(groups):
            rows = [row_of[member] for member in group]
            ax.plot(
                [n_models + (0.28 + 0.05 * number) * span] * 2,
                [min(rows) - 0.3, max(rows) + 0.3],
                color=color(1),
                linewidth=3,
                solid_capstyle="butt",
            )
        top = -0.6
        if self.comparison.critical_difference is not None:
            width, top = self.comparison.critical_difference, -1.5
            ax.plot([1, 1 + width], [-0.8] * 2, "|-", color=ink(), linewidth=1.2, markersize=6)
            ax.text(1, -1.0, f"critical difference {width:.2f}", fontsize=9, color=ink())
        width = (0.28 + 0.05 * len(groups)) * span
        ax.set(xlim=(1 - 0.05 * span, n_models + width), ylim=(n_models - 0.4, top))
        ax.set_yticks(places, [names[number] for number in order])
        ax.set_xticks(range(1, n_models + 1, -(-n_models // 10)))
        test = f"{_TESTS[self.comparison.method]}, {100 * self.comparison.alpha:g}%"
        ax.set_xlabel(f"mean rank\nbars join models that do not differ\n({test})")
        dress(ax, grid="x")
        ax.spines["bottom"].set_bounds(1 - 0.05 * span, n_models)
        return self
