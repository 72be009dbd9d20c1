"""The training samples of boosted trees, on the workers of a cluster."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..ensembles.sparse_trees import SparseTrees
from ..preprocessing.row_choice import find_limits, held_out_counts
from ..projections.directions import (
    Directions,
    discriminant_counts,
    find_discriminants,
    project,
)
from ..runtime.exact_sums import finest_unit
from ..runtime.parallel import ThreadTeam
from ..training.scored_samples import ScoredSamples
from ..training.shared_rows import SharedRows
from ..training.start_trial import Trial
from ..training.starts import Part, StartLearner
from ..trees.binning import find_edges, sample_step
from ..trees.sparse_scores import Prior
from .group import Call, Following, Group

_TOGETHER = 64  # directions whose edges are found together


class MemberCalls(Following):
    """Calls of the shards' methods for a member.

    Parameters
    ----------
    group : Group
        The shards.
    number : int
        Number of the member.
    """

    def __init__(self, group: Group, number: int) -> None:
        super().__init__(group)
        self._number = number
        self._trees: list[tuple[Any, Any]] = []
        self._grown: Any = None
        self._round: list[tuple[str, tuple[Any, ...]]] = []

    def again(self) -> list[tuple[str, tuple[Any, ...]]]:
        """Return all trees so far, and the calls of this round."""
        calls = [("replay", (self._trees,)), *self._round]
        return [("call", (self._number, method, *arguments)) for method, arguments in calls]

    def ask(self, method: str, *arguments: Any) -> list[Any]:
        """Call a method of the member's samples in all shards; see `SharedRows`."""
        if method == "search":
            call = Call("search", (self._number, *arguments), together=True)
            return self._group.ask_all(call, self)
        if method == "begin_round":
            if arguments[1] is not None:
                self._trees.append((self._grown, arguments[1]))
            self._round = []
        found = self._group.ask_all(Call("call", (self._number, method, *arguments)), self)
        if method in ("make_leaves", "sum_leaves"):
            self._grown = arguments[0]
        self._round.append((method, arguments))
        return found


class PlacedRows:
    """Training samples on the workers of a cluster; it is used like `training_rows.LocalRows`.

    Parameters
    ----------
    group : Group
        The shards that have them.
    n_features : int
        Number of features.
    team : ThreadTeam
        Threads of the client.
    """

    def __init__(self, group: Group, n_features: int, team: ThreadTeam) -> None:
        self._group, self._n_features, self._team = group, n_features, team
        self._held: tuple[NDArray, NDArray[np.int64], NDArray] | None = None

    def class_counts(self, member: int | None = None) -> NDArray[np.int64]:
        """Return the number of samples of every class, of all samples or those of a member."""
        return np.sum(self._group.ask("class_counts", member), axis=0)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of samples and features."""
        return int(self.class_counts().sum()), self._n_features

    def need_memory(self, needed: float, what: str) -> None:
        """Do nothing: the memory is that of the workers."""

    def totals(self, member: int | None = None) -> NDArray:
        """Return the total weight of every class; see `exact_sums.class_totals`."""
        n = int(self.class_counts(member).sum())
        unit = finest_unit(max(self._group.ask("peak", member)), n)
        return np.sum(self._group.ask("class_totals", member, unit), axis=0) * unit

    def class_shares(self) -> NDArray:
        """Return the total weight of every class, for weights of mean 1."""
        totals = self.totals()
        return totals * (self.shape[0] / totals.sum())

    def _limits(
        self, member: int | None, seed: int, stratified: bool, wanted: NDArray[np.int64]
    ) -> NDArray[np.uint64]:
        """Return the limits of draws that choose as many samples as wanted."""

        def below(limits: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
            found = self._group.ask("below", member, seed, stratified, limits)
            draws, labels = (np.concatenate(each) for each in zip(*found, strict=True))
            return draws, labels

        counts = self.class_counts(member)
        return find_limits(below, wanted, counts if stratified else counts.sum(keepdims=True))

    def hold_out(self, n_held: int, seed: int, *, remove: bool) -> tuple[Any, Any, Any] | None:
        """Hold out samples, as `row_choice.hold_out` does.

        Parameters
        ----------
        n_held : int
            How many.
        seed : int
            Seed.
        remove : bool
            Whether they are removed, or held out from the first member only.

        Returns
        -------
        tuple of ndarray or None
            Features, class numbers and weights of the samples; None, and none is held out from the
            first member, where that would leave it less than two classes.
        """
        wanted = held_out_counts(_without_last_zeros(self.class_counts()), n_held)
        stratified = wanted is not None
        wanted = np.array([n_held]) if wanted is None else wanted
        if stratified:
            wanted = np.pad(wanted, (0, len(self.class_counts()) - len(wanted)))
        limits = self._limits(None, seed, stratified, wanted)
        found = self._group.ask("sample", None, seed, stratified, limits)
        X, y, weight = (np.concatenate(each) for each in zip(*found, strict=True))
        counts = self.class_counts()
        if not remove and (counts > np.bincount(y, minlength=len(counts))).sum() < 2:
            return None
        self._group.tell("hold_out", seed, stratified, limits, remove)
        if not remove:
            self._held = X, y, weight
        return X, y, weight

    def held_labels(self) -> tuple[NDArray[np.int64], NDArray] | None:
        """Return class numbers and weights of the samples that are held out."""
        return None if self._held is None else self._held[1:]

    def discriminants(self, member: int, seed: int, count: int) -> Any:
        """Return discriminants from the samples of a member; see `LocalRows`."""
        if not count:
            return sp.csr_array((0, self._n_features))
        wanted = discriminant_counts(self.class_counts(member))
        limits = self._limits(member, seed, True, wanted)
        found = self._group.ask("sample", member, seed, True, limits)
        X, y, weight = (np.concatenate(each) for each in zip(*found, strict=True))
        return find_discriminants(X, y, weight, seed, count, self.totals(member))

    def start(self, learner: StartLearner, seed: int, known: Part | None) -> tuple[Part, Trial]:
        """Find scores that members start from; see `LocalRows`."""
        counts = self.class_counts()
        n = int(counts.sum())
        wanted = np.array([learner.n_samples(n)])
        limits = self._limits(None, seed, False, wanted)
        draws = np.concatenate(
            [each for each, _ in self._group.ask("below", None, seed, False, limits)]
        )
        found = self._group.ask("sample", None, seed, False, limits)
        order = np.argsort(draws, kind="stable")
        X, y, weight = (np.concatenate(each)[order] for each in zip(*found, strict=True))
        learned, own, trial = learner.learn(X, y, weight, len(counts), n, self._team)
        scores = learned if known is None else known
        same = scores.equals(learned)
        self._group.tell("start", scores, seed, draws[order] if same else draws[:0], own)
        return scores, trial

    def take_turns(self, n_starts: int, n_turns: int) -> None:
        """Have the members take turns among the first of the starts; see `LocalRows`."""
        self._group.tell("take_turns", n_starts, n_turns)

    def bin(self, directions: Directions, max_bins: int) -> NDArray:
        """Find the bins of all samples; return the edges."""
        sizes = [counts.sum() for counts in self._group.ask("class_counts", None)]
        offsets = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(int).tolist()
        steps = [(offset, sample_step(int(sum(sizes)))) for offset in offsets]
        X = np.concatenate(self._group.ask("every", each=steps))
        missing = np.any(self._group.ask("missing"), axis=0)
        edges = np.empty((len(directions), max_bins - 1))
        for first in range(0, len(directions), _TOGETHER):
            rows = directions.rows(np.arange(first, min(first + _TOGETHER, len(directions))))
            alone = np.diff(rows.indptr) == 1  # mixtures have no missing values
            gaps = np.zeros(len(alone), dtype=np.bool_)
            gaps[alone] = missing[rows.indices[rows.indptr[:-1][alone]]]
            values = project(X, rows, self._team)
            edges[first : first + len(gaps)] = find_edges(values, max_bins, gaps)
        self._group.tell("bin", directions, edges)
        return edges

    def member(self, number: int, prior: Prior, n_sketches: int, team: ThreadTeam) -> SharedRows:
        """Return what stands for the samples of a member."""
        n = int(self.class_counts(number).sum())
        mean = self.totals(number).sum() / n
        self._group.tell("add_member", number, mean, prior, n_sketches)
        calls = MemberCalls(self._group, number)
        return SharedRows(calls.ask, n, self._group.n_shards, prior, n_sketches, team)

    def held(self, prior: Prior) -> ScoredSamples | None:
        """Return the samples that are held out from the first member, if any are."""
        if self._held is None:
            return None
        bins, begins = zip(*self._group.ask("held_rows"), strict=True)
        begin = None if begins[0] is None else np.concatenate(begins)
        return ScoredSamples(np.concatenate(bins), *self._held[1:], prior, begin)

    def go_on_from(
        self, start: SparseTrees, members: list[SharedRows], held: ScoredSamples | None
    ) -> None:
        """Add the trees of a model to all scores."""
        self._group.tell("go_on_from", start)
        if held is not None and self._held is not None:
            held.go_on_from(start.member(0), self._held[0], self._team)


def _without_last_zeros(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return counts up to the last class that has samples, as `numpy.bincount` does."""
    return counts[: np.flatnonzero(counts)[-1] + 1]
