"""One boosted sequence of sketched trees: a member of a bag, or the whole of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..ensembles.sparse_tree import SparseTree
from ..ensembles.sparse_trees import SparseTrees
from ..runtime.parallel import ThreadTeam
from ..runtime.random_stream import scrambled
from ..trees.growth import SketchedTree, SketchRules
from ..trees.leaves import LeafRules, Leaves
from ..trees.sketching import LOSS_UNITS, find_units, n_used, sketch_matrix
from ..trees.whole_round import Round
from .member_rows import Growth, RoundSums
from .scored_samples import ScoredSamples
from .tree_settings import SketchSettings

_FLOOR = 0.05  # part of a family's share that does not depend on what its trees gained
_MEMORY = 0.95  # how slowly what the families gained is forgotten
_SHORT_MEMORY = 0.85  # and what is usual for the last trees
_SETTLED = 1e-7  # mean loss at which nothing is left to learn
_LEAST_DRAWN = 4  # directions that are looked at in a node, where there are as many
_LONG_MEMORY = 0.97  # and what directions gained


def leaf_rules(settings: SketchSettings) -> LeafRules:
    """Return how leaf vectors are made.

    Parameters
    ----------
    settings : SketchSettings
        The settings.

    Returns
    -------
    LeafRules
        The rules.
    """
    return LeafRules(
        settings.ridge,
        settings.learning_rate,
        settings.leaf_classes,
        settings.least_share,
        settings.largest_step,
    )


class Member:
    """A sequence of trees, each fitted to the gradients that the ones before it leave.

    Parameters
    ----------
    settings : SketchSettings
        The settings; its seed is that of this member.
    rows : MemberRows
        The samples that it learns from, or what stands for them where they are elsewhere.
    n_classes : int
        Number of classes.
    edges : ndarray of shape (n_directions, n_bins - 1)
        The edges of the bins.
    bounds : ndarray of int64 of shape (n_families, 2)
        The directions of every family that it may use.
    weights : ndarray of shape (n_families,)
        Weights of the families before training.
    held : ScoredSamples or None
        Samples that are held out from it.
    team : ThreadTeam
        Threads; they do not change a tree.
    """

    def __init__(
        self,
        settings: SketchSettings,
        rows: Any,
        n_classes: int,
        edges: NDArray,
        bounds: NDArray[np.int64],
        weights: NDArray,
        held: ScoredSamples | None,
        team: ThreadTeam,
    ) -> None:
        self._settings, self._team, self._edges = settings, team, edges
        self.rows, self._n_classes = rows, n_classes
        self._bounds, self._weights, self._held = bounds, weights, held
        self.trees: list[SparseTree] = []
        self._gained = np.zeros(len(edges))
        self._last: tuple[SketchedTree, Leaves] | None = None
        self._take_state(np.zeros((5, len(weights))))

    def go_on_from(self, start: SparseTrees) -> None:
        """Take over the trees of a model, as if they had been grown here."""
        self._take_state(start.state[0])
        for tree in start.trees():
            self._append(tree)

    @property
    def state(self) -> NDArray:
        """What is known of the families of directions, (5, n_families)."""
        return np.array([self._due, self._earned, self._tries, self._known, self._usual])

    def _take_state(self, state: NDArray) -> None:
        self._due, self._earned, self._tries, self._known, self._usual = state.copy()

    def add_last(self, samples: ScoredSamples, share: float, team: ThreadTeam) -> None:
        """Add a share of the last tree to the scores of other samples."""
        assert self._last is not None
        samples.add(*self._last, share, team)

    def _family(self) -> tuple[int, NDArray]:
        """Return the family of directions whose turn it is, and what is due to all then."""
        wanted = self._weights
        if self._tries.min() > 0:
            earned = self._earned / self._tries
            behind = self._settings.focus * (earned - earned.max())
            wanted = wanted * (_FLOOR + (1 - _FLOOR) * np.exp(behind))
        due = self._due + wanted / wanted.sum()
        return int(due.argmax()), due

    def _credit(self, family: int, known: float, gain: float) -> None:
        """Note what a tree gained on the samples it was grown on, and on the others.

        Gains fall from round to round, so a tree is compared with the last ones.
        """
        memory = _SHORT_MEMORY if self.trees else 0.0
        self._known = memory * self._known + (1 - memory) * known
        self._usual = memory * self._usual + (1 - memory) * gain
        more = (gain - self._usual[0]) / max(float(self._known[0]), 1e-30)
        self._due[family] -= 1
        self._earned[family] = _MEMORY * self._earned[family] + more
        self._tries[family] = _MEMORY * self._tries[family] + 1

    def _append(self, tree: SparseTree) -> None:
        """Add a tree, and note which directions gained how much of what it gained."""
        self.trees.append(tree)
        split = tree.columns >= 0
        gains = tree.gains[split].astype(np.float64)
        gained = np.bincount(tree.columns[split], gains, len(self._gained))
        self._gained = _LONG_MEMORY * self._gained + gained / max(gains.sum(), 1e-30)

    def _searched(self, family: int | None) -> tuple[NDArray[np.int64], int]:
        """Return the directions to look at, and how many of them at a node.

        They are those of a family, or all directions where that is None: the first one and the one
        past the last. Favourites, which every node looks at, come after these two.
        """
        if family is None:
            return np.array([0, len(self._edges)]), len(self._edges)
        bounds, settings = self._bounds[family], self._settings
        n_directions = int(bounds[1] - bounds[0])
        share = round(settings.max_features * n_directions)
        n_drawn = max(_LEAST_DRAWN, min(share, settings.max_drawn))
        if n_drawn >= n_directions:
            return bounds, n_drawn
        gained = self._gained[bounds[0] : bounds[1]]
        best = np.argsort(-gained, kind="stable")[: int(settings.favourites * n_drawn)]
        return np.concatenate([bounds, bounds[0] + best[gained[best] > 0]]), n_drawn

    def _tree_rules(self, unit: float) -> SketchRules:
        """Return what a tree may look like, for a unit of the curvatures."""
        settings = self._settings
        return SketchRules(
            settings.max_leaves,
            settings.max_depth,
            settings.min_samples_leaf,
            settings.ridge / unit,
            settings.max_bins,
        )

    def _grow(self, sums: RoundSums, family: int | None, key: int) -> tuple[SketchedTree, float]:
        """Return a tree grown on the samples taken, and what a unit of its gains stands for."""
        units = find_units(sums.sizes)
        rules = self._tree_rules(units[1])
        grown = self.rows.grow(Growth(units, *self._searched(family), rules, key))
        return grown, units[0] ** 2 / units[1]

    def step(self) -> dict[str, float] | str:
        """Grow a tree; return the loss before it and its gain, or why there is no further one."""
        settings, n_classes, m = self._settings, self._n_classes, len(self.rows)
        salt = 0x9E3779B97F4A7C15 * (len(self.trees) + 1)
        key = int(scrambled(np.uint64((settings.seed + salt) % 2**64)))
        matrix = sketch_matrix(key, n_classes, n_used(settings.n_sketches, n_classes))
        family, due = self._family()
        rules = leaf_rules(settings)
        done = None if self.rows.runner is None else self._whole_round(matrix, key, family, rules)
        if done is None or done.tree is None:
            done = self._round(matrix, key, family, rules)
        loss = done.loss / LOSS_UNITS / m
        if loss < _SETTLED:
            return "all samples are fitted"
        self._due = due
        if done.tree is None or done.leaves is None:
            return "no tree separates any two samples"
        gain = float(done.tree.gains.sum()) * done.unit
        known = other = gain / m / loss  # where the tree was grown on all samples
        if done.n_taken < m:
            known, other = done.gains / (done.n_taken, m - done.n_taken) / loss
        self._credit(family, known, other)
        if self._held is not None:
            self._held.add(done.tree, done.leaves, 1.0, self._team)
        self._last = done.tree, done.leaves
        self._append(self._as_tree(done.tree, done.leaves, done.unit))
        return {"loss": loss, "gain": gain}

    def _whole_round(
        self, matrix: NDArray[np.float32], key: int, family: int, rules: LeafRules
    ) -> Round:
        """Run a round in one kernel."""
        return self.rows.runner.run(
            self.rows.scores.values, matrix, key, self._settings.subsample,
            *self._searched(family), self._tree_rules(1.0), rules,
            _SETTLED * LOSS_UNITS * len(self.rows),
        )  # fmt: skip

    def _round(self, matrix: NDArray[np.float32], key: int, family: int, rules: LeafRules) -> Round:
        """Run a round step by step."""
        sums = self.rows.sketch(matrix, key, self._settings.subsample)
        if not sums.n_taken:
            sums = self.rows.take_all()
        nothing = Round(sums.loss, sums.n_taken, 0.0, None, None, np.zeros(2))
        if sums.loss / LOSS_UNITS / len(self.rows) < _SETTLED:
            return nothing
        grown, unit = self._grow(sums, family, key)
        if len(grown.columns) == 1:  # samples or directions that were not drawn may do
            sums = self.rows.take_all()
            grown, unit = self._grow(sums, None, key)
        if len(grown.columns) == 1:
            return nothing
        vectors, gains = self.rows.make_leaves(grown, rules)
        self.rows.add(vectors)
        return Round(sums.loss, sums.n_taken, unit, grown, vectors, gains)

    def _as_tree(self, grown: SketchedTree, vectors: Leaves, unit: float) -> SparseTree:
        """Return a tree with its cuts as values."""
        split = grown.columns >= 0
        thresholds = np.zeros(len(split))
        thresholds[split] = self._edges[grown.columns[split], grown.cuts[split]]
        gains = (grown.gains * unit).astype(np.float32)
        return SparseTree(grown.columns, thresholds, grown.left, gains, vectors)
