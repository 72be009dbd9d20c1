"""The page about a trained model."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import log_loss, precision_recall_fscore_support
from sklearn.utils.validation import check_is_fitted

from ..preprocessing.categories import is_table
from .html import Drawings, render, write
from .summary import class_balance, column_names, data_summary, number, percent, some_rows, take

_MOST_CURVE_ROWS = 5000
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
    check_is_fitted(model)
    test = _Part(model, X_test, y_test, "test")
    train = None
    if (X_train is None) != (y_train is None):
        raise ValueError("X_train and y_train must be given together: one of them is missing")
    if X_train is not None:
        train = _Part(model, X_train, y_train, "train")
    drawings = Drawings()
    _draw(drawings, model, test, train)
    notes = list(notes)
    if not test.known.all():
        notes.append(
            f"{np.sum(~test.known):,} test rows have classes that the model was not trained on: "
            "they count as wrong, and are left out of log loss, margins and calibration."
        )
    data = [("training data", train)] if train else []
    page = render(
        "training.html",
        title=title,
        model_name=type(_last(model)).__name__,
        facts={name: number(value) for name, value in (facts or {}).items()},
        notes=notes,
        scores=_scores(model, test, train),
        drawings=drawings.done,
        classes=_by_class(test),
        confusions=_confusions(test),
        mistakes=_mistakes(model, test),
        data=[(name, data_summary(part.X)) for name, part in [*data, ("test data", test)]],
        balance=class_balance(*([train.y] if train else []), test.y),
        balance_parts=[*(["training"] if train else []), "test"],
        settings=_settings(_last(model)),
    )
    return write(path, page)


class _Part:
    """Rows of data with their labels and what the model says of them."""

    def __init__(self, model: Any, X: Any, y: Any, name: str) -> None:
        self.X: Any = X if hasattr(X, "shape") else np.asarray(X)
        self.y = np.asarray(y)
        if self.y.ndim != 1 or len(self.y) != self.X.shape[0] or not len(self.y):
            raise ValueError(
                f"y_{name} has shape {self.y.shape} and X_{name} {self.X.shape[0]} rows: pass at "
                "least one row, and one label a row"
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
            self.shares = np.asarray(model.predict_proba(self.X), dtype=np.float64)

    def for_curves(self) -> tuple[Any, NDArray]:
        """Return rows with known labels, at most as many as staged predictions are quick for."""
        rows = np.flatnonzero(self.known)
        rows = rows[some_rows(len(rows), _MOST_CURVE_ROWS)]
        return take(self.X, rows), self.y[rows]


def _last(model: Any) -> Any:
    return model.steps[-1][1] if hasattr(model, "steps") else model


def _scores(model: Any, test: _Part, train: _Part | None) -> list[tuple[str, str, str]]:
    """Return names, values and explanations of the scores."""
    error, n_rows = float(test.wrong.mean()), len(test.y)
    found = [("error", percent(error), f"{test.wrong.sum():,} of {n_rows:,} test rows are wrong")]
    if test.shares is not None:
        shares = test.shares[test.known]
        loss = log_loss(test.y[test.known], shares, labels=test.classes)
        found.append(("log loss", f"{loss:.4f}", "mean of -log of the true class's probability"))
    classes = [label for label in _by_class(test) if label["support"]]
    recall = float(np.mean([label["recall"] for label in classes]))
    found.append(("balanced accuracy", percent(recall), "mean of the classes' recalls"))
    f1 = float(np.mean([label["f1"] for label in classes]))
    found.append(("macro F1", f"{f1:.4f}", "mean of the classes' F1"))
    if train is not None:
        rows = f"{len(train.y):,} training rows"
        found.append(("training error", percent(float(train.wrong.mean())), f"on {rows}"))
    rounds = getattr(_last(model), "n_estimators_", None)
    if rounds is not None:
        found.append(("rounds", f"{rounds:,}", str(getattr(_last(model), "stopped_", ""))))
    return found


def _draw(drawings: Drawings, model: Any, test: _Part, train: _Part | None) -> None:
    from .. import plots

    last = _last(model)
    X, y = test.for_curves()
    X_train, y_train = train.for_curves() if train is not None else (None, None)
    parts: dict[str, Any] = {"X_train": X_train, "y_train": y_train}
    sampled = [part for part in (test, train) if part and len(part.y) > _MOST_CURVE_ROWS]
    choice = f" On a random choice of {_MOST_CURVE_ROWS:,} rows of a part." if sampled else ""
    staged = getattr(last, "_has_stages", True)
    if staged and hasattr(last, "staged_predict"):
        drawings.add(
            "Error by round",
            f"Share of wrong predictions of the model after each round.{choice}",
            lambda ax: plots.RoundsDisplay.from_estimator(model, X, y, **parts, ax=ax),
            "Line chart of the error over the rounds",
        )
    if staged and hasattr(last, "staged_predict_proba"):
        drawings.add(
            "Log loss by round",
            f"How far off the probabilities are; it rises where they become too sure.{choice}",
            lambda ax: plots.RoundsDisplay.from_estimator(
                model, X, y, **parts, metric="log_loss", ax=ax
            ),
            "Line chart of the log loss over the rounds",
        )
    if hasattr(last, "margins"):
        drawings.add(
            "Margins",
            f"How far the true class is ahead of the next one; left of 0 is wrong.{choice}",
            lambda ax: plots.MarginDisplay.from_estimator(model, X, y, **parts, ax=ax),
            "Cumulative distribution of the margins",
        )
    if test.shares is not None:
        shares = test.shares[test.known]
        drawings.add(
            "Calibration",
            "How often the predicted class is right, by the probability that it was given.",
            lambda ax: plots.ReliabilityDisplay.from_predictions(
                test.y[test.known], shares, labels=test.classes, ax=ax
            ),
            "Accuracy over predicted probability, beside the diagonal",
        )
    if hasattr(last, "weights_") and hasattr(last, "n_estimators_"):
        drawings.add(
            "Weights",
            "How much each round counts.",
            lambda ax: plots.WeightsDisplay.from_estimator(model, ax=ax),
            "Chart of the weights of the rounds",
        )
    if test.X.shape[1] == 2 and _all_numbers(test.X):
        drawings.add(
            "Regions",
            "The class that is predicted everywhere in the plane, and test rows.",
            lambda ax: plots.RegionsDisplay.from_estimator(model, test.X, test.y, ax=ax),
            "Map of the decision regions",
        )
    if hasattr(last, "feature_importances_"):
        names = column_names(test.X) if last.n_features_in_ == test.X.shape[1] else None
        drawings.add(
            "Importance",
            "The features that the model uses most.",
            lambda ax: plots.ImportanceDisplay.from_estimator(
                model, names=names, max_features=12, ax=ax
            ),
            "Bar chart of feature importances",
        )
    drawings.add(
        "Confusions",
        "True classes in rows, predicted ones in columns; colour is the share of the row.",
        lambda ax: plots.ConfusionDisplay.from_predictions(test.y, test.labels, ax=ax),
        "Confusion matrix; the table of classes has the numbers",
    )


def _all_numbers(X: Any) -> bool:
    if is_table(X):
        return all(kind.kind in "iuf" for kind in X.dtypes)
    return isinstance(X, np.ndarray)


def _by_class(test: _Part) -> list[dict[str, Any]]:
    classes = np.union1d(test.y, test.labels)
    found = precision_recall_fscore_support(test.y, test.labels, labels=classes, zero_division=0)
    return [
        {"name": str(label), "precision": p, "recall": r, "f1": f, "support": int(s)}
        for label, p, r, f, s in zip(classes, *found, strict=True)
    ]


def _confusions(test: _Part) -> list[dict[str, Any]]:
    """Return the most frequent pairs of a true and another, predicted class."""
    pairs: dict[tuple[Any, Any], int] = {}
    for true, said in zip(test.y[test.wrong], test.labels[test.wrong], strict=True):
        pairs[true, said] = pairs.get((true, said), 0) + 1
    most = sorted(pairs.items(), key=lambda item: -item[1])[:_MOST_CONFUSIONS]
    return [
        {
            "true": str(true),
            "predicted": str(said),
            "count": count,
            "share": count / np.sum(test.y == true),
        }
        for (true, said), count in most
    ]


def _mistakes(model: Any, test: _Part) -> dict[str, Any]:
    """Return the rows where the model was wrong and most sure of it."""
    rows = np.flatnonzero(test.wrong)
    if test.shares is not None:
        rows = rows[np.argsort(-test.shares[rows].max(axis=1), kind="stable")]
    rows = rows[:_MOST_MISTAKES]
    columns = _telling_columns(model, test.X)
    names = column_names(test.X)
    index = test.X.index if is_table(test.X) else range(len(test.y))
    chosen = take(test.X, rows)
    values = chosen.to_numpy(dtype=object) if is_table(chosen) else chosen
    if hasattr(values, "toarray"):
        values = values.toarray()
    found = []
    for place, row in enumerate(rows):
        true = np.flatnonzero(test.classes == test.y[row])
        sure = None if test.shares is None else float(test.shares[row].max())
        own = None if test.shares is None or not len(true) else test.shares[row][true[0]]
        found.append(
            {
                "row": str(index[row]),
                "true": str(test.y[row]),
                "predicted": str(test.labels[row]),
                "sure": sure,
                "own": None if own is None else float(own),
                "values": [number(values[place][column]) for column in columns],
            }
        )
    return {"rows": found, "columns": [names[column] for column in columns]}


def _telling_columns(model: Any, X: Any) -> list[int]:
    """Return the columns to show of a row: the most important ones, where that is known."""
    last = _last(model)
    n_columns = X.shape[1]
    if getattr(last, "n_features_in_", None) == n_columns and hasattr(last, "feature_importances_"):
        return np.argsort(-last.feature_importances_, kind="stable")[:_SHOWN_COLUMNS].tolist()
    return list(range(min(n_columns, _SHOWN_COLUMNS)))


def _settings(model: Any) -> list[dict[str, Any]]:
    """Return the parameters of a model, those that differ from the defaults first."""
    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(type(model).__init__).parameters.items()
    }
    found = [
        {"name": name, "value": repr(value), "changed": repr(value) != repr(defaults.get(name))}
        for name, value in model.get_params(deep=False).items()
    ]
    return sorted(found, key=lambda setting: (not setting["changed"], setting["name"]))
