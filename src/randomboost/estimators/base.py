"""Fitting, as all boosting classifiers of the package do it.

A subclass makes a trainer from its parameters (`_make_trainer`); checking, encoding, scaling,
splitting, stopping, progress and interruption are done here. What a fitted classifier does is in
`fitted`.
"""

from __future__ import annotations

import copy
import warnings
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight

from ..ensembles.fitted_model import FittedModel
from ..losses import Loss, get_loss
from ..preprocessing.encoding import FROM_DTYPE, Reading, TableEncoding, read_training
from ..preprocessing.inputs import InputPreparation, encoded_samples
from ..preprocessing.labels import class_factors, distinct_labels
from ..preprocessing.merging import merge_samples, sample_keys, without
from ..preprocessing.row_choice import hold_out
from ..preprocessing.scaling import StandardScaling, on_another_scale
from ..runtime.parallel import OneBlasThread, ThreadTeam, resolve_threads
from ..runtime.progress import Progress
from ..training.loop import History, Schedule, Trainer, TrainingData, finish, run
from .fitted import FittedClassifier
from .other_names import names_our_words, unknown_parameter
from .parameters import (
    STOPPING,
    Condition,
    check_parameters,
    constraints_of,
    defaults_of,
    no_effect,
)


class FitInterruptedWarning(UserWarning):
    """A fit was stopped by Ctrl-C; the model holds the rounds fitted until then."""


class BaseBoostingClassifier(FittedClassifier):
    """Base class; see the subclasses for the parameters."""

    _allowed: ClassVar[dict[str, list]] = {}  # where `parameters.TABLE` does not fit
    _conditions: ClassVar[tuple[Condition, ...]] = STOPPING
    _parameter_constraints: ClassVar[dict[str, list]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__init__" in vars(cls):
            cls._parameter_constraints = constraints_of(cls)
            cls.__init__ = names_our_words(cls.__init__)  # type: ignore[method-assign]

    # -- what a subclass decides ---------------------------------------------------------------

    def _listed_categories(self) -> Any:
        """Return columns to take for categories, whatever their type."""
        return FROM_DTYPE

    def _scales(self) -> bool:
        """Return whether features are scaled."""
        return self.scale

    def _get_loss(self) -> Loss:
        """Return the loss, which sets the scale of the probabilities."""
        return get_loss(self.loss)

    def _probability_scale(self) -> float:
        """Return the factor s of the probabilities ``softmax(s F)``."""
        return getattr(self._get_loss(), "proba_scale", 1.0)

    def _check_settings(self) -> None:
        """Raise where parameters do not fit together."""
        self._get_loss()

    def _stops_early(self, n_samples: int, given: bool) -> bool:
        """Whether to stop early, by the number of samples and whether X_val is given."""
        return self.early_stopping

    def _max_rounds(self, data: TrainingData) -> int:
        """Return the largest number of rounds."""
        return self.n_estimators

    def _held_samples(
        self,
        keys: NDArray[np.uint64],
        labels: NDArray[np.int64],
        n_samples: int,
        given: bool,
        seed: int,
    ) -> NDArray[np.int64] | None:
        """Return the samples that are held out from a part of the model, if any are."""
        return None

    def _schedule(self, data: TrainingData, early: bool) -> Schedule:
        """Return how many rounds there may be, and when to stop before."""
        return Schedule(self._max_rounds(data), self.n_iter_no_change if early else None)

    def _validation_share(self, n_samples: int) -> float:
        """Return the share of the samples that is held out."""
        return self.validation_fraction

    def _changed_since(self, ensemble: Any, seed: int, data: TrainingData) -> str | None:
        """Return a parameter that differs from that of an ensemble to continue from."""
        return None

    @abstractmethod
    def _make_trainer(self, data: TrainingData, start: Any, seed: int, team: ThreadTeam) -> Trainer:
        """Return the trainer; `start` is the ensemble to continue from (warm start), or None."""

    # -- fitting -------------------------------------------------------------------------------

    def set_params(self, **params: Any) -> BaseBoostingClassifier:
        """Set parameters of the classifier.

        Parameters
        ----------
        **params : dict
            Parameters by name.

        Returns
        -------
        self
            The classifier.
        """
        known = defaults_of(self)
        unknown = [name for name in params if name not in known]
        message = unknown_parameter(type(self).__name__, unknown, known)
        if message is not None:
            raise ValueError(message)
        return super().set_params(**params)

    @partial(names_our_words, of_fit=True)
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        on_round: Callable[[Callable[[], BaseBoostingClassifier]], None] | None = None,
    ) -> BaseBoostingClassifier:
        """Fit the ensemble.

        A failed fit leaves the estimator unchanged. Ctrl-C keeps the rounds fitted so far.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data: NumPy arrays, pandas, polars and Arrow tables, and CSR matrices where
            the method takes them. float32 stays float32. `RandomBoostClassifier` also takes
            missing values and columns of categories.
        y : array-like of shape (n_samples,)
            Class labels of any type.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; a weight of 2 is equivalent to a repeated sample, 0 to an omitted one.
        X_val, y_val : array-like, default=None
            Validation data: its error is reported after every round, and with
            ``early_stopping=True`` it decides when to stop.
        sample_weight_val : array-like, default=None
            Weights of the validation data.
        on_round : callable, default=None
            Called after every round with a function that returns the model so far as a separate
            fitted estimator, for example to inspect or save it.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_parameters(self)
        validation = X_val, y_val, sample_weight_val
        self._check_validation_parts(*validation)
        start = self.model_ if self.warm_start and hasattr(self, "model_") else None
        seed = self._make_seed() if start is None else start.seed
        work = copy.copy(self)
        work._fit(X, y, sample_weight, validation, start, seed, on_round)
        self.__dict__ = work.__dict__
        return self

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        validation: tuple[Any, Any, Any],
        start: FittedModel | None,
        seed: int,
        on_round: Callable[..., None] | None,
    ) -> None:
        """Fit to checked parameters; `start` is the model to continue from, or None."""
        reading, given = self._read(X), X
        X, y = self._check_training_input(X, y, start, reading)
        sample_weight = _check_sample_weight(
            sample_weight, X, dtype=np.float64, ensure_non_negative=True
        )
        labels = np.searchsorted(self.classes_, y)
        factors = class_factors(self.class_weight, self.classes_, labels, sample_weight)
        used = np.flatnonzero(sample_weight * factors[labels] > 0)
        parts = labels[used], sample_weight[used]
        chosen = X if len(used) == len(labels) else X[used]  # a copy would take memory
        encoding, samples = encoded_samples(chosen, *parts, reading)
        if start is not None and encoding != start.inputs.encoding:
            _need_same_columns(encoding, start.inputs.encoding)
            encoding = start.inputs.encoding  # categories keep their numbers
            X = start.inputs.encoded(start.inputs.read(given))
            samples = merge_samples(X[used], *parts)
        X, labels, sample_weight, hashes = samples
        del samples, chosen
        factors = class_factors(self.class_weight, self.classes_, labels, sample_weight)
        keys = sample_keys(hashes, labels)
        inputs = InputPreparation(encoding, None, np.dtype(np.float64))
        X_val, y_val, val_weight = self._check_validation_input(inputs, *validation)
        n_samples = len(labels)
        early = self._stops_early(n_samples, X_val is not None)
        if early and X_val is None:
            held = self._hold_out(keys, labels, seed)
            X_val, y_val, val_weight = X[held], labels[held], sample_weight[held]
            labels, sample_weight, keys = labels[~held], sample_weight[~held], keys[~held]
            X = without(X, held)
        elif X_val is not None and on_another_scale(X, X_val):
            warnings.warn(
                "X_val is on another scale than X: means or spreads of its columns differ greatly. "
                "Transform it like X, in a Pipeline with transform_input=['X_val']",
                UserWarning,
                stacklevel=4,
            )
        if len(np.unique(labels)) < 2:
            raise ValueError(
                "y has training samples of positive weight in fewer than two classes: at least two "
                "classes are needed" + (", also without the validation part" if early else "")
            )
        if start is None:
            scaling = StandardScaling.learn(X, sample_weight) if self._scales() else None
            inputs = InputPreparation(encoding, scaling, X.dtype)
        else:
            inputs = start.inputs
        data = TrainingData(
            inputs.scaled(X, overwrite=True),
            labels,
            len(self.classes_),
            sample_weight * factors[labels],
            None if X_val is None else inputs.scaled(X_val),
            y_val,
            val_weight,
            n_samples,
            self._held_samples(keys, labels, n_samples, X_val is not None, seed),
            keys,
            categorical=encoding is not None and encoding.mostly_categories,
        )
        if start is not None:
            self._refuse_changes(start, data)
            start = self._with_new_classes(start, data)
        self._train(data, inputs, start, early, seed, on_round)

    def _with_new_classes(self, start: FittedModel, data: TrainingData) -> FittedModel:
        """Return the model to continue from with all classes of the data."""
        if data.n_classes == len(start.classes):
            return start
        if self._max_rounds(data) <= start.ensemble.n_rounds:
            raise ValueError(
                f"n_estimators={self.n_estimators} leaves no round for the new classes: set it "
                f"above the {start.ensemble.n_rounds} rounds of the fitted model"
            )
        numbers = np.searchsorted(self.classes_, start.classes)
        ensemble = start.ensemble.with_classes(numbers, data.class_shares())
        return replace(start, classes=self.classes_, ensemble=ensemble)

    def _check_validation_parts(self, X_val: Any, y_val: Any, weight: Any) -> None:
        if (X_val is None) != (y_val is None):
            raise ValueError("X_val and y_val must be given together: one of them is missing")
        if X_val is None:
            if weight is not None:
                raise ValueError("sample_weight_val is for X_val and y_val: pass these too")
            return
        default = defaults_of(self)["validation_fraction"]
        if self.validation_fraction != default:
            remedy = "it is for fits without X_val"
            raise no_effect("validation_fraction", self.validation_fraction, default, remedy)

    def _make_seed(self) -> int:
        random = check_random_state(self.random_state)
        return int(random.randint(2**31)) << 31 | int(random.randint(2**31))

    def _refuse_changes(self, start: FittedModel, data: TrainingData) -> None:
        """Raise where a warm start is not possible."""
        self._need_stages("a warm start")
        name = self._changed_since(start.ensemble, start.seed, data)
        if bool(self._scales()) != (start.inputs.scaling is not None):
            name = "scale"
        if isinstance(self.random_state, Integral) and self._make_seed() != start.seed:
            name = "random_state"
        if name is not None:
            raise ValueError(
                f"{name} differs from that of the fitted model: warm_start needs the same one; set "
                "warm_start=False to start again"
            )
        n_rounds = start.ensemble.n_rounds
        if self._max_rounds(data) < n_rounds:
            raise ValueError(
                f"n_estimators={self.n_estimators} is below the {n_rounds} rounds of the fitted "
                "model: raise it, or set warm_start=False to start again"
            )

    def _check_training_input(
        self, X: Any, y: Any, start: FittedModel | None, reading: Reading | None
    ) -> tuple[Any, NDArray]:
        if getattr(y, "dtype", None) == np.dtype(object):
            distinct_labels(y, "y")  # scikit-learn looks at the first label only
        read = None if reading is None else lambda: reading.values
        X, y = self._validated(X, y, read=read, reset=start is None)
        check_classification_targets(y)
        classes = distinct_labels(y, "y")
        if start is not None:
            self._check_new_classes(classes, start)
        if len(classes) < 2:
            raise ValueError(
                f"y has one class only ({classes[0]!s}): at least two classes are needed to fit"
            )
        self.classes_ = classes
        return X if start is None else X.astype(start.inputs.dtype, copy=False), y

    def _check_new_classes(self, classes: NDArray, start: FittedModel) -> None:
        """Raise where a warm start cannot go on with these classes."""
        again = "set warm_start=False to start again"
        lost = sorted(set(start.classes.tolist()) - set(classes.tolist()))
        if lost:
            raise ValueError(
                f"y has no sample of the fitted model's class {lost[0]!s}, which further rounds "
                f"would unlearn: include samples of all known classes, or {again}"
            )
        if len(classes) > len(start.classes) and not start.ensemble.takes_new_classes:
            new = sorted(set(classes.tolist()) - set(start.classes.tolist()))
            raise ValueError(
                f"y has a class that the fitted model does not know, {new[0]!s}: warm_start of "
                f"{type(self).__name__} needs the same classes (that of RandomBoostClassifier "
                f"takes new ones); {again}"
            )

    def _check_validation_input(
        self, inputs: InputPreparation, X_val: Any, y_val: Any, weight: Any
    ) -> tuple[Any, NDArray[np.int64] | None, NDArray | None]:
        if X_val is None:
            return None, None, None
        try:
            X_val = self._checked(X_val, inputs)
        except ValueError as error:
            raise ValueError(f"X_val does not fit, pass columns as in X: {error}") from error
        y_val = np.asarray(y_val)
        if y_val.shape != (X_val.shape[0],):
            raise ValueError(
                f"y_val has shape {y_val.shape} but X_val has {X_val.shape[0]} rows: pass one "
                "label per row"
            )
        if weight is not None:
            try:
                weight = _check_sample_weight(
                    weight, X_val, dtype=np.float64, ensure_non_negative=True
                )
            except ValueError as error:
                raise ValueError(f"sample_weight_val does not fit: {error}") from error
            if not weight.any():
                raise ValueError("sample_weight_val has no positive weight: leave it out")
        weight = np.ones(len(y_val)) if weight is None else weight
        numbers, used = self._class_numbers(y_val, "y_val"), np.flatnonzero(weight)
        return merge_samples(X_val[used], numbers[used], weight[used])[:3]

    def _how_many_held(self, n_samples: int, seed: int) -> tuple[int, int]:
        """Return the number of samples to hold out, and the seed of their choice."""
        share = self._validation_share(n_samples)
        n_held = int(np.ceil(share * n_samples))
        if n_held >= n_samples:
            raise ValueError(
                f"validation_fraction={share} leaves no training sample of {n_samples}: lower it "
                "or set early_stopping=False"
            )
        return n_held, seed >> 31

    def _hold_out(
        self, keys: NDArray[np.uint64], labels: NDArray[np.int64], seed: int
    ) -> NDArray[np.bool_]:
        """Return which samples are held out from training, by their content and the seed."""
        return hold_out(keys, labels, *self._how_many_held(len(labels), seed))

    def _train(
        self,
        data: TrainingData,
        inputs: InputPreparation,
        start: FittedModel | None,
        early: bool,
        seed: int,
        on_round: Callable[..., None] | None,
    ) -> None:
        """Run the rounds and take over their ensemble."""
        before = None if start is None else start.ensemble
        schedule = self._schedule(data, early)
        history = History(
            getattr(self, "train_history_", {}) if before else {},
            before.n_rounds if before else 0,
        )
        if start is not None and len(start.classes) > len(self.model_.classes):
            history.forget_best()  # earlier rounds say nothing of the new classes
        name = type(self).__name__
        with (
            ThreadTeam(resolve_threads(self.n_jobs)) as team,
            OneBlasThread(),  # the team's threads call BLAS side by side
            Progress(name, schedule.n_rounds, enabled=self.verbose > 0) as progress,
        ):
            trainer = self._make_trainer(data, before, seed, team)
            schedule = schedule.revised(trainer.n_rounds)
            progress.expect(schedule.n_rounds)
            progress.say(trainer.note)

            def fitted(n_rounds: int, stopped: str) -> BaseBoostingClassifier:
                scale = self._probability_scale()
                if schedule.patience is not None:
                    scale *= trainer.temperature(n_rounds)
                model = FittedModel(
                    self.classes_,
                    data.X.shape[1],
                    inputs,
                    seed,
                    scale,
                    trainer.ensemble(n_rounds),
                )
                return copy.copy(self).set_fitted(model, history.as_arrays(), stopped)

            def after_round() -> None:
                progress.update(history.n_rounds, f"loss {history.noted[-1]['loss']:.5g}")
                if on_round is not None:
                    on_round(lambda: fitted(history.n_rounds, "still fitting"))

            try:
                stopped = run(trainer, data, schedule, history, after_round)
                finish(trainer, data, history)
            except KeyboardInterrupt:
                if not history.n_rounds:
                    raise
                stopped = "interrupted"
                warnings.warn(
                    f"{name}.fit was interrupted: the model has {history.n_rounds} of "
                    f"{schedule.n_rounds} rounds",
                    FitInterruptedWarning,
                    stacklevel=5,
                )
            progress.finish(history.n_rounds)
            keep_best = (
                schedule.patience is not None
                and schedule.keep_best
                and np.isfinite(history.best_measure)
            )
            n_rounds = history.best_round if keep_best else history.n_rounds
            if not n_rounds:
                raise ValueError(f"no weak learner could be fitted: {stopped}; check X and y")
            done = fitted(n_rounds, stopped or _why_all(schedule, history))
        self.__dict__ = done.__dict__

    def _read(self, X: Any) -> Reading | None:
        """Return a table, or an array with columns of categories, as numbers."""
        reading = read_training(X, self._listed_categories())
        if reading is not None and reading.categories and not self._allows_missing:
            name = next(iter(reading.categories.values()))[0]
            raise ValueError(
                f"X has columns of categories, such as {name!r}: make numbers of them, for "
                "example by sklearn.preprocessing.OneHotEncoder, or use RandomBoostClassifier, "
                "which takes them"
            )
        return reading


def _why_all(schedule: Schedule, history: History) -> str:
    """Return what to say of a fit that ran all rounds."""
    patience, best = schedule.patience, history.best_round
    if patience is None or history.n_rounds >= best + patience:
        return "all rounds done"
    return "all rounds done, and the validation loss was still falling: raise n_estimators"


def _need_same_columns(encoding: TableEncoding | None, before: TableEncoding | None) -> None:
    """Raise where other columns have categories than in the fitted model."""
    found, known = (set() if each is None else set(each.codebooks) for each in (encoding, before))
    if found != known:
        raise ValueError(
            "the columns of categories, by the types of X and categorical_features, are not those "
            "of the fitted model: warm_start needs the same ones; set warm_start=False to start "
            "again"
        )
