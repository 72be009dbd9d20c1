"""The rounds of boosted trees: one tree a round, shared by all classes."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..ensembles.shared_trees import SharedTrees
from ..projections.matrices import make_directions, make_projection
from ..runtime.memory import check_memory
from ..runtime.parallel import ThreadTeam
from ..runtime.random_stream import scrambled
from ..trees.binning import bin_values, find_edges
from ..trees.forest import Forest, Tree, TreePredictor
from ..trees.gradients import make_objective
from ..trees.growth import Rules, find_units, grow_tree, mass_below, select_points
from ..trees.views import ClassView, SharedView
from .loop import Trainer, TrainingData

_FLOOR = 0.5  # part of a family's share that does not depend on what its trees gained
_MEMORY = 0.95  # how slowly what the families gained is forgotten
_BLOCK_BYTES = 1 << 26  # values of the directions that are binned together
_MIN_HESSIAN = 1e-3
_SETTLED = 1e-7  # mean gradient at which nothing is left to learn


@dataclass(frozen=True)
class TreeSettings:
    """Settings of boosted trees that all classes share.

    Parameters
    ----------
    loss : str or object
        As for `trees.gradients.make_objective`.
    learning_rate : float
        Shrinkage of Newton's steps.
    max_leaves : int
        Largest number of leaves of a tree.
    max_depth : int or None
        Largest number of splits on a path.
    min_points : int
        Least number of points (pairs of a sample and a class) in a leaf.
    ridge : float
        Ridge penalty of the leaf values.
    subsample : float
        Share of the samples that a round looks at.
    negligible : float
        Largest share of the gradients that a round may leave out.
    max_points : int or None
        How many points a round looks at; None: 8 for every sample, at least 20000.
    max_features : int, float or None
        How many splits are tried at a node: a number, a share of a family of directions, or None
        for one in 12, at least 16.
    max_bins : int
        Bins of a direction.
    projection : str, tuple or object
        Kind of the directions, as for `projections.matrices.make_projection`.
    n_projections : int
        Number of directions beside the features.
    seed : int
        Seed.
    """

    loss: Any
    learning_rate: float
    max_leaves: int
    max_depth: int | None
    min_points: int
    ridge: float
    subsample: float
    negligible: float
    max_points: int | None
    max_features: float | None
    max_bins: int
    projection: Any
    n_projections: int
    seed: int

    def n_drawn(self, n_directions: int) -> int:
        """Return how many splits are tried at a node, out of so many directions."""
        part = self.max_features
        if part is None:
            return max(16, n_directions // 12)
        if isinstance(part, Integral):
            return min(int(part), max(16, self.n_projections))
        return max(1, round(part * n_directions))


def make_view(settings: TreeSettings, data: TrainingData) -> SharedView | ClassView:
    """Return how trees see samples.

    Parameters
    ----------
    settings : TreeSettings
        The settings.
    data : TrainingData
        The data, which discriminants are made from.

    Returns
    -------
    SharedView or ClassView
        Directions that all classes share, or the paper's class-wise matrices.
    """
    kind, known = settings.projection, (data.X, data.y, data.sample_weight)
    if isinstance(kind, str | tuple) and kind != "gaussian":
        directions = make_directions(kind, settings.seed, settings.n_projections, known)
        return SharedView(settings.seed, data.n_classes, directions)
    matrices = make_projection(kind, settings.seed, data.n_classes, settings.n_projections, known)
    return ClassView(matrices, data.X.shape[1])


class TreeTrainer(Trainer):
    """The rounds: gradients, the points that matter, a tree, its weight.

    Parameters
    ----------
    settings : TreeSettings
        The settings.
    data : TrainingData
        The data.
    start : SharedTrees or None
        Rounds to continue from.
    team : ThreadTeam
        Threads.
    """

    def __init__(
        self,
        settings: TreeSettings,
        data: TrainingData,
        start: SharedTrees | None,
        team: ThreadTeam,
    ) -> None:
        self._team, self._settings = team, settings
        self._view = view = make_view(settings, data) if start is None else start.view
        n_classes, n_samples = data.n_classes, len(data.y)
        check_memory(
            view.n_rows(n_samples) * view.n_directions + 54 * n_classes * n_samples,
            f"{view.n_directions:,} directions and the scores of {n_samples:,} samples and "
            f"{n_classes:,} classes",
            "use fewer samples or a smaller n_projections",
        )
        self._bins, self._edges = self._binned(data.X, settings.max_bins)
        self._objective = make_objective(settings.loss, data.y, n_classes, data.sample_weight)
        self._rules = Rules(
            max_leaves=settings.max_leaves,
            max_depth=settings.max_depth or 2**31,
            ridge=settings.ridge,
            min_hessian=_MIN_HESSIAN,
            min_points=settings.min_points,
            n_bins=settings.max_bins,
        )
        self._n_drawn = [settings.n_drawn(size) for size in np.diff(view.starts)]
        self.note = (
            f"trees of at most {settings.max_leaves} leaves, {max(self._n_drawn)} splits out of "
            f"{view.n_directions:,} directions tried at a node"
        )
        self._most_points = settings.max_points or max(8 * n_samples, 20_000)
        state = {} if start is None else start.state
        self._low = float(state.get("low", 0.0))
        families = np.zeros((3, len(view.weights)))
        self._due, self._earned, self._tries = state.get("families", families).copy()
        self._shares = self._find_shares()
        size = n_classes * n_samples + 1
        kinds = np.int32, np.uint16, np.int64
        self._points = tuple(np.empty(size, kind) for kind in kinds)
        self._spare = tuple(np.empty(size, kind) for kind in kinds)
        self._trees: list[Tree] = [] if start is None else list(start.forest)
        self._weights = np.empty(0) if start is None else start.weights
        self._baseline = self._objective.baseline if start is None else start.baseline
        self._scores = self._first_scores(n_samples)
        self._val_scores = self._first_scores(data.n_validation)
        everything = view.along(np.arange(view.n_directions))
        self._val_values = None
        self._val_objective = None
        if data.y_val is not None:
            self._val_values = view.values(data.X_val, everything, team)
            weight = np.ones(len(data.y_val)) if data.val_weight is None else data.val_weight
            self._val_objective = make_objective(settings.loss, data.y_val, n_classes, weight)
        if self._trees:
            values = view.values(data.X, everything, team)
            for tree, weight in zip(self._trees, self._weights, strict=True):
                self._add(self._scores, tree, weight, values, tree.thresholds)
                self._add_to_validation(tree, weight)
        self._derivatives = self._objective.derivatives(self._scores)

    def ensemble(self, n_rounds: int) -> SharedTrees:
        """Return the ensemble as it was after `n_rounds` rounds."""
        families = np.array([self._due, self._earned, self._tries])
        state = {"low": np.array(self._low), "families": families}
        return SharedTrees(
            self._view,
            Forest(self._trees[:n_rounds]),
            self._weights[:n_rounds],
            self._baseline,
            state if n_rounds == len(self._trees) else {},
        )

    def _first_scores(self, n_samples: int) -> NDArray[np.float32]:
        return np.repeat(self._baseline.astype(np.float32)[:, None], n_samples, axis=1)

    def _binned(self, X: Any, n_bins: int) -> tuple[NDArray[np.uint8], NDArray]:
        """Bin the data along all directions, some of them at a time; return bins and edges."""
        n_rows = self._view.n_rows(X.shape[0])
        bins = np.empty((self._view.n_directions, n_rows), dtype=np.uint8)
        edges = np.empty((len(bins), n_bins - 1))
        together = max(1, _BLOCK_BYTES // (8 * n_rows))
        for first in range(0, len(bins), together):
            last = min(first + together, len(bins))
            along = self._view.along(np.arange(first, last))
            values = self._view.values(X, along, self._team)
            found, coded = edges[first:last], bins[first:last]

            def work(
                begin: int,
                end: int,
                values: NDArray = values,
                found: NDArray = found,
                coded: NDArray = coded,
            ) -> None:
                for v in range(begin, end):
                    found[v] = find_edges(values[v], n_bins)
                    bin_values(values[v], found[v], coded[v])

            self._team.run(work, last - first)
        return bins, edges

    def _add(
        self, scores: NDArray, tree: Tree, weight: float, values: NDArray, limits: NDArray
    ) -> None:
        """Add a weighted tree to scores."""
        predictor = TreePredictor(tree, np.array([weight]), limits, self._view.codes)
        predictor.add(values, self._view.by_row(scores), self._team)

    def _add_to_validation(self, tree: Tree, weight: float) -> None:
        if self._val_values is not None:
            self._add(self._val_scores, tree, weight, self._val_values, tree.thresholds)

    def _select(
        self, taken: NDArray, unit: NDArray, total: float, high: float, key: int
    ) -> tuple[tuple[NDArray, ...], float]:
        """Return the points to grow a tree on, and the share of the gradients left out."""
        gradients, hessians = self._derivatives.gradients, self._derivatives.hessians
        low = np.float32(self._low)
        while (share := mass_below(gradients, taken, low) / total) > self._settings.negligible:
            self._low *= 0.8
            low = np.float32(self._low)
        n = select_points(
            gradients, hessians, taken, low, high, np.uint64(key), self._view.by_class, unit,
            *self._points,
        )  # fmt: skip
        if share < 0.7 * self._settings.negligible:  # leave out more next time
            self._low = max(
                1.5 * self._low, 0.1 * self._settings.negligible * total / gradients.size
            )
        return tuple(part[:n] for part in self._points), share

    def step(self) -> dict[str, float] | str:
        """Run one round; return its loss and gain, or why there is no further round."""
        crowded = self._scores.size > self._most_points
        unit, mass = find_units(*self._derivatives[1:], 2.0 if crowded else 1.0)
        if mass < _SETTLED * self._scores.shape[1]:
            return "all samples are fitted"
        number = len(self._trees)
        key = int(
            scrambled(np.uint64((self._settings.seed + 0x9E3779B97F4A7C15 * (number + 1)) % 2**64))
        )
        taken = np.ones(self._scores.shape[1], dtype=np.bool_)
        if self._settings.subsample < 1.0:
            shares = np.random.Generator(np.random.Philox(key)).random(len(taken))
            taken = shares < max(
                self._settings.subsample, np.nextafter(shares.min(), 1)
            )  # at least one
        high = mass / self._most_points if crowded else 0.0
        points, left_out = self._select(taken, unit, mass, high, key)
        self._due += self._shares
        family = int(self._due.argmax())
        self._due[family] -= 1
        directions = self._view.starts[family : family + 2]
        grown = grow_tree(
            self._bins, self._view.codes, points, self._spare, unit, self._rules, directions,
            self._n_drawn[family], key, self._team,
        )  # fmt: skip
        if len(grown.splits) == 1:
            return "no tree separates any two points"
        gain = float(grown.gains[grown.splits[:, 0] >= 0].sum())
        self._credit(family, gain / mass)
        tree, weight, cuts = self._as_tree(grown)
        self._add(self._scores, tree, weight, self._bins, cuts)
        self._add_to_validation(tree, weight)
        self._trees.append(tree)
        self._weights = np.append(self._weights, weight)
        self._derivatives = self._objective.derivatives(self._scores)
        return {
            "loss": self._derivatives.loss,
            "gain": gain,
            "left_out": left_out,
        }

    def _credit(self, family: int, gain: float) -> None:
        """Note what a tree of a family gained."""
        self._earned[family] = _MEMORY * self._earned[family] + gain
        self._tries[family] = _MEMORY * self._tries[family] + 1
        self._shares = self._find_shares()

    def _find_shares(self) -> NDArray:
        """Return the shares of the families, once all were tried by what their trees gained."""
        wanted = self._view.weights
        if self._tries.min() > 0:
            earned = self._earned / self._tries
            wanted = wanted * (_FLOOR + (1 - _FLOOR) * earned / earned.mean())
        return wanted / wanted.sum()

    def _as_tree(self, grown: Any) -> tuple[Tree, float, NDArray]:
        """Return a grown tree with outputs in [-1, 1], its weight, and its cuts as bins."""
        columns, codes, cuts, left, _ = grown.splits.T
        leaf = columns < 0
        thresholds = np.where(leaf, 0.0, self._edges[columns, cuts])
        largest = float(np.abs(grown.values[leaf]).max())
        outputs = np.where(leaf, grown.values / (largest or 1.0), 0.0).astype(np.float32)
        gains = np.where(leaf, 0.0, grown.gains).astype(np.float32)
        tree = Tree(columns.copy(), codes.copy(), thresholds, left.copy(), outputs, gains)
        return tree, float(self._settings.learning_rate) * largest, cuts.astype(np.int64)

    def validation_scores(self) -> NDArray:
        """Return the scores of the validation part after the last round."""
        return self._val_scores

    def validation_loss(self) -> float | None:
        """Return the loss of the validation part after the last round."""
        return None if self._val_objective is None else self._val_objective.loss(self._val_scores)
