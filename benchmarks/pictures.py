"""The pictures of the pages on performance, on defaults and on many classes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from scaling import MEANING, MODELS, SIZES, curves, exponent

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import FixedLocator, Locator, LogLocator, NullLocator

from randomboost.plots import TradeOffDisplay

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


def draw_scaling(records: dict[str, Any], path: Path) -> None:
    """Draw the time of a fit over each size, log-log, with the exponents."""
    found = curves(records)
    figure, panels = _panels(len(SIZES), 3.4, sharey=True)
    for panel, axis in zip(panels, SIZES, strict=False):
        for model in MODELS:
            if (axis, model) in found:
                sizes, times = found[axis, model]
                panel.loglog(sizes, times, "o-", label=f"{model}: {exponent(sizes, times):.2f}")
        _plain_ticks(panel.xaxis, FixedLocator(SIZES[axis]))
        _plain_ticks(panel.yaxis, LogLocator(subs=(1, 3)))
        panel.set_xlabel(MEANING[axis])
        panel.legend(fontsize=9, loc="lower center", bbox_to_anchor=(0.5, 1.0))
        panel.grid(alpha=0.3)
    for panel in panels[::_PANELS_A_ROW]:
        panel.set_ylabel("fit, seconds")
    _save(figure, path)


def draw_trade_off(points: dict[str, dict[str, tuple[float, float]]], path: Path) -> None:
    """Draw test error over fit time, a panel a data set; points are (seconds, error %)."""
    figure, panels = _panels(len(points), 2.6)
    names = list(dict.fromkeys(name for found in points.values() for name in found))
    marks: dict[str, Any] = {}
    for panel, (title, found) in zip(panels, points.items(), strict=False):
        costs, errors = np.array([found.get(name, (np.nan, np.nan)) for name in names]).T
        TradeOffDisplay(costs, errors / 100, names).plot(panel, legend=False)
        panel.set(title=title, ylabel="test error")
        marks |= {line.get_label(): line for line in panel.lines}
    figure.legend(marks.values(), marks, loc="outside lower center", ncols=3)
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
