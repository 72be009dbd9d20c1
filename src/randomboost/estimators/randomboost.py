"""RandomBoost: one tree per round for all classes. The classifier to use."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any, ClassVar, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from ..ensembles.sparse_trees import SparseTrees
from ..ensembles.start import Start
from ..ensembles.started_trees import StartedTrees, apart
from ..explain.tree_explainer import NamesExplain
from ..losses import LogisticLoss, Loss
from ..projections.matrices import KINDS, split_kind
from ..runtime.parallel import ThreadTeam
from ..training.loop import Schedule, TrainingData
from ..training.rehearsal import rehearsed
from ..training.tree_boosting import SketchTrainer, without_landmarks
from ..training.tree_directions import direction_counts
from ..training.tree_settings import SketchSettings
from ..trees.sparse_scores import DENSE
from .base import BaseBoostingClassifier
from .parameters import STOPPING, TABLE, Condition

_FEW = 50  # samples below which no part is held out by default
_ENOUGH = 1000  # samples that are held out, where that is no more than a fifth


class RandomBoostClassifier(BaseBoostingClassifier, metaclass=NamesExplain):
    """Gradient boosting with one tree per round, whatever the number of classes.

    Ordinary gradient boosting grows k trees per round for k classes. Here a round grows a single
    tree whose leaves are sparse vectors of class scores. Its splits are chosen by a few random
    projections of the k gradients (the paper's second idea, projecting the outputs), so that the
    cost of a round does not grow with the number of classes; the leaves are computed from the
    gradients themselves. Splits compare single features, random mixtures of few or of all
    features, or discriminants; the kinds whose trees gain most get most trees. Missing values,
    categories and sparse matrices are handled natively.

    Parameters
    ----------
    n_estimators : int or None, default=None
        Largest number of rounds; None for 50 or 100 below 10000 samples, else 36 to 160 (half
        as many with ``effort="fast"``, twice as many with "best"). How many are used is up to
        `early_stopping`.
    effort : {"fast", "default", "best"}, default="default"
        How much time is spent for a lower error: it sets the numbers of rounds and landmarks, the
        shrinkage, and how many ensembles are averaged. By default these are four with fewer than
        10000 samples, two with fewer than 50000 (200000 if there are more than 64 features) and at
        most 64 classes, and one otherwise; "fast" averages half as many, "best" four times as
        many, which start from different landmarks, and some of them from none.
    learning_rate : float or None, default=None
        Shrinkage: the factor of every tree; None for 0.09 to 0.21, by the numbers of samples and
        classes and by what boosting starts from.
    max_leaf_nodes : int or None, default=None
        Maximum number of leaves per tree; None chooses it by the numbers of samples and classes,
        from 12 to 1024.
    max_depth : int or None, default=None
        Maximum number of splits on a path; None for no limit.
    min_samples_leaf : int or None, default=None
        Minimum number of samples in a leaf; None for 1 to 10, by the numbers of samples and
        classes.
    l2_regularization : float or None, default=None
        Ridge penalty of the leaf values and of the gain of splits; None for 0.3 (1 for
        ``effort="best"``), or 0.1 with more than 400 classes.
    subsample : float or None, default=None
        Fraction of the samples that a tree is grown on, drawn again every round; None for 0.7 to
        0.9, by the numbers of samples and classes.
    n_sketches : int or None, default=None
        Number q of random projections of the gradients that choose the splits. At most 62 are used,
        and at most one less than there are classes, which is without loss. None for 6 to 30, by
        the numbers of samples and classes.
    leaf_classes : int or None, default=None
        Maximum number of classes whose score a leaf changes; None for 32, or 16 with more
        than 400 classes.
    n_landmarks : int or None, default=None
        Number of training samples that all others are compared with: boosting starts from the
        scores of a ridge regression on the similarities to them (three such regressions, with as
        many each, for ``effort="best"``). 0: boosting starts from the frequencies of the classes.
        None: 600 to 3600, by the size of the data, and a trial on a part of the samples decides
        which of the averaged ensembles start from them; for CSR data the ridge regression is one
        on the features themselves instead; with more than 64 classes 0.
    n_projections : int, default=550
        Number of directions beside the features themselves; fewer where their bins would take more
        than 256 MB.
    projection : {"mixed", "axis", "sparse", "lda", "gaussian"} or tuple, default="mixed"
        Kind of the directions that splits compare. "axis", single features; "sparse", three
        features with normal coefficients, and the sum or difference of two, or ``("sparse",
        density)`` for that share of nonzeros, each -1 or +1 (1/3 is Achlioptas'); "gaussian", all
        features; "lda", Fisher discriminants of random groups of classes on random features;
        "mixed", all of these (a tree looks at one kind).
    max_features : float or None, default=None
        Fraction of the directions of a kind that is tried at a node: half of them (a quarter with
        at least 10000 samples) those that gained most so far, the others drawn again for every
        node. None for 0.3 and at most 16 directions, or with at least 10000 samples 0.5 and at most
        64.
    max_bins : int or None, default=None
        Bins of a direction, at most 256; None for 64 to 255, by the numbers of samples and
        features.
    categorical_features : "from_dtype" or array-like, default="from_dtype"
        Columns of categories. "from_dtype": those of text or of a category type. Names, positions
        or a mask of columns: these too, whatever their type.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied into `sample_weight`. "balanced" gives all classes the
        same total weight, counted with `sample_weight`.
    early_stopping : bool or "auto", default="auto"
        True: stop when the loss of a held-out part has not fallen for `n_iter_no_change` rounds,
        and keep the best round. "auto": the same with `X_val` or where a single ensemble is
        trained; where several are averaged, only the first one has samples held out from it, they
        decide when to stop, and all rounds are kept (with fewer than 50 samples all rounds are
        run). False: all rounds. Held-out samples that decide when to stop also choose the
        temperature of the probabilities.
    validation_fraction : float or None, default=None
        Share of the samples that is held out if no `X_val` is given; None for 1000 samples, but at
        least 0.02 and at most 0.2 of them.
    n_iter_no_change : int, default=20
        Number of rounds without improvement after which early stopping ends the fit; where several
        ensembles are averaged with ``effort="best"``, twice as many.
    warm_start : bool, default=False
        Continue from the rounds of the last fit, up to `n_estimators`; y may have new classes
        beside all that the last fit had. Seed, landmarks, directions and the number of averaged
        ensembles stay those of the first fit.
    random_state : int, RandomState or None, default=None
        Seed. The same seed gives the same model for any `n_jobs`.
    n_jobs : int or None, default=None
        Number of threads; None and -1 mean all cores.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    weights_ : ndarray of shape (n_estimators_,)
        The largest value that each tree adds to or subtracts from a score.
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
        By round: "loss" (before the round), "gain", and "validation_error" and "validation_loss"
        where there are held-out or validation samples; with several ensembles these are of the
        first one, and the loss is that after a correction of the temperature.
    stopped_ : str
        Why the fit ended.
    model_ : FittedModel
        The fitted model: the preparation of the input and the ensemble.

    See Also
    --------
    RBoostRankClassifier : The paper's first method: the data is projected, once for every class.
    RBoostProjClassifier : The paper's second method: the outputs are projected.

    Notes
    -----
    A leaf changes at most `leaf_classes` scores, so a sample keeps the scores of the classes that
    some leaf touched; all others have that of the prior. Softmax, gradients and loss are exact
    over all classes at the cost of the touched ones.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from randomboost import RandomBoostClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = RandomBoostClassifier(n_estimators=50, random_state=0)
    >>> model.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
    True
    """

    ensemble_kinds = ("sparse trees", "landmarks and trees", "linear scores and trees")
    _accept_sparse = True
    _allows_missing = True
    _allowed: ClassVar[dict[str, list]] = {
        "n_estimators": [*TABLE["n_estimators"].allowed, None],
        "learning_rate": [*TABLE["learning_rate"].allowed, None],
        "min_samples_leaf": [*TABLE["min_samples_leaf"].allowed, None],
        "subsample": [*TABLE["subsample"].allowed, None],
        "leaf_classes": [*TABLE["leaf_classes"].allowed, None],
        "validation_fraction": [*TABLE["validation_fraction"].allowed, None],
        "projection": [StrOptions(set(KINDS)), tuple],
        "max_bins": [Interval(Integral, 2, 256, closed="both"), None],
        "early_stopping": ["boolean", StrOptions({"auto"})],
    }
    _conditions: ClassVar[tuple[Condition, ...]] = (
        *STOPPING,
        Condition(
            ("n_projections",),
            lambda estimator: estimator.projection != "axis",
            "choose another projection than 'axis'",
        ),
    )

    def __init__(
        self,
        n_estimators: int | None = None,
        *,
        effort: str = "default",
        learning_rate: float | None = None,
        max_leaf_nodes: int | None = None,
        max_depth: int | None = None,
        min_samples_leaf: int | None = None,
        l2_regularization: float | None = None,
        subsample: float | None = None,
        n_sketches: int | None = None,
        leaf_classes: int | None = None,
        n_landmarks: int | None = None,
        n_projections: int = 550,
        projection: Any = "mixed",
        max_features: float | None = None,
        max_bins: int | None = None,
        categorical_features: Any = "from_dtype",
        class_weight: Any = None,
        early_stopping: Any = "auto",
        validation_fraction: float | None = None,
        n_iter_no_change: int = 20,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.effort = effort
        self.learning_rate = learning_rate
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.subsample = subsample
        self.n_sketches = n_sketches
        self.leaf_classes = leaf_classes
        self.n_landmarks = n_landmarks
        self.n_projections = n_projections
        self.projection = projection
        self.max_features = max_features
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _scales(self) -> bool:
        return True

    def _listed_categories(self) -> Any:
        return self.categorical_features

    def _get_loss(self) -> Loss:
        return LogisticLoss()  # cross-entropy: softmax(F) are the probabilities, as there

    def _check_settings(self) -> None:
        super()._check_settings()
        split_kind(self.projection)

    def _is_automatic(self) -> bool:
        return isinstance(self.early_stopping, str)

    def _stops_early(self, n_samples: int, given: bool) -> bool:
        if self._is_automatic():
            return given or (self._members(n_samples) == 1 and n_samples >= _FEW)
        return self.early_stopping

    def _holds_out(self, n_samples: int, given: bool) -> bool:
        """Return whether samples are held out from the first ensemble."""
        automatic = self._is_automatic() and not given
        return automatic and n_samples >= _FEW and self._members(n_samples) > 1

    def _held_samples(
        self,
        keys: NDArray[np.uint64],
        labels: NDArray[np.int64],
        n_samples: int,
        given: bool,
        seed: int,
    ) -> NDArray[np.int64] | None:
        if not self._holds_out(n_samples, given):
            return None
        held = self._hold_out(keys, labels, seed)
        return np.flatnonzero(held) if len(np.unique(labels[~held])) > 1 else None

    def _members(self, n_samples: int) -> int:
        """Return the number of ensembles whose scores are averaged."""
        n_classes = len(self.classes_)
        return SketchSettings.choose(
            n_samples, self.n_features_in_, n_classes, self.effort
        ).n_members

    def _schedule(self, data: TrainingData, early: bool) -> Schedule:
        if data.held is None:
            return super()._schedule(data, early)
        # further rounds lower the error of a bag, so that none is taken back
        patience = self.n_iter_no_change * (2 if self.effort == "best" else 1)
        return Schedule(self._max_rounds(data), patience, keep_best=False)

    def _check_landmarks(
        self, data: TrainingData, start: SparseTrees | StartedTrees | None
    ) -> None:
        """Raise where landmarks are asked for that there cannot be."""
        known = None if start is None else apart(start)[0]
        if known is not None and data.n_classes > DENSE:
            raise ValueError(
                f"the fitted model starts from {known.name}, which are for at most {DENSE} "
                f"classes, and y has {data.n_classes}: fit with warm_start=False, or from the "
                "first fit on with n_landmarks=0"
            )
        if not self.n_landmarks:
            return
        leave = "leave n_landmarks at None, or set it to 0"
        if sp.issparse(data.X):
            raise ValueError(f"n_landmarks={self.n_landmarks} needs dense data: {leave}")
        if data.n_classes > DENSE:
            raise ValueError(
                f"n_landmarks={self.n_landmarks} is for at most {DENSE} classes, and y has "
                f"{data.n_classes}: {leave}"
            )

    def _chosen(self, data: TrainingData, without: float) -> SketchSettings:
        """Return the settings for the size of the data."""
        sparse = sp.issparse(data.X)
        return SketchSettings.choose(
            data.size,
            self.n_features_in_,
            data.n_classes,
            self.effort,
            n_landmarks=0 if sparse else self.n_landmarks,
            categorical=data.categorical,
            linear=sparse and self.n_landmarks is None,
            without=without,
        )

    def _max_rounds(self, data: TrainingData) -> int:
        if self.n_estimators is not None:
            return self.n_estimators
        if not (self.warm_start and hasattr(self, "model_")):
            return self._chosen(data, 0.0).n_rounds
        ensemble = cast(SparseTrees | StartedTrees, self.model_.ensemble)
        return self._chosen(data, without_landmarks(apart(ensemble)[0])).n_rounds

    def _validation_share(self, n_samples: int) -> float:
        if self.validation_fraction is not None:
            return self.validation_fraction
        return min(0.2, max(0.02, _ENOUGH / n_samples))

    def _settings(self, data: TrainingData, seed: int, without: float = 0.0) -> SketchSettings:
        given: dict[str, Any] = {
            "n_rounds": self.n_estimators,
            "learning_rate": self.learning_rate,
            "max_leaves": self.max_leaf_nodes,
            "max_depth": self.max_depth,
            "min_samples_leaf": self.min_samples_leaf,
            "ridge": self.l2_regularization,
            "subsample": self.subsample,
            "n_sketches": self.n_sketches,
            "leaf_classes": self.leaf_classes,
            "max_features": self.max_features,
            "max_bins": self.max_bins,
        }
        chosen = self._chosen(data, without)
        given = {name: value for name, value in given.items() if value is not None}
        if "max_features" in given:
            given["max_drawn"] = 2**31  # no other limit
        given |= {"n_projections": int(self.n_projections), "seed": seed}
        return replace(chosen, projection=self.projection, **given)

    def _make_trainer(
        self,
        data: TrainingData,
        start: SparseTrees | StartedTrees | None,
        seed: int,
        team: ThreadTeam,
    ) -> SketchTrainer:
        self._check_landmarks(data, start)
        settings = self._settings(data, seed)
        n_threads = team.n_threads if data.rows is None else 1  # else the samples are elsewhere
        adapted = partial(self._settings, data, seed)
        size = data.size, data.n_classes, data.X.dtype
        with rehearsed(settings, *size, n_threads) as compiled:
            return SketchTrainer(settings, data, start, team, adapted, compiled)

    def _changed_since(
        self, ensemble: SparseTrees | StartedTrees, seed: int, data: TrainingData
    ) -> str | None:
        start, trees = apart(ensemble)
        settings = replace(self._settings(data, seed), n_members=trees.n_members)
        wanted = direction_counts(settings, *data.X.shape)
        if list(wanted) != list(trees.directions.counts):
            return "projection"
        if wanted != trees.directions.counts:
            return "n_projections"
        if self.n_landmarks is not None and not self._has_landmarks(start, data):
            return "n_landmarks"
        density = split_kind(self.projection)[1]
        return None if density == trees.directions.density else "projection"

    def _has_landmarks(self, start: Start | None, data: TrainingData) -> bool:
        """Return whether a model has `n_landmarks` of them, or all samples if these are fewer."""
        if start is None or not start.n_landmarks:
            return start is None and not self.n_landmarks
        return start.n_landmarks in (self.n_landmarks, min(self.n_landmarks, data.X.shape[0]))
