"""Weak learners: each turns signed weights of points into a weak classifier.

A weak learner knows its points and their columns, but no estimators, losses or rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .any_estimator import EstimatorLearner, small_tree
from .stump import ColumnSearch, StumpLearner
from .stump_and_code import JointLearner
from .wlda import WLDALearner

__all__ = [
    "EstimatorLearner",
    "JointLearner",
    "StumpLearner",
    "WLDALearner",
    "make_learner",
    "small_tree",
]


def make_learner(kind: Any, points: Any, make_columns: Callable[[], ColumnSearch]) -> Any:
    """Return the weak learner of a name or an estimator.

    Parameters
    ----------
    kind : str or estimator
        "stump", "real_stump", "gini_stump", "wlda", "plain_wlda", "tree" or a scikit-learn
        estimator.
    points : Points
        The points.
    make_columns : callable
        Prepares the columns for the search; not called for an estimator.

    Returns
    -------
    StumpLearner, WLDALearner or EstimatorLearner
        The weak learner.
    """
    kind = small_tree() if isinstance(kind, str) and kind == "tree" else kind
    if not isinstance(kind, str):
        return EstimatorLearner(points, kind)
    stumps = StumpLearner(make_columns(), real=kind == "real_stump", gini=kind == "gini_stump")
    if kind in ("wlda", "plain_wlda"):
        return WLDALearner(points, stumps, plain=kind == "plain_wlda")
    return stumps
