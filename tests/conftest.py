from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_wine, make_blobs


@pytest.fixture(scope="session")
def wine():
    return load_wine(return_X_y=True)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """Start headless Chromium, and end it after the tests of a module."""
    import chromium

    driver = chromium.start(tmp_path_factory.mktemp("profile"))
    yield driver
    driver.quit()


@pytest.fixture(scope="session")
def noisy():
    """Return three overlapping classes: a fit never becomes perfect."""
    X, y = make_blobs(150, n_features=4, centers=3, cluster_std=6.0, random_state=3)
    return X.astype(np.float64), y
