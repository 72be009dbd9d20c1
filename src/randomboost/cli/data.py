"""A data file prepared for training: features, labels, and the decisions about its columns."""

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
    label_strings,
    read_table,
)
from ..reading.columns import KINDS
from .console import Terminal, first_names, plain_table

_USED_AS = {"flag": "yes/no, as 1 and 0", "date": "date, as days", "category": "category"}


@dataclass
class TrainingTable:
    """Features and labels, and where they come from.

    Parameters
    ----------
    X : DataFrame
        Features of type float64 and category.
    y : ndarray
        Labels.
    name : str
        Path or name of the data.
    target : str
        Name of the target column.
    columns : list of Column
        The features.
    left_out : list of LeftOut
        The other columns.
    remarks : list of str
        Remarks on how the data was read.
    """

    X: Any
    y: Any
    name: str
    target: str
    columns: list[Column]
    left_out: list[LeftOut]
    remarks: list[str]

    def present(self, terminal: Terminal) -> None:
        """Print the number of rows, the use of the columns, and the remarks."""
        terminal.message(f"{self.name}: {len(self.y)} rows")
        terminal.show(self._overview())
        for remark in self.remarks:
            terminal.message(remark)

    def left_out_notes(self) -> list[str]:
        """Return a sentence for every column that is left out."""
        return [f"Column {column.name} is left out: {column.reason}." for column in self.left_out]

    def _overview(self) -> Table:
        n_classes = len(np.unique(self.y))
        table = plain_table("use", "columns", "names")
        table.columns[2].justify = "left"
        for kind in KINDS:
            names = [column.name for column in self.columns if column.kind == kind]
            if names:
                table.add_row(_USED_AS.get(kind, kind), str(len(names)), self._named(kind, names))
        for reason in dict.fromkeys(column.reason for column in self.left_out):
            names = [column.name for column in self.left_out if column.reason == reason]
            table.add_row("left out", str(len(names)), f"{first_names(names)} ({reason})")
        gaps = self.X.isna().to_numpy().sum(axis=0)
        if gaps.any():
            names = [str(name) for name, gap in zip(self.X.columns, gaps, strict=True) if gap]
            cells = f"{first_names(names)} ({gaps.sum()} cells)"
            table.add_row("missing values", str(len(names)), cells)
        table.add_row("target", "1", f"{self.target} ({n_classes} classes)")
        return table

    def _named(self, kind: str, names: list[str]) -> str:
        if kind != "category":
            return first_names(names)
        return first_names([f"{name} ({self.X[name].nunique()})" for name in names])


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
        The file, ``-``, or a data set of scikit-learn.
    target : str or None
        Name or number of the target column.
    format : str or None
        Format of the file.
    header : bool
        Whether the first row of a CSV file has the names.
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
    known = label_strings(frame[name]).notna()
    remarks = list(table.remarks)
    if not known.all():
        remarks.append(without_target((~known).sum()))
        frame = frame[known].reset_index(drop=True)
    if not len(frame):
        raise ValueError(f"the target {name!r} is missing in every row")
    y = class_labels(frame[name])
    features = frame.drop(columns=name)
    columns, left_out = choose_columns(features, keep=keep, drop=drop, categories=categories)
    X = feature_table(features, columns)
    return TrainingTable(X, y, table.name, name, columns, left_out, remarks)


def without_target(n_rows: int) -> str:
    """Return the remark on rows without a target.

    Parameters
    ----------
    n_rows : int
        Number of these rows.

    Returns
    -------
    str
        The remark.
    """
    return f"left out because the target is missing: {n_rows} rows"
