"""Predictions of the rows of a file, some at a time."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..reading import DataError, Rows, label_words, open_rows
from .console import Talk, in_time, some
from .output import open_output
from .saved import SavedModel


def predict(
    talk: Talk,
    model_path: str,
    path: str,
    *,
    out: str | None,
    proba: bool,
    copy: Sequence[str],
    format: str | None,
    header: bool,
) -> None:
    """Write the predictions of the rows of a file.

    Parameters
    ----------
    talk : Talk
        Where to say how it goes.
    model_path, path : str
        The model and the data.
    out : str or None
        File for the predictions; None for the output stream.
    proba : bool
        Also write probabilities.
    copy : sequence of str
        Columns to copy.
    format, header
        As in `randomboost.reading.open_rows`.
    """
    saved = SavedModel(model_path)
    _check_output(out, model_path, path)
    counts: Counter[str] = Counter()
    began = time.perf_counter()
    with open_rows(path, format=format, header=header) as rows:
        _check_copied(copy, rows)
        columns, extra = saved.matched(rows)
        say_extra(talk, [name for name in extra if name not in copy])
        names = [*copy, "prediction"]
        if proba:
            names += [f"probability_{label}" for label in saved.classes]
        with open_output(out, names) as output:
            for frame, features in saved.chunks(rows, columns, set(copy), set()):
                labels = saved.model.predict(features)
                parts = [label_words(frame[name]) for name in copy]
                parts.append(labels)
                if proba:
                    parts += list(saved.model.predict_proba(features).T)
                output.write(parts)
                counts.update(str(label) for label in labels)
            if not counts:
                raise DataError(f"{rows.name} has no rows")
    for remark in [*rows.remarks, *saved.remarks()]:
        talk.say(remark)
    n_rows = counts.total()
    seconds = time.perf_counter() - began
    if out is not None:
        shares = [f"{label} {counts[str(label)]}" for label in saved.classes]
        talk.say(f"{out}: {n_rows} rows in {in_time(seconds)} ({some(shares, 10)})")
    if talk.as_json:
        talk.result(
            {
                "out": out,
                "rows": n_rows,
                "predicted": {str(label): counts[str(label)] for label in saved.classes},
                "columns_left_out": extra,
                "unknown_categories": {k: n for k, n in saved.unknown.items() if n},
                "seconds": seconds,
            }
        )


def say_extra(talk: Talk, extra: list[str]) -> None:
    """Say which columns are not used.

    Parameters
    ----------
    talk : Talk
        Where to say it.
    extra : list of str
        Their names.
    """
    if extra:
        talk.say(f"not used by the model, left out: {some(extra, 12)}")


def _check_output(out: str | None, *inputs: str) -> None:
    if out is None:
        return
    path = Path(out)
    if path.is_dir() or not path.parent.is_dir():
        raise DataError(f"cannot write {out}: it is a folder, or its folder does not exist")
    if any(path.exists() and Path(name).exists() and path.samefile(name) for name in inputs):
        raise DataError(f"the predictions cannot replace {out}, which is being read")


def _check_copied(copy: Sequence[str], rows: Rows) -> None:
    unknown = [name for name in copy if name not in (rows.names or ())]
    if unknown:
        raise DataError(f"--copy {unknown[0]!r}: there is no such column in {rows.name}")


def probabilities(
    saved: SavedModel, rows: Rows, target: str
) -> tuple[list[str], list[str], Any, int, list[str]]:
    """Return what an evaluation needs of the rows of a file.

    Parameters
    ----------
    saved : SavedModel
        The model.
    rows : Rows
        The table.
    target : str
        Its target column.

    Returns
    -------
    truth, predicted : list of str
        Labels as words, of the rows that have a target.
    probabilities : ndarray
        Probabilities of the classes.
    n_without : int
        Number of rows without a target.
    extra : list of str
        Columns that the model has no use for.
    """
    columns, extra = saved.matched(rows, target)
    wanted = {target}
    text, numbers = (set(), wanted) if saved.has_numbers_for_classes else (wanted, set())
    truth: list[str] = []
    predicted: list[str] = []
    found, n_without = [], 0
    for frame, features in saved.chunks(rows, columns, text, numbers):
        words = label_words(frame[target])
        known = words.notna().to_numpy()
        n_without += int((~known).sum())
        if known.any():
            features = features[known]
            truth += words[known].tolist()
            predicted += [str(label) for label in saved.model.predict(features)]
            found.append(saved.model.predict_proba(features))
    if not found:
        raise DataError(f"{rows.name} has no row with a value in {target!r}")
    return truth, predicted, np.concatenate(found), n_without, extra
