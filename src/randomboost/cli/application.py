"""The typer application: its commands with their options and help texts.

The work of a command is done in the module of its name, which is imported when the command runs,
so that ``randomboost --help`` is quick.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from .. import __version__
from . import options
from .failures import FlagsWithoutTypes, OneLineErrors
from .outputs import check_standard_output

_HELP = {"help_option_names": ["--help", "-h"]}

app = typer.Typer(
    cls=OneLineErrors,
    help="Multi-class boosting from the command line: train on a table, predict, evaluate, "
    "compare with other libraries.",
    epilog="Example: randomboost train flowers.csv --target species --out flowers.rboost",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings=_HELP,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"randomboost {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    debug: Annotated[bool, typer.Option("--debug", hidden=True)] = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_print_version, help="Print the version."
        ),
    ] = False,
) -> None:
    """Nothing to do before a command."""


@app.command("train")
def train_command(
    data: options.Data,
    target: options.Target = None,
    model: Annotated[
        str,
        typer.Option(
            "--model",
            "-m",
            metavar="NAME",
            autocompletion=options.model_names,
            help="randomboost (boosted trees), rank or proj (the methods of the paper), rank-paper "
            "or proj-paper (in its exact setting), adaboost (two classes), ecc, mh, mo or "
            "multiboost.",
        ),
    ] = "randomboost",
    out: Annotated[
        str,
        typer.Option(
            "--out", "-o", metavar="FILE", help="Model file to write, '-' for standard output."
        ),
    ] = "model.rboost",
    settings: Annotated[
        list[str],
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Parameter of the model, such as n_estimators=2000 (repeatable).",
        ),
    ] = [],  # noqa: B006 (typer's way)
    cv: Annotated[
        int,
        typer.Option(
            "--cv",
            metavar="NUMBER",
            min=0,
            help="Number of folds of an additional cross-validation.",
        ),
    ] = 0,
    test_size: Annotated[
        float,
        typer.Option(
            "--test-size",
            metavar="FRACTION",
            min=0,
            max=1,
            help="Fraction of the rows to hold out and score on.",
        ),
    ] = 0.0,
    seed: options.Seed = None,
    report: options.Report = None,
    checkpoint_every: Annotated[
        float,
        typer.Option(
            "--checkpoint-every", metavar="SECONDS", min=0, help="Seconds between checkpoints."
        ),
    ] = 30.0,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue from the checkpoint of an interrupted run.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing model file.")] = False,
    out_of_core: Annotated[
        bool | None,
        typer.Option(
            "--out-of-core/--in-memory",
            help="Keep the data of a Parquet or CSV file on disk during the fit; the model is the "
            "same.",
            show_default="out of core if the file does not fit in memory",
        ),
    ] = None,
    format: options.Format = None,
    no_header: options.NoHeader = False,
    keep: options.Keep = [],  # noqa: B006
    drop: options.Drop = [],  # noqa: B006
    category: options.Category = [],  # noqa: B006
    columns: Annotated[
        bool,
        typer.Option("--columns", help="Only show how every column is read; nothing is trained."),
    ] = False,
    save_columns: Annotated[
        str | None,
        typer.Option(
            "--save-columns",
            metavar="FILE",
            help="Write how every column is read to this file (.csv, .json), to be edited.",
        ),
    ] = None,
    columns_file: options.ColumnsFile = None,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Train a model on a table and save it.

    Numbers, categories, dates and missing values are detected, and the use of each column is
    reported; --columns shows all of it. During the fit the rounds so far are saved in
    OUT.checkpoint, from which --resume continues.

    Example: randomboost train flowers.csv --target species --test-size 0.2 --out flowers.rboost
    """
    from .console import make_terminal
    from .data import show_decisions
    from .large_data import read_columns
    from .train import TrainingRun

    options.check_format(format)
    if out == "-":
        check_standard_output(as_json=as_json, resume=resume)
    if cv == 1:
        raise typer.BadParameter("cross-validation needs at least 2 folds", param_hint="--cv")
    if test_size >= 1:
        raise typer.BadParameter("the fraction must be below 1", param_hint="--test-size")
    terminal = make_terminal(quiet=quiet, as_json=as_json)
    reading: dict[str, Any] = {
        "format": format,
        "header": not no_header,
        "keep": keep,
        "drop": drop,
        "categories": category,
        "columns_file": columns_file,
    }
    if columns:
        table = read_columns(data, target, out_of_core=out_of_core, **reading)
        show_decisions(terminal, table, save_columns)
        return
    run = TrainingRun(
        terminal,
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
        out_of_core=out_of_core,
    )
    try:
        run.read(data, target, save_columns, **reading)
        code = run.run()
    finally:
        run.close()
    raise typer.Exit(code)


@app.command("predict")
def predict_command(
    model: options.ModelFile,
    data: options.Data,
    proba: Annotated[
        bool, typer.Option("--proba", help="Also write the probability of every class.")
    ] = False,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="File to write (.csv, .csv.gz, .parquet, .jsonl), '-' for standard output.",
            show_default="standard output",
        ),
    ] = None,
    copy: Annotated[
        list[str],
        typer.Option(
            "--copy",
            metavar="COLUMN",
            help="Column to copy to the output, such as an identifier (repeatable).",
        ),
    ] = [],  # noqa: B006 (typer's way)
    format: options.Format = None,
    no_header: options.NoHeader = False,
    quiet: options.Quiet = False,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Write predictions to standard output as JSON, one object per row; with --out, a "
            "summary.",
        ),
    ] = False,
) -> None:
    """Predict the class of every row of a table, one line per row in the same order.

    Columns are matched by name. CSV, LIBSVM, Parquet and Feather files may be larger than memory.

    Example: randomboost predict flowers.rboost new.csv --proba -o predicted.csv
    """
    from .console import make_terminal
    from .predict import predict

    options.check_format(format)
    terminal = make_terminal(quiet=quiet, as_json=as_json)
    predict(
        terminal,
        model,
        data,
        out=None if out == "-" else out,
        proba=proba,
        copy=copy,
        format=format,
        header=not no_header,
    )


@app.command("evaluate")
def evaluate_command(
    model: options.ModelFile,
    data: options.Data,
    target: options.TrainedTarget = None,
    report: options.Report = None,
    format: options.Format = None,
    no_header: options.NoHeader = False,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Score a model on a table with known classes.

    Error, log loss, balanced accuracy, precision and recall of every class, and the confusion
    matrix.

    Example: randomboost evaluate flowers.rboost test.csv
    """
    from .console import make_terminal
    from .evaluate import evaluate

    options.check_format(format)
    if report and data == "-":
        raise typer.BadParameter(
            "a report needs a file as data, not standard input", param_hint="--report"
        )
    terminal = make_terminal(quiet=quiet, as_json=as_json)
    evaluate(
        terminal, model, data, target=target, report=report, format=format, header=not no_header
    )


@app.command("compare")
def compare_command(
    data: options.Data,
    target: options.Target = None,
    folds: Annotated[
        int, typer.Option("--folds", metavar="NUMBER", min=2, help="Number of folds.")
    ] = 5,
    repeats: Annotated[
        int,
        typer.Option(
            "--repeats", metavar="NUMBER", min=1, help="Repetitions of the cross-validation."
        ),
    ] = 1,
    only: Annotated[
        str | None,
        typer.Option(
            "--only",
            metavar="NAMES",
            help="Models to compare, separated by commas: randomboost, rank, rank-paper, proj, "
            "proj-paper, adaboost, ecc, mh, mo, multiboost, lightgbm, xgboost, catboost, histgb, "
            "forest, logistic, svm.",
            show_default="randomboost, rank, proj, and the other libraries that are installed",
        ),
    ] = None,
    everything: Annotated[
        bool,
        typer.Option(
            "--all", help="Compare ecc, mh, mo and multiboost too (adaboost with two classes)."
        ),
    ] = False,
    seed: Annotated[int, typer.Option("--seed", metavar="NUMBER", help="Random seed.")] = 0,
    report: options.Report = None,
    format: options.Format = None,
    no_header: options.NoHeader = False,
    keep: options.Keep = [],  # noqa: B006 (typer's way)
    drop: options.Drop = [],  # noqa: B006
    category: options.Category = [],  # noqa: B006
    columns_file: options.ColumnsFile = None,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Compare our models and those of other libraries, with default parameters, on the same folds.

    LightGBM, XGBoost and CatBoost take part if they are installed. Every model runs in a process
    of its own. Reports errors, log losses, times, sizes, and the significance of the differences.
    Ctrl-C shows the results so far.

    Example: randomboost compare flowers.csv --target species --report flowers.html
    """
    from .compare import ComparisonRun
    from .console import make_terminal
    from .data import read_training_table

    options.check_format(format)
    terminal = make_terminal(quiet=quiet, as_json=as_json)
    table = read_training_table(
        data,
        target,
        format=format,
        header=not no_header,
        keep=keep,
        drop=drop,
        categories=category,
        columns_file=columns_file,
    )
    run = ComparisonRun(
        terminal,
        table,
        only=only,
        everything=everything,
        folds=folds,
        repeats=repeats,
        seed=seed,
    )
    raise typer.Exit(run.run(report))


@app.command("info")
def info_command(
    model: options.ModelFile,
    columns: Annotated[
        bool, typer.Option("--columns", help="Show how every column of a table is read.")
    ] = False,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Describe a model file: algorithm, classes, features, size, and how it was trained.

    Example: randomboost info flowers.rboost
    """
    from .console import make_terminal
    from .info import info

    info(make_terminal(quiet=quiet, as_json=as_json), model, columns=columns)


@app.command("export")
def export_command(
    model: options.ModelFile,
    onnx: Annotated[
        str | None, typer.Option("--onnx", metavar="FILE", help="ONNX file to write.")
    ] = None,
    c: Annotated[
        str | None,
        typer.Option("--c", metavar="FILE", help="C file to write, with a function predict."),
    ] = None,
    js: Annotated[
        str | None,
        typer.Option(
            "--js",
            metavar="FILE",
            help="JavaScript file to write; one that ends in .mjs is an ES module.",
        ),
    ] = None,
    encoded: Annotated[
        bool,
        typer.Option(
            "--encoded",
            help="ONNX and C take categories as numbers; the number of each category is listed.",
        ),
    ] = False,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Export a model to ONNX, or to one C or JavaScript file without dependencies.

    The exported models take numbers, the one in JavaScript also categories; their inputs are
    listed in order. One of the files may be '-', for standard output.

    Example: randomboost export flowers.rboost --onnx flowers.onnx --c flowers.c --js flowers.js
    """
    from .console import make_terminal
    from .export import export

    if onnx is None and c is None and js is None:
        raise typer.BadParameter(
            "pass at least one file to write", param_hint="--onnx, --c or --js"
        )
    terminal = make_terminal(quiet=quiet, as_json=as_json)
    export(terminal, model, onnx=onnx, c=c, js=js, encoded=encoded)


@app.command("warmup")
def warmup_command(
    model: Annotated[
        list[str],
        typer.Option(
            "--model",
            "-m",
            metavar="NAME",
            autocompletion=options.model_names,
            help="Model to prepare, as in train (repeatable).",
            show_default="randomboost",
        ),
    ] = [],  # noqa: B006 (typer's way)
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Compile what train and predict need, once for a machine.

    The first fit on a machine compiles kernels, which takes some seconds, and later ones load them
    from a cache. This command fills the cache, for example in an image of a container, and says
    where it is. The environment variable NUMBA_CACHE_DIR names another folder.

    Example: randomboost warmup --model randomboost --model ecc
    """
    from .console import make_terminal
    from .warmup import warm_up

    warm_up(make_terminal(quiet=quiet, as_json=as_json), model or ["randomboost"])


@app.command("sample")
def sample_command(
    out: Annotated[str, typer.Argument(metavar="FILE", help="CSV file to write.")] = "flowers.csv",
    force: Annotated[bool, typer.Option("--force", help="Replace existing files.")] = False,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Write a small table to try the other commands on: flowers, with text and missing values.

    Also writes rows without the class, to predict: flowers-new.csv beside flowers.csv.

    Example: randomboost sample flowers.csv
    """
    from .console import Terminal
    from .sample import write_sample

    write_sample(Terminal(quiet=quiet, as_json=as_json), out, force=force)


@app.command(
    "paper",
    add_help_option=False,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
)
def paper_command(ctx: typer.Context) -> None:
    """Repeat the experiments of the paper (see randomboost paper --help)."""
    from ..paper.commands import app as paper

    program = typer.Typer(
        cls=FlagsWithoutTypes,
        help=paper.info.help,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings=_HELP,
    )
    program.add_typer(paper)
    program(ctx.args, prog_name="randomboost paper")
