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
    """Return the seconds of a cell on one core, to within a factor of about three.

    Training that stops early takes less. A path of candidates for nu costs about as much as the
    fit of the smallest one.

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
    if cell.estimator == "RBoostRankClassifier":
        seconds = n * rounds * (5e-7 + 4e-10 * m * k)
        if cell.parameters.get("correction") == "total":
            seconds += rounds**2 * m * k * 1.2e-7
        if cell.parameters.get("weak_learner") in ("wlda", "plain_wlda"):
            seconds += rounds * 0.02
    elif cell.estimator == "RBoostProjClassifier":
        seconds = rounds * (0.004 + 1e-6 * m * k + 1e-8 * m * k * d)
        if cell.parameters.get("selection") == "violation":
            seconds *= 4.0
        if cell.parameters.get("iterations_per_round", 0) is None:
            seconds *= 8.0
    elif cell.estimator == "MultiBoostClassifier":
        seconds = rounds * (0.001 + 1.3e-6 * m * k)
    else:
        problems = {"AdaBoostMOClassifier": 2 ** (k - 1) - 1, "AdaBoostMHClassifier": k}
        seconds = rounds * (2e-4 + 3e-9 * m * d * problems.get(cell.estimator, 1))
        if cell.estimator == "AdaBoostMOClassifier":
            seconds += rounds * 2.5e-8 * m * problems[cell.estimator]
    return 0.5 + seconds
