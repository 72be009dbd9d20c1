"""The section "Try it": change the values of a row, and the model in the page predicts again."""

from __future__ import annotations

import json
from functools import partial
from importlib.resources import files
from typing import Any

import numpy as np

from ..export.javascript import input_columns, plain, to_js
from ..export.portable import PortableModel, portable
from ..preprocessing.categories import is_table
from ..preprocessing.encoding import FROM_DTYPE, read_training
from ..runtime.units import format_bytes
from .reported_model import Part, ReportedModel, Section, make_section
from .summary import some_rows, take

_MOST_BYTES = 2_500_000  # of a model in a page
_MOST_ROWS = 2000  # that ranges and medians are taken from
_SHOWN_ROWS = 24  # of the test data, half of them misclassified if there are enough
_SHOWN_COLUMNS = 10
_NAME = "randomboostModel"


def try_it(reported: ReportedModel) -> Section | None:
    """Return the section, None for a model that cannot be exported.

    Parameters
    ----------
    reported : ReportedModel
        The model and its data.

    Returns
    -------
    Section or None
        The section, with the model and its script.
    """
    try:
        text = to_js(reported.model, name=_NAME)
    except ValueError:  # of another library, or with weak classifiers of another one
        return None
    if len(text) > _MOST_BYTES:
        size, most = format_bytes(len(text)), format_bytes(_MOST_BYTES)
        return make_section("Try it", "try_it.html", size=size, most=most, n_hidden=0)
    model = portable(reported.model, encoded=True)
    content = _content(reported, model)
    section = make_section(
        "Try it",
        "try_it.html",
        size=None,
        most=None,
        n_hidden=len(content["columns"]) - len(content["shown"]),
    )
    told = json.dumps(content, separators=(",", ":")).replace("<", "\\u003c")
    script = (files(__package__) / "templates" / "try_it.js").read_text(encoding="utf-8")
    return Section(section.title, section.html, (text, f"const tryIt = {told};\n{script}"))


def _content(reported: ReportedModel, model: PortableModel) -> dict[str, Any]:
    """Return columns, rows to start from, and the columns that get a control."""
    columns = input_columns(model)
    categories = sorted(model.codebooks)
    known = reported.train or reported.test
    sample = _cells(take(known.X, some_rows(known.X.shape[0], _MOST_ROWS)), categories)
    described = [
        _described(column["name"], [row[place] for row in sample], column.get("codes"))
        for place, column in enumerate(columns)
    ]
    if model.feature_names == []:
        for place, column in enumerate(described):
            column["name"] = f"feature {place}"
    weights = reported.classifier.feature_importances_
    if model.fill is not None:  # the classifier of a pipeline knows features, not columns
        weights = np.array([weights[column["at"]].sum() for column in columns])
    shown = np.argsort(-weights, kind="stable")[:_SHOWN_COLUMNS]
    return {
        "columns": described,
        "shown": shown.tolist(),
        "missing": model.missing or model.fill is not None,
        "rows": _rows(reported.test, categories),
    }


def _described(name: str, values: list[Any], codes: Any) -> dict[str, Any]:
    """Return what a control needs to know of a column."""
    known = [value for value in values if value is not None]
    if codes is not None:
        options = [category for category, _ in codes]
        usual = max(options, key=known.count, default=None)
        return {"name": name, "options": sorted(options, key=str), "usual": usual}
    numbers = np.array(known or [0.0], dtype=np.float64)
    low, usual, high = np.quantile(numbers, [0, 0.5, 1], method="inverted_cdf")
    whole = bool((numbers == np.rint(numbers)).all())
    return {
        "name": name,
        "low": float(low),
        "high": float(high),
        "usual": float(usual),
        "step": 1.0 if whole else _round_step(float(high - low) / 100),
    }


def _round_step(step: float) -> float:
    """Return the next lower 1, 2 or 5 times a power of ten."""
    if not 0 < step < np.inf:
        return 1.0
    power = 10.0 ** np.floor(np.log10(step))
    return float(max(size for size in (1, 2, 5) if size * power <= step * (1 + 1e-9)) * power)


def _rows(test: Part, categories: list[int]) -> list[dict[str, Any]]:
    """Return test rows to start from: the surest mistakes, then some others."""
    wrong, right = np.flatnonzero(test.wrong), np.flatnonzero(~test.wrong)
    if test.shares is not None:
        wrong = wrong[np.argsort(-test.shares[wrong].max(axis=1), kind="stable")]
    wrong = wrong[: max(_SHOWN_ROWS // 2, _SHOWN_ROWS - len(right))]
    right = right[some_rows(len(right), _SHOWN_ROWS - len(wrong))]
    index: Any = test.X.index if is_table(test.X) else range(len(test.y))
    chosen = np.concatenate([wrong, right])
    return [
        {
            "row": str(index[row]),
            "true": str(test.y[row]),
            "predicted": str(test.labels[row]),
            "cells": cells,
        }
        for row, cells in zip(chosen, _cells(take(test.X, chosen), categories), strict=True)
    ]


def _cells(X: Any, categories: list[int]) -> list[list[Any]]:
    """Return rows as JSON can hold them: None for what is missing."""
    X = X.toarray() if hasattr(X, "toarray") else X
    reading = read_training(X, categories or FROM_DTYPE)
    values = np.asarray(X, dtype=np.float64) if reading is None else reading.values
    levels = {} if reading is None else {**reading.categories, **reading.orders}
    columns = []
    for place, column in enumerate(values.T.tolist()):
        read: Any = float
        if place in levels:
            names = [plain(level) for level in levels[place][1]]
            read = partial(_level, names)
        columns.append([None if value != value else read(value) for value in column])
    return [list(row) for row in zip(*columns, strict=True)]


def _level(names: list[Any], number: float) -> Any:
    return names[int(number)]
