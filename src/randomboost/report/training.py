"""The page about a trained model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def write_training_report(
    path: Any,
    model: Any,
    X_test: Any,
    y_test: Any,
    *,
    X_train: Any = None,
    y_train: Any = None,
    title: str = "Training report",
    facts: Mapping[str, Any] | None = None,
    notes: Sequence[str] = (),
) -> Path:
    """Write a page about a trained model.

    Parameters
    ----------
    path : str or Path
        The HTML file.
    model : estimator
        A fitted classifier, or a pipeline that ends in one.
    X_test, y_test : array-like
        The rows that it is scored on; a pandas table gives the columns names and kinds.
    X_train, y_train : array-like, default=None
        The rows that it was trained on, for the data summary and curves of the training error.
    title : str, default="Training report"
        Heading of the page.
    facts : dict of str to str or number, default=None
        Shown at the top as they are, such as the file, times and sizes.
    notes : sequence of str, default=()
        Sentences shown below the facts.

    Returns
    -------
    Path
        Where the page is.
    """
    raise NotImplementedError
