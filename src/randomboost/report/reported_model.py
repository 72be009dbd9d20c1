"""What the sections of a report are made from: a fitted model, its data, its predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..preprocessing.frames import as_table
from .html import render
from .summary import some_rows, take

MOST_CURVE_ROWS = 5000


class Part:
    """Data with its labels and the predictions of the model.

    Parameters
    ----------
    model : estimator
        A fitted classifier, or a pipeline that ends in one.
    X, y : array-like
        The data.
    name : {"test", "train"}
        Which part it is, for errors.
    """

    def __init__(self, model: Any, X: Any, y: Any, name: str) -> None:
        table = as_table(X)
        if table is not None:
            X = table.to_pandas()  # models predict the same for all kinds of tables
        self.X: Any = X if hasattr(X, "shape") else np.asarray(X)
        self.y = np.asarray(y)
        if self.y.ndim != 1 or len(self.y) != self.X.shape[0] or not len(self.y):
            raise ValueError(
                f"y_{name} has shape {self.y.shape} and X_{name} {self.X.shape[0]} rows: pass at "
                "least one row, and one label per row"
            )
        self.labels = np.asarray(model.predict(self.X))
        self.classes = np.asarray(model.classes_)
        self.known = np.isin(self.y, self.classes)
        if not self.known.any():
            raise ValueError(
                f"y_{name} has none of the classes of the model, such as {self.classes[0]!s}: pass "
                "labels of the same kind"
            )
        self.wrong = self.labels != self.y
        self.shares: NDArray | None = None
        if hasattr(model, "predict_proba"):
            shares = np.asarray(model.predict_proba(self.X), dtype=np.float64)
            self.shares = shares / shares.sum(axis=1, keepdims=True)  # exact for float32 too

    def for_curves(self) -> tuple[Any, NDArray]:
        """Return rows with known labels, few enough for quick staged predictions."""
        rows = np.flatnonzero(self.known)
        rows = rows[some_rows(len(rows), MOST_CURVE_ROWS)]
        return take(self.X, rows), self.y[rows]


@dataclass(frozen=True)
class ReportedModel:
    """A fitted model and the data of its report.

    Parameters
    ----------
    model : estimator
        A fitted classifier, or a pipeline that ends in one.
    test : Part
        The data it is scored on.
    train : Part or None
        The training data.
    """

    model: Any
    test: Part
    train: Part | None

    @property
    def classifier(self) -> Any:
        """Return the classifier at the end of the pipeline."""
        return self.model.steps[-1][1] if hasattr(self.model, "steps") else self.model


@dataclass(frozen=True)
class Section:
    """A section of a report.

    Parameters
    ----------
    title : str
        Heading.
    html : str
        What comes below it.
    scripts : tuple of str, default=()
        JavaScript that it needs, run in this order after the page is there.
    """

    title: str
    html: str
    scripts: tuple[str, ...] = ()

    @property
    def anchor(self) -> str:
        """Return the identifier of the section for links."""
        return self.title.lower().replace(" ", "-")


def make_section(title: str, template: str, **content: Any) -> Section:
    """Return a section that a template of the package writes.

    Parameters
    ----------
    title : str
        Heading.
    template : str
        File name of the template.
    **content
        Values of its variables.

    Returns
    -------
    Section
        The section.
    """
    return Section(title, render(template, **content))
