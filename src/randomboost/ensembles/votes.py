"""Models of the form ``F_r(x) = sum_t V_tr h_t(x)``: one weak classifier and k votes a round."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..projections.points import FeaturePoints
from ..runtime.compiling import kernel
from ..runtime.parallel import ThreadTeam
from ..weak_learners.hypotheses import FittedEstimator, Stumps, column_importances

_GRAIN = 1_000_000  # votes below which a second thread does not pay


@kernel
def _add_votes(X, columns, thresholds, left, right, scores, start, stop):
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


def staged_vote_scores(X: NDArray, hypotheses: Sequence[Any], votes: NDArray) -> Iterator[NDArray]:
    """Yield the scores after every round, adding one vote at a time.

    Parameters
    ----------
    X, hypotheses, votes
        As for `vote_scores`.

    Yields
    ------
    ndarray of shape (n_classes, n_samples)
        The scores.
    """
    points = FeaturePoints(X)
    scores = np.zeros((votes.shape[1], X.shape[0]))
    for vote, hypothesis in zip(votes, hypotheses, strict=True):
        scores = scores + np.outer(vote, hypothesis.outputs(points))
        yield scores


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
        if isinstance(hypothesis, FittedEstimator):
            columns, part = hypothesis.columns, column_importances(hypothesis)
        elif hypothesis.combination is not None:
            mix = hypothesis.combination
            columns, part = mix.columns, mix.coefficients**2
        else:
            columns, part = np.array([hypothesis.column]), np.ones(1)
        importances[columns] += size * part / part.sum()
    total = importances.sum()
    return importances / total if total > 0 else importances
