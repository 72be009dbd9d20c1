"""Fitted weak classifiers, independent of how they are found and weighted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class Points(Protocol):
    """The part of a point set that weak classifiers use (see `projections.points`)."""

    dtype: np.dtype

    def column(self, index: int) -> NDArray:
        """Return the values of one column."""
        ...

    def block(self, indices: NDArray[np.int64]) -> NDArray:
        """Return the values of several columns."""
        ...

    def combine(self, columns: NDArray[np.int64], coefficients: NDArray) -> NDArray:
        """Return the direction(s) of a linear combination of columns."""
        ...

    def along(self, directions: NDArray) -> NDArray:
        """Return the values along a direction."""
        ...


class Hypothesis(Protocol):
    """A weak classifier h."""

    def outputs(self, points: Points) -> NDArray:
        """Return h on every point."""
        ...


@dataclass(frozen=True)
class Combination:
    """A linear combination of columns.

    Parameters
    ----------
    columns : ndarray of int64
        Which columns.
    coefficients : ndarray of float64
        Their coefficients.
    """

    columns: NDArray[np.int64]
    coefficients: NDArray


@dataclass(frozen=True)
class Stump:
    """`right` where a column exceeds `threshold`, `left` elsewhere.

    Parameters
    ----------
    column : int
        Column of the point set; -1 where `combination` is given.
    threshold : float
        Threshold.
    left, right : float
        Outputs, -1 or +1 for a discrete stump, in [-1, 1] for a real-valued one.
    combination : Combination or None
        Instead of a column, for weighted LDA.
    """

    column: int
    threshold: float
    left: float
    right: float
    combination: Combination | None = None

    def values(self, points: Points) -> NDArray:
        """Return the values that are compared with the threshold."""
        if self.combination is None:
            return points.column(self.column)
        mix = self.combination
        return points.along(points.combine(mix.columns, mix.coefficients))

    def columns_used(self) -> NDArray[np.int64]:
        """Return the columns that it looks at."""
        if self.combination is None:
            return np.array([self.column], dtype=np.int64)
        return self.combination.columns

    def column_shares(self) -> NDArray:
        """Return how much each of the columns counts."""
        return np.ones(1) if self.combination is None else self.combination.coefficients**2

    def outputs(self, points: Points) -> NDArray:
        """Return h on every point, int8 if both outputs are -1 or +1."""
        above = self.values(points) > points.dtype.type(self.threshold)
        if abs(self.left) == 1.0 and abs(self.right) == 1.0:
            return np.int8(self.left) + above * np.int8(self.right - self.left)
        return np.where(above, self.right, self.left)

    def with_outputs(self, negative: float, positive: float) -> Stump:
        """Return the same stump with other outputs instead of -1 and +1."""
        new = {-1.0: negative, 1.0: positive}
        return replace(self, left=new[self.left], right=new[self.right])


@dataclass(frozen=True)
class SmallTree:
    """A fitted decision tree of scikit-learn, as arrays.

    Parameters
    ----------
    features : ndarray of int32 of shape (n_nodes,)
        Feature of every split, -1 for a leaf.
    thresholds : ndarray of float64
        A sample goes left if its feature, as float32, is at most the threshold.
    left, right : ndarray of int32
        Children, which come after their parent; -1 for a leaf.
    values : ndarray of float64
        Outputs of the leaves.
    gains : ndarray of float64
        Decrease of the impurity by every split.
    """

    features: NDArray[np.int32]
    thresholds: NDArray
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    values: NDArray
    gains: NDArray

    @classmethod
    def from_sklearn(cls, estimator: Any) -> SmallTree:
        """Convert a fitted DecisionTreeClassifier or DecisionTreeRegressor.

        Parameters
        ----------
        estimator : DecisionTreeClassifier or DecisionTreeRegressor
            With one output.

        Returns
        -------
        SmallTree
            A tree with the same predictions, which does not check its input.
        """
        tree = estimator.tree_
        inner = tree.children_left >= 0
        values = tree.value[:, 0, :]
        if hasattr(estimator, "classes_"):
            outputs = estimator.classes_[values.argmax(axis=1)]
        else:
            outputs = values[:, 0]
        impurity = tree.weighted_n_node_samples * tree.impurity
        gains = np.zeros(tree.node_count)
        left, right = tree.children_left[inner], tree.children_right[inner]
        with np.errstate(invalid="ignore"):  # samples of weight 0 have infinite impurity
            gains[inner] = impurity[inner] - impurity[left] - impurity[right]
        gains[~np.isfinite(gains)] = 0.0
        return cls(
            np.where(inner, tree.feature, -1).astype(np.int32),
            np.where(inner, tree.threshold, 0.0),
            tree.children_left.astype(np.int32),
            tree.children_right.astype(np.int32),
            np.where(inner, 0.0, outputs),
            gains,
        )

    def predict(self, X: NDArray) -> NDArray:
        """Return the output for every row."""
        X = X.astype(np.float32)
        rows, nodes = np.arange(len(X)), np.zeros(len(X), dtype=np.int32)
        while True:
            features = self.features[nodes]
            inside = features >= 0
            if not inside.any():
                return self.values[nodes]
            goes_left = X[rows, np.maximum(features, 0)] <= self.thresholds[nodes]
            children = np.where(goes_left, self.left[nodes], self.right[nodes])
            nodes = np.where(inside, children, nodes)

    def importances(self, n_columns: int) -> NDArray:
        """Return the sum of the gains by column."""
        inner = self.features >= 0
        return np.bincount(self.features[inner], self.gains[inner], minlength=n_columns)


@dataclass(frozen=True)
class FittedEstimator:
    """A fitted scikit-learn estimator on some columns.

    Parameters
    ----------
    columns : ndarray of int64
        The columns that it was fitted on.
    estimator : object
        Its predictions are -1 or +1 (a classifier) or are clipped to [-1, 1] (a regressor). A
        decision tree is a `SmallTree`.
    negative, positive : float
        Outputs for the predictions -1 and +1; those in between are interpolated.
    """

    columns: NDArray[np.int64]
    estimator: Any
    negative: float = -1.0
    positive: float = 1.0

    def outputs(self, points: Points) -> NDArray:
        """Return h on every point."""
        predicted = self.estimator.predict(points.block(self.columns).T)
        share = (np.clip(predicted.astype(np.float64), -1.0, 1.0) + 1.0) / 2.0
        return self.negative + share * (self.positive - self.negative)

    def columns_used(self) -> NDArray[np.int64]:
        """Return the columns that it looks at."""
        return self.columns

    def column_shares(self) -> NDArray:
        """Return how much each of the columns counts.

        From feature_importances_ or coef_; all equal where the estimator has neither.
        """
        estimator, n_columns = self.estimator, len(self.columns)
        if isinstance(estimator, SmallTree):
            part = estimator.importances(n_columns)
        elif hasattr(estimator, "feature_importances_"):
            part = np.asarray(estimator.feature_importances_)
        elif hasattr(estimator, "coef_"):
            part = np.abs(np.asarray(estimator.coef_).reshape(-1, n_columns)).sum(axis=0)
        else:
            part = np.ones(n_columns)
        return part if part.sum() > 0 else np.ones(n_columns)

    def with_outputs(self, negative: float, positive: float) -> FittedEstimator:
        """Return the same weak classifier with other outputs instead of -1 and +1."""
        low, high = (negative, positive) if self.negative < 0 else (positive, negative)
        return FittedEstimator(self.columns, self.estimator, low, high)


class Stumps(Sequence[Stump]):
    """Many stumps as arrays.

    Parameters
    ----------
    stumps : iterable of Stump
        The stumps in the order of the rounds.

    Attributes
    ----------
    columns : ndarray of int32
        Column of every stump, -1 for a combination.
    thresholds : ndarray of float64
        Thresholds.
    left, right : ndarray
        Outputs, int8 if all are -1 or +1.
    combinations : dict of int to Combination
        The combinations by round.
    """

    def __init__(self, stumps: Sequence[Stump] | Iterator[Stump]) -> None:
        stumps = list(stumps)
        self.columns = np.array([s.column for s in stumps], dtype=np.int32)
        self.thresholds = np.array([s.threshold for s in stumps], dtype=np.float64)
        outputs = np.array([(s.left, s.right) for s in stumps], dtype=np.float64).reshape(-1, 2)
        kind = np.int8 if (np.abs(outputs) == 1.0).all() else np.float64
        self.left, self.right = np.ascontiguousarray(outputs.astype(kind).T)
        self.combinations = {
            t: s.combination for t, s in enumerate(stumps) if s.combination is not None
        }

    def __len__(self) -> int:
        return len(self.columns)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return Stumps([self[t] for t in range(*index.indices(len(self)))])
        t = range(len(self))[index]
        return Stump(
            int(self.columns[t]),
            float(self.thresholds[t]),
            float(self.left[t]),
            float(self.right[t]),
            self.combinations.get(t),
        )


def pack(hypotheses: Sequence[Any]) -> Sequence[Any]:
    """Return weak classifiers in their compact form.

    Parameters
    ----------
    hypotheses : sequence
        Weak classifiers, all of one kind.

    Returns
    -------
    Stumps or list
        `Stumps` if all are stumps.
    """
    if all(isinstance(h, Stump) for h in hypotheses):
        return Stumps(hypotheses)
    return list(hypotheses)


def columns_in_use(hypotheses: Sequence[Any]) -> NDArray[np.int64]:
    """Return the columns that some weak classifier looks at.

    Parameters
    ----------
    hypotheses : sequence of Stump or FittedEstimator
        The weak classifiers.

    Returns
    -------
    ndarray of int64
        The columns, rising.
    """
    parts = [np.atleast_1d(one.columns_used()) for one in hypotheses]
    return np.unique(np.concatenate(parts)).astype(np.int64)
