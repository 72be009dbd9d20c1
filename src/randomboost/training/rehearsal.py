"""Compiling the kernels of a first fit in two processes, by rounds on made-up samples.

Half of what a first fit on a machine compiles are the rounds. A second process runs one on a few
samples meanwhile, so that they are in the cache when this one comes to them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from ..ensembles.landmark_average import LandmarkAverage
from ..ensembles.landmark_scores import LandmarkScores
from ..ensembles.sparse_tree import SparseTree
from ..ensembles.sparse_trees import SparseTrees
from ..ensembles.started_trees import LandmarkTrees
from ..projections.directions import Directions
from ..projections.landmarks import Landmarks
from ..runtime.compiling import has_compiled
from ..runtime.parallel import ThreadTeam
from ..runtime.second_process import SecondProcess
from ..trees.lanes import n_lanes
from ..trees.leaves import Leaves
from ..trees.sketching import n_used
from ..trees.sparse_scores import DENSE, make_prior
from .binned_data import BinnedData
from .member_rows import MemberRows
from .scored_samples import ScoredSamples
from .tree_boosting import ALONE, has_apart
from .tree_member import Member, leaf_rules
from .tree_settings import SketchSettings

_COLUMNS = 2  # directions of the made-up samples
_ROWS = 100  # made-up samples to predict: single rows have kernels of their own
_done: set[tuple[int, bool, bool]] = set()  # kinds of rounds that were compiled ahead


def _made_up(n_classes: int, n_sketches: int, n_threads: int) -> tuple[Member, ScoredSamples]:
    """Return a member that learns from a few samples of every class, and what it adds trees to."""
    y = np.repeat(np.arange(n_classes), 4)
    bins = np.stack([np.arange(len(y)) % 64, np.arange(len(y)) // 4 % 64], axis=1).astype(np.uint8)
    keys = np.arange(len(y), dtype=np.uint64)
    weight, team = np.ones(len(y)), ThreadTeam(n_threads)
    prior = make_prior(np.full(n_classes, -np.log(n_classes)))
    begin = np.zeros((len(y), n_classes), np.float32) if n_classes <= DENSE else None
    rows = MemberRows(bins, y, weight, keys, prior, n_sketches, team, begin)
    held = ScoredSamples(bins, y, weight, prior, begin)
    settings = SketchSettings(n_sketches=n_sketches, max_leaves=4, max_depth=4)
    edges = np.tile(np.arange(63.0), (_COLUMNS, 1))
    bounds = np.array([[0, _COLUMNS]])
    return Member(settings, rows, n_classes, edges, bounds, np.ones(1), held, team), held


def rehearse_rounds(n_classes: int, n_sketches: int, n_threads: int) -> None:
    """Run a round on a few samples, so that its kernels are compiled.

    Parameters
    ----------
    n_classes : int
        Number of classes.
    n_sketches : int
        Number of sketches.
    n_threads : int
        Threads of a member.
    """
    member, held = _made_up(n_classes, n_sketches, n_threads)
    member.step()
    held.scores.best(ThreadTeam(n_threads))


def _rehearse_leaves(n_classes: int, n_sketches: int, n_threads: int) -> None:
    """Compile what rounds do with leaves, to which the other process comes last."""
    rows = _made_up(n_classes, n_sketches, n_threads)[0].rows
    if rows.runner is not None:
        rules = leaf_rules(SketchSettings())
        rows.runner.prepare_end(rows.scores.values, n_sketches, rules)


def _rehearse_bins(dtype: np.dtype) -> None:
    """Bin a few samples along directions that follow from a seed."""
    directions = Directions(0, _COLUMNS, {"axis": _COLUMNS, "sparse": 1, "gaussian": 1}, None, None)
    BinnedData(np.zeros((_ROWS, _COLUMNS), dtype), directions, 64, ThreadTeam(1))


def _rehearse_predictions(n_classes: int) -> None:
    """Predict a few samples from landmarks and a tree of one split."""
    starts = np.array([0, n_classes, 2 * n_classes])
    classes = np.tile(np.arange(n_classes), 2).astype(np.uint16)
    steps, covers = np.ones(2 * n_classes, np.int16), np.ones(2, np.uint16)
    leaves = Leaves(starts, classes, steps, np.float32(1.0), covers)
    columns, left = np.array([0, -1, -1], np.int32), np.array([1, -1, -1], np.int32)
    tree = SparseTree(columns, np.zeros(3), left, np.ones(3, np.float32), leaves)
    directions = Directions(0, _COLUMNS, {"axis": _COLUMNS}, None, None)
    prior = np.zeros(n_classes, np.float32)
    trees = SparseTrees.pack(directions, [tree], prior, np.zeros((1, 5, 1)))
    points = np.zeros((2, _COLUMNS), np.float32)
    landmarks = Landmarks(points, np.ones(_COLUMNS, np.float32), 1.0)
    scores = LandmarkScores(landmarks, np.zeros((2, n_classes), np.float32), 0.5)
    LandmarkTrees(LandmarkAverage((scores,), 1), trees).best(
        np.zeros((_ROWS, _COLUMNS)), ThreadTeam(1)
    )


@contextmanager
def rehearsed(
    settings: SketchSettings, n_samples: int, n_classes: int, dtype: np.dtype, n_threads: int
) -> Iterator[Callable[[], None]]:
    """Have the rounds of a fit compiled by another process, until the end of this context.

    Nothing is done where kernels come from the cache, or with one thread. What the context yields
    is to be called before the first round. If this process has to wait there, it compiles what it
    needs next: the kernels that bin samples, and those of predictions.

    Parameters
    ----------
    settings : SketchSettings
        Settings of the fit.
    n_samples : int
        Number of samples.
    n_classes : int
        Number of classes.
    dtype : dtype
        Type of the features.
    n_threads : int
        Threads of the fit.
    """
    alone = n_samples < ALONE or has_apart(n_samples, settings.n_members, n_threads)
    n_sketches = n_used(settings.n_sketches, n_classes)
    task = min(n_classes, DENSE + 1), n_sketches, 1 if alone else n_threads
    kind = n_lanes(n_sketches), task[2] == 1, n_classes <= DENSE  # what kernels depend on
    if n_threads == 1 or not has_compiled() or kind in _done:
        yield lambda: None
        return
    _done.add(kind)
    other = SecondProcess(rehearse_rounds, *task)

    def wait() -> None:
        if other.runs:
            _rehearse_bins(dtype)
        if other.runs and n_classes <= DENSE:
            _rehearse_predictions(n_classes)
        other.wait()

    try:
        if other.runs:
            _rehearse_leaves(*task)
        yield wait
        wait()
    finally:
        other.stop()
