"""Ensembles of small random trees, and their labels by plain code."""

from __future__ import annotations

import numpy as np

from randomboost.ensembles.sparse_tree import SparseTree
from randomboost.ensembles.sparse_trees import SparseTrees
from randomboost.projections.directions import Directions
from randomboost.runtime.parallel import ThreadTeam
from randomboost.trees.leaves import Leaves

ONE = ThreadTeam(1)
D = 3  # features


def made_tree(rng, n_classes, unit, steps):
    """A tree of three leaves with random classes, whose values are steps of a unit."""
    sizes = rng.integers(0, n_classes + 1, 3)
    classes = [np.sort(rng.permutation(n_classes)[:size]) for size in sizes]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    values = rng.choice(steps, sizes.sum()).astype(np.int16)
    flat = np.concatenate(classes).astype(np.uint16)
    leaves = Leaves(starts, flat, values, np.float32(unit), np.ones(3, np.uint16))
    columns = np.array([rng.integers(D), -1, rng.integers(D), -1, -1], np.int32)
    left = np.array([1, -1, 3, -1, -1], np.int32)
    return SparseTree(columns, rng.normal(size=5), left, np.ones(5, np.float32), leaves)


def made_trees(rng, prior, units, steps):
    trees = [made_tree(rng, len(prior), unit, steps) for unit in units]
    directions = Directions(0, D, {"axis": D}, None, None)
    return SparseTrees.pack(directions, trees, np.asarray(prior, np.float32), np.zeros((1, 5, 1)))


def falling_trees(n_classes=9, n_trees=40, seed=0):
    """Trees that change less and less, so that many rows are safe early."""
    rng = np.random.default_rng(seed)
    prior = rng.normal(size=n_classes)
    return made_trees(rng, prior, 0.8 ** np.arange(n_trees), np.arange(-3, 8))


def stages(trees, X):
    """The best class after every tree, by plain code."""
    return [scores.argmax(axis=0) for scores in trees.staged_scores(X, ONE)]
