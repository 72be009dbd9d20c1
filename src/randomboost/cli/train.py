"""``randomboost train``: fit a model to a table and save it."""

from __future__ import annotations

from typing import Annotated

import typer

from . import options


def train_command(
    data: options.Data,
    target: options.Target = None,
    model: Annotated[
        str,
        typer.Option(
            "--model",
            "-m",
            help="rank (RBoost-rank with trees), rank-paper (the paper's stumps), proj, adaboost "
            "(two classes), ecc, mh, mo or multiboost.",
        ),
    ] = "rank",
    out: Annotated[str, typer.Option("--out", "-o", help="Model file to write.")] = "model.rboost",
    settings: Annotated[
        list[str],
        typer.Option("--set", help="Parameter of the model, as n_estimators=2000 (repeat)."),
    ] = [],  # noqa: B006 (typer's way)
    cv: Annotated[
        int, typer.Option("--cv", min=0, help="Also score by cross-validation in so many folds.")
    ] = 0,
    test_size: Annotated[
        float,
        typer.Option(
            "--test-size", min=0, max=1, help="Hold this share of the rows out and score on it."
        ),
    ] = 0.0,
    seed: options.Seed = None,
    report: options.Report = None,
    checkpoint_every: Annotated[
        float, typer.Option("--checkpoint-every", min=0, help="Seconds between checkpoints.")
    ] = 30.0,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the checkpoint of a run that was stopped.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing model file.")] = False,
    format: options.Format = None,
    no_header: options.NoHeader = False,
    keep: options.Keep = [],  # noqa: B006
    drop: options.Drop = [],  # noqa: B006
    category: options.Category = [],  # noqa: B006
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Train a model on a table and save it.

    Numbers, categories, dates and missing values are found out; what was done with each column is
    said. While it runs, the rounds done so far are kept in OUT.checkpoint: --resume goes on from
    there.

    Example: randomboost train flowers.csv --target species --test-size 0.2 --out flowers.rboost
    """
    from .console import Talk
    from .training import TrainingRun

    options.check_format(format)
    if cv == 1:
        raise typer.BadParameter("cross-validation needs at least 2 folds", param_hint="--cv")
    if test_size >= 1:
        raise typer.BadParameter("it is a share below 1", param_hint="--test-size")
    run = TrainingRun(
        Talk(quiet=quiet, as_json=as_json),
        out=out,
        model=model,
        settings=settings,
        seed=seed,
        cv=cv,
        test_size=test_size,
        report=report,
        checkpoint_every=checkpoint_every,
        resume=resume,
        force=force,
    )
    run.read(
        data,
        target,
        format=format,
        header=not no_header,
        keep=keep,
        drop=drop,
        categories=category,
    )
    raise typer.Exit(run.go())
