"""A model loaded from a file, and the columns that it takes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from .. import files
from ..compare.entrants import classifier_of
from ..preprocessing.encoding import TableEncoding
from ..reading import Account, Column, DataError, Rows, feature_table
from .console import first_names

_LIBSVM_NAME = re.compile(r"f\d+")


class SavedModel:
    """A model, its columns, its target and the encoding of its categories.

    Parameters
    ----------
    path : str
        The model file.
    """

    def __init__(self, path: str) -> None:
        if Path(path).is_dir():
            raise DataError(f"{path} is a folder: pass a model file")
        self.description = files.describe(path)
        self.model = files.load(path)
        self._first = self.model[0] if isinstance(self.model, Pipeline) else self.model
        notes = self.description["notes"]
        self.target: str | None = notes.get("target")
        self.columns = self._columns(notes)
        self.classes = classifier_of(self.model).classes_
        self.unknown: Counter[str] = Counter()  # cells with an unknown category
        self._account: Account | None = None
        prepared = isinstance(self.model, Pipeline)
        encoding = self._first.encoding_ if prepared else self._first.model_.inputs.encoding
        self.encoding: TableEncoding | None = encoding
        books = {} if encoding is None else encoding.codebooks
        self._known = {book.name: set(map(str, book.levels)) for book in books.values()}

    def _columns(self, notes: dict[str, Any]) -> list[Column] | None:
        """Return the columns that `train` noted in the file, or else the feature names."""
        if isinstance(notes.get("columns"), list):
            return [Column.from_dict(entry) for entry in notes["columns"]]
        names = getattr(self._first, "feature_names_in_", None)
        if names is None:
            return None
        categories = set(self.description["categories"])
        return [Column(str(name), "category" if name in categories else "number") for name in names]

    def matched(self, rows: Rows, also: str | None = None) -> tuple[list[Column], list[str]]:
        """Return the columns of a table that the model takes, and those that it does not use.

        Parameters
        ----------
        rows : Rows
            The table.
        also : str or None
            A further column that is used.

        Returns
        -------
        columns : list of Column
            The features in the order of the model.
        extra : list of str
            Names of the other columns.
        """
        if rows.names is None:  # LIBSVM: numbers instead of names, any number is valid
            columns = self.columns or []
            missing = [c.name for c in columns if not _LIBSVM_NAME.fullmatch(c.name)]
        elif self.columns is None:  # trained without names: match by order
            names = [name for name in rows.names if name not in (self.target, also)]
            columns, missing = [Column(name, "number") for name in names], []
            if len(names) != self.description["n_features"]:
                raise DataError(
                    f"{rows.name} has {len(names)} columns, the model was trained on "
                    f"{self.description['n_features']} without names"
                )
        else:
            columns = self.columns
            missing = [c.name for c in columns if c.name not in rows.names]
        if missing:
            raise DataError(
                f"{rows.name} lacks {len(missing)} of the {len(columns)} columns that the model "
                f"was trained on: {first_names(missing, 12)}"
            )
        wanted = {column.name for column in columns} | {also}
        return columns, [name for name in rows.names or () if name not in wanted]

    def chunks(
        self, rows: Rows, columns: list[Column], further: Collection[str]
    ) -> Iterator[tuple[Any, Any]]:
        """Yield some rows at a time, as read and as features.

        Parameters
        ----------
        rows : Rows
            The table.
        columns : list of Column
            The features in it.
        further : collection of str
            Further columns to read.

        Yields
        ------
        tuple of (DataFrame, DataFrame or ndarray)
            The rows, and their features.
        """
        self._account = Account(rows.name)
        n_read = 0
        for frame in rows.chunks({column.name for column in columns} | set(further)):
            if not len(frame):
                continue
            frame.index += n_read  # messages count the rows of the whole file
            n_read += len(frame)
            features = feature_table(frame, columns, self._account.add)
            self._account.check()
            for name, known in self._known.items():
                cells = features[name].dropna()
                self.unknown[name] += int((~cells.isin(known)).sum())
            yield frame, features if self.columns is not None else features.to_numpy()

    def remarks(self) -> list[str]:
        """Return remarks on the rows that were read."""
        found = [] if self._account is None else self._account.remarks()
        return found + [
            f"column {name!r}: {count} cells have a category that was not in the training data "
            "and count as missing"
            for name, count in self.unknown.items()
            if count
        ]

    @property
    def has_numbers_for_classes(self) -> bool:
        """Whether the labels are whole numbers."""
        return bool(np.issubdtype(self.classes.dtype, np.number))


def unused_columns(names: list[str]) -> list[str]:
    """Return the remark on columns that a model does not use.

    Parameters
    ----------
    names : list of str
        Names of the columns.

    Returns
    -------
    list of str
        The remark, or nothing if there are no such columns.
    """
    return [f"not used by the model: {first_names(names, 12)}"] if names else []
