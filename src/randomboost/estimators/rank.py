"""RBoost-rank: the data is projected, once for every class (Algorithm 1 of the paper)."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ..ensembles.projected_stumps import StumpScorer
from ..ensembles.shared_trees import ForestScorer
from ..losses import SOFTMAX, Loss, get_loss
from ..projections.matrices import KINDS, changed_parameter, make_directions, make_projection
from ..projections.points import ProjectedPoints
from ..runtime.parallel import ThreadTeam, resolve_threads
from ..training.ranking import RankTrainer
from ..training.rounds import Model, Trainer, TrainingData, changed
from ..training.tree_boosting import TreeTrainer
from ..trees.forest import Forest
from ..trees.views import ClassView, SharedView
from ..weak_learners.hypotheses import FittedEstimator, Stump, Stumps, column_importances, pack
from .base import BaseBoostingClassifier

_LARGE = 20_000  # samples from which on trees are stopped early by default


class RBoostRankClassifier(BaseBoostingClassifier):
    """Multi-class boosting by randomly projecting the data (RBoost-rank).

    Every class r has its own random matrix P^(r). One ensemble with one weight vector w is
    learned so that ``F(P^(y) x) > F(P^(r) x)`` for the true class y and every other r, which is a
    ranking problem; a sample is given the class with the largest ``F(P^(r) x)``. The model does
    not grow with the number of classes.

    Parameters whose description begins with "Trees" have no effect on other weak learners, those
    with "Stumps" or ``correction="total"`` none on trees.

    Parameters
    ----------
    n_estimators : int, default=120
        Largest number of rounds T. The paper uses 1000.
    weak_learner : {"tree", "stump", "real_stump", "wlda"} or estimator, default="tree"
        "tree": one tree a round, shared by all classes. The others are the paper's: "stump",
        decision stump with outputs -1 and +1. "real_stump": outputs in [-1, 1]. "wlda": weighted
        Fisher LDA on 1000 random dimensions a round, then a stump, if that is better than the
        best plain stump. Or any scikit-learn classifier (or regressor) that takes
        sample_weight; it sees at most 1000 random dimensions a round.
    loss : {"auto", "softmax", "exponential", "logistic"} or object, default="auto"
        "softmax": cross-entropy of the probabilities ``softmax(F)``; trees only. The others are
        losses of the pairwise margins; an object needs ``value(margins)`` and
        ``derivative(margins)``, see `randomboost.losses`. "auto": "softmax" for trees, else
        "exponential".
    learning_rate : float, default=0.12
        Trees: the part of Newton's step that is taken.
    max_leaf_nodes : int or None, default=None
        Trees: largest number of leaves; None for 6 times the number of classes (up to 24 times
        from 128 features on, as long as that is at most 255), from 31 to 511.
    max_depth : int or None, default=None
        Trees: largest number of splits on a path.
    min_samples_leaf : int, default=1
        Trees: least number of points (pairs of a sample and a class) in a leaf.
    l2_regularization : float or None, default=None
        Trees: ridge penalty of the leaf values; None for a fortieth of the number of classes,
        from 0.5 to 10.
    subsample : float, default=1.0
        Trees: part of the samples that a round looks at, drawn anew every round.
    negligible : float, default=0.03
        Trees: points that carry together at most this share of the gradients are left out of a
        round; ``train_history_["left_out"]`` has the share.
    max_points : int or None, default=None
        Trees: how many points a round looks at; where there are more they are drawn by the size
        of their gradients, without bias. At least 1000; None: 8 for every sample, at least 20000.
    n_projections : int or None, default=None
        Number n of projected dimensions. None: 2000, for trees 600. The paper uses 20000.
    projection : {"auto", "gaussian", "sparse", "axis", "lda", "mixed"} or object, default="auto"
        Kind of the matrices. "gaussian": entries N(0, 1) / sqrt(n), as in the paper. All others
        are directions shared by the classes times a class code -1, 0 or +1: "axis", single
        features; "sparse", few features with random coefficients; "lda", Fisher discriminants of
        random groups of classes on random features; "mixed", "axis" and n directions of all
        kinds (a tree looks at one kind; the kinds whose trees gain most get most trees). An
        object needs the method ``matrices(n_classes, n_projections, n_features, seed)``, which
        returns an array of shape (n_classes, n_projections, n_features). "auto": "mixed" for
        trees, else "gaussian".
    density : float or None, default=None
        Share of nonzeros of a sparse direction, each -1 or +1 (1/3 is Achlioptas'); None for 3
        features with normal coefficients.
    projections_per_round : int, float or None, default=None
        How many of the n dimensions a round searches, drawn anew every round (for trees: at every
        node): None for all, an int for a number, a float in (0, 1] for a fraction. For trees
        None means one in 12 of a family, at least 16.
    correction : {"stagewise", "total"}, default="stagewise"
        How stumps and estimators are weighted; trees refuse "total". "stagewise": only the newest
        weight is set, in closed form for the exponential loss, by a line search for others.
        "total": all weights are solved for after every round, with w >= 0 and the l1 penalty `nu`.
    nu : float, default=1e-4
        Weight of the l1 penalty with ``correction="total"``. The exponential loss is minimised
        as ``log sum exp`` (rankPrimal), others as a plain sum over pairs (App2).
    tol : float, default=1e-6
        Stumps and estimators: training ends when no weak learner has an edge above ``nu + tol``
        (nu is 0 stage-wise).
    solver_options : dict or None, default=None
        With ``correction="total"``: options of SciPy's L-BFGS-B; the paper's settings are the
        defaults (maxiter 100, maxcor 5, ftol 1e7 times the machine precision).
    iterations_per_round : int or None, default=2
        With ``correction="total"``: iterations of the solver after each round, from the last w;
        after the last round w is solved for with the full `solver_options` (unless early
        stopping goes back to an earlier round). None solves fully after every round, as the
        paper does, which takes many times as long.
    search : {"auto", "exact", "histogram", "plain"}, default="auto"
        Stumps. "exact": the best of all thresholds, found without looking at most points.
        "histogram": the best threshold between `max_bins` bins a dimension; of a part of the
        dimensions (`projections_per_round`) the one is taken that is best on the heaviest points,
        which carry nine tenths of the weight. "plain": the same stumps as "exact" by looking at
        every point, for comparison; it takes 2 bytes for each of the n m k points. "auto": "exact"
        for all dimensions, "histogram" for a part.
    max_bins : int or None, default=None
        Bins of trees and of ``search="histogram"``, at most 256; None for 64.
    max_memory : float or None, default=None
        Stumps: bytes that the search may take beside data and scores; None for half of what is
        free. Where the n dimensions fit they are binned once (1 or 2 bytes for each of the n m k
        points), else they are projected anew in every round, which is slower; the model is
        the same. ``verbose=1`` says which.
    scale : bool, default=True
        Scale the features to mean 0 and standard deviation 1 (CSR data is not centred).
        Projections mix features, so their scales matter; turn it off for data scaled already.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied into `sample_weight`. "balanced" gives all classes the
        same total weight, counted with `sample_weight`.
    early_stopping : bool or "auto", default="auto"
        Stop when the validation error (for trees: loss) has not fallen for `n_iter_no_change`
        rounds, and keep the best round. "auto": for trees with at least 20000 samples, or
        where `X_val` is given.
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
        use, weighted by their weights (for trees: by the gain of the splits); sums to 1, or is
        all 0 where no round has any weight.
    train_history_ : dict of str to ndarray
        By round: "loss" (with the penalty where there is one), "edge" (for trees "gain" and
        "left_out"), and "validation_error" (for trees also "validation_loss") where there is a
        validation part.
    stopped_ : str
        Why the fit ended.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from randomboost import RBoostRankClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = RBoostRankClassifier(n_estimators=50, random_state=0)
    >>> model.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
    True
    """

    _kept = ("_projection", "_baseline")
    _accept_sparse = True
    _parameter_constraints: ClassVar[dict[str, list]] = {
        **BaseBoostingClassifier._parameter_constraints,
        "loss": [
            StrOptions({"auto", SOFTMAX, "exponential", "logistic"}),
            HasMethods(["value", "derivative"]),
        ],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "max_leaf_nodes": [Interval(Integral, 2, 2**20, closed="both"), None],
        "max_depth": [Interval(Integral, 1, None, closed="left"), None],
        "min_samples_leaf": [Interval(Integral, 1, None, closed="left")],
        "l2_regularization": [Interval(Real, 0, None, closed="left"), None],
        "subsample": [Interval(Real, 0, 1, closed="right")],
        "negligible": [Interval(Real, 0, 0.5, closed="both")],
        "max_points": [Interval(Integral, 1000, None, closed="left"), None],
        "n_projections": [Interval(Integral, 1, 2**31, closed="left"), None],
        "projection": [StrOptions({"auto", *KINDS}), HasMethods("matrices")],
        "density": [Interval(Real, 0, 1, closed="right"), None],
        "projections_per_round": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="right"),
            None,
        ],
        "correction": [StrOptions({"stagewise", "total"})],
        "iterations_per_round": [Interval(Integral, 1, None, closed="left"), None],
        "search": [StrOptions({"auto", "exact", "histogram", "plain"})],
        "max_bins": [Interval(Integral, 2, 256, closed="both"), None],
        "early_stopping": ["boolean", StrOptions({"auto"})],
        "max_memory": [Interval(Real, 0, None, closed="neither"), None],
    }

    def __init__(
        self,
        n_estimators: int = 120,
        *,
        weak_learner: Any = "tree",
        loss: Any = "auto",
        learning_rate: float = 0.12,
        max_leaf_nodes: int | None = None,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        l2_regularization: float | None = None,
        subsample: float = 1.0,
        negligible: float = 0.03,
        max_points: int | None = None,
        n_projections: int | None = None,
        projection: Any = "auto",
        density: float | None = None,
        projections_per_round: float | None = None,
        correction: str = "stagewise",
        nu: float = 1e-4,
        tol: float = 1e-6,
        solver_options: dict[str, Any] | None = None,
        iterations_per_round: int | None = 2,
        search: str = "auto",
        max_bins: int | None = None,
        max_memory: float | None = None,
        scale: bool = True,
        class_weight: Any = None,
        early_stopping: Any = "auto",
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
        self.learning_rate = learning_rate
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.subsample = subsample
        self.negligible = negligible
        self.max_points = max_points
        self.n_projections = n_projections
        self.projection = projection
        self.density = density
        self.projections_per_round = projections_per_round
        self.correction = correction
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

    @classmethod
    def paper(cls, **parameters: Any) -> RBoostRankClassifier:
        """Return the paper's setting: 1000 stumps on 20000 Gaussian projections.

        Parameters
        ----------
        **parameters
            Parameters that are to differ from it.

        Returns
        -------
        RBoostRankClassifier
            The estimator.
        """
        setting = {
            "n_estimators": 1000,
            "weak_learner": "stump",
            "loss": "exponential",
            "n_projections": 20000,
            "projection": "gaussian",
            "early_stopping": False,
        }
        return cls(**{**setting, **parameters})

    _projection: Any  # the class-wise matrices, or how trees see samples
    _baseline: NDArray

    # -- what the settings mean ----------------------------------------------------------------

    @property
    def _has_trees(self) -> bool:
        return isinstance(self.weak_learner, str) and self.weak_learner == "tree"

    def _loss_in_use(self) -> Any:
        if isinstance(self.loss, str) and self.loss == "auto":
            return SOFTMAX if self._has_trees else "exponential"
        return self.loss

    def _get_loss(self) -> Loss:
        loss = self._loss_in_use()
        if isinstance(loss, str) and loss == SOFTMAX:
            if not self._has_trees:
                raise ValueError(
                    "loss='softmax' is for trees: set weak_learner='tree', or loss='logistic'"
                )
            loss = "logistic"  # has the same factor of the probabilities
        if self._has_trees and self.correction == "total":
            raise ValueError(
                "correction='total' is for stumps and estimators: set weak_learner='stump' or "
                "correction='stagewise'"
            )
        return get_loss(loss)

    def _kind(self) -> Any:
        if isinstance(self.projection, str) and self.projection == "auto":
            return "mixed" if self._has_trees else "gaussian"
        return self.projection

    def _n_projections(self) -> int:
        if self.n_projections is not None:
            return int(self.n_projections)
        return 600 if self._has_trees else 2000

    def _leaves(self, n_classes: int) -> int:
        """Return the largest number of leaves of a tree."""
        if self.max_leaf_nodes is not None:
            return self.max_leaf_nodes
        wide = min(max(1, self.n_features_in_ // 64), 4)
        return max(31, min(6 * n_classes * wide, 255), min(6 * n_classes, 511))

    def _ridge(self, n_classes: int) -> float:
        """Return the ridge penalty of the leaf values."""
        if self.l2_regularization is not None:
            return float(self.l2_regularization)
        return min(max(0.5, n_classes / 40), 10.0)

    def _n_drawn(self, n_directions: int) -> int:
        """Return how many splits are tried at a node, out of so many directions."""
        part = self.projections_per_round
        if part is None:
            return max(16, n_directions // 12)
        if isinstance(part, Integral):
            return min(int(part), max(16, self._n_projections()))
        return max(1, round(part * n_directions))

    def _allows_missing(self) -> bool:
        return self._has_trees

    def _stops_early(self, n_samples: int, given: bool) -> bool:
        if self.early_stopping == "auto":
            return self._has_trees and (given or n_samples >= _LARGE)
        return self.early_stopping

    # -- fitting -------------------------------------------------------------------------------

    def _make_trainer(self, data: TrainingData, start: Model, team: ThreadTeam) -> Trainer:
        if not start.hypotheses:
            density = None if self.density is None else float(self.density)
            setting = self._n_projections(), density, (data.X, data.y, data.sample_weight)
            kind, n_classes = self._kind(), len(self.classes_)
            if self._has_trees and isinstance(kind, str) and kind != "gaussian":
                directions = make_directions(kind, self._seed, *setting)
                self._projection = SharedView(self._seed, n_classes, directions)
            else:
                self._projection = make_projection(kind, self._seed, n_classes, *setting)
                if self._has_trees:
                    self._projection = ClassView(self._projection, self.n_features_in_)
        if not self._has_trees:
            return RankTrainer(self, self._projection, data, start, team)
        trainer = TreeTrainer(self, self._projection, data, start, team)
        self._baseline = trainer.baseline
        return trainer

    def _finish(self, model: Model) -> None:
        self._hypotheses = pack(model.hypotheses)
        self.weights_ = model.weights
        self._path = model.path
        self._state = model.state
        self._scorer: Any = None
        if isinstance(self._hypotheses, Stumps):
            self._scorer = StumpScorer(
                self._projection, self._hypotheses, self.weights_, self.n_features_in_, self._dtype
            )
        elif isinstance(self._hypotheses, Forest):
            self._scorer = ForestScorer(
                self._projection, self._hypotheses, self.weights_, self._baseline
            )

    def _refuse_changes(self) -> None:
        super()._refuse_changes()
        if (self._path is not None) != (self.correction == "total"):
            raise changed("correction")
        if isinstance(self._hypotheses, Forest) != self._has_trees:
            raise ValueError(
                "weak_learner differs from that of the fitted model: warm_start goes from trees "
                "to trees only; set warm_start=False to begin anew"
            )
        made = self._projection
        made = made.projection if isinstance(made, ClassView) else made
        other = changed_parameter(made, self._kind(), self._n_projections(), self.density)
        if other is not None:
            raise changed(other)

    def _model(self) -> Model:
        return Model(list(self._hypotheses), self.weights_, self._path, state=self._state)

    def _scores(self, X: Any, team: ThreadTeam) -> NDArray:
        if self._scorer is not None:
            return self._scorer.scores(X, team)
        points = ProjectedPoints(X, self._projection, merge=False)
        scores = np.zeros(points.n_points)
        for weight, hypothesis in zip(self.weights_, self._hypotheses, strict=True):
            scores += weight * hypothesis.outputs(points)
        return scores.reshape(len(self.classes_), -1)

    def _staged_scores(self, X: Any) -> Iterator[NDArray]:
        if isinstance(self._scorer, ForestScorer):
            with ThreadTeam(resolve_threads(self.n_jobs)) as team:
                yield from self._scorer.staged(X, team)
            return
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
        largest = 2.0 * float(np.abs(self.weights_).sum())
        if isinstance(self._hypotheses, Forest):
            largest += float(np.ptp(self._baseline))
        return largest

    @property
    def feature_importances_(self) -> NDArray:
        """Return the share of every feature in the directions that the model uses."""
        check_is_fitted(self)
        importances = np.zeros(self.n_features_in_)
        if isinstance(self._hypotheses, Forest):
            used, columns = np.unique(self._hypotheses.columns, return_inverse=True)
            gains = np.bincount(columns, self._hypotheses.gains)[used >= 0]
            importances = gains @ self._projection.energies(used[used >= 0].astype(np.int64))
        else:
            for weight, hypothesis in zip(self.weights_, self._hypotheses, strict=True):
                energy = self._energy(hypothesis)
                importances += abs(weight) * energy / energy.sum()
        total = importances.sum()
        return importances / total if total > 0 else importances

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
