"""The report on a comparison of models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..runtime.units import format_bytes, format_seconds
from ..significance import Comparison, compare
from .html import Drawings, render, write
from .summary import MISSING, class_balance, data_summary, number, percent

_TESTS = {"folds": "corrected_t", "data sets": "wilcoxon"}
_TEST_NOTES = {
    "folds": (
        "The p-values are those of Nadeau and Bengio's corrected t-test against the best model, "
        "which accounts for the training data that folds share, with Holm's correction for all "
        "pairs."
    ),
    "data sets": (
        "The p-values are those of Wilcoxon's signed-rank test against the best model, with Holm's "
        "correction for all pairs; fewer than six data sets cannot show a difference."
    ),
}
_MEASURES = ("log_loss", "fit_seconds", "predict_seconds", "size")


@dataclass(frozen=True)
class ModelResult:
    """Measurements of one model, by fold or data set.

    Parameters
    ----------
    name : str
        Name of the model.
    error : sequence of float
        Fraction of wrong predictions, in [0, 1], on every fold or data set.
    log_loss, fit_seconds, predict_seconds, size : sequence of float, default=()
        As many numbers as in `error`, or none if not measured; `size` is in bytes.
    note : str, default=""
        A remark, such as the version or the settings.
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
    """Write a report on a comparison of models.

    Parameters
    ----------
    path : str or Path
        The HTML file.
    results : sequence of ModelResult
        The models, all measured on the same folds or data sets in the same order.
    parts : {"folds", "data sets"}, default="folds"
        What the measurements refer to: "folds" of one cross-validation, compared by the corrected
        t-test, or "data sets", compared by Wilcoxon's signed-rank test; see
        `randomboost.significance.compare`.
    part_names : sequence of str, default=None
        Names of the folds or data sets; by default they are numbered.
    X, y : array-like, default=None
        The data, to be summarised in the report.
    title : str, default="Comparison of models"
        Title of the report.
    facts : dict of str to str or number, default=None
        Facts shown below the title.
    notes : sequence of str, default=()
        Sentences shown below the facts.

    Returns
    -------
    Path
        The file.
    """
    if parts not in _TESTS:
        raise ValueError(f"parts={parts!r} is unknown: use one of {', '.join(map(repr, _TESTS))}")
    _check(results)
    n_parts = len(results[0].error)
    if part_names is None:
        part_names = [f"{parts[:-1]} {place + 1}" for place in range(n_parts)]
    if len(part_names) != n_parts:
        raise ValueError(f"part_names has {len(part_names)} names for {n_parts} {parts}")
    names = [result.name for result in results]
    errors = np.array([result.error for result in results], dtype=np.float64).T
    comparison = compare(errors, names, method=_TESTS[parts])
    drawings = Drawings()
    _draw(drawings, results, comparison)
    page = render(
        "comparison.html",
        title=title,
        facts={name: number(value) for name, value in (facts or {}).items()},
        notes=list(notes),
        scores=_scores(comparison, parts),
        models=_rows(results, comparison),
        measured=[name for name in _MEASURES if any(len(getattr(r, name)) for r in results)],
        test=_TEST_NOTES[parts] if n_parts > 1 else "",
        drawings=drawings.done,
        part_title=parts[:-1],
        by_part=_by_part(comparison, parts[:-1], part_names),
        data=[] if X is None else [("data", data_summary(X))],
        balance=[] if y is None else class_balance(y),
        balance_parts=["data"],
    )
    return write(path, page)


def _check(results: Sequence[ModelResult]) -> None:
    if not results:
        raise ValueError("results is empty: pass at least one ModelResult")
    names = [result.name for result in results]
    if len(set(names)) < len(names):
        raise ValueError("results has two models of the same name: give each its own name")
    n_parts = len(results[0].error)
    for result in results:
        error = np.asarray(result.error, dtype=np.float64)
        if error.shape != (n_parts,) or not n_parts:
            raise ValueError(
                f"results: {result.name} has {len(error)} errors and {names[0]} has {n_parts}: "
                "pass one for each fold or data set, the same ones for all models"
            )
        if not ((error >= 0) & (error <= 1)).all():
            raise ValueError(f"results: {result.name} has errors outside [0, 1]: pass fractions")
        for name in _MEASURES:
            if len(getattr(result, name)) not in (0, n_parts):
                raise ValueError(
                    f"results: {result.name} has {len(getattr(result, name))} values of {name} "
                    f"for {n_parts} errors: pass as many, or none"
                )


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if len(values) else None


def _scores(comparison: Comparison, parts: str) -> list[tuple[str, str, str]]:
    best = comparison.best
    n_parts, n_models = comparison.errors.shape
    found = [
        ("lowest error", percent(comparison.errors[:, best].mean()), comparison.names[best]),
        ("models", f"{n_models}", f"on {n_parts} {parts if n_parts > 1 else parts[:-1]}"),
    ]
    if n_parts > 1 and n_models > 1:
        level = comparison.p_values[best] >= comparison.alpha
        level[best] = False
        found.append(("not significantly worse", f"{level.sum()}", "others, at the 5% level"))
    return found


def _rows(results: Sequence[ModelResult], comparison: Comparison) -> list[dict[str, Any]]:
    """Return the rows of the table of models, lowest error first."""
    shown = {
        "log_loss": "{:.4f}".format,
        "fit_seconds": format_seconds,
        "predict_seconds": format_seconds,
        "size": format_bytes,
    }
    rows = []
    for place, result in enumerate(results):
        measures = {}
        for name in _MEASURES:
            mean = _mean(getattr(result, name))
            text = MISSING if mean is None else shown[name](mean)
            measures[name] = {"value": mean, "text": text}
        p_value = float(comparison.p_values[comparison.best, place])
        rows.append(
            {
                "name": result.name,
                "note": result.note,
                "error": float(np.mean(result.error)),
                "spread": float(np.std(result.error, ddof=1)) if len(result.error) > 1 else None,
                "rank": float(comparison.ranks[place]),
                "measures": measures,
                "best": place == comparison.best,
                "p_value": p_value,
                "verdict": _verdict(place == comparison.best, p_value, comparison.alpha),
            }
        )
    return sorted(rows, key=lambda row: row["error"])


def _by_part(comparison: Comparison, part: str, part_names: Sequence[str]) -> dict[str, Any]:
    """Return the table of all errors, with the longer side vertical."""
    errors, models = comparison.errors, list(comparison.names)
    lowest = errors == errors.min(axis=1, keepdims=True)
    corner, rows, columns = part, list(part_names), models
    if len(models) > len(part_names):
        corner, rows, columns, errors, lowest = "model", models, rows, errors.T, lowest.T
    cells = [list(zip(*pair, strict=True)) for pair in zip(errors, lowest, strict=True)]
    return {"corner": corner, "columns": columns, "rows": list(zip(rows, cells, strict=True))}


def _verdict(best: bool, p_value: float, alpha: float) -> str:
    if best:
        return "best"
    if np.isnan(p_value):
        return "not tested"
    text = f"p = {p_value:.3f}" if p_value >= 0.001 else "p < 0.001"
    return f"{text}, worse" if p_value < alpha else f"{text}, not significant"


def _draw(drawings: Drawings, results: Sequence[ModelResult], comparison: Comparison) -> None:
    from .. import plots

    names = list(comparison.names)
    drawings.add(
        "Errors",
        "Error on every part (grey) and mean error.",
        lambda ax: plots.ErrorsDisplay(comparison.errors, names).plot(ax=ax),
        "Dot plot of the errors of every model",
    )
    if len(names) > 1 and len(comparison.errors) > 1:
        drawings.add(
            "Ranks",
            "Mean rank over the parts; 1 is the best.",
            lambda ax: plots.CriticalDifferenceDisplay(comparison).plot(ax=ax),
            "Critical-difference diagram of the mean ranks",
        )
    means = comparison.errors.mean(axis=0)
    for name, title, label in (
        ("fit_seconds", "Error and fit time", "fit time, seconds"),
        ("predict_seconds", "Error and prediction time", "prediction time, seconds"),
        ("size", "Error and size", "size, bytes"),
    ):
        costs = [_mean(getattr(result, name)) or np.nan for result in results]
        if np.isfinite(costs).sum() > 1:
            display = plots.TradeOffDisplay(costs, means, names, label=label)
            drawings.add(
                title,
                "Lower left is better; the horizontal axis is logarithmic.",
                display.plot,
                f"Scatter plot of error against {label}",
            )
