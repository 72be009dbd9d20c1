"""What a fitted boosting classifier does: scores, labels, probabilities, margins, files."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from ..ensembles.fitted_model import FittedModel
from ..preprocessing.labels import distinct_labels
from ..runtime.parallel import ThreadTeam, resolve_threads


class FittedClassifier(ClassifierMixin, BaseEstimator):
    """The part of a classifier that works on a fitted model."""

    ensemble_kinds: ClassVar[tuple[str, ...]] = ()  # names of the ensembles that it may hold
    _accept_sparse: ClassVar[bool] = False
    _allows_missing: ClassVar[bool] = False

    model_: FittedModel
    classes_: NDArray
    n_estimators_: int
    weights_: NDArray
    train_history_: dict[str, NDArray]
    stopped_: str

    def set_fitted(
        self, model: FittedModel, history: dict[str, NDArray], stopped: str
    ) -> FittedClassifier:
        """Make this the classifier of a fitted model; `fit` and `randomboost.load` use it.

        Parameters
        ----------
        model : FittedModel
            The model.
        history : dict of str to ndarray
            What `train_history_` shows.
        stopped : str
            Why the fit ended.

        Returns
        -------
        self
            The fitted estimator.
        """
        self.model_, self.classes_ = model, model.classes
        self.n_features_in_ = model.n_features
        self.n_estimators_, self.weights_ = model.ensemble.n_rounds, model.ensemble.weights
        self.train_history_, self.stopped_ = history, stopped
        return self

    @property
    def feature_importances_(self) -> NDArray:
        """Return the importance of every feature; the class describes how it is measured."""
        check_is_fitted(self)
        return self.model_.ensemble.importances(self.n_features_in_)

    def _finiteness(self, X: Any) -> Any:
        """Return what scikit-learn is to check: missing values are for dense data only."""
        return "allow-nan" if self._allows_missing and not sp.issparse(X) else True

    def _class_numbers(self, y: NDArray, name: str) -> NDArray[np.int64]:
        known = set(self.classes_.tolist())
        for label in distinct_labels(y, name).tolist():
            if label not in known:
                raise ValueError(
                    f"{name} has labels that do not occur in the training data, such as {label!s}: "
                    "leave those samples out"
                )
        return np.searchsorted(self.classes_, y)

    def _need_stages(self, what: str) -> None:
        """Raise where the weights after every round are needed but were not saved."""
        if not self.model_.ensemble.has_stages:
            raise ValueError(
                f"{what} of a totally corrective model needs its weights after every round, which "
                "are not in the file that it was loaded from: save it with dense=True"
            )

    def _checked(self, X: Any) -> Any:
        return validate_data(
            self,
            X,
            reset=False,
            accept_sparse="csr" if self._accept_sparse else False,
            dtype=[np.float64, np.float32],
            order="C",
            ensure_all_finite=self._finiteness(X),
        )

    def _prepared(self, X: Any) -> Any:
        check_is_fitted(self)
        inputs = self.model_.inputs
        return inputs.scaled(self._checked(inputs.encoded(X)))

    def _as_decision(self, scores: NDArray) -> NDArray:
        dtype = self.model_.inputs.dtype
        if len(self.classes_) == 2:
            return (scores[1] - scores[0]).astype(dtype)
        return np.ascontiguousarray(scores.T).astype(dtype, copy=False)

    def _as_labels(self, decision: NDArray) -> NDArray:
        best = decision > 0 if decision.ndim == 1 else decision.argmax(axis=1)
        return self.classes_[best.astype(np.intp)]

    def _as_probabilities(self, decision: NDArray) -> NDArray:
        if decision.ndim == 1:
            decision = np.stack([np.zeros_like(decision), decision], axis=1)
        return softmax(self.model_.probability_scale * decision, axis=1)

    def decision_function(self, X: Any) -> NDArray:
        """Return the score of every class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
            Scores F_r; for two classes F_1 - F_0. float32 for a model trained on float32.
        """
        X = self._prepared(X)
        with ThreadTeam(resolve_threads(self.n_jobs) if X.shape[0] > 64 else 1) as team:
            return self._as_decision(self.model_.ensemble.scores(X, team))

    def predict(self, X: Any) -> NDArray:
        """Return the class with the highest score.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels.
        """
        check_is_fitted(self)
        if not self.model_.ensemble.is_sparse:
            return self._as_labels(self.decision_function(X))
        X = self._prepared(X)
        with ThreadTeam(resolve_threads(self.n_jobs) if X.shape[0] > 64 else 1) as team:
            return self.classes_[self.model_.ensemble.best(X, team)]

    def predict_proba(self, X: Any, *, sparse_output: bool = False) -> Any:
        """Return class probabilities, ``softmax(s F)``.

        The factor s depends on the loss: 2 for the exponential loss, 1 for all others. It makes
        the probabilities the true ones at the minimum of the expected pairwise loss, where
        ``F_y - F_r = log(p_y / p_r) / s``. Boosting drives scores far apart, so with few samples
        the probabilities tend to be overconfident; those of `RandomBoostClassifier` with its
        default loss are the best calibrated.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.
        sparse_output : bool, default=False
            Return a sparse array. That of `RandomBoostClassifier` has the probabilities of the
            classes that a leaf of the sample touches, however many classes there are, and no
            dense array is made. All other classes share the remaining probability, in proportion
            to their weights in the training data. Other classifiers store all probabilities.

        Returns
        -------
        ndarray or scipy.sparse.csr_array of shape (n_samples, n_classes)
            Probabilities in the order of `classes_`.
        """
        if not sparse_output:
            return self._as_probabilities(self.decision_function(X))
        X = self._prepared(X)
        model = self.model_
        with ThreadTeam(resolve_threads(self.n_jobs) if X.shape[0] > 64 else 1) as team:
            return model.ensemble.touched_probabilities(
                X, model.probability_scale, model.inputs.dtype, team
            )

    def predict_topk(self, X: Any, n: int = 5) -> tuple[NDArray, NDArray]:
        """Return the n most probable classes of every sample, the most probable first.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.
        n : int, default=5
            How many classes; all of them where there are fewer.

        Returns
        -------
        labels : ndarray of shape (n_samples, n)
            Class labels.
        probabilities : ndarray of shape (n_samples, n)
            Their probabilities.
        """
        if isinstance(n, bool) or not isinstance(n, Integral) or n < 1:
            raise ValueError(f"n={n!r} is not a number of classes: pass a whole number above 0")
        X = self._prepared(X)
        model = self.model_
        with ThreadTeam(resolve_threads(self.n_jobs) if X.shape[0] > 64 else 1) as team:
            found = model.ensemble.top(X, int(n), model.probability_scale, team)
        return self.classes_[found[0]], found[1].astype(model.inputs.dtype, copy=False)

    def staged_decision_function(self, X: Any) -> Iterator[NDArray]:
        """Yield `decision_function` of the model after every round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.

        Yields
        ------
        ndarray
            As `decision_function`.
        """
        X = self._prepared(X)
        self._need_stages("a staged prediction")
        with ThreadTeam(resolve_threads(self.n_jobs)) as team:
            for scores in self.model_.ensemble.staged_scores(X, team):
                yield self._as_decision(scores)

    def staged_predict(self, X: Any) -> Iterator[NDArray]:
        """Yield `predict` of the model after every round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.

        Yields
        ------
        ndarray
            As `predict`.
        """
        for decision in self.staged_decision_function(X):
            yield self._as_labels(decision)

    def staged_predict_proba(self, X: Any) -> Iterator[NDArray]:
        """Yield `predict_proba` of the model after every round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.

        Yields
        ------
        ndarray
            As `predict_proba`.
        """
        for decision in self.staged_decision_function(X):
            yield self._as_probabilities(decision)

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Yield the accuracy of the model after every round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.
        y : array-like of shape (n_samples,)
            True labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights.

        Yields
        ------
        float
            Accuracy.
        """
        y = column_or_1d(y)
        check_consistent_length(X, y, sample_weight)
        for labels in self.staged_predict(X):
            yield float(np.average(labels == y, weights=sample_weight))

    def margins(self, X: Any, y: Any) -> NDArray:
        """Return the normalised multi-class margins.

        The margin of a sample is the score of its class minus the highest score of any other,
        divided by the largest value that difference could take: it lies in [-1, 1] and is
        positive where the sample is classified correctly.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.
        y : array-like of shape (n_samples,)
            True labels.

        Returns
        -------
        ndarray of shape (n_samples,)
            The margins.
        """
        X = self._prepared(X)
        y = np.asarray(y)
        if y.shape != (X.shape[0],):
            raise ValueError(
                f"y has shape {y.shape} but X has {X.shape[0]} rows: pass one label a row"
            )
        labels = self._class_numbers(y, "y")
        with ThreadTeam(resolve_threads(self.n_jobs)) as team:
            scores = self.model_.ensemble.scores(X, team)
        samples = np.arange(len(y))
        own = scores[labels, samples].astype(np.float64)
        scores[labels, samples] = -np.inf
        largest = self.model_.ensemble.largest_margin()
        margins = (own - scores.max(axis=0)) / (largest if largest > 0 else 1.0)
        return np.clip(margins, -1.0, 1.0)  # sums of single precision go a little beyond

    def save(self, path: Any, *, dense: bool = False, notes: dict[str, Any] | None = None) -> None:
        """Write the fitted model to a file that `randomboost.load` reads.

        Parameters
        ----------
        path : path
            The file, by convention ``.rboost``; an existing file is replaced atomically.
        dense : bool, default=False
            Also store what can be regenerated from the seed, the projections in use, and weights
            after every round, which staged predictions and a warm start of totally corrective
            models need. The file then grows with the number of classes.
        notes : dict or None, default=None
            Anything JSON can hold, kept in the file for `randomboost.files.describe`.
        """
        from ..files import save

        save(self, path, dense=dense, notes=notes)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._accept_sparse
        tags.input_tags.allow_nan = self._allows_missing
        return tags
