"""The confusion matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import PowerNorm
from sklearn.metrics import ConfusionMatrixDisplay, confusion_matrix

from .base import Display
from .style import RAMP, dress, ink, need, shorten_all

_TEXTS_UP_TO = 40  # classes
_NAMES = 70  # at most, along each side
_FEW = 12


class ConfusionDisplay(Display):
    """Counts of true and predicted classes; colours are fractions of the true class.

    Parameters
    ----------
    matrix : array-like of shape (n_classes, n_classes)
        Counts; rows are true classes.
    labels : array-like of shape (n_classes,), default=None
        Names of the classes.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the matrix.
    figure_ : matplotlib Figure
        Figure that holds it.
    display_ : sklearn.metrics.ConfusionMatrixDisplay
        The display that draws the cells.
    """

    def __init__(self, matrix: Any, labels: Any = None) -> None:
        self.matrix = np.asarray(matrix)
        if self.matrix.ndim != 2 or self.matrix.shape[0] != self.matrix.shape[1]:
            raise ValueError(f"matrix has shape {self.matrix.shape}: pass a square one of counts")
        self.labels = np.arange(len(self.matrix)) if labels is None else np.asarray(labels)
        if len(self.labels) != len(self.matrix):
            raise ValueError(
                f"labels has {len(self.labels)} names for {len(self.matrix)} classes: pass one each"
            )

    @property
    def size(self) -> tuple[float, float]:
        """Return the width and height in inches that suit the number of classes."""
        side = max(3.0, 0.9 + 0.25 * min(len(self.matrix), _TEXTS_UP_TO))
        return side + 0.6, side + 0.4

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, labels: Any = None, ax: Axes | None = None
    ) -> ConfusionDisplay:
        """Draw the matrix of a fitted model's predictions.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier, or a pipeline that ends in one.
        X, y : array-like
            Test data.
        labels : array-like, default=None
            Labels to show, in this order; None for all.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        ConfusionDisplay
            The display.
        """
        need(estimator, "predict", cls.__name__)
        return cls.from_predictions(y, estimator.predict(X), labels=labels, ax=ax)

    @classmethod
    def from_predictions(
        cls, y_true: Any, y_pred: Any, *, labels: Any = None, ax: Axes | None = None
    ) -> ConfusionDisplay:
        """Draw the matrix of some predictions.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n_samples,)
            True and predicted labels.
        labels : array-like, default=None
            Labels to show, in this order; None for all.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        ConfusionDisplay
            The display.
        """
        if labels is None:
            labels = np.union1d(np.asarray(y_true), np.asarray(y_pred))
        return cls(confusion_matrix(y_true, y_pred, labels=labels), labels).plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> ConfusionDisplay:
        """Draw the matrix.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        ConfusionDisplay
            Itself.
        """
        ax = self._start(ax)
        n_classes = len(self.matrix)
        few = n_classes <= _FEW
        shares = self.matrix / np.maximum(self.matrix.sum(axis=1, keepdims=True), 1)
        names = shorten_all(self.labels, 16)
        self.display_ = ConfusionMatrixDisplay(shares, display_labels=names).plot(
            ax=ax,
            cmap=RAMP,
            colorbar=False,
            include_values=n_classes <= _TEXTS_UP_TO,
            im_kw={"norm": PowerNorm(0.5, 0, 1)},  # so that rare mistakes are visible
        )
        if self.display_.text_ is not None:
            for place, text in np.ndenumerate(self.display_.text_):
                count = self.matrix[place]
                text.set_text(f"{count:,}" if count or n_classes <= 4 else "")
                text.set_color("white" if shares[place] > 0.36 else ink())
                text.set_fontsize(9 if few else 6.5)
        dress(ax, grid="none")
        for spine in ax.spines.values():
            spine.set_visible(True)
        if n_classes <= _TEXTS_UP_TO:
            ax.set_xticks(np.arange(-0.5, n_classes), minor=True)
            ax.set_yticks(np.arange(-0.5, n_classes), minor=True)
            ax.grid(True, which="minor", color=ink(), alpha=0.12, linewidth=0.6)
            ax.tick_params(which="minor", length=0)
        step = -(-n_classes // _NAMES)
        ax.set_xticks(range(0, n_classes, step), names[::step])
        ax.set_yticks(range(0, n_classes, step), names[::step])
        ax.tick_params(labelsize=9 if few else 7, which="major")
        steep = max(map(len, names)) * n_classes > 36
        ax.tick_params(axis="x", labelrotation=90 if steep else 0)
        ax.set(xlabel="predicted", ylabel="true")
        return self
