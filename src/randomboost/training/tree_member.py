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
from ..trees.sketching import LOSS_UNITS, find_units, sketch_matrix
from .member_rows import Growth, RoundSums
from .scored_samples import ScoredSamples
from .tree_settings import SketchSettings

_FLOOR = 0.05  # part of a family's share that does not depend on what its trees gained
_MEMORY = 0.95  # how slowly what the families gained is forgotten
_SHORT_MEMORY = 0.85  # and what is usual for the last trees
_SETTLED = 1e-7  # mean loss at which nothing is left to learn
_LEAST_DRAWN = 4  # directions that are drawn at a node, where there are as many


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
        self._last: tuple[SketchedTree, Leaves] | None = None
        self._take_state(np.zeros((5, len(weights))))

    def go_on_from(self, start: SparseTrees) -> None:
        """Take over the trees of a model, as if they had been grown here."""
        self._take_state(start.state[0])
        self.trees = start.trees()

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

    def _family(self) -> int:
        """Return the family of directions whose turn it is."""
        wanted = self._weights
        if self._tries.min() > 0:
            earned = self._earned / self._tries
            behind = self._settings.focus * (earned - earned.max())
            wanted = wanted * (_FLOOR + (1 - _FLOOR) * np.exp(behind))
        self._due += wanted / wanted.sum()
        return int(self._due.argmax())

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

    def _grow(self, sums: RoundSums, family: int | None, key: int) -> tuple[SketchedTree, float]:
        """Return a tree grown on the samples taken, and what a unit of its gains stands for.

        It looks at directions drawn from a family, or at all directions where that is None.
        """
        settings = self._settings
        units = find_units(sums.sizes)
        if family is None:
            bounds = np.array([0, len(self._edges)])
            n_drawn = int(bounds[1])
        else:
            bounds = self._bounds[family]
            share = round(settings.max_features * int(bounds[1] - bounds[0]))
            n_drawn = max(_LEAST_DRAWN, min(share, settings.max_drawn))
        rules = SketchRules(
            settings.max_leaves,
            settings.max_depth,
            settings.min_samples_leaf,
            settings.ridge / units[1],
            settings.max_bins,
        )
        grown = self.rows.grow(Growth(units, bounds, n_drawn, rules, key))
        return grown, units[0] ** 2 / units[1]

    def step(self) -> dict[str, float] | str:
        """Grow a tree; return the loss before it and its gain, or why there is no further one."""
        settings, n_classes, m = self._settings, self._n_classes, len(self.rows)
        salt = 0x9E3779B97F4A7C15 * (len(self.trees) + 1)
        key = int(scrambled(np.uint64((settings.seed + salt) % 2**64)))
        matrix = sketch_matrix(key, n_classes, min(settings.n_sketches, n_classes))
        sums = self.rows.sketch(matrix, key, settings.subsample)
        if not sums.n_taken:
            sums = self.rows.take_all()
        loss = sums.loss / LOSS_UNITS / m
        if loss < _SETTLED:
            return "all samples are fitted"
        family = self._family()
        grown, unit = self._grow(sums, family, key)
        if len(grown.columns) == 1:  # samples or directions that were not drawn may do
            sums = self.rows.take_all()
            grown, unit = self._grow(sums, None, key)
        if len(grown.columns) == 1:
            return "no tree separates any two samples"
        rules = LeafRules(
            settings.ridge,
            settings.learning_rate,
            settings.leaf_classes,
            settings.least_share,
            settings.largest_step,
        )
        vectors, gains = self.rows.make_leaves(grown, rules)
        gain = float(grown.gains.sum()) * unit
        known = other = gain / m / loss  # where the tree was grown on all samples
        if sums.n_taken < m:
            known, other = gains / (sums.n_taken, m - sums.n_taken) / loss
        self._credit(family, known, other)
        self.rows.add(vectors)
        if self._held is not None:
            self._held.add(grown, vectors, 1.0, self._team)
        self._last = grown, vectors
        self.trees.append(self._as_tree(grown, vectors, unit))
        return {"loss": loss, "gain": gain}

    def _as_tree(self, grown: SketchedTree, vectors: Leaves, unit: float) -> SparseTree:
        """Return a tree with its cuts as values."""
        split = grown.columns >= 0
        thresholds = np.zeros(len(split))
        thresholds[split] = self._edges[grown.columns[split], grown.cuts[split]]
        gains = (grown.gains * unit).astype(np.float32)
        return SparseTree(grown.columns, thresholds, grown.left, gains, vectors)
