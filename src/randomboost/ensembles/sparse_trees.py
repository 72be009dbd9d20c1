"""Trees with sparse vector leaves: a fitted ensemble whose cost a row does not grow with k.

A row costs T (depth + classes of a leaf). Rows are worked through in blocks: the values along the
directions in use, the leaf of every tree, then the leaves' classes, added to the prior. Where only
the best class is asked for, rows leave as soon as no further tree can change it (`early_exit`).
Few classes have kernels of their own (`dense_trees`), with the same results.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray

from ..explain.tree_contributions import TreeArrays, explain_trees
from ..projections.directions import Directions
from ..projections.mixing import project
from ..projections.projection_arrays import directions_from_arrays, directions_to_arrays
from ..runtime.checked_arrays import Arrays, Taken, count, floats, ints, need
from ..runtime.parallel import ThreadTeam
from ..trees.leaves import Leaves
from ..trees.sparse_scores import Prior, SparseScores, make_prior
from . import tree_walk
from .base import Ensemble, ModelShape, as_shares
from .dense_trees import MOST_CLASSES, DenseTrees
from .early_exit import find_best, lead_bounds, make_lists
from .plain_tables import PlainTables
from .sparse_tree import SparseTree, packed
from .tree_arrays import tree_tables, trees_from_arrays, trees_to_arrays

_FIELDS = [
    "directions", "starts", "columns", "thresholds", "left", "gains", "leaf_starts",
    "classes", "steps", "units", "covers", "prior", "state", "n_members",
]  # fmt: skip
_ROWS = 256  # rows that go through the trees together
_TREES = 16  # trees whose leaves are found together where all rows go through one tree at a time
_WORTH = 200  # trees times rows from which on threads share the work: one block at least


class SparseTrees(Ensemble):
    """Fitted trees with sparse vector leaves: scores ``prior_r + sum_t leaf_t(x)_r``.

    Parameters
    ----------
    directions : Directions
        What the trees compare with their cuts.
    starts : ndarray of int64 of shape (n_trees + 1,)
        First node of every tree.
    columns, thresholds, left, gains : ndarray of shape (n_nodes,)
        As in `SparseTree`, tree after tree; columns and children as int16 where they fit.
    leaf_starts : ndarray of int32 of shape (n_leaves + 1,)
        First entry of every leaf, in the order of the nodes.
    classes : ndarray of uint16 or uint32 of shape (n_entries,)
        Class of every entry.
    steps : ndarray of int16 of shape (n_entries,)
        Value of every entry in units of its tree.
    units : ndarray of float32 of shape (n_trees,)
        The units.
    covers : ndarray of uint16 of shape (n_leaves,)
        Weight of every leaf's training samples, in a unit of its tree.
    prior : ndarray of float32 of shape (n_classes,)
        Scores before the first tree.
    state : ndarray of shape (n_members, 5, n_families)
        What a trainer needs to continue as if it had not stopped.
    n_members : int
        Number of trees of a round, one of each member of a bag.
    """

    kind = "sparse trees"
    takes_missing = True
    is_sparse = True
    explains = True
    takes_new_classes = True

    def __init__(
        self,
        directions: Directions,
        starts: NDArray[np.int64],
        columns: NDArray,
        thresholds: NDArray,
        left: NDArray,
        gains: NDArray[np.float32],
        leaf_starts: NDArray[np.int32],
        classes: NDArray,
        steps: NDArray[np.int16],
        units: NDArray[np.float32],
        covers: NDArray[np.uint16],
        prior: NDArray[np.float32],
        state: NDArray,
        n_members: int,
    ) -> None:
        self.directions, self.starts, self.n_members = directions, starts, n_members
        self.columns, self.thresholds, self.left, self.gains = columns, thresholds, left, gains
        self.leaf_starts, self.classes, self.steps = leaf_starts, classes, steps
        self.units, self.covers, self.prior, self.state = units, covers, prior, state

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _FIELDS}

    @cached_property
    def _prior(self) -> Prior:
        return make_prior(self.prior)

    @cached_property
    def _used(self) -> NDArray[np.int64]:
        return np.unique(self.columns[self.columns >= 0]).astype(np.int64)

    @cached_property
    def _dense(self) -> DenseTrees | None:
        return DenseTrees(self) if self.n_classes <= MOST_CLASSES else None

    @cached_property
    def _along(self) -> Any:
        return self.directions.rows(self._used) if len(self._used) else None

    @cached_property
    def _places(self) -> NDArray[np.int32]:
        return np.searchsorted(self._used, self.columns).astype(np.int32)

    @cached_property
    def _single(self) -> NDArray[np.float32]:
        return self.thresholds.astype(np.float32)

    @cached_property
    def _children(self) -> NDArray[np.int32]:
        leaf = self.columns < 0
        children = (self.left + np.repeat(self.starts[:-1], np.diff(self.starts))).astype(np.int32)
        children[leaf] = -1 - np.arange(leaf.sum(), dtype=np.int32)
        return children

    @classmethod
    def pack(
        cls,
        directions: Directions,
        trees: Sequence[SparseTree],
        prior: NDArray,
        state: NDArray,
        n_members: int = 1,
    ) -> SparseTrees:
        """Return an ensemble of trees.

        Parameters
        ----------
        directions : Directions
            Their directions.
        trees : sequence of SparseTree
            The trees in the order of the rounds, one at least.
        prior : ndarray of float32 of shape (n_classes,)
            Scores before the first one.
        state : ndarray
            The trainer's state after the last one.
        n_members : int
            Number of trees of a round.

        Returns
        -------
        SparseTrees
            The ensemble.
        """
        fields = packed(trees, len(directions))
        return cls(directions, **fields, prior=prior, state=state, n_members=n_members)

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.units)

    @property
    def n_rounds(self) -> int:
        """Number of rounds."""
        return self.n_trees // self.n_members

    def member(self, number: int) -> SparseTrees:
        """Return the trees of a member by themselves.

        Parameters
        ----------
        number : int
            Number of the member.

        Returns
        -------
        SparseTrees
            Its trees, with the values that it was trained with.
        """
        factor = np.float32(self.n_members)
        own = range(number, self.n_trees, self.n_members)
        trees = [self._tree(t).scaled(factor) for t in own]
        state = self.state[number : number + 1]
        return SparseTrees.pack(self.directions, trees, self.prior, state)

    def add_to(self, scores: SparseScores, X: Any, team: ThreadTeam) -> None:
        """Add all trees to the scores of samples; see `added_to`."""
        for _ in self.added_to(scores, X, team):
            pass

    def added_to(self, scores: SparseScores, X: Any, team: ThreadTeam) -> Iterator[SparseTree]:
        """Add the trees to the scores of samples one by one.

        Parameters
        ----------
        scores : SparseScores
            The scores.
        X : ndarray or CSR matrix
            The samples; their values are compared, since bins of other data have other edges.
        team : ThreadTeam
            Threads.

        Yields
        ------
        SparseTree
            A tree that was added.
        """
        for places, tree in zip(self.leaves_by_tree(X, team), self.trees(), strict=True):
            vectors = tree.leaves
            scores.add(places, vectors.starts, vectors.classes, vectors.values, team)
            yield tree

    def with_classes(self, numbers: NDArray[np.int64], totals: NDArray) -> SparseTrees:
        """Return the trees with further classes, whose prior scores are those of their shares."""
        shares = np.maximum(totals, 0.5) / totals.sum()
        prior = np.log(shares)
        rest = 1.0 - np.delete(shares, numbers).sum()
        prior[numbers] = self.prior + np.log(max(rest, 0.5 / totals.sum()))
        fields = self.__getstate__()
        fields["prior"] = make_prior(prior).scores
        kind = np.uint16 if len(totals) <= 2**16 else np.uint32
        fields["classes"] = numbers[self.classes].astype(kind)
        return SparseTrees(**fields)

    @property
    def weights(self) -> NDArray:  # type: ignore[override]
        """The most that each round adds to or takes from a score."""
        each = [np.abs(tree.leaves.values).max(initial=0.0) for tree in self.trees()]
        return np.reshape(each, (self.n_rounds, self.n_members)).sum(axis=1)

    def trees(self) -> list[SparseTree]:
        """Return the trees one by one."""
        return [self._tree(t) for t in range(self.n_trees)]

    def _tree(self, t: int) -> SparseTree:
        nodes = slice(self.starts[t], self.starts[t + 1])
        columns, left = (part[nodes].astype(np.int32) for part in (self.columns, self.left))
        first, last = self._leaf_ranges[t : t + 2]
        ends = self.leaf_starts[first : last + 1]
        entries = slice(ends[0], ends[-1])
        starts = (ends - ends[0]).astype(np.int64)
        covers = self.covers[first:last]
        leaves = Leaves(starts, self.classes[entries], self.steps[entries], self.units[t], covers)
        return SparseTree(columns, self.thresholds[nodes], left, self.gains[nodes], leaves)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.prior)

    def _to_walk(self, X: Any) -> tuple[NDArray, ...]:
        """Return what rows of a block go through trees by: values, and the nodes."""
        if self._along is None:
            values = np.empty((1, X.shape[0]), dtype=X.dtype)
        else:
            values = project(X, self._along, ThreadTeam(1))
        limits = self._single if values.dtype == np.float32 else self.thresholds
        return values, self._places, limits, self._children, self.starts[:-1]

    def _leaves(self, X: Any) -> NDArray[np.int32]:
        """Return the leaf of every row of a block in every tree, (n_trees, n_rows)."""
        leaves = np.empty((self.n_trees, X.shape[0]), dtype=np.int32)
        tree_walk.find_leaves(*self._to_walk(X), leaves)
        return leaves

    def _blocks(self, X: Any, work: Any, team: ThreadTeam) -> None:
        """Call ``work(begin, X)`` for blocks of rows."""
        n = X.shape[0]

        def block(number: int) -> None:
            begin = number * _ROWS
            work(begin, X[begin : begin + _ROWS])

        if self.n_trees * n < _WORTH * _ROWS:
            team = ThreadTeam(1)
        team.for_each(block, -(-n // _ROWS))

    @property
    def _entries(self) -> tuple[NDArray, ...]:
        return self.leaf_starts, self.classes, self.steps, self.units

    def scores(self, X: Any, team: ThreadTeam) -> NDArray[np.float32]:
        """Return the scores of all classes, shape (n_classes, n_samples), float32."""
        if self._dense is not None:
            return self._dense.scores(X, team)
        out = np.empty((self.n_classes, X.shape[0]), dtype=np.float32)

        def work(begin: int, rows: Any) -> None:
            tree_walk.fill_scores(self._leaves(rows), *self._entries, self.prior, begin, out)

        self._blocks(X, work, team)
        return out

    def staged_scores(self, X: Any, team: ThreadTeam) -> Iterator[NDArray[np.float32]]:
        """Yield the scores of all classes after every round."""
        scores = np.repeat(self.prior[:, None], X.shape[0], axis=1)
        rows = np.arange(X.shape[0])
        leaves = self.leaves_by_tree(X, team)
        for t, (places, tree) in enumerate(zip(leaves, self.trees(), strict=True), start=1):
            starts, classes = tree.leaves.starts, tree.leaves.classes
            sizes = starts[places + 1] - starts[places]
            offsets = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            entries = np.repeat(starts[places], sizes) + offsets
            scores[classes[entries], np.repeat(rows, sizes)] += tree.leaves.values[entries]
            if t % self.n_members == 0:
                yield scores.copy()

    def leaves_by_tree(self, X: Any, team: ThreadTeam) -> Iterator[NDArray[np.int32]]:
        """Yield the leaf of every row in one tree after the other, counted within the tree."""
        trees = self.trees()
        for first in range(0, len(trees), _TREES):
            some = trees[first : first + _TREES]
            part = SparseTrees.pack(self.directions, some, self.prior, self.state)
            places = np.empty((len(some), X.shape[0]), dtype=np.int32)

            def work(begin: int, rows: Any, part: Any = part, places: NDArray = places) -> None:
                places[:, begin : begin + rows.shape[0]] = part._leaves(rows)

            part._blocks(X, work, team)
            yield from places - part._leaf_ranges[:-1, None].astype(np.int32)

    def _blocks_with_room(self, X: Any, make: Any, work: Any, team: ThreadTeam) -> None:
        """Call ``work(begin, X, room)`` for blocks of rows; a thread keeps the room it made."""
        n_rooms = min(team.n_threads, -(-X.shape[0] // _ROWS))
        rooms = [make(self.prior) for _ in range(n_rooms)]

        def block(begin: int, rows: Any) -> None:
            room = rooms.pop()
            work(begin, rows, room)
            rooms.append(room)

        self._blocks(X, block, team)

    def _tempered(self, scale: float) -> tuple[Any, ...]:
        """Return what the kernels need of the prior for ``softmax(scale F)``."""
        return self.prior, self._prior.order, *self._prior.tempered(scale), float(scale)

    def best(self, X: Any, team: ThreadTeam) -> NDArray[np.int64]:
        """Return the class with the largest score."""
        return self.best_from(None, X, team)

    def best_from(self, start: NDArray | None, X: Any, team: ThreadTeam) -> NDArray[np.int64]:
        """Return the class with the largest score after `start` (n_classes, n_samples) is added."""
        if self._dense is not None:
            return self._dense.best(X, start, team)
        if start is not None:
            return (self.scores(X, team) + start).argmax(axis=0)
        labels = np.empty(X.shape[0], dtype=np.int64)
        make = partial(make_lists, n_rows=min(X.shape[0], _ROWS), width=self._most_touched)

        def work(begin: int, rows: Any, room: Any) -> None:
            nodes, prior = self._to_walk(rows), (self.prior, self._prior.order)
            find_best(*nodes, *self._entries, *prior, self._lead_bounds, *room, begin, labels)

        self._blocks_with_room(X, make, work, team)
        return labels

    def top(
        self, X: Any, n: int, scale: float, team: ThreadTeam
    ) -> tuple[NDArray[np.int64], NDArray]:
        """Return the n most probable classes and their probabilities, the most probable first."""
        shape, prior = (X.shape[0], min(n, self.n_classes)), self._tempered(scale)
        labels, tops = np.empty(shape, dtype=np.int64), np.empty(shape, dtype=np.float32)
        normalisers = np.empty(X.shape[0])

        def work(begin: int, rows: Any, room: tree_walk.Room) -> None:
            leaves, found = self._leaves(rows), (labels, tops, normalisers)
            tree_walk.fill_best(leaves, *self._entries, *prior, room, begin, *found)

        self._blocks_with_room(X, tree_walk.make_room, work, team)
        return labels, np.exp(scale * tops.astype(np.float64) - normalisers[:, None])

    def touched_probabilities(
        self, X: Any, scale: float, dtype: DTypeLike, team: ThreadTeam
    ) -> sp.csr_array:
        """Return the probabilities of the classes that a leaf of the row touches.

        Rows go through the trees twice: to count those classes, and to fill in probabilities.
        """
        ends = np.zeros(X.shape[0] + 1, dtype=np.int64)

        def count(begin: int, rows: Any, room: tree_walk.Room) -> None:
            leaves = self._leaves(rows)
            tree_walk.count_touched(leaves, self.leaf_starts, self.classes, room, begin, ends[1:])

        self._blocks_with_room(X, tree_walk.make_room, count, team)
        ends = np.cumsum(ends)
        ends = ends.astype(np.int32 if ends[-1] < 2**31 else np.int64)
        classes = np.empty(ends[-1], dtype=ends.dtype)
        probabilities = np.empty(ends[-1], dtype=dtype)
        prior = self._tempered(scale)

        def fill(begin: int, rows: Any, room: tree_walk.Room) -> None:
            leaves, out = self._leaves(rows), (ends, classes, probabilities)
            tree_walk.fill_probabilities(leaves, *self._entries, *prior, room, begin, *out)

        self._blocks_with_room(X, tree_walk.make_room, fill, team)
        return sp.csr_array((probabilities, classes, ends), shape=(X.shape[0], self.n_classes))

    def contributions(
        self, X: Any, classes: NDArray[np.int64], team: ThreadTeam
    ) -> tuple[NDArray, NDArray]:
        """Return what features contribute to scores, and the scores that are expected without."""
        sizes = np.diff(self.leaf_starts)
        along = self.directions.rows(np.zeros(1, np.int64)) if self._along is None else self._along
        leaf_numbers = np.repeat(np.arange(len(sizes)), sizes)
        trees = TreeArrays(
            self.starts, self._places, self.thresholds, self._children, self.covers, leaf_numbers,
            self.classes, self._values, self.prior, along,
        )  # fmt: skip
        return explain_trees(trees, X, classes, team)

    def importances(self, n_features: int) -> NDArray:
        """Return the share of every feature in what the splits gained."""
        out = np.zeros(n_features)
        if self._along is None:
            return out
        split = self.columns >= 0
        gains = np.bincount(self._places[split], self.gains[split], len(self._used))
        squares = self._along.power(2)
        lengths = np.asarray(squares.sum(axis=1)).ravel()
        out = np.asarray(squares.T @ (gains / lengths)).ravel()
        return as_shares(out)

    def largest_margin(self) -> float:
        """Return a bound of the difference between any two scores of a row."""
        total = float(np.ptp(self.prior))
        for tree in self.trees():
            values = tree.leaves.values
            total += float(values.max(initial=0.0)) - float(values.min(initial=0.0))
        return total

    def to_arrays(self, *, dense: bool) -> tuple[dict[str, Any], Arrays]:
        """Return the ensemble as JSON and arrays; with `dense` also the directions in use."""
        described, arrays = directions_to_arrays(self.directions)
        described["members"] = self.n_members
        arrays |= trees_to_arrays(self)
        if dense and self._along is not None:
            arrays |= {
                "dense.numbers": ints(self._used),
                "dense.sizes": ints(np.diff(self._along.indptr)),
                "dense.features": ints(self._along.indices),
                "dense.coefficients": floats(self._along.data),
            }
        return described, arrays

    @classmethod
    def from_arrays(cls, described: dict[str, Any], taken: Taken, shape: ModelShape) -> SparseTrees:
        """Return the ensemble that `to_arrays` was given."""
        directions = directions_from_arrays(described, taken, shape.n_features)
        n_members = count(described, "members", 2**16)
        need(n_members > 0, "it has no members")
        fields = trees_from_arrays(taken, directions, n_members, shape)
        return cls(directions, **fields, n_members=n_members)

    def tables(self, shape: ModelShape) -> PlainTables:
        """Return the trees with their vector leaves."""
        return tree_tables(self, shape)

    @property
    def _values(self) -> NDArray[np.float32]:
        """The values of all entries of leaves."""
        return self.steps.astype(np.float32) * np.repeat(self.units, np.diff(self._ends))

    @cached_property
    def _lead_bounds(self) -> NDArray[np.float64]:
        return lead_bounds(self._ends, self.classes, self.steps, self.units, self.prior)

    @cached_property
    def _most_touched(self) -> int:
        """The largest number of classes that leaves of a row may touch."""
        return min(self.n_classes, self.n_trees * int(np.diff(self.leaf_starts).max()))

    @property
    def _ends(self) -> NDArray[np.int32]:
        """The first entry of every tree, and the number of entries."""
        return self.leaf_starts[self._leaf_ranges]

    @cached_property
    def _leaf_ranges(self) -> NDArray[np.int64]:
        """The first leaf of every tree, and the number of leaves."""
        return np.concatenate([[0], np.cumsum(self.columns < 0)])[self.starts]
