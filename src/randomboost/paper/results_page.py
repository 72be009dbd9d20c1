"""Writes the results of an experiment: runs.csv, runs.parquet, table.md, page.html, figures."""

from __future__ import annotations

import csv
import io
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import __version__
from ..report.html import LARGE, Drawing
from . import figures, tables
from .engine import Plan
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
    if options.grid != "coarse":
        words += ["--grid", options.grid]
    for name in options.only:
        words += ["--only", name]
    return shlex.join(words)


def write(plan: Plan, failed: dict[str, str] | None = None) -> Written:
    """Write the results of the finished cells of an experiment.

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
    results = plan.finished()
    errors = plan.experiment.measure in ("errors", "correction")
    table = tables.table(plan, results if errors else [])
    tests = tables.signed_ranks(table)
    folder = plan.pages
    files = _write_runs(folder, tables.runs(results))
    drawn = {name: figures.svg(figure) for name, figure in figures.draw(plan, results).items()}
    for name, text in drawn.items():
        write_text(folder / f"{name}.svg", text)
        files.append(folder / f"{name}.svg")
    timed = plan.experiment.measure == "time"
    text = _markdown(plan, table, tests, results)
    times = tables.times_markdown(plan, results) if results and errors else ""
    write_text(folder / "table.md", text)
    write_text(folder / "times.md", times)
    html = _template().render(
        title=plan.experiment.title,
        version=__version__,
        scores=(),
        facts={},
        notes=(),
        left_out=_left_out(plan),
        command=command_of(plan),
        remark=plan.experiment.note,
        failed=failed or {},
        table=table,
        counts=table.reached(),
        repeats=tables.repeats_note(table),
        shade=shade,
        drawings=[_drawing(name, text) for name, text in drawn.items()],
        tables=_more_tables(tests, times, tables.exponents_markdown(results) if timed else ""),
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


def _more_tables(tests: Any, times: str, exponents: str) -> dict[str, list[list[str]]]:
    """Return the non-empty further tables of a page, by heading."""
    found = {
        "Exponents": exponents,
        "Wilcoxon signed-rank tests over the sets": tables.signed_rank_markdown(tests),
        "CPU seconds": times,
    }
    rows = {heading: _rows(text) for heading, text in found.items()}
    return {heading: table for heading, table in rows.items() if len(table) > 1}


def _drawing(name: str, svg: str) -> Drawing:
    """Return a figure for a page; its size is in points."""
    width = float(re.search(r'width="([\d.]+)pt"', svg)[1])  # type: ignore[index]
    described = svg.replace("<svg", f'<svg role="img" aria-label="{name}"', 1)
    return Drawing(name, "", described, round(width), large=width > LARGE, whole_row=True)


def _markdown(plan: Plan, table: tables.Table, tests: Any, results: tables.Results) -> str:
    parts = [f"# {plan.experiment.title}\n", f"`{command_of(plan)}`. {plan.experiment.note}\n"]
    if plan.experiment.measure == "time":
        parts.append(tables.exponents_markdown(results))
    elif table.sets:
        parts.append(
            "Mean test error in % (standard deviation), in brackets the paper's, and the "
            "difference of the means in units of its standard deviation. "
            f"{tables.repeats_note(table)}\n"
        )
        parts.append(tables.markdown(table))
    if tests:
        parts.append("Wilcoxon signed-rank tests over the sets:\n")
        parts.append(tables.signed_rank_markdown(tests))
    for name, form in _left_out(plan).items():
        parts.append(f"Left out, because it is not available: {name}. Needed: {form}.\n")
    return "\n".join(parts)


def _left_out(plan: Plan) -> dict[str, str]:
    """Return the sets that are not available, and the file each needs, without its folder."""
    return {
        name: getattr(why, "form", "") or "a file of the right format"
        for name, why in plan.left_out.items()
    }


def _write_runs(folder: Path, rows: list[dict[str, Any]]) -> list[Path]:
    """Write runs.csv, and runs.parquet if pandas and pyarrow are installed."""
    if not rows:
        return []
    file = io.StringIO()
    writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_text(folder / "runs.csv", file.getvalue())
    files = [folder / "runs.csv"]
    try:
        import pandas as pd

        pd.DataFrame(rows).to_parquet(folder / ".runs.parquet.part")
    except ImportError:
        return files
    (folder / ".runs.parquet.part").replace(folder / "runs.parquet")
    return [*files, folder / "runs.parquet"]
