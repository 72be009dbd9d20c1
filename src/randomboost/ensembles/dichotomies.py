"""AdaBoost.MH and .MO: one weak classifier per dichotomy of the classes in every round."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from ..projections.points import FeaturePoints
from ..runtime.checked_arrays import Arrays, Taken, floats, ints, need
from ..runtime.compiling import kernel
from ..runtime.parallel import ThreadTeam
from ..weak_learners.hypotheses import Hypothesis, Stump
from ..weak_learners.hypothesis_arrays import hypotheses_from_arrays, hypotheses_to_arrays
from .base import Ensemble, ModelShape
from .feature_tables import feature_tables
from .plain_tables import PlainTables
from .votes import vote_importances


@kernel
def _stump_outputs(
    features: NDArray, columns: NDArray, thresholds: NDArray, signs: NDArray, out: NDArray,
    start: int, stop: int,
) -> None:  # fmt: skip
    """``out[j, i] = +-1`` for the dichotomies start .. stop."""
    for j in range(start, stop):
        values = features[columns[j]]
        for i in range(len(values)):
            out[j, i] = signs[j] if values[i] > thresholds[j] else -signs[j]


@dataclass(frozen=True)
class StumpRow:
    """One discrete stump for every dichotomy.

    Parameters
    ----------
    columns : ndarray of int32
        Features.
    thresholds : ndarray
        Thresholds.
    signs : ndarray of int8
        Outputs above the threshold.
    """

    columns: NDArray[np.int32]
    thresholds: NDArray
    signs: NDArray[np.int8]

    def outputs(self, points: FeaturePoints) -> NDArray:
        """Return the outputs, shape (n_dichotomies, n_samples)."""
        out = np.empty((len(self.columns), points.n_points), np.int8)
        thresholds = self.thresholds.astype(points.dtype)
        _stump_outputs(
            points.features, self.columns, thresholds, self.signs, out, 0, len(self.columns)
        )
        return out

    def members(self) -> list[Hypothesis]:
        """Return the stumps one by one."""
        return [
            Stump(int(c), float(t), -float(s), float(s))
            for c, t, s in zip(self.columns, self.thresholds, self.signs, strict=True)
        ]


@dataclass(frozen=True)
class HypothesisRow:
    """One weak classifier of any kind for every dichotomy.

    Parameters
    ----------
    hypotheses : list
        The weak classifiers.
    """

    hypotheses: list[Any]

    def outputs(self, points: FeaturePoints) -> NDArray:
        """Return the outputs, shape (n_dichotomies, n_samples)."""
        return np.stack([h.outputs(points) for h in self.hypotheses])

    def members(self) -> list[Hypothesis]:
        """Return the weak classifiers one by one."""
        return self.hypotheses


def decode(sums: NDArray, code: NDArray, decoding: str | None) -> NDArray:
    """Turn sums of votes by dichotomy into scores by class.

    Parameters
    ----------
    sums : ndarray of shape (n_dichotomies, n_samples)
        The sums.
    code : ndarray of shape (n_classes, n_dichotomies)
        Labels -1 and +1 of the classes.
    decoding : {"loss", "hamming"} or None
        By the exponential loss, by the number of signs that agree, or not at all: one dichotomy a
        class.

    Returns
    -------
    ndarray of shape (n_classes, n_samples)
        The scores.
    """
    if decoding is None:
        return sums
    if decoding == "hamming":
        return code @ np.sign(sums) / code.shape[1]
    return np.stack([-logsumexp(-row[:, None] * sums, axis=0) for row in code])


class Dichotomies(Ensemble):
    """Dichotomies of the classes that were boosted side by side.

    Parameters
    ----------
    rows : sequence of StumpRow or HypothesisRow
        The weak classifiers by round.
    weights : ndarray of shape (n_rounds, n_dichotomies)
        The weights alpha.
    code : ndarray of shape (n_classes, n_dichotomies)
        Labels -1 and +1 of the classes.
    decoding : {"loss", "hamming"} or None
        How sums become scores (see `decode`).
    """

    kind = "dichotomies"

    def __init__(
        self, rows: Sequence[Any], weights: NDArray, code: NDArray, decoding: str | None
    ) -> None:
        self.rows, self.weights = list(rows), weights
        self.code, self.decoding = code, decoding

    @property
    def n_rounds(self) -> int:
        """Number of rounds."""
        return len(self.rows)

    def _sums(self, X: Any) -> Iterator[NDArray]:
        points = FeaturePoints(X)
        sums = np.zeros((self.weights.shape[1], X.shape[0]))
        for alphas, row in zip(self.weights, self.rows, strict=True):
            sums = sums + alphas[:, None] * row.outputs(points)
            yield sums

    def scores(self, X: Any, team: ThreadTeam) -> NDArray:
        """Return the scores, shape (n_classes, n_samples)."""
        for sums in self._sums(X):
            final = sums
        return decode(final, self.code, self.decoding)

    def staged_scores(self, X: Any, team: ThreadTeam) -> Iterator[NDArray]:
        """Yield the scores after every round."""
        for sums in self._sums(X):
            yield decode(sums, self.code, self.decoding)

    def largest_margin(self) -> float:
        """Return the largest difference of two scores that outputs in [-1, 1] could give."""
        if self.decoding == "hamming":
            return 2.0
        return 2.0 * float(np.abs(self.weights).sum(axis=0).max())

    def importances(self, n_features: int) -> NDArray:
        """Return the share of the weights on every feature."""
        members = [member for row in self.rows for member in row.members()]
        votes = np.outer(self.weights.ravel(), [-1.0, 1.0])
        return vote_importances(members, votes, n_features)

    def to_arrays(self, *, dense: bool) -> tuple[dict[str, Any], Arrays]:
        """Return the ensemble as JSON and arrays."""
        arrays: Arrays = {"weights": self.weights, "code": floats(self.code)}
        stumps = all(isinstance(row, StumpRow) for row in self.rows)
        if stumps:
            arrays |= {
                "rows.columns": ints(np.stack([row.columns for row in self.rows])),
                "rows.thresholds": floats(np.stack([row.thresholds for row in self.rows])),
                "rows.signs": np.stack([row.signs for row in self.rows]).astype(np.int8),
            }
        else:
            arrays |= hypotheses_to_arrays([one for row in self.rows for one in row.members()])
        return {"decoding": self.decoding, "stumps": stumps}, arrays

    @classmethod
    def from_arrays(cls, described: dict[str, Any], taken: Taken, shape: ModelShape) -> Dichotomies:
        """Return the ensemble that `to_arrays` was given."""
        decoding, n_rounds = described.get("decoding"), shape.n_rounds
        need(decoding in (None, "loss", "hamming"), "its decoding is unknown")
        code = taken.real("code", shape.n_classes, None)
        size = code.shape[1]
        need(decoding is not None or size == shape.n_classes, "its code does not fit")
        weights = taken.real("weights", n_rounds, size)
        if described.get("stumps"):
            columns = taken.whole("rows.columns", np.int32, n_rounds, size)
            thresholds = taken.real("rows.thresholds", n_rounds, size, finite=False)
            signs = taken.whole("rows.signs", np.int8, n_rounds, size)
            fine = ((columns >= 0) & (columns < shape.n_features)).all()
            need(fine, "a stump looks at no column")
            return cls(list(map(StumpRow, columns, thresholds, signs)), weights, code, decoding)
        found = hypotheses_from_arrays(taken, shape.n_features)
        need(len(found) == n_rounds * size, "rows of different lengths")
        rows = [HypothesisRow(found[size * t : size * (t + 1)]) for t in range(n_rounds)]
        return cls(rows, weights, code, decoding)

    def tables(self, shape: ModelShape) -> PlainTables:
        """Return the weak classifiers, their weights, and the code."""
        code = None if self.decoding is None else self.code
        members = [row.members() for row in self.rows]
        return feature_tables(members, shape, self.weights, decoding=self.decoding, code=code)
