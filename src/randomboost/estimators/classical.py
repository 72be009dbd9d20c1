"""What the classifiers of the classical family share: weak learners on the features."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.utils._param_validation import HasMethods, StrOptions

from ..losses import ExponentialLoss, Loss
from ..training.voting import FeatureSettings
from .base import BaseBoostingClassifier
from .parameters import STOPPING, Condition

_STUMPS = ("stump", "real_stump", "gini_stump", "wlda")


def _searches_stumps(estimator: Any) -> bool:
    shared = getattr(estimator, "votes", None) == "shared"  # stumps find the votes
    learner = estimator.weak_learner
    return shared or (isinstance(learner, str) and learner in _STUMPS)


class ClassicalClassifier(BaseBoostingClassifier):
    """Base of AdaBoost, AdaBoost.ECC, .MH and .MO, which minimise the exponential loss."""

    _allowed: ClassVar[dict[str, list]] = {
        "weak_learner": [StrOptions({*_STUMPS, "tree"}), HasMethods("fit")],
    }
    _conditions: ClassVar[tuple[Condition, ...]] = (
        *STOPPING,
        Condition(
            ("max_bins",),
            _searches_stumps,
            "it is for the search of stumps, set weak_learner='stump'",
        ),
    )

    def _get_loss(self) -> Loss:
        return ExponentialLoss()

    def _settings(self, seed: int) -> FeatureSettings:
        return FeatureSettings(self.weak_learner, float(self.tol), self.max_bins, seed)
