"""Figures of the page on defaults from the measurements: means, ratios, ranks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from statistics import fmean

import numpy as np
from beyond_models import BASE, MODELS, OURS
from beyond_results import Row, latest
from scipy.stats import rankdata

OFFSET = 0.1  # percent that errors have more in ratios, so that a perfect model does not decide
Splits = dict[int, Row]


def error(row: Row) -> float:
    """Return an error in the form that ratios of means take."""
    return row.error + OFFSET


def loss(row: Row) -> float:
    """Return a log loss."""
    return row.log_loss


def geometric_mean(values: Iterable[float]) -> float:
    """Return the geometric mean, nan of nothing."""
    found = list(values)
    return float(np.exp(np.mean(np.log(found)))) if found else float("nan")


class Figures:
    """The measurements of some sets.

    Parameters
    ----------
    rows : list of Row
        All measurements.
    sets : list of str
        The sets that count, in their order.
    quiet : bool
        Whether only those of a quiet machine count.
    """

    def __init__(self, rows: list[Row], sets: list[str], quiet: bool = False) -> None:
        self._cells: dict[tuple[str, str], Splits] = {}
        for (name, split, model), row in latest(rows, quiet).items():
            if name in sets:
                self._cells.setdefault((name, model), {})[split] = row
        self.sets = [name for name in sets if any(key[0] == name for key in self._cells)]
        self.models = [name for name in MODELS if any(key[1] == name for key in self._cells)]
        self.reference = OURS if any(row.model == OURS for row in rows) else BASE

    def good(self, name: str, model: str) -> Splits:
        """Return the rows with figures of a model on a set, by split."""
        return {split: row for split, row in self.tried(name, model).items() if row.good}

    def tried(self, name: str, model: str) -> Splits:
        """Return all rows of a model on a set, by split."""
        return self._cells.get((name, model), {})

    def mean(self, name: str, model: str, field: str) -> float:
        """Return the mean of a column over the splits; nan where a fit did not end."""
        if len(self.good(name, model)) < len(self.tried(name, model)):
            return float("nan")
        values = [getattr(row, field) for row in self.good(name, model).values()]
        return fmean(values) if values else float("nan")

    def ratios(self, model: str, value: Callable[[Row], float] = error) -> dict[str, float]:
        """Return the reference's mean over the model's by set, on the splits that both have."""
        found = {}
        for name in self.sets:
            ours, others = self.good(name, self.reference), self.good(name, model)
            common = sorted(ours.keys() & others.keys())
            if common:
                found[name] = fmean(value(ours[split]) for split in common) / fmean(
                    value(others[split]) for split in common
                )
        return found

    def ranks(self, value: Callable[[Row], float] = error) -> tuple[dict[str, float], list[int]]:
        """Return average ranks over the sets, and the number of splits that each set has for them.

        A set counts with the splits on which all models were tried; a fit that did not end has
        the last rank. Other efforts of ours take no part.
        """
        found, counts = [], []
        models = [model for model in self.models if MODELS[model].effort is None]
        for name in self.sets:
            tried = {model: self.tried(name, model) for model in models}
            common = sorted(set.intersection(*(set(rows) for rows in tried.values())))
            if not common:
                continue
            means = [
                fmean(value(rows[split]) if rows[split].good else np.inf for split in common)
                for rows in tried.values()
            ]
            found.append(rankdata(means))
            counts.append(len(common))
        average = np.mean(found, axis=0) if found else np.full(len(models), np.nan)
        return dict(zip(models, average.tolist(), strict=True)), counts

    def n_splits(self, model: str) -> tuple[int, int]:
        """Return the smallest and the largest number of splits of a model on the sets."""
        counts = [len(self.tried(name, model)) for name in self.sets]
        return min(counts), max(counts)
