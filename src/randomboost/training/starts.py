"""What boosting starts from: the ways to fit it to samples, behind one protocol."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..ensembles.start import Start
from ..runtime.parallel import ThreadTeam
from .landmark_ridge import learn_start, n_start_samples
from .linear_ridge import learn_linear_start, n_linear_samples
from .tree_settings import SketchSettings

_VECTORS = 20  # as large as a solution, in regressions on two threads


class StartLearner(Protocol):
    """Fits scores to start boosting from."""

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
    ) -> tuple[Start, NDArray[np.float32]]:
        """Return scores, and those of the given samples that do not know their labels."""


@dataclass(frozen=True)
class LandmarkLearner:
    """Fits scores of landmarks, see `landmark_ridge`.

    Parameters
    ----------
    n_landmarks : int
        Number of landmarks.
    """

    n_landmarks: int

    def n_samples(self, n_samples: int) -> int:
        """Return how many of all samples are fitted to."""
        return n_start_samples(n_samples, self.n_landmarks)

    def n_bytes(self, n_samples: int, n_features: int, n_classes: int) -> float:
        """Return the memory that the similarities and their weighted copies need."""
        return 16.0 * self.n_samples(n_samples) * self.n_landmarks

    def learn(
        self,
        X: Any,
        y: NDArray[np.int64],
        weight: NDArray,
        n_classes: int,
        n_samples: int,
        team: ThreadTeam,
    ) -> tuple[Start, NDArray[np.float32]]:
        """Return scores, and those of the given samples that do not know their labels."""
        X = X if isinstance(X, np.ndarray) else X.toarray()
        return learn_start(X, y, weight, n_classes, self.n_landmarks, n_samples, team)


class LinearLearner:
    """Fits linear scores, see `linear_ridge`."""

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
    ) -> tuple[Start, NDArray[np.float32]]:
        """Return scores, and those of the given samples that do not know their labels."""
        return learn_linear_start(X, y, weight, n_classes, n_samples, team)


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
    n_landmarks = settings.n_landmarks if known is None else known.n_landmarks
    if n_landmarks:
        return LandmarkLearner(n_landmarks)
    return None if known is None and not settings.linear else LinearLearner()
