"""Figures of the paper from finished cells, as matplotlib figures and SVG text."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import datasets
from .cells import GRID, Cell
from .experiments import Experiment
from .runs import Results, Row, by_set_and_method, error_at, shown_rounds
from .tables import exponents

_COLOURS = (
    "#4269d0",
    "#efb118",
    "#ff725c",
    "#6cc5b0",
    "#9c6b4e",
    "#a463f2",
    "#97bbf5",
    "#3ca951",
    "#9498a0",
)
_STYLES = ("-", "--", "-.", ":", "-", "--", "-.", ":", "-")


def _pyplot() -> Any:
    try:
        import matplotlib
    except ImportError as error:
        raise ImportError("figures need matplotlib: pip install randomboost[all]") from error
    matplotlib.use("Agg", force=False)
    import matplotlib.pyplot as plt

    return plt


def draw(experiment: Experiment, results: Results, rows: Sequence[Row]) -> dict[str, Any]:
    """Return the figures of an experiment.

    Parameters
    ----------
    experiment : Experiment
        The experiment.
    results : sequence of (Cell, dict)
        Finished cells, of which boundaries are drawn.
    rows : sequence of dict
        Runs, of which the other figures are.

    Returns
    -------
    dict of str to Figure
        matplotlib figures by name; empty if the experiment has no figure.
    """
    if experiment.name in _BOUNDARIES and results:
        return {experiment.name: _BOUNDARIES[experiment.name](experiment, results)}
    return draw_rows(experiment, rows)


def draw_rows(experiment: Experiment, rows: Sequence[Row]) -> dict[str, Any]:
    """Return the figures that are made of the runs of an experiment alone.

    Parameters
    ----------
    experiment : Experiment
        The experiment.
    rows : sequence of dict
        Its runs.

    Returns
    -------
    dict of str to Figure
        matplotlib figures by name.
    """
    kind = _FIGURES.get(experiment.name)
    return {experiment.name: kind(experiment, rows)} if kind is not None and rows else {}


def svg(figure: Any) -> str:
    """Return a figure as SVG text, to be embedded in a page.

    Parameters
    ----------
    figure : Figure
        matplotlib figure; it is closed.

    Returns
    -------
    str
        The text, from ``<svg`` on.
    """
    plt = _pyplot()
    file = io.StringIO()
    with plt.rc_context({"svg.hashsalt": "randomboost", "svg.fonttype": "none"}):
        figure.savefig(file, format="svg", dpi=150, bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)
    text = file.getvalue()
    return text[text.index("<svg") :]


def _curves(experiment: Experiment, rows: Sequence[Row]) -> Any:
    """Draw mean test errors by round, one panel per set."""
    plt = _pyplot()
    found = by_set_and_method(rows)
    names = [name for name in experiment.sets if any(name == row for row, _ in found)]
    columns = min(len(names), 5)
    lines = -(-len(names) // columns)
    size = (3.0 * columns + 0.6, 2.6 * lines + 0.8)
    figure, axes = plt.subplots(lines, columns, figsize=size, squeeze=False)
    for axis, name in zip(axes.flat, names, strict=False):
        for number, method in enumerate(experiment.methods):
            repeats = [
                row for row in found.get((name, method.key), ()) if row["wrong@1"] is not None
            ]
            if not repeats:
                continue
            shown = shown_rounds(experiment.rounds)
            errors = [[error_at(row, t) for t in shown] for row in repeats]
            style = {"color": _COLOURS[number], "linestyle": _STYLES[number], "lw": 1.4}
            axis.plot(shown, np.mean(errors, axis=0), label=method.title, **style)
        axis.set_xscale("log")
        powers = [10**e for e in range(5) if 10**e <= experiment.rounds]
        axis.set_xticks(powers, [str(power) for power in powers])
        axis.minorticks_off()
        axis.set_title(name, fontsize=10)
        axis.set_ylim(bottom=0)
        axis.tick_params(labelsize=8)
        _frame(axis)
    for axis in axes.flat[len(names) :]:
        axis.set_axis_off()
    for axis in axes[:, 0]:
        axis.set_ylabel("test error, %", fontsize=9)
    for axis in axes[-1]:
        axis.set_xlabel("rounds", fontsize=9)
    labelled = max(axes.flat, key=lambda axis: len(axis.get_lines()))
    handles, labels = labelled.get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncol=4, fontsize=9, frameon=False)
    figure.tight_layout(rect=(0, 0.16 / lines + 0.02, 1, 1))
    return figure


def _digits(experiment: Experiment, rows: Sequence[Row]) -> Any:
    """Draw mean test errors by training samples per class, one panel per set."""
    plt = _pyplot()
    found = by_set_and_method(rows)
    bases = list(dict.fromkeys(name.split("@")[0] for name, _ in found))
    figure, axes = plt.subplots(1, len(bases), figsize=(4.4 * len(bases) + 0.4, 3.6), squeeze=False)
    for axis, base in zip(axes.flat, bases, strict=True):
        for number, method in enumerate(experiment.methods):
            sizes = sorted(
                int(name.split("@")[1])
                for name, key in found
                if key == method.key and name.split("@")[0] == base
            )
            errors = [[error_at(r) for r in found[f"{base}@{n}", method.key]] for n in sizes]
            if not sizes:
                continue
            means, spreads = [np.mean(e) for e in errors], [np.std(e) for e in errors]
            place = np.array(sizes) * (1 + 0.012 * (number - 3))
            style = {"color": _COLOURS[number], "linestyle": _STYLES[number], "lw": 1.4}
            axis.errorbar(place, means, spreads, label=method.title, capsize=2, **style)
        axis.set_xscale("log")
        axis.set_xticks([5, 10, 20, 40], ["5", "10", "20", "40"])
        axis.minorticks_off()
        axis.set_xlabel("training samples per class")
        axis.set_ylabel("test error, %")
        axis.set_ylim(bottom=0)
        axis.set_title(base)
        axis.legend(fontsize=8, frameon=False)
        _frame(axis)
    figure.tight_layout()
    return figure


def _panel(axis: Any, cell: Cell, result: dict[str, Any], rounds: str) -> None:
    """Draw the classes on a grid and the samples."""
    data = datasets.load(cell.set)
    k = len(data.classes)
    grid = np.array(list(result["grids"][rounds]), dtype=float).reshape(GRID, GRID)
    plt = _pyplot()
    colours = plt.matplotlib.colors.ListedColormap(_COLOURS[:k])
    extent = result["extent"]
    axis.imshow(
        grid,
        extent=extent,
        origin="lower",
        cmap=colours,
        vmin=-0.5,
        vmax=k - 0.5,
        alpha=0.35,
        aspect="auto",
        interpolation="nearest",
    )
    points = data.X if result.get("matrix") is None else data.X @ np.array(result["matrix"]).T
    _scatter(axis, points, data, extent)


def _scatter(axis: Any, points: Any, data: Any, extent: Any) -> None:
    for number, label in enumerate(data.classes):
        rows = data.y == label
        axis.scatter(*points[rows].T, s=4, color=_COLOURS[number], linewidths=0, rasterized=True)
    axis.set_xlim(extent[:2])
    axis.set_ylim(extent[2:])
    axis.set_xticks([])
    axis.set_yticks([])


def _toyrank(experiment: Experiment, results: Results) -> Any:
    """Draw one-versus-all boosting by rounds, on the original and on projected data."""
    plt = _pyplot()
    found = {cell.method: (cell, result) for cell, result in results}
    panels = []
    for method in experiment.methods:
        if method.key in found:
            cell, result = found[method.key]
            shown = list(result["grids"])
            panels += [
                (cell, result, t) for t in (shown if method.key != "projected" else shown[-1:])
            ]
    figure, axes = plt.subplots(1, len(panels), figsize=(2.8 * len(panels), 2.9), squeeze=False)
    for axis, (cell, result, t) in zip(axes.flat, panels, strict=True):
        _panel(axis, cell, result, t)
        title = f"{t} rounds" + (", projected" if cell.method == "projected" else "")
        axis.set_title(title, fontsize=10)
    figure.tight_layout()
    return figure


def _toy(experiment: Experiment, results: Results) -> Any:
    """Draw data and boundaries, one row per set and one column per method."""
    plt = _pyplot()
    found = {(cell.set, cell.method): (cell, result) for cell, result in results}
    names = [name for name in experiment.sets if any(name == row for row, _ in found)]
    methods = experiment.methods
    size = (1.9 * (len(methods) + 1), 1.9 * len(names) + 0.3)
    figure, axes = plt.subplots(len(names), len(methods) + 1, figsize=size, squeeze=False)
    for row, name in zip(axes, names, strict=True):
        data = datasets.load(name)
        low, high = data.X.min(axis=0) - 0.5, data.X.max(axis=0) + 0.5
        _scatter(row[0], data.X, data, [low[0], high[0], low[1], high[1]])
        row[0].set_ylabel(name, fontsize=9)
        for axis, method in zip(row[1:], methods, strict=True):
            if (name, method.key) in found:
                cell, result = found[name, method.key]
                _panel(axis, cell, result, list(result["grids"])[-1])
            else:
                axis.set_axis_off()
    for axis, title in zip(axes[0], ["data", *(m.title for m in methods)], strict=True):
        axis.set_title(title, fontsize=9)
    figure.tight_layout()
    return figure


def _complexity(experiment: Experiment, rows: Sequence[Row]) -> Any:
    """Draw the time of a fit against every variable."""
    plt = _pyplot()
    slopes = exponents(rows)
    letters = sorted({letter for _, letter in slopes}, key="nmkdT".index)
    figure, axes = plt.subplots(
        1, len(letters), figsize=(2.6 * len(letters) + 0.5, 3.0), sharey=True, squeeze=False
    )
    for axis, letter in zip(axes.flat, letters, strict=True):
        for number, method in enumerate(experiment.methods):
            if (method.key, letter) not in slopes:
                continue
            slope, seconds = slopes[method.key, letter]
            values = sorted(
                int(row["set"].split("=")[1])
                for row in rows
                if row["method"] == method.key and row["set"].startswith(letter + "=")
            )
            label = f"{method.title}: {slope:.2f}"
            axis.loglog(values, seconds, "o-", ms=4, label=label, color=_COLOURS[number])
        axis.set_xticks(values, [str(v) for v in values], fontsize=8)
        axis.minorticks_off()
        axis.set_xlabel(letter)
        axis.legend(fontsize=7, frameon=False, loc="upper left")
        _frame(axis)
    low, high = axes[0, 0].get_ylim()
    axes[0, 0].set_ylim(low, 4 * high)  # room for the legends
    axes[0, 0].set_ylabel("CPU seconds of a fit")
    figure.tight_layout()
    return figure


def _frame(axis: Any) -> None:
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(alpha=0.25, lw=0.5)


_FIGURES: dict[str, Callable[[Experiment, Sequence[Row]], Any]] = {
    "figure-curves": _curves,
    "figure-caltech": _curves,
    "figure-digits": _digits,
    "table-complexity": _complexity,
}
_BOUNDARIES: dict[str, Callable[[Experiment, Results], Any]] = {
    "figure-toyrank": _toyrank,
    "figure-toy": _toy,
}
