"""Random choices of samples by their keys: the same ones wherever the samples are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..runtime.compiling import kernel
from ..runtime.random_stream import scrambled
from .labels import can_stratify

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_SURE = 6.0  # standard deviations by which more samples than wanted are looked at


@kernel
def _draw(keys: NDArray, seed: np.uint64, draws: NDArray) -> None:
    for i in range(len(keys)):
        draws[i] = scrambled(keys[i] + seed)


def draw(keys: NDArray[np.uint64], seed: int) -> NDArray[np.uint64]:
    """Return a random number of every sample.

    Parameters
    ----------
    keys : ndarray of uint64
        Keys of the samples.
    seed : int
        Seed.

    Returns
    -------
    ndarray of uint64
        Evenly distributed numbers.
    """
    draws = np.empty(len(keys), dtype=np.uint64)
    _draw(keys, np.uint64(seed % 2**64), draws)
    return draws


Below = Callable[[NDArray[np.uint64]], tuple[NDArray[np.uint64], NDArray[np.int64]]]


def find_limits(
    below: Below, wanted: NDArray[np.int64], counts: NDArray[np.int64]
) -> NDArray[np.uint64]:
    """Return, for every class, the number up to which draws take as many samples as wanted.

    Parameters
    ----------
    below : callable
        Returns the draws and the classes of all samples whose draw is at most the limit of their
        class.
    wanted : ndarray of int64 of shape (n_classes,)
        How many samples of every class to take: those with the smallest draws.
    counts : ndarray of int64 of shape (n_classes,)
        How many there are.

    Returns
    -------
    ndarray of uint64 of shape (n_classes,)
        The limits; 0 for none.
    """
    every = wanted >= counts
    limits = np.where(every & (counts > 0), _ALL, np.uint64(0))
    open_, more = (wanted > 0) & ~every, 1.0
    while open_.any():
        share = more * (wanted + _SURE * np.sqrt(wanted) + 10) / np.maximum(counts, 1)
        first = np.where(share < 1.0, np.minimum(share, 1.0) * 2.0**63, 2.0**63)
        first = np.minimum(first.astype(np.uint64) << np.uint64(1), _ALL)
        first[share >= 1.0] = _ALL
        draws, labels = below(np.where(open_, first, np.uint64(0)))
        order = np.lexsort((draws, labels))
        starts = np.searchsorted(labels[order], np.arange(len(wanted) + 1))
        enough = open_ & (np.diff(starts) >= wanted)
        limits[enough] = draws[order][starts[:-1][enough] + wanted[enough] - 1]
        open_ &= ~enough
        more *= 2.0
    return limits


def choose_by_class(
    draws: NDArray[np.uint64], labels: NDArray[np.int64], wanted: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Choose so many samples of every class at random.

    Parameters
    ----------
    draws : ndarray of uint64
        Draws of the samples.
    labels : ndarray of int64
        Their class numbers.
    wanted : ndarray of int64 of shape (n_classes,)
        How many of every class.

    Returns
    -------
    ndarray of bool
        Whether a sample is chosen.
    """

    def below(limits: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        found = np.flatnonzero(at_most(draws, labels, limits))
        return draws[found], labels[found]

    counts = np.bincount(labels, minlength=len(wanted))
    return at_most(draws, labels, find_limits(below, wanted, counts))


def at_most(
    draws: NDArray[np.uint64], labels: NDArray[np.int64], limits: NDArray[np.uint64]
) -> NDArray[np.bool_]:
    """Return whether the draw of a sample is at most the limit of its class, if it has one."""
    own = limits[labels]
    return (draws <= own) & (own > 0)


def held_out_counts(counts: NDArray[np.int64], n_held: int) -> NDArray[np.int64] | None:
    """Return how many samples of every class to hold out.

    Parameters
    ----------
    counts : ndarray of int64 of shape (n_classes,)
        Numbers of samples.
    n_held : int
        How many to hold out in all.

    Returns
    -------
    ndarray of int64 of shape (n_classes,) or None
        In proportion to the classes; None where they have too few samples for that.
    """
    if not can_stratify(counts, n_held):
        return None
    shares = n_held * counts / counts.sum()
    held = np.floor(shares).astype(np.int64)
    order = np.argsort(held - shares, kind="stable")
    held[order[: n_held - held.sum()]] += 1
    return np.minimum(held, counts - 1)


def hold_out(
    keys: NDArray[np.uint64], labels: NDArray[np.int64], n_held: int, seed: int
) -> NDArray[np.bool_]:
    """Choose samples to hold out, stratified where every class has two samples.

    Parameters
    ----------
    keys : ndarray of uint64
        Keys of the samples.
    labels : ndarray of int64
        Their class numbers.
    n_held : int
        How many to hold out.
    seed : int
        Seed.

    Returns
    -------
    ndarray of bool
        Whether a sample is held out.
    """
    wanted = held_out_counts(np.bincount(labels), n_held)
    if wanted is None:
        labels, wanted = np.zeros_like(labels), np.array([n_held])
    return choose_by_class(draw(keys, seed), labels, wanted)
