"""Any scikit-learn estimator that takes sample_weight, as a weak learner."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .hypotheses import FittedEstimator, SmallTree
from .wlda import DIMENSIONS_PER_ROUND

_LEAVES = 8  # of the trees of weak_learner="tree"


def small_tree() -> Any:
    """Return the decision tree of ``weak_learner="tree"``."""
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_leaf_nodes=_LEAVES)


def _compact(estimator: Any) -> Any:
    """Return a decision tree as arrays, any other fitted estimator unchanged."""
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    if type(estimator) in (DecisionTreeClassifier, DecisionTreeRegressor):
        return SmallTree.from_sklearn(estimator)
    return estimator


class EstimatorLearner:
    """Fits a clone of an estimator to the signs of the weights, weighted by their sizes.

    Parameters
    ----------
    points : Points
        The points.
    estimator : scikit-learn estimator
        A classifier (outputs -1 or +1) or a regressor (outputs clipped to [-1, 1]).

    Raises
    ------
    ValueError
        If the estimator does not take sample_weight.
    """

    def __init__(self, points: Any, estimator: Any) -> None:
        if isinstance(estimator, type):
            raise ValueError(
                f"weak_learner={estimator.__name__} is a class: pass an object, "
                f"{estimator.__name__}()"
            )
        from sklearn.base import is_classifier
        from sklearn.utils.validation import has_fit_parameter

        if not hasattr(estimator, "fit") or not has_fit_parameter(estimator, "sample_weight"):
            raise ValueError(
                f"weak_learner={estimator!r} cannot be used: its fit takes no sample_weight; pass "
                "'stump', 'real_stump', 'wlda' or a scikit-learn estimator that takes it"
            )
        self._points = points
        self._estimator = estimator
        self.discrete = is_classifier(estimator)

    def fit(
        self, weights: NDArray, columns: NDArray[np.int64], rng: np.random.Generator
    ) -> tuple[FittedEstimator, float] | None:
        """Return the fitted estimator and its edge.

        Parameters
        ----------
        weights : ndarray of shape (n_points,)
            Signed weights, not all zero.
        columns : ndarray of int64
            Columns to fit on; at most 1000 of them are drawn.
        rng : numpy.random.Generator
            Draws the columns and the estimator's random_state.

        Returns
        -------
        tuple of (FittedEstimator, float) or None
            None if the weights have one sign only.
        """
        used = weights != 0
        if not ((weights > 0).any() and (weights < 0).any()):
            return None
        if len(columns) > DIMENSIONS_PER_ROUND:
            columns = np.sort(rng.choice(columns, DIMENSIONS_PER_ROUND, replace=False))
        from sklearn.base import clone

        estimator = clone(self._estimator)
        if "random_state" in estimator.get_params(deep=False):
            estimator.set_params(random_state=int(rng.integers(2**31)))
        values = self._points.block(columns).T
        size = np.abs(weights[used])
        estimator.fit(values[used], np.sign(weights[used]), sample_weight=size / size.mean())
        estimator = _compact(estimator)
        found = FittedEstimator(columns, estimator)
        edge = float(weights @ found.outputs(self._points))
        if edge < 0:
            found, edge = FittedEstimator(columns, estimator, 1.0, -1.0), -edge
        return found, edge
