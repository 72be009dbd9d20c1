"""randomboost: multi-class boosting with one ensemble and one weight vector for all classes.

The classifiers are loaded when they are first named, so that importing the package is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .base import FitInterruptedWarning
    from .classical.adaboost import AdaBoostClassifier
    from .classical.ecc import AdaBoostECCClassifier
    from .classical.mh import AdaBoostMHClassifier
    from .classical.mo import AdaBoostMOClassifier
    from .classical.multiboost import MultiBoostClassifier
    from .files import load
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
    "load",
]

_HOMES = {
    "AdaBoostClassifier": "classical.adaboost",
    "AdaBoostECCClassifier": "classical.ecc",
    "AdaBoostMHClassifier": "classical.mh",
    "AdaBoostMOClassifier": "classical.mo",
    "FitInterruptedWarning": "base",
    "MultiBoostClassifier": "classical.multiboost",
    "RBoostProjClassifier": "proj",
    "RBoostRankClassifier": "rank",
    "load": "files",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
