"""A data file made ready for training: features, labels, and what was decided about columns."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.table import Table

from ..reading import (
    Column,
    LeftOut,
    choose_columns,
    class_labels,
    feature_table,
    find_target,
    label_words,
    read_table,
)
from ..reading.columns import KINDS
from .console import plain_table, some

_USED_AS = {"flag": "yes/no, as 1 and 0", "date": "date, as days", "category": "category"}


@dataclass
class TrainingTable:
    """Features and labels, and how they came about.

    Parameters
    ----------
    X : DataFrame
        Features of kinds float64 and category.
    y : ndarray
        Labels.
    name : str
        Where the data is from.
    target : str
        Name of the target column.
    columns : list of Column
        The features.
    left_out : list of LeftOut
        The other columns.
    remarks : list of str
        What else is worth telling.
    """

    X: Any
    y: Any
    name: str
    target: str
    columns: list[Column]
    left_out: list[LeftOut]
    remarks: list[str]

    def overview(self) -> Table:
        """Return the short table that says what was done."""
        n_classes = len(np.unique(self.y))
        table = plain_table("what", "columns", "which")
        table.columns[2].justify = "left"
        for kind in KINDS:
            names = [column.name for column in self.columns if column.kind == kind]
            if names:
                table.add_row(_USED_AS.get(kind, kind), str(len(names)), self._named(kind, names))
        for reason in dict.fromkeys(column.reason for column in self.left_out):
            names = [column.name for column in self.left_out if column.reason == reason]
            table.add_row("left out", str(len(names)), f"{some(names)} ({reason})")
        gaps = self.X.isna().to_numpy().sum(axis=0)
        if gaps.any():
            names = [str(name) for name, gap in zip(self.X.columns, gaps, strict=True) if gap]
            what = f"{some(names)} ({gaps.sum()} cells)"
            table.add_row("missing values", str(len(names)), what)
        table.add_row("target", "1", f"{self.target} ({n_classes} classes)")
        return table

    def _named(self, kind: str, names: list[str]) -> str:
        if kind != "category":
            return some(names)
        return some([f"{name} ({self.X[name].nunique()})" for name in names])


def read_training_table(
    path: str,
    target: str | None,
    *,
    format: str | None = None,
    header: bool = True,
    keep: Collection[str] = (),
    drop: Collection[str] = (),
    categories: Collection[str] = (),
) -> TrainingTable:
    """Read a table and choose its features.

    Parameters
    ----------
    path : str
        The file, ``-``, or a sample of scikit-learn.
    target : str or None
        Name or number of the target column.
    format : str or None
        Format of the file.
    header : bool
        Whether a CSV file has the names in its first row.
    keep, drop, categories : collection of str
        See `randomboost.reading.choose_columns`.

    Returns
    -------
    TrainingTable
        The data.
    """
    table = read_table(path, format=format, header=header)
    frame = table.frame
    name = find_target(list(frame.columns), target)
    known = label_words(frame[name]).notna()
    remarks = list(table.remarks)
    if not known.all():
        remarks.append(f"left out for want of a target: {(~known).sum()} rows")
        frame = frame[known].reset_index(drop=True)
    if not len(frame):
        raise ValueError(f"the target {name!r} is missing in every row")
    y = class_labels(frame[name])
    features = frame.drop(columns=name)
    columns, left_out = choose_columns(features, keep=keep, drop=drop, categories=categories)
    X = feature_table(features, columns)
    return TrainingTable(X, y, table.name, name, columns, left_out, remarks)
