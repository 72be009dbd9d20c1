"""Automatic settings and directions of sketched trees, and data of unusual forms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from randomboost.preprocessing.encoding import read_training
from randomboost.preprocessing.level_means import learn_encoding
from randomboost.runtime.parallel import ThreadTeam
from randomboost.training.binned_data import BinnedData
from randomboost.training.loop import TrainingData
from randomboost.training.training_rows import LocalRows
from randomboost.training.tree_boosting import SketchTrainer
from randomboost.training.tree_directions import choose_directions
from randomboost.training.tree_settings import SketchSettings
from randomboost.trees.sparse_scores import DENSE

ONE = ThreadTeam(1)


def made_data(n_classes, m, d=5, seed=0):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, m - n_classes)])
    return rng.normal(size=(n_classes, d))[y] + 0.3 * rng.normal(size=(m, d)), y


def made_directions(X, y):
    """Return the directions that are chosen for data."""
    data = TrainingData(X, y, int(y.max()) + 1, np.ones(len(y)))
    return choose_directions(SketchSettings(), LocalRows(data, ONE), [0])


def trained(X, y, n_classes, rounds=6):
    settings = SketchSettings.choose(*X.shape, n_classes)
    trainer = SketchTrainer(settings, TrainingData(X, y, n_classes, np.ones(len(y))), None, ONE)
    for _ in range(rounds):
        assert isinstance(trainer.step(), dict)
    return trainer


@pytest.mark.parametrize("m", [20, 1000, 5000, 10**6])
@pytest.mark.parametrize("k", [2, 20, 300, 10_000])
def test_settings_are_in_their_ranges(m, k):
    settings = SketchSettings.choose(m, 30, k)
    assert 8 <= settings.max_leaves <= 1024
    assert settings.n_landmarks == 0 or k <= 64
    assert 0 < settings.subsample <= 1
    assert settings.max_bins <= 256


def test_more_classes_get_more_sketches():
    numbers = [SketchSettings.choose(100_000, 30, k).n_sketches for k in (3, 100, 1000)]
    assert numbers == sorted(set(numbers))


def test_trees_of_categories_see_more_samples_and_directions():
    plain, categorical = (SketchSettings.choose(1000, 6, 4, categorical=x) for x in (False, True))
    assert categorical.subsample > plain.subsample
    assert categorical.max_features > plain.max_features
    assert categorical.max_drawn > plain.max_drawn


@pytest.mark.parametrize("categories", [["a"], ["a", "b"]])
def test_tables_of_mostly_categories_are_known(categories):
    frame = pd.DataFrame({name: np.arange(60) % 3 for name in "abc"})
    reading = read_training(frame, categories)
    assert reading is not None
    encoding, _ = learn_encoding(reading, np.arange(60) % 2, np.ones(60))
    assert encoding.mostly_categories == (len(categories) == 2)


def test_directions_that_gained_most_are_looked_at_in_every_node():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 40)), rng.integers(0, 3, 600)
    X[:, 17] += 4 * y
    settings = replace(SketchSettings(), projection="axis", max_drawn=6)
    trainer = SketchTrainer(settings, TrainingData(X, y, 3, np.ones(600)), None, ONE)
    member = trainer._members[0]
    directions, n_drawn = member._searched(0)
    assert_array_equal(directions, [0, 40])
    for _ in range(8):
        trainer.step()
    directions, n_again = member._searched(0)
    assert n_again == n_drawn == 6
    assert_array_equal(directions[:2], [0, 40])
    assert directions[2] == 17
    assert len(set(directions[2:])) == 3
    found, fewest = member._searched(None)
    assert_array_equal(found, [0, 40])
    assert fewest == 40


def test_a_single_feature_has_no_mixtures():
    X, y = made_data(3, 60, d=1)
    directions = made_directions(X, y)
    assert directions.counts == {"axis": 1}
    trained(X, y, 3)


def test_fewer_directions_where_there_are_very_many_samples():
    many = np.broadcast_to(np.zeros(1, dtype=np.float32), (3_000_000, 2))
    y = np.arange(3_000_000) % 2
    assert len(made_directions(many, y)) < 100


@pytest.mark.parametrize("n_classes", [DENSE, 3000])
def test_classes_with_a_single_sample(n_classes):
    X, y = made_data(n_classes, n_classes + 50)
    trainer = trained(X, y, n_classes)
    scores = trainer.ensemble(6).scores(X, ONE)
    assert np.isfinite(scores).all()
    assert (scores.argmax(axis=0) == y).mean() > 0.05


def test_a_class_without_samples_gets_a_prior():
    X, y = made_data(4, 100)
    trainer = trained(X, y, 6)
    ensemble = trainer.ensemble(6)
    assert np.isfinite(ensemble.trees.prior).all()
    assert ensemble.scores(X, ONE).argmax(axis=0).max() < 4


def test_memory_of_scores_does_not_grow_with_the_number_of_classes():
    X, y = made_data(2000, 4000)
    trainer = trained(X, y, 2000, rounds=3)
    for member in trainer._members:
        assert member.rows.scores.classes.shape[1] <= DENSE


def test_sparse_data_are_binned_as_dense_data():
    rng = np.random.default_rng(0)
    X = rng.integers(-4, 5, (200, 6)) * (rng.random((200, 6)) < 0.3) / 2.0
    y = rng.integers(0, 3, 200)
    directions = made_directions(X, y)
    axis = slice(0, 6)
    dense = BinnedData(X, directions, 32, ONE)
    assert_array_equal(
        BinnedData(sp.csr_array(X), directions, 32, ONE).bins[:, axis], dense.bins[:, axis]
    )
    again = BinnedData(X[::-1], directions, 32, ThreadTeam(3), dense.edges)
    assert_array_equal(again.bins, dense.bins[::-1])


def test_all_fitted_ends_training():
    X, y = made_data(2, 60)
    X[:, 0] = 10 * y
    settings = SketchSettings(learning_rate=1.0, ridge=0.0, subsample=1.0)
    trainer = SketchTrainer(settings, TrainingData(X, y, 2, np.ones(60)), None, ONE)
    for _ in range(200):
        result = trainer.step()
        if isinstance(result, str):
            break
    assert result in ("all samples are fitted", "no tree separates any two samples")
