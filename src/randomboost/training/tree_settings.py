"""Settings of boosted trees, chosen by the size of the data where none are given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..trees.sparse_scores import DENSE

_SMALL, _LARGE, _HUGE, _HUGE_IF_WIDE = 4000, 10_000, 50_000, 200_000  # samples
_LANDMARKS, _LANDMARKS_IF_WIDE = (600, 1500), 3600  # fewest and most; for huge, wide data
_FEW_CLASSES, _SOME_CLASSES, _MANY_CLASSES, _MANY_FEATURES = 12, 64, 400, 64


@dataclass(frozen=True)
class SketchSettings:
    """Settings of sketched trees.

    Parameters
    ----------
    n_rounds : int
        Largest number of rounds, where the estimator names none.
    learning_rate : float
        Shrinkage.
    max_leaves, max_depth, min_samples_leaf : int
        What a tree may look like.
    ridge : float
        Ridge penalty of the leaf values and of the split gain.
    subsample : float
        Share of the samples that a tree is grown on.
    max_features : float
        Share of a family's directions that is drawn at a node.
    max_drawn : int
        Most directions that are drawn at a node.
    favourites : float
        Share of these that are not drawn, but those that gained most in earlier trees.
    n_sketches : int
        Number q of random projections of the gradients.
    leaf_classes : int
        Most classes of a leaf.
    least_share : float
        A class is left out of a leaf where it gains less than this share of the best one's gain.
    largest_step : float
        Bound of Newton's step for the true class.
    max_bins : int
        Number of bins.
    projection : str or tuple
        Kind of the directions, as for `projections.matrices.make_directions`.
    n_projections : int
        Number of directions beside the features; fewer where bins would take too much memory.
    seed : int
        Seed of all draws.
    focus : float
        How strongly families of directions that gain more are preferred.
    n_members : int
        Number of ensembles, a power of two, whose scores are averaged: one tree of each per round.
    n_landmarks : int
        Number of landmarks whose scores boosting starts from; 0 for none.
    linear : bool
        Whether boosting starts from a linear model, if there are no landmarks.
    n_starts : int
        Number of such starts, 1 or 3, each with landmarks of its own, among which members take
        turns.
    trial : bool
        Whether a trial decides which members start without landmarks.
    """

    n_rounds: int = 100
    learning_rate: float = 0.1
    max_leaves: int = 64
    max_depth: int = 64
    min_samples_leaf: int = 1
    ridge: float = 0.3
    subsample: float = 0.7
    max_features: float = 0.3
    max_drawn: int = 40
    favourites: float = 0.5
    n_sketches: int = 6
    leaf_classes: int = 32
    least_share: float = 0.01
    largest_step: float = 10.0
    max_bins: int = 64
    projection: Any = "mixed"
    n_projections: int = 550
    seed: int = 0
    focus: float = 12.0
    n_members: int = 1
    n_landmarks: int = 0
    linear: bool = False
    n_starts: int = 1
    trial: bool = False

    @classmethod
    def choose(
        cls,
        n_samples: int,
        n_features: int,
        n_classes: int,
        effort: str = "default",
        n_landmarks: int | None = None,
        categorical: bool = False,
        linear: bool = False,
        without: float = 0.0,
    ) -> SketchSettings:
        """Return settings for data of a given size.

        Parameters
        ----------
        n_samples, n_features, n_classes : int
            Size of the training data.
        effort : {"fast", "default", "best"}
            How much time may be spent.
        n_landmarks : int or None
            Number of landmarks; None to choose it.
        categorical : bool
            Whether most columns have categories.
        linear : bool
            Whether boosting starts from a linear model, where classes are not too many.
        without : float
            Share of the members that do without landmarks, as a trial found it to be better.

        Returns
        -------
        SketchSettings
            The settings.
        """
        leaves = max(n_samples // 40, min(3 * n_classes, n_samples // 16))
        small, large = n_samples < _SMALL, n_samples >= _LARGE
        many, wide = n_classes > _MANY_CLASSES, n_features > _MANY_FEATURES
        huge = n_samples >= (_HUGE_IF_WIDE if wide else _HUGE)
        n_rounds, learning_rate, n_members = _choose_rounds(n_samples, n_classes, huge)
        trial = False
        if n_landmarks is None:
            n_landmarks = _choose_landmarks(n_samples, n_classes, wide, effort)
            trial = n_landmarks > 0
        if without == 1:
            n_landmarks = 0
        linear = linear and n_classes <= DENSE
        # a start leaves less for the trees to learn, smooth borders above all
        quick = bool(n_landmarks) and not (without or large or categorical)
        if quick:
            n_rounds, leaves, learning_rate = 50, leaves // 4, 0.21
        elif (n_landmarks or linear) and not large:
            leaves, learning_rate = leaves // 2, 0.14
        if effort == "fast":
            n_rounds, learning_rate = n_rounds // 2, 1.5 * learning_rate
            n_members = max(1, n_members // 2)
        elif effort == "best":
            n_rounds, learning_rate = 2 * n_rounds, 0.5 * learning_rate
            n_members = 4 * n_members
        subsample, max_features = 0.7 if small else 0.8, 0.5 if large else 0.3
        max_drawn = min(max(n_features // 2, 16), 64) if large else 8 if quick else 16
        if categorical and not large:
            # rules that hold without exception: a tree must see rare cases and the column to split
            subsample, max_features, max_drawn = 0.85, 1.0, 32
        fewest = 8 if quick else 12 if n_landmarks or linear else 24
        return cls(
            n_rounds=n_rounds,
            learning_rate=learning_rate,
            max_leaves=min(max(leaves, fewest), 1024),
            min_samples_leaf=10 if many else min(3, 1 + n_samples // 25) if small else 1,
            ridge=0.1 if many else 1.0 if effort == "best" else 0.3,
            subsample=0.9 if many else subsample,
            max_features=max_features,
            max_drawn=max_drawn,
            favourites=0.25 if large else 0.5,
            n_sketches=30 if many else 6 if huge and n_classes <= _FEW_CLASSES else 14,
            leaf_classes=16 if many else 32,
            max_bins=64 if small or wide else 255 if large else 128,
            focus=12.0 if small else 24.0,
            n_members=n_members,
            n_landmarks=n_landmarks,
            linear=linear,
            n_starts=3 if effort == "best" and n_landmarks else 1,
            trial=trial,
        )


def _choose_rounds(n_samples: int, n_classes: int, huge: bool) -> tuple[int, float, int]:
    """Return the numbers of rounds, the shrinkage and the number of members, without landmarks."""
    if n_samples < _LARGE:
        return 100, 0.16, 4
    if n_classes <= _SOME_CLASSES and not huge:
        return 150, 0.15, 2
    if n_classes > _MANY_CLASSES:
        return 160, 0.09, 1
    # the more samples, the fewer and larger steps
    n_rounds = max(36, round(78 * min(1.0, _HUGE / n_samples) ** 0.35))
    return n_rounds, 0.13 * (90 / n_rounds) ** 0.5, 1


def _choose_landmarks(n_samples: int, n_classes: int, wide: bool, effort: str) -> int:
    """Return the number of landmarks."""
    if n_classes > DENSE:
        return 0
    fewest, most = _LANDMARKS
    chosen = min(max(n_samples // 8, fewest), most)
    if n_samples >= _HUGE:  # trees of many features cost so much that landmarks are cheap
        chosen = _LANDMARKS_IF_WIDE if wide else fewest
    if effort == "best":
        return max(chosen, min(n_samples // 2, most))
    return chosen // 2 if effort == "fast" else chosen
