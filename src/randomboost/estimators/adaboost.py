"""AdaBoost for two classes (Freund and Schapire 1997)."""

from __future__ import annotations

from typing import Any

from ..ensembles.votes import Votes
from ..runtime.parallel import ThreadTeam
from ..training.loop import TrainingData
from ..training.voting import AdaBoostTrainer
from .classical import ClassicalClassifier


class AdaBoostClassifier(ClassicalClassifier):
    """Discrete AdaBoost for two classes (Freund and Schapire 1997).

    For more than two classes use `AdaBoostECCClassifier`, `AdaBoostMHClassifier`,
    `RandomBoostClassifier` or another method of this package.

    Parameters
    ----------
    n_estimators : int, default=100
        Maximum number of rounds T.
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
    weights_ : ndarray of shape (n_estimators_,)
        The weights alpha_t.
    n_estimators_ : int
        Number of rounds in the model.
    classes_ : ndarray of shape (2,)
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
    >>> from sklearn.datasets import load_breast_cancer
    >>> from randomboost import AdaBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> AdaBoostClassifier(50).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
    True
    """

    ensemble_kinds = ("votes",)

    def __init__(
        self,
        n_estimators: int = 100,
        *,
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
    ) -> AdaBoostTrainer:
        if len(self.classes_) > 2:
            # scikit-learn's checks look for the first sentence
            raise ValueError(
                "Only binary classification is supported. y has "
                f"{len(self.classes_)} classes: use AdaBoostECCClassifier, AdaBoostMHClassifier, "
                "AdaBoostMOClassifier, MultiBoostClassifier or RandomBoostClassifier for more "
                "than two"
            )
        return AdaBoostTrainer(self._settings(seed), data, start, team)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
