"""The commands ``randomboost paper list``, ``run``, ``show`` and ``archive``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markdown import Markdown
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Column, Table

from . import archive
from . import results_page as page
from .engine import Options, Plan, execute, plan
from .experiments import EXPERIMENTS

app = typer.Typer(
    help="The paper's tables and figures, reproduced and compared with the printed ones.",
    no_args_is_help=True,
)
_OUT = Path("paper-results")

Name = Annotated[str, typer.Argument(metavar="NAME", help="Experiment, see `list`; or `all`.")]
Repeats = Annotated[
    int | None,
    typer.Option(metavar="NUMBER", min=1, help="Repeats; default: as many as in the paper."),
]
Quick = Annotated[
    bool,
    typer.Option("--quick", help="A small version, on data of installed packages."),
]
Only = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Set or method to restrict the run to; may be repeated."),
]
Jobs = Annotated[
    int, typer.Option(metavar="NUMBER", min=1, help="Fits side by side, each in its own process.")
]
Out = Annotated[
    Path,
    typer.Option(metavar="FOLDER", help="Folder of the results; finished fits are not repeated."),
]
Grid = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="How nu is chosen: `paper` (its grid, 5 folds of every training part) or `coarse` "
        "(4 to 6 values, one split of the first training part; always with --quick).",
    ),
]
Rounds = Annotated[
    int | None,
    typer.Option(metavar="NUMBER", min=1, help="Rounds instead of the paper's, for tests."),
]
Known = Annotated[
    Path | None,
    typer.Option(
        help="Folder of runs that were made elsewhere, such as docs/results: they are not "
        "repeated, and new ones are added to its runs.csv files."
    ),
]


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _plans(name: str, options: Options) -> list[Plan]:
    try:
        return [plan(each, options) for each in (EXPERIMENTS if name == "all" else [name])]
    except ValueError as error:
        typer.secho(str(error), err=True, fg="red")
        raise typer.Exit(2) from error


def _options(
    out: Path,
    repeats: int | None,
    quick: bool,
    only: list[str] | None,
    jobs: int,
    grid: str,
    rounds: int | None,
    known: Path | None,
) -> Options:
    if grid not in ("coarse", "paper"):
        typer.secho(f"--grid {grid!r} is neither coarse nor paper", err=True, fg="red")
        raise typer.Exit(2)
    if known is not None and not known.is_dir():
        typer.secho(f"--known {known} is not a folder: name one of results", err=True, fg="red")
        raise typer.Exit(2)
    return Options(out, repeats, quick, only or (), jobs, grid, rounds=rounds, known=known)


@app.command("list")
def list_command(
    out: Out = _OUT, quick: Quick = False, grid: Grid = "paper", known: Known = None
) -> None:
    """List the experiments, how much is done and what the rest costs."""
    cores = os.cpu_count() or 1
    name = Column("experiment", no_wrap=True)
    table = Table(name, "what", "sets", "fits", "done", "left (one core)", "not available")
    for each in _plans("all", _options(out, None, quick, None, 1, grid, None, known)):
        table.add_row(
            each.experiment.name,
            each.experiment.title,
            str(len(each.experiment.sets) - len(each.left_out)),
            str(len(each.cells())),
            str(len(each.rows())),
            _time(each.seconds()),
            ", ".join(each.left_out),
        )
    Console().print(table)
    Console().print(f"This machine has {cores} cores.")


@app.command("run")
def run_command(
    name: Name,
    repeats: Repeats = None,
    quick: Quick = False,
    only: Only = None,
    jobs: Jobs = 1,
    out: Out = _OUT,
    grid: Grid = "paper",
    rounds: Rounds = None,
    known: Known = None,
) -> None:
    """Run or resume an experiment, and write its tables and figures.

    Every finished fit is saved at once: an interrupted run resumes where it stopped.
    """
    console = Console()
    failed: dict[str, str] = {}
    for each in _plans(name, _options(out, repeats, quick, only, jobs, grid, rounds, known)):
        todo = each.to_do()
        seconds = each.seconds() / jobs
        console.print(f"[bold]{each.experiment.name}[/]: {each.experiment.title}")
        for missing, why in each.left_out.items():
            console.print(f"left out: [bold]{missing}[/]: {why}", highlight=False)
        console.print(f"{len(todo)} fits to do, about {_time(seconds)}; results in {each.pages}")
        outcome = _execute(each, seconds * jobs, console)
        failed.update(outcome)
        written = page.write(each, outcome)
        console.print(Markdown(written.markdown))
        console.print("written: " + ", ".join(str(path) for path in written.files))
    for cell, problem in failed.items():
        typer.secho(f"failed: {cell}: {problem}", err=True, fg="red")
    if failed:
        raise typer.Exit(1)


def _execute(each: Plan, seconds: float, console: Console) -> dict[str, str]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:.0f} %"),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
    )
    done = 0.0
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(each.experiment.name, total=len(each.to_do()), left="")

        def advance(cell: object, share: float) -> None:
            nonlocal done
            done += share
            elapsed = bar.tasks[0].elapsed or 0.0
            left = elapsed * max(seconds - done, 0.0) / max(done, 1e-9)
            bar.update(task, advance=1, left=f"{_time(left)} left")

        return execute(each, advance).failed


@app.command("show")
def show_command(
    name: Name,
    repeats: Repeats = None,
    quick: Quick = False,
    only: Only = None,
    out: Out = _OUT,
    grid: Grid = "paper",
    rounds: Rounds = None,
    known: Known = None,
) -> None:
    """Write and print the tables of the finished fits, without running any."""
    for each in _plans(name, _options(out, repeats, quick, only, 1, grid, rounds, known)):
        if not each.rows():
            typer.echo(f"{each.experiment.name}: nothing is finished in {each.folder}")
            continue
        written = page.write(each)
        Console().print(Markdown(written.markdown))
        typer.echo("written: " + ", ".join(str(path) for path in written.files))


@app.command("archive")
def archive_command(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Folder of results: one folder per experiment.")
    ],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The zip file to write.")],
    add: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="Further file; may be repeated.")
    ] = None,
) -> None:
    """Write an archive of results: runs, pages, environment, commit, seeds and checksums."""
    try:
        names = archive.write(folder, out, add or ())
    except (OSError, ValueError) as error:
        typer.secho(str(error), err=True, fg="red")
        raise typer.Exit(2) from error
    typer.echo(f"written: {out} with {len(names)} files")
