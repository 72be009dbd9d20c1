"""Plots of models and comparisons, after scikit-learn's Display convention.

Every class has ``plot(ax=None)``, stores its axes in `ax_` and `figure_`, and is created from a
fitted estimator (``from_estimator``), from predictions (``from_predictions``), or from plain
numbers by its constructor. Pipelines that end in a classifier work as estimators. Curves differ in
colour on screen, and in dashes, markers and grey levels in print.
"""

try:
    import matplotlib  # noqa: F401
except ImportError as error:
    raise ImportError(
        "randomboost.plots needs matplotlib: pip install randomboost[plots] (or randomboost[all])"
    ) from error

from .calibration import ReliabilityDisplay
from .comparison import CriticalDifferenceDisplay, ErrorsDisplay, TradeOffDisplay
from .confusion import ConfusionDisplay
from .contributions import ContributionDisplay
from .importance import ImportanceDisplay
from .margins import MarginDisplay
from .regions import RegionsDisplay
from .rounds import RoundsDisplay
from .weights import WeightsDisplay

__all__ = [
    "ConfusionDisplay",
    "ContributionDisplay",
    "CriticalDifferenceDisplay",
    "ErrorsDisplay",
    "ImportanceDisplay",
    "MarginDisplay",
    "RegionsDisplay",
    "ReliabilityDisplay",
    "RoundsDisplay",
    "TradeOffDisplay",
    "WeightsDisplay",
]
