"""The report on a trained model."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import log_loss, precision_recall_fscore_support
from sklearn.utils.validation import check_is_fitted

from ..preprocessing.categories import is_table
from .html import Drawings, render, write
from .mistakes import explain_mistakes
from .promises import answers_by_threshold, prediction_sets
from .reported_model import MOST_CURVE_ROWS, Part, ReportedModel, Section, make_section
from .summary import class_balance, column_names, data_summary, number, percent, take
from .try_it import try_it

_MOST_MISTAKES = 20
_MOST_CONFUSIONS = 15
_SHOWN_COLUMNS = 6


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
    """Write a report on a trained model.

    Parameters
    ----------
    path : str or Path
        The HTML file.
    model : estimator
        A fitted classifier, or a pipeline that ends in one.
    X_test, y_test : array-like
        The data to score the model on; a pandas table has names and types of columns.
    X_train, y_train : array-like, default=None
        The training data, for the data summary and the curves of the training error.
    title : str, default="Training report"
        Title of the report.
    facts : dict of str to str or number, default=None
        Facts shown below the title, such as file, time and size.
    notes : sequence of str, default=()
        Sentences shown below the facts.

    Returns
    -------
    Path
        The file.
    """
    check_is_fitted(model)
    test = Part(model, X_test, y_test, "test")
    train = None
    if (X_train is None) != (y_train is None):
        raise ValueError("X_train and y_train must be given together: one of them is missing")
    if X_train is not None:
        train = Part(model, X_train, y_train, "train")
    reported = ReportedModel(model, test, train)
    sections = [make(reported) for make in SECTIONS]
    notes = list(notes)
    if not test.known.all():
        notes.append(
            f"{np.sum(~test.known):,} test rows have classes that the model was not trained on: "
            "they count as wrong, and are left out of log loss, margins and calibration."
        )
    page = render(
        "training.html",
        title=title,
        model_name=type(reported.classifier).__name__,
        n_classes=len(np.union1d(test.y, test.labels)),
        facts={name: number(value) for name, value in (facts or {}).items()},
        notes=notes,
        scores=_scores(reported),
        sections=[section for section in sections if section is not None],
    )
    return write(path, page)


def _scores(reported: ReportedModel) -> list[tuple[str, str, str]]:
    """Return names, values and explanations of the scores."""
    classifier, test, train = reported.classifier, reported.test, reported.train
    error, n_rows = float(test.wrong.mean()), len(test.y)
    found = [
        ("error", percent(error), f"{test.wrong.sum():,} of {n_rows:,} test rows are misclassified")
    ]
    if test.shares is not None:
        shares = test.shares[test.known]
        loss = log_loss(test.y[test.known], shares, labels=test.classes)
        found.append(("log loss", f"{loss:.4f}", "mean of -log p(true class)"))
    classes = [label for label in _by_class(test) if label["support"]]
    recall = float(np.mean([label["recall"] for label in classes]))
    found.append(("balanced accuracy", percent(recall), "mean recall over the classes"))
    f1 = float(np.mean([label["f1"] for label in classes]))
    found.append(("macro F1", f"{f1:.4f}", "mean F1 over the classes"))
    if train is not None:
        rows = f"{len(train.y):,} training rows"
        found.append(("training error", percent(float(train.wrong.mean())), f"on {rows}"))
    rounds = getattr(classifier, "n_estimators_", None)
    if rounds is not None:
        found.append(("rounds", f"{rounds:,}", str(getattr(classifier, "stopped_", ""))))
    return found


def _plots(reported: ReportedModel) -> Section:
    """Return the section with the figures."""
    from .. import plots

    drawings = Drawings()
    model, last, test, train = (
        reported.model,
        reported.classifier,
        reported.test,
        reported.train,
    )
    X, y = test.for_curves()
    X_train, y_train = train.for_curves() if train is not None else (None, None)
    parts: dict[str, Any] = {"X_train": X_train, "y_train": y_train}
    sampled = [part for part in (test, train) if part and len(part.y) > MOST_CURVE_ROWS]
    sample = f" On a random sample of {MOST_CURVE_ROWS:,} rows." if sampled else ""
    staged = _has_stages(model, X)
    if staged:
        drawings.add(
            "Error by round",
            f"Error of the model after each round.{sample}",
            lambda ax: plots.RoundsDisplay.from_estimator(model, X, y, **parts, ax=ax),
            "Line chart of the error by round",
        )
    if staged and hasattr(last, "staged_predict_proba"):
        drawings.add(
            "Log loss by round",
            f"Log loss after each round; it rises when probabilities become overconfident.{sample}",
            lambda ax: plots.RoundsDisplay.from_estimator(
                model, X, y, **parts, metric="log_loss", ax=ax
            ),
            "Line chart of the log loss by round",
        )
    if hasattr(last, "margins"):
        drawings.add(
            "Margins",
            f"Normalised score of the true class minus the next highest; below 0 is wrong.{sample}",
            lambda ax: plots.MarginDisplay.from_estimator(model, X, y, **parts, ax=ax),
            "Cumulative distribution of the margins",
        )
    if test.shares is not None:
        shares = test.shares[test.known]
        drawings.add(
            "Calibration",
            "Accuracy of the predicted class, by its predicted probability.",
            lambda ax: plots.ReliabilityDisplay.from_predictions(
                test.y[test.known], shares, labels=test.classes, ax=ax
            ),
            "Accuracy against predicted probability, with the diagonal",
        )
    if hasattr(last, "weights_") and hasattr(last, "n_estimators_"):
        drawings.add(
            "Weights",
            "Weight of every round.",
            lambda ax: plots.WeightsDisplay.from_estimator(model, ax=ax),
            "Chart of the weights of the rounds",
        )
    if test.X.shape[1] == 2 and _all_numbers(test.X):
        drawings.add(
            "Decision regions",
            "Predicted class at every point of the plane, and the test rows.",
            lambda ax: plots.RegionsDisplay.from_estimator(model, test.X, test.y, ax=ax),
            "Map of the decision regions",
        )
    if hasattr(last, "feature_importances_"):
        names = column_names(test.X) if last.n_features_in_ == test.X.shape[1] else None
        drawings.add(
            "Feature importance",
            "The most important features of the model.",
            lambda ax: plots.ImportanceDisplay.from_estimator(
                model, names=names, max_features=12, ax=ax
            ),
            "Bar chart of feature importances",
        )
    drawings.add(
        "Confusion matrix",
        "True classes in rows, predicted classes in columns; colour is the fraction of the row.",
        lambda ax: plots.ConfusionDisplay.from_predictions(test.y, test.labels, ax=ax),
        "Confusion matrix; the table of classes lists the scores",
    )
    return make_section("Plots", "plots.html", drawings=drawings.done)


def _has_stages(model: Any, X: Any) -> bool:
    """Return whether there are staged predictions; a file may lack the weights they need."""
    from ..plots.style import split_pipeline

    last, row = split_pipeline(model, take(X, np.arange(1)))
    if not hasattr(last, "staged_predict"):
        return False
    try:
        next(iter(last.staged_predict(row)))
    except ValueError:
        return False
    return True


def _all_numbers(X: Any) -> bool:
    if is_table(X):
        return all(kind.kind in "iuf" for kind in X.dtypes)
    return isinstance(X, np.ndarray)


def _by_class(test: Part) -> list[dict[str, Any]]:
    classes = np.union1d(test.y, test.labels)
    found = precision_recall_fscore_support(test.y, test.labels, labels=classes, zero_division=0)
    return [
        {"name": str(label), "precision": p, "recall": r, "f1": f, "support": int(s)}
        for label, p, r, f, s in zip(classes, *found, strict=True)
    ]


def _confusions(test: Part) -> list[dict[str, Any]]:
    """Return the most frequent pairs of a true and a different predicted class."""
    pairs: dict[tuple[Any, Any], int] = {}
    for true, predicted in zip(test.y[test.wrong], test.labels[test.wrong], strict=True):
        pairs[true, predicted] = pairs.get((true, predicted), 0) + 1
    most = sorted(pairs.items(), key=lambda item: -item[1])[:_MOST_CONFUSIONS]
    return [
        {
            "true": str(true),
            "predicted": str(predicted),
            "count": count,
            "share": count / np.sum(test.y == true),
        }
        for (true, predicted), count in most
    ]


def _worst_mistakes(classifier: Any, test: Part) -> dict[str, Any]:
    """Return the misclassified rows with the highest predicted probability."""
    rows = np.flatnonzero(test.wrong)
    if test.shares is not None:
        rows = rows[np.argsort(-test.shares[rows].max(axis=1), kind="stable")]
    rows = rows[:_MOST_MISTAKES]
    columns = _shown_columns(classifier, test.X)
    names = column_names(test.X)
    index = test.X.index if is_table(test.X) else range(len(test.y))
    chosen = take(test.X, rows)
    values = chosen.to_numpy(dtype=object) if is_table(chosen) else chosen
    if hasattr(values, "toarray"):
        values = values.toarray()
    found = []
    for place, row in enumerate(rows):
        true = np.flatnonzero(test.classes == test.y[row])
        highest = None if test.shares is None else float(test.shares[row].max())
        own = None if test.shares is None or not len(true) else test.shares[row][true[0]]
        found.append(
            {
                "row": str(index[row]),
                "true": str(test.y[row]),
                "predicted": str(test.labels[row]),
                "highest": highest,
                "own": None if own is None else float(own),
                "values": [number(values[place][column]) for column in columns],
            }
        )
    return {"rows": found, "columns": [names[column] for column in columns]}


def _shown_columns(last: Any, X: Any) -> list[int]:
    """Return the columns to show of a row: the most important ones, if importances are known."""
    n_columns = X.shape[1]
    if getattr(last, "n_features_in_", None) == n_columns and hasattr(last, "feature_importances_"):
        return np.argsort(-last.feature_importances_, kind="stable")[:_SHOWN_COLUMNS].tolist()
    return list(range(min(n_columns, _SHOWN_COLUMNS)))


def _classes(reported: ReportedModel) -> Section:
    return make_section("Classes", "classes.html", classes=_by_class(reported.test))


def _mistakes(reported: ReportedModel) -> Section:
    return make_section(
        "Mistakes",
        "mistakes.html",
        confusions=_confusions(reported.test),
        mistakes=_worst_mistakes(reported.classifier, reported.test),
        reasons=_reasons(reported.model, reported.test),
    )


def _reasons(model: Any, test: Part) -> list[dict[str, Any]]:
    """Return why the most confident mistakes of rows with known classes were made."""
    if test.shares is None:
        return []
    rows = np.flatnonzero(test.known)
    index = test.X.index[rows] if is_table(test.X) else rows
    X, y, labels = take(test.X, rows), test.y[rows], test.labels[rows]
    return explain_mistakes(model, X, y, labels, test.shares[rows], index)


def _promises(reported: ReportedModel) -> Section | None:
    """Return what can be said of answers that the model is not sure of."""
    test = reported.test
    if test.shares is None:
        return None
    shares = test.shares[test.known]
    numbers = np.searchsorted(test.classes, test.y[test.known])
    return make_section(
        "When the model is not sure",
        "promises.html",
        answers=answers_by_threshold(shares, numbers),
        sets=prediction_sets(shares, numbers),
    )


def _data(reported: ReportedModel) -> Section:
    parts = {"test": reported.test}
    if reported.train is not None:
        parts = {"training": reported.train, **parts}
    return make_section(
        "Data",
        "data.html",
        data=[(f"{name} data", data_summary(part.X)) for name, part in parts.items()],
        balance=class_balance(*(part.y for part in parts.values())),
        balance_parts=list(parts),
    )


def _settings(reported: ReportedModel) -> Section:
    """Return the parameters of the model, those that differ from their default first."""
    model = reported.classifier
    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(type(model).__init__).parameters.items()
    }
    found = [
        {"name": name, "value": repr(value), "changed": repr(value) != repr(defaults.get(name))}
        for name, value in model.get_params(deep=False).items()
    ]
    found.sort(key=lambda setting: (not setting["changed"], setting["name"]))
    return make_section("Settings", "settings.html", settings=found)


# In the order of the page; None leaves a section out.
SECTIONS: tuple[Callable[[ReportedModel], Section | None], ...] = (
    _plots,
    try_it,
    _classes,
    _mistakes,
    _promises,
    _data,
    _settings,
)
