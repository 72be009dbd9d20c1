"""What every weight adds to the scores of the samples, kept up to date from round to round."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..runtime.compiling import kernel


class Responses:
    """Scores of all classes and samples with one weight of 1 and the others 0, kept up to date.

    Parameters
    ----------
    n_weights, n_classes, n_samples : int
        Sizes.
    """

    def __init__(self, n_weights: int, n_classes: int, n_samples: int) -> None:
        self._scores = np.zeros((0, n_classes, n_samples), np.float32)
        self._place = np.full(n_weights, -1)
        self._rounds = np.zeros(0, np.int64)  # that the scores of a place are of
        self._used = np.zeros(0, np.int64)

    def at(
        self, which: NDArray[np.int64], n_rounds: int, codes: NDArray, outputs: NDArray
    ) -> tuple[NDArray, NDArray[np.int64]]:
        """Return the scores after so many rounds, and the places of the given weights.

        Parameters
        ----------
        which : ndarray of int64
            The weights.
        n_rounds : int
            Number of rounds.
        codes : ndarray of shape (n_weights, at least n_rounds * n_classes)
            What a weight of 1 makes of the votes of the weak classifiers.
        outputs : ndarray of shape (at least n_rounds, n_samples)
            Outputs of the weak classifiers.

        Returns
        -------
        tuple of (ndarray, ndarray of int64)
            The scores, shape (n_places, n_classes, n_samples), and the places.
        """
        new = which[self._place[which] < 0]
        if len(new):
            self._make_room(len(new), which)
            free = np.setdiff1d(np.arange(len(self._scores)), self._place)[: len(new)]
            self._place[new] = free
            self._scores[free] = 0.0
            self._rounds[free] = 0
        places = self._place[which]
        _catch_up(self._scores, places, self._rounds, which, n_rounds, codes, outputs)
        self._rounds[places] = n_rounds
        self._used[places] = n_rounds
        return self._scores, places

    def _make_room(self, n_new: int, keep: NDArray[np.int64]) -> None:
        """Free the places that were not used for long, or add some."""
        held = np.flatnonzero(self._place >= 0)
        missing = n_new - (len(self._scores) - len(held))
        if missing <= 0:
            return
        idle = np.setdiff1d(held, keep)
        idle = idle[np.argsort(self._used[self._place[idle]], kind="stable")]
        if len(idle) >= missing and len(idle) > len(held) // 2:
            self._place[idle[: max(missing, len(idle) // 2)]] = -1
            return
        more = max(missing, len(self._scores) // 2)
        room = np.zeros((more, *self._scores.shape[1:]), np.float32)
        self._scores = np.concatenate([self._scores, room])
        self._rounds = np.concatenate([self._rounds, np.zeros(more, np.int64)])
        self._used = np.concatenate([self._used, np.zeros(more, np.int64)])


@kernel
def _catch_up(
    scores: NDArray,
    places: NDArray,
    have: NDArray,
    which: NDArray,
    n_rounds: int,
    codes: NDArray,
    outputs: NDArray,
) -> None:
    """Add the rounds that the scores at some places lack."""
    k = scores.shape[1]
    for a in range(len(places)):
        row = codes[which[a]]
        for r in range(k):
            sums = scores[places[a], r]
            for t in range(have[places[a]], n_rounds):
                code, output = row[t * k + r], outputs[t]
                for i in range(len(sums)):
                    sums[i] += code * output[i]
