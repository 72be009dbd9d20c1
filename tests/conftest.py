from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine, make_blobs

from randomboost import RBoostProjClassifier, RBoostRankClassifier

RANK = {
    "trees": RBoostRankClassifier(20, n_projections=60, random_state=0),
    "stumps": RBoostRankClassifier(20, weak_learner="stump", n_projections=60, random_state=0),
}


@pytest.fixture(params=[*RANK, "proj"])
def model(request):
    """Return a small classifier of either kind, rank with trees (the default) and stumps."""
    if request.param == "proj":
        return RBoostProjClassifier(20, n_projections=60, random_state=0)
    return clone(RANK[request.param])


@pytest.fixture(params=list(RANK))
def rank(request):
    """Return a small rank classifier, with trees (the default) and stumps."""
    return clone(RANK[request.param])


@pytest.fixture(scope="session")
def wine():
    return load_wine(return_X_y=True)


@pytest.fixture(scope="session")
def noisy():
    """Return three overlapping classes: a fit never becomes perfect."""
    X, y = make_blobs(150, n_features=4, centers=3, cluster_std=6.0, random_state=3)
    return X.astype(np.float64), y
