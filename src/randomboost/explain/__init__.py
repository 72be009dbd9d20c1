"""Contributions of features to scores: Shapley values of trees, and what `explain` returns."""

import warnings
from typing import Any

from .explanation import Explanation

__all__ = ["Explanation", "for_plots"]


def for_plots(explanation: Explanation) -> Any:
    """Return an explanation as the plots of shap take it, or as it is without shap.

    Parameters
    ----------
    explanation : Explanation
        The explanation of several rows.

    Returns
    -------
    shap.Explanation or Explanation
        The same numbers.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what shap imports
            from .shap_explanation import from_plain
    except ImportError:
        return explanation
    return from_plain(explanation)
