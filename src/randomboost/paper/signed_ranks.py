"""Wilcoxon's signed-rank test between the columns of a table, on the digits that are printed."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from .tables import DIGITS, Table, markdown_table

_FEWEST = 5  # sets that differ


@dataclass(frozen=True)
class SignedRank:
    """Wilcoxon's signed-rank test between two methods over their common sets.

    Parameters
    ----------
    first, second : str
        Keys of the methods.
    whose : {"ours", "paper"}
        Whose errors.
    sets : int
        Number of sets.
    statistic, p : float
        The smaller rank sum and the two-sided p-value.
    wins, losses : int
        Numbers of sets on which the first has the lower and the higher error.
    """

    first: str
    second: str
    whose: str
    sets: int
    statistic: float
    p: float
    wins: int
    losses: int


def signed_rank(first: Sequence[float], second: Sequence[float]) -> tuple[float, float]:
    """Return the smaller rank sum and the two-sided p-value of the printed differences.

    Means are rounded as they are printed, and so are their differences: otherwise noise in the
    last bits breaks ties.

    Parameters
    ----------
    first, second : sequence of float
        Errors of two methods in %, by set; not all equal.

    Returns
    -------
    tuple of float
        Statistic and p-value.
    """
    return _tested(tuple(_differences(first, second).tolist()))


@cache  # permutations take seconds, and several tables have the same columns
def _tested(differences: tuple[float, ...]) -> tuple[float, float]:
    from scipy.stats import wilcoxon

    found = wilcoxon(differences)
    return float(found.statistic), float(found.pvalue)


def _differences(first: Sequence[float], second: Sequence[float]) -> np.ndarray:
    one, other = (np.round(np.asarray(errors, dtype=float), DIGITS) for errors in (first, second))
    return np.round(one - other, DIGITS) + 0.0


def signed_ranks(table: Table) -> list[SignedRank]:
    """Return the tests of all pairs of columns, for our errors and for the paper's.

    Parameters
    ----------
    table : Table
        The table; the last one of several stages is used.

    Returns
    -------
    list of SignedRank
        The tests with at least five sets that differ.
    """
    last: dict[str, str] = {}
    for key, _ in table.columns:
        last[key.split("@")[0]] = key
    tests = []
    for first, second in itertools.combinations(last.values(), 2):
        both = [
            (table.entries[name, first], table.entries[name, second])
            for name in table.sets
            if (name, first) in table.entries and (name, second) in table.entries
        ]
        pairs = {
            "ours": [(a.mean, b.mean) for a, b in both],
            "paper": [(a.paper[0], b.paper[0]) for a, b in both if a.paper and b.paper],
        }
        for whose, values in pairs.items():
            if not values:
                continue
            errors = tuple(zip(*values, strict=True))
            gaps = _differences(*errors)
            if np.count_nonzero(gaps) < _FEWEST:
                continue
            wins, losses = int((gaps < 0).sum()), int((gaps > 0).sum())
            result = signed_rank(*errors)
            tests.append(SignedRank(first, second, whose, len(gaps), *result, wins, losses))
    return tests


def signed_rank_markdown(tests: Sequence[SignedRank]) -> str:
    """Return the tests as Markdown.

    Parameters
    ----------
    tests : sequence of SignedRank
        The tests.

    Returns
    -------
    str
        The text.
    """
    titles = ["first", "second", "figures", "sets", "first lower", "second lower", "statistic", "p"]
    rows = []
    for t in tests:
        counts = map(str, (t.sets, t.wins, t.losses))
        rows.append([t.first, t.second, t.whose, *counts, f"{t.statistic:g}", f"{t.p:.3f}"])
    return markdown_table(titles, rows)
