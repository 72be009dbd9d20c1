"""The scikit-learn face that all boosting classifiers of the package share.

A subclass says how to train (`_make_trainer`) and how to score (see `predictor`); checking,
encoding, scaling, splitting, stopping, progress and interruption are done here.
"""

from __future__ import annotations

import copy
import warnings
from abc import abstractmethod
from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    validate_data,
)

from ..losses import Loss, get_loss
from ..preprocessing.categories import TableEncoding, category_columns, is_table
from ..preprocessing.labels import class_factors, distinct_labels
from ..preprocessing.merging import merge_samples
from ..preprocessing.scaling import StandardScaling
from ..runtime.parallel import OneBlasThread, ThreadTeam, resolve_threads
from ..runtime.progress import Progress
from ..solvers.corrective import solver_options
from ..training.rounds import BestRound, Model, Trainer, TrainingData, changed
from .fitted import BoostingPredictor


class FitInterruptedWarning(UserWarning):
    """A fit was stopped by Ctrl-C; the model holds the rounds done until then."""


class BaseBoostingClassifier(BoostingPredictor):
    """Base class; see the subclasses for the parameters."""

    _kept: ClassVar[tuple[str, ...]] = ()  # what a file holds beside the model (see `files`)
    _parameter_constraints: ClassVar[dict[str, list]] = {
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "weak_learner": [StrOptions({"stump", "real_stump", "wlda", "tree"}), HasMethods("fit")],
        "loss": [StrOptions({"exponential", "logistic"}), HasMethods(["value", "derivative"])],
        "nu": [Interval(Real, 0, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "solver_options": [dict, None],
        "search": [StrOptions({"exact", "histogram"})],
        "max_bins": [Interval(Integral, 2, 65536, closed="both")],
        "scale": ["boolean"],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "early_stopping": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
        "warm_start": ["boolean"],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    # -- what a subclass says ------------------------------------------------------------------

    def _get_loss(self) -> Loss:
        """Return the loss, which sets the scale of the probabilities."""
        return get_loss(self.loss)

    def _probability_scale(self) -> float:
        """Return the factor s of the probabilities ``softmax(s F)``."""
        return getattr(self._get_loss(), "proba_scale", 1.0)

    def _stops_early(self, n_samples: int, given: bool) -> bool:
        """Whether to stop early, by the number of samples and whether X_val is given."""
        return self.early_stopping

    def _bin_limit(self) -> int | None:
        """Return the largest number of bins a column, or None for an exact search."""
        return int(self.max_bins) if self.search == "histogram" else None

    @abstractmethod
    def _make_trainer(self, data: TrainingData, start: Model, team: ThreadTeam) -> Trainer:
        """Return the trainer; `start` holds the rounds to go on from (warm start)."""

    @abstractmethod
    def _finish(self, model: Model) -> None:
        """Set the fitted attributes of the method from the trained model."""

    # -- fitting -------------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        on_round: Callable[[Callable[[], BaseBoostingClassifier]], None] | None = None,
    ) -> BaseBoostingClassifier:
        """Fit the ensemble.

        A fit that fails leaves the estimator as it was. Ctrl-C keeps the rounds done so far.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data (NumPy, pandas, polars; CSR where the method takes it). float32 is
            worked on as float32. Trees also take missing values and, in pandas tables, columns
            of categories (see `randomboost.preprocessing.categories`).
        y : array-like of shape (n_samples,)
            Class labels of any kind.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; a weight of 2 counts as a sample given twice, 0 as one left out.
        X_val, y_val : array-like, default=None
            Validation data: its error is noted after every round, and with
            ``early_stopping=True`` it decides when to stop.
        on_round : callable, default=None
            Called after every round with a function that returns the model so far, a fitted
            estimator of its own: to look at it, or to save it from time to time.

        Returns
        -------
        self
            The fitted estimator.
        """
        work = copy.copy(self)
        work._fit(X, y, sample_weight, X_val, y_val, on_round)
        self.__dict__ = work.__dict__
        return self

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        X_val: Any,
        y_val: Any,
        on_round: Callable[..., None] | None,
    ) -> None:
        self._validate_params()
        if self.n_jobs == 0:
            raise ValueError("n_jobs=0 has no meaning: use None or -1 for all cores, or a number")
        self._get_loss()
        solver_options(getattr(self, "solver_options", None))
        if (X_val is None) != (y_val is None):
            raise ValueError("X_val and y_val must be given together: one of them is missing")
        warm = self.warm_start and hasattr(self, "n_estimators_")
        X, y = self._check_training_input(X, y, warm)
        sample_weight = _check_sample_weight(
            sample_weight, X, dtype=np.float64, ensure_non_negative=True
        )
        codes = np.searchsorted(self.classes_, y)
        factors = class_factors(self.class_weight, self.classes_, codes, sample_weight)
        used = np.flatnonzero(sample_weight * factors[codes] > 0)
        X, codes, sample_weight = merge_samples(X[used], codes[used], sample_weight[used])
        val_weight = None
        if X_val is not None:
            X_val, y_val = self._check_validation_input(X_val, y_val)
        early = self._stopping = self._stops_early(len(codes), X_val is not None)
        if early and X_val is None:
            X, X_val, codes, y_val, sample_weight, val_weight = self._split(X, codes, sample_weight)
        if len(np.unique(codes)) < 2:
            raise ValueError(
                "y has training samples of positive weight in fewer than two classes: at least two "
                "classes are needed" + (", also without the validation part" if early else "")
            )
        if not warm:
            self._scaling = StandardScaling.learn(X, sample_weight) if self.scale else None
            self._seed = self._make_seed()
            self._dtype = X.dtype
        data = TrainingData(
            self._scaled(X),
            codes,
            sample_weight * factors[codes],
            None if X_val is None else self._scaled(X_val),
            y_val,
            val_weight,
        )
        if warm:
            self._need_path("a warm start")
            self._refuse_changes()
        start = self._model() if warm else Model()
        if self.n_estimators < len(start.hypotheses):
            raise ValueError(
                f"n_estimators={self.n_estimators} is below the {len(start.hypotheses)} rounds of "
                "the fitted model: raise it, or set warm_start=False to begin anew"
            )
        self._train(data, start, on_round)

    def _make_seed(self) -> int:
        random = check_random_state(self.random_state)
        return int(random.randint(2**31)) << 31 | int(random.randint(2**31))

    def _refuse_changes(self) -> None:
        """Raise where a parameter was changed that a warm start cannot change."""
        if bool(self.scale) != (self._scaling is not None):
            raise changed("scale")
        if isinstance(self.random_state, Integral) and self._make_seed() != self._seed:
            raise changed("random_state")

    def _check_training_input(self, X: Any, y: Any, warm: bool) -> tuple[Any, NDArray]:
        if not warm:
            self._encoding = self._learn_encoding(X, y)
        X = self._encoded(X)
        if getattr(y, "dtype", None) == np.dtype(object):
            distinct_labels(y, "y")  # scikit-learn looks at the first label only
        X, y = validate_data(
            self,
            X,
            y,
            reset=not warm,
            accept_sparse="csr" if self._accept_sparse else False,
            dtype=[np.float64, np.float32],
            order="C",
            ensure_all_finite=self._finiteness(X),
        )
        check_classification_targets(y)
        classes = distinct_labels(y, "y")
        if warm and not np.array_equal(classes, self.classes_):
            raise ValueError(
                "y has other classes than the fitted model: warm_start needs the same ones; set "
                "warm_start=False to begin anew"
            )
        if len(classes) < 2:
            raise ValueError(
                f"y has one class only ({classes[0]!s}): at least two classes are needed to fit"
            )
        self.classes_ = classes
        return X.astype(self._dtype, copy=False) if warm else X, y

    def _check_validation_input(self, X_val: Any, y_val: Any) -> tuple[Any, NDArray[np.int64]]:
        try:
            X_val = self._checked(X_val)
        except ValueError as error:
            raise ValueError(f"X_val does not fit: {error}") from error
        y_val = np.asarray(y_val)
        if y_val.shape != (X_val.shape[0],):
            raise ValueError(
                f"y_val has shape {y_val.shape} but X_val has {X_val.shape[0]} rows: pass one "
                "label a row"
            )
        return X_val, self._class_numbers(y_val, "y_val")

    def _split(self, X: Any, codes: NDArray, sample_weight: NDArray) -> tuple[Any, ...]:
        """Set a validation part aside, stratified where every class has two samples."""
        n_val = int(np.ceil(self.validation_fraction * len(codes)))
        if n_val >= len(codes):
            raise ValueError(
                f"validation_fraction={self.validation_fraction} leaves no training sample of "
                f"{len(codes)}: lower it or set early_stopping=False"
            )
        counts = np.bincount(codes)
        room = min(n_val, len(codes) - n_val) >= len(counts)
        seed = check_random_state(copy.deepcopy(self.random_state)).randint(2**31)
        X, X_val, codes, y_val, sample_weight, val_weight = train_test_split(
            X,
            codes,
            sample_weight,
            test_size=n_val,
            random_state=seed,
            stratify=codes if room and counts.min() >= 2 else None,
        )
        return X, X_val, codes, y_val, sample_weight, val_weight

    def _train(
        self, data: TrainingData, start: Model, on_round: Callable[..., None] | None
    ) -> None:
        n_start = len(start.hypotheses)
        history: list[dict[str, float]] = []
        best = self._best_before(n_start)
        self.stopped_ = "still fitting"
        name = type(self).__name__
        with (
            ThreadTeam(resolve_threads(self.n_jobs)) as team,
            OneBlasThread(),  # the team's threads call BLAS side by side
            Progress(name, self.n_estimators, enabled=self.verbose > 0) as progress,
        ):
            trainer = self._make_trainer(data, start, team)
            progress.say(trainer.note)

            def snapshot() -> BaseBoostingClassifier:
                return copy.copy(self)._with_rounds(trainer, history, n_start)

            def after_round(done: int) -> None:
                progress.update(done, f"loss {history[-1]['loss']:.5g}")
                if on_round is not None:
                    on_round(snapshot)

            try:
                self.stopped_ = self._run_rounds(trainer, data, n_start, history, best, after_round)
                final_loss = trainer.finish() if history else None
                if final_loss is not None:
                    history[-1]["loss"] = final_loss
                    self._note_validation(trainer, data, history[-1])
            except KeyboardInterrupt:
                if not history and not n_start:
                    raise
                self.stopped_ = "interrupted"
                warnings.warn(
                    f"{name}.fit was interrupted: the model has {n_start + len(history)} of "
                    f"{self.n_estimators} rounds",
                    FitInterruptedWarning,
                    stacklevel=4,
                )
            progress.finish(n_start + len(history))
        keep_best = self._stopping and np.isfinite(best.error)
        n_rounds = best.round if keep_best else n_start + len(history)
        if not n_rounds:
            raise ValueError(f"no weak learner could be fitted: {self.stopped_}; check X, y and nu")
        self._with_rounds(trainer, history, n_start, n_rounds)

    def _best_before(self, n_start: int) -> BestRound:
        """Return the best of the rounds that a warm start goes on from."""
        best = BestRound(n_start)
        old = getattr(self, "train_history_", {}) if n_start else {}
        measures = old.get("validation_loss", old.get("validation_error", np.empty(0)))
        for done, measure in enumerate(measures[:n_start], start=1):
            best.note(measure, done)
        return best

    def _with_rounds(
        self,
        trainer: Trainer,
        history: Sequence[dict[str, float]],
        n_start: int,
        n_rounds: int | None = None,
    ) -> BaseBoostingClassifier:
        """Take over the rounds of a trainer, all of them or the first so many."""
        self._append_history(history, n_start)
        self.n_estimators_ = n_start + len(history) if n_rounds is None else n_rounds
        self._proba_scale = self._probability_scale()
        self._finish(trainer.model.truncated(self.n_estimators_))
        return self

    def _run_rounds(
        self,
        trainer: Trainer,
        data: TrainingData,
        n_start: int,
        history: list[dict[str, float]],
        best: BestRound,
        after_round: Callable[[int], None],
    ) -> str:
        """Run rounds, filling `history` and `best`, and return why they ended."""
        while len(history) < self.n_estimators - n_start:
            noted = trainer.step()
            if isinstance(noted, str):
                return noted
            done = n_start + len(history) + 1
            self._note_validation(trainer, data, noted)
            measure = noted.get("validation_loss", noted.get("validation_error", np.inf))
            best.note(measure, done)
            history.append(noted)
            after_round(done)
            if self._stopping and done - best.round >= self.n_iter_no_change:
                return f"no lower validation error for {self.n_iter_no_change} rounds"
        return "all rounds done"

    def _note_validation(
        self, trainer: Trainer, data: TrainingData, noted: dict[str, float]
    ) -> None:
        """Add the validation error to what is noted of a round, where there is such a part."""
        if data.y_val is not None:
            wrong = trainer.validation_scores().argmax(axis=0) != data.y_val
            noted["validation_error"] = float(np.average(wrong, weights=data.val_weight))
            loss = trainer.validation_loss()
            if loss is not None:
                noted["validation_loss"] = loss

    def _append_history(self, history: Sequence[dict[str, float]], n_start: int) -> None:
        new = {key: np.array([noted[key] for noted in history]) for key in (history or [{}])[0]}
        old = getattr(self, "train_history_", {}) if n_start else {}
        self.train_history_ = {
            key: np.concatenate([old.get(key, np.full(n_start, np.nan))[:n_start], new[key]])
            for key in new
        } or old

    @abstractmethod
    def _model(self) -> Model:
        """Return the fitted model in the form that a trainer goes on from."""

    def _learn_encoding(self, X: Any, y: Any) -> TableEncoding | None:
        """Return how the categories of a table become numbers, where there are any."""
        if y is None or not is_table(X):
            return None
        names = category_columns(X)
        if not names:
            return None
        check_consistent_length(X, y)
        if not self._allows_missing():
            raise ValueError(
                f"X has columns of categories, such as {names[0]!r}: make numbers of them, for "
                "example by sklearn.preprocessing.OneHotEncoder; only trees take them as they are "
                "(RBoostRankClassifier with weak_learner='tree')"
            )
        return TableEncoding.learn(X, y)
