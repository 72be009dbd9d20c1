"""RBoost-rank: the data is projected, once for every class (Algorithm 1 of the paper)."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .base import BaseBoostingClassifier, Model, Trainer, TrainingData
from .hypotheses import FittedEstimator, Stump, Stumps, column_importances, pack
from .parallel import ThreadTeam
from .points import ProjectedPoints
from .prediction import StumpScorer
from .projections import PROJECTIONS
from .random_stream import DATA_STREAM
from .rank_trainer import RankTrainer


class RBoostRankClassifier(BaseBoostingClassifier):
    """Multi-class boosting by randomly projecting the data (RBoost-rank).

    Every class r has its own random matrix P^(r). One ensemble with one weight vector w is
    learned so that ``F(P^(y) x) > F(P^(r) x)`` for the true class y and every other r, which is a
    ranking problem; a sample is given the class with the largest ``F(P^(r) x)``. The model does
    not grow with the number of classes.

    Parameters
    ----------
    n_estimators : int, default=100
        Largest number of rounds T. The paper uses 1000.
    n_projections : int, default=2000
        Number n of projected dimensions. The paper uses 20000.
    projection : {"gaussian"}, default="gaussian"
        Kind of the matrices: entries N(0, 1) / sqrt(n).
    projections_per_round : int, float or None, default=None
        How many of the n dimensions a round searches, drawn anew every round: None for all, an
        int for a number, a float in (0, 1] for a fraction.
    correction : {"stagewise", "total"}, default="stagewise"
        "stagewise": only the newest weight is set, in closed form for the exponential loss, by a
        line search for others. "total": all weights are solved for after every round, with
        w >= 0 and the l1 penalty `nu`.
    weak_learner : {"stump", "real_stump", "wlda"} or estimator, default="stump"
        "stump": decision stump with outputs -1 and +1. "real_stump": outputs in [-1, 1]. "wlda":
        weighted Fisher LDA on 1000 random dimensions a round, then a stump, if that is better
        than the best plain stump. Or any scikit-learn classifier (or regressor) that takes
        sample_weight; it sees at most 1000 random dimensions a round.
    loss : {"exponential", "logistic"} or object, default="exponential"
        Loss of the pairwise margins; an object needs ``value(margins)`` and
        ``derivative(margins)``, see `randomboost.losses`.
    nu : float, default=1e-4
        Weight of the l1 penalty with ``correction="total"``. The exponential loss is minimised
        as ``log sum exp`` (rankPrimal), others as a plain sum over pairs (App2).
    tol : float, default=1e-6
        Training ends when no weak learner has an edge above ``nu + tol`` (nu is 0 stage-wise).
    solver_options : dict or None, default=None
        Options of SciPy's L-BFGS-B; the paper's settings are the defaults (maxiter 100, maxcor 5,
        ftol 1e7 times the machine precision).
    iterations_per_round : int or None, default=2
        With ``correction="total"``: iterations of the solver after each round, from the last w;
        after the last round w is solved for with the full `solver_options` (unless early
        stopping goes back to an earlier round). None solves fully after every round, as the
        paper does, which takes many times as long.
    search : {"exact", "histogram", "plain"}, default="exact"
        "exact": the best of all thresholds, found without looking at most points. "histogram":
        the best threshold between `max_bins` bins a dimension. "plain": the same stumps as
        "exact" by looking at every point, for comparison; it takes 2 bytes for each of the
        n m k points.
    max_bins : int, default=256
        Bins of ``search="histogram"``, at most 256.
    max_memory : float or None, default=None
        Bytes that the search may take beside data and scores; None for half of what is free.
        Where the n dimensions fit they are binned once (1 or 2 bytes for each of the n m k
        points), else they are projected anew in every round, which is slower; the model is
        the same. ``verbose=1`` says which.
    scale : bool, default=True
        Scale the features to mean 0 and standard deviation 1 (CSR data is not centred).
        Projections mix features, so their scales matter; turn it off for data scaled already.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied into `sample_weight`.
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
        Seed. The same seed gives the same model for any `n_jobs`.
    n_jobs : int or None, default=None
        Threads; None and -1 mean all cores.
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
        use, weighted by their weights; sums to 1.
    train_history_ : dict of str to ndarray
        By round: "loss" (with the penalty where there is one), "edge", and "validation_error"
        where there is a validation part.
    stopped_ : str
        Why the fit ended.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from randomboost import RBoostRankClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = RBoostRankClassifier(n_estimators=50, n_projections=300, random_state=0)
    >>> model.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
    True
    """

    _accept_sparse = True
    _parameter_constraints: ClassVar[dict[str, list]] = {
        **BaseBoostingClassifier._parameter_constraints,
        "n_projections": [Interval(Integral, 1, 2**31, closed="left")],
        "projection": [StrOptions(set(PROJECTIONS))],
        "projections_per_round": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="right"),
            None,
        ],
        "correction": [StrOptions({"stagewise", "total"})],
        "iterations_per_round": [Interval(Integral, 1, None, closed="left"), None],
        "search": [StrOptions({"exact", "histogram", "plain"})],
        "max_bins": [Interval(Integral, 2, 256, closed="both")],
        "max_memory": [Interval(Real, 0, None, closed="neither"), None],
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        n_projections: int = 2000,
        projection: str = "gaussian",
        projections_per_round: float | None = None,
        correction: str = "stagewise",
        weak_learner: Any = "stump",
        loss: Any = "exponential",
        nu: float = 1e-4,
        tol: float = 1e-6,
        solver_options: dict[str, Any] | None = None,
        iterations_per_round: int | None = 2,
        search: str = "exact",
        max_bins: int = 256,
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
        self.n_projections = n_projections
        self.projection = projection
        self.projections_per_round = projections_per_round
        self.correction = correction
        self.weak_learner = weak_learner
        self.loss = loss
        self.nu = nu
        self.tol = tol
        self.solver_options = solver_options
        self.iterations_per_round = iterations_per_round
        self.search = search
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

    def _make_trainer(self, data: TrainingData, start: Model, team: ThreadTeam) -> Trainer:
        if not start.hypotheses:
            self._projection = PROJECTIONS[self.projection](
                self._seed, DATA_STREAM, len(self.classes_), self.n_projections
            )
        return RankTrainer(self, self._projection, data, start, team)

    def _finish(self, model: Model) -> None:
        self._hypotheses = pack(model.hypotheses)
        self.weights_ = model.weights
        self._path = model.path
        self._scorer = None
        if isinstance(self._hypotheses, Stumps):
            self._scorer = StumpScorer(
                self._projection, self._hypotheses, self.weights_, self.n_features_in_, self._dtype
            )

    def _model(self) -> Model:
        if (self._path is not None) != (self.correction == "total"):
            raise ValueError(
                "correction differs from that of the fitted model: warm_start needs the same one; "
                "set warm_start=False to begin anew"
            )
        return Model(list(self._hypotheses), self.weights_, self._path)

    def _scores(self, X: Any, team: ThreadTeam) -> NDArray:
        if self._scorer is not None:
            return self._scorer.scores(X, team)
        points = ProjectedPoints(X, self._projection, merge=False)
        scores = np.zeros(points.n_points)
        for weight, hypothesis in zip(self.weights_, self._hypotheses, strict=True):
            scores += weight * hypothesis.outputs(points)
        return scores.reshape(len(self.classes_), -1)

    def _staged_scores(self, X: Any) -> Iterator[NDArray]:
        points = ProjectedPoints(X, self._projection, merge=False)
        shape = (len(self.classes_), X.shape[0])
        scores = np.zeros(points.n_points)
        outputs = np.empty((0 if self._path is None else len(self._path), points.n_points))
        for t, hypothesis in enumerate(self._hypotheses):
            output = hypothesis.outputs(points)
            if self._path is None:
                scores = scores + self.weights_[t] * output
            else:
                outputs[t] = output
                scores = self._path[t] @ outputs[: t + 1]
            yield scores.reshape(shape)

    def _largest_margin(self) -> float:
        return 2.0 * float(np.abs(self.weights_).sum())

    @property
    def feature_importances_(self) -> NDArray:
        """Return the share of every feature in the directions that the model uses."""
        check_is_fitted(self)
        importances = np.zeros(self.n_features_in_)
        for weight, hypothesis in zip(self.weights_, self._hypotheses, strict=True):
            energy = self._energy(hypothesis)
            importances += abs(weight) * energy / energy.sum()
        return importances / importances.sum()

    def _energy(self, hypothesis: Any) -> NDArray:
        """Squared length of a weak classifier's directions, by feature."""
        shape = (0, self.n_features_in_)
        if isinstance(hypothesis, FittedEstimator):
            rows = self._projection.rows(hypothesis.columns, shape, np.float64)
            part = column_importances(hypothesis)
            return np.einsum("v,rvj->j", part, rows**2)
        assert isinstance(hypothesis, Stump)
        if hypothesis.combination is None:
            directions = self._projection.rows(np.array([hypothesis.column]), shape, np.float64)
            return (directions[:, 0] ** 2).sum(axis=0)
        mix = hypothesis.combination
        rows = self._projection.rows(mix.columns, shape, np.float64)
        return (np.einsum("v,rvj->rj", mix.coefficients, rows) ** 2).sum(axis=0)
