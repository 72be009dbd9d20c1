"""What every fit costs on two cores, roughly, and which fits are left out."""

from __future__ import annotations

from dataclasses import dataclass

from peers import PEERS

LONG_FIT = 60.0  # seconds; a fit that takes longer is made once
SLOW = "over 3 minutes a fit"
LARGE = "over 10 GB"
_OVERHEAD = 1.2  # loading, warming up, predicting

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

# Seconds at the same number of rounds, in the order of PEERS; text says why a fit is left out.
_SAME: dict[str, tuple[float | str, ...]] = {
    "pendigits-100": (25, 3, 40, 3, 3, 30, 3, 3),
    "vowel": (25, 3, 40, 4, 5, 30, 3, 3),
    "usps-100": (30, 6, 170, 60, 30, 75, 15, 4),
    "satimage": (90, 20, 80, 6, 6, 16, 10, 7),
    "mnist-10k-hog": (120, 8, 20, 15, 35, 35, 37, 20),
    "mnist-10k-pixels": (SLOW, 12, 20, 14, 60, 50, 20, 4),
    "mnist-60k-hog": (SLOW, 40, 80, 45, 65, 45, SLOW, 60),
    "mnist-60k-pixels": (SLOW, 70, 120, 60, 150, 150, 130, 22),
    "generated-10": (140, 5, 20, 4, 6, 6, 9, 5),
    "generated-100": (SLOW, 60, 120, 25, 36, 45, 19, 15),
    "generated-1000": (SLOW, 180, SLOW, SLOW, SLOW, SLOW, 100, LARGE),
}
_DEFAULT: dict[str, tuple[float | str, ...]] = {
    "pendigits-100": (1, 1, 5, 0.5, 0.4, 3, 0.2, 0.3),
    "vowel": (1, 1, 8, 0.8, 0.6, 3, 0.2, 0.3),
    "usps-100": (2, 2, 40, 8, 4, 8, 0.8, 0.5),
    "satimage": (3, 3, 10, 0.7, 0.6, 1.6, 0.5, 0.7),
    "mnist-10k-hog": (15, 8, SLOW, 15, 35, 30, 19, 20),
    "mnist-10k-pixels": (25, 12, 50, 14, 60, 40, 10, 4),
    "mnist-60k-hog": (120, 40, SLOW, 45, 65, 40, 146, 60),
    "mnist-60k-pixels": (170, 70, SLOW, 60, 150, 120, 65, 22),
    "generated-10": (20, 5, SLOW, 4, 6, 6, 5, 5),
    "generated-100": (150, 60, SLOW, 25, 36, 45, 10, 15),
    "generated-1000": (SLOW, SLOW, SLOW, SLOW, SLOW, SLOW, 50, LARGE),
}


@dataclass(frozen=True)
class Plan:
    """What is measured on the data sets, in full or quickly.

    Parameters
    ----------
    quick : bool
        Fewer sets and rounds, one run.
    runs : int
        Runs of every fit below a minute.
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

    def cost(self, name: str, model: str, rounds: int | None) -> float | str:
        """Return the seconds of a fit, or why it is left out; rounds None is the default."""
        found = (_DEFAULT if rounds is None else _SAME)[name][list(PEERS).index(model)]
        if isinstance(found, str):
            return found
        if rounds is not None:
            found *= rounds / ROUNDS[name]
        return f"over {_QUICK_FIT:g} s" if self.quick and found > _QUICK_FIT else found

    def expected(self, name: str, model: str, rounds: int | None, run: int) -> float:
        """Return the seconds of one run of a model, 0 where there is none."""
        once = self.cost(name, model, rounds)
        if isinstance(once, str) or (run and once > LONG_FIT):
            return 0.0
        return _OVERHEAD * once
