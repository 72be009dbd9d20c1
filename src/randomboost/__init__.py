"""randomboost: multi-class boosting with one ensemble and one weight vector for all classes.

The classifiers are loaded when they are first named, so that importing the package is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .estimators.adaboost import AdaBoostClassifier
    from .estimators.base import FitInterruptedWarning
    from .estimators.ecc import AdaBoostECCClassifier
    from .estimators.mh import AdaBoostMHClassifier
    from .estimators.mo import AdaBoostMOClassifier
    from .estimators.multiboost import MultiBoostClassifier
    from .estimators.proj import RBoostProjClassifier
    from .estimators.rank import RBoostRankClassifier
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
    "load",
]

_HOMES = {
    "AdaBoostClassifier": "estimators.adaboost",
    "AdaBoostECCClassifier": "estimators.ecc",
    "AdaBoostMHClassifier": "estimators.mh",
    "AdaBoostMOClassifier": "estimators.mo",
    "FitInterruptedWarning": "estimators.base",
    "MultiBoostClassifier": "estimators.multiboost",
    "RBoostProjClassifier": "estimators.proj",
    "RBoostRankClassifier": "estimators.rank",
    "RandomBoostClassifier": "estimators.rank:RBoostRankClassifier",  # until it is a class
    "load": "files",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home, _, attribute = _HOMES[name].partition(":")
    value = getattr(import_module(f".{home}", __name__), attribute or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
