"""MultiBoost: a weight for every class and weak classifier (Shen and Hao 2011)."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval, StrOptions

from ..ensembles.coded_votes import CodedVotes
from ..losses import Loss, get_loss
from ..runtime.parallel import ThreadTeam
from ..training.column_generation import ColumnTrainer
from ..training.hinge import HingeLoss, HingeTrainer
from ..training.loop import TrainingData
from .column_classifier import ColumnClassifier
from .parameters import OWN_LOSS, STOPPING, Condition


class MultiBoostClassifier(ColumnClassifier):
    """MultiBoost: one ensemble and a weight vector for every class, by column generation.

    The weights W >= 0 in R^(k x T) of ``F_r(x) = sum_t W_rt h_t(x)`` are solved for again after
    every round, with an l1 penalty; the weak classifier of a round is the one whose constraint of
    the dual problem is violated most, for any class (Shen and Hao 2011).

    Parameters
    ----------
    n_estimators : int, default=100
        Maximum number of rounds T.
    loss : {"logistic", "exponential", "hinge"} or object, default="logistic"
        Loss of the pairwise margins ``F_y - F_r``. The logistic loss is averaged over samples and
        classes, the exponential loss minimised as ``log sum exp``, both by L-BFGS-B. The hinge
        loss has one slack per sample, is averaged over the samples and solved as a linear program,
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
    max_bins : int or None, default=None
        Search only the thresholds between this many quantile bins per feature; None searches all
        thresholds.
    constant_stumps : bool, default=True
        Whether a stump may be constant, which shifts the scores of the classes; it is where no cut
        gains a thousandth over that. The paper does not mention constant stumps.
    scale : bool, default=True
        Scale the features to mean 0 and standard deviation 1; stumps do not depend on it.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied into `sample_weight`. "balanced" gives all classes the
        same total weight, counted with `sample_weight`.
    early_stopping : bool, default=False
        Stop when the validation error has not fallen for `n_iter_no_change` rounds, and keep the
        best round.
    validation_fraction : float, default=0.1
        Fraction of the training data held out for early stopping if `X_val` is not passed.
    n_iter_no_change : int, default=50
        Number of rounds without improvement after which early stopping ends the fit.
    warm_start : bool, default=False
        Continue from the rounds of the last fit, up to `n_estimators`.
    random_state : int, RandomState or None, default=None
        Seed of the validation part and of randomized weak learners.
    n_jobs : int or None, default=None
        Number of threads; None and -1 mean all cores.
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
        constraint), and "validation_error" if there is a validation part.
    stopped_ : str
        Why the fit ended.
    model_ : FittedModel
        The fitted model: the preparation of the input and the ensemble.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from randomboost import MultiBoostClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> MultiBoostClassifier(60, random_state=0).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.85
    True
    """

    ensemble_kinds = ("coded votes",)
    _allowed: ClassVar[dict[str, list]] = {
        "loss": [StrOptions({"exponential", "hinge", "logistic"}), OWN_LOSS],
        "nu": [Interval(Real, 0, None, closed="neither")],
    }
    _conditions: ClassVar[tuple[Condition, ...]] = (
        *STOPPING,
        Condition(
            ("solver_options", "iterations_per_round"),
            lambda estimator: not estimator._has_hinge,
            "the hinge loss is solved as a linear program, choose another loss",
        ),
    )

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
        max_bins: int | None = None,
        constant_stumps: bool = True,
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
        self.max_bins = max_bins
        self.constant_stumps = constant_stumps
        self.scale = scale
        self.class_weight = class_weight
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def _has_hinge(self) -> bool:
        return isinstance(self.loss, str) and self.loss == "hinge"

    def _get_loss(self) -> Loss:
        return HingeLoss() if self._has_hinge else get_loss(self.loss)

    def _make_trainer(
        self, data: TrainingData, start: CodedVotes | None, seed: int, team: ThreadTeam
    ) -> ColumnTrainer:
        settings = self._column_settings("free", None, seed)
        return (HingeTrainer if self._has_hinge else ColumnTrainer)(settings, data, start, team)
