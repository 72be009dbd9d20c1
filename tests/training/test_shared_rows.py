"""Samples in several places give the trees of samples in one."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from randomboost.runtime.parallel import ThreadTeam
from randomboost.training.member_rows import MemberRows
from randomboost.training.shared_rows import ShardRows, SharedRows
from randomboost.training.tree_member import Member
from randomboost.training.tree_settings import SketchSettings
from randomboost.trees import shared_growth
from randomboost.trees.sparse_scores import make_prior

ONE, TWO = ThreadTeam(1), ThreadTeam(2)
BOUNDS = np.array([[0, 5], [5, 12]])


def made(n, n_classes, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    bins = np.minimum((y[:, None] * rng.random((n, 12)) * 60 / n_classes).astype(np.uint8), 31)
    keys = rng.integers(0, 2**63, n).astype(np.uint64)
    return bins, y, rng.uniform(0.5, 1.5, n), keys


def grown(rows, n_classes, team, **changed):
    settings = SketchSettings(max_leaves=20, max_bins=32, seed=3, **changed)
    edges = np.tile(np.arange(31.0), (12, 1))
    member = Member(settings, rows, n_classes, edges, BOUNDS, np.ones(2), None, team)
    noted = [member.step() for _ in range(5)]
    return noted, member.trees


def shared(data, prior, parts, team):
    """Samples in places of this process."""
    places = [
        ShardRows(*(each[part] for each in data), prior, 6, ONE if len(part) % 2 else TWO)
        for part in parts
    ]

    def ask(method, *arguments):
        if method == "search":
            return [
                place.search(
                    number,
                    len(places),
                    arguments[0],
                    [each.part(number, len(places)) for each in places if each is not place],
                )
                for number, place in enumerate(places)
            ]
        return [getattr(place, method)(*arguments) for place in places]

    return SharedRows(ask, len(data[1]), len(places), prior, 6, team)


@pytest.mark.parametrize("n_classes", [3, 100])
@pytest.mark.parametrize("changed", [{}, {"subsample": 1.0}, {"min_samples_leaf": 30}])
@pytest.mark.parametrize("n_places", [1, 2, 5])
@pytest.mark.parametrize("much", [0, 1 << 30])
def test_the_trees_are_the_same(n_classes, changed, n_places, much, monkeypatch):
    monkeypatch.setattr(shared_growth, "_MUCH", much)
    data = made(1500, n_classes)
    prior = make_prior(np.log(np.bincount(data[1], minlength=n_classes) / 1500))
    alone = grown(MemberRows(*data, prior, 6, ONE), n_classes, ONE, **changed)
    rng = np.random.default_rng(n_places)
    parts = np.array_split(rng.permutation(1500), n_places)
    if n_places == 5:  # a place without samples, one with samples of one class
        parts[0], parts[1] = np.empty(0, dtype=int), np.concatenate(parts[:2])
        only = np.flatnonzero(data[1] == 1)
        parts = [only, *(np.setdiff1d(part, only) for part in parts)]
    together = grown(shared(data, prior, parts, TWO), n_classes, TWO, **changed)
    assert alone[0] == together[0]
    for one, other in zip(alone[1], together[1], strict=True):
        for mine, its in zip((*one[:-1], *one.leaves), (*other[:-1], *other.leaves), strict=True):
            assert_array_equal(mine, its)


def test_no_sample_drawn_means_all_of_them():
    data = made(40, 3)
    prior = make_prior(np.zeros(3))
    parts = np.array_split(np.arange(40), 2)
    alone = grown(MemberRows(*data, prior, 6, ONE), 3, ONE, subsample=1e-9)
    together = grown(shared(data, prior, parts, ONE), 3, ONE, subsample=1e-9)
    assert alone[0] == together[0]


def test_replayed_trees_give_the_same_scores():
    data = made(300, 4)
    prior = make_prior(np.zeros(4))
    rows = ShardRows(*data, prior, 6, ONE)
    trees = []

    class Noting:
        runner = None

        def __len__(self):
            return len(rows)

        def __getattr__(self, name):
            def call(*arguments):
                found = getattr(rows, name)(*arguments)
                if name == "make_leaves":
                    trees.append((arguments[0], found[0]))
                return found

            return call

    grown(Noting(), 4, ONE)
    again = ShardRows(*data, prior, 6, TWO)
    again.replay(trees)
    assert_array_equal(again.scores.dense(), rows.scores.dense())
