"""Models of the form ``F_r(x) = sum_t V_tr h_t(x)``: one weak classifier and k votes a round."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .hypotheses import FittedEstimator, column_importances
from .points import FeaturePoints


def vote_scores(X: NDArray, hypotheses: Sequence[Any], votes: NDArray) -> NDArray:
    """Return the scores of all classes.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Scaled data.
    hypotheses : sequence
        Weak classifiers.
    votes : ndarray of shape (n_rounds, n_classes)
        Their votes V.

    Returns
    -------
    ndarray of shape (n_classes, n_samples)
        The scores.
    """
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
