"""Models of the form ``F_r(x) = sum_t V_tr h_t(x)``: one weak classifier and k votes per round."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..projections.points import FeaturePoints
from ..runtime.checked_arrays import Arrays, Taken, floats, need
from ..runtime.compiling import kernel
from ..runtime.parallel import ThreadTeam
from ..weak_learners.hypotheses import Stumps, pack
from ..weak_learners.hypothesis_arrays import hypotheses_from_arrays, hypotheses_to_arrays
from .base import Ensemble, ModelShape, as_shares
from .feature_tables import feature_tables
from .plain_tables import PlainTables

_GRAIN = 1_000_000  # votes below which a second thread does not pay


@kernel
def _add_votes(
    X: NDArray, columns: NDArray, thresholds: NDArray, left: NDArray, right: NDArray,
    scores: NDArray, start: int, stop: int,
) -> None:  # fmt: skip
    """Add the votes of all stumps to ``scores[start:stop]``, round by round."""
    for i in range(start, stop):
        row = X[i]
        score = scores[i]
        for t in range(len(columns)):
            vote = right[t] if row[columns[t]] > thresholds[t] else left[t]
            for r in range(len(score)):
                score[r] += vote[r]


def vote_scores(X: NDArray, hypotheses: Sequence[Any], votes: NDArray, team: ThreadTeam) -> NDArray:
    """Return the scores of all classes.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Scaled data.
    hypotheses : sequence
        Weak classifiers.
    votes : ndarray of shape (n_rounds, n_classes)
        Their votes V.
    team : ThreadTeam
        Threads.

    Returns
    -------
    ndarray of shape (n_classes, n_samples)
        The scores.
    """
    if isinstance(hypotheses, Stumps) and not hypotheses.combinations:
        scores = np.zeros((X.shape[0], votes.shape[1]))
        left = votes * hypotheses.left[:, None]
        right = votes * hypotheses.right[:, None]
        stumps = hypotheses.columns, hypotheses.thresholds.astype(X.dtype), left, right

        def add(start: int, stop: int) -> None:
            _add_votes(X, *stumps, scores, start, stop)

        team.run(add, X.shape[0], grain=1 + _GRAIN // votes.size)
        return np.ascontiguousarray(scores.T)
    points = FeaturePoints(X)
    scores = np.zeros((votes.shape[1], X.shape[0]))
    for vote, hypothesis in zip(votes, hypotheses, strict=True):
        scores += np.outer(vote, hypothesis.outputs(points))
    return scores


def largest_vote_margin(votes: NDArray) -> float:
    """Return the largest difference of two scores that outputs in [-1, 1] could give.

    Parameters
    ----------
    votes : ndarray of shape (n_rounds, n_classes)
        The votes V.

    Returns
    -------
    float
        ``max_rs sum_t |V_tr - V_ts|``.
    """
    return max(
        float(np.abs(votes - votes[:, [r]]).sum(axis=0).max()) for r in range(votes.shape[1])
    )


def vote_importances(hypotheses: Sequence[Any], votes: NDArray, n_features: int) -> NDArray:
    """Return how far the weak classifiers on every feature move the scores apart.

    Parameters
    ----------
    hypotheses : sequence
        Weak classifiers.
    votes : ndarray of shape (n_rounds, n_classes)
        Their votes V.
    n_features : int
        Number of features.

    Returns
    -------
    ndarray of shape (n_features,)
        Importances that sum to 1, or all 0 where no weak classifier uses a feature.
    """
    importances = np.zeros(n_features)
    sizes = np.linalg.norm(votes - votes.mean(axis=1, keepdims=True), axis=1)
    for size, hypothesis in zip(sizes, hypotheses, strict=True):
        part = hypothesis.column_shares()
        importances[hypothesis.columns_used()] += size * part / part.sum()
    return as_shares(importances)


class Votes(Ensemble):
    """One weak classifier and a vote for every class per round (AdaBoost, .ECC, shared .MH).

    Parameters
    ----------
    hypotheses : sequence
        Weak classifiers.
    weights : ndarray of shape (n_rounds, ...)
        What the method calls its weights.
    votes : ndarray of shape (n_rounds, n_classes)
        The votes V.
    """

    kind = "votes"

    def __init__(self, hypotheses: Sequence[Any], weights: NDArray, votes: NDArray) -> None:
        self.hypotheses, self.weights, self.votes = pack(hypotheses), weights, votes

    @property
    def n_rounds(self) -> int:
        """Number of rounds."""
        return len(self.hypotheses)

    def scores(self, X: Any, team: ThreadTeam) -> NDArray:
        """Return the scores, shape (n_classes, n_samples)."""
        return vote_scores(X, self.hypotheses, self.votes, team)

    def staged_scores(self, X: Any, team: ThreadTeam) -> Iterator[NDArray]:
        """Yield the scores after every round."""
        points = FeaturePoints(X)
        scores = np.zeros((self.votes.shape[1], X.shape[0]))
        for vote, hypothesis in zip(self.votes, self.hypotheses, strict=True):
            scores = scores + np.outer(vote, hypothesis.outputs(points))
            yield scores

    def largest_margin(self) -> float:
        """Return the largest difference of two scores that outputs in [-1, 1] could give."""
        return largest_vote_margin(self.votes)

    def importances(self, n_features: int) -> NDArray:
        """Return how much the weak classifiers on every feature move the scores apart."""
        return vote_importances(self.hypotheses, self.votes, n_features)

    def to_arrays(self, *, dense: bool) -> tuple[dict[str, Any], Arrays]:
        """Return the ensemble as arrays."""
        arrays = hypotheses_to_arrays(self.hypotheses)
        return {}, arrays | {"weights": self.weights, "votes": floats(self.votes)}

    @classmethod
    def from_arrays(cls, described: dict[str, Any], taken: Taken, shape: ModelShape) -> Votes:
        """Return the ensemble that `to_arrays` was given."""
        hypotheses = hypotheses_from_arrays(taken, shape.n_features)
        need(len(hypotheses) == shape.n_rounds, "the number of rounds does not fit")
        weights = taken.real_matrix("weights")
        need(weights.shape[:1] == (shape.n_rounds,), "its weights do not fit")
        return cls(hypotheses, weights, taken.real("votes", shape.n_rounds, shape.n_classes))

    def tables(self, shape: ModelShape) -> PlainTables:
        """Return the weak classifiers and their votes."""
        return feature_tables([[one] for one in self.hypotheses], shape, self.votes)
