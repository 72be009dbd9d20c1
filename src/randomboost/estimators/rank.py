"""RBoost-rank: the data is projected, once for every class (Algorithm 1 of the paper)."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from ..ensembles.projected_learners import ProjectedLearners
from ..projections.matrices import changed_parameter, split_kind
from ..runtime.parallel import ThreadTeam
from ..search.projected import HISTOGRAM_BINS
from ..solvers.corrective import solver_options
from ..training.loop import TrainingData
from ..training.ranking import RankSettings, RankTrainer, part_size
from .base import BaseBoostingClassifier
from .parameters import STOPPING, Condition


class RBoostRankClassifier(BaseBoostingClassifier):
    """Multi-class boosting by randomly projecting the data (RBoost-rank).

    Every class r has its own random matrix P^(r). One ensemble with one weight vector w is
    learned so that ``F(P^(y) x) > F(P^(r) x)`` for the true class y and every other r, which is a
    ranking problem; a sample is assigned the class with the largest ``F(P^(r) x)``. What is learned
    does not grow with the number of classes. The default is the paper's method at a size that fits
    in seconds; `paper` gives the paper's size.

    Parameters
    ----------
    n_estimators : int, default=500
        Maximum number of rounds T. The paper uses 1000.
    weak_learner : {"stump", "real_stump", "wlda", "plain_wlda"} or estimator, default="stump"
        "stump": decision stump with outputs -1 and +1. "real_stump": outputs in [-1, 1]. "wlda":
        weighted Fisher LDA on 1000 random dimensions per round, then a stump, if that is better
        than the best plain stump; the covariances get a ridge of the mean variance, with
        "plain_wlda" one of a ten-thousandth of that. Or any scikit-learn classifier (or regressor)
        that takes sample_weight; it sees at most 1000 random dimensions per round.
    loss : {"exponential", "logistic"} or object, default="exponential"
        Loss of the pairwise margins; an object needs ``value(margins)`` and
        ``derivative(margins)``, see `randomboost.losses`.
    n_projections : int, default=2000
        Number n of projected dimensions. The paper uses 20000.
    projection : {"mixed", "axis", "sparse", "lda", "gaussian"}, tuple or object, default="gaussian"
        Kind of the matrices. "gaussian": entries N(0, 1) / sqrt(n), as in the paper. All others
        are directions shared by the classes times a class code -1, 0 or +1:
        "axis", single features; "sparse", three features with normal coefficients, and
        the sum or difference of two, or ``("sparse", density)`` for that share of nonzeros, each -1
        or +1 (1/3 is Achlioptas'); "lda", Fisher discriminants of random groups of classes on
        random features; "mixed", "axis" and n directions of all kinds.
        An object needs the method ``matrices(n_classes, n_projections, n_features, seed)``, which
        returns an array of shape (n_classes, n_projections, n_features).
    projections_per_round : int, float or None, default=None
        How many of the n dimensions a round searches, drawn again every round: None for all, an
        int for a number, a float in (0, 1] for a fraction.
    correction : {"stagewise", "total"}, default="stagewise"
        "stagewise": only the newest weight is set, in closed form for the exponential loss, by a
        line search for others. "total": all weights are solved for after every round, with w >= 0
        and the l1 penalty `nu`.
    nu : float, default=1e-4
        Weight of the l1 penalty with ``correction="total"``. The exponential loss is minimised
        as ``log sum exp`` (rankPrimal), others as a plain sum over pairs (App2).
    tol : float, default=1e-6
        Training ends when no weak learner has an edge above ``nu + tol`` (nu is 0 stage-wise).
    solver_options : dict or None, default=None
        With ``correction="total"``: options of SciPy's L-BFGS-B; the paper's settings are the
        defaults (maxiter 100, maxcor 5, ftol 1e7 times the machine precision). ``{"problem":
        "dual"}`` solves the dual problem instead where w is solved for fully, by Newton's method;
        it is for small problems, and a loss of your own needs ``conjugate(dual)``.
    iterations_per_round : int or None, default=2
        With ``correction="total"``: iterations of the solver after each round, from the last w;
        after the last round w is solved for with the full `solver_options` (unless early
        stopping goes back to an earlier round). None solves fully after every round, as the
        paper does, which takes many times as long.
    max_bins : int, None or "auto", default="auto"
        For stumps. None: the best of all thresholds, found without visiting most points. An
        int: the best threshold between that many bins per dimension, at most 256; with
        `projections_per_round` the dimension that is best on the heaviest points is taken, which
        carry nine tenths of the weight. "auto": None where all dimensions are searched, 64
        for a part of them.
    max_memory : float or None, default=None
        For stumps: bytes that the search may use in addition to data and scores; None for half of
        the free memory. If the n dimensions fit, they are binned once (1 or 2 bytes for each of
        the n m k points), otherwise they are projected again in every round, which is slower; the
        model is the same. ``verbose=1`` reports which.
    scale : bool, default=True
        Scale the features to mean 0 and standard deviation 1 (CSR data is not centred).
        Projections mix features, so their scales matter; turn it off for scaled data.
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
        The single weight vector w.
    n_estimators_ : int
        Number of rounds in the model.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where they are strings.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Share of each (scaled) feature in the squared length of the directions that the rounds
        use, weighted by their weights; sums to 1, or is all 0 where no round has any weight.
    train_history_ : dict of str to ndarray
        By round: "loss" (with the penalty where there is one), "edge", and "validation_error"
        where there is a validation part.
    stopped_ : str
        Why the fit ended.
    model_ : FittedModel
        The fitted model: the preparation of the input and the ensemble.

    See Also
    --------
    RandomBoostClassifier : Boosted trees, the classifier to use.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from randomboost import RBoostRankClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = RBoostRankClassifier(n_estimators=50, random_state=0)
    >>> model.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
    True
    """

    ensemble_kinds = ("projected data",)
    _accept_sparse = True
    _allowed: ClassVar[dict[str, list]] = {
        "weak_learner": [
            StrOptions({"stump", "real_stump", "wlda", "plain_wlda"}),
            HasMethods("fit"),
        ],
        "max_bins": [Interval(Integral, 2, 256, closed="both"), None, StrOptions({"auto"})],
    }
    _conditions: ClassVar[tuple[Condition, ...]] = (
        *STOPPING,
        Condition(
            ("nu", "solver_options", "iterations_per_round"),
            lambda estimator: estimator.correction == "total",
            "set correction='total'",
        ),
        Condition(
            ("max_bins", "max_memory"),
            lambda estimator: isinstance(estimator.weak_learner, str),
            "it is for the search of stumps, set weak_learner='stump'",
        ),
    )

    def __init__(
        self,
        n_estimators: int = 500,
        *,
        weak_learner: Any = "stump",
        loss: Any = "exponential",
        n_projections: int = 2000,
        projection: Any = "gaussian",
        projections_per_round: float | None = None,
        correction: str = "stagewise",
        nu: float = 1e-4,
        tol: float = 1e-6,
        solver_options: dict[str, Any] | None = None,
        iterations_per_round: int | None = 2,
        max_bins: Any = "auto",
        max_memory: float | None = None,
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
        self.weak_learner = weak_learner
        self.loss = loss
        self.n_projections = n_projections
        self.projection = projection
        self.projections_per_round = projections_per_round
        self.correction = correction
        self.nu = nu
        self.tol = tol
        self.solver_options = solver_options
        self.iterations_per_round = iterations_per_round
        self.max_bins = max_bins
        self.max_memory = max_memory
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
    def paper(cls, **parameters: Any) -> RBoostRankClassifier:
        """Return the paper's setting: 1000 stumps on 20000 Gaussian projections.

        Parameters
        ----------
        **parameters
            Parameters to override.

        Returns
        -------
        RBoostRankClassifier
            The estimator.
        """
        return cls(**{"n_estimators": 1000, "n_projections": 20000, **parameters})

    def _check_settings(self) -> None:
        super()._check_settings()
        solver_options(self.solver_options)
        split_kind(self.projection)

    def _settings(self, seed: int) -> RankSettings:
        bins = self.max_bins
        if isinstance(bins, str):  # "auto"
            n = int(self.n_projections)
            bins = None if part_size(self.projections_per_round, n) == n else HISTOGRAM_BINS
        elif bins is not None:
            bins = int(bins)  # also of NumPy
        return RankSettings(
            n_rounds=self.n_estimators,
            weak_learner=self.weak_learner,
            loss=self._get_loss(),
            projection=self.projection,
            n_projections=int(self.n_projections),
            projections_per_round=self.projections_per_round,
            total=self.correction == "total",
            nu=float(self.nu),
            tol=float(self.tol),
            solver_options=solver_options(self.solver_options),
            iterations_per_round=self.iterations_per_round,
            max_bins=bins,
            plain=False,
            max_memory=self.max_memory,
            seed=seed,
        )

    def _make_trainer(
        self, data: TrainingData, start: ProjectedLearners | None, seed: int, team: ThreadTeam
    ) -> RankTrainer:
        return RankTrainer(self._settings(seed), data, start, team)

    def _changed_since(
        self, ensemble: ProjectedLearners, seed: int, data: TrainingData
    ) -> str | None:
        if (ensemble.path is not None) != (self.correction == "total"):
            return "correction"
        return changed_parameter(ensemble.projection, self.projection, int(self.n_projections))
