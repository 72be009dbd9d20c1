"""Contributions of features to scores: Shapley values of trees, and what `explain` returns."""

from .explanation import Explanation

__all__ = ["Explanation"]
