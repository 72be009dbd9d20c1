"""The models that are compared at any number of rounds, or at their default where it is None."""

from __future__ import annotations

from typing import Any

from measure import cores
from sets import Split
from sklearn.ensemble import ExtraTreesClassifier

from randomboost import RandomBoostClassifier
from randomboost.compare import peers as rivals


def lightgbm(rounds: int | None, data: Split | None = None) -> Any:
    """Return LightGBM."""
    return rivals.lightgbm(rounds)


def xgboost(rounds: int | None, data: Split | None = None) -> Any:
    """Return XGBoost."""
    return rivals.xgboost(rounds)


def xgboost_vector_leaves(rounds: int | None, data: Split) -> Any:
    """Return XGBoost with one tree a round, whose leaves have a value for every class."""
    return rivals.xgboost(rounds).set_params(multi_strategy="multi_output_tree")


def random_forest(rounds: int | None, data: Split) -> Any:
    """Return a random forest; its rounds are trees."""
    return rivals.random_forest(rounds)


def extra_trees(rounds: int | None, data: Split) -> Any:
    """Return extremely randomised trees; their rounds are trees."""
    return ExtraTreesClassifier(rounds or 100, n_jobs=-1)


def random_boost(rounds: int | None, data: Split) -> Any:
    """Return RandomBoost; with a number of rounds it does them all."""
    if rounds is None:
        return RandomBoostClassifier(n_jobs=cores())
    return RandomBoostClassifier(rounds, early_stopping=False, n_jobs=cores())


BASE = "LightGBM"  # what the ratios refer to
