"""Scores that are weighted sums of the features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..runtime.checked_arrays import Arrays, Taken, floats, need
from ..runtime.parallel import ThreadTeam
from .base import ModelShape
from .plain_tables import LinearTable, PlainTables
from .start import Start

_ROWS = 4096  # that a thread works on at a time


@dataclass(frozen=True)
class LinearScores(Start):
    """Scores ``sum_j (x_j - mean_j) c_jr`` of the classes r.

    A feature x_j counts as its limit where it is further from 0, so that no feature adds more than
    it did in training.

    Parameters
    ----------
    coefficients : ndarray of float32 of shape (n_features, n_classes)
        The coefficients c.
    means : ndarray of float32 of shape (n_features,)
        Means of the features.
    limits : ndarray of float32 of shape (n_features,)
        Largest absolute values.
    share : float
        Part of the loss of the prior that these scores remove, on samples they do not know.
    """

    name = "linear scores"
    coefficients: NDArray[np.float32]
    means: NDArray[np.float32]
    limits: NDArray[np.float32]
    share: float

    @cached_property
    def _sums(self) -> tuple[NDArray, NDArray]:
        """The coefficients in double precision, and what the means add up to."""
        C = self.coefficients.astype(np.float64)
        return C, (self.means.astype(np.float64)[:, None] * C).sum(axis=0)

    def scores(self, X: Any, team: ThreadTeam) -> NDArray[np.float32]:
        """Return the scores of prepared features."""
        C, base = self._sums
        out = np.empty((C.shape[1], X.shape[0]), dtype=np.float32)

        def work(number: int) -> None:
            rows = slice(number * _ROWS, (number + 1) * _ROWS)
            out[:, rows] = (self._limited(X[rows]) @ C - base).T

        team.for_each(work, -(-X.shape[0] // _ROWS))
        return out

    def _limited(self, X: Any) -> Any:
        """Return features that are within their limits as a CSR matrix."""
        X = plain_csr(X)
        limits = self.limits.astype(np.float64)[X.indices]
        return sp.csr_array((np.clip(X.data, -limits, limits), X.indices, X.indptr), X.shape)

    def contributions(self, X: Any, classes: NDArray[np.int64]) -> tuple[NDArray, NDArray]:
        """Return the Shapley values of a linear model: base values are 0."""
        table = self._sums[0]
        if table.shape[1] == 2:
            table = table - table[:, ::-1]
        centred = self._limited(X).toarray() - self.means.astype(np.float64)
        found = centred[:, :, None] * table.T[classes].transpose(0, 2, 1)
        return found, np.zeros(classes.shape)

    def importances(self) -> NDArray:
        """Return how much the scores could vary with every feature."""
        C = self._sums[0]
        spread = ((C - C.mean(axis=1, keepdims=True)) ** 2).mean(axis=1)
        return spread  # scaled features have a variance of 1

    def largest_margin(self) -> float:
        """Return a bound of the difference between any two scores of a row."""
        C, base = self._sums
        limits, largest = self.limits.astype(np.float64), 0.0
        for r in range(C.shape[1]):
            bounds = limits @ np.abs(C - C[:, r : r + 1]) + np.abs(base - base[r])
            largest = max(largest, float(bounds.max()))
        return largest

    def with_classes(self, numbers: NDArray[np.int64], n_classes: int) -> LinearScores:
        """Return the scores with further classes, which have none."""
        coefficients = np.zeros((len(self.means), n_classes), dtype=np.float32)
        coefficients[:, numbers] = self.coefficients
        return LinearScores(coefficients, self.means, self.limits, self.share)

    def to_arrays(self) -> Arrays:
        """Return the arrays of a file by name."""
        return {
            "linear.coefficients": self.coefficients,
            "linear.means": self.means,
            "linear.limits": self.limits,
            "linear.share": floats(np.array([self.share])),
        }

    @classmethod
    def from_arrays(cls, taken: Taken, shape: ModelShape) -> LinearScores:
        """Return the scores that `to_arrays` was given."""
        coefficients = taken.single("linear.coefficients", shape.n_features, shape.n_classes)
        means = taken.single("linear.means", shape.n_features)
        limits = taken.single("linear.limits", shape.n_features)
        need(bool((limits >= 0).all()), "a limit of its features is negative")
        share = float(taken.real("linear.share", 1)[0])
        need(0 <= share <= 1, "the share of its linear scores is none")
        return cls(coefficients, means, limits, share)

    def in_tables(self, tables: PlainTables) -> PlainTables:
        """Return the tables of trees with those of the scores."""
        table = LinearTable(self.coefficients, self.limits, self._sums[1])
        return replace(tables, linear=table)


def plain_csr(X: Any) -> Any:
    """Return data as a CSR matrix in double precision whose rows are in the order of features.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        Data; missing values of an ndarray count as 0.

    Returns
    -------
    CSR matrix
        The same.
    """
    if not sp.issparse(X):
        return sp.csr_array(np.nan_to_num(X, nan=0.0).astype(np.float64, copy=False))
    canonical = X.has_canonical_format
    X = sp.csr_array(X, dtype=np.float64, copy=not canonical)
    X.sum_duplicates()
    return X
