"""Contributions of features to scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..explain import Explanation
from .style import color, dress, ink, need, shorten, shorten_all, split_pipeline, start

_MOST_CLASSES = 5  # of one figure


class ContributionDisplay:
    """What the features contribute to the scores of a row, or to those of many rows on average.

    Of one row the contributions are drawn with their signs, and the values of the features are
    named. Of several rows it is the mean of their absolute values. All features beyond
    `max_features` are one bar. Several classes are drawn side by side.

    Parameters
    ----------
    explanation : Explanation
        What `explain` of a classifier returned, for at most 5 classes a row.
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

    ax_: Axes
    figure_: Figure

    def __init__(self, explanation: Explanation, *, max_features: int = 10) -> None:
        if max_features < 1:
            raise ValueError(f"max_features={max_features} shows nothing: use 1 or more")
        if not len(explanation):
            raise ValueError("explanation has no row: explain at least one")
        values = explanation.values
        values = values[:, :, None] if values.ndim == 2 else values
        if values.shape[2] > _MOST_CLASSES:
            raise ValueError(
                f"explanation has {values.shape[2]} classes a row: explain at most {_MOST_CLASSES}"
            )
        self.explanation, self.max_features = explanation, max_features
        single = len(values) == 1
        #: Heights of the bars, (n_features, n_classes)
        self.contributions = values[0] if single else np.abs(values).mean(axis=0)

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
        if len(self.explanation) > 1:
            return names
        shown = self.explanation.display_data
        values = (self.explanation.data if shown is None else shown)[0]
        return [
            f"{name} = {_short(values[number])}" for name, number in zip(names, chosen, strict=True)
        ]

    def _class_names(self) -> list[str]:
        classes = self.explanation.classes.reshape(len(self.explanation), -1)
        same = (classes == classes[0]).all(axis=0)
        names = [str(label) for label in classes[0]]
        if self.explanation.classes.ndim == 1 and not same.all():
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
        ax = start(self, ax)
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
            texts = [_signed(value, len(self.explanation) == 1) for value in values]
            ax.bar_label(drawn, texts, padding=3, fontsize=8, color=ink())
        ax.set_yticks(np.arange(len(names)), names)
        ax.invert_yaxis()
        ax.margins(x=0.22 if (bars < 0).any() else 0.14, y=0.02)
        ax.locator_params(axis="x", nbins=5)
        ax.axvline(0.0, color=ink(), linewidth=0.8)
        self._label(ax, labels)
        dress(ax, grid="x")
        ax.tick_params(axis="y", length=0)
        return self

    def _label(self, ax: Axes, labels: list[str]) -> None:
        """Say what the bars are."""
        one = len(self.explanation) == 1
        ax.set_xlabel("contribution" if one else "mean |contribution|")
        if len(labels) > 1:
            ax.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=min(len(labels), 3))
            return
        title = f"score of {shorten(labels[0])}"
        if one:
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
