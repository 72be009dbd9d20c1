"""The empirical risk over all pairs (sample i, wrong class r), and its dual weights.

Scores and weights are (k, m) arrays, one row per class. The risk maps scores F to its value and to
signed weights C: ``C_ri = -u_ir`` for a wrong class r and
``C_{y_i, i} = sum_r u_ir``, so that for any weak learner h
``sum_ir u_ir [h(i, y_i) - h(i, r)] = sum_ri C_ri h(i, r)``.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..losses import ExponentialLoss, LogisticLoss, Loss
from ..runtime.compiling import kernel
from ..runtime.parallel import ThreadTeam

Form = Literal["log-sum-exp", "sum", "mean"]

_CHUNK = 2048  # samples that are summed up together, whatever the number of threads


@kernel
def _own_scores(scores: NDArray, y: NDArray, start: int) -> NDArray:
    """Scores of the true classes of ``len(y)`` samples from `start` on."""
    own = np.empty(len(y))
    for i in range(len(y)):
        own[i] = scores[y[i], start + i]
    return own


@kernel
def _smallest_margin(scores: NDArray, y: NDArray, start: int, stop: int) -> float:
    """Smallest margin of a wrong class among some samples."""
    y = y[start:stop]
    own = _own_scores(scores, y, start)
    highest = np.full(len(y), -np.inf)
    for r in range(scores.shape[0]):
        row = scores[r, start:stop]
        for i in range(len(y)):
            score = row[i] if y[i] != r else -np.inf
            highest[i] = score if score > highest[i] else highest[i]
    smallest = np.inf
    for i in range(len(y)):
        smallest = min(smallest, own[i] - highest[i])
    return smallest


@kernel
def _exponential(
    scores: NDArray,
    y: NDArray,
    sample_weight: NDArray,
    shift: float,
    signed: NDArray,
    start: int,
    stop: int,
) -> float:
    """Signed weights of ``s_i exp(shift - rho_ir)`` for some samples, and the sum of these.

    Function calls have loops of their own, so that the other loops are vectorised.
    """
    y, weight = y[start:stop], sample_weight[start:stop]
    own = _own_scores(scores, y, start)
    sums = np.zeros(len(y))
    for r in range(scores.shape[0]):
        row, out = scores[r, start:stop], signed[r, start:stop]
        for i in range(len(y)):
            out[i] = shift - own[i] + row[i]
        for i in range(len(y)):
            out[i] = np.exp(out[i])
        for i in range(len(y)):
            dual = weight[i] * out[i] if y[i] != r else 0.0
            out[i] = -dual
            sums[i] += dual
    for i in range(len(y)):
        signed[y[i], start + i] = sums[i]
    return sums.sum()


@kernel
def _divide(signed: NDArray, total: float, start: int, stop: int) -> float:
    """Divide the weights of some samples by their sum over all."""
    for r in range(signed.shape[0]):
        row = signed[r, start:stop]
        for i in range(len(row)):
            row[i] /= total
    return total


@kernel
def _logistic(
    scores: NDArray,
    y: NDArray,
    sample_weight: NDArray,
    factor: float,
    signed: NDArray,
    start: int,
    stop: int,
) -> float:
    """Signed weights of ``s_i log(1 + exp(-rho_ir))`` for some samples, and the sum of these."""
    y, weight = y[start:stop], sample_weight[start:stop]
    own = _own_scores(scores, y, start)
    sums = np.zeros(len(y))
    losses = np.zeros(len(y))
    small = np.empty(len(y))
    logs = np.empty(len(y))
    for r in range(scores.shape[0]):
        row, out = scores[r, start:stop], signed[r, start:stop]
        for i in range(len(y)):
            small[i] = np.exp(-abs(own[i] - row[i]))
        for i in range(len(y)):
            logs[i] = np.log1p(small[i])
        for i in range(len(y)):
            wrong = weight[i] if y[i] != r else 0.0
            margin = own[i] - row[i]
            losses[i] += wrong * (max(-margin, 0.0) + logs[i])
            part = small[i] if margin > 0 else 1.0
            dual = factor * wrong * part / (1.0 + small[i])
            out[i] = -dual
            sums[i] += dual
    for i in range(len(y)):
        signed[y[i], start + i] = sums[i]
    return factor * losses.sum()


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
        self.factor = 1.0 / (n_classes * total) if form == "mean" else 1.0
        self.constant = 0.0
        if form == "mean":
            self.constant = float(loss.value(np.zeros(1))[0]) / n_classes

    @classmethod
    def of(
        cls, loss: Loss, y: NDArray, n_classes: int, sample_weight: NDArray, form: Form
    ) -> PairwiseRisk:
        """Return the risk in `form`, or as log-sum-exp if the loss is exponential.

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

    def evaluate(
        self, scores: NDArray, team: ThreadTeam | None = None, out: NDArray | None = None
    ) -> tuple[float, NDArray]:
        """Return the risk and the signed weights C at the given scores.

        The dual weights u behind C follow from the KKT conditions (rankKKT), (KKT-APP), (logKKT).

        Parameters
        ----------
        scores : ndarray of shape (n_classes, n_samples)
            Scores F.
        team : ThreadTeam or None
            Threads; the result does not depend on their number.
        out : ndarray of shape (n_classes, n_samples) or None
            Receives the signed weights; None for a new array.

        Returns
        -------
        tuple of (float, ndarray of shape (n_classes, n_samples))
            The value and the signed weights.
        """
        signed = np.empty(scores.shape) if out is None else out
        given = np.ascontiguousarray(scores), self.y, self.sample_weight
        if self.form == "log-sum-exp":
            shift = min(self._by_chunk(_smallest_margin, *given[:2], team=team))
            total = sum(self._by_chunk(_exponential, *given, shift, signed, team=team))
            self._by_chunk(_divide, signed, total, team=team)
            return float(np.log(total) - shift), signed
        if isinstance(self.loss, LogisticLoss):
            parts = self._by_chunk(_logistic, *given, self.factor, signed, team=team)
            return float(sum(parts)) + self.constant, signed
        margins = self.margins(scores)
        own = (self.y, self._samples)
        losses = self.loss.value(margins)
        losses[own] = 0.0
        value = self.factor * float((losses @ self.sample_weight).sum()) + self.constant
        np.multiply(self.loss.derivative(margins), self.factor * self.sample_weight, out=signed)
        signed[own] = 0.0
        signed[own] = -signed.sum(axis=0)
        return value, signed

    def _by_chunk(self, part: Any, *given: Any, team: ThreadTeam | None) -> list[float]:
        """Call a kernel on chunks of the samples; return its results in order."""
        n_samples = len(self.y)
        n_chunks = -(-n_samples // _CHUNK)
        results = [0.0] * n_chunks

        if n_chunks == 1:
            return [part(*given, 0, n_samples)]

        def work(first: int, last: int) -> None:
            for chunk in range(first, last):
                stop = min((chunk + 1) * _CHUNK, n_samples)
                results[chunk] = part(*given, chunk * _CHUNK, stop)

        if team is None:
            work(0, n_chunks)
        else:
            team.run(work, n_chunks)
        return results

    def unit(self, value: float) -> float:
        """Return the scale of changes of `value`, for convergence tests.

        Changes of a logarithm are absolute, those of a sum or a mean relative.

        Parameters
        ----------
        value : float
            A value of the risk.

        Returns
        -------
        float
            The scale, positive.
        """
        if self.form == "log-sum-exp":
            return 1.0
        return max(abs(value), float(np.finfo(np.float64).tiny))
