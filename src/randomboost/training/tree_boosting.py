"""The rounds of sketched trees: one tree with sparse vector leaves a round, whatever k."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..ensembles.sparse_trees import SparseTree, SparseTrees
from ..projections.directions import Directions, find_discriminants, project
from ..projections.matrices import split_kind
from ..runtime.compiling import kernel
from ..runtime.memory import check_memory
from ..runtime.parallel import ThreadTeam
from ..runtime.random_stream import scrambled
from ..trees.binning import bin_values, find_edges
from ..trees.growth import SketchedTree, SketchRules, grow_sketched_tree
from ..trees.leaves import LeafRules, Leaves, find_leaves, make_leaves
from ..trees.sketching import Sketches, n_planes, pack_sketches, sketch, sketch_matrix
from ..trees.sparse_scores import SparseScores, cross_entropy, make_prior
from ..trees.splitting import WORDS
from .loop import Trainer, TrainingData

_FLOOR = 0.05  # part of a family's share that does not depend on what its trees gained
_MEMORY = 0.95  # how slowly what the families gained is forgotten
_SHORT_MEMORY = 0.85  # and what is usual for the last trees
_BLOCK_BYTES = 1 << 26  # values of the directions that are binned together
_TILE = 64  # samples and directions that are transposed together
_SETTLED = 1e-7  # mean loss at which nothing is left to learn
_SMALL, _LARGE, _HUGE = 4000, 10_000, 50_000  # samples
_FEW_CLASSES, _MANY_CLASSES, _MANY_FEATURES = 12, 400, 64
_SHARES = {"sparse": 0.55, "gaussian": 0.18, "lda": 0.27}  # of the directions beside the features
_MOST_BYTES = 1 << 28  # of the bins, beyond which there are fewer directions
_LEAST_DRAWN = 4  # directions that are drawn at a node, where there are as many


@dataclass(frozen=True)
class SketchSettings:
    """Settings of sketched trees.

    Parameters
    ----------
    n_rounds : int
        Largest number of rounds, where the estimator names none.
    learning_rate : float
        Shrinkage.
    max_leaves, max_depth, min_samples_leaf : int
        What a tree may look like.
    ridge : float
        Ridge penalty of the leaf values and of the split gain.
    subsample : float
        Share of the samples that a tree is grown on.
    max_features : float
        Share of a family's directions that is drawn at a node.
    max_drawn : int
        Most directions that are drawn at a node.
    n_sketches : int
        Number q of random projections of the gradients.
    leaf_classes : int
        Most classes of a leaf.
    least_share : float
        A class is left out of a leaf where it gains less than this share of the best one's gain.
    largest_step : float
        Bound of Newton's step for the true class.
    max_bins : int
        Number of bins.
    projection : str or tuple
        Kind of the directions, as for `projections.matrices.make_directions`.
    n_projections : int
        Number of directions beside the features; fewer where bins would take too much memory.
    seed : int
        Seed of all draws.
    focus : float
        How strongly families of directions that gain more are preferred.
    """

    n_rounds: int = 100
    learning_rate: float = 0.1
    max_leaves: int = 64
    max_depth: int = 64
    min_samples_leaf: int = 1
    ridge: float = 0.3
    subsample: float = 0.7
    max_features: float = 0.3
    max_drawn: int = 40
    n_sketches: int = 6
    leaf_classes: int = 32
    least_share: float = 0.01
    largest_step: float = 10.0
    max_bins: int = 64
    projection: Any = "mixed"
    n_projections: int = 550
    seed: int = 0
    focus: float = 12.0

    @classmethod
    def choose(cls, n_samples: int, n_features: int, n_classes: int) -> SketchSettings:
        """Return settings for data of a given size.

        Parameters
        ----------
        n_samples, n_features, n_classes : int
            Size of the training data.

        Returns
        -------
        SketchSettings
            The settings.
        """
        leaves = max(n_samples // 40, min(3 * n_classes, n_samples // 16))
        small, large = n_samples < _SMALL, n_samples >= _LARGE
        many = n_classes > _MANY_CLASSES
        n_rounds, learning_rate = (400, 0.08) if small else (300, 0.1)
        if large:  # the more samples, the fewer and larger steps
            n_rounds = max(40, round(90 * min(1.0, _HUGE / n_samples) ** 0.35))
            learning_rate = 0.13 * (90 / n_rounds) ** 0.5
            if many:
                n_rounds, learning_rate = 160, 0.09
        return cls(
            n_rounds=n_rounds,
            learning_rate=learning_rate,
            max_leaves=min(max(leaves, 24), 1024),
            min_samples_leaf=10 if many else min(3, 1 + n_samples // 25) if small else 1,
            ridge=0.1 if many else 0.3,
            subsample=0.9 if many else 0.7 if small else 0.8,
            max_features=0.5 if large else 0.3,
            max_drawn=min(max(n_features // 2, 16), 64) if large else 16,
            n_sketches=30 if many else 6 if large and n_classes <= _FEW_CLASSES else 14,
            leaf_classes=16 if many else 32,
            max_bins=64 if small or n_features > _MANY_FEATURES else 255 if large else 128,
            focus=12.0 if small else 24.0,
        )


def choose_directions(settings: SketchSettings, data: TrainingData) -> Directions:
    """Return the directions that the trees choose from.

    Parameters
    ----------
    settings : SketchSettings
        The settings.
    data : TrainingData
        The data; discriminants are made from it.

    Returns
    -------
    Directions
        Every feature by itself, and mixtures of features.
    """
    X, y, weight = data.X, data.y, data.sample_weight
    counts = direction_counts(settings, *X.shape)
    lda = find_discriminants(X, y, weight, settings.seed, counts.get("lda", 0))
    density = split_kind(settings.projection)[1]
    return Directions(settings.seed, X.shape[1], counts, density, lda)


def direction_counts(settings: SketchSettings, n_samples: int, n_features: int) -> dict[str, int]:
    """Return the number of directions by family.

    Parameters
    ----------
    settings : SketchSettings
        The settings.
    n_samples, n_features : int
        Size of the data: where the bins would take too much memory there are fewer directions.

    Returns
    -------
    dict of str to int
        The numbers, in the order of `projections.directions.FAMILIES`.
    """
    kind = split_kind(settings.projection)[0]
    n = settings.n_projections
    n = max(n // 10, min(n, int(_MOST_BYTES / n_samples) - n_features), 1)
    if kind == "axis" or (kind == "mixed" and n_features == 1):
        return {"axis": n_features}
    if kind != "mixed":
        return {kind: n}
    return {"axis": n_features} | {name: max(1, round(n * _SHARES[name])) for name in _SHARES}


@kernel
def _transpose(coded: NDArray, bins: NDArray, first_column: int, first: int, last: int) -> None:
    """Copy bins (directions, samples) to columns of (samples, directions)."""
    for begin in range(first, last, _TILE):
        end = min(begin + _TILE, last)
        for column in range(0, len(coded), _TILE):
            stop = min(column + _TILE, len(coded))
            for i in range(begin, end):
                for v in range(column, stop):
                    bins[i, first_column + v] = coded[v, i]


class BinnedData:
    """Samples as the trees see them: a byte for every direction.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        Scaled data.
    directions : Directions
        The directions.
    max_bins : int
        Number of bins.
    team : ThreadTeam
        Threads.
    edges : ndarray of shape (n_directions, max_bins - 1) or None
        Edges of the bins; None to find them.
    """

    def __init__(
        self,
        X: Any,
        directions: Directions,
        max_bins: int,
        team: ThreadTeam,
        edges: NDArray | None = None,
    ) -> None:
        m, n_directions = X.shape[0], len(directions)
        self.bins = np.empty((m, n_directions), dtype=np.uint8)
        self.edges = np.empty((n_directions, max_bins - 1)) if edges is None else edges
        together = max(1, _BLOCK_BYTES // (8 * max(m, 1)))
        for first in range(0, n_directions, together):
            last = min(first + together, n_directions)
            values = project(X, directions.rows(np.arange(first, last)), team)
            coded = np.empty(values.shape, dtype=np.uint8)

            def code(
                begin: int,
                end: int,
                values: NDArray = values,
                coded: NDArray = coded,
                first: int = first,
            ) -> None:
                for v in range(begin, end):
                    if edges is None:
                        self.edges[first + v] = find_edges(values[v], max_bins)
                    bin_values(values[v], self.edges[first + v], coded[v])

            def copy(begin: int, end: int, coded: NDArray = coded, first: int = first) -> None:
                _transpose(coded, self.bins, first, begin, end)

            team.run(code, last - first)
            team.run(copy, m, grain=_TILE)


class SketchTrainer(Trainer):
    """The rounds: sketched gradients, a tree, leaf vectors from the unsketched gradients.

    Parameters
    ----------
    settings : SketchSettings
        The settings.
    data : TrainingData
        The data.
    start : SparseTrees or None
        Rounds to continue from.
    team : ThreadTeam
        Threads; they do not change a model.
    """

    def __init__(
        self,
        settings: SketchSettings,
        data: TrainingData,
        start: SparseTrees | None,
        team: ThreadTeam,
    ) -> None:
        self._settings, self._team = settings, team
        if start is None:
            self._directions = choose_directions(settings, data)
        else:
            self._directions = start.directions
        m, n_classes, n_directions = len(data.y), data.n_classes, len(self._directions)
        planes = n_planes(min(settings.n_sketches, n_classes))
        check_memory(
            m * (n_directions + 64 * planes + 8 * min(n_classes, 4 * settings.leaf_classes)),
            f"{n_directions:,} directions and the scores of {m:,} samples",
            "use fewer samples, a smaller n_projections or a smaller leaf_classes",
        )
        self.note = (
            f"trees of at most {settings.max_leaves} leaves on {n_directions:,} directions, "
            f"{min(settings.n_sketches, n_classes)} sketches of {n_classes:,} gradients"
        )
        self._y = np.ascontiguousarray(data.y, dtype=np.int64)
        weight = data.sample_weight / data.sample_weight.mean()
        self._weight = weight.astype(np.float32)
        self._data = BinnedData(data.X, self._directions, settings.max_bins, team)
        totals = np.bincount(data.y, weight, n_classes)
        prior = np.log(np.maximum(totals, 0.5) / totals.sum())
        self._prior = make_prior(prior if start is None else start.prior)
        self._scores = SparseScores(self._prior, m)
        self._planes, self._words = planes, np.empty(2 * planes * m * WORDS, dtype=np.int64)
        self._trees: list[SparseTree] = []
        n_families = len(self._directions.weights)
        self._take_state(np.zeros((5, n_families)))
        self._val: BinnedData | None = None
        if data.y_val is not None:
            edges = self._data.edges
            self._val = BinnedData(data.X_val, self._directions, settings.max_bins, team, edges)
            self._y_val = np.ascontiguousarray(data.y_val, dtype=np.int64)
            weight = data.val_weight
            self._val_weight = np.ones(len(self._y_val)) if weight is None else weight
            self._val_scores = SparseScores(self._prior, len(self._y_val))
        if start is not None:
            self._go_on_from(start, data)

    def _go_on_from(self, start: SparseTrees, data: TrainingData) -> None:
        """Take over the trees of a model, as if they had been grown here."""
        self._take_state(start.state)
        self._trees = start.trees()
        parts = [(data.X, self._scores)]
        if self._val is not None:
            parts.append((data.X_val, self._val_scores))
        for X, scores in parts:  # bins of other data have other edges, so values are compared
            leaves = start.staged_leaves(X, self._team)
            for places, tree in zip(leaves, self._trees, strict=True):
                vectors = tree.leaves
                scores.add(places, vectors.starts, vectors.classes, vectors.values, self._team)

    def _take_state(self, state: NDArray) -> None:
        """Take over what is known of the families of directions."""
        self._due, self._earned, self._tries, self._known, self._usual = state.copy()

    def _places(self, bins: NDArray, grown: SketchedTree) -> NDArray[np.int32]:
        """Return the leaf of every sample; leaves are numbered in the order of the nodes."""
        numbers = np.cumsum(grown.columns < 0) - 1
        leaves = np.empty(len(bins), dtype=np.int32)

        def work(first: int, last: int) -> None:
            find_leaves(bins, grown.columns, grown.cuts, grown.left, numbers, leaves, first, last)

        self._team.run(work, len(bins), grain=512)
        return leaves

    def _add(
        self, scores: SparseScores, bins: NDArray, grown: SketchedTree, vectors: Leaves
    ) -> None:
        """Add a tree to scores."""
        places = self._places(bins, grown)
        scores.add(places, vectors.starts, vectors.classes, vectors.values, self._team)

    def _draw_rows(self, key: int) -> NDArray[np.uint32]:
        """Return the samples that a tree is grown on."""
        if self._settings.subsample >= 1.0:
            return np.arange(len(self._y), dtype=np.uint32)
        shares = np.random.Generator(np.random.Philox(key)).random(len(self._y), dtype=np.float32)
        taken = shares < max(self._settings.subsample, np.nextafter(shares.min(), np.float32(1)))
        return np.flatnonzero(taken).astype(np.uint32)

    def _family(self) -> int:
        """Return the family of directions whose turn it is."""
        wanted = self._directions.weights
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
        memory = _SHORT_MEMORY if self._trees else 0.0
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
        starts = self._directions.starts
        if family is None:
            bounds, n_drawn = starts[[0, -1]], len(self._directions)
        else:
            bounds = starts[family : family + 2]
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
        grown = grow_sketched_tree(
            self._data.bins, pair, words, rules, bounds, n_drawn, key, self._team
        )
        return grown, unit_g**2 / unit_h

    def step(self) -> dict[str, float] | str:
        """Run one round; return its loss and gain, or why there is no further round."""
        settings, team, m = self._settings, self._team, len(self._y)
        n_classes = len(self._prior.scores)
        salt = 0x9E3779B97F4A7C15 * (len(self._trees) + 1)
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
        places = self._places(self._data.bins, grown)
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
        if self._val is not None:
            self._add(self._val_scores, self._val.bins, grown, vectors)
        self._trees.append(self._as_tree(grown, vectors, unit))
        return {"loss": loss, "gain": gain}

    def _as_tree(self, grown: SketchedTree, vectors: Leaves, unit: float) -> SparseTree:
        """Return a tree with its cuts as values."""
        split = grown.columns >= 0
        thresholds = np.zeros(len(split))
        thresholds[split] = self._data.edges[grown.columns[split], grown.cuts[split]]
        gains = (grown.gains * unit).astype(np.float32)
        return SparseTree(grown.columns, thresholds, grown.left, gains, vectors)

    def ensemble(self, n_rounds: int) -> SparseTrees:
        """Return the ensemble as it was after `n_rounds` rounds."""
        trees = self._trees[:n_rounds]
        whole = len(trees) == len(self._trees)
        state = np.array([self._due, self._earned, self._tries, self._known, self._usual])
        return SparseTrees.pack(
            self._directions, trees, self._prior.scores, state if whole else 0 * state
        )

    def validation_loss(self) -> float | None:
        """Return the loss of the validation part after the last round."""
        if self._val is None:
            return None
        return cross_entropy(self._val_scores, self._y_val, self._val_weight, self._team)

    def validation_scores(self) -> NDArray[np.float32]:
        """Return the scores of the validation part after the last round, (n_classes, n_val)."""
        return self._val_scores.dense()

    def validation_labels(self) -> NDArray[np.int64]:
        """Return the predicted class numbers of the validation part."""
        return self._val_scores.best(self._team)
