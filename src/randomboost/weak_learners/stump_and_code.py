"""Weak learner of RBoost-proj: chooses a weak classifier and its class code (logWeak)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..search.joint import JointSearch, first_of_best
from .stump import make_stump


class JointLearner:
    """Maximises ``offset_v + sum_i c_iv h(x_i)`` over weak classifiers h and class codes v.

    With stumps the search over both is exhaustive. Any other weak learner is fitted for the few
    codes that are best with a stump, and the best of those is chosen.

    Parameters
    ----------
    points : FeaturePoints
        The samples.
    search : JointSearch
        Exhaustive search for stumps.
    real : bool
        Real-valued stumps.
    learner : object or None
        Another weak learner for one code, instead of stumps.
    n_candidates : int
        Number of codes for which the other weak learner is fitted.
    """

    def __init__(
        self,
        points: Any,
        search: JointSearch,
        *,
        real: bool = False,
        learner: Any = None,
        n_candidates: int = 4,
    ) -> None:
        self._points = points
        self._search = search
        self._real = real
        self._learner = learner
        self._n_candidates = n_candidates
        self._columns = np.arange(points.n_columns)

    def fit(
        self, signed: NDArray, codes: NDArray, offsets: NDArray, rng: np.random.Generator
    ) -> tuple[Any, int, float] | None:
        """Return the weak classifier, its code and the value of (logWeak).

        Parameters
        ----------
        signed : ndarray of shape (n_samples, n_classes)
            The signed weights C.
        codes : ndarray of shape (n_classes, n_codes)
            The round's slice of the projections.
        offsets : ndarray of shape (n_codes,)
            The terms of all earlier weak classifiers.
        rng : numpy.random.Generator
            Random numbers for the weak learner.

        Returns
        -------
        tuple of (hypothesis, int, float) or None
            None if there is no weak classifier.
        """
        if not (signed.any() and self._search.has_stumps):
            return None
        wanted = 1 if self._learner is None else self._n_candidates
        edges, sums = self._search.largest_edges(signed, codes, offsets, wanted)
        if self._learner is None:
            best = first_of_best(offsets + edges)
            cut = self._search.stump(sums, codes[:, best])
            weights = signed @ codes[:, best]
            stump, edge = make_stump(self._points, weights, *cut, real=self._real)
            return stump, best, float(offsets[best]) + edge
        chosen: tuple[Any, int, float] | None = None
        for v in np.argsort(-(offsets + edges), kind="stable")[: self._n_candidates]:
            weights = signed @ codes[:, v]
            fitted = self._learner.fit(weights, self._columns, rng) if weights.any() else None
            if fitted is None:
                continue
            value = float(offsets[v]) + fitted[1]
            if chosen is None or value > chosen[2]:
                chosen = fitted[0], int(v), value
        return chosen
