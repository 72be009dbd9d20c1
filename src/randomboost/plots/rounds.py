"""Error and loss by round."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator
from numpy.typing import NDArray
from sklearn.metrics import log_loss

from .base import Display
from .style import (
    color,
    curve_number,
    dashes,
    dress,
    ink,
    need,
    shorten,
    show_percent,
    split_pipeline,
)

_LABELS = {"error": "error", "log_loss": "log loss", "objective": "training objective"}
_HISTORY = {"error": "validation_error", "log_loss": "validation_loss", "objective": "loss"}


class RoundsDisplay(Display):
    """Curves of error, log loss or training objective over the rounds.

    Parameters
    ----------
    curves : dict of str to array-like
        The values after every round, by name: parts of the data, or models.
    metric : {"error", "log_loss", "objective"}, default="error"
        What the values are; errors are in [0, 1].
    kept : int or None, default=None
        Number of rounds that the model keeps if early stopping dropped some.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the curves.
    figure_ : matplotlib Figure
        Figure that holds them.
    lines_ : list of matplotlib Line2D
        The curves.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from randomboost import AdaBoostMHClassifier
    >>> from randomboost.plots import RoundsDisplay
    >>> X, y = load_wine(return_X_y=True)
    >>> model = AdaBoostMHClassifier(n_estimators=20, random_state=0).fit(X[::2], y[::2])
    >>> display = RoundsDisplay.from_estimator(model, X[1::2], y[1::2])
    >>> list(display.curves)
    ['test']
    """

    def __init__(
        self, curves: Mapping[str, Any], *, metric: str = "error", kept: int | None = None
    ) -> None:
        if metric not in _LABELS:
            raise ValueError(f"metric={metric!r} is unknown: use one of {', '.join(_LABELS)}")
        self.curves = {name: np.asarray(curve, dtype=float) for name, curve in curves.items()}
        self.metric = metric
        self.kept = kept

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        X_train: Any = None,
        y_train: Any = None,
        metric: str = "error",
        log: bool = False,
        ax: Axes | None = None,
    ) -> RoundsDisplay:
        """Draw the curves of a fitted model.

        The curve of the validation part, if there is one, is taken from ``train_history_``.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier with ``staged_predict``, or a pipeline that ends in one.
        X, y : array-like, default=None
            Test data.
        X_train, y_train : array-like, default=None
            Training data, for a second curve.
        metric : {"error", "log_loss", "objective"}, default="error"
            "objective" is the training objective, from ``train_history_``, which needs no data.
        log : bool, default=False
            Whether the values are on a logarithmic scale.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        RoundsDisplay
            The display.
        """
        model, _ = split_pipeline(estimator)
        display = cls({}, metric=metric)
        if metric != "objective":
            need(model, "staged_predict", cls.__name__)
            for name, part, labels in (("training", X_train, y_train), ("test", X, y)):
                if part is not None:
                    _, part = split_pipeline(estimator, part)
                    display.curves[name] = staged(model, part, labels, metric)
        history = getattr(model, "train_history_", {}).get(_HISTORY[metric])
        if history is not None:
            name = "training" if metric == "objective" else "validation"
            display.curves[name] = np.asarray(history)
            kept = getattr(model, "n_estimators_", len(history))
            display.kept = kept if kept < len(history) else None
        if not display.curves:
            raise ValueError(
                f"there is no curve of the {_LABELS[metric]} to draw: pass X and y, or a model "
                "fitted with a validation part"
            )
        return display.plot(ax=ax, log=log)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        staged_predictions: Mapping[str, Iterable[Any]],
        *,
        log: bool = False,
        ax: Axes | None = None,
    ) -> RoundsDisplay:
        """Draw errors of predictions after every round, such as those of several models.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True labels.
        staged_predictions : dict of str to iterable of array-like
            Predicted labels of every model after each round, such as those of
            ``staged_predict``.
        log : bool, default=False
            Whether the values are on a logarithmic scale.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        RoundsDisplay
            The display.
        """
        y_true = np.asarray(y_true)
        curves = {
            name: [np.mean(np.asarray(labels) != y_true) for labels in stages]
            for name, stages in staged_predictions.items()
        }
        return cls(curves).plot(ax=ax, log=log)

    def plot(self, ax: Axes | None = None, *, log: bool = False) -> RoundsDisplay:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        log : bool, default=False
            Whether the values are on a logarithmic scale.

        Returns
        -------
        RoundsDisplay
            Itself.
        """
        ax = self._start(ax)
        self.lines_ = [
            ax.plot(
                np.arange(1, len(curve) + 1),
                curve,
                label=shorten(name),
                color=color(number),
                linestyle=dashes(number),
                linewidth=1.7,
                marker="o" if len(curve) == 1 else "",
            )[0]
            for place, (name, curve) in enumerate(self.curves.items())
            for number in [curve_number(name, place)]
        ]
        if self.kept is not None:
            ax.axvline(self.kept, color=ink(), linewidth=0.9, linestyle=":")
            ax.annotate(
                f"{self.kept} rounds kept",
                (self.kept, 0.97),
                xycoords=("data", "axes fraction"),
                xytext=(-4, 0),
                textcoords="offset points",
                ha="right",
                va="top",
                fontsize=8.5,
                color=ink(),
            )
        ax.set(xlabel="rounds", ylabel=_LABELS[self.metric])
        ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
        if log:
            ax.set_yscale("log")
            ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            ax.yaxis.set_minor_locator(NullLocator())
            ax.yaxis.set_major_formatter("{x:g}")
        if self.metric == "error":
            show_percent(ax.yaxis)
            if not log:
                ax.set_ylim(bottom=0)
        if len(self.lines_) > 1 or self.metric != "objective":
            ax.legend(loc="best" if self.kept is None else "center right")
        dress(ax)
        return self


def staged(model: Any, X: Any, y: Any, metric: str) -> NDArray:
    """Return the error or the log loss of a model on some data after every round."""
    y = np.asarray(y)
    if metric == "error":
        return np.array([np.mean(np.asarray(labels) != y) for labels in model.staged_predict(X)])
    return np.array(
        [
            log_loss(y, shares / shares.sum(axis=1, keepdims=True), labels=model.classes_)
            for shares in map(np.float64, model.staged_predict_proba(X))  # float32 sums to 1 +- eps
        ]
    )
