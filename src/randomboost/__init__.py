"""randomboost: multi-class boosting with one ensemble and one weight vector for all classes."""

from .base import FitInterruptedWarning
from .classical.adaboost import AdaBoostClassifier
from .classical.ecc import AdaBoostECCClassifier
from .classical.mh import AdaBoostMHClassifier
from .classical.mo import AdaBoostMOClassifier
from .classical.multiboost import MultiBoostClassifier
from .proj import RBoostProjClassifier
from .rank import RBoostRankClassifier

__version__ = "0.1.0"

__all__ = [
    "AdaBoostClassifier",
    "AdaBoostECCClassifier",
    "AdaBoostMHClassifier",
    "AdaBoostMOClassifier",
    "FitInterruptedWarning",
    "MultiBoostClassifier",
    "RBoostProjClassifier",
    "RBoostRankClassifier",
]
