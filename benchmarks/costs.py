"""What every fit costs on two cores, roughly, and which fits are left out."""

from __future__ import annotations

from dataclasses import dataclass

from peers import PEERS

SLOW = "over 3 minutes a fit"
LARGE = "over 10 GB"
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
    "pendigits-100": (2, 20, 3, 40, 2, 2, 8, 5, 5),
    "vowel": (2, 25, 3, 50, 3, 4, 10, 5, 4),
    "usps-100": (10, 30, 6, 170, 60, 30, 75, 15, 4),
    "satimage": (6, 90, 20, 80, 6, 6, 16, 10, 7),
    "mnist-10k-hog": (10, 60, 8, 20, 15, 35, 35, 37, 20),
    "mnist-10k-pixels": (10, SLOW, 12, 20, 14, 60, 50, 20, 4),
    "mnist-60k-hog": (30, SLOW, 40, 80, 45, 65, 45, SLOW, 60),
    "mnist-60k-pixels": (60, SLOW, 70, 120, 60, 150, 150, 130, 22),
    "generated-10": (5, 140, 5, 20, 4, 6, 6, 9, 5),
    "generated-100": (10, SLOW, 60, 120, 25, 36, 45, 19, 15),
    "generated-1000": (60, SLOW, 180, SLOW, SLOW, SLOW, SLOW, 100, LARGE),
}
_DEFAULT: dict[str, tuple[float | str | None, ...]] = {
    "pendigits-100": (0.5, None, None, 5, 0.5, 0.4, 3, 0.2, 0.3),
    "vowel": (0.5, None, None, 8, 0.8, 0.6, 3, 0.2, 0.3),
    "usps-100": (4, None, None, 40, 8, 4, 8, 0.8, 0.5),
    "satimage": (3, None, None, 10, 0.7, 0.6, 1.6, 0.5, 0.7),
    "mnist-10k-hog": (10, None, None, SLOW, 15, 35, 30, 19, 20),
    "mnist-10k-pixels": (10, None, None, 50, 14, 60, 40, 10, 4),
    "mnist-60k-hog": (30, None, None, SLOW, 45, 65, 40, 146, 60),
    "mnist-60k-pixels": (60, None, None, SLOW, 60, 150, 120, 65, 22),
    "generated-10": (5, None, None, SLOW, 4, 6, 6, 5, 5),
    "generated-100": (10, None, None, SLOW, 25, 36, 45, 10, 15),
    "generated-1000": (60, None, None, SLOW, SLOW, SLOW, SLOW, 50, LARGE),
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
