"""The mean of what the members of a bag start from: scores of landmarks, or nothing.

Members take turns among the starts, each with landmarks of its own, and among the last turns may be
some that start from the frequencies of the classes alone: what trees learn without landmarks fails
elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..projections.landmarks import Landmarks
from ..runtime.checked_arrays import Arrays, Taken, floats, need
from ..runtime.parallel import ThreadTeam
from .base import ModelShape
from .landmark_scores import LandmarkScores
from .plain_tables import LandmarkTable, PlainTables
from .start import Start


def start_of(member: int, n_starts: int, n_turns: int) -> int | None:
    """Return the number of the start of a member.

    Parameters
    ----------
    member : int
        Number of the member.
    n_starts : int
        Number of starts with landmarks.
    n_turns : int
        Number of turns, one for every start and those without landmarks.

    Returns
    -------
    int or None
        The number; None if it starts from the frequencies of the classes.
    """
    turn = member % n_turns
    return turn if turn < n_starts else None


@dataclass(frozen=True)
class LandmarkAverage(Start):
    """Mean of the starts of the members of a bag.

    Parameters
    ----------
    parts : tuple of LandmarkScores
        The starts with landmarks, as many in each.
    n_turns : int
        Number of turns that members take: one for every start, and those without landmarks. A power
        of two, so that a part of a float32 is a float32.
    """

    name = "landmarks"
    parts: tuple[LandmarkScores, ...]
    n_turns: int

    def __len__(self) -> int:
        return len(self.parts)

    def _mean(self, found: Iterable[Any]) -> Any:
        """Return the mean over all turns of what the parts have."""
        return sum(found) / self.n_turns

    @property
    def fitted(self) -> tuple[LandmarkScores, ...]:
        """The scores that were fitted one by one."""
        return self.parts

    @property
    def n_landmarks(self) -> int:
        """Number of landmarks of each part."""
        return len(self.parts[0].landmarks)

    @property
    def share(self) -> float:  # type: ignore[override]
        """Part of the loss of the prior that the starts remove, in the mean."""
        return self._mean(part.share for part in self.parts)

    def taken(self, X: Any) -> NDArray:
        """Return sparse input as an array: similarities need all features."""
        return X if isinstance(X, np.ndarray) else X.toarray()

    def scores(self, X: Any, team: ThreadTeam) -> NDArray[np.float32]:
        """Return the scores of prepared features, shape (n_classes, n_samples)."""
        return self._mean(part.sums(X, team) for part in self.parts).astype(np.float32)

    def contributions(self, X: Any, classes: NDArray[np.int64]) -> tuple[NDArray, NDArray]:
        """Return what features contribute to scores, as `LandmarkScores.contributions` does."""
        found = [part.contributions(X, classes) for part in self.parts]
        contributions, bases = map(self._mean, zip(*found, strict=True))
        return contributions, bases

    def importances(self) -> NDArray:
        """Return how much the scores of the starts vary with every feature, in the mean."""
        return self._mean(part.importances() for part in self.parts)

    def largest_margin(self) -> float:
        """Return a bound of the difference between any two scores of a row."""
        return self._mean(part.largest_margin() for part in self.parts)

    def with_classes(self, numbers: NDArray[np.int64], n_classes: int) -> LandmarkAverage:
        """Return the scores with further classes; see `LandmarkScores.with_classes`."""
        parts = tuple(part.with_classes(numbers, n_classes) for part in self.parts)
        return LandmarkAverage(parts, self.n_turns)

    def in_tables(self, tables: PlainTables) -> PlainTables:
        """Return the tables of trees with those of the starts, whose sum is the mean."""
        landmarks = tuple(
            LandmarkTable(
                part.landmarks.points,
                part.landmarks.weights,
                part.landmarks.width,
                part.landmarks.squares,
                part.coefficients / np.float32(self.n_turns),
            )
            for part in self.parts
        )
        return replace(tables, landmarks=landmarks)

    def to_arrays(self) -> Arrays:
        """Return the arrays of a file by name."""
        parts = self.parts
        about = [(part.landmarks.width, part.share) for part in parts]
        return {
            "landmarks.points": np.concatenate([part.landmarks.points for part in parts]),
            "landmarks.weights": np.concatenate([part.landmarks.weights for part in parts]),
            "landmarks.coefficients": np.concatenate([part.coefficients for part in parts]),
            "landmarks.about": floats(np.ravel(about)),
            "landmarks.turns": np.array([self.n_turns], dtype=np.uint16),
        }

    @classmethod
    def from_arrays(cls, taken: Taken, shape: ModelShape) -> LandmarkAverage:
        """Return the scores that `to_arrays` was given."""
        n = max(len(taken.real_or_missing("landmarks.about")) // 2, 1)
        about = taken.real("landmarks.about", 2 * n).reshape(n, 2)
        points = taken.single("landmarks.points", None, shape.n_features)
        need(len(points) > 0, "it has no landmarks")
        need(len(points) % n == 0, "its starts do not have as many landmarks each")
        weights = taken.single("landmarks.weights", n * shape.n_features).reshape(n, -1)
        coefficients = taken.single("landmarks.coefficients", len(points), shape.n_classes)
        need(bool((about[:, 0] >= 0).all()), "the similarity to its landmarks does not fall")
        shares = about[:, 1]
        need(bool(((shares >= 0) & (shares <= 1)).all()), "the share of its landmarks is none")
        each = len(points) // n
        parts = []
        for number, (width, share) in enumerate(about.tolist()):
            own = slice(number * each, (number + 1) * each)
            landmarks = Landmarks(points[own], weights[number], width)
            parts.append(LandmarkScores(landmarks, coefficients[own], share))
        n_turns = int(taken.whole("landmarks.turns", np.int64, 1)[0])
        need(n_turns >= n and n_turns & (n_turns - 1) == 0, "the turns of its members do not fit")
        return cls(tuple(parts), n_turns)
