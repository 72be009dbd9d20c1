"""A data file prepared for training: features, labels, and the decisions about its columns."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from rich.table import Table

from ..reading import (
    Column,
    Decision,
    Leak,
    LeftOut,
    choose_columns,
    class_codes,
    decisions_text,
    feature_table,
    features_of,
    find_leaks,
    find_target,
    label_strings,
    left_out_of,
    read_overrides,
    read_table,
)
from ..reading.columns import KINDS
from ..reading.decisions import TARGET
from ..reading.words import means_no_value
from ..runtime.writing import whole_file
from .console import Terminal, first_names, plain_table
from .outputs import check_writable

_USED_AS = {
    "flag": "yes/no, as 1 and 0",
    "date": "date, as days",
    "duration": "duration, as seconds",
}
_HEADINGS = ("column", "read as", "missing", "converted", "examples", "note")
_MOST_REMARKS = 12  # on columns; --columns shows all


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
    decisions : list of Decision
        What was decided about every column.
    remarks : list of str
        Remarks on how the data was read.
    """

    X: Any
    y: Any
    name: str
    target: str
    decisions: list[Decision]
    remarks: list[str]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.y)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(np.unique(self.y))

    def gaps(self) -> Any:
        """Return the number of missing values of every feature."""
        return self.X.isna().to_numpy().sum(axis=0)

    def n_levels(self, name: str) -> int:
        """Return the number of categories of a feature."""
        return self.X[name].nunique()

    def digest(self) -> str:
        """Return a digest of features and labels."""
        found = hashlib.sha256(row_digests(self.X))
        found.update("\0".join(map(str, self.y)).encode())
        return found.hexdigest()

    @property
    def columns(self) -> list[Column]:
        """The features."""
        return features_of(self.decisions)

    @property
    def left_out(self) -> list[LeftOut]:
        """The columns that are neither features nor the target."""
        return left_out_of(self.decisions)

    def present(self, terminal: Terminal) -> None:
        """Print the number of rows, the use of the columns, and the remarks."""
        terminal.message(f"{self.name}: {self.n_rows} rows")
        terminal.show(self._overview())
        for remark in self.remarks:
            terminal.message(remark)

    def left_out_notes(self) -> list[str]:
        """Return a sentence for every column that is left out."""
        return [f"Column {column.name} is left out: {column.reason}." for column in self.left_out]

    def _overview(self) -> Table:
        table = plain_table("use", "columns", "names")
        table.columns[2].justify = "left"
        for kind in KINDS:
            names = [column.name for column in self.columns if column.kind == kind]
            if names:
                table.add_row(_USED_AS.get(kind, kind), str(len(names)), self._named(kind, names))
        for reason in dict.fromkeys(column.reason for column in self.left_out):
            names = [column.name for column in self.left_out if column.reason == reason]
            table.add_row("left out", str(len(names)), f"{first_names(names)} ({reason})")
        gaps = self.gaps()
        if gaps.any():
            names = [each.name for each, gap in zip(self.columns, gaps, strict=True) if gap]
            cells = f"{first_names(names)} ({gaps.sum()} cells)"
            table.add_row("missing values", str(len(names)), cells)
        table.add_row("target", "1", f"{self.target} ({self.n_classes} classes)")
        return table

    def _named(self, kind: str, names: list[str]) -> str:
        if kind != "category":
            return first_names(names)
        return first_names([f"{name} ({self.n_levels(name)})" for name in names])


def row_digests(X: Any) -> bytes:
    """Return digests of rows, which do not depend on other rows.

    Parameters
    ----------
    X : DataFrame
        Features.

    Returns
    -------
    bytes
        Eight for every row.
    """
    import pandas as pd

    return pd.util.hash_pandas_object(X, index=False).to_numpy().tobytes()


class ColumnPlan(NamedTuple):
    """What is decided about the columns of a table before its features are read.

    Parameters
    ----------
    target : Decision
        The target.
    place : int
        Its place among the columns.
    decisions : list of Decision
        The other columns.
    known : ndarray of bool
        The rows that have a target.
    classes, codes : ndarray
        The classes, and that of every row that has one.
    remarks : list of str
        Remarks on how the data was read.
    """

    target: Decision
    place: int
    decisions: list[Decision]
    known: Any
    classes: Any
    codes: Any
    remarks: list[str]

    def finished(self, leaks: Iterable[Leak]) -> tuple[list[Decision], list[str]]:
        """Return the decisions about all columns, and all remarks.

        Parameters
        ----------
        leaks : iterable of Leak
            Columns that predict the target by themselves.

        Returns
        -------
        tuple of (list of Decision, list of str)
            Decisions and remarks.
        """
        notes = {leak.name: leak.note for leak in leaks}
        found = [
            one.with_note(notes[one.name]) if one.name in notes else one for one in self.decisions
        ]
        remarks = [*self.remarks, *_column_remarks(found)]
        found.insert(self.place, self.target)
        return found, remarks


def plan_columns(
    frame: Any,
    source: str,
    remarks: list[str],
    target: str | None,
    *,
    keep: Collection[str] = (),
    drop: Collection[str] = (),
    categories: Collection[str] = (),
    columns_file: str | None = None,
) -> ColumnPlan:
    """Find the target and choose the features.

    Parameters
    ----------
    frame : DataFrame or StoredTable
        The table.
    source : str
        Its name.
    remarks : list of str
        Remarks on how it was read.
    target : str or None
        Name or number of the target column.
    keep, drop, categories : collection of str
        See `randomboost.reading.choose_columns`.
    columns_file : str or None
        File with decisions about columns.

    Returns
    -------
    ColumnPlan
        What was decided.
    """
    overrides = {} if columns_file is None else read_overrides(columns_file)
    targets = [name for name, each in overrides.items() if each.read_as == TARGET]
    if target is None and len(targets) == 1:
        target = targets[0]
    name = find_target(list(frame.columns), target)
    if any(other != name for other in targets):
        raise ValueError(f"{columns_file} has a target other than {name!r}: correct its read_as")
    overrides.pop(name, None)
    if len(frame.columns) == 1:
        raise ValueError(f"{source} has no column but the target {name!r}: nothing to learn from")
    # before rows without a target are removed: numbers of rows would not look like it without them
    decisions = choose_columns(
        frame.drop(columns=name),
        keep=keep,
        drop=drop,
        categories=categories,
        overrides=overrides,
    )
    cells = frame[name]
    labels = label_strings(cells)
    known = labels.notna().to_numpy()
    if not known.any():
        raise ValueError(
            f"the target {name!r} is missing in every row: pass another column with --target"
        )
    remarks = list(remarks)
    if not known.all():
        remarks.append(without_target((~known).sum()))
    classes, codes = class_codes(cells[known])
    labels = labels[known]
    remarks += _odd_classes(labels)
    examples = tuple(str(label) for label in labels.unique()[:3])
    of_target = Decision(
        name, TARGET, None, int((~known).sum()), "", examples, f"{len(classes)} classes"
    )
    place = list(frame.columns).index(name)
    return ColumnPlan(of_target, place, decisions, known, classes, codes, remarks)


def read_training_table(
    path: str,
    target: str | None,
    *,
    format: str | None = None,
    header: bool = True,
    **choices: Any,
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
    **choices : object
        Further parameters of `plan_columns`.

    Returns
    -------
    TrainingTable
        The data.
    """
    table = read_table(path, format=format, header=header)
    plan = plan_columns(table.frame, table.name, table.remarks, target, **choices)
    frame = table.frame
    if not plan.known.all():
        frame = frame[plan.known].reset_index(drop=True)
    X, y = feature_table(frame, features_of(plan.decisions)), plan.classes[plan.codes]
    decisions, remarks = plan.finished(find_leaks(X, y))
    return TrainingTable(X, y, table.name, plan.target.name, decisions, remarks)


def _odd_classes(labels: Any) -> list[str]:
    """Return remarks on classes such as "unknown", and on those that differ only in case."""
    counts = labels.value_counts()
    words = {word: count for word, count in counts.items() if means_no_value(word)}
    remarks = [
        f"the target has the class {word!r} ({count} rows): leave these cells empty if they mean a "
        "missing value"
        for word, count in words.items()
    ]
    spellings: dict[str, list[str]] = {}
    for word in counts.index:
        spellings.setdefault(word.casefold(), []).append(word)
    alike = [" and ".join(map(repr, each)) for each in spellings.values() if len(each) > 1]
    if alike:
        remarks.append(
            f"classes that differ only in upper and lower case: {first_names(alike)}; write them "
            "alike if they are the same"
        )
    return remarks


def save_decisions(path: str, table: TrainingTable) -> None:
    """Write the decisions about the columns to a file.

    Parameters
    ----------
    path : str
        The file: JSON if it ends in .json, else CSV.
    table : TrainingTable
        The data.
    """
    check_writable(path)
    with whole_file(path) as draft:
        draft.write_text(decisions_text(table.decisions, path), encoding="utf-8")


def show_decisions(terminal: Terminal, table: TrainingTable, path: str | None) -> None:
    """Print the decisions about the columns, and write them to a file.

    Parameters
    ----------
    terminal : Terminal
        Where to print.
    table : TrainingTable
        The data.
    path : str or None
        The file.
    """
    if path is not None:
        save_decisions(path, table)
    lines = [decision.as_dict() for decision in table.decisions]
    terminal.result({"data": table.name, "columns": lines}, decision_table(lines))


def decision_table(lines: list[dict[str, Any]]) -> Table:
    """Return the table with the decision about every column.

    Parameters
    ----------
    lines : list of dict
        The decisions as `Decision.as_dict` gives them; entries may be omitted.

    Returns
    -------
    Table
        The table.
    """
    known = {key.replace("_", " ") for line in lines for key in line}
    headings = [heading for heading in _HEADINGS if heading in known]
    table = plain_table(*headings)
    for heading, column in zip(headings, table.columns, strict=True):
        column.justify = "right" if heading == "missing" else "left"
    for line in lines:
        table.add_row(*(str(line.get(heading.replace(" ", "_"), "")) for heading in headings))
    return table


def _column_remarks(decisions: list[Decision]) -> list[str]:
    """Return a remark on every feature with converted cells or something to check."""
    found = [
        f"column {one.name!r}: {'; '.join(filter(None, (one.converted, one.note)))}"
        for one in decisions
        if one.column is not None and (one.converted or one.note)
    ]
    if len(found) <= _MOST_REMARKS:
        return found
    more = f"{len(found) - _MOST_REMARKS} more columns were converted: --columns shows all"
    return [*found[:_MOST_REMARKS], more]


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
