"""The models that are compared: ours, and the boosting libraries and forests beside them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from measure import cores
from sets import Split
from sklearn.ensemble import AdaBoostClassifier, ExtraTreesClassifier
from sklearn.tree import DecisionTreeClassifier

from randomboost import RandomBoostClassifier, RBoostProjClassifier, RBoostRankClassifier
from randomboost.compare import peers as rivals

PAPER_PROJECTIONS = 20_000
POINTS_A_ROUND = 3_000_000  # (sample, class, dimension) triples that a part search looks at
PART_MEMORY = 2e9  # bytes; where 20000 dimensions take more they are projected when they are drawn
BINNED_ROWS = 10_000  # from here on proj takes 255 bins a feature, as the tree libraries do


def part_search(data: Split) -> dict[str, Any]:
    """Return the parameters of a part search by the number of points m k.

    A round looks at 3e6 / (m k) dimensions, between 2 and 400.
    """
    per_round = int(np.clip(POINTS_A_ROUND // data.n_points, 2, 400))
    return {"projections_per_round": per_round, "max_memory": PART_MEMORY}


def rank_exact(rounds: int, data: Split) -> Any:
    """Return RBoost-rank in the paper's form."""
    return RBoostRankClassifier.paper(
        n_estimators=rounds, n_projections=PAPER_PROJECTIONS, scale=False
    )


def rank_part(rounds: int, data: Split) -> Any:
    """Return RBoost-rank that searches a random part of the dimensions a round."""
    return rank_exact(rounds, data).set_params(**part_search(data))


def proj(rounds: int | None, data: Split) -> Any:
    """Return RBoost-proj; with a number of rounds Algorithm 2, which does them all (tol = 0)."""
    if rounds is None:
        return RBoostProjClassifier()
    model = RBoostProjClassifier(
        rounds, n_projections=1000, selection="violation", scale=False, tol=0
    )
    if len(data.y) >= BINNED_ROWS:
        model.set_params(max_bins=255)
    return model


def lightgbm(rounds: int | None, data: Split | None = None) -> Any:
    """Return LightGBM."""
    return rivals.lightgbm(rounds)


def xgboost(rounds: int | None, data: Split | None = None) -> Any:
    """Return XGBoost."""
    return rivals.xgboost(rounds)


def xgboost_vector_leaves(rounds: int | None, data: Split) -> Any:
    """Return XGBoost with one tree a round, whose leaves have a value for every class."""
    return rivals.xgboost(rounds).set_params(multi_strategy="multi_output_tree")


def hist_gradient_boosting(rounds: int | None, data: Split) -> Any:
    """Return scikit-learn's."""
    return rivals.hist_gradient_boosting(rounds)


def adaboost(rounds: int | None, data: Split) -> Any:
    """Return scikit-learn's AdaBoost on decision stumps, which has one thread only."""
    return AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=rounds or 50)


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


@dataclass(frozen=True)
class Peer:
    """A model at any number of rounds.

    Parameters
    ----------
    make : callable
        Returns it for a number of rounds, or at its default for None where it has one.
    rounds_by_default : int or None
        Its default where that differs in nothing but the number of rounds.
    """

    make: Callable[[Any, Split], Any]
    rounds_by_default: int | None = None

    def variant(self, rounds: int | None) -> str:
        """Return the name of a setting; a default that is also a number of rounds has one name."""
        rounds = rounds or self.rounds_by_default
        return f"{rounds} rounds" if rounds else "default"

    def model(self, rounds: int | None, data: Split, seed: int) -> Any:
        """Return the model to be fitted."""
        return self.make(rounds, data).set_params(random_state=seed)


BASE = "LightGBM"  # what the ratios refer to
PEERS = {
    "RandomBoost": Peer(random_boost),
    "rank exact": Peer(rank_exact),
    "rank part": Peer(rank_part),
    "proj": Peer(proj),
    BASE: Peer(lightgbm, 100),
    "XGBoost": Peer(xgboost, 100),
    "HistGradientBoosting": Peer(hist_gradient_boosting),
    "AdaBoost": Peer(adaboost, 50),
    "RandomForest": Peer(random_forest, 100),
}


def table_key(name: str, model: str, rounds: int | None) -> str:
    """Return how the names of the measurements of a model on a set begin."""
    return f"table/{name}/{model}/{PEERS[model].variant(rounds)}"
