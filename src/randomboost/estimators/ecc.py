"""AdaBoost.ECC: a new two-way partition of the classes every round (Guruswami and Sahai 1999)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import StrOptions

from ..losses import ExponentialLoss
from ..runtime.parallel import ThreadTeam
from ..solvers.risk import PairwiseRisk
from ..training.rounds import Model, Trainer, TrainingData
from ..training.voting import (
    CLASSICAL_CONSTRAINTS,
    VoteBoostingClassifier,
    VoteTrainer,
    log_ratio,
    with_outputs,
)


def random_half(n_classes: int, rng: np.random.Generator) -> NDArray:
    """Return a partition with half of the classes on either side (Li 2006).

    Parameters
    ----------
    n_classes : int
        Number of classes.
    rng : numpy.random.Generator
        Draws it.

    Returns
    -------
    ndarray of shape (n_classes,)
        -1 and +1.
    """
    partition = np.ones(n_classes)
    partition[rng.permutation(n_classes)[: n_classes // 2]] = -1.0
    return partition


def max_cut(between: NDArray, partition: NDArray) -> NDArray:
    """Return a partition with a large weight between its sides, by moving single classes.

    Parameters
    ----------
    between : ndarray of shape (n_classes, n_classes)
        Weight of the pairs of two classes.
    partition : ndarray of shape (n_classes,)
        Where to begin.

    Returns
    -------
    ndarray of shape (n_classes,)
        A partition that no single move improves.
    """
    between = between + between.T
    np.fill_diagonal(between, 0.0)
    partition = partition.copy()
    while True:
        gains = partition * (between @ partition)  # what moving a class adds to the cut
        gains[np.abs(gains) <= 1e-12 * between.sum()] = 0.0
        best = int(gains.argmax())
        if gains[best] <= 0:
            return partition
        partition[best] = -partition[best]


class ECCTrainer(VoteTrainer):
    """The rounds of AdaBoost.ECC.

    With scores ``F_l = 1/2 sum_t g_t mu_t(l)`` the weights of the pairs (i, l) are those of the
    pairwise exponential risk.
    """

    _needs_scores = True

    def __init__(self, estimator: Any, data: TrainingData, start: Model, team: ThreadTeam) -> None:
        super().__init__(estimator, data, start, team)
        self._partition = estimator.partition
        self._risk = PairwiseRisk(
            ExponentialLoss(), data.y, self._n_classes, data.sample_weight, "log-sum-exp"
        )
        self._first_loss = self._risk.evaluate(np.zeros_like(self._scores))[0]
        self._signed = self._risk.evaluate(self._scores)[1]

    def _choose_partition(self, rng: np.random.Generator) -> NDArray:
        if not isinstance(self._partition, str):
            matrix = np.asarray(self._partition, dtype=np.float64)
            return matrix[:, len(self.model.hypotheses) % matrix.shape[1]]
        partition = random_half(self._n_classes, rng)
        if self._partition == "max-cut":
            between = np.zeros((self._n_classes, self._n_classes))
            np.add.at(between, self._data.y, np.maximum(-self._signed, 0.0).T)
            partition = max_cut(between, partition)
        return partition

    def step(self) -> dict[str, float] | str:
        """Run one round; return its loss and edge, or why there is no further round."""
        rng = np.random.default_rng([self._seed, len(self.model.hypotheses)])
        partition = self._choose_partition(rng)
        weights = partition @ self._signed  # 2 mu(y_i) times the weight of pairs that it parts
        mass = float(np.abs(weights).sum())
        found = self._learner.fit(weights / mass, self._columns, rng) if mass > 0 else None
        if found is None:
            return "no weak learner separates any two samples"
        hypothesis, edge = found
        if edge <= self._tol:
            return f"no weak learner has an edge above tol = {self._tol:g}"
        alpha, beta = self._vote_sizes(hypothesis, weights / mass, edge)
        size = max(abs(alpha), abs(beta))
        if self._learner.discrete:
            hypothesis = with_outputs(hypothesis, -beta / size, alpha / size)
        self._add(hypothesis, (alpha, beta), 0.5 * size * partition)
        loss, self._signed = self._risk.evaluate(self._scores)
        return {"loss": loss - self._first_loss, "edge": edge}

    def _vote_sizes(self, hypothesis: Any, weights: NDArray, edge: float) -> tuple[float, float]:
        """Sizes of the positive and of the negative vote."""
        if not self._learner.discrete:
            size = log_ratio(1.0 + edge, 1.0 - edge)
            return size, size
        positive = hypothesis.outputs(self._points) > 0
        gained, lost = np.maximum(weights, 0.0), np.maximum(-weights, 0.0)
        return (
            log_ratio(float(gained[positive].sum()), float(lost[positive].sum())),
            log_ratio(float(lost[~positive].sum()), float(gained[~positive].sum())),
        )


class AdaBoostECCClassifier(VoteBoostingClassifier):
    """AdaBoost.ECC: error-correcting codes found as the rounds come.

    Every round parts the classes into two halves, trains one weak classifier to tell them apart,
    and lets it vote for all classes of the side that it names (Guruswami and Sahai 1999).


    Parameters
    ----------
    n_estimators : int, default=100
        Largest number of rounds T.
    partition : {"random-half", "max-cut"} or array, default="random-half"
        How a round parts the classes: half of them at random (Li 2006); so that the weight of the
        pairs that it parts is large; or by the columns of a given array of shape
        (n_classes, n_codes) with -1 and +1, in turn.
    weak_learner : {"stump", "real_stump", "gini_stump", "wlda", "tree"} or estimator
        "stump": the decision stump with the lowest weighted error. "real_stump": the same cut with
        outputs in [-1, 1]. "gini_stump": the one with the lowest Gini impurity, as a decision
        tree of depth 1. "wlda": weighted Fisher LDA and a stump, if better than a plain
        stump. "tree": scikit-learn's decision tree with at most 8 leaves. Or any scikit-learn
        classifier (or regressor) that takes sample_weight.
    tol : float, default=1e-10
        Training ends when no weak learner has an edge (1 - 2 error) above this.
    search : {"exact", "histogram"}, default="exact"
        "exact": all thresholds. "histogram": those between `max_bins` quantile bins a feature.
    max_bins : int, default=256
        Bins of ``search="histogram"``.
    scale : bool, default=True
        Scale the features to mean 0 and standard deviation 1; stumps do not care.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied into `sample_weight`. "balanced" gives all classes the
        same total weight, counted with `sample_weight`.
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
        Seed of the validation part and of weak learners that draw.
    n_jobs : int or None, default=None
        Threads; None and -1 mean all cores.
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
        Share of the weights on each feature.
    train_history_ : dict of str to ndarray
        By round: "loss" (logarithm of the mean exponential loss), "edge", and
        "validation_error" where there is a validation part.
    stopped_ : str
        Why the fit ended.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from randomboost import AdaBoostECCClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> AdaBoostECCClassifier(60, random_state=0).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.85
    True
    """

    _parameter_constraints: ClassVar[dict[str, list]] = {
        **CLASSICAL_CONSTRAINTS,
        "partition": [StrOptions({"random-half", "max-cut"}), "array-like"],
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        partition: Any = "random-half",
        weak_learner: Any = "stump",
        tol: float = 1e-10,
        search: str = "exact",
        max_bins: int = 256,
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
        self.search = search
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

    def _make_trainer(self, data: TrainingData, start: Model, team: ThreadTeam) -> Trainer:
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
        return ECCTrainer(self, data, start, team)

    @property
    def partitions_(self) -> NDArray:
        """Return the partitions of all rounds."""
        return np.sign(self._votes)
