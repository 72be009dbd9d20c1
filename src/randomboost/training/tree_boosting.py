"""The rounds of boosted trees: one tree with sparse vector leaves per round, whatever k.

A fit may have several members, whose scores are averaged: a round is then one tree of each. Where
the first member has samples held out from it, these decide when to stop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..ensembles.landmark_average import start_of
from ..ensembles.sparse_trees import SparseTrees
from ..ensembles.start import Start
from ..ensembles.started_trees import StartedTrees, apart, together
from ..runtime.parallel import ThreadTeam
from ..runtime.random_stream import scrambled
from ..trees.lanes import n_lanes
from ..trees.sketching import n_used
from ..trees.sparse_scores import make_prior
from .binned_data import BinnedData
from .loop import Trainer, TrainingData
from .scored_samples import ScoredSamples
from .starts import choose_learner, find_start
from .temperature import find_scale
from .training_rows import LocalRows
from .tree_directions import choose_directions, family_bounds, first_weights
from .tree_member import Member
from .tree_settings import SketchSettings

ALONE = 500  # samples below which threads would cost more than they save
_APART = 20_000  # samples below which members have a thread each, though there may be more
_SHARPER = 1.15  # factor of the scores of a bag beside those of one member
_MOST_SCORES = 1 << 22  # of validation samples that choose the temperature


class SketchTrainer(Trainer):
    """The rounds: sketched gradients, a tree, leaf vectors from the unsketched gradients.

    Parameters
    ----------
    settings : SketchSettings
        The settings.
    data : TrainingData
        The data.
    ensemble : SparseTrees, StartedTrees or None
        Rounds to continue from.
    team : ThreadTeam
        Threads; they do not change a model.
    adapted : callable or None
        Returns the settings for the share of the members that start without landmarks; None to
        keep those that are given.
    before_rounds : callable
        Called before the first tree is grown.
    """

    def __init__(
        self,
        settings: SketchSettings,
        data: TrainingData,
        ensemble: SparseTrees | StartedTrees | None,
        team: ThreadTeam,
        adapted: Callable[[float], SketchSettings] | None = None,
        before_rounds: Callable[[], None] = lambda: None,
    ) -> None:
        if len(data.y) < ALONE:
            team = ThreadTeam(1)
        known, start = (None, None) if ensemble is None else apart(ensemble)
        rows = LocalRows(data, team) if data.rows is None else data.rows
        if start is not None:
            settings = replace(settings, n_members=start.n_members)
        self._team, self._given = team, data
        m, n_classes, n_members = rows.shape[0], data.n_classes, settings.n_members
        seeds = [_member_seed(settings.seed, member) for member in range(n_members)]
        if start is None:
            self._directions = choose_directions(settings, rows, seeds)
        else:
            self._directions = start.directions
        n_directions, n_sketches = len(self._directions), n_used(settings.n_sketches, n_classes)
        each = 8 * n_lanes(n_sketches) + 8 * min(n_classes, 4 * settings.leaf_classes)
        self._apart = has_apart(m, n_members, team.n_threads)
        learner = None
        if start is None or known is not None:
            learner = choose_learner(settings, known, self._apart, before_rounds)
        compared = 0.0 if learner is None else learner.n_bytes(m, rows.shape[1], n_classes)
        rows.need_memory(
            m * (n_directions + n_members * each) + compared,
            f"{n_directions:,} directions and the scores of {m:,} samples",
        )
        totals = rows.class_shares()
        prior = np.log(np.maximum(totals, 0.5) / totals.sum())
        self._prior = make_prior(prior if start is None else start.prior)
        self._start: Start | None = None
        if learner is not None:
            self._start = find_start(learner, rows, seeds, known)
        if adapted is not None and settings.trial:
            settings = replace(adapted(without_landmarks(self._start)), n_members=n_members)
        self._settings, self.n_rounds = settings, settings.n_rounds
        self.note = (
            f"trees of at most {settings.max_leaves} leaves on {n_directions:,} directions, "
            f"{n_sketches} sketches of {n_classes:,} gradients"
        )
        edges = rows.bin(self._directions, settings.max_bins)
        self._held: ScoredSamples | None = rows.held(self._prior)
        each_team = ThreadTeam(1) if self._apart else team
        self._members = [
            Member(
                replace(settings, seed=seed),
                rows.member(number, self._prior, n_sketches, each_team),
                n_classes,
                edges,
                family_bounds(self._directions, number, n_members),
                first_weights(self._directions, plain=self._is_alone(number)),
                self._held if number == 0 else None,
                each_team,
            )
            for number, seed in enumerate(seeds)
        ]
        self._val = None if data.y_val is None else self._validation_part(data, edges)
        if start is not None:
            for number, member in enumerate(self._members):
                member.go_on_from(start.member(number))
            rows.go_on_from(start, [member.rows for member in self._members], self._held)
            if self._val is not None:
                start.add_to(self._val.scores, data.X_val, self._team)

    def _validation_part(self, data: TrainingData, edges: Any) -> ScoredSamples:
        """Return the samples of `X_val` with what they start from."""
        max_bins = self._settings.max_bins
        bins = BinnedData(data.X_val, self._directions, max_bins, self._team, edges).bins
        begin = None if self._start is None else self._start.scores(data.X_val, self._team).T
        assert data.y_val is not None
        return ScoredSamples(bins, data.y_val, data.val_weight, self._prior, begin)

    def _is_alone(self, number: int) -> bool:
        """Return whether a trial found that a member should start without landmarks."""
        start = self._start
        if start is None or not self._settings.trial:
            return self._settings.trial
        return start_of(number, len(start.fitted), start.n_turns) is None

    def step(self) -> dict[str, float] | str:
        """Run one round; return its loss and gain, or why there is no further round."""
        noted: list[Any] = [None] * len(self._members)

        def work(number: int) -> None:
            noted[number] = self._members[number].step()

        if self._apart:
            self._team.for_each(work, len(noted))
        else:
            for number in range(len(noted)):
                work(number)
        for each in noted:
            if isinstance(each, str):
                return each
        if self._val is not None:
            for member in self._members:
                member.add_last(self._val, 1.0 / len(noted), self._team)
        return {name: float(np.mean([each[name] for each in noted])) for name in ("loss", "gain")}

    def ensemble(self, n_rounds: int) -> SparseTrees | StartedTrees:
        """Return the ensemble as it was after `n_rounds` rounds."""
        members = self._members
        share = np.float32(1.0 / len(members))
        trees = [each.trees[t].scaled(share) for t in range(n_rounds) for each in members]
        whole = all(len(each.trees) == n_rounds for each in members)
        state = np.array([each.state for each in members])
        packed = SparseTrees.pack(
            self._directions,
            trees,
            self._prior.scores,
            state if whole else 0 * state,
            len(members),
        )
        return together(self._start, packed)

    @property
    def _checked(self) -> ScoredSamples | None:
        """The samples whose loss decides about stopping."""
        return self._held if self._val is None else self._val

    def validation_loss(self) -> float | None:
        """Return the loss of the samples that were held out, or of the validation part.

        That of the former is corrected for the temperature, which is chosen by them.
        """
        if self._val is not None:
            return self._val.loss(self._team)
        return None if self._held is None else self._held.tempered_loss(self._team)

    def validation_labels(self) -> NDArray[np.int64]:
        """Return the predicted class numbers of these samples."""
        assert self._checked is not None
        return self._checked.scores.best(self._team)

    def temperature(self, n_rounds: int) -> float:
        """Return the factor of the scores in probabilities, from samples held out or given."""
        if self._val is None:
            if self._held is None:
                return 1.0
            sharper = _SHARPER if len(self._members) > 1 else 1.0
            dense = self._held.scores.dense().T
            return sharper * find_scale(dense, self._held.y, self._held.weight)
        step = -(-len(self._val.y) * len(self._prior.scores) // _MOST_SCORES)
        scores = self.ensemble(n_rounds).scores(self._given.X_val[::step], self._team)
        return find_scale(scores.T, self._val.y[::step], self._val.weight[::step])


def without_landmarks(start: Start | None) -> float:
    """Return the share of the members that start without landmarks.

    Parameters
    ----------
    start : Start or None
        What members start from, if not all start from the frequencies of the classes.

    Returns
    -------
    float
        The share.
    """
    return 1.0 if start is None else 1.0 - len(start.fitted) / start.n_turns


def has_apart(n_samples: int, n_members: int, n_threads: int) -> bool:
    """Return whether members have a thread each.

    Parameters
    ----------
    n_samples : int
        Number of samples.
    n_members : int
        Number of members.
    n_threads : int
        Number of threads.

    Returns
    -------
    bool
        False if all threads work at one member.
    """
    return n_members > 1 and (n_samples < _APART or n_threads <= n_members)


def _member_seed(seed: int, member: int) -> int:
    """Return the seed of a member; that of the first one is the seed of the fit."""
    if member == 0:
        return seed
    return int(scrambled(np.uint64((seed + 0xD1B54A32D192ED03 * member) % 2**64))) >> 1
