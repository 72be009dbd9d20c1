"""randomboost: multi-class boosting with one ensemble and one weight vector for all classes."""

from .base import FitInterruptedWarning
from .proj import RBoostProjClassifier
from .rank import RBoostRankClassifier

__version__ = "0.1.0"

__all__ = ["FitInterruptedWarning", "RBoostProjClassifier", "RBoostRankClassifier"]
