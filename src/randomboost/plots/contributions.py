"""Contributions of features to scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from .base import Display
from .style import (
    checked_most,
    color,
    finish_bars,
    ink,
    need,
    shorten,
    shorten_all,
    split_pipeline,
)

_MOST_CLASSES = 5  # of one figure


class ContributionDisplay(Display):
    """What the features contribute to the scores of a row, or to those of many rows on average.

    Of one row the contributions are drawn with their signs, and the values of the features are
    named. Of several rows it is the mean of their absolute values. All features beyond
    `max_features` are one bar. Several classes are drawn side by side.

    Parameters
    ----------
    explanation : shap.Explanation or Explanation
        What `explain` of a classifier returned, or some rows of it; at most 5 classes per row.
    max_features : int, default=10
        Number of features to show.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the bars.
    figure_ : matplotlib Figure
        Figure that holds them.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from randomboost import RandomBoostClassifier
    >>> from randomboost.plots import ContributionDisplay
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = RandomBoostClassifier(20, random_state=0).fit(X, y)
    >>> display = ContributionDisplay.from_estimator(model, X[:1])
    """

    def __init__(self, explanation: Any, *, max_features: int = 10) -> None:
        if not hasattr(explanation, "classes"):
            raise TypeError(
                f"explanation is {type(explanation).__name__} without classes: pass what explain "
                "of a classifier returned, or some of its rows"
            )
        if not len(explanation.values):
            raise ValueError("explanation has no row: explain at least one")
        n_rows = 1 if np.ndim(explanation.data) == 1 else len(explanation.data)
        values = np.reshape(explanation.values, (n_rows, len(explanation.feature_names), -1))
        if values.shape[2] > _MOST_CLASSES:
            raise ValueError(
                f"explanation has {values.shape[2]} classes per row: explain at most "
                f"{_MOST_CLASSES}"
            )
        self.explanation, self.max_features = explanation, checked_most(max_features)
        self._single = len(values) == 1
        #: Heights of the bars, (n_features, n_classes)
        self.contributions = values[0] if self._single else np.abs(values).mean(axis=0)

    @property
    def size(self) -> tuple[float, float]:
        """Return the width and height in inches that suit the number of bars."""
        n = min(self.max_features + 1, len(self.contributions))
        return 4.8, 1.1 + max(n, 4) * (0.12 + 0.12 * self.contributions.shape[1])

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        classes: Any = None,
        max_features: int = 10,
        ax: Axes | None = None,
    ) -> ContributionDisplay:
        """Explain rows and draw their contributions.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier with ``explain``, or a pipeline that ends in one.
        X : array-like of shape (n_samples, n_features)
            The row or the rows to explain.
        classes : array-like, default=None
            As for ``explain``; None for the predicted class of every row.
        max_features : int, default=10
            Number of features to show.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        ContributionDisplay
            The display.
        """
        model, X = split_pipeline(estimator, X)
        need(model, "explain", cls.__name__)
        return cls(model.explain(X, classes=classes), max_features=max_features).plot(ax=ax)

    def _names(self, chosen: Any) -> list[str]:
        names = shorten_all([self.explanation.feature_names[number] for number in chosen])
        if not self._single:
            return names
        shown = self.explanation.display_data
        values = np.ravel(self.explanation.data if shown is None else shown)
        return [
            f"{name} = {_short(values[number])}" for name, number in zip(names, chosen, strict=True)
        ]

    def _class_names(self) -> list[str]:
        classes = np.reshape(self.explanation.classes, (-1, self.contributions.shape[1]))
        same = (classes == classes[0]).all(axis=0)
        names = [str(label) for label in classes[0]]
        if np.ndim(self.explanation.classes) == 1 and not same.all():
            return ["the predicted class"]
        return [
            name if same[place] else f"class {place + 1} of each row"
            for place, name in enumerate(names)
        ]

    def plot(self, ax: Axes | None = None) -> ContributionDisplay:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        ContributionDisplay
            Itself.
        """
        ax = self._start(ax)
        order = np.argsort(-np.abs(self.contributions).max(axis=1), kind="stable")
        top, others = order[: self.max_features], order[self.max_features :]
        bars, names = self.contributions[top], self._names(top)
        if len(others):
            bars = np.vstack([bars, self.contributions[others].sum(axis=0)])
            names.append(f"{len(others)} other features")
        n_classes = bars.shape[1]
        height = 0.72 / n_classes
        labels = self._class_names()
        for place in range(n_classes):
            values = bars[:, place]
            at = np.arange(len(values)) + (place - (n_classes - 1) / 2) * height
            paint = [color(place if n_classes > 1 or value >= 0 else 1) for value in values]
            drawn = ax.barh(at, values, height=height, color=paint, label=shorten(labels[place]))
            texts = [_signed(value, self._single) for value in values]
            ax.bar_label(drawn, texts, padding=3, fontsize=8, color=ink())
        ax.margins(x=0.22 if (bars < 0).any() else 0.14, y=0.02)
        ax.locator_params(axis="x", nbins=5)
        ax.axvline(0.0, color=ink(), linewidth=0.8)
        self._label(ax, labels)
        finish_bars(ax, names)
        return self

    def _label(self, ax: Axes, labels: list[str]) -> None:
        """Say what the bars are."""
        ax.set_xlabel("contribution" if self._single else "mean |contribution|")
        if len(labels) > 1:
            ax.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=min(len(labels), 3))
            return
        title = f"score of {shorten(labels[0])}"
        if self._single:
            base = float(np.ravel(self.explanation.base_values)[0])
            score = float(np.ravel(self.explanation.scores)[0])
            title += f":\n{score:.2f}, on average {base:.2f}"
        ax.set_title(title)


def _short(value: Any) -> str:
    """Return the value of a feature as short text."""
    if isinstance(value, float | np.floating):
        return f"{value:.4g}"
    return shorten(value, 14)


def _signed(value: float, with_sign: bool) -> str:
    """Return the number beside a bar."""
    return f"{value:+.2f}" if with_sign else f"{value:.2g}"
