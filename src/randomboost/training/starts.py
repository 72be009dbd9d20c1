"""What boosting starts from: the ways to fit it to samples, behind one protocol."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..ensembles.landmark_average import LandmarkAverage
from ..ensembles.landmark_scores import LandmarkScores
from ..ensembles.linear_scores import LinearScores
from ..ensembles.start import Start
from ..runtime.parallel import ThreadTeam
from .landmark_ridge import learn_start, n_start_samples
from .linear_ridge import learn_linear_start, n_linear_samples
from .tree_settings import SketchSettings

Part = LandmarkScores | LinearScores  # of what boosting starts from
_VECTORS = 20  # as large as a solution, in regressions on two threads


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
    ) -> tuple[Part, NDArray[np.float32]]:
        """Return scores, and those of the given samples that do not know their labels."""

    def joined(self, parts: Sequence[Any]) -> Start:
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
    """

    n_landmarks: int
    n_starts: int = 1

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
    ) -> tuple[Part, NDArray[np.float32]]:
        """Return scores, and those of the given samples that do not know their labels."""
        X = X if isinstance(X, np.ndarray) else X.toarray()
        size = n_classes, self.n_landmarks, n_samples
        return learn_start(X, y, weight, *size, team, thorough=self.n_starts > 1)

    def joined(self, parts: Sequence[LandmarkScores]) -> Start:
        """Return the mean of the scores over the members of a fit."""
        return LandmarkAverage(tuple(parts))


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
    ) -> tuple[Part, NDArray[np.float32]]:
        """Return scores, and those of the given samples that do not know their labels."""
        return learn_linear_start(X, y, weight, n_classes, n_samples, team)

    def joined(self, parts: Sequence[LinearScores]) -> Start:
        """Return the scores, which are fitted once."""
        return parts[0]


def choose_learner(settings: SketchSettings, known: Start | None) -> StartLearner | None:
    """Return what fits the scores that boosting starts from.

    Parameters
    ----------
    settings : SketchSettings
        The settings.
    known : Start or None
        The scores of a model whose rounds go on; they decide instead of the settings.

    Returns
    -------
    StartLearner or None
        None where boosting starts from the shares of the classes.
    """
    if known is None and settings.n_landmarks:
        return LandmarkLearner(settings.n_landmarks, settings.n_starts)
    if known is not None and known.n_landmarks:
        return LandmarkLearner(known.n_landmarks, len(known.fitted))
    return None if known is None and not settings.linear else LinearLearner()


def find_start(
    learner: StartLearner, rows: Any, seeds: Sequence[int], known: Start | None
) -> Start:
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
    Start
        The scores.
    """
    known_parts = (None,) * learner.n_starts if known is None else known.fitted
    chosen = zip(seeds, known_parts, strict=False)
    return learner.joined([rows.start(learner, seed, part) for seed, part in chosen])
