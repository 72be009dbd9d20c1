"""randomboost: multi-class boosting with one ensemble and one weight vector for all classes.

The classifiers are loaded when they are first named, so that importing the package is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .estimators import (
        AdaBoostClassifier,
        AdaBoostECCClassifier,
        AdaBoostMHClassifier,
        AdaBoostMOClassifier,
        MultiBoostClassifier,
        RandomBoostClassifier,
        RBoostProjClassifier,
        RBoostRankClassifier,
    )
    from .estimators.base import FitInterruptedWarning
    from .files import load

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
    "RandomBoostClassifier",
    "load",
]

_HOMES = {"FitInterruptedWarning": "estimators.base", "load": "files"}  # all others: estimators


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_HOMES.get(name, 'estimators')}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
