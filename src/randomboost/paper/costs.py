"""Rough cost of a cell, in seconds of one core."""

from __future__ import annotations

from ..datasets.catalogue import SETS
from ..datasets.toy import SETS as TOYS
from .cells import Cell

_TRAINING_ROWS = {
    "dna+train": 2000,
    "satimage+train": 4435,
    "splice+train": 1000,
    "svmguide4+train": 300,
    "vowel+train": 528,
}
_TEST_ROWS = {"dna": 1186, "satimage": 2000, "splice": 2175, "svmguide4": 312, "vowel": 462}
_DIGIT_FEATURES = 60  # after PCA
_CALTECH = {"caltech-related": (336, 500, 6), "caltech-mixed": (480, 500, 10)}


def size(name: str) -> tuple[int, int, int]:
    """Return the approximate numbers of training samples, features and classes of a set.

    Parameters
    ----------
    name : str
        Data set.

    Returns
    -------
    tuple of int
        m, d and k.
    """
    if "@" in name:
        base, count = name.split("@")
        k = 35 if base == "ticc" else 10
        return int(count) * k, _DIGIT_FEATURES, k
    if "=" in name:
        letter, value = name.split("=")
        sizes = {"m": 600, "d": 16, "k": 8} | {letter: int(value)}
        return sizes["m"], sizes["d"], sizes["k"]
    if name in TOYS:
        n = len(TOYS[name].means) * TOYS[name].samples
        return n * 3 // 4, 2, len(set(TOYS[name].classes))
    if name in _CALTECH:
        return _CALTECH[name]
    base, *variants = name.split("+")
    entry = SETS[base]
    rows = 1000 if name in ("usps", "pendigits") else _TRAINING_ROWS.get(name, entry.rows)
    if "stacked" in variants:
        rows += _TEST_ROWS[base]
    return rows * 3 // 4, entry.features, entry.classes


def expected(cell: Cell) -> float:
    """Return the seconds of a cell on one core, mostly to within a factor of three.

    The constants are those of the runs in docs/results. Training that stops early takes less; with
    codes and few classes it does so nearly always, unless nu is small. A path of candidates for nu
    costs about as much as the fit of the smallest one.

    Parameters
    ----------
    cell : Cell
        The cell.

    Returns
    -------
    float
        Seconds.
    """
    m, d, k = size(cell.set)
    rounds = cell.rounds
    n = cell.parameters.get("n_projections", 0)
    if cell.directions:
        n = cell.directions * d
    wlda = cell.parameters.get("weak_learner") in ("wlda", "plain_wlda")
    if cell.estimator == "RBoostRankClassifier":
        seconds = n * rounds * (3e-8 + 1.1e-10 * m * k)
        if cell.parameters.get("correction") == "total":
            seconds += rounds**2 * m * k * 6e-8
        if wlda:
            seconds += rounds * 0.006
    elif cell.estimator == "RBoostProjClassifier":
        seconds = 0.001 + 1e-9 * m * k * d  # full solves take about as long, they end earlier
        if cell.parameters.get("selection") == "violation":
            seconds += 2e-6 * m * k
        else:
            seconds += 7e-7 * m * k
            rounds = rounds if cell.path else min(rounds, 70 * k)
        seconds *= rounds * (2.5 if wlda else 1.0)
    elif cell.estimator == "MultiBoostClassifier":
        seconds = rounds * (3e-4 + 4.5e-7 * m * k + 5e-9 * m * k * d)
    else:
        problems = {"AdaBoostMOClassifier": 2 ** (k - 1) - 1, "AdaBoostMHClassifier": k}
        searches = problems.get(cell.estimator, 1)
        seconds = rounds * (1e-4 + searches * (6e-6 + 6e-10 * m * d))
    return 0.1 + seconds
