"""The common style of all plots, and helpers for estimators.

Colours are fixed here (except that of text, which follows matplotlib's style), so that a report can
replace them by style-sheet variables: so its figures follow dark mode.
"""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap

FAINT = "#8a919a"  # background elements
COLORS = ("#0b6fae", "#d1600a", "#0a8f6c", "#a8528f", "#8a7a00", "#5a5fc4", "#b03a48", "#3f7f93")
DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)))
MARKERS = "osD^vPX*<>hp"
SIZE = (4.3, 3.0)  # inches; small, so that text is readable on a phone

# from transparent to full colour, so that empty cells show the background of the page
RAMP = LinearSegmentedColormap.from_list("ramp", [(0.043, 0.435, 0.682, a) for a in (0.0, 1.0)])

_LONGEST = 24
_PARTS = {"training": 0, "test": 1, "validation": 2}


def ink() -> str:
    """Return the colour of text and axes, that of the current matplotlib style."""
    return plt.rcParams["text.color"]


def curve_number(name: str, place: int) -> int:
    """Return the style number of a curve; parts of the data have the same one in all plots."""
    return _PARTS.get(name, place)


def color(number: int) -> str:
    """Return the colour of the curve or class with this number."""
    return COLORS[number % len(COLORS)]


def dashes(number: int) -> Any:
    """Return the line style of the curve with this number."""
    return DASHES[number % len(DASHES)]


def marker(number: int) -> str:
    """Return the marker of the points with this number."""
    return MARKERS[number % len(MARKERS)]


def shorten(name: Any, longest: int = _LONGEST) -> str:
    """Return a name as plain text of bounded length; the middle of longer ones is left out."""
    text = " ".join(str(name).split()).replace("$", r"\$")
    if len(text) <= longest:
        return text
    end = longest // 3
    return f"{text[: longest - end - 1]}…{text[-end:]}"


def shorten_all(names: Any, longest: int = _LONGEST) -> list[str]:
    """Shorten names; those that would be the same are numbered."""
    short = [shorten(name, longest) for name in names]
    room = longest - len(str(len(short))) - 2
    return [
        text if short.count(text) == 1 else f"{shorten(name, room)} {number + 1}"
        for number, (name, text) in enumerate(zip(names, short, strict=True))
    ]


def dress(ax: Axes, *, grid: str = "both") -> None:
    """Apply the common style to axes, after everything is drawn.

    Parameters
    ----------
    ax : Axes
        The axes.
    grid : {"both", "x", "y", "none"}, default="both"
        The direction of the faint grid lines.
    """
    for side, spine in ax.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(ink())
        spine.set_linewidth(0.8)
    ax.tick_params(which="both", color=ink(), labelcolor=ink(), labelsize=9, width=0.8, length=3)
    ax.set_axisbelow(True)
    if grid != "none":
        ax.grid(True, axis=grid, color=ink(), alpha=0.12, linewidth=0.7)  # type: ignore[arg-type]
    for text in (ax.title, ax.xaxis.label, ax.yaxis.label):
        text.set_color(ink())
        text.set_fontsize(9.5)
    legend = ax.get_legend()
    if legend is not None:
        legend.set_frame_on(False)
        for text in legend.get_texts():
            text.set_color(ink())
            text.set_fontsize(9)


def finish_bars(ax: Axes, names: list[str]) -> None:
    """Name horizontal bars from the top down, and apply the common style.

    Parameters
    ----------
    ax : Axes
        The axes, with bars at the heights 0, 1, ...
    names : list of str
        Their names.
    """
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    dress(ax, grid="x")
    ax.tick_params(axis="y", length=0)


def checked_most(max_features: int) -> int:
    """Return the number of features to show, if it is one."""
    if max_features < 1:
        raise ValueError(f"max_features={max_features} shows nothing: use 1 or more")
    return max_features


def show_percent(axis: Any) -> None:
    """Label the ticks of an axis of fractions in per cent."""
    axis.set_major_formatter(lambda share, _: f"{100 * share:.3g}%")


def split_pipeline(estimator: Any, X: Any = None) -> tuple[Any, Any]:
    """Return the classifier at the end of a pipeline, and X transformed for it.

    Parameters
    ----------
    estimator : estimator
        A fitted classifier, or a pipeline that ends in one.
    X : array-like, default=None
        Data for the estimator.

    Returns
    -------
    tuple of estimator and array-like
        The classifier and its data.
    """
    if not hasattr(estimator, "steps"):
        return estimator, X
    if X is not None:
        X = estimator[:-1].transform(X)
    return estimator[-1], X


def need(estimator: Any, attribute: str, display: str) -> None:
    """Raise a clear error if an estimator lacks what a display shows."""
    if not hasattr(estimator, attribute):
        raise TypeError(
            f"{display} needs an estimator with {attribute}, but {type(estimator).__name__} has "
            "none: fit it first, or use another display"
        )
