"""Writes the results of an experiment: runs.csv, runs.parquet, table.md, page.html, figures."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import __version__
from ..report.html import LARGE, Drawing
from . import figures, runs, signed_ranks, tables
from .engine import Plan
from .experiments import Experiment
from .store import write_text


@dataclass(frozen=True)
class Written:
    """Files written for an experiment.

    Parameters
    ----------
    files : list of Path
        The files.
    markdown : str
        The text of table.md.
    """

    files: list[Path]
    markdown: str


def command_of(plan: Plan) -> str:
    """Return the command that reproduces the results of an experiment.

    Parameters
    ----------
    plan : Plan
        The experiment and its options.

    Returns
    -------
    str
        The command line.
    """
    options = plan.options
    words = ["randomboost", "paper", "run", plan.experiment.name]
    if options.quick:
        words.append("--quick")
    if options.repeats is not None:
        words += ["--repeats", str(options.repeats)]
    if options.grid != "paper":
        words += ["--grid", options.grid]
    for name in options.only:
        words += ["--only", name]
    return shlex.join(words)


def write(plan: Plan, failed: dict[str, str] | None = None) -> Written:
    """Write the results of the finished cells of an experiment; add new runs to the known ones.

    Parameters
    ----------
    plan : Plan
        The experiment.
    failed : dict or None
        Cells that failed, and why.

    Returns
    -------
    Written
        The files and the table as text.
    """
    results, experiment, folder = plan.finished(), plan.experiment, plan.pages
    rows = plan.rows()
    table = _errors(experiment, rows)
    files = runs.write(folder, rows) + plan.known.add(runs.rows_of(results))
    made = figures.draw(experiment, results, rows)
    drawn = {name: figures.svg(figure) for name, figure in made.items()}
    for name, text in drawn.items():
        write_text(folder / f"{name}.svg", text)
        files.append(folder / f"{name}.svg")
    text = markdown_of(experiment, rows, command_of(plan), _left_out(plan))
    write_text(folder / "table.md", text)
    write_text(folder / "times.md", times_of(experiment, rows))
    html = _template().render(
        title=experiment.title,
        version=__version__,
        scores=(),
        facts={},
        notes=(),
        left_out=_left_out(plan),
        command=command_of(plan),
        remark=experiment.note,
        failed=failed or {},
        table=table,
        counts={
            "at most + 1 sd": table.counts("reached"),
            "within 1 sd": table.counts("within"),
        },
        repeats=tables.repeats_note(table),
        shade=shade,
        drawings=[_drawing(name, text) for name, text in drawn.items()],
        tables=_more_tables(experiment, rows),
    )
    write_text(folder / "page.html", html)
    return Written([*files, folder / "table.md", folder / "page.html"], text)


def shade(entry: tables.Entry) -> str:
    """Return the colour class of an entry.

    Parameters
    ----------
    entry : Entry
        The entry.

    Returns
    -------
    {"better", "near", "worse", "far"}
        The class.
    """
    difference = entry.difference or 0.0
    if entry.reached:
        return "better" if difference <= 0 else "near"
    return "worse" if difference <= 3 else "far"


def _template() -> Any:
    try:
        from jinja2 import ChoiceLoader, Environment, PackageLoader
    except ImportError as error:
        raise ImportError("pages need jinja2: pip install randomboost[all]") from error
    loaders = [PackageLoader("randomboost.paper", "."), PackageLoader("randomboost.report")]
    environment = Environment(loader=ChoiceLoader(loaders), autoescape=True, trim_blocks=True)
    return environment.get_template("paper.html.jinja")


def _rows(markdown: str) -> list[list[str]]:
    """Return the cells of a Markdown table, without the line below its header."""
    lines = [line for line in markdown.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def _errors(experiment: Experiment, rows: Sequence[runs.Row]) -> tables.Table:
    """Return the table of errors; empty where none are measured."""
    measured = experiment.measure in ("errors", "correction")
    return tables.table(experiment, rows if measured else ())


def _tests(experiment: Experiment, rows: Sequence[runs.Row]) -> str:
    """Return the significance tests as Markdown, or an empty text."""
    found = signed_ranks.signed_ranks(_errors(experiment, rows))
    return signed_ranks.signed_rank_markdown(found) if found else ""


def times_of(experiment: Experiment, rows: Sequence[runs.Row]) -> str:
    """Return the text of times.md.

    Parameters
    ----------
    experiment : Experiment
        The experiment.
    rows : sequence of dict
        Its runs.

    Returns
    -------
    str
        Mean CPU seconds as Markdown tables; empty for figures and complexities.
    """
    return "\n".join(f"{title}:\n\n{text}" for title, text in _times(experiment, rows).items())


def _times(experiment: Experiment, rows: Sequence[runs.Row]) -> dict[str, str]:
    measured = experiment.measure in ("errors", "correction")
    return tables.times(experiment, rows) if measured else {}


def _more_tables(experiment: Experiment, rows: Sequence[runs.Row]) -> dict[str, list[list[str]]]:
    """Return the non-empty further tables of a page, by heading."""
    found = {}
    if experiment.measure == "time":
        found["Exponents"] = tables.exponents_markdown(rows)
    found["Wilcoxon signed-rank tests over the sets"] = _tests(experiment, rows)
    found |= _times(experiment, rows)
    split = {heading: _rows(text) for heading, text in found.items()}
    return {heading: table for heading, table in split.items() if len(table) > 1}


def _drawing(name: str, svg: str) -> Drawing:
    """Return a figure for a page; its size is in points."""
    width = float(re.search(r'width="([\d.]+)pt"', svg)[1])  # type: ignore[index]
    described = svg.replace("<svg", f'<svg role="img" aria-label="{name}"', 1)
    return Drawing(name, "", described, round(width), large=width > LARGE, whole_row=True)


def markdown_of(
    experiment: Experiment,
    rows: Sequence[runs.Row],
    command: str,
    left_out: Mapping[str, str] | None = None,
) -> str:
    """Return the text of table.md.

    Parameters
    ----------
    experiment : Experiment
        The experiment.
    rows : sequence of dict
        Its runs.
    command : str
        The command that made them.
    left_out : mapping of str to str or None
        Sets that were not available, and the files that they need.

    Returns
    -------
    str
        The text.
    """
    table = _errors(experiment, rows)
    parts = [f"# {experiment.title}\n", f"`{command}`. {experiment.note}\n"]
    if experiment.measure == "time":
        parts.append(tables.exponents_markdown(rows))
    elif table.sets:
        parts.append(
            "Mean test error in % ± half of its 95 % confidence interval (standard deviation), in "
            "brackets the paper's mean and standard deviation, and the difference of the means in "
            f"units of that. {tables.repeats_note(table)} {tables.grids_note(rows)}\n"
        )
        parts.append(tables.markdown(table))
    tests = _tests(experiment, rows)
    if tests:
        parts.append("Wilcoxon signed-rank tests over the sets, on the printed digits:\n")
        parts.append(tests)
    for name, form in (left_out or {}).items():
        parts.append(f"Left out, because it is not available: {name}. Needed: {form}.\n")
    return "\n".join(parts)


def _left_out(plan: Plan) -> dict[str, str]:
    """Return the sets that are not available, and the file each needs, without its folder."""
    return {
        name: getattr(why, "form", "") or "a file of the right format"
        for name, why in plan.left_out.items()
    }
