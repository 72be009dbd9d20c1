"""``randomboost evaluate``: scores of a model on rows with known classes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from ..compare.entrants import classifier_of
from ..compare.scores import Scores, score
from ..reading import (
    Column,
    DataError,
    Rows,
    feature_table,
    find_target,
    open_rows,
    read_table,
    target_strings,
)
from ..runtime.units import format_bytes
from .console import Terminal, plain_table
from .data import without_target
from .outputs import check_writable
from .saved import SavedModel, unused_columns

_SHOWN_CLASSES = 12


def evaluate(
    terminal: Terminal,
    model_path: str,
    path: str,
    *,
    target: str | None,
    report: str | None,
    format: str | None,
    header: bool,
) -> None:
    """Print the scores of a model on the rows of a file.

    Parameters
    ----------
    terminal : Terminal
        Where to print.
    model_path, path : str
        The model and the data.
    target : str or None
        Name or number of the target column; None for the one of the training data.
    report : str or None
        HTML file to write.
    format, header
        As in `randomboost.reading.open_rows`.
    """
    if report:
        check_writable(report)
    saved = SavedModel(model_path)
    with open_rows(path, format=format, header=header) as rows:
        names = ["target"] if rows.names is None else rows.names
        name = _target_of(names, target, saved.target, rows.name)
        scores, n_without, extra = _scored(saved, rows, name)
    for remark in [*unused_columns(extra), *rows.remarks, *saved.remarks()]:
        terminal.message(remark)
    if n_without:
        terminal.message(without_target(n_without))
    if scores.n_unknown:
        terminal.message(
            f"{scores.n_unknown} rows have a class that the model does not know: they count as "
            "errors"
        )
    if report:
        _write_report(report, saved, path, name, format=format, header=header)
        terminal.message(f"report: {report}")
    shown = [scores.summary(), "", _class_table(scores)]
    if len(scores.classes) <= _SHOWN_CLASSES:
        shown += ["", _confusion_table(scores)]
    result = {"model": model_path, "data": path, "target": name, **scores.as_dict()}
    terminal.result(result, *shown)


def _target_of(names: list[str], target: str | None, trained: str | None, data: str) -> str:
    """Return the target column: the one that is asked for, or that of the training data."""
    if target is not None or trained in names:
        return find_target(names, target or trained)
    try:
        return find_target(names, None)
    except DataError as error:
        if trained is None:
            raise
        raise DataError(
            f"{data} has no column {trained!r}, the target in training: pass --target if the "
            "classes are in another column"
        ) from error


def _scored(saved: SavedModel, rows: Rows, target: str) -> tuple[Scores, int, list[str]]:
    """Return the scores, the number of rows without a target, and the unused columns."""
    columns, extra = saved.matched(rows, target)
    truth: list[str] = []
    predicted: list[str] = []
    found, n_without = [], 0
    for frame, features in saved.chunks(rows, columns, [target]):
        strings = target_strings(frame[target], numeric=saved.has_numbers_for_classes)
        known = strings.notna().to_numpy()
        n_without += int((~known).sum())
        if known.any():
            features = features[known]
            truth += strings[known].tolist()
            predicted += [str(label) for label in saved.model.predict(features)]
            found.append(saved.model.predict_proba(features))
    if not found:
        raise DataError(f"{rows.name} has no row with a value in {target!r}")
    scores = score(truth, predicted, np.concatenate(found), saved.classes)
    return scores, n_without, extra


def _class_table(scores: Scores) -> Table:
    """Return the scores of every class."""
    table = plain_table("class", "rows", "precision", "recall", "F1")
    for entry in scores.by_class():
        values = [entry[name] for name in ("precision", "recall", "f1")]
        cells = ["-" if value is None else f"{value:.3f}" for value in values]
        table.add_row(entry["class"], str(entry["rows"]), *cells)
    return table


def _confusion_table(scores: Scores) -> Table:
    table = plain_table("true \\ predicted", *scores.classes)
    for name, row in zip(scores.classes, scores.confusion, strict=True):
        table.add_row(name, *(str(count) if count else "·" for count in row))
    return table


def _write_report(
    report: str, saved: SavedModel, path: str, target: str, *, format: str | None, header: bool
) -> None:
    """Write the HTML report on a table with known classes, which is read into memory."""
    from ..report import write_training_report

    table = read_table(path, format=format, header=header)
    strings = target_strings(table.frame[target], numeric=saved.has_numbers_for_classes)
    labels: dict[str | None, Any] = {str(label): label for label in saved.classes}
    known = strings.isin(set(labels)).to_numpy()
    if not known.any():
        raise DataError(f"{path} has no row with a class that the model knows")
    frame = table.frame[known].reset_index(drop=True)
    if saved.columns is None:
        names = [name for name in frame.columns if name != target]
        X = feature_table(frame, [Column(name, "number") for name in names]).to_numpy()
    else:
        X = feature_table(frame, saved.columns)
    classifier = classifier_of(saved.model)
    write_training_report(
        report,
        saved.model,
        X,
        np.array([labels[string] for string in strings[known]]),
        title=f"{Path(path).name}: {target}",
        facts={
            "data": Path(path).name,
            "model": type(classifier).__name__,
            "rounds": classifier.n_estimators_,
            "file": format_bytes(saved.description["bytes"]),
        },
    )
