"""MultiBoost: a weight for every class and weak classifier (Shen and Hao 2011)."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linprog
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from ..ensembles.class_votes import Coding, FreeVotes
from ..losses import Loss, get_loss
from ..runtime.parallel import ThreadTeam
from ..training.column_generation import ProjTrainer
from ..training.rounds import Model, Trainer, TrainingData
from .base import BaseBoostingClassifier
from .coded import CodedClassifier


class HingeLoss:
    """The hinge loss ``max(0, 1 - rho)``; not smooth, so it is minimised as a linear program."""

    proba_scale = 1.0

    def value(self, margins: NDArray) -> NDArray:
        """Return ``max(0, 1 - margins)``."""
        return np.maximum(0.0, 1.0 - margins)

    def derivative(self, margins: NDArray) -> NDArray:
        """Return a subgradient."""
        return -(margins < 1.0).astype(np.float64)


class HingeTrainer(ProjTrainer):
    """Rounds with the hinge loss: a linear program with one slack a sample, solved by HiGHS.

    The dual weights are the multipliers of the program's constraints.
    """

    def __init__(
        self, estimator: Any, coding: Coding, data: TrainingData, start: Model, team: ThreadTeam
    ) -> None:
        k, m = len(estimator.classes_), len(data.y)
        self._share = data.sample_weight / data.sample_weight.sum()
        self._own = (data.y, np.arange(m))
        self._wrong = np.ones((k, m), dtype=bool)
        self._wrong[self._own] = False
        self._set_dual(np.broadcast_to(self._share / (k - 1), (k, m)))
        super().__init__(estimator, coding, data, start, team)
        if start.hypotheses:
            self._solve(start.weights, len(start.hypotheses), quick=False)
            self._take(start.weights, len(start.hypotheses))

    def _set_dual(self, dual: NDArray) -> None:
        self._dual_signed = -np.where(self._wrong, dual, 0.0)
        self._dual_signed[self._own] = -self._dual_signed.sum(axis=0)

    def _evaluate(
        self, weights: NDArray, n_rounds: int, *, quick: bool = False
    ) -> tuple[float, NDArray, NDArray]:
        """Value of the program, signed weights C from its multipliers, and moments H^T C."""
        outputs = self._outputs[:n_rounds]
        scores = self._coding.effective(weights, n_rounds).T @ outputs
        margins = np.where(self._wrong, scores[self._own] - scores, np.inf)
        value = float(self._share @ np.maximum(0.0, 1.0 - margins.min(axis=0)))
        moments = outputs @ self._dual_signed.T
        return value + self._nu * float(weights.sum()), self._dual_signed, moments

    def _solve(self, weights: NDArray, n_rounds: int, *, quick: bool) -> NDArray:
        """Solve ``min nu 1^T w + sum_i s_i xi_i`` s.t. ``rho_ir >= 1 - xi_i``, w, xi >= 0."""
        k, m = self._wrong.shape
        classes, samples = np.nonzero(self._wrong)
        rows = np.arange(len(classes))
        outputs = self._outputs[:n_rounds].T[samples]  # (pairs, rounds)
        own = self._own[0][samples]
        blocks = [
            sp.csr_array(
                (
                    outputs[:, t].repeat(2) * np.tile([-1.0, 1.0], len(rows)),
                    (rows.repeat(2), np.stack([own, classes], axis=1).ravel()),
                ),
                shape=(len(rows), k),
            )
            for t in range(n_rounds)
        ]
        slack = sp.csr_array((-np.ones(len(rows)), (rows, samples)), shape=(len(rows), m))
        cost = np.concatenate([np.full(n_rounds * k, self._nu), self._share])
        found = linprog(
            cost,
            A_ub=sp.hstack([*blocks, slack], format="csc"),
            b_ub=-np.ones(len(rows)),
            method="highs",
        )
        dual = np.zeros((k, m))
        dual[classes, samples] = -found.ineqlin.marginals
        self._set_dual(dual)
        return np.maximum(found.x[: n_rounds * k], 0.0)


class MultiBoostClassifier(CodedClassifier):
    """MultiBoost: one ensemble and a weight vector for every class, by column generation.

    The weights W >= 0 in R^(k x T) of ``F_r(x) = sum_t W_rt h_t(x)`` are solved for again after
    every round, with an l1 penalty; the weak classifier of a round is the one whose constraint of
    the dual problem is violated most, for any class (Shen and Hao 2011).

    Parameters
    ----------
    n_estimators : int, default=100
        Largest number of rounds T.
    loss : {"logistic", "exponential", "hinge"} or object, default="logistic"
        Loss of the pairwise margins ``F_y - F_r``. The logistic loss is averaged over samples and
        classes, the exponential loss minimised as ``log sum exp``, both by L-BFGS-B. The hinge
        loss has one slack a sample, is averaged over the samples and solved as a linear program,
        which is slow for many rounds. An object needs ``value(margins)`` and
        ``derivative(margins)``.
    nu : float, default=1e-5
        Weight of the l1 penalty.
    stopping : {"violation", "objective"}, default="violation"
        "violation": training ends when no constraint of the dual is violated by more than `tol`
        and a thousandth of nu, which is as far as W is solved for.
        "objective": when a round changes the objective by less than `tol`, relative to its value.
        With `iterations_per_round` either must still hold when W is solved for fully.
    tol : float, default=1e-8
        The tolerance of `stopping`.
    solver_options : dict or None, default=None
        Options of SciPy's L-BFGS-B, as in `RBoostProjClassifier`.
    iterations_per_round : int or None, default=10
        Iterations of the solver after each round; None solves fully after every round.
    weak_learner : {"stump", "real_stump", "wlda", "tree"} or estimator, default="stump"
        "stump": decision stump with outputs -1 and +1, searched jointly with the class that it is
        for. "real_stump": the same cut with outputs in [-1, 1]. "wlda": weighted Fisher LDA and
        a stump. "tree": scikit-learn's decision tree with at most 8 leaves. Or any scikit-learn
        classifier (or regressor) that takes sample_weight.
    search : {"exact", "histogram"}, default="exact"
        "exact": all thresholds. "histogram": those between `max_bins` quantile bins a feature.
    max_bins : int, default=256
        Bins of ``search="histogram"``.
    scale : bool, default=True
        Scale the features to mean 0 and standard deviation 1; stumps do not care.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied into `sample_weight`. "balanced" gives all classes the
        same total weight, counted with `sample_weight`.
    early_stopping : bool, default=False
        Stop when the validation error has not fallen for `n_iter_no_change` rounds, and keep the
        best round.
    validation_fraction : float, default=0.1
        Part of the training data set aside for early stopping if no `X_val` is given.
    n_iter_no_change : int, default=50
        Patience of early stopping in rounds.
    warm_start : bool, default=False
        Go on from the rounds of the last fit, up to `n_estimators`.
    random_state : int, RandomState or None, default=None
        Seed of the validation part and of weak learners that draw.
    n_jobs : int or None, default=None
        Threads; None and -1 mean all cores.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    weights_ : ndarray of shape (n_classes, n_estimators_)
        The weights W.
    n_estimators_ : int
        Number of rounds in the model.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where they are strings.
    feature_importances_ : ndarray of shape (n_features_in_,)
        How far the weak classifiers on each feature move the class scores apart; sums to 1.
    train_history_ : dict of str to ndarray
        By round: "loss" (the primal objective), "edge" (the largest left-hand side of a dual
        constraint), and "validation_error" where there is a validation part.
    stopped_ : str
        Why the fit ended.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from randomboost import MultiBoostClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> MultiBoostClassifier(60, random_state=0).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.85
    True
    """

    _parameter_constraints: ClassVar[dict[str, list]] = {
        **BaseBoostingClassifier._parameter_constraints,
        "loss": [
            StrOptions({"exponential", "hinge", "logistic"}),
            HasMethods(["value", "derivative"]),
        ],
        "nu": [Interval(Real, 0, None, closed="neither")],
        "iterations_per_round": [Interval(Integral, 1, None, closed="left"), None],
        "stopping": [StrOptions({"objective", "violation"})],
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        loss: Any = "logistic",
        nu: float = 1e-5,
        stopping: str = "violation",
        tol: float = 1e-8,
        solver_options: dict[str, Any] | None = None,
        iterations_per_round: int | None = 10,
        weak_learner: Any = "stump",
        search: str = "exact",
        max_bins: int = 256,
        scale: bool = True,
        class_weight: Any = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 50,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.loss = loss
        self.nu = nu
        self.stopping = stopping
        self.tol = tol
        self.solver_options = solver_options
        self.iterations_per_round = iterations_per_round
        self.weak_learner = weak_learner
        self.search = search
        self.max_bins = max_bins
        self.scale = scale
        self.class_weight = class_weight
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _get_loss(self) -> Loss:
        return HingeLoss() if self.loss == "hinge" else get_loss(self.loss)

    def _coding(self, team: ThreadTeam) -> Coding:
        return FreeVotes(len(self.classes_))

    def _make_trainer(self, data: TrainingData, start: Model, team: ThreadTeam) -> Trainer:
        trainer = HingeTrainer if self.loss == "hinge" else ProjTrainer
        return trainer(self, self._coding(team), data, start, team)

    def _finish(self, model: Model) -> None:
        super()._finish(model)
        self.weights_ = np.ascontiguousarray(self._effective.T)

    def _model(self) -> Model:
        return Model(list(self._hypotheses), self._effective.ravel(), self._path, list(self._codes))
