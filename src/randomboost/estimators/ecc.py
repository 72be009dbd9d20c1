"""AdaBoost.ECC: a new two-way partition of the classes every round (Guruswami and Sahai 1999)."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..ensembles.votes import Votes
from ..runtime.parallel import ThreadTeam
from ..training.loop import TrainingData
from ..training.partitions import ECCTrainer
from .classical import ClassicalClassifier


class AdaBoostECCClassifier(ClassicalClassifier):
    """AdaBoost.ECC: error-correcting output codes built round by round.

    Every round splits the classes into two halves, trains one weak classifier to separate them,
    and lets it vote for all classes of the side that it predicts (Guruswami and Sahai 1999).


    Parameters
    ----------
    n_estimators : int, default=100
        Maximum number of rounds T.
    partition : {"random-half", "max-cut"} or array, default="random-half"
        How a round splits the classes: into random halves (Li 2006); so that the weight of the
        separated pairs is large; or by the columns of a given array of shape
        (n_classes, n_codes) with -1 and +1, in turn.
    weak_learner : str or estimator, default="stump"
        "stump": the decision stump with the lowest weighted error. "real_stump": the same cut with
        outputs in [-1, 1]. "gini_stump": the one with the lowest Gini impurity, as a decision
        tree of depth 1. "wlda": weighted Fisher LDA and a stump, if better than a plain
        stump. "tree": scikit-learn's decision tree with at most 8 leaves. Or any scikit-learn
        classifier (or regressor) that takes sample_weight.
    tol : float, default=1e-10
        Training ends when no weak learner has an edge (1 - 2 error) above this.
    max_bins : int or None, default=None
        Search only the thresholds between this many quantile bins per feature; None searches all
        thresholds.
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
    weights_ : ndarray of shape (n_estimators_, 2)
        Sizes alpha_t and beta_t of the positive and the negative vote.
    partitions_ : ndarray of shape (n_estimators_, n_classes)
        The partitions, -1 and +1.
    n_estimators_ : int
        Number of rounds in the model.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where they are strings.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Fraction of the total weight on each feature.
    train_history_ : dict of str to ndarray
        By round: "loss" (logarithm of the mean exponential loss), "edge", and
        "validation_error" if there is a validation part.
    stopped_ : str
        Why the fit ended.
    model_ : FittedModel
        The fitted model: the preparation of the input and the ensemble.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from randomboost import AdaBoostECCClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> AdaBoostECCClassifier(60, random_state=0).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.85
    True
    """

    ensemble_kinds = ("votes",)

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        partition: Any = "random-half",
        weak_learner: Any = "stump",
        tol: float = 1e-10,
        max_bins: int | None = None,
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
        self.partition = partition
        self.weak_learner = weak_learner
        self.tol = tol
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

    def _make_trainer(
        self, data: TrainingData, start: Votes | None, seed: int, team: ThreadTeam
    ) -> ECCTrainer:
        if not isinstance(self.partition, str):
            matrix = np.asarray(self.partition, dtype=np.float64)
            right_shape = matrix.ndim == 2 and matrix.shape[0] == len(self.classes_) and matrix.size
            if (
                not right_shape
                or (np.abs(matrix) != 1).any()
                or (np.abs(matrix.sum(axis=0)) == len(matrix)).any()
            ):
                raise ValueError(
                    f"partition must have a row for each of the {len(self.classes_)} classes and "
                    "columns of -1 and +1 with both of them in each"
                )
        return ECCTrainer(self._settings(seed), self.partition, data, start, team)

    @property
    def partitions_(self) -> NDArray:
        """Return the partitions of all rounds."""
        check_is_fitted(self)
        return np.sign(cast(Votes, self.model_.ensemble).votes)
