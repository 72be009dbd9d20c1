"""How RBoost-proj turns weights and weak classifiers into class scores.

Both readings of Algorithm 2 have effective weights A (rounds x classes) that are linear in w,
with ``F_r(x) = sum_t A_tr h_t(x)``, and constraints of the dual that are linear in the moments
``M_tr = sum_i C_ri h_t(x_i)``; so one trainer serves both.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..projections.matrices import GaussianProjection
from ..runtime.parallel import ThreadTeam
from ..solvers.matvec import dots, weighted_sum

_ROUNDS_AT_A_TIME = 64  # rounds whose codes are made together


class Coding(Protocol):
    """What the trainer asks of a coding; `typical` is the typical size of an entry of w."""

    typical: float

    @property
    def rows(self) -> NDArray | None:
        """Return the votes of a weight of 1, a row for each; None where most of them are 0."""
        ...

    def first_weights(self) -> NDArray:
        """Return the weights before the first round."""
        ...

    def codes(self, t: int) -> NDArray:
        """Return the codes of round t, shape (n_classes, n_projections)."""
        ...

    def choose(self, t: int, code: int, weights: NDArray) -> NDArray:
        """Note that round t chose `code`; return the weights to start its solve from."""
        ...

    def prepare(self, n_rounds: int) -> None:
        """Make ready for many calls of `effective` with up to so many rounds."""
        ...

    def effective(self, weights: NDArray, n_rounds: int) -> NDArray:
        """Return the effective weights A, shape (n_rounds, n_classes)."""
        ...

    def constraints(self, moments: NDArray, which: NDArray[np.int64] | None = None) -> NDArray:
        """Return the left-hand sides of all, or of some, constraints of the dual."""
        ...

    def offsets(self, moments: NDArray) -> NDArray:
        """Return what earlier weak classifiers add to every code in (logWeak)."""
        ...


class AllCodes:
    """Algorithm 2 as printed: w in R^n, ``A_tr = sum_v w_v P^(r)_vt``.

    The matrices P^(r) in R^(n x T) are made as the rounds come; row v holds the codes of all
    rounds and classes one after the other.

    Parameters
    ----------
    projection : GaussianProjection
        The class-wise matrices.
    team : ThreadTeam
        Threads.
    """

    def __init__(self, projection: GaussianProjection, team: ThreadTeam) -> None:
        self.typical = float(np.sqrt(projection.n_projections))  # codes have the inverse size
        self._projection = projection
        self._team = team
        self._all = np.arange(projection.n_projections)
        self._rows = np.empty((projection.n_projections, 0), dtype=np.float32)

    @property
    def rows(self) -> NDArray:
        """Return the codes of all rounds and classes that were made, a row for each weight."""
        return self._rows

    def prepare(self, n_rounds: int) -> None:
        """Make the codes of so many rounds."""
        n_classes = self._projection.n_classes
        have = self._rows.shape[1] // n_classes
        if n_rounds <= have:
            return
        stop = max(n_rounds, have + max(_ROUNDS_AT_A_TIME, have // 2))
        made = np.empty((len(self._all), (stop - have) * n_classes), dtype=np.float32)

        def make(first: int, last: int) -> None:
            rows = self._projection.rows(self._all[first:last], (have, stop), np.float32)
            made[first:last] = rows.transpose(1, 2, 0).reshape(last - first, -1)

        self._team.run(make, len(self._all))
        self._rows = np.concatenate([self._rows, made], axis=1)

    def first_weights(self) -> NDArray:
        """Return n zeros."""
        return np.zeros(len(self._all))

    def codes(self, t: int) -> NDArray:
        """Return the codes of round t, shape (n_classes, n_projections)."""
        self.prepare(t + 1)
        k = self._projection.n_classes
        return np.ascontiguousarray(self._rows[:, t * k : (t + 1) * k].T, dtype=np.float64)

    def choose(self, t: int, code: int, weights: NDArray) -> NDArray:
        """Return the weights as they are: all codes of a round count."""
        return weights

    def effective(self, weights: NDArray, n_rounds: int) -> NDArray:
        """Return ``A_tr = sum_v w_v P^(r)_vt``, shape (n_rounds, n_classes)."""
        k = self._projection.n_classes
        used = np.flatnonzero(weights)
        if self._rows.shape[1] >= n_rounds * k:
            flat = weighted_sum(self._rows, used, weights[used], n_rounds * k, self._team)
            return flat.reshape(n_rounds, k)
        parts = [np.empty((0, k))]
        for first in range(0, n_rounds, _ROUNDS_AT_A_TIME):
            last = min(first + _ROUNDS_AT_A_TIME, n_rounds)
            size = (last - first) * k
            rows = self._projection.rows(used, (first, last), np.float32)
            rows = np.ascontiguousarray(rows.transpose(1, 2, 0)).reshape(len(used), size)
            flat = weighted_sum(rows, np.arange(len(used)), weights[used], size, self._team)
            parts.append(flat.reshape(-1, k))
        return np.concatenate(parts)

    def constraints(self, moments: NDArray, which: NDArray[np.int64] | None = None) -> NDArray:
        """Return ``sum_tr M_tr P^(r)_vt`` for all, or for the given, v (logDual)."""
        self.prepare(len(moments))
        flat = np.ascontiguousarray(moments).reshape(-1)
        return dots(self._rows, self._all if which is None else which, flat, self._team)

    def offsets(self, moments: NDArray) -> NDArray:
        """Return the constraints: all earlier weak classifiers count (logWeak)."""
        return self.constraints(moments)


class RoundCodes:
    """One code and one weight a round: w in R^T, ``A_tr = w_t P^(r)_{v_t t}``.

    Parameters
    ----------
    projection : GaussianProjection
        The class-wise matrices.
    chosen : ndarray of int64
        The codes v_t of the rounds so far.
    """

    rows = None

    def __init__(self, projection: GaussianProjection, chosen: NDArray[np.int64]) -> None:
        self.typical = float(np.sqrt(projection.n_projections))
        self._projection = projection
        self._block = (0, np.empty((projection.n_classes, projection.n_projections, 0)))
        self._codes = np.empty((max(64, 2 * len(chosen)), projection.n_classes))
        for t, code in enumerate(chosen):
            self._codes[t] = projection.rows(np.array([code]), (t, t + 1), np.float64)[:, 0, 0]

    def first_weights(self) -> NDArray:
        """Return an empty vector."""
        return np.empty(0)

    def codes(self, t: int) -> NDArray:
        """Return the codes of round t, shape (n_classes, n_projections)."""
        start, made = self._block
        if not start <= t < start + made.shape[2]:
            start = t - t % _ROUNDS_AT_A_TIME
            rows = np.arange(self._projection.n_projections)
            made = self._projection.rows(rows, (start, start + _ROUNDS_AT_A_TIME), np.float64)
            self._block = (start, made)
        return np.ascontiguousarray(made[:, :, t - start])

    def choose(self, t: int, code: int, weights: NDArray) -> NDArray:
        """Keep the code of round t and add a weight for it."""
        if t == len(self._codes):
            self._codes = np.concatenate([self._codes, np.empty_like(self._codes)])
        self._codes[t] = self.codes(t)[:, code]
        return np.append(weights[:t], 0.0)

    def prepare(self, n_rounds: int) -> None:
        """Do nothing: votes are made of what is there."""

    def effective(self, weights: NDArray, n_rounds: int) -> NDArray:
        """Return ``A_tr = w_t P^(r)_{v_t t}``, shape (n_rounds, n_classes)."""
        return weights[:n_rounds, None] * self._codes[:n_rounds].astype(weights.dtype, copy=False)

    def constraints(self, moments: NDArray, which: NDArray[np.int64] | None = None) -> NDArray:
        """Return ``sum_r M_tr P^(r)_{v_t t}`` for all, or for the given, rounds t."""
        values = np.einsum("tr,tr->t", moments, self._codes[: len(moments)])
        return values if which is None else values[which]

    def offsets(self, moments: NDArray) -> NDArray:
        """Return zeros: a new round has a constraint of its own."""
        return np.zeros(self._projection.n_projections)


class FreeVotes:
    """A weight for every class and round: w in R^(T k), ``A_tr = w_tr`` (MultiBoost).

    Parameters
    ----------
    n_classes : int
        Number of classes k.
    """

    typical = 1.0
    rows = None

    def __init__(self, n_classes: int) -> None:
        self._codes = np.eye(n_classes)

    def first_weights(self) -> NDArray:
        """Return an empty vector."""
        return np.empty(0)

    def codes(self, t: int) -> NDArray:
        """Return one code for every class: a new weak classifier is chosen for one of them."""
        return self._codes

    def choose(self, t: int, code: int, weights: NDArray) -> NDArray:
        """Add a weight for every class."""
        return np.concatenate([weights[: t * len(self._codes)], np.zeros(len(self._codes))])

    def prepare(self, n_rounds: int) -> None:
        """Do nothing: votes are made of what is there."""

    def effective(self, weights: NDArray, n_rounds: int) -> NDArray:
        """Return the weights as a matrix, shape (n_rounds, n_classes)."""
        return weights.reshape(-1, len(self._codes))[:n_rounds]

    def constraints(self, moments: NDArray, which: NDArray[np.int64] | None = None) -> NDArray:
        """Return ``M_tr`` for all, or for the given, weights."""
        values = moments.reshape(-1)
        return values if which is None else values[which]

    def offsets(self, moments: NDArray) -> NDArray:
        """Return zeros: a new round has constraints of its own."""
        return np.zeros(len(self._codes))


def make_coding(
    reading: str,
    projection: GaussianProjection | None,
    n_classes: int,
    team: ThreadTeam,
    chosen: NDArray[np.int64],
) -> Coding:
    """Return how weights become votes.

    Parameters
    ----------
    reading : {"code", "violation", "free"}
        One code and one weight a round, Algorithm 2 as printed, or free votes.
    projection : GaussianProjection or None
        The class-wise matrices; None for free votes.
    n_classes : int
        Number of classes k.
    team : ThreadTeam
        Threads.
    chosen : ndarray of int64
        The codes of the rounds so far.

    Returns
    -------
    Coding
        The coding.
    """
    if projection is None:
        return FreeVotes(n_classes)
    return RoundCodes(projection, chosen) if reading == "code" else AllCodes(projection, team)
