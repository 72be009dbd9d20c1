"""The empirical risk over all pairs (sample i, wrong class r), and its dual weights.

Scores and weights are (k, m) arrays, one row a class. The risk turns scores F into its value and
into the signed weights C of the design: ``C_ri = -u_ir`` for a wrong class r and
``C_{y_i, i} = sum_r u_ir``, so that for any weak learner h
``sum_ir u_ir [h(i, y_i) - h(i, r)] = sum_ri C_ri h(i, r)``.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from .losses import ExponentialLoss, Loss

Form = Literal["log-sum-exp", "sum", "mean"]


class PairwiseRisk:
    """Weighted loss over the m (k - 1) pairs, in one of the paper's three forms.

    Parameters
    ----------
    loss : Loss
        Loss of one margin.
    y : ndarray of int, shape (n_samples,)
        Class numbers.
    n_classes : int
        Number of classes k.
    sample_weight : ndarray of shape (n_samples,)
        Weights s_i of the samples.
    form : {"log-sum-exp", "sum", "mean"}
        ``log sum_ir s_i exp(-rho_ir)`` (rankPrimal, exponential loss only),
        ``sum_ir s_i loss(rho_ir)`` (App2), or the mean over samples and all k classes
        (logPrimal), whose terms r = y_i are the constant loss(0).
    """

    def __init__(
        self, loss: Loss, y: NDArray, n_classes: int, sample_weight: NDArray, form: Form
    ) -> None:
        self.loss = loss
        self.y = y
        self.form = form
        self.sample_weight = np.asarray(sample_weight, dtype=np.float64)
        self._samples = np.arange(len(y))
        total = self.sample_weight.sum()
        self._factor = 1.0 / (n_classes * total) if form == "mean" else 1.0
        self._constant = 0.0
        if form == "mean":
            self._constant = float(loss.value(np.zeros(1))[0]) / n_classes

    @classmethod
    def of(
        cls, loss: Loss, y: NDArray, n_classes: int, sample_weight: NDArray, form: Form
    ) -> PairwiseRisk:
        """Return the risk in `form`, or as log-sum-exp where the loss is the exponential one.

        Parameters
        ----------
        loss, y, n_classes, sample_weight, form
            As for the class.

        Returns
        -------
        PairwiseRisk
            The risk.
        """
        if isinstance(loss, ExponentialLoss):
            form = "log-sum-exp"
        return cls(loss, y, n_classes, sample_weight, form)

    def margins(self, scores: NDArray) -> NDArray:
        """Return ``rho_ir = F(i, y_i) - F(i, r)`` as a (k, m) array (rank1)."""
        return scores[self.y, self._samples] - scores

    def evaluate(self, scores: NDArray) -> tuple[float, NDArray]:
        """Return the risk and the signed weights C at the given scores.

        The dual weights u behind C follow from the KKT conditions (rankKKT), (KKT-APP), (logKKT).

        Parameters
        ----------
        scores : ndarray of shape (n_classes, n_samples)
            Scores F.

        Returns
        -------
        tuple of (float, ndarray of shape (n_classes, n_samples))
            The value and the signed weights.
        """
        margins = self.margins(scores)
        own = (self.y, self._samples)
        if self.form == "log-sum-exp":
            margins[own] = np.inf
            shift = margins.min()
            dual = np.exp(shift - margins)
            dual *= self.sample_weight
            total = dual.sum()
            dual /= total
            value = float(np.log(total) - shift)
        else:
            losses = self.loss.value(margins)
            losses[own] = 0.0
            value = self._factor * float((losses @ self.sample_weight).sum()) + self._constant
            dual = -self.loss.derivative(margins) * (self._factor * self.sample_weight)
            dual[own] = 0.0
        signed = -dual
        signed[own] = dual.sum(axis=0)
        return value, signed

    def unit(self, value: float) -> float:
        """Return the size against which changes of `value` are to be judged.

        A logarithm is judged by its change alone, a sum or a mean relative to its size.

        Parameters
        ----------
        value : float
            A value of the risk.

        Returns
        -------
        float
            The size, positive.
        """
        if self.form == "log-sum-exp":
            return 1.0
        return max(abs(value), float(np.finfo(np.float64).tiny))

    def dual_value(self, signed: NDArray) -> float:
        """Return the dual objective at signed weights C: (rankDual), (AppDual2), (logDual).

        It bounds the primal optimum from below where the dual constraints hold.

        Parameters
        ----------
        signed : ndarray of shape (n_classes, n_samples)
            Signed weights C.

        Returns
        -------
        float
            The dual objective.
        """
        dual = -signed
        dual[self.y, self._samples] = 0.0
        if self.form == "log-sum-exp":
            weight = np.broadcast_to(self.sample_weight, dual.shape)
            return float(-(xlogy(dual, dual) - xlogy(dual, weight)).sum())
        weight = self._factor * self.sample_weight
        conjugate = self.loss.conjugate(-dual / weight)  # type: ignore[attr-defined]
        conjugate[self.y, self._samples] = 0.0
        return float(-(conjugate @ weight).sum()) + self._constant
