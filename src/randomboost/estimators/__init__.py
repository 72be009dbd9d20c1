"""The scikit-learn classifiers of the package."""

from .adaboost import AdaBoostClassifier
from .base import BaseBoostingClassifier
from .ecc import AdaBoostECCClassifier
from .mh import AdaBoostMHClassifier
from .mo import AdaBoostMOClassifier
from .multiboost import MultiBoostClassifier
from .proj import RBoostProjClassifier
from .randomboost import RandomBoostClassifier
from .rank import RBoostRankClassifier

#: All classifiers by name, the one to use first.
CLASSIFIERS: dict[str, type[BaseBoostingClassifier]] = {
    kind.__name__: kind
    for kind in (
        RandomBoostClassifier,
        RBoostRankClassifier,
        RBoostProjClassifier,
        AdaBoostClassifier,
        AdaBoostECCClassifier,
        AdaBoostMHClassifier,
        AdaBoostMOClassifier,
        MultiBoostClassifier,
    )
}
