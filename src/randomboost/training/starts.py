"""What boosting starts from: the ways to fit it to samples, behind one protocol."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..ensembles.landmark_average import LandmarkAverage
from ..ensembles.landmark_scores import LandmarkScores
from ..ensembles.linear_scores import LinearScores
from ..ensembles.start import Start
from ..runtime.parallel import ThreadTeam
from .landmark_ridge import learn_start, n_start_samples
from .linear_ridge import learn_linear_start, n_linear_samples
from .start_trial import NO_TRIAL, Trial, try_without
from .tree_settings import SketchSettings

Part = LandmarkScores | LinearScores  # of what boosting starts from
_VECTORS = 20  # as large as a solution, in regressions on two threads


class Learned(NamedTuple):
    """What is learned of samples to start boosting from.

    Parameters
    ----------
    scores : LandmarkScores or LinearScores
        Scores of all other samples.
    own : ndarray of float32 of shape (n, n_classes)
        Scores of these samples that do not know their labels.
    trial : Trial
        Whether trees should go on from them.
    """

    scores: Part
    own: NDArray[np.float32]
    trial: Trial


class StartLearner(Protocol):
    """Fits scores to start boosting from."""

    @property
    def n_starts(self) -> int:
        """Number of times that scores are fitted, to be averaged."""

    def n_samples(self, n_samples: int) -> int:
        """Return how many of all samples are fitted to."""

    def n_bytes(self, n_samples: int, n_features: int, n_classes: int) -> float:
        """Return the memory that `learn` needs, for the numbers of all samples and so on."""

    def learn(
        self,
        X: Any,
        y: NDArray[np.int64],
        weight: NDArray,
        n_classes: int,
        n_samples: int,
        team: ThreadTeam,
    ) -> Learned:
        """Fit scores to samples in random order."""

    def joined(self, parts: Sequence[Any], n_turns: int) -> Start:
        """Return what boosting starts from, for the scores of all times."""


@dataclass(frozen=True)
class LandmarkLearner:
    """Fits scores of landmarks, see `landmark_ridge`.

    Parameters
    ----------
    n_landmarks : int
        Number of landmarks.
    n_starts : int
        Number of times that scores are fitted, each with landmarks of its own.
    settings : SketchSettings
        Settings of the trees that go on from them.
    apart : bool
        Whether members have a thread each.
    before_rounds : callable
        Called before the first tree is grown.
    """

    n_landmarks: int
    n_starts: int
    settings: SketchSettings
    apart: bool
    before_rounds: Callable[[], None]

    def n_samples(self, n_samples: int) -> int:
        """Return how many of all samples are fitted to."""
        return n_start_samples(n_samples, self.n_landmarks)

    def n_bytes(self, n_samples: int, n_features: int, n_classes: int) -> float:
        """Return the memory of the similarities and their weighted copies, and of scores."""
        scores = 4.0 * n_samples * n_classes * (self.n_starts - 1)
        return 16.0 * self.n_samples(n_samples) * self.n_landmarks + scores

    def learn(
        self,
        X: Any,
        y: NDArray[np.int64],
        weight: NDArray,
        n_classes: int,
        n_samples: int,
        team: ThreadTeam,
    ) -> Learned:
        """Fit scores to samples in random order."""
        X = X if isinstance(X, np.ndarray) else X.toarray()
        size = n_classes, self.n_landmarks, n_samples
        found = learn_start(X, y, weight, *size, team, thorough=self.n_starts > 1)
        if not self.settings.trial:
            return Learned(*found, NO_TRIAL)
        self.before_rounds()
        trial = try_without(X, y, weight, found[1], self.settings, team, apart=self.apart)
        return Learned(*found, trial)

    def joined(self, parts: Sequence[LandmarkScores], n_turns: int) -> Start:
        """Return the mean of the scores over the members of a fit."""
        return LandmarkAverage(tuple(parts), n_turns)


class LinearLearner:
    """Fits linear scores, see `linear_ridge`."""

    n_starts = 1

    def n_samples(self, n_samples: int) -> int:
        """Return how many of all samples are fitted to."""
        return n_linear_samples(n_samples)

    def n_bytes(self, n_samples: int, n_features: int, n_classes: int) -> float:
        """Return the memory that solutions and gradients of some regressions at once need."""
        return 8.0 * n_classes * (_VECTORS * n_features + 4 * self.n_samples(n_samples))

    def learn(
        self,
        X: Any,
        y: NDArray[np.int64],
        weight: NDArray,
        n_classes: int,
        n_samples: int,
        team: ThreadTeam,
    ) -> Learned:
        """Fit scores to samples in random order."""
        return Learned(*learn_linear_start(X, y, weight, n_classes, n_samples, team), NO_TRIAL)

    def joined(self, parts: Sequence[LinearScores], n_turns: int) -> Start:
        """Return the scores, which are fitted once."""
        return parts[0]


def choose_learner(
    settings: SketchSettings, known: Start | None, apart: bool, before_rounds: Callable[[], None]
) -> StartLearner | None:
    """Return what fits the scores that boosting starts from.

    Parameters
    ----------
    settings : SketchSettings
        The settings.
    known : Start or None
        The scores of a model whose rounds go on; they decide instead of the settings.
    apart : bool
        Whether members have a thread each.
    before_rounds : callable
        Called before the first tree is grown.

    Returns
    -------
    StartLearner or None
        None where boosting starts from the shares of the classes.
    """
    if known is None and settings.n_landmarks:
        size = settings.n_landmarks, settings.n_starts
        return LandmarkLearner(*size, settings, apart, before_rounds)
    if known is not None and known.n_landmarks:
        size = known.n_landmarks, len(known.fitted)
        return LandmarkLearner(*size, replace(settings, trial=False), apart, before_rounds)
    return None if known is None and not settings.linear else LinearLearner()


def find_start(
    learner: StartLearner, rows: Any, seeds: Sequence[int], known: Start | None
) -> Start | None:
    """Return what the members of a fit start from.

    Parameters
    ----------
    learner : StartLearner
        Fits the scores.
    rows : LocalRows
        The samples, or what stands for them.
    seeds : sequence of int
        Seeds of the members.
    known : Start or None
        The scores of a model whose rounds go on.

    Returns
    -------
    Start or None
        The scores; None where trees do better without any.
    """
    known_parts = (None,) * learner.n_starts if known is None else known.fitted
    chosen = zip(seeds, known_parts, strict=False)
    found = [rows.start(learner, seed, part) for seed, part in chosen]
    parts, trials = zip(*found, strict=True)
    if known is None:
        mean = Trial(*np.exp(np.log(trials).mean(axis=0)))
        n_used, n_turns = mean.turns(len(parts), len(seeds))
    else:
        n_used, n_turns = len(parts), known.n_turns
    rows.take_turns(n_used, n_turns)
    return learner.joined(parts[:n_used], n_turns) if n_used else None
