"""A trial whether trees should go on from landmarks, or from the frequencies of the classes.

Similarities to landmarks serve smooth borders. Where rules or thresholds of single features decide,
trees find these sooner by themselves than among what landmarks are wrong about. So a few trees are
grown both ways on a part of the samples, and compared on the others.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..projections.directions import Directions
from ..projections.matrices import split_kind
from ..runtime.parallel import ThreadTeam
from ..trees.sketching import n_used
from ..trees.sparse_scores import make_prior
from .binned_data import BinnedData
from .member_rows import MemberRows
from .scored_samples import ScoredSamples
from .temperature import tempered_loss
from .tree_directions import first_weights
from .tree_member import Member
from .tree_settings import SketchSettings

_SAMPLES = 4000  # at most, a third of which compares
_FEWEST = 60  # samples, below which a trial says nothing
_ROUNDS, _RATE, _LEAST_LEAVES = 12, 0.3, 12
_EVERY = 4  # rounds after which losses are compared
_SPARSE = 64  # sparse directions beside the features
_NOTHING = 1e-6  # loss at which nothing is left to compare
_CAUTION = 100  # samples that speak against trees without landmarks, as it were
_MUCH_BETTER, _BETTER, _BETTER_TOGETHER = 0.87, 0.95, 0.97  # ratios of losses


class Trial(NamedTuple):
    """Losses divided by that of trees that go on from landmarks.

    Parameters
    ----------
    without : float
        That of trees that start from the frequencies of the classes.
    together : float
        That of the mean of both.
    """

    without: float
    together: float

    def turns(self, n_starts: int, n_members: int) -> tuple[int, int]:
        """Return how members should start.

        Parameters
        ----------
        n_starts : int
            Number of starts with landmarks there are, 1 or 3.
        n_members : int
            Number of members.

        Returns
        -------
        tuple of int
            The number of starts to use, and of turns that members take among them and a start
            without landmarks.
        """
        if self.without < (_MUCH_BETTER if n_members > 1 else _BETTER):
            return 0, 1
        if n_members > 1 and self.together < _BETTER_TOGETHER:
            return (1, 2) if n_starts == 1 else (2, 4)
        return n_starts, n_starts + (n_starts > 1)


NO_TRIAL = Trial(np.inf, np.inf)


def _cautious(ratio: float, n_samples: int) -> float:
    """Return a ratio of losses on some samples, closer to 1 the fewer these are."""
    return float(ratio ** (n_samples / (n_samples + _CAUTION)))


def _losses(scores: list[NDArray], y: NDArray[np.int64], weight: NDArray) -> float:
    """Return the lowest loss on a path of scores, each after a correction of the temperature."""
    best, scale = np.inf, 1.0
    for each in scores:
        loss, scale = tempered_loss(each, y, weight, scale)
        best = min(best, loss)
    return best


def try_without(
    X: NDArray,
    y: NDArray[np.int64],
    weight: NDArray,
    begin: NDArray[np.float32],
    settings: SketchSettings,
    team: ThreadTeam,
    *,
    apart: bool,
) -> Trial:
    """Compare trees that go on from landmarks with trees that do not.

    Parameters
    ----------
    X : ndarray of shape (n, n_features)
        Scaled data of samples in random order.
    y : ndarray of int64
        Class numbers.
    weight : ndarray
        Weights.
    begin : ndarray of float32 of shape (n, n_classes)
        Scores of the landmarks that do not know the samples' labels.
    settings : SketchSettings
        Settings of the fit.
    team : ThreadTeam
        Threads; they do not change a loss.
    apart : bool
        Whether each way has a thread of its own, as the members of the fit have.

    Returns
    -------
    Trial
        The losses.
    """
    n, n_classes = min(len(y), _SAMPLES), begin.shape[1]
    first, last = slice(0, 2 * n // 3), slice(2 * n // 3, n)
    if n < _FEWEST or len(np.unique(y[first])) < 2:
        return NO_TRIAL
    m, d = first.stop, X.shape[1]
    counts = {"axis": d}
    if d > 1 and split_kind(settings.projection)[0] != "axis":
        counts["sparse"] = _SPARSE
    directions = Directions(settings.seed, d, counts, None, None)
    chosen = replace(
        settings,
        learning_rate=_RATE,
        max_leaves=max(m // 40, min(3 * n_classes, m // 16), _LEAST_LEAVES),
        max_bins=64,
        subsample=0.7,
        max_features=0.5,
        max_drawn=16,
    )
    fitted = BinnedData(X[first], directions, chosen.max_bins, team)
    others = BinnedData(X[last], directions, chosen.max_bins, team, fitted.edges)
    totals = np.bincount(y[first], weight[first], n_classes)
    mean = totals.sum() / m
    prior = make_prior(np.log(np.maximum(totals / mean, 0.5) / m))
    bounds = np.stack([directions.starts[:-1], directions.starts[1:]], axis=1)
    keys = np.arange(m, dtype=np.uint64)
    each_team = ThreadTeam(1) if apart else team
    n_sketches = n_used(chosen.n_sketches, n_classes)
    paths: list[list[NDArray]] = [[], []]
    weights = [first_weights(directions, plain=plain) for plain in (False, True)]

    def grow(way: int) -> None:
        scores = begin[:n] if way == 0 else np.zeros_like(begin[:n])
        rows = MemberRows(
            fitted.bins, y[first], weight[first] / mean, keys, prior, n_sketches, each_team,
            np.ascontiguousarray(scores[first]),
        )  # fmt: skip
        held = ScoredSamples(
            others.bins, y[last], weight[last], prior, np.ascontiguousarray(scores[last])
        )
        member = Member(
            chosen, rows, n_classes, fitted.edges, bounds, weights[way], held, each_team
        )
        for number in range(_ROUNDS):
            if isinstance(member.step(), str):
                break
            if number % _EVERY == _EVERY - 1:
                paths[way].append(held.scores.values.copy())
        else:
            return
        paths[way].append(held.scores.values.copy())

    if apart:
        team.for_each(grow, len(paths))
    else:
        grow(0)
        grow(1)
    both = [(one + other) / np.float32(2) for one, other in zip(*paths, strict=False)]
    rest = y[last], weight[last]
    loss, without, together = (max(_losses(path, *rest), _NOTHING) for path in (*paths, both))
    count = len(rest[0])
    return Trial(_cautious(without / loss, count), _cautious(together / loss, count))
