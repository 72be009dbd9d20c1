"""AdaBoost.MO: boosting with an output code (Schapire and Singer 1999)."""

from __future__ import annotations

from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..ensembles.dichotomies import Dichotomies
from ..runtime.parallel import ThreadTeam
from ..training.loop import TrainingData
from ..training.output_codes import complete_code, random_code
from ..training.side_by_side import DichotomyTrainer
from .classical import ClassicalClassifier
from .parameters import Condition

MOST_STUMPS = 5_000_000  # rounds times dichotomies that a fit may ask for


class AdaBoostMOClassifier(ClassicalClassifier):
    """AdaBoost.MO: boosting all dichotomies of an output code side by side.

    Every column of the code splits the classes in two; each has its own weak classifier in every
    round, and a sample is assigned the class whose row of the code fits the sums best (Schapire and
    Singer 1999). The complete code has 2^(k-1) - 1 columns, so the cost doubles with every class.


    Parameters
    ----------
    n_estimators : int, default=100
        Maximum number of rounds T.
    code : {"complete", "random"}, default="complete"
        All 2^(k-1) - 1 dichotomies, or `code_size` random ones.
    code_size : int, default=50
        Number of dichotomies of a random code.
    decoding : {"loss", "hamming"}, default="loss"
        By the exponential loss of the sums, ``sum_j exp(-code_rj f_j)``, or by the number of
        signs that agree.
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
    weights_ : ndarray of shape (n_estimators_, n_dichotomies)
        The weights alpha.
    code_ : ndarray of shape (n_classes, n_dichotomies)
        The code, -1 and +1.
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
    >>> from randomboost import AdaBoostMOClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> AdaBoostMOClassifier(60, random_state=0).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.85
    True
    """

    ensemble_kinds = ("dichotomies",)
    _conditions: ClassVar[tuple[Condition, ...]] = (
        *ClassicalClassifier._conditions,
        Condition(
            ("code_size",), lambda estimator: estimator.code == "random", "set code='random'"
        ),
    )

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        code: str = "complete",
        code_size: int = 50,
        decoding: str = "loss",
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
        self.code = code
        self.code_size = code_size
        self.decoding = decoding
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

    @property
    def code_(self) -> NDArray:
        """Return the code, -1 and +1, of shape (n_classes, n_dichotomies)."""
        check_is_fitted(self)
        return cast(Dichotomies, self.model_.ensemble).code

    def _make_trainer(
        self, data: TrainingData, start: Dichotomies | None, seed: int, team: ThreadTeam
    ) -> DichotomyTrainer:
        code = self._make_code(data.n_classes, seed)
        return DichotomyTrainer(self._settings(seed), code, self.decoding, data, start, team)

    def _changed_since(self, ensemble: Dichotomies, seed: int, data: TrainingData) -> str | None:
        code = self._make_code(len(ensemble.code), seed)
        if not np.array_equal(code, ensemble.code):
            return "code or code_size"
        return None if self.decoding == ensemble.decoding else "decoding"

    def _make_code(self, n_classes: int, seed: int) -> NDArray:
        if self.code == "random":
            return random_code(n_classes, self.code_size, np.random.default_rng(seed))
        size = 2 ** (n_classes - 1) - 1
        if size * self.n_estimators > MOST_STUMPS:
            raise ValueError(
                f"code='complete' has {size:,} dichotomies for {n_classes} classes, "
                f"{size * self.n_estimators:,} weak classifiers in {self.n_estimators} rounds, "
                f"more than {MOST_STUMPS:,}: use code='random' with code_size (now "
                f"{self.code_size}), or fewer rounds"
            )
        return complete_code(n_classes)
