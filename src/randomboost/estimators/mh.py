"""AdaBoost.MH: one binary problem a class (Schapire and Singer 1999)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from ..runtime.parallel import ThreadTeam
from ..search.binned import BinnedColumns
from ..search.joint import JointSearch, first_of_best
from ..training.rounds import Model, Trainer, TrainingData, changed
from ..training.side_by_side import DichotomyClassifier, DichotomyTrainer
from ..training.voting import CLASSICAL_CONSTRAINTS, VoteBoostingClassifier, VoteTrainer, log_ratio
from ..weak_learners import StumpLearner
from ..weak_learners.stump import make_stump


class SharedTrainer(VoteTrainer):
    """Rounds with one weak classifier phi and votes in {-1, +1}^k that all classes share.

    The edge ``sum_l v_l sum_i D(i, l) Y_il phi(x_i)`` is the sum over the classes of absolute
    edges, so the best stump is found from the sums of all classes together. Any other weak
    learner is fitted for the votes of the best stump, and then given its own best votes.
    """

    def __init__(self, estimator: Any, data: TrainingData, start: Model, team: ThreadTeam) -> None:
        n_classes = len(estimator.classes_)
        self._labels = np.where(data.y == np.arange(n_classes)[:, None], 1.0, -1.0)
        weight = np.broadcast_to(data.sample_weight, self._labels.shape)
        self._weight = weight / weight.sum()
        self._log_loss = 0.0
        super().__init__(estimator, data, start, team)
        columns = BinnedColumns(self._points, team, estimator._bin_limit())
        self._search = JointSearch(columns, team)

    def _add(self, hypothesis: Any, weight: Any, votes: NDArray) -> NDArray:
        outputs = super()._add(hypothesis, weight, votes)
        self._weight = self._weight * np.exp(-self._labels * np.outer(votes, outputs))
        total = self._weight.sum()
        self._weight /= total
        self._log_loss += float(np.log(total))
        return outputs

    def step(self) -> dict[str, float] | str:
        """Run one round; return its loss and edge, or why there is no further round."""
        signed = self._weight * self._labels
        sums = self._search.edge_sums(np.ascontiguousarray(signed.T))[:-1]
        if not len(sums):
            return "no weak learner separates any two samples"
        best = first_of_best(np.abs(sums).sum(axis=1))
        votes = np.where(sums[best] >= 0, 1.0, -1.0)
        if isinstance(self._learner, StumpLearner) and self._learner.largest_edge:
            cut = self._search.cut(best)
            real = not self._learner.discrete
            hypothesis, _ = make_stump(self._points, votes @ signed, *cut, real=real)
        else:
            found = self._learner.fit(votes @ signed, self._columns, self._rng())
            if found is None:
                return "no weak learner separates any two samples"
            hypothesis = found[0]
        edges = signed @ hypothesis.outputs(self._points)
        edge = float(np.abs(edges).sum())
        if edge <= self._tol:
            return f"no weak learner has an edge above tol = {self._tol:g}"
        alpha = log_ratio(0.5 * (1.0 + edge), 0.5 * (1.0 - edge))
        self._add(hypothesis, alpha, alpha * np.where(edges >= 0, 1.0, -1.0))
        return {"loss": self._log_loss, "edge": edge}


class AdaBoostMHClassifier(DichotomyClassifier, VoteBoostingClassifier):
    """AdaBoost.MH: every class against the rest, boosted together.

    The weights of all (sample, class) sum to 1, and the label of a pair is +1 where the sample
    is of the class (Schapire and Singer 1999).


    Parameters
    ----------
    n_estimators : int, default=100
        Largest number of rounds T.
    votes : {"per_class", "shared"}, default="per_class"
        "per_class": every round trains one weak classifier for each class, with a weight of its
        own (one against the rest). "shared": one weak classifier a round with a vote of -1 or +1
        for every class and one weight, so the model has k times fewer weak classifiers.
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
        Share of the weights on each feature.
    train_history_ : dict of str to ndarray
        By round: "loss" (logarithm of the mean exponential loss), "edge", and
        "validation_error" where there is a validation part.
    stopped_ : str
        Why the fit ended.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from randomboost import AdaBoostMHClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> AdaBoostMHClassifier(60, random_state=0).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.85
    True
    """

    _kept = ("_shared",)
    _parameter_constraints: ClassVar[dict[str, list]] = {
        **CLASSICAL_CONSTRAINTS,
        "votes": [StrOptions({"per_class", "shared"})],
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        votes: str = "per_class",
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
        self.votes = votes
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
        if not start.hypotheses:
            self._shared = self.votes == "shared"
        if self._shared:
            return SharedTrainer(self, data, start, team)
        n_classes = len(self.classes_)
        return DichotomyTrainer(self, 2.0 * np.eye(n_classes) - 1.0, data, start, team)

    def _decode(self, sums: NDArray) -> NDArray:
        return sums

    @property
    def _form(self) -> Any:
        return VoteBoostingClassifier if self._shared else DichotomyClassifier

    def _finish(self, model: Model) -> None:
        self._form._finish(self, model)

    def _refuse_changes(self) -> None:
        super()._refuse_changes()
        if self._shared != (self.votes == "shared"):
            raise changed("votes")

    def _model(self) -> Model:
        return self._form._model(self)

    def _scores(self, X: Any, team: ThreadTeam) -> NDArray:
        return self._form._scores(self, X, team)

    def _staged_scores(self, X: Any) -> Iterator[NDArray]:
        return self._form._staged_scores(self, X)

    def _largest_margin(self) -> float:
        return self._form._largest_margin(self)

    @property
    def feature_importances_(self) -> NDArray:
        """Return the share of the weights on every feature."""
        check_is_fitted(self)
        return self._form.feature_importances_.fget(self)
