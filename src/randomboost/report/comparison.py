"""The page about a comparison of models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class ModelResult:
    """What was measured of one model, by fold or data set.

    Parameters
    ----------
    name : str
        Name of the model.
    error : sequence of float
        Share of wrong predictions, in [0, 1], on every fold or data set.
    log_loss, fit_seconds, predict_seconds, size : sequence of float, default=()
        As many numbers as `error`, or none where they were not measured; `size` is in bytes.
    note : str, default=""
        A remark, such as version or settings.
    """

    name: str
    error: Sequence[float]
    log_loss: Sequence[float] = ()
    fit_seconds: Sequence[float] = ()
    predict_seconds: Sequence[float] = ()
    size: Sequence[float] = ()
    note: str = ""


def write_comparison_report(
    path: Any,
    results: Sequence[ModelResult],
    *,
    parts: str = "folds",
    part_names: Sequence[str] | None = None,
    X: Any = None,
    y: Any = None,
    title: str = "Comparison of models",
    facts: Mapping[str, Any] | None = None,
    notes: Sequence[str] = (),
) -> Path:
    """Write a page about a comparison of models.

    Parameters
    ----------
    path : str or Path
        The HTML file.
    results : sequence of ModelResult
        The models, all measured on the same folds or data sets in the same order.
    parts : {"folds", "data sets"}, default="folds"
        What the numbers of a result are: "folds" of one cross-validation, compared by the
        corrected t-test, or "data sets", compared by Wilcoxon's signed ranks; see
        `randomboost.significance.compare`.
    part_names : sequence of str, default=None
        Names of the folds or data sets; None to number them.
    X, y : array-like, default=None
        The data, for a summary of it.
    title : str, default="Comparison of models"
        Heading of the page.
    facts : dict of str to str or number, default=None
        Shown at the top as they are.
    notes : sequence of str, default=()
        Sentences shown below the facts.

    Returns
    -------
    Path
        Where the page is.
    """
    raise NotImplementedError
