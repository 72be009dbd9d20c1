"""RandomBoost: boosted trees that all classes share. The classifier to use."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval, StrOptions

from ..ensembles.shared_trees import SharedTrees
from ..losses import SOFTMAX, Loss, get_loss
from ..projections.matrices import changed_parameter, split_kind
from ..runtime.parallel import ThreadTeam
from ..training.loop import TrainingData
from ..training.tree_boosting import TreeSettings, TreeTrainer
from .base import BaseBoostingClassifier
from .parameters import OWN_LOSS, STOPPING, Condition

_LARGE = 20_000  # samples from which on a fit is stopped early by default


def default_leaves(n_classes: int, n_features: int) -> int:
    """Return the largest number of leaves of a tree where none is given.

    Parameters
    ----------
    n_classes, n_features : int
        Numbers of classes and features.

    Returns
    -------
    int
        6 for every class, up to 24 with many features, from 31 to 511.
    """
    wide = min(max(1, n_features // 64), 4)
    return max(31, min(6 * n_classes * wide, 255), min(6 * n_classes, 511))


class RandomBoostClassifier(BaseBoostingClassifier):
    """Gradient boosting with one tree a round that all classes share.

    Ordinary gradient boosting grows k trees a round for k classes. Here a round grows a single
    tree on the pairs of a sample and a class: a split compares a random direction of the
    features with a threshold and sends classes to different sides by a random class code, so
    that every class has its own path through the same tree. Directions are single features,
    mixtures of few or of all features and discriminants; the kinds whose trees gain most get
    most trees. Missing values, categories (pandas) and sparse matrices are taken as they are.

    Parameters
    ----------
    n_estimators : int, default=120
        Largest number of rounds, one tree each.
    loss : {"softmax", "exponential", "logistic"} or object, default="softmax"
        "softmax": cross-entropy of the probabilities ``softmax(F)``. The others are losses of the
        pairwise margins; an object needs ``value(margins)`` and ``derivative(margins)``, see
        `randomboost.losses`.
    learning_rate : float, default=0.12
        Shrinkage: the factor of every tree.
    max_leaf_nodes : int or None, default=None
        Largest number of leaves; None for 6 times the number of classes (up to 24 times
        from 128 features on, as long as that is at most 255), from 31 to 511.
    max_depth : int or None, default=None
        Largest number of splits on a path; None for no limit.
    min_samples_leaf : int, default=1
        Least number of points (pairs of a sample and a class) in a leaf.
    l2_regularization : float or None, default=None
        Ridge penalty of the leaf values; None for a fortieth of the number of classes, from 0.5
        to 10.
    subsample : float, default=1.0
        Share of the samples that a round looks at, drawn again every round.
    negligible : float, default=0.03
        Points that carry together at most this share of the gradients are left out of a
        round; ``train_history_["left_out"]`` has the share.
    max_points : int or None, default=None
        How many points a round looks at; where there are more they are drawn by the size
        of their gradients, without bias. At least 1000; None: 8 for every sample, at least 20000.
    n_projections : int, default=600
        Number of directions beside the features themselves.
    projection : {"mixed", "axis", "sparse", "lda", "gaussian"}, tuple or object, default="mixed"
        Kind of the directions.
        "axis", single features; "sparse", three features with normal coefficients, or
        ``("sparse", density)`` for that share of nonzeros, each -1 or +1 (1/3 is Achlioptas');
        "lda", Fisher discriminants of random groups of classes on random features; "mixed",
        "axis" and n directions of all kinds (a tree looks at one kind).
        "gaussian" are the paper's class-wise matrices with entries N(0, 1) / sqrt(n): every class
        sees its own projection of a sample, and splits need no class codes.
        An object needs the method ``matrices(n_classes, n_projections, n_features, seed)``, which
        returns an array of shape (n_classes, n_projections, n_features).
    max_features : int, float or None, default=None
        How many directions are tried at a node, drawn again for every node: a number, a share, or
        None for one in 12 of a kind, at least 16.
    max_bins : int, default=64
        Bins of a direction, at most 256.
    scale : bool, default=True
        Scale the features to mean 0 and standard deviation 1 (CSR data is not centred).
        Projections mix features, so their scales matter; turn it off for data scaled already.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied into `sample_weight`. "balanced" gives all classes the
        same total weight, counted with `sample_weight`.
    early_stopping : bool or "auto", default="auto"
        Stop when the validation loss has not fallen for `n_iter_no_change` rounds, and keep the
        best round. "auto": with at least 20000 samples, or where `X_val` is given.
    validation_fraction : float, default=0.1
        Part of the training data set aside for early stopping if no `X_val` is given.
    n_iter_no_change : int, default=50
        Patience of early stopping in rounds.
    warm_start : bool, default=False
        Continue from the rounds of the last fit, up to `n_estimators`.
    random_state : int, RandomState or None, default=None
        Seed. The same seed gives the same model for any `n_jobs`.
    n_jobs : int or None, default=None
        Threads; None and -1 mean all cores.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    weights_ : ndarray of shape (n_estimators_,)
        The weights of the trees.
    n_estimators_ : int
        Number of rounds in the model.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where they are strings.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Share of each (scaled) feature in the squared length of the directions that the splits
        use, weighted by the gain of the splits; sums to 1.
    train_history_ : dict of str to ndarray
        By round: "loss", "gain", "left_out", and "validation_error" and "validation_loss" where
        there is a validation part.
    stopped_ : str
        Why the fit ended.
    model_ : FittedModel
        What predicts: how input is prepared, and the ensemble.

    See Also
    --------
    RBoostRankClassifier : The paper's first method, on the same kind of projections.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from randomboost import RandomBoostClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = RandomBoostClassifier(n_estimators=50, random_state=0)
    >>> model.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
    True
    """

    ensemble_kinds = ("shared trees",)
    _accept_sparse = True
    _allows_missing = True
    _allowed: ClassVar[dict[str, list]] = {
        "loss": [StrOptions({SOFTMAX, "exponential", "logistic"}), OWN_LOSS],
        "max_bins": [Interval(Integral, 2, 256, closed="both")],
        "early_stopping": ["boolean", StrOptions({"auto"})],
    }
    _conditions: ClassVar[tuple[Condition, ...]] = (
        *STOPPING,
        Condition(
            ("n_projections",),
            lambda estimator: not _is(estimator.projection, "axis"),
            "choose another projection than 'axis'",
        ),
    )

    def __init__(
        self,
        n_estimators: int = 120,
        *,
        loss: Any = SOFTMAX,
        learning_rate: float = 0.12,
        max_leaf_nodes: int | None = None,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        l2_regularization: float | None = None,
        subsample: float = 1.0,
        negligible: float = 0.03,
        max_points: int | None = None,
        n_projections: int = 600,
        projection: Any = "mixed",
        max_features: float | None = None,
        max_bins: int = 64,
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
        self.max_features = max_features
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
        # the softmax loss has the same factor of the probabilities as the logistic one
        return get_loss("logistic" if _is(self.loss, SOFTMAX) else self.loss)

    def _check_settings(self) -> None:
        super()._check_settings()
        split_kind(self.projection)

    def _stops_early(self, n_samples: int, given: bool) -> bool:
        if self.early_stopping == "auto":
            return given or n_samples >= _LARGE
        return self.early_stopping

    def _settings(self, n_classes: int, n_features: int, seed: int) -> TreeSettings:
        ridge = self.l2_regularization
        return TreeSettings(
            loss=self.loss,
            learning_rate=float(self.learning_rate),
            max_leaves=self.max_leaf_nodes or default_leaves(n_classes, n_features),
            max_depth=self.max_depth,
            min_points=self.min_samples_leaf,
            ridge=min(max(0.5, n_classes / 40), 10.0) if ridge is None else float(ridge),
            subsample=self.subsample,
            negligible=self.negligible,
            max_points=self.max_points,
            max_features=self.max_features,
            max_bins=int(self.max_bins),
            projection=self.projection,
            n_projections=int(self.n_projections),
            seed=seed,
        )

    def _make_trainer(
        self, data: TrainingData, start: SharedTrees | None, seed: int, team: ThreadTeam
    ) -> TreeTrainer:
        settings = self._settings(data.n_classes, data.X.shape[1], seed)
        return TreeTrainer(settings, data, start, team)

    def _changed_since(self, ensemble: SharedTrees, seed: int) -> str | None:
        return changed_parameter(ensemble.view.drawn_from, self.projection, int(self.n_projections))


def _is(value: Any, word: str) -> bool:
    """Whether a parameter that may be an object is a word."""
    return isinstance(value, str) and value == word
