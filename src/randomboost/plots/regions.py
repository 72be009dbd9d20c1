"""Decision regions over two features."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt

from ..preprocessing.categories import is_table
from .base import Display
from .style import color, dress, ink, marker, need, shorten

_MAX_POINTS = 500


class RegionsDisplay(Display):
    """Predicted classes over two features.

    Parameters
    ----------
    class_numbers : array-like of int of shape (n_rows, n_columns)
        Numbers of the predicted classes on a grid.
    extent : tuple of float
        Left, right, bottom and top edge of the grid.
    classes : array-like of shape (n_classes,)
        Names of the classes.
    points : array-like of shape (n_points, 2), default=None
        Samples to draw.
    point_classes : array-like of int of shape (n_points,), default=None
        Their class numbers.
    names : tuple of str, default=("feature 0", "feature 1")
        Names of the two features.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the regions.
    figure_ : matplotlib Figure
        Figure that holds them.
    """

    size = (4.3, 3.6)

    def __init__(
        self,
        class_numbers: Any,
        extent: tuple[float, float, float, float],
        classes: Any,
        *,
        points: Any = None,
        point_classes: Any = None,
        names: tuple[str, str] = ("feature 0", "feature 1"),
    ) -> None:
        self.class_numbers = np.asarray(class_numbers)
        self.extent = extent
        self.classes = np.asarray(classes)
        self.points = None if points is None else np.asarray(points)
        self.point_classes = None if point_classes is None else np.asarray(point_classes)
        self.names = names

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        features: tuple[Any, Any] = (0, 1),
        resolution: int = 200,
        ax: Axes | None = None,
    ) -> RegionsDisplay:
        """Draw the regions of a fitted model.

        Other features are held at their median over `X` (categorical ones at their most frequent
        value).

        Parameters
        ----------
        estimator : estimator
            A fitted classifier, or a pipeline that ends in one.
        X : array-like of shape (n_samples, n_features)
            Data, whose range is drawn.
        y : array-like of shape (n_samples,), default=None
            Labels; if given, at most 500 of the samples are drawn.
        features : tuple of two int or str, default=(0, 1)
            The features, by number or (in tables) by name.
        resolution : int, default=200
            Points of the grid in each direction.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        RegionsDisplay
            The display.
        """
        need(estimator, "predict", cls.__name__)
        columns = [_column(X, feature) for feature in features]
        values = np.stack([_numbers(X, column) for column in columns], axis=1)
        low, high = np.nanmin(values, axis=0), np.nanmax(values, axis=0)
        room = np.where(high > low, 0.05 * (high - low), 0.5)
        low, high = low - room, high + room
        steps = (np.arange(resolution) + 0.5) / resolution
        across = low[0] + steps * (high[0] - low[0])
        up = low[1] + steps * (high[1] - low[1])
        grid = _grid(X, columns, *(part.ravel() for part in np.meshgrid(across, up)))
        classes = np.asarray(estimator.classes_)
        found = np.searchsorted(classes, estimator.predict(grid))
        points = point_classes = None
        if y is not None:
            y = np.asarray(y)
            chosen = np.isin(y, classes) & ~np.isnan(values).any(axis=1)
            rows = np.flatnonzero(chosen)
            if len(rows) > _MAX_POINTS:
                rows = np.random.default_rng(0).choice(rows, _MAX_POINTS, replace=False)
            points, point_classes = values[rows], np.searchsorted(classes, y[rows])
        names = tuple(
            str(X.columns[column]) if is_table(X) else f"feature {column}" for column in columns
        )
        return cls(
            found.reshape(resolution, resolution),
            (low[0], high[0], low[1], high[1]),
            classes,
            points=points,
            point_classes=point_classes,
            names=names,  # type: ignore[arg-type]
        ).plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> RegionsDisplay:
        """Draw the regions.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        RegionsDisplay
            Itself.
        """
        ax = self._start(ax)
        tints = np.array([(*to_rgb(color(number)), 0.28) for number in range(len(self.classes))])
        ax.imshow(
            tints[self.class_numbers], extent=self.extent, origin="lower", aspect="auto", zorder=0.5
        )
        present = np.unique(self.class_numbers)
        for number in present[:-1] if len(present) == 2 else present:
            ax.contour(
                self.class_numbers == number,
                levels=[0.5],
                colors=[ink()],
                linewidths=0.7,
                extent=self.extent,
                origin="lower",
            )
        if self.points is not None and self.point_classes is not None:
            for number in np.unique(self.point_classes):
                chosen = self.points[self.point_classes == number]
                ax.plot(
                    *chosen.T,
                    marker(number),
                    color=color(number),
                    markersize=4,
                    markeredgecolor="white",
                    markeredgewidth=0.4,
                    label=shorten(self.classes[number]),
                )
        self._name_regions(ax)
        ax.set(
            xlabel=shorten(self.names[0], 40),
            ylabel=shorten(self.names[1], 40),
            xlim=self.extent[:2],
            ylim=self.extent[2:],
        )
        dress(ax, grid="none")
        return self

    def _name_regions(self, ax: Axes) -> None:
        """Label the region of every class where it is widest."""
        height, width = self.class_numbers.shape
        left, right, bottom, top = self.extent
        for number in np.unique(self.class_numbers):
            inside = np.pad(self.class_numbers == number, 1)
            row, column = _widest(inside)
            text = ax.text(
                left + (column - 0.5) / width * (right - left),
                bottom + (row - 0.5) / height * (top - bottom),
                shorten(self.classes[number], 14),
                ha="center",
                va="center",
                fontsize=8.5,
                fontweight="bold",
                color="black",
            )
            text.set_path_effects([withStroke(linewidth=2.2, foreground="white")])


def _widest(inside: NDArray) -> tuple[int, int]:
    """Return the cell that is farthest from the edge of a region."""
    row, column = np.unravel_index(distance_transform_edt(inside).argmax(), inside.shape)
    return int(row), int(column)


def _column(X: Any, feature: Any) -> int:
    """Return the number of a feature given by number or name."""
    names = list(X.columns) if is_table(X) else []
    if feature in names:
        return names.index(feature)
    n_features = np.shape(X)[1]
    if isinstance(feature, int | np.integer) and 0 <= feature < n_features:
        return int(feature)
    raise ValueError(
        f"features has {feature!r}, which is not in X: use names of columns, or numbers from 0 to "
        f"{n_features - 1}"
    )


def _numbers(X: Any, column: int) -> NDArray:
    values = X.iloc[:, column] if is_table(X) else np.asarray(X)[:, column]
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"features has column {column}, which does not hold numbers: choose another"
        ) from error


def _grid(X: Any, columns: list[int], across: NDArray, up: NDArray) -> Any:
    """Return data with the two columns on a grid and all others held fixed."""
    if not is_table(X):
        X = np.asarray(X, dtype=np.float64)
        grid = np.tile(np.nanmedian(X, axis=0), (len(across), 1))
        grid[:, columns[0]], grid[:, columns[1]] = across, up
        return grid
    grid = X.iloc[np.zeros(len(across), dtype=np.intp)].reset_index(drop=True)
    for place, name in enumerate(X.columns):
        if place in columns:
            grid[name] = across if place == columns[0] else up
        elif X[name].notna().any():
            numeric = X[name].dtype.kind in "iuf"
            grid[name] = _constant(X[name], X[name].median() if numeric else X[name].mode()[0])
    return grid


def _constant(column: Any, value: Any) -> Any:
    """Return a value in the dtype of a column, so that categories are preserved."""
    return value if column.dtype.kind in "iuf" else type(column)([value]).astype(column.dtype)[0]
