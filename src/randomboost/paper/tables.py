"""Results as tables: all runs, means next to the paper's, significance tests, exponents."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .cells import Cell
from .engine import Plan
from .experiments import Method
from .published import CORRECTION_SECONDS, Figure

Results = list[tuple[Cell, dict[str, Any]]]
_MIN_SPREAD = 0.1  # in percentage points, where the paper prints 0.0


def error_at(result: dict[str, Any], rounds: int | None = None) -> float:
    """Return the test error in % after some rounds, or after the last one of a shorter fit.

    Parameters
    ----------
    result : dict
        Result of a cell.
    rounds : int or None, default=None
        Number of rounds; None for all.

    Returns
    -------
    float
        The error.
    """
    wrong = result["wrong"]
    at = len(wrong) if rounds is None else min(rounds, len(wrong))
    return 100.0 * wrong[at - 1] / result["n_test"]


def by_set_and_method(results: Results) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Group results.

    Parameters
    ----------
    results : list of (Cell, dict)
        Finished cells.

    Returns
    -------
    dict of (str, str) to list of dict
        The results of all repeats, by set and method.
    """
    found: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for cell, result in results:
        found[cell.set, cell.method].append(result)
    return dict(found)


def runs(results: Results) -> list[dict[str, Any]]:
    """Return one row per run.

    Parameters
    ----------
    results : list of (Cell, dict)
        Finished cells.

    Returns
    -------
    list of dict
        The rows.
    """
    rows = []
    for cell, result in results:
        row = {
            "experiment": cell.experiment,
            "set": cell.set,
            "method": cell.method,
            "repeat": cell.repeat,
            "seed": cell.repeat,
            "estimator": cell.estimator,
            "parameters": json.dumps({"n_estimators": cell.rounds, **cell.parameters}),
            "nu": result.get("nu"),
            "rounds": result["rounds"],
            "stopped": result["stopped"],
            "error": error_at(result) if result["wrong"] else None,
            "n_train": result.get("n_train"),
            "n_test": result["n_test"],
            "train_wrong": result.get("train_wrong"),
            "fit_seconds": round(result["seconds"], 4),
            "fit_cpu_seconds": round(result["cpu"], 4),
            "correction_cpu_seconds": result.get("correction_cpu"),
            "predict_seconds": result.get("predict_seconds"),
            "wrong_by_round": json.dumps(result["wrong"]),
            **{f"version_{name}": version for name, version in result["versions"].items()},
        }
        rows.append(row)
    return rows


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
    def reached(self) -> bool | None:
        """Whether the mean is at most the paper's plus one of its standard deviations."""
        if self.paper is None:
            return None
        return self.mean <= self.paper[0] + self.paper[1] + 1e-9


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

    def reached(self) -> dict[str, tuple[int, int]]:
        """Return by column the number of sets that reach the paper, and the number of sets."""
        counts = {}
        for key, _ in self.columns:
            known = [entry.reached for (_, k), entry in self.entries.items() if k == key]
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


def table(plan: Plan, results: Results) -> Table:
    """Return the means of all sets and methods next to the paper's.

    Parameters
    ----------
    plan : Plan
        The experiment.
    results : list of (Cell, dict)
        Finished cells.

    Returns
    -------
    Table
        The table.
    """
    experiment = plan.experiment
    found = by_set_and_method(results)
    columns = _columns(experiment.methods, experiment.at)
    entries = {}
    for (name, method), repeats in found.items():
        for key, _, t in columns:
            if key.split("@")[0] == method and repeats[0]["wrong"]:
                errors = [error_at(result, t) for result in repeats]
                spread = float(np.std(errors, ddof=1)) if len(errors) > 1 else 0.0
                paper = experiment.published.get(name, {}).get(key)
                entries[name, key] = Entry(float(np.mean(errors)), spread, len(errors), paper)
    sets = [name for name in experiment.sets if any(name == row for row, _ in entries)]
    return Table(sets, [(key, title) for key, title, _ in columns], entries)


def markdown(table: Table) -> str:
    """Return a table as Markdown: ours (standard deviation), then the paper's in brackets.

    Parameters
    ----------
    table : Table
        The table.

    Returns
    -------
    str
        The text.
    """
    lines = [
        "| set | " + " | ".join(title for _, title in table.columns) + " |",
        "|---" * (len(table.columns) + 1) + "|",
    ]
    for name in table.sets:
        texts = [_text(table.entries.get((name, key))) for key, _ in table.columns]
        lines.append(f"| {name} | " + " | ".join(texts) + " |")
    counts = table.reached()
    if counts:
        texts = [
            f"{counts[key][0]} of {counts[key][1]}" if key in counts else ""
            for key, _ in table.columns
        ]
        lines.append("| **reached** | " + " | ".join(texts) + " |")
    return "\n".join(lines) + "\n"


def _text(entry: Entry | None) -> str:
    if entry is None:
        return ""
    text = f"{entry.mean:.1f} ({entry.spread:.1f})"
    if entry.paper is not None and entry.difference is not None:
        sign = "" if entry.reached else " **above**"
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


@dataclass(frozen=True)
class SignedRank:
    """Wilcoxon's signed-rank test between two methods over their common sets.

    Parameters
    ----------
    first, second : str
        Keys of the methods.
    whose : {"ours", "paper"}
        Whose errors.
    sets : int
        Number of sets.
    statistic, p : float
        The smaller rank sum and the two-sided p-value.
    wins, losses : int
        Numbers of sets on which the first has the lower and the higher error.
    """

    first: str
    second: str
    whose: str
    sets: int
    statistic: float
    p: float
    wins: int
    losses: int


def signed_ranks(table: Table) -> list[SignedRank]:
    """Return the tests of all pairs of columns, for our errors and for the paper's.

    Parameters
    ----------
    table : Table
        The table; the last one of several stages is used.

    Returns
    -------
    list of SignedRank
        The tests with at least five sets that differ.
    """
    from scipy.stats import wilcoxon

    last: dict[str, str] = {}
    for key, _ in table.columns:
        last[key.split("@")[0]] = key
    tests = []
    for first, second in itertools.combinations(last.values(), 2):
        both = [
            (table.entries[name, first], table.entries[name, second])
            for name in table.sets
            if (name, first) in table.entries and (name, second) in table.entries
        ]
        pairs = {
            "ours": [(a.mean, b.mean) for a, b in both],
            "paper": [(a.paper[0], b.paper[0]) for a, b in both if a.paper and b.paper],
        }
        for whose, values in pairs.items():
            gaps = np.array([a - b for a, b in values])
            if np.count_nonzero(gaps) < 5:
                continue
            found = wilcoxon(gaps)
            tests.append(
                SignedRank(
                    first,
                    second,
                    whose,
                    len(gaps),
                    float(found.statistic),
                    float(found.pvalue),
                    int((gaps < 0).sum()),
                    int((gaps > 0).sum()),
                )
            )
    return tests


def signed_rank_markdown(tests: Sequence[SignedRank]) -> str:
    """Return the tests as Markdown.

    Parameters
    ----------
    tests : sequence of SignedRank
        The tests.

    Returns
    -------
    str
        The text.
    """
    lines = [
        "| first | second | figures | sets | first lower | second lower | statistic | p |",
        "|---|---|---|---|---|---|---|---|",
        *(
            f"| {t.first} | {t.second} | {t.whose} | {t.sets} | {t.wins} | {t.losses} | "
            f"{t.statistic:g} | {t.p:.3f} |"
            for t in tests
        ),
    ]
    return "\n".join(lines) + "\n"


def times_markdown(plan: Plan, results: Results) -> str:
    """Return the CPU times as Markdown: of fits, or of the optimisation step if measured.

    Parameters
    ----------
    plan : Plan
        The experiment.
    results : list of (Cell, dict)
        Finished cells.

    Returns
    -------
    str
        The text.
    """
    found = by_set_and_method(results)
    correction = plan.experiment.measure == "correction"
    key = "correction_cpu" if correction else "cpu"
    methods = plan.experiment.methods
    lines = [
        "| set | " + " | ".join(method.title for method in methods) + " |",
        "|---" * (len(methods) + 1) + "|",
    ]
    for name in plan.experiment.sets:
        texts = []
        for method in methods:
            values = [result[key] for result in found.get((name, method.key), ())]
            text = f"{np.mean(values):.3g}" if values else ""
            paper = CORRECTION_SECONDS.get(name, {}).get(method.key) if correction else None
            texts.append(f"{text} [{paper:g}]" if values and paper is not None else text)
        if any(texts):
            lines.append(f"| {name} | " + " | ".join(texts) + " |")
    return "\n".join(lines) + "\n"


PAPER_EXPONENTS = {
    "rank": {"n": "1", "m": "1 (log)", "k": "1 (log)", "d": "0", "T": "1"},
    "proj": {"n": "1 to 3", "m": "1", "k": "1", "d": "1", "T": "1"},
}


def exponents(results: Results) -> dict[tuple[str, str], tuple[float, list[float]]]:
    """Return the exponents of the time of a fit in each variable: slopes in logarithms.

    Parameters
    ----------
    results : list of (Cell, dict)
        Finished cells of table-complexity.

    Returns
    -------
    dict
        Exponent and CPU seconds by method and variable.
    """
    found: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for cell, result in results:
        letter, value = cell.set.split("=")
        found[cell.method, letter].append((float(value), result["cpu"]))
    slopes = {}
    for key, pairs in found.items():
        values, seconds = zip(*sorted(pairs), strict=True)
        if len(values) > 1:
            slope = np.polyfit(np.log(values), np.log(seconds), 1)[0]
            slopes[key] = (float(slope), list(seconds))
    return slopes


def exponents_markdown(results: Results) -> str:
    """Return the exponents as Markdown, next to those of the paper.

    Parameters
    ----------
    results : list of (Cell, dict)
        Finished cells of table-complexity.

    Returns
    -------
    str
        The text.
    """
    lines = [
        "| method | variable | exponent measured | paper | CPU seconds |",
        "|---|---|---|---|---|",
    ]
    found = exponents(results)
    for method, letter in sorted(found, key=lambda key: (key[0], "nmkdT".index(key[1]))):
        slope, seconds = found[method, letter]
        paper = PAPER_EXPONENTS.get(method.split("-")[0], {}).get(letter, "")
        times = ", ".join(f"{value:.2g}" for value in seconds)
        lines.append(f"| {method} | {letter} | {slope:.2f} | {paper} | {times} |")
    return "\n".join(lines) + "\n"
