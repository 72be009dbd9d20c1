"""Whether a split can be stratified."""

import numpy as np
import pytest
from sklearn.model_selection import train_test_split

from randomboost.preprocessing.labels import can_stratify


@pytest.mark.parametrize("labels", ["aabb", "aab", "aaaabbcc", "aaabbbccc", "aaaa", "abcc", "ab"])
def test_stratified_where_scikit_learn_can(labels):
    labels = np.array(list(labels))
    for n_validation in range(1, len(labels)):
        try:
            train_test_split(labels, test_size=n_validation, stratify=labels, random_state=0)
            possible = True
        except ValueError:
            possible = False
        counts = np.unique(labels, return_counts=True)[1]
        assert can_stratify(counts, n_validation) is possible
