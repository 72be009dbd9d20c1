"""RBoost-proj: the outputs of the weak classifiers are projected (Algorithm 2 of the paper)."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.utils._param_validation import HasMethods, StrOptions

from ..ensembles.coded_votes import CodedVotes
from ..runtime.parallel import ThreadTeam
from ..training.column_generation import ColumnTrainer
from ..training.loop import TrainingData
from .column_classifier import ColumnClassifier


class RBoostProjClassifier(ColumnClassifier):
    """Multi-class boosting by randomly projecting the weak classifiers' outputs (RBoost-proj).

    Every class r has its own random matrix P^(r) of n rows and T columns. The outputs
    ``H(x) = [h_1(x) .. h_T(x)]`` of one ensemble are projected with it, and one vector w >= 0 is
    learned for all classes: ``F_r(x) = w^T P^(r) H(x)``. All of w is solved for again after every
    round (totally corrective), with an l1 penalty. Two readings of it: see `selection`, and `paper`
    for the algorithm as printed.

    Parameters
    ----------
    n_estimators : int, default=200
        Maximum number of rounds T. The paper uses 1000.
    n_projections : int, default=1000
        Number n of projected dimensions; the paper uses 1000 = `n_estimators`.
    weak_learner : {"stump", "real_stump", "wlda"} or estimator, default="stump"
        "stump": decision stump with outputs -1 and +1, searched jointly with the code v.
        "real_stump": the same cut with outputs in [-1, 1]. "wlda": weighted Fisher LDA and a
        stump, for the four codes that look best with plain stumps. Or any scikit-learn classifier
        (or regressor) that takes sample_weight, for the code that looks best.
    loss : {"exponential", "logistic"} or object, default="logistic"
        Loss of the pairwise margins; an object needs ``value(margins)`` and
        ``derivative(margins)``, see `randomboost.losses`.
    nu : float, default=1e-4
        Weight of the l1 penalty. The exponential loss is minimised as ``log sum exp``, others as
        the mean over samples and classes (logPrimal).
    selection : {"code", "violation"}, default="code"
        "violation": Algorithm 2 as printed. h and v maximise the violation of the dual
        constraint of v, in which all earlier weak classifiers count too, and w in R^n weighs the
        n constraints. "code": every round keeps the code v_t that it chose and has a weight of
        its own, ``F_r(x) = sum_t w_t P^(r)_{v_t t} h_t(x)`` with w in R^T. That reading comes
        closer to the errors that the paper reports, and is several times as fast; see
        docs/results/proj-vowel.md.
    stopping : {"objective", "violation"}, default="objective"
        "objective": training ends when a round changes the objective by less than `tol`,
        relative to its value. "violation": when no constraint of the dual is violated by more
        than `tol` and a thousandth of nu, which is as far as w is solved for. With
        `iterations_per_round` either is accepted only if it still holds when w is solved for
        fully, for "objective" before and after the round; as that takes long, it is tested at
        most every 32 rounds after some failed tests.
    tol : float, default=1e-6
        The tolerance epsilon of `stopping`.
    solver_options : dict or None, default=None
        Options of SciPy's L-BFGS-B; the paper's settings are the defaults (maxiter 100, maxcor 5,
        ftol 1e7 times the machine precision). With ``selection="violation"``,
        ``iterations_per_round=None`` and the logistic loss Newton's method takes its place, which
        uses maxiter and ftol, if samples times classes are at most 200 000.
        ``{"problem": "dual"}`` solves the dual problem instead where w is solved for fully, by
        another Newton's method; it is for small problems, and a loss of your own needs
        ``conjugate(dual)``.
    iterations_per_round : int or None, default=10
        Iterations of the solver after each round, from the last w; after the last round w is
        solved for with the full `solver_options` (unless early stopping goes back to an
        earlier round). None solves fully after every round, as the
        paper does, which can take several times as long. Constraints that the few iterations leave
        above nu count as nu when the next h and v are chosen, as they would after a full solve.
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
        Seed. The same seed gives the same model for any `n_jobs`.
    n_jobs : int or None, default=None
        Number of threads; None and -1 mean all cores.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    weights_ : ndarray of shape (n_estimators_,)
        The single weight vector w; of shape (n_projections,) with ``selection="violation"``.
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
        By round: "loss" (the primal objective), "edge" (the value of (logWeak)), and
        "validation_error" if there is a validation part.
    stopped_ : str
        Why the fit ended.
    model_ : FittedModel
        The fitted model: the preparation of the input and the ensemble.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from randomboost import RBoostProjClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = RBoostProjClassifier(n_estimators=50, random_state=0)
    >>> model.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
    True
    """

    ensemble_kinds = ("coded votes",)
    _allowed: ClassVar[dict[str, list]] = {
        "weak_learner": [StrOptions({"stump", "real_stump", "wlda"}), HasMethods("fit")],
    }

    def __init__(
        self,
        n_estimators: int = 200,
        *,
        n_projections: int = 1000,
        weak_learner: Any = "stump",
        loss: Any = "logistic",
        nu: float = 1e-4,
        selection: str = "code",
        stopping: str = "objective",
        tol: float = 1e-6,
        solver_options: dict[str, Any] | None = None,
        iterations_per_round: int | None = 10,
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
        self.n_projections = n_projections
        self.weak_learner = weak_learner
        self.loss = loss
        self.nu = nu
        self.selection = selection
        self.stopping = stopping
        self.tol = tol
        self.solver_options = solver_options
        self.iterations_per_round = iterations_per_round
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

    @classmethod
    def paper(cls, **parameters: Any) -> RBoostProjClassifier:
        """Return Algorithm 2 as printed: 1000 rounds, n = 1000, w solved for fully in each.

        Parameters
        ----------
        **parameters
            Parameters to override.

        Returns
        -------
        RBoostProjClassifier
            The estimator.
        """
        setting = {
            "n_estimators": 1000,
            "n_projections": 1000,
            "selection": "violation",
            "iterations_per_round": None,
            "constant_stumps": False,
        }
        return cls(**{**setting, **parameters})

    def _make_trainer(
        self, data: TrainingData, start: CodedVotes | None, seed: int, team: ThreadTeam
    ) -> ColumnTrainer:
        settings = self._column_settings(self.selection, int(self.n_projections), seed)
        return ColumnTrainer(settings, data, start, team)

    def _changed_since(self, ensemble: CodedVotes, seed: int, data: TrainingData) -> str | None:
        if self.selection != ensemble.reading:
            return "selection"
        made = ensemble.projection
        return None if made and made.n_projections == self.n_projections else "n_projections"
