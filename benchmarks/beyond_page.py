"""Writes the tables and the picture of docs/beyond.md from its measurements, and nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
from beyond_figures import Figures, geometric_mean, loss
from beyond_models import BASE
from beyond_results import Row, latest
from beyond_sets import CASES, of_group
from many_classes_page import NOTHING, filled, table
from page import number
from pictures import draw_ratios

PAGE = Path(__file__).resolve().parent.parent / "docs" / "beyond.md"
RESULTS = PAGE.with_suffix("") / "results.csv"
PICTURE = "errors.svg"
BIG, TINY = 1000, 500  # rows from which on, and up to which, times are compared
SPLITS = 10


def _shown(value: float, form: str = ".2f") -> str:
    return "-" if np.isnan(value) else f"{value:{form}}"


def _lowest_bold(columns: list[list[float]], form: str) -> list[list[str]]:
    """Return numbers as text, by column; the lowest of each is bold."""
    shown = []
    for column in columns:
        texts = [_shown(value, form) for value in column]
        lowest = _shown(np.nanmin(column), form) if not np.isnan(column).all() else None
        shown.append([f"**{text}**" if text == lowest else text for text in texts])
    return shown


def comparison(figures: Figures) -> str:
    """Return the table of models: ratios of errors, sets won, average ranks."""
    reference = figures.reference
    error_ranks, counts = figures.ranks()
    loss_ranks, _ = figures.ranks(loss)
    rows = []
    for model in figures.models:
        ratios = figures.ratios(model)
        worst = max(ratios, key=ratios.__getitem__, default="")
        won = Counter(int(np.sign(ratio - 1)) for ratio in ratios.values())
        own = model == reference
        losses = figures.ratios(model, loss).values()
        rows.append(
            [
                model,
                "" if own else _shown(geometric_mean(ratios.values())),
                "" if own or not worst else f"{ratios[worst]:.2f} ({worst})",
                "" if own else f"{won[-1]} / {won[0]} / {won[1]}",
                "" if own else _shown(geometric_mean(losses)),
                _shown(error_ranks.get(model, np.nan)),
                _shown(loss_ranks.get(model, np.nan)),
            ]
        )
    head = [
        "model",
        f"error of {reference} / its",
        "largest",
        "lower / same / higher",
        f"log loss of {reference} / its",
        "average rank, error",
        "average rank, log loss",
    ]
    text = table(head, rows)
    if counts:
        splits = _counted(min(counts), max(counts))
        text += f"\nRanks are of {len(counts)} sets, with the {splits} that all models have.\n"
    return text


def by_set(figures: Figures, field: str, form: str) -> str:
    """Return the table of means, a line a model and a column a set."""
    columns = [
        [figures.mean(name, model, field) for model in figures.models] for name in figures.sets
    ]
    cells = _lowest_bold(columns, form)
    rows = [
        [_label(figures, model), *(column[line] for column in cells)]
        for line, model in enumerate(figures.models)
    ]
    return table(["model", *(f"{name} ({CASES[name].classes})" for name in figures.sets)], rows)


def _counted(fewest: int, most: int) -> str:
    """Return a range of numbers of splits in words."""
    count = f"{fewest} to {most}" if fewest < most else str(most)
    return f"{count} split{'s' if most != 1 else ''}"


def _label(figures: Figures, model: str) -> str:
    """Return the name of a model, with its splits where they are not all."""
    fewest, most = figures.n_splits(model)
    return model if fewest == SPLITS else f"{model} ({_counted(fewest, most)})"


def group_section(rows: list[Row], group: str) -> str:
    """Return the tables of a group of sets."""
    figures = Figures(rows, of_group(group))
    if not figures.sets:
        return NOTHING
    return "\n".join(
        [
            comparison(figures),
            "Mean test error in percent; the number of classes is in brackets, the lowest is bold. "
            f"Models have {SPLITS} splits where nothing else is written.\n",
            by_set(figures, "error", ".2f"),
            "Mean log loss:\n",
            by_set(figures, "log_loss", ".3f"),
        ]
    )


def time_section(rows: list[Row]) -> str:
    """Return the table of times, of fits on a quiet machine."""
    figures = Figures(rows, [*of_group("paper"), *of_group("dev")], quiet=True)
    if BASE not in figures.models:
        return NOTHING
    lines = []
    for model in figures.models:
        cells = [model]
        for field in ("fit_s", "predict_s"):
            ratios = [
                figures.mean(name, model, field) / figures.mean(name, BASE, field)
                for name in figures.sets
                if CASES[name].rows > BIG
            ]
            cells.append(number(geometric_mean(r for r in ratios if not np.isnan(r))))
        tiny = [figures.mean(n, model, "fit_s") for n in figures.sets if CASES[n].rows < TINY]
        all_fits = [figures.mean(n, model, "fit_s") for n in figures.sets]
        cells += [_longest(tiny), _longest(all_fits)]
        lines.append(cells)
    head = [
        "model",
        f"fit / {BASE}'s, sets above {BIG} rows",
        "predict, the same",
        f"longest fit below {TINY} rows, s",
        "longest fit, s",
    ]
    return table(head, lines)


def _longest(values: list[float]) -> str:
    known = [value for value in values if not np.isnan(value)]
    return number(max(known)) if known else "-"


def large_section(rows: list[Row]) -> str:
    """Return the table of the large tables."""
    names = of_group("large")
    figures, quiet = Figures(rows, names), Figures(rows, names, quiet=True)
    lines = []
    for name in figures.sets:
        for model in (model for model in figures.models if figures.tried(name, model)):
            lines.append(
                [
                    name,
                    model,
                    _shown(figures.mean(name, model, "error")),
                    _shown(figures.mean(name, model, "log_loss"), ".3f"),
                    _shown(quiet.mean(name, model, "fit_s"), ".1f"),
                    _shown(quiet.mean(name, model, "predict_s"), ".2f"),
                ]
            )
    if not lines:
        return NOTHING
    return table(["data", "model", "test error, %", "log loss", "fit, s", "predict, s"], lines)


def summary(rows: list[Row]) -> str:
    """Return the ratios of errors in short, a line a model and a column a group."""
    groups = {group: Figures(rows, of_group(group)) for group in ("paper", "dev")}
    reference = groups["paper"].reference
    models = list(dict.fromkeys(m for figures in groups.values() for m in figures.models))
    if reference not in models:
        return NOTHING
    cells = [
        [model, *(_shown(geometric_mean(f.ratios(model).values())) for f in groups.values())]
        for model in models
        if model != reference
    ]
    head = [f"error of {reference} divided by that of", "the paper's sets", "other sets"]
    return table(head, cells)


def setting(rows: list[Row]) -> str:
    """Return versions in words, the state of our source, and what has no figures."""
    current = latest(rows).values()
    packages = sorted({package for row in current for package in _packages(row)})
    text = [f"{', '.join(packages)}.\n"] if packages else []
    commits = sorted({row.commit for row in current if row.commit})
    if commits:
        text.append(f"RandomBoost is that of commit {', '.join(commits)}.\n")
    missing = Counter((row.model, row.set, row.status) for row in current if not row.good)
    if missing:
        lines = [[model, name, why, str(n)] for (model, name, why), n in sorted(missing.items())]
        text.append("Fits without a figure:\n")
        text.append(table(["model", "set", "reason", "splits"], lines))
    return "\n".join(text) or NOTHING


def _packages(row: Row) -> list[str]:
    words = row.versions.split()
    return [f"{name} {number}" for name, number in zip(words[::2], words[1::2], strict=True)]


def draw(rows: list[Row], path: Path) -> None:
    """Draw the errors of all models relative to the reference, by set."""
    figures = Figures(rows, [*of_group("paper"), *of_group("dev")])
    if figures.reference not in figures.models:
        return
    ratios = {
        model: [1 / ratio for ratio in figures.ratios(model).values()]
        for model in figures.models
        if model != figures.reference and figures.ratios(model)
    }
    label = f"test error / that of {figures.reference} (diamond: geometric mean; dots: sets)"
    draw_ratios(ratios, label, path)


def write_page(rows: list[Row], out: Path, text: str | None = None) -> None:
    """Write the page and its picture; the text around tables is that of docs/beyond.md."""
    parts: dict[str, Callable[[], str]] = {
        "summary": lambda: summary(rows),
        "paper": lambda: group_section(rows, "paper"),
        "dev": lambda: group_section(rows, "dev"),
        "times": lambda: time_section(rows),
        "large": lambda: large_section(rows),
        "setting": lambda: setting(rows),
    }
    page = filled(text or PAGE.read_text(), {name: make() for name, make in parts.items()})
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(page)
    draw(rows, out.with_suffix("") / PICTURE)
