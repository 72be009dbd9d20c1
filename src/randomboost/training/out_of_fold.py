"""Scores of samples by models that do not know their labels: the samples, parts, the factor."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..preprocessing.row_choice import draw

N_PARTS = 5  # of the samples, each of which gets its scores from the others
_CAUTION = 150  # samples that speak against the scores, as it were
_STEPS, _SMALL_STEP = 6, 1e-4  # of Newton's method; one so small is the last
_RANGE = -2.0, 4.5  # of the logarithm of the factor


def first_samples(keys: NDArray[np.uint64], seed: int, n: int) -> NDArray[np.int64]:
    """Draw samples.

    Parameters
    ----------
    keys : ndarray of uint64
        Keys of all samples.
    seed : int
        Seed.
    n : int
        Number of samples to draw, at most all.

    Returns
    -------
    ndarray of int64
        Their numbers, in random order.
    """
    draws = draw(keys, seed)
    if n < len(draws):
        chosen = np.argpartition(draws, n - 1)[:n]
        return chosen[np.argsort(draws[chosen], kind="stable")]
    return np.argsort(draws, kind="stable")


def split(n: int, n_parts: int) -> list[slice]:
    """Cut a range into parts, as `numpy.array_split` does.

    Parameters
    ----------
    n, n_parts : int
        Length of the range, and number of parts.

    Returns
    -------
    list of slice
        The parts.
    """
    ends = [part * (n // n_parts) + min(part, n % n_parts) for part in range(n_parts + 1)]
    return [slice(*pair) for pair in pairwise(ends)]


def best_factor(
    scores: NDArray, prior: NDArray, y: NDArray[np.int64], share: NDArray
) -> tuple[float, float]:
    """Return the factor a for which ``softmax(log prior + a scores)`` has the lowest log loss.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classes)
        Scores.
    prior : ndarray of shape (n_classes,)
        Shares of the classes.
    y : ndarray of int64
        Class numbers.
    share : ndarray
        Weights that sum to 1.

    Returns
    -------
    tuple of float
        The factor, by a few steps of Newton's method, and the loss.
    """
    by_class, own = np.ascontiguousarray(scores.T), np.arange(len(y))
    base = np.log(np.maximum(prior, 1e-9))[:, None]
    squares, of_class = by_class**2, by_class[y, own]
    logarithm = 0.5
    for _ in range(_STEPS):
        a = np.exp(logarithm)
        powers = np.exp(_below_top(a * by_class + base))
        powers /= np.add.reduce(powers)
        mean = np.add.reduce(powers * by_class)
        spread = np.add.reduce(powers * squares) - mean**2
        slope = a * float(share @ (mean - of_class))
        curvature = a * a * float(share @ spread) + abs(slope)
        step = min(max(slope / max(curvature, 1e-12), -1.0), 1.0)
        logarithm = float(min(max(logarithm - step, _RANGE[0]), _RANGE[1]))
        if abs(step) < _SMALL_STEP:
            break
    a = float(np.exp(logarithm))
    logits = _below_top(a * by_class + base)
    totals = np.add.reduce(np.exp(logits))
    return a, -float(share @ (logits[y, own] - np.log(totals)))


def _below_top(logits: NDArray) -> NDArray:
    """Return logits, (n_classes, n_samples), less the largest one of every sample."""
    return logits - np.maximum.reduce(logits)


def trusted_factor(
    scores: NDArray, prior: NDArray, y: NDArray[np.int64], share: NDArray, n_samples: int
) -> tuple[float, float]:
    """Return the factor of scores that boosting starts from.

    Parameters
    ----------
    scores : ndarray of shape (n, n_classes)
        Scores that do not know the labels of their samples.
    prior : ndarray of shape (n_classes,)
        Shares of the classes.
    y : ndarray of int64
        Class numbers.
    share : ndarray
        Weights that sum to 1.
    n_samples : int
        Number of all training samples; the fewer, the smaller is the factor.

    Returns
    -------
    tuple of float
        The factor, and the share of the loss of the prior that the scores remove.
    """
    factor, loss = best_factor(scores, prior, y, share)
    present = prior[prior > 0]
    entropy = -float((present * np.log(present)).sum())
    removed = min(max(1.0 - loss / entropy, 0.0), 1.0)
    return factor * n_samples / (n_samples + _CAUTION), removed
