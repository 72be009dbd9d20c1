"""RBoost-proj and MultiBoost: votes that are linear in w, ``F_r(x) = sum_t A_tr(w) h_t(x)``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..projections.matrices import GaussianProjection
from ..projections.points import FeaturePoints
from ..projections.projection_arrays import projection_from_arrays, projection_to_arrays
from ..runtime.checked_arrays import Arrays, Taken, floats, ints, need
from ..runtime.parallel import ThreadTeam
from ..weak_learners.hypotheses import pack
from ..weak_learners.hypothesis_arrays import hypotheses_from_arrays, hypotheses_to_arrays
from .base import Ensemble, ModelShape
from .class_votes import Coding, make_coding
from .feature_tables import feature_tables
from .path import path_from_arrays, path_to_arrays
from .plain_tables import PlainTables
from .votes import largest_vote_margin, vote_importances, vote_scores


class CodedVotes(Ensemble):
    """One weak classifier per round, whose votes follow from the weights w and a coding.

    Parameters
    ----------
    reading : {"code", "violation", "free"}
        How w becomes votes: one code and one weight a round, Algorithm 2 as printed, or a weight
        for every class and round (see `class_votes`).
    projection : GaussianProjection or None
        The class-wise matrices; None for free votes.
    n_classes : int
        Number of classes k.
    hypotheses : sequence
        Weak classifiers.
    coefficients : ndarray
        The vector w that was solved for.
    path : list of ndarray
        w after every round; empty where a file did not have it.
    chosen : ndarray of int64 of shape (n_rounds,)
        The code that every round chose.
    """

    kind = "coded votes"

    def __init__(
        self,
        reading: str,
        projection: GaussianProjection | None,
        n_classes: int,
        hypotheses: Sequence[Any],
        coefficients: NDArray,
        path: list[NDArray],
        chosen: NDArray[np.int64],
    ) -> None:
        self.reading, self.projection, self.n_classes = reading, projection, n_classes
        self.hypotheses, self.coefficients = pack(hypotheses), coefficients
        self.path, self.chosen = path, chosen

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "votes"}

    @property
    def n_rounds(self) -> int:
        """Number of rounds."""
        return len(self.hypotheses)

    @property
    def has_stages(self) -> bool:
        """Whether w after every round is known."""
        return len(self.path) >= self.n_rounds

    @property
    def weights(self) -> NDArray:  # type: ignore[override]
        """The vector w; for free votes the matrix W, shape (n_classes, n_rounds)."""
        return np.ascontiguousarray(self.votes.T) if self.reading == "free" else self.coefficients

    def coding(self, team: ThreadTeam) -> Coding:
        """Return how w becomes votes."""
        return make_coding(self.reading, self.projection, self.n_classes, team, self.chosen)

    @cached_property
    def votes(self) -> NDArray:
        """The effective weights A, shape (n_rounds, n_classes)."""
        with ThreadTeam(1) as team:
            return self.coding(team).effective(self.coefficients, self.n_rounds)

    def scores(self, X: Any, team: ThreadTeam) -> NDArray:
        """Return the scores, shape (n_classes, n_samples)."""
        return vote_scores(X, self.hypotheses, self.votes, team)

    def staged_scores(self, X: Any, team: ThreadTeam) -> Iterator[NDArray]:
        """Yield the scores after every round."""
        points = FeaturePoints(X)
        outputs = np.stack([h.outputs(points) for h in self.hypotheses]).astype(np.float64)
        with ThreadTeam(1) as alone:
            coding = self.coding(alone)
            coding.prepare(self.n_rounds)
            for t, coefficients in enumerate(self.path, start=1):
                yield coding.effective(coefficients, t).T @ outputs[:t]

    def largest_margin(self) -> float:
        """Return the largest difference of two scores that outputs in [-1, 1] could give."""
        return largest_vote_margin(self.votes)

    def importances(self, n_features: int) -> NDArray:
        """Return how much the weak classifiers on every feature move the scores apart."""
        return vote_importances(self.hypotheses, self.votes, n_features)

    def to_arrays(self, *, dense: bool) -> tuple[dict[str, Any], Arrays]:
        """Return the ensemble as JSON and arrays; with `dense` also votes and path."""
        described: dict[str, Any] = {"reading": self.reading}
        arrays = hypotheses_to_arrays(self.hypotheses)
        arrays |= {"weights": self.coefficients, "chosen": ints(self.chosen)}
        if self.projection is not None:
            described["projection"] = projection_to_arrays(self.projection)[0]
            arrays |= {"dense.votes": floats(self.votes)} if dense else {}
        if dense and self.path:
            arrays |= path_to_arrays(self.path)
        return described, arrays

    @classmethod
    def from_arrays(cls, described: dict[str, Any], taken: Taken, shape: ModelShape) -> CodedVotes:
        """Return the ensemble that `to_arrays` was given."""
        reading, k, n_rounds = described.get("reading"), shape.n_classes, shape.n_rounds
        need(reading in ("code", "violation", "free"), "its votes are made in no known way")
        hypotheses = hypotheses_from_arrays(taken, shape.n_features)
        need(len(hypotheses) == n_rounds, "the number of rounds does not fit")
        projection, n_codes, size = None, k, n_rounds * k
        if reading != "free":
            given = described.get("projection")
            gaussian = isinstance(given, dict) and given.get("kind") == "gaussian"
            need(gaussian, "it has no projection")
            projection = projection_from_arrays(given, taken, k, shape.n_features)
            n_codes = projection.n_projections
            size = n_rounds if reading == "code" else n_codes
        chosen = taken.whole("chosen", np.int64, n_rounds)
        need(((chosen >= 0) & (chosen < n_codes)).all(), "a round chose no code")
        coefficients = taken.real("weights", size)
        rounds = range(1, n_rounds + 1)
        sizes = [n_codes if reading == "violation" else t * size // n_rounds for t in rounds]
        path = path_from_arrays(taken, sizes)
        assert isinstance(reading, str)
        return cls(reading, projection, k, hypotheses, coefficients, path, chosen)

    def tables(self, shape: ModelShape) -> PlainTables:
        """Return the weak classifiers and their votes."""
        return feature_tables([[one] for one in self.hypotheses], shape, self.votes)
