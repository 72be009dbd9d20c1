"""One boosted sequence of sketched trees: a member of a bag, or the whole of it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..ensembles.sparse_tree import SparseTree
from ..ensembles.sparse_trees import SparseTrees
from ..runtime.parallel import ThreadTeam
from ..runtime.random_stream import scrambled
from ..trees.growth import SketchedTree, SketchRules, grow_sketched_tree
from ..trees.leaves import LeafRules, Leaves, find_leaves, make_leaves
from ..trees.sketching import Sketches, n_planes, pack_sketches, sketch, sketch_matrix
from ..trees.sparse_scores import DENSE, Prior, SparseScores, cross_entropy
from ..trees.splitting import WORDS
from .temperature import tempered_loss
from .tree_settings import SketchSettings

_FLOOR = 0.05  # part of a family's share that does not depend on what its trees gained
_MEMORY = 0.95  # how slowly what the families gained is forgotten
_SHORT_MEMORY = 0.85  # and what is usual for the last trees
_SETTLED = 1e-7  # mean loss at which nothing is left to learn
_LEAST_DRAWN = 4  # directions that are drawn at a node, where there are as many


def leaf_places(bins: NDArray, grown: SketchedTree, team: ThreadTeam) -> NDArray[np.int32]:
    """Return the leaf of every sample; leaves are numbered in the order of the nodes.

    Parameters
    ----------
    bins : ndarray of uint8 of shape (n_samples, n_directions)
        The samples.
    grown : SketchedTree
        The tree.
    team : ThreadTeam
        Threads.

    Returns
    -------
    ndarray of int32 of shape (n_samples,)
        Numbers of leaves.
    """
    numbers = np.cumsum(grown.columns < 0) - 1
    leaves = np.empty(len(bins), dtype=np.int32)

    def work(first: int, last: int) -> None:
        find_leaves(bins, grown.columns, grown.cuts, grown.left, numbers, leaves, first, last)

    team.run(work, len(bins), grain=512)
    return leaves


class ScoredSamples:
    """Samples that trees do not learn from, and their scores so far.

    Parameters
    ----------
    bins : ndarray of uint8 of shape (n_samples, n_directions)
        The samples.
    y : ndarray of int64
        Their class numbers.
    weight : ndarray or None
        Their weights.
    prior : Prior
        Scores before the first tree.
    """

    def __init__(
        self, bins: NDArray, y: NDArray[np.int64], weight: NDArray | None, prior: Prior
    ) -> None:
        self._bins = bins
        self.y = np.ascontiguousarray(y, dtype=np.int64)
        self.weight = np.ones(len(y)) if weight is None else weight
        self.scores = SparseScores(prior, len(y))
        self._scale = 1.0

    def add(self, grown: SketchedTree, vectors: Leaves, share: float, team: ThreadTeam) -> None:
        """Add a tree, or a share of it, to the scores."""
        places = leaf_places(self._bins, grown, team)
        values = vectors.values * np.float32(share)
        self.scores.add(places, vectors.starts, vectors.classes, values, team)

    def loss(self, team: ThreadTeam) -> float:
        """Return the mean cross-entropy."""
        return cross_entropy(self.scores, self.y, self.weight, team)

    def tempered_loss(self, team: ThreadTeam) -> float:
        """Return the mean cross-entropy after a correction of the temperature.

        Where there are many classes, it is left out.
        """
        if len(self.scores.prior.scores) > DENSE:
            return self.loss(team)
        loss, self._scale = tempered_loss(self.scores.values, self.y, self.weight, self._scale)
        return loss


class Member:
    """A sequence of trees, each fitted to the gradients that the ones before it leave.

    Parameters
    ----------
    settings : SketchSettings
        The settings; its seed is that of this member.
    bins : ndarray of uint8 of shape (n_samples, n_directions)
        The samples that it learns from.
    edges : ndarray of shape (n_directions, n_bins - 1)
        The edges of the bins.
    y : ndarray of int64
        Class numbers.
    weight : ndarray
        Weights.
    prior : Prior
        Scores before the first tree.
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
        bins: NDArray[np.uint8],
        edges: NDArray,
        y: NDArray[np.int64],
        weight: NDArray,
        prior: Prior,
        bounds: NDArray[np.int64],
        weights: NDArray,
        held: ScoredSamples | None,
        team: ThreadTeam,
    ) -> None:
        self._settings, self._team = settings, team
        self._bins, self._edges = bins, edges
        self._y = np.ascontiguousarray(y, dtype=np.int64)
        self._weight = (weight / weight.mean()).astype(np.float32)
        self._prior, self._bounds, self._weights, self._held = prior, bounds, weights, held
        self._scores = SparseScores(prior, len(y))
        self._planes = n_planes(min(settings.n_sketches, len(prior.scores)))
        self._words = np.empty(2 * self._planes * len(y) * WORDS, dtype=np.int64)
        self.trees: list[SparseTree] = []
        self._last: tuple[SketchedTree, Leaves] | None = None
        self._take_state(np.zeros((5, len(weights))))

    def go_on_from(self, start: SparseTrees, X: NDArray, X_held: NDArray | None) -> None:
        """Take over the trees of a model, as if they had been grown here."""
        self._take_state(start.state[0])
        self.trees = start.trees()
        start.add_to(self._scores, X, self._team)
        if self._held is not None:
            start.add_to(self._held.scores, X_held, self._team)

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

    def _draw_rows(self, key: int) -> NDArray[np.uint32]:
        """Return the samples that a tree is grown on."""
        if self._settings.subsample >= 1.0:
            return np.arange(len(self._y), dtype=np.uint32)
        shares = np.random.Generator(np.random.Philox(key)).random(len(self._y), dtype=np.float32)
        taken = shares < max(self._settings.subsample, np.nextafter(shares.min(), np.float32(1)))
        return np.flatnonzero(taken).astype(np.uint32)

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

    def _grow(
        self, sketches: Sketches, rows: NDArray[np.uint32], family: int | None, key: int
    ) -> tuple[SketchedTree, float]:
        """Return a tree grown on some samples, and what a unit of its gains stands for.

        It looks at directions drawn from a family, or at all directions where that is None.
        """
        settings = self._settings
        shape = 2, self._planes, len(rows), WORDS
        words = self._words[: math.prod(shape)].reshape(shape)
        unit_g, unit_h = pack_sketches(sketches, rows, words[0], self._team)
        if family is None:
            bounds = np.array([0, self._bins.shape[1]])
            n_drawn = int(bounds[1])
        else:
            bounds = self._bounds[family]
            share = round(settings.max_features * int(bounds[1] - bounds[0]))
            n_drawn = max(_LEAST_DRAWN, min(share, settings.max_drawn))
        rules = SketchRules(
            settings.max_leaves,
            settings.max_depth,
            settings.min_samples_leaf,
            settings.ridge / unit_h,
            settings.max_bins,
        )
        pair = np.stack([rows, rows])
        grown = grow_sketched_tree(self._bins, pair, words, rules, bounds, n_drawn, key, self._team)
        return grown, unit_g**2 / unit_h

    def step(self) -> dict[str, float] | str:
        """Grow a tree; return the loss before it and its gain, or why there is no further one."""
        settings, team, m = self._settings, self._team, len(self._y)
        n_classes = len(self._prior.scores)
        salt = 0x9E3779B97F4A7C15 * (len(self.trees) + 1)
        key = int(scrambled(np.uint64((settings.seed + salt) % 2**64)))
        matrix = sketch_matrix(key, n_classes, min(settings.n_sketches, n_classes))
        sketches = sketch(self._scores, self._y, self._weight, matrix, team)
        loss = float(sketches.losses.mean(dtype=np.float64))
        if loss < _SETTLED:
            return "all samples are fitted"
        rows, family = self._draw_rows(key), self._family()
        grown, unit = self._grow(sketches, rows, family, key)
        if len(grown.columns) == 1:  # samples or directions that were not drawn may do
            rows = np.arange(m, dtype=np.uint32)
            grown, unit = self._grow(sketches, rows, None, key)
        if len(grown.columns) == 1:
            return "no tree separates any two samples"
        places = leaf_places(self._bins, grown, team)
        taken = np.zeros(m, dtype=np.bool_)
        taken[rows] = True
        rules = LeafRules(
            settings.ridge,
            settings.learning_rate,
            settings.leaf_classes,
            settings.least_share,
            settings.largest_step,
        )
        vectors, gains = make_leaves(
            self._scores, sketches.normalisers, self._y, self._weight, places, taken,
            int((grown.columns < 0).sum()), rules, team,
        )  # fmt: skip
        gain = float(grown.gains.sum()) * unit
        known = other = gain / m / loss  # where the tree was grown on all samples
        if len(rows) < m:
            known, other = gains / (len(rows), m - len(rows)) / loss
        self._credit(family, known, other)
        self._scores.add(places, vectors.starts, vectors.classes, vectors.values, team)
        if self._held is not None:
            self._held.add(grown, vectors, 1.0, team)
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
