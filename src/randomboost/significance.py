"""Significance of differences between models: ranks and tests over folds or data sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

METHODS = ("corrected_t", "wilcoxon", "nemenyi")


@dataclass(frozen=True)
class Comparison:
    """Comparison of models; see `compare`.

    Parameters
    ----------
    names : tuple of str
        Names of the models.
    errors : ndarray of shape (n_parts, n_models)
        Their errors.
    ranks : ndarray of shape (n_models,)
        Mean ranks over the parts; 1 is the best, equal errors have the same rank.
    p_values : ndarray of shape (n_models, n_models)
        p-values of all pairs, adjusted for the number of pairs; NaN if there are fewer than two
        parts.
    friedman_p : float
        p-value of Friedman's test for equal ranks; NaN for fewer than three models or two parts.
    critical_difference : float or None
        Of Nemenyi's test: mean ranks that differ by more are significantly different.
    method : {"corrected_t", "wilcoxon", "nemenyi"}
        Test for pairs.
    alpha : float
        Significance level.
    """

    names: tuple[str, ...]
    errors: NDArray
    ranks: NDArray
    p_values: NDArray
    friedman_p: float
    critical_difference: float | None
    method: str
    alpha: float

    @property
    def best(self) -> int:
        """Return the number of the model with the lowest mean error."""
        return int(self.errors.mean(axis=0).argmin())

    def groups(self) -> list[list[int]]:
        """Return the largest groups of neighbours in rank without significant differences."""
        order = np.argsort(self.ranks, kind="stable")
        differs = ~(self.p_values >= self.alpha)[np.ix_(order, order)]  # also if untested
        found: list[list[int]] = []
        reached = 0
        for first in range(len(order)):
            end = first + 1
            while end < len(order) and not differs[first : end + 1, first : end + 1].any():
                end += 1
            if end > max(reached, first + 1):
                found.append(order[first:end].tolist())
            reached = max(reached, end)
        return found


def compare(
    errors: Any,
    names: Sequence[str] | None = None,
    *,
    method: str = "wilcoxon",
    alpha: float = 0.05,
) -> Comparison:
    """Compare models by their errors on the same folds or data sets.

    Parameters
    ----------
    errors : array-like of shape (n_parts, n_models)
        One row per fold or data set. The columns of a pandas table name the models.
    names : sequence of str, default=None
        Names of the models.
    method : {"wilcoxon", "corrected_t", "nemenyi"}, default="wilcoxon"
        "wilcoxon": signed-rank test with Holm's adjustment, for at least six data sets.
        "corrected_t": the corrected t-test of Nadeau and Bengio for the folds of one
        cross-validation, which share most of their training data, with Holm's adjustment.
        "nemenyi": Nemenyi's test of the mean ranks, with one critical difference.
    alpha : float, default=0.05
        Significance level.

    Returns
    -------
    Comparison
        Ranks and p-values.

    Examples
    --------
    >>> from randomboost.significance import compare
    >>> errors = [[0.10, 0.20], [0.12, 0.25], [0.08, 0.17], [0.11, 0.22]]
    >>> found = compare(errors, ["one", "two"], method="corrected_t")
    >>> found.names[found.best], bool(found.p_values[0, 1] < 0.05)
    ('one', True)
    """
    names = model_names(errors) if names is None else names
    errors = np.asarray(errors, dtype=np.float64)
    if errors.ndim != 2 or errors.shape[0] < 1 or errors.shape[1] < 1:
        raise ValueError(
            f"errors has shape {errors.shape}: pass a row for every fold or data set and a column "
            "for every model"
        )
    if len(names) != errors.shape[1]:
        raise ValueError(
            f"names has {len(names)} names but errors has {errors.shape[1]} columns: pass one name "
            "per model"
        )
    if not np.isfinite(errors).all():
        raise ValueError("errors has missing values: leave out those folds, data sets or models")
    if method not in METHODS:
        raise ValueError(f"method={method!r} is unknown: use one of {', '.join(METHODS)}")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha={alpha} is not a significance level: use one such as 0.05")
    n_parts, n_models = errors.shape
    ranks = stats.rankdata(errors, axis=1).mean(axis=0)
    difference = None
    if n_parts < 2:
        p_values = np.full((n_models, n_models), np.nan)
    elif method == "nemenyi":
        unit = np.sqrt(n_models * (n_models + 1) / (12 * n_parts))
        gaps = np.abs(ranks[:, None] - ranks[None, :])
        p_values = stats.studentized_range.sf(gaps / unit, max(n_models, 2), np.inf)
        difference = float(unit * stats.studentized_range.isf(alpha, max(n_models, 2), np.inf))
    else:
        p_values = _pairwise(errors, _corrected_t if method == "corrected_t" else _wilcoxon)
    np.fill_diagonal(p_values, 1.0)
    return Comparison(
        tuple(names), errors, ranks, p_values, _friedman(errors), difference, method, alpha
    )


def model_names(errors: Any) -> list[str]:
    """Return the names of the columns of a table of errors, or their numbers.

    Parameters
    ----------
    errors : array-like of shape (n_parts, n_models)
        One row per fold or data set.

    Returns
    -------
    list of str
        The names.
    """
    return [str(name) for name in getattr(errors, "columns", range(np.shape(errors)[-1]))]


def _friedman(errors: NDArray) -> float:
    n_parts, n_models = errors.shape
    if n_parts < 2 or n_models < 3:
        return float("nan")
    if (errors == errors[:, :1]).all():
        return 1.0  # all ranks are tied
    return float(stats.friedmanchisquare(*errors.T).pvalue)


def _corrected_t(differences: NDArray) -> float:
    n = len(differences)
    spread = np.sqrt((1 / n + 1 / (n - 1)) * differences.var(ddof=1))
    mean = abs(differences.mean())
    if spread <= 1e-12 * mean or spread == 0:
        return 1.0 if mean == 0 else 0.0
    return float(2 * stats.t.sf(mean / spread, n - 1))


def _wilcoxon(differences: NDArray) -> float:
    if not differences.any():
        return 1.0
    return float(stats.wilcoxon(differences).pvalue)


def _pairwise(errors: NDArray, test: Callable[[NDArray], float]) -> NDArray:
    """Return the p-values of all pairs with Holm's adjustment."""
    n_models = errors.shape[1]
    pairs = list(combinations(range(n_models), 2))
    raw = np.array([test(errors[:, one] - errors[:, other]) for one, other in pairs])
    order = np.argsort(raw, kind="stable")
    adjusted = np.maximum.accumulate(raw[order] * np.arange(len(raw), 0, -1)).clip(max=1.0)
    p_values = np.ones((n_models, n_models))
    for place, p_value in zip(order, adjusted, strict=True):
        one, other = pairs[place]
        p_values[one, other] = p_values[other, one] = p_value
    return p_values
