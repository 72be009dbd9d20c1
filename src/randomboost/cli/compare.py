"""``randomboost compare``: our algorithms and other libraries on the same folds."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from . import options


def compare_command(
    data: options.Data,
    target: options.Target = None,
    folds: Annotated[int, typer.Option("--folds", min=2, help="Folds.")] = 5,
    repeats: Annotated[
        int, typer.Option("--repeats", min=1, help="Cross-validations with other folds.")
    ] = 1,
    only: Annotated[
        str | None,
        typer.Option(
            "--only",
            help="Models to compare, with commas between them: rank, rank-paper, proj, adaboost, "
            "ecc, mh, mo, multiboost, lightgbm, xgboost, catboost, histgb, forest, logistic, svm.",
            show_default="all but rank-paper, if installed",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Random seed.")] = 0,
    report: options.Report = None,
    format: options.Format = None,
    no_header: options.NoHeader = False,
    keep: options.Keep = [],  # noqa: B006 (typer's way)
    drop: options.Drop = [],  # noqa: B006
    category: options.Category = [],  # noqa: B006
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Compare our algorithms and other libraries, as they come, on the same folds.

    LightGBM, XGBoost and CatBoost take part if they are installed. Errors, log loss, times, sizes,
    and which differences are significant. Ctrl-C shows what is done.

    Example: randomboost compare flowers.csv --target species --report flowers.html
    """
    # Threads of OpenMP that wait by spinning slow each other down many times on busy cores.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    from .comparing import ComparisonRun
    from .console import Talk
    from .data import read_training_table

    options.check_format(format)
    talk = Talk(quiet=quiet, as_json=as_json)
    table = read_training_table(
        data,
        target,
        format=format,
        header=not no_header,
        keep=keep,
        drop=drop,
        categories=category,
    )
    run = ComparisonRun(talk, table, only=only, folds=folds, repeats=repeats, seed=seed)
    raise typer.Exit(run.go(report))
