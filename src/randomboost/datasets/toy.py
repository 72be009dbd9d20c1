"""Toy sets in the plane: the paper's four diagonal Gaussians, and three sets of our own.

The paper does not give the parameters of the three sets of its figure "toy" and table "D", only
that they are multivariate normal distributions. Those here were chosen so that single features do
not separate the classes: tilted ellipses side by side, classes of two clusters each placed like a
chess board, and a ring of six classes around a seventh.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .dataset import Dataset

Pairs = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Mixture:
    """Normal distributions in the plane, and the class of each.

    Parameters
    ----------
    means : sequence of pairs
        Means of the distributions.
    covariances : sequence of 2 x 2 sequences
        Their covariances; one for all, or one each.
    classes : sequence of int
        Their classes.
    samples : int
        Samples per distribution.
    """

    means: Pairs
    covariances: Sequence[Pairs]
    classes: Sequence[int]
    samples: int = 100


def _rotated(long: float, short: float, degrees: float) -> Pairs:
    """Return the covariance with the given variances along rotated axes."""
    angle = np.deg2rad(degrees)
    axes = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return [(float(a), float(b)) for a, b in axes @ np.diag([long, short]) @ axes.T]


def _ring(n: int, radius: float) -> Pairs:
    angles = 2 * np.pi * np.arange(n) / n
    return [(float(radius * np.cos(a)), float(radius * np.sin(a))) for a in angles]


_ROUND = [(0.5, 0.0), (0.0, 0.5)]
SETS: dict[str, Mixture] = {
    # the paper's own: four classes, covariance [2.5, 1.5; 1.5, 1]
    "diagonal": Mixture(
        [(-3, 2), (-3, -2), (3, 4), (3, 0)], [[(2.5, 1.5), (1.5, 1.0)]], [0, 1, 2, 3]
    ),
    "stripes": Mixture(
        [(-6, 0), (-3, 0), (0, 0), (3, 0), (6, 0)], [_rotated(4.0, 0.15, 60)], [0, 1, 2, 3, 4]
    ),
    "chess": Mixture(
        [(-2, -2), (2, 2), (-2, 2), (2, -2), (0, 0), (0, 4.5)],
        [_ROUND],
        [0, 0, 1, 1, 2, 2],
    ),
    "ring": Mixture(
        [(0, 0), *_ring(6, 3.2)],
        [_ROUND, *(_rotated(1.2, 0.25, 60 * i + 30) for i in range(6))],
        [0, 1, 2, 3, 4, 5, 6],
    ),
}


def make(name: str, seed: int = 0) -> Dataset:
    """Return one toy set.

    Parameters
    ----------
    name : {"diagonal", "stripes", "chess", "ring"}
        Name of the set.
    seed : int, default=0
        Seed of the samples.

    Returns
    -------
    Dataset
        Points in the plane and their classes.
    """
    mixture = SETS[name]
    rng = np.random.default_rng([seed, *name.encode()])
    n = len(mixture.means)
    spread = list(mixture.covariances) * (n if len(mixture.covariances) == 1 else 1)
    parts = [
        rng.multivariate_normal(mean, covariance, mixture.samples)
        for mean, covariance in zip(mixture.means, spread, strict=True)
    ]
    y = np.repeat(np.asarray(mixture.classes), mixture.samples)
    return Dataset(name, np.concatenate(parts), y, ["x", "y"], "generated")
