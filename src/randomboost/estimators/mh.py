"""AdaBoost.MH: one binary problem a class (Schapire and Singer 1999)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ensembles.base import Ensemble
from ..runtime.parallel import ThreadTeam
from ..training.loop import Trainer, TrainingData
from ..training.shared_votes import SharedTrainer
from ..training.side_by_side import DichotomyTrainer
from .classical import ClassicalClassifier


class AdaBoostMHClassifier(ClassicalClassifier):
    """AdaBoost.MH: every class against the rest, boosted together.

    The weights of all (sample, class) sum to 1, and the label of a pair is +1 where the sample
    is of the class (Schapire and Singer 1999).


    Parameters
    ----------
    n_estimators : int, default=100
        Maximum number of rounds T.
    votes : {"per_class", "shared"}, default="per_class"
        "per_class": every round trains one weak classifier for each class, with a weight of its
        own (one against the rest). "shared": one weak classifier per round with a vote of -1 or +1
        for every class and one weight, so the model has k times fewer weak classifiers.
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
    weights_ : ndarray of shape (n_estimators_, n_classes), or (n_estimators_,) if shared
        The weights alpha.
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
    >>> from randomboost import AdaBoostMHClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> AdaBoostMHClassifier(60, random_state=0).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.85
    True
    """

    ensemble_kinds = ("dichotomies", "votes")

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        votes: str = "per_class",
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
        self.votes = votes
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

    def _probability_scale(self) -> float:
        # exp(-Y f) is smallest at f = log(p / (1 - p)) / 2, and two classes score f and -f
        return 1.0

    def _make_trainer(self, data: TrainingData, start: Any, seed: int, team: ThreadTeam) -> Trainer:
        settings = self._settings(seed)
        if self.votes == "shared":
            return SharedTrainer(settings, data, start, team)
        code = 2.0 * np.eye(data.n_classes) - 1.0
        return DichotomyTrainer(settings, code, None, data, start, team)

    def _changed_since(self, ensemble: Ensemble, seed: int, data: TrainingData) -> str | None:
        wanted = "votes" if self.votes == "shared" else "dichotomies"
        return None if ensemble.kind == wanted else "votes"
