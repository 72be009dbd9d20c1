"""What a fitted boosting classifier does: scores, labels, probabilities, margins, files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    check_is_fitted,
    check_X_y,
    column_or_1d,
    validate_data,
)

from ..ensembles.fitted_model import FittedModel
from ..explain import Explanation, for_plots
from ..preprocessing.frames import as_table
from ..preprocessing.inputs import InputPreparation
from ..preprocessing.labels import distinct_labels
from ..runtime.parallel import ThreadTeam, resolve_threads
from .input_errors import with_remedy
from .notebook import fitted_html


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
        self.n_features_in_ = model.n_columns
        self.n_estimators_, self.weights_ = model.ensemble.n_rounds, model.ensemble.weights
        self.train_history_, self.stopped_ = history, stopped
        return self

    @property
    def feature_importances_(self) -> NDArray:
        """Return the importance of every feature; the class describes how it is measured."""
        check_is_fitted(self)
        model = self.model_
        return model.inputs.per_column(model.ensemble.importances(model.n_features))

    def _finiteness(self, X: Any) -> Any:
        """Return what scikit-learn is to check: missing values are for dense data only."""
        return "allow-nan" if self._allows_missing and not sp.issparse(X) else True

    def _last_loss(self) -> float | None:
        """Return the loss after the last round of the last fit, if there was one."""
        losses = getattr(self, "train_history_", {}).get("loss", ())
        return float(losses[-1]) if len(losses) else None

    def _class_numbers(self, y: NDArray, name: str) -> NDArray[np.int64]:
        known = set(self.classes_.tolist())
        for label in distinct_labels(y, name).tolist():
            if label not in known:
                raise ValueError(
                    f"{name} has labels that do not occur in the training data, such as {label!s}: "
                    "leave those out"
                )
        return np.searchsorted(self.classes_, y)

    def _need_stages(self, what: str) -> None:
        """Raise where the weights after every round are needed but were not saved."""
        if not self.model_.ensemble.has_stages:
            raise ValueError(
                f"{what} of a totally corrective model needs its weights after every round, which "
                "are not in the file that it was loaded from: save it with dense=True"
            )

    def _validated(self, X: Any, *y: Any, read: Callable[[], NDArray] | None, reset: bool) -> Any:
        """Return input that scikit-learn has checked; `read` returns the numbers of a table."""
        checks = {
            "accept_sparse": "csr" if self._accept_sparse else False,
            "dtype": [np.float64, np.float32],
            "order": "C",
            "ensure_all_finite": self._finiteness(X),
        }
        with with_remedy(allows_missing=self._allows_missing):
            if read is None:
                return validate_data(self, X, *y, reset=reset, **checks)
            validate_data(self, X, *y, reset=reset, skip_check_array=True)  # names, their number
            if y:
                return check_X_y(read(), *y, estimator=self, **checks)
            return check_array(read(), input_name="X", estimator=self, **checks)

    def _checked(self, X: Any, inputs: InputPreparation) -> Any:
        """Return input as the numbers that the ensemble knows, before scaling."""
        read = partial(inputs.read, X) if inputs.reads(X) else None
        return inputs.encoded(self._validated(X, read=read, reset=False))

    def _prepared(self, X: Any) -> Any:
        """Return input as the features that the ensemble sees."""
        check_is_fitted(self)
        inputs = self.model_.inputs
        return inputs.scaled(self._checked(X, inputs))

    def _of_all(self, X: Any, method: Callable[[Any, ThreadTeam], NDArray]) -> NDArray:
        """Return what a method of the ensemble finds; its last axis has the samples."""
        inputs = self.model_.inputs
        X = self._checked(X, inputs)
        with self._team(X.shape[0]) as team:
            found = [method(inputs.scaled(piece), team) for piece in inputs.pieces(X)]
        return found[0] if len(found) == 1 else np.concatenate(found, axis=-1)

    def _team(self, n_samples: int) -> ThreadTeam:
        """Return the threads of a prediction; for few samples one is faster than several."""
        return ThreadTeam(resolve_threads(self.n_jobs) if n_samples > 64 else 1)

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
        check_is_fitted(self)
        return self._as_decision(self._of_all(X, self.model_.ensemble.scores))

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
        return self.classes_[self._of_all(X, self.model_.ensemble.best)]

    def predict_proba(self, X: Any, *, sparse_output: bool = False) -> Any:
        """Return class probabilities, ``softmax(s F)``.

        The factor s depends on the loss: 2 for the exponential loss of margins between classes, 1
        for all others. It makes the probabilities the true ones at the minimum of the expected
        loss, where ``F_y - F_r = log(p_y / p_r) / s``. Boosting drives scores far apart, so with
        few samples the probabilities tend to be overconfident; those of `RandomBoostClassifier`
        are the best calibrated, as it also multiplies s by a temperature that held-out samples
        choose.

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
        with self._team(X.shape[0]) as team:
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
        with self._team(X.shape[0]) as team:
            found = model.ensemble.top(X, int(n), model.probability_scale, team)
        return self.classes_[found[0]], found[1].astype(model.inputs.dtype, copy=False)

    def explain(self, X: Any, classes: Any = None) -> Any:
        """Return what every feature contributes to the scores of chosen classes.

        Contributions are Shapley values: how far a sample's value of a feature moves the score
        from its average over the training data, averaged over all orders in which features could
        become known. With the base value they add up to the score. They are exact for splits on
        single features; a mixture of features counts as one, and what it contributes is divided
        among its features in proportion to ``u c_j x_j + c_j**2`` for ``u = sum_j c_j x_j``. To the
        scores of landmarks, features contribute integrated gradients from their means on; their
        contributions to linear scores are exact. Of two classes, the score of a class is that in
        `decision_function`: the difference to the other one's.

        Only `RandomBoostClassifier` has it. ``shap.TreeExplainer`` takes only libraries that it
        knows by name, and refuses the models of this package with a reference to this method.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.
        classes : array-like of shape (n_outputs,) or (n_samples, n_outputs), default=None
            Labels of the classes to explain, the same ones for all samples or those of each, for
            example the labels of `predict_topk`; None for the predicted class of every sample.

        Returns
        -------
        shap.Explanation or Explanation
            With `values` (n_samples, n_features) and `base_values` (n_samples,), or, where
            `classes` are given, (n_samples, n_features, n_outputs) and (n_samples, n_outputs).
            Where shap is installed its plots take it: ``shap.plots.beeswarm(model.explain(X))``.
        """
        check_is_fitted(self)
        model = self.model_
        if not model.ensemble.explains:
            raise ValueError(
                f"{type(self).__name__} has no explain: use RandomBoostClassifier, or "
                "shap.Explainer(model.predict_proba, X), which works with any model but is slower"
            )
        inputs = model.inputs
        checked = self._validated(
            X, read=partial(inputs.read, X) if inputs.reads(X) else None, reset=False
        )
        prepared = inputs.scaled(inputs.encoded(checked))
        with ThreadTeam(resolve_threads(self.n_jobs)) as team:
            if classes is None:
                numbers = model.ensemble.best(prepared, team)[:, None]
            else:
                numbers = self._chosen_classes(classes, prepared.shape[0])
            values, bases = model.ensemble.contributions(prepared, numbers, team)
        values = np.moveaxis(inputs.per_column(np.moveaxis(values, 1, -1)), -1, 1)
        if classes is None:
            values, bases, numbers = values[:, :, 0], bases[:, 0], numbers[:, 0]
        table, names = as_table(X), getattr(self, "feature_names_in_", None)
        if names is None:
            names = [f"feature {number}" for number in range(self.n_features_in_)]
        given = None
        if inputs.encoding is not None and table is not None:
            given = np.asarray(table.to_numpy(), dtype=object)
        data = checked.toarray() if sp.issparse(checked) else checked
        names = [str(name) for name in names]
        return for_plots(Explanation(values, bases, data, names, self.classes_[numbers], given))

    def _chosen_classes(self, classes: Any, n_samples: int) -> NDArray[np.int64]:
        """Return the numbers of classes to explain, shape (n_samples, n_outputs)."""
        labels = np.asarray(classes)
        shared = labels.ndim == 1
        fits = shared or (labels.ndim == 2 and len(labels) == n_samples)
        if not fits or not labels.size:
            raise ValueError(
                f"classes has shape {labels.shape}: pass a list of labels, or labels of shape "
                f"(n_samples, n_outputs), here ({n_samples}, ...)"
            )
        numbers = self._class_numbers(labels.ravel(), "classes").reshape(labels.shape)
        return np.tile(numbers, (n_samples, 1)) if shared else numbers

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
                f"y has shape {y.shape} but X has {X.shape[0]} rows: pass one label per row"
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

    # What notebooks show: scikit-learn's diagram, which these two methods give, and our part.
    def _repr_html_inner(self) -> str:
        return super()._repr_html_inner() + fitted_html(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += fitted_html(self)
        return bundle

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._accept_sparse
        tags.input_tags.allow_nan = self._allows_missing
        return tags
