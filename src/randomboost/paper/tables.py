"""Runs as tables: means next to the paper's, times, exponents."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from .experiments import Experiment, Method
from .published import CORRECTION_SECONDS, Figure
from .runs import Row, by_set_and_method, error_at

DIGITS = 1  # decimals that the paper prints
_MIN_SPREAD = 0.1  # in percentage points, where the paper prints 0.0
_LEVEL = 0.95  # of confidence intervals


@dataclass(frozen=True)
class Entry:
    """Errors of one method on one set, next to the paper's.

    Parameters
    ----------
    mean, spread : float
        Ours, in %; the standard deviation is that of the repeats.
    count : int
        Repeats.
    paper : (float, float) or None
        Mean and standard deviation in the paper.
    """

    mean: float
    spread: float
    count: int
    paper: Figure | None = None

    @property
    def difference(self) -> float | None:
        """Return our mean minus the paper's, in units of the paper's standard deviation."""
        if self.paper is None:
            return None
        return (self.mean - self.paper[0]) / max(self.paper[1], _MIN_SPREAD)

    @property
    def half_width(self) -> float:
        """Return half the width of the 95 % confidence interval of the mean, by Student's t.

        Repeats share samples, so that it is rather too narrow.
        """
        if self.count < 2:
            return float("nan")
        from scipy.stats import t

        quantile = float(t.ppf(0.5 + _LEVEL / 2, self.count - 1))
        return quantile * self.spread / float(np.sqrt(self.count))

    @property
    def reached(self) -> bool | None:
        """Whether the printed mean is at most the paper's plus one of its standard deviations."""
        if self.paper is None:
            return None
        return round(self.mean, DIGITS) <= self.paper[0] + self.paper[1] + 1e-9

    @property
    def within(self) -> bool | None:
        """Whether the printed mean is within one of the paper's standard deviations of its mean."""
        if self.paper is None:
            return None
        return abs(round(self.mean, DIGITS) - self.paper[0]) <= self.paper[1] + 1e-9


@dataclass(frozen=True)
class Table:
    """Our results next to those of the paper.

    Parameters
    ----------
    sets : sequence of str
        Rows.
    columns : sequence of (str, str)
        Key and title of the columns.
    entries : dict
        `Entry` by set and column key.
    """

    sets: Sequence[str]
    columns: Sequence[tuple[str, str]]
    entries: dict[tuple[str, str], Entry]

    def counts(self, name: str) -> dict[str, tuple[int, int]]:
        """Return by column on how many sets a property of the entries holds, and of how many.

        Parameters
        ----------
        name : {"reached", "within"}
            The property.

        Returns
        -------
        dict of str to (int, int)
            Numbers of sets, for the columns that the paper has.
        """
        counts = {}
        for key, _ in self.columns:
            known = [getattr(entry, name) for (_, k), entry in self.entries.items() if k == key]
            known = [value for value in known if value is not None]
            if known:
                counts[key] = (sum(bool(value) for value in known), len(known))
        return counts


def _columns(methods: Sequence[Method], at: Sequence[int]) -> list[tuple[str, str, int | None]]:
    stages: Sequence[int | None] = at or [None]
    return [
        (m.key if t is None else f"{m.key}@{t}", m.title if t is None else f"{m.title}, {t}", t)
        for m in methods
        for t in stages
    ]


def table(experiment: Experiment, rows: Sequence[Row]) -> Table:
    """Return the means of all sets and methods next to the paper's.

    Parameters
    ----------
    experiment : Experiment
        The experiment.
    rows : sequence of dict
        Its runs.

    Returns
    -------
    Table
        The table.
    """
    found = by_set_and_method(rows)
    columns = _columns(experiment.methods, experiment.at)
    entries = {}
    for (name, method), repeats in found.items():
        for key, _, t in columns:
            if key.split("@")[0] == method and repeats[0]["wrong"] is not None:
                errors = [error_at(row, t) for row in repeats]
                spread = float(np.std(errors, ddof=1)) if len(errors) > 1 else 0.0
                paper = experiment.published.get(name, {}).get(key)
                entries[name, key] = Entry(float(np.mean(errors)), spread, len(errors), paper)
    sets = [name for name in experiment.sets if any(name == row for row, _ in entries)]
    return Table(sets, [(key, title) for key, title, _ in columns], entries)


def markdown_table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table as Markdown.

    Parameters
    ----------
    titles : sequence of str
        Titles of the columns.
    rows : iterable of sequences of str
        Cells.

    Returns
    -------
    str
        The text.
    """
    lines = [f"| {' | '.join(cells)} |" for cells in (titles, *rows)]
    lines.insert(1, "|---" * len(titles) + "|")
    return "\n".join(lines) + "\n"


def markdown(table: Table) -> str:
    """Return a table as Markdown: ours, then the paper's in brackets.

    Parameters
    ----------
    table : Table
        The table.

    Returns
    -------
    str
        The text.
    """
    lines = []
    for name in table.sets:
        texts = [_text(table.entries.get((name, key))) for key, _ in table.columns]
        lines.append([name, *texts])
    for name, title in (("reached", "at most + 1 sd"), ("within", "within 1 sd")):
        counts = table.counts(name)
        texts = [
            f"{counts[key][0]} of {counts[key][1]}" if key in counts else ""
            for key, _ in table.columns
        ]
        if counts:
            lines.append([f"**{title}**", *texts])
    return markdown_table(["set", *(title for _, title in table.columns)], lines)


def _text(entry: Entry | None) -> str:
    if entry is None:
        return ""
    text = f"{entry.mean:.1f}"
    if entry.count > 1:
        text += f" ± {entry.half_width:.1f} ({entry.spread:.1f})"
    if entry.paper is not None and entry.difference is not None:
        outside = " **below**" if entry.reached else " **above**"
        sign = "" if entry.within else outside
        text += f" [{entry.paper[0]:.1f} ({entry.paper[1]:.1f}), {entry.difference:+.1f}]{sign}"
    return text


def repeats_note(table: Table) -> str:
    """Describe the numbers of repeats of the entries.

    Parameters
    ----------
    table : Table
        The table.

    Returns
    -------
    str
        A sentence.
    """
    usual = max((entry.count for entry in table.entries.values()), default=0)
    fewer: dict[str, list[str]] = defaultdict(list)
    missing: dict[str, list[str]] = defaultdict(list)
    for name in table.sets:
        for method in dict.fromkeys(key.split("@")[0] for key, _ in table.columns):
            key = next(key for key, _ in table.columns if key.split("@")[0] == method)
            entry = table.entries.get((name, key))
            if entry is None:
                missing[method].append(name)
            elif entry.count < usual:
                fewer[method].append(f"{name} ({entry.count})")
    text = f"{usual} repeats"
    for title, found in (("fewer", fewer), ("not run", missing)):
        parts = [f"{method} on {', '.join(names)}" for method, names in found.items()]
        text += f"; {title}: {'; '.join(parts)}" if parts else ""
    return text + "."


GRIDS = {
    "paper": "the paper's grid and 5 folds of every training part",
    "coarse": "a coarse grid on one split of the first training part",
}


def grids_note(rows: Sequence[Row]) -> str:
    """Describe how nu was chosen.

    Parameters
    ----------
    rows : sequence of dict
        Runs.

    Returns
    -------
    str
        A sentence; empty if nu was chosen nowhere.
    """
    found: dict[str, dict[str, set[str]]] = {grid: defaultdict(set) for grid in GRIDS}
    for row in rows:
        if row["grid"]:
            found[row["grid"]][row["method"]].add(row["set"])
    used = {grid: methods for grid, methods in found.items() if methods}
    if len(used) == 1:
        return f"nu is chosen by {GRIDS[next(iter(used))]}."
    parts = [
        f"by {GRIDS[grid]}: "
        + "; ".join(f"{method} on {', '.join(sorted(sets))}" for method, sets in methods.items())
        for grid, methods in used.items()
    ]
    return f"nu is chosen {'. And '.join(parts)}." if parts else ""


_TIMES = {
    "correction_cpu_seconds": "CPU seconds of the optimisation steps of a fit",
    "fit_cpu_seconds": "CPU seconds of a fit",
}


def times(experiment: Experiment, rows: Sequence[Row]) -> dict[str, str]:
    """Return tables of mean CPU seconds, of the optimisation steps and of whole fits.

    Parameters
    ----------
    experiment : Experiment
        The experiment.
    rows : sequence of dict
        Its runs.

    Returns
    -------
    dict of str to str
        Markdown by title; the paper's figures, of the optimisation steps, are in brackets.
    """
    found = {title: _times(experiment, rows, key) for key, title in _TIMES.items()}
    return {title: text for title, text in found.items() if text}


def _times(experiment: Experiment, rows: Sequence[Row], key: str) -> str:
    found = by_set_and_method([row for row in rows if row[key] is not None])
    methods = [m for m in experiment.methods if any(m.key == method for _, method in found)]
    printed = CORRECTION_SECONDS if key.startswith("correction") else {}
    lines = []
    for name in experiment.sets:
        texts = []
        for method in methods:
            values = [row[key] for row in found.get((name, method.key), ())]
            text = f"{np.mean(values):.3g}" if values else ""
            paper = printed.get(name, {}).get(method.key)
            texts.append(f"{text} [{paper:g}]" if values and paper is not None else text)
        if any(texts):
            lines.append([name, *texts])
    return markdown_table(["set", *(m.title for m in methods)], lines) if found else ""


PAPER_EXPONENTS = {
    "rank": {"n": "1", "m": "1 (log)", "k": "1 (log)", "d": "0", "T": "1"},
    "proj": {"n": "1 to 3", "m": "1", "k": "1", "d": "1", "T": "1"},
}


def exponents(rows: Sequence[Row]) -> dict[tuple[str, str], tuple[float, list[float]]]:
    """Return the exponents of the time of a fit in each variable: slopes in logarithms.

    Parameters
    ----------
    rows : sequence of dict
        Runs of table-complexity.

    Returns
    -------
    dict
        Exponent and CPU seconds by method and variable.
    """
    found: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for row in rows:
        letter, value = row["set"].split("=")
        found[row["method"], letter].append((float(value), row["fit_cpu_seconds"]))
    slopes = {}
    for key, pairs in found.items():
        values, seconds = zip(*sorted(pairs), strict=True)
        if len(values) > 1:
            slope = np.polyfit(np.log(values), np.log(seconds), 1)[0]
            slopes[key] = (float(slope), list(seconds))
    return slopes


def exponents_markdown(rows: Sequence[Row]) -> str:
    """Return the exponents as Markdown, next to those of the paper.

    Parameters
    ----------
    rows : sequence of dict
        Runs of table-complexity.

    Returns
    -------
    str
        The text.
    """
    lines = []
    found = exponents(rows)
    for method, letter in sorted(found, key=lambda key: (key[0], "nmkdT".index(key[1]))):
        slope, seconds = found[method, letter]
        paper = PAPER_EXPONENTS.get(method.split("-")[0], {}).get(letter, "")
        times = ", ".join(f"{value:.2g}" for value in seconds)
        lines.append([method, letter, f"{slope:.2f}", paper, times])
    return markdown_table(
        ["method", "variable", "exponent measured", "paper", "CPU seconds"], lines
    )
