"""The typer application: its commands with their options and help texts, and how errors end it.

The work of a command is done in the module of its name, which is imported when the command runs,
so that ``randomboost --help`` is quick.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from .. import __version__
from . import options

_EXPECTED = (ValueError, OSError, ImportError, MemoryError, LookupError)


class OneLineErrors(TyperGroup):
    """A group of commands that reports an error in one line and ends with an exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        if ctx.params.get("debug"):
            return super().invoke(ctx)
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            _end("interrupted", options.INTERRUPTED)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(options.CLOSED_PIPE) from None
        except _EXPECTED as error:
            _end(_in_one_line(error), options.FAILED)
        except RuntimeError as error:  # typer also exits by one
            if isinstance(error, typer.Exit | typer.Abort):
                raise
            _end(_in_one_line(error), options.FAILED)


def _in_one_line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    if isinstance(error, OSError) and error.strerror:
        text = error.strerror + (f": {error.filename}" if error.filename else "")
    if isinstance(error, MemoryError):
        return f"not enough memory {text}".rstrip()
    if isinstance(error, LookupError) or not text:
        return f"{type(error).__name__}: {text} (randomboost --debug ... shows the traceback)"
    return text


def _end(text: str, code: int) -> None:
    print(f"randomboost: {text}", file=sys.stderr)
    raise typer.Exit(code) from None


app = typer.Typer(
    cls=OneLineErrors,
    help="Multi-class boosting from the command line: train on a table, predict, evaluate, "
    "compare with other libraries.",
    epilog="Example: randomboost train flowers.csv --target species --out flowers.rboost",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["--help", "-h"]},
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
            help="randomboost (boosted trees), rank or proj (the methods of the paper), rank-paper "
            "or proj-paper (in its exact setting), adaboost (two classes), ecc, mh, mo or "
            "multiboost.",
        ),
    ] = "randomboost",
    out: Annotated[str, typer.Option("--out", "-o", help="Model file to write.")] = "model.rboost",
    settings: Annotated[
        list[str],
        typer.Option(
            "--set", help="Parameter of the model, such as n_estimators=2000 (repeatable)."
        ),
    ] = [],  # noqa: B006 (typer's way)
    cv: Annotated[
        int, typer.Option("--cv", min=0, help="Number of folds of an additional cross-validation.")
    ] = 0,
    test_size: Annotated[
        float,
        typer.Option(
            "--test-size", min=0, max=1, help="Fraction of the rows to hold out and score on."
        ),
    ] = 0.0,
    seed: options.Seed = None,
    report: options.Report = None,
    checkpoint_every: Annotated[
        float, typer.Option("--checkpoint-every", min=0, help="Seconds between checkpoints.")
    ] = 30.0,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue from the checkpoint of an interrupted run.")
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

    Numbers, categories, dates and missing values are detected, and the use of each column is
    reported. During the fit the rounds so far are saved in OUT.checkpoint, from which --resume
    continues.

    Example: randomboost train flowers.csv --target species --test-size 0.2 --out flowers.rboost
    """
    from .console import Terminal
    from .train import TrainingRun

    options.check_format(format)
    if cv == 1:
        raise typer.BadParameter("cross-validation needs at least 2 folds", param_hint="--cv")
    if test_size >= 1:
        raise typer.BadParameter("the fraction must be below 1", param_hint="--test-size")
    run = TrainingRun(
        Terminal(quiet=quiet, as_json=as_json),
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
    raise typer.Exit(run.run())


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
            "--out", "-o", help="File to write (.csv, .csv.gz, .parquet).", show_default="stdout"
        ),
    ] = None,
    copy: Annotated[
        list[str],
        typer.Option(
            "--copy", help="Column to copy to the output, such as an identifier (repeatable)."
        ),
    ] = [],  # noqa: B006 (typer's way)
    format: options.Format = None,
    no_header: options.NoHeader = False,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Predict the class of every row of a table, one line per row in the same order.

    Columns are matched by name. CSV, LIBSVM, Parquet and Feather files may be larger than memory.

    Example: randomboost predict flowers.rboost new.csv --proba -o predicted.csv
    """
    from .console import Terminal
    from .predict import predict

    options.check_format(format)
    if as_json and out is None:
        raise typer.BadParameter("--json needs a file for the predictions", param_hint="--out")
    terminal = Terminal(quiet=quiet, as_json=as_json)
    predict(
        terminal, model, data, out=out, proba=proba, copy=copy, format=format, header=not no_header
    )


@app.command("evaluate")
def evaluate_command(
    model: options.ModelFile,
    data: options.Data,
    target: options.Target = None,
    report: options.Report = None,
    format: options.Format = None,
    no_header: options.NoHeader = False,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Score a model on a table with known classes.

    Error, log loss, balanced accuracy, precision and recall of every class, and the confusion
    matrix. By default the target is the column of the name that it had in training.

    Example: randomboost evaluate flowers.rboost test.csv
    """
    from .console import Terminal
    from .evaluate import evaluate

    options.check_format(format)
    if report and data == "-":
        raise typer.BadParameter(
            "a report needs a file as data, not standard input", param_hint="--report"
        )
    terminal = Terminal(quiet=quiet, as_json=as_json)
    evaluate(
        terminal, model, data, target=target, report=report, format=format, header=not no_header
    )


@app.command("compare")
def compare_command(
    data: options.Data,
    target: options.Target = None,
    folds: Annotated[int, typer.Option("--folds", min=2, help="Number of folds.")] = 5,
    repeats: Annotated[
        int,
        typer.Option("--repeats", min=1, help="Repetitions of the cross-validation."),
    ] = 1,
    only: Annotated[
        str | None,
        typer.Option(
            "--only",
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
    """Compare our models and those of other libraries, with default parameters, on the same folds.

    LightGBM, XGBoost and CatBoost take part if they are installed. Every model runs in a process
    of its own. Reports errors, log losses, times, sizes, and the significance of the differences.
    Ctrl-C shows the results so far.

    Example: randomboost compare flowers.csv --target species --report flowers.html
    """
    from .compare import ComparisonRun
    from .console import Terminal
    from .data import read_training_table

    options.check_format(format)
    terminal = Terminal(quiet=quiet, as_json=as_json)
    table = read_training_table(
        data,
        target,
        format=format,
        header=not no_header,
        keep=keep,
        drop=drop,
        categories=category,
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
    model: options.ModelFile, quiet: options.Quiet = False, as_json: options.AsJson = False
) -> None:
    """Describe a model file: algorithm, classes, features, size, and how it was trained.

    Example: randomboost info flowers.rboost
    """
    from .console import Terminal
    from .info import info

    info(Terminal(quiet=quiet, as_json=as_json), model)


@app.command("export")
def export_command(
    model: options.ModelFile,
    onnx: Annotated[str | None, typer.Option("--onnx", help="ONNX file to write.")] = None,
    c: Annotated[
        str | None, typer.Option("--c", help="C file to write, with a function predict.")
    ] = None,
    encoded: Annotated[
        bool,
        typer.Option(
            "--encoded",
            help="Categories are passed as numbers; the number of each category is listed.",
        ),
    ] = False,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Export a model to ONNX, or to one C file without dependencies.

    The exported models take numbers; their inputs are listed in order.

    Example: randomboost export flowers.rboost --onnx flowers.onnx --c flowers.c --encoded
    """
    from .console import Terminal
    from .export import export

    if onnx is None and c is None:
        raise typer.BadParameter("pass at least one file to write", param_hint="--onnx or --c")
    export(Terminal(quiet=quiet, as_json=as_json), model, onnx=onnx, c=c, encoded=encoded)


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

    paper(ctx.args, prog_name="randomboost paper")
