"""Calibration of probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from .base import Display
from .margins import true_columns
from .style import FAINT, color, dress, ink, need, show_percent


class ReliabilityDisplay(Display):
    """Accuracy of the predicted class, by its probability.

    Parameters
    ----------
    confidences : array-like of shape (n_samples,)
        Probability of the predicted class of every sample.
    right : array-like of bool of shape (n_samples,)
        Whether that class is the true one.
    n_bins : int, default=10
        Number of bins of equal width.

    Attributes
    ----------
    mean_confidences_, accuracies_, counts_ : ndarray of shape (n_bins,)
        Mean probability, accuracy, and number of samples of every bin; NaN and 0 for an empty
        bin.
    calibration_error_ : float
        Expected calibration error: the mean over samples of the difference between the two, by
        bin.
    ax_ : matplotlib Axes
        Axes with the points.
    figure_ : matplotlib Figure
        Figure that holds them.
    """

    def __init__(self, confidences: Any, right: Any, *, n_bins: int = 10) -> None:
        confidences = np.asarray(confidences, dtype=float)
        right = np.asarray(right, dtype=float)
        if n_bins < 1:
            raise ValueError(f"n_bins={n_bins} is too small: use 1 or more")
        if confidences.shape != right.shape or not len(confidences):
            raise ValueError(
                f"confidences has shape {confidences.shape} and right {right.shape}: pass one of "
                "each for every sample"
            )
        bins = np.clip(np.ceil(confidences * n_bins).astype(int) - 1, 0, n_bins - 1)
        self.n_bins = n_bins
        self.counts_ = np.bincount(bins, minlength=n_bins)
        filled = np.where(self.counts_, self.counts_, np.nan)
        self.mean_confidences_ = np.bincount(bins, confidences, n_bins) / filled
        self.accuracies_ = np.bincount(bins, right, n_bins) / filled
        distances = np.abs(self.mean_confidences_ - self.accuracies_)
        self.calibration_error_ = float(np.nansum(self.counts_ * distances) / len(right))

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, n_bins: int = 10, ax: Axes | None = None
    ) -> ReliabilityDisplay:
        """Draw the reliability of a fitted model.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier with ``predict_proba``, or a pipeline that ends in one.
        X, y : array-like
            Test data.
        n_bins : int, default=10
            Number of bins.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        ReliabilityDisplay
            The display.
        """
        need(estimator, "predict_proba", cls.__name__)
        shares = estimator.predict_proba(X)
        return cls.from_predictions(y, shares, labels=estimator.classes_, n_bins=n_bins, ax=ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_proba: Any,
        *,
        labels: Any = None,
        n_bins: int = 10,
        ax: Axes | None = None,
    ) -> ReliabilityDisplay:
        """Draw the reliability of some probabilities.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True labels.
        y_proba : array-like of shape (n_samples, n_classes)
            Probabilities.
        labels : array-like of shape (n_classes,), default=None
            Labels of the columns; None for those of `y_true` in order.
        n_bins : int, default=10
            Number of bins.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        ReliabilityDisplay
            The display.
        """
        _, shares, columns = true_columns(y_true, y_proba, labels)
        right = shares.argmax(axis=1) == columns
        return cls(shares.max(axis=1), right, n_bins=n_bins).plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> ReliabilityDisplay:
        """Draw the points; the bars below are the fractions of the samples.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        ReliabilityDisplay
            Itself.
        """
        ax = self._start(ax)
        width = 1 / self.n_bins
        middles = width * (np.arange(self.n_bins) + 0.5)
        share = self.counts_ / self.counts_.sum()
        ax.bar(middles, 0.25 * share / share.max(), 0.9 * width, color=FAINT, alpha=0.45)
        ax.plot([0, 1], [0, 1], color=ink(), linewidth=0.9, linestyle=":")
        filled = self.counts_ > 0
        ax.plot(
            self.mean_confidences_[filled],
            self.accuracies_[filled],
            color=color(0),
            linewidth=1.7,
        )
        ax.scatter(
            self.mean_confidences_[filled],
            self.accuracies_[filled],
            12 + 48 * np.sqrt(share[filled]),
            color=color(0),
            zorder=3,
        )
        ax.annotate(
            f"calibration error {self.calibration_error_:.3f}",
            (0.03, 0.97),
            xycoords="axes fraction",
            va="top",
            fontsize=9,
            color=ink(),
        )
        for axis in (ax.xaxis, ax.yaxis):
            show_percent(axis)
        ax.set(
            xlabel="probability of the predicted class (bars: samples)",
            ylabel="predictions that are right",
            xlim=(0, 1.03),
            ylim=(0, 1.03),
        )
        dress(ax)
        return self
