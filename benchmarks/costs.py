"""What every fit costs on two cores, roughly, and which fits are left out."""

from __future__ import annotations

from dataclasses import dataclass

from peers import PEERS

SLOW = "expected to take over 3 minutes"
LARGE = "expected to take over 10 GB"
OVERHEAD = 1.2  # times the seconds of a fit: loading, warming up, predicting

ROUNDS = {  # of "the same number of rounds": 1000 below 50 000 (sample, class) pairs, else 100
    "pendigits-100": 1000,
    "vowel": 1000,
    "usps-100": 1000,
    "satimage": 1000,
    "mnist-10k-hog": 100,
    "mnist-10k-pixels": 100,
    "mnist-60k-hog": 100,
    "mnist-60k-pixels": 100,
    "generated-10": 100,
    "generated-100": 100,
    "generated-1000": 100,
}
QUICK_SETS = ("pendigits-100", "vowel", "generated-10")
QUICK_ROUNDS = 50
_QUICK_FIT = 15.0  # seconds; what takes longer is left out of a quick run

# Seconds at the same number of rounds and at the defaults, in the order of PEERS; text says why a
# fit is left out, None that a model does not have the setting.
_SAME: dict[str, tuple[float | str | None, ...]] = {
    "pendigits-100": (2, 14, 1, 23, 1, 1, 4, 3, 3),
    "vowel": (2, 23, 1, 33, 2, 2, 5, 4, 3),
    "usps-100": (3, 21, 4, 53, 11, 9, 10, 18, 5),
    "satimage": (2, 232, 4, 74, 4, 4, 7, 12, 7),
    "mnist-10k-hog": (2, 56, 5, 8, 21, 20, 21, 41, 8),
    "mnist-10k-pixels": (3, SLOW, 23, 12, 26, 42, 70, 23, 3),
    "mnist-60k-hog": (9, SLOW, 14, 31, 69, 76, 70, 320, 67),
    "mnist-60k-pixels": (14, SLOW, 37, 46, 65, 213, 257, 127, 22),
    "generated-10": (2, 86, 2, 9, 5, 6, 7, 11, 5),
    "generated-100": (9, SLOW, 6, 50, 44, 33, 64, 19, 17),
    "generated-1000": (57, SLOW, 58, SLOW, 110, 175, 135, 114, LARGE),
}
_DEFAULT: dict[str, tuple[float | str | None, ...]] = {
    "pendigits-100": (0.3, None, None, 1, 0.5, 0.2, 1, 0.2, 0.3),
    "vowel": (0.4, None, None, 2, 0.8, 0.3, 2, 0.2, 0.4),
    "usps-100": (0.7, None, None, 9, 7, 3, 5, 1, 0.5),
    "satimage": (0.5, None, None, 4, 0.8, 0.5, 3, 0.6, 0.7),
    "mnist-10k-hog": (2, None, None, SLOW, 21, 20, 22, 20, 8),
    "mnist-10k-pixels": (4, None, None, 23, 26, 42, 68, 11, 3),
    "mnist-60k-hog": (10, None, None, SLOW, 69, 76, 63, 160, 67),
    "mnist-60k-pixels": (15, None, None, SLOW, 65, 213, 233, 64, 22),
    "generated-10": (2, None, None, 110, 5, 6, 7, 6, 5),
    "generated-100": (11, None, None, SLOW, 44, 33, 61, 9, 17),
    "generated-1000": (67, None, None, SLOW, 110, 175, 27, 55, LARGE),
}


@dataclass(frozen=True)
class Plan:
    """What is measured on the data sets, in full or quickly.

    Parameters
    ----------
    quick : bool
        Fewer sets and rounds, one run.
    runs : int
        Runs of every fit.
    """

    quick: bool = False
    runs: int = 3

    @property
    def sets(self) -> list[str]:
        """Return the names of the data sets."""
        return list(QUICK_SETS if self.quick else ROUNDS)

    def settings(self, name: str) -> tuple[int, None]:
        """Return the two settings on a set: the same number of rounds for all, and the default."""
        return QUICK_ROUNDS if self.quick else ROUNDS[name], None

    def cost(self, name: str, model: str, rounds: int | None) -> float | str | None:
        """Return the seconds of a fit, or why it is left out; None where there is no such fit.

        Rounds None stand for the default.
        """
        found = (_DEFAULT if rounds is None else _SAME)[name][list(PEERS).index(model)]
        if found is None or isinstance(found, str):
            return found
        if rounds is not None:
            found *= rounds / ROUNDS[name]
        return f"over {_QUICK_FIT:g} s" if self.quick and found > _QUICK_FIT else found
