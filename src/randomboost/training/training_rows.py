"""The training samples of boosted trees, on this machine."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..ensembles.landmark_average import start_of
from ..ensembles.sparse_trees import SparseTrees
from ..preprocessing.merging import row_hashes, sample_keys
from ..projections.directions import Directions, discriminant_sample, find_discriminants
from ..runtime.exact_sums import class_totals
from ..runtime.memory import check_memory
from ..runtime.parallel import OutsideForks, ThreadTeam
from ..trees.sparse_scores import Prior
from .binned_data import BinnedData
from .loop import TrainingData
from .member_rows import MemberRows
from .out_of_fold import first_samples
from .scored_samples import ScoredSamples
from .start_trial import Trial
from .starts import Part, StartLearner


class LocalRows:
    """Training samples on this machine.

    Parameters
    ----------
    data : TrainingData
        The data. Its first member does not learn from the samples that are held out.
    team : ThreadTeam
        Threads.
    """

    def __init__(self, data: TrainingData, team: ThreadTeam) -> None:
        self._data, self._team = data, team
        self._binned: BinnedData
        self._begins: list[NDArray[np.float32]] = []
        self._n_turns = 1
        keys = data.keys
        self._keys = sample_keys(row_hashes(data.X), data.y) if keys is None else keys

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of samples and features."""
        return self._data.X.shape

    def need_memory(self, needed: float, what: str) -> None:
        """Raise where there is not as much memory.

        Parameters
        ----------
        needed : float
            Bytes needed.
        what : str
            What needs them.
        """
        remedy = "use fewer samples, a smaller n_projections or a smaller leaf_classes"
        check_memory(needed, what, remedy)

    def class_shares(self) -> NDArray:
        """Return the total weight of every class, for weights of mean 1."""
        return self._data.class_shares()

    def _part(self, member: int) -> NDArray[np.int64] | slice:
        """Return the samples that a member learns from."""
        held = self._data.held
        if member or held is None:
            return slice(None)
        return np.setdiff1d(np.arange(len(self._data.y)), held)

    def discriminants(self, member: int, seed: int, count: int) -> Any:
        """Return discriminants from the samples of a member.

        Parameters
        ----------
        member : int
            Number of the member.
        seed : int
            Its seed.
        count : int
            Number of discriminants.

        Returns
        -------
        CSR matrix of shape (count, n_features)
            The directions.
        """
        data, part = self._data, self._part(member)
        if not count:
            return sp.csr_array((0, self.shape[1]))
        y, weight = data.y[part], data.sample_weight[part]
        chosen = discriminant_sample(self._keys[part], y, seed)
        X = data.X[chosen] if isinstance(part, slice) else data.X[part[chosen]]
        totals = class_totals(y, weight, data.n_classes)
        return find_discriminants(X, y[chosen], weight[chosen], seed, count, totals)

    def start(self, learner: StartLearner, seed: int, known: Part | None) -> tuple[Part, Trial]:
        """Find scores that members start from, beside those that were found before.

        Parameters
        ----------
        learner : StartLearner
            Fits the scores.
        seed : int
            Seed.
        known : LandmarkScores, LinearScores or None
            Those of a model whose rounds go on.

        Returns
        -------
        tuple of (LandmarkScores or LinearScores, Trial)
            The scores, and whether trees should go on from them.
        """
        data, team = self._data, self._team
        chosen = first_samples(self._keys, seed, learner.n_samples(len(data.y)))
        samples = data.X[chosen], data.y[chosen], data.sample_weight[chosen]
        with OutsideForks():
            found, own, trial = learner.learn(*samples, data.n_classes, len(data.y), team)
        scores = found if known is None else known
        whole = len(chosen) == len(data.y) and scores.equals(found)
        begin = np.empty((len(data.y), data.n_classes), dtype=np.float32)
        if not whole:
            begin[:] = scores.scores(data.X, team).T
        if scores.equals(found):  # else the model is of other data
            begin[chosen] = own
        self._begins.append(begin)
        return scores, trial

    def take_turns(self, n_starts: int, n_turns: int) -> None:
        """Have the members take turns among the first of the starts that were found.

        Parameters
        ----------
        n_starts : int
            Number of starts to use.
        n_turns : int
            Number of turns, those without any of them included.
        """
        self._begins, self._n_turns = self._begins[:n_starts], n_turns

    def _first(self, member: int, part: NDArray[np.int64] | slice) -> NDArray[np.float32] | None:
        """Return what is added to the prior of a member's samples."""
        number = start_of(member, len(self._begins), self._n_turns)
        return None if number is None else self._begins[number][part]

    def bin(self, directions: Directions, max_bins: int) -> NDArray:
        """Find the bins of all samples.

        Parameters
        ----------
        directions : Directions
            The directions.
        max_bins : int
            Number of bins.

        Returns
        -------
        ndarray of shape (n_directions, max_bins - 1)
            The edges.
        """
        self._binned = BinnedData(self._data.X, directions, max_bins, self._team)
        return self._binned.edges

    def member(self, number: int, prior: Prior, n_sketches: int, team: ThreadTeam) -> MemberRows:
        """Return the samples of a member.

        Parameters
        ----------
        number : int
            Number of the member.
        prior : Prior
            Scores before the first tree.
        n_sketches : int
            Number of sketches.
        team : ThreadTeam
            Threads of the member.

        Returns
        -------
        MemberRows
            The samples.
        """
        data, part = self._data, self._part(number)
        y, weight = data.y[part], data.sample_weight[part]
        mean = class_totals(y, weight, data.n_classes).sum() / len(y)
        return MemberRows(
            self._binned.bins[part],
            y,
            weight / mean,
            self._keys[part],
            prior,
            n_sketches,
            team,
            self._first(number, part),
        )

    def held(self, prior: Prior) -> ScoredSamples | None:
        """Return the samples that are held out from the first member, if any are.

        Parameters
        ----------
        prior : Prior
            Scores before the first tree.

        Returns
        -------
        ScoredSamples or None
            The samples.
        """
        data, held = self._data, self._data.held
        if held is None:
            return None
        weight = data.sample_weight[held]
        return ScoredSamples(
            self._binned.bins[held], data.y[held], weight, prior, self._first(0, held)
        )

    def go_on_from(
        self, start: SparseTrees, members: list[MemberRows], held: ScoredSamples | None
    ) -> None:
        """Add the trees of a model to all scores.

        Parameters
        ----------
        start : SparseTrees
            The model.
        members : list of MemberRows
            The samples of the members.
        held : ScoredSamples or None
            The samples that are held out.
        """
        data = self._data
        for number, rows in enumerate(members):
            start.member(number).add_to(rows.scores, data.X[self._part(number)], self._team)
        if held is not None:
            held.go_on_from(start.member(0), data.X[data.held], self._team)
