"""The pictures of the pages on performance, on defaults and on many classes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import FixedLocator, Locator, LogLocator, NullLocator

_PANELS_A_ROW = 2  # phones show no more
_WIDTH = 6.4
_CLASS_PANELS = {  # over the number of classes: title, factor
    "error": ("test error, %", 1.0),
    "fit_s": ("fit, s", 1.0),
    "predict_s": ("predict 10 000 rows, s", 1.0),
    "bytes": ("model, MB", 1e-6),
}


def _save(figure: Any, path: Path) -> None:
    """Write a picture that is the same for the same results."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with plt.rc_context({"svg.hashsalt": "randomboost"}):
        figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)


def _plain_ticks(axis: Any, locator: Locator) -> None:
    """Label a logarithmic axis with ordinary numbers."""
    axis.set_major_locator(locator)
    axis.set_major_formatter("{x:g}")
    axis.set_minor_locator(NullLocator())


def _panels(count: int, height: float, **options: Any) -> tuple[Any, list[Any]]:
    """Return a figure with some panels, so few of them a row that phones show it."""
    n_rows = -(-count // _PANELS_A_ROW)
    size = (_WIDTH, height * n_rows)
    figure, panels = plt.subplots(
        n_rows, _PANELS_A_ROW, figsize=size, squeeze=False, layout="constrained", **options
    )
    for panel in panels.flat[count:]:
        panel.set_axis_off()
    return figure, list(panels.flat[:count])


def draw_growth(curves: dict[str, dict[str, dict[int, float]]], label: str, path: Path) -> None:
    """Draw a figure of every model over each size, log-log; the first model is prominent.

    Curves are figures by axis, model and size.
    """
    figure, panels = _panels(len(curves) + 1, 2.8)
    marks: dict[str, Any] = {}
    for panel, (axis, models) in zip(panels, curves.items(), strict=False):
        for place, (model, curve) in enumerate(models.items()):
            style = {"linewidth": 3, "zorder": 3} if place == 0 else {"linewidth": 1.5}
            line = panel.loglog(list(curve), list(curve.values()), "o-", markersize=4, **style)[0]
            if curve:
                marks[model] = line
        sizes = sorted({size for curve in models.values() for size in curve})
        _plain_ticks(panel.xaxis, FixedLocator(sizes))
        _plain_ticks(panel.yaxis, LogLocator())
        panel.set(xlabel=axis, ylabel=label)
        panel.grid(alpha=0.3)
    panels[-1].set_axis_off()
    panels[-1].legend(marks.values(), marks, loc="center")
    _save(figure, path)


def draw_ratios(ratios: dict[str, list[float]], label: str, path: Path) -> None:
    """Draw the error of each model relative to one of them: every set, and geometric means."""
    means = {name: float(np.exp(np.mean(np.log(found)))) for name, found in ratios.items()}
    names = sorted(means, key=means.__getitem__, reverse=True)
    figure, panel = plt.subplots(figsize=(9, 0.38 * len(names) + 1.2))
    for place, name in enumerate(names):
        panel.plot(ratios[name], [place] * len(ratios[name]), "o", color="0.75", markersize=4)
        panel.plot(means[name], place, "D", color="C0")
        panel.annotate(
            f"{means[name]:.2f}", (1.01, place), xycoords=("axes fraction", "data"), va="center"
        )
    panel.axvline(1, color="0.4", linewidth=1)
    panel.set_yticks(range(len(names)), names)
    panel.set(xscale="log", xlabel=label)
    _plain_ticks(panel.xaxis, LogLocator(subs=(1, 2, 5)))
    panel.grid(axis="x", alpha=0.3)
    _save(figure, path)


def draw_classes(curves: dict[str, dict[int, dict[str, Any]]], path: Path) -> None:
    """Draw error, times and size over the number of classes; small, so that phones show it.

    Curves are records by model and number of classes; those without a figure are left out.
    """
    figure, panels = plt.subplots(2, 2, figsize=(4.8, 5.2), layout="constrained")
    marks: dict[str, Any] = {}
    for panel, (field, (title, factor)) in zip(panels.flat, _CLASS_PANELS.items(), strict=True):
        for place, (model, curve) in enumerate(curves.items()):
            known = {count: factor * r[field] for count, r in curve.items() if field in r}
            style = {"linewidth": 3, "zorder": 3} if place == 0 else {"linewidth": 1.5}
            marks[model] = panel.plot(
                list(known), list(known.values()), "o-", color=f"C{place}", markersize=5, **style
            )[0]
        counts = sorted({count for curve in curves.values() for count in curve})
        panel.set(title=title, xscale="log", yscale="linear" if field == "error" else "log")
        panel.grid(alpha=0.3)
        if not counts:
            panel.text(0.5, 0.5, "not measured yet", ha="center", transform=panel.transAxes)
            panel.set(xticks=[], yticks=[])
            continue
        _plain_ticks(panel.xaxis, FixedLocator(counts))
        if field == "error":
            panel.set_ylim(bottom=0)
        else:
            _plain_ticks(panel.yaxis, LogLocator(subs=(1, 3)))
    figure.supxlabel("number of classes", fontsize=11)
    if marks:
        figure.legend(marks.values(), marks, loc="outside upper center", ncols=2)
    _save(figure, path)
