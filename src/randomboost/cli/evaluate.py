"""``randomboost evaluate``: scores of a model on rows with known classes."""

from __future__ import annotations

import typer

from . import options


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

    Error, log loss, balanced accuracy, precision and recall by class, and which classes are taken
    for which. The target is the column that the model was trained for, unless --target says
    otherwise.

    Example: randomboost evaluate flowers.rboost test.csv
    """
    from ..compare.scores import score
    from ..reading import find_target, open_rows
    from .console import Talk
    from .prediction import probabilities, say_extra
    from .saved import SavedModel

    options.check_format(format)
    if report and data == "-":
        raise typer.BadParameter("a page needs a file, not standard input", param_hint="--report")
    talk = Talk(quiet=quiet, as_json=as_json)
    saved = SavedModel(model)
    with open_rows(data, format=format, header=not no_header) as rows:
        names = ["target"] if rows.names is None else rows.names
        name = find_target(names, target or (saved.target if saved.target in names else None))
        truth, predicted, found, n_without, extra = probabilities(saved, rows, name)
    say_extra(talk, extra)
    for remark in [*rows.remarks, *saved.remarks()]:
        talk.say(remark)
    if n_without:
        talk.say(f"left out for want of a target: {n_without} rows")
    scores = score(truth, predicted, found, saved.classes)
    if scores.n_unknown:
        talk.say(f"{scores.n_unknown} rows have a class that the model does not know: errors")
    if report:
        from .pages import write_evaluation

        write_evaluation(report, saved, data, name, format=format, header=not no_header)
        talk.say(f"page: {report}")
    shown = [scores.summary(), "", scores.class_table()]
    confusion = scores.confusion_table()
    if confusion is not None:
        shown += ["", confusion]
    talk.result({"model": model, "data": data, "target": name, **scores.as_dict()}, *shown)
