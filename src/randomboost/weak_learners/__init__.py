"""Weak learners: each turns signed weights of points into a weak classifier.

A weak learner knows its points and their columns, and nothing of estimators, losses or rounds.
"""

from .estimator import EstimatorLearner
from .joint import JointLearner
from .stump import StumpLearner
from .wlda import WLDALearner

WEAK_LEARNERS = ("stump", "real_stump", "wlda")

__all__ = ["WEAK_LEARNERS", "EstimatorLearner", "JointLearner", "StumpLearner", "WLDALearner"]
