"""`RandomBoostClassifier` on Dask collections."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np
from dask.base import is_dask_collection
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ..ensembles.fitted_model import FittedModel
from ..estimators.randomboost import RandomBoostClassifier
from ..preprocessing.encoding import TableEncoding
from ..preprocessing.inputs import InputPreparation
from ..preprocessing.labels import balanced_factors, class_factors
from ..preprocessing.level_means import Cells, Rows, learn_columns, make_encoding
from ..preprocessing.scaling import ColumnSpan, StandardScaling
from ..runtime.exact_sums import finest_unit
from ..runtime.parallel import ThreadTeam, resolve_threads
from ..training.loop import TrainingData
from .group import Group
from .intake import Division, Tables, join_facts
from .lazy import lazy_accuracy, lazy_labels, lazy_probabilities, lazy_topk
from .placed_rows import PlacedRows
from .source import Source, find_client
from .storage import RANGE_BYTES, fit_folder, remove_rows

ROWS_OF_A_SHARD = 250_000  # below which a further shard is not worth its messages


class DaskRandomBoostClassifier(RandomBoostClassifier):
    """`RandomBoostClassifier` on Dask arrays and dataframes.

    The model is that of `RandomBoostClassifier` on the same rows, bit for bit, for any number of
    workers, any partitions and any order of the rows. A worker that is lost during a fit costs
    time, not the fit.

    Parameters
    ----------
    n_estimators, effort, learning_rate
        As for `RandomBoostClassifier`, like all parameters but the last.
    max_leaf_nodes, max_depth, min_samples_leaf, l2_regularization, subsample
        What a tree may look like.
    n_landmarks, n_sketches, leaf_classes, n_projections, projection, max_features, max_bins
        What its splits and leaves are made from.
    categorical_features, class_weight
        What is done to the data.
    early_stopping, validation_fraction, n_iter_no_change
        When to stop. Held-out samples are kept by the client.
    warm_start : bool, default=False
        Continue from the rounds of the last fit; columns of categories have to be the same.
    random_state, verbose
        As for `RandomBoostClassifier`.
    n_jobs : int or None, default=None
        Number of threads of the client; workers use the threads that they have.
    client : dask.distributed.Client or None, default=None
        The client; None for the one that Dask's collections use.
    out_of_core : bool or str, default=False
        Keep features and bins in files, for data larger than memory: True for files in Dask's
        ``temporary-directory``, or a folder for them. All workers have to be on one machine. The
        data is read twice, and the files are removed after the fit. It does not change the model.

    Attributes
    ----------
    classes_, n_features_in_, n_estimators_, train_history_, stopped_, model_
        As for `RandomBoostClassifier`.

    Examples
    --------
    >>> from randomboost.dask import DaskRandomBoostClassifier
    >>> DaskRandomBoostClassifier(20, random_state=0).n_estimators
    20
    """

    _allowed: ClassVar[dict[str, list]] = {
        **RandomBoostClassifier._allowed,
        "client": [object],
        "out_of_core": ["boolean", str],
    }

    def __init__(
        self,
        n_estimators: int | None = None,
        *,
        effort: str = "default",
        learning_rate: float | None = None,
        max_leaf_nodes: int | None = None,
        max_depth: int | None = None,
        min_samples_leaf: int | None = None,
        l2_regularization: float | None = None,
        subsample: float | None = None,
        n_sketches: int | None = None,
        leaf_classes: int | None = None,
        n_landmarks: int | None = None,
        n_projections: int = 550,
        projection: Any = "mixed",
        max_features: float | None = None,
        max_bins: int | None = None,
        categorical_features: Any = "from_dtype",
        class_weight: Any = None,
        early_stopping: Any = "auto",
        validation_fraction: float | None = None,
        n_iter_no_change: int = 20,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        client: Any = None,
        out_of_core: bool | str = False,
    ) -> None:
        given = dict(locals())
        for name in ("self", "client", "out_of_core", "__class__"):
            given.pop(name, None)
        super().__init__(**given)
        self.client = client
        self.out_of_core = out_of_core

    def __sklearn_clone__(self) -> DaskRandomBoostClassifier:
        return type(self)(**self.get_params(deep=False))  # a client cannot be copied

    def __copy__(self) -> DaskRandomBoostClassifier:
        new = type(self).__new__(type(self))
        new.__dict__.update(self.__dict__)
        return new

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "client": None}  # a pickle is for other processes

    # -- fitting -----------------------------------------------------------------------------

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
        client = find_client(self.client)
        source = Source(X, y, sample_weight, self._listed_categories())
        validate_data(self, source.template, reset=start is None, skip_check_array=True)
        with fit_folder(self.out_of_core) as folder:
            group, tables, factors = self._place(client, source, start, folder)
            try:
                self._fit_placed(group, tables, factors, validation, start, seed, on_round)
            finally:
                group.close()

    def _place(
        self, client: Any, source: Source, start: FittedModel | None, folder: str | None
    ) -> tuple[Group, Tables, NDArray]:
        """Return shards with the samples, what is known of these, and factors of the classes."""
        tables, kept, n_rows = self._read_all(client, source, start, keep=folder is None)
        nothing = np.empty(0, dtype=np.int64), np.empty(0)
        given = None if isinstance(self.class_weight, str) else self.class_weight
        factors = class_factors(given, tables.classes, *nothing)
        threads = client.scheduler_info(n_workers=-1)["workers"]
        n_shards = max(1, min(len(threads), n_rows // ROWS_OF_A_SHARD))
        division = Division(n_shards)
        if folder is not None:
            n_bytes = n_rows * tables.n_columns * tables.dtype.itemsize
            division = Division(n_shards, 1 + n_bytes // n_shards // RANGE_BYTES, folder)
        group = Group(
            client,
            partial(source.pieces, client, tables, factors, division),
            lambda n_threads: (tables, n_threads, folder),
            n_shards,
            (lambda: None) if folder is None else partial(remove_rows, folder),
        )
        del kept
        return group, tables, factors

    def _read_all(
        self, client: Any, source: Source, start: FittedModel | None, *, keep: bool
    ) -> tuple[Tables, Any, int]:
        """Return what all partitions hold, futures of them, and the number of rows."""
        weights = self.class_weight if isinstance(self.class_weight, dict) else {}
        without = [label for label, weight in weights.items() if weight == 0]
        facts, kept = source.facts(client, without, keep=keep)
        tables = join_facts(facts, source.names)
        check_classification_targets(np.repeat(tables.classes, 3))
        if start is not None:
            self._check_new_classes(tables.classes, start)
            tables = tables._replace(dtype=start.inputs.dtype)
        if len(tables.classes) < 2:
            raise ValueError(
                f"y has one class only ({tables.classes[0]!s}): at least two classes are needed to "
                "fit"
            )
        self.classes_ = tables.classes
        return tables, kept, sum(each.n_rows for each in facts)

    def _fit_placed(
        self,
        group: Group,
        tables: Tables,
        factors: NDArray,
        validation: tuple[Any, Any, Any],
        start: FittedModel | None,
        seed: int,
        on_round: Callable[..., None] | None,
    ) -> None:
        """Fit to the samples that shards have."""
        encoding, n_features = self._encode_placed(group, tables)
        if start is not None and encoding != start.inputs.encoding:
            raise ValueError(
                "warm_start=True on Dask needs the categories of the fitted model, and those of X "
                "are others: set it to False to start again, or go on with to_local()"
            )
        with ThreadTeam(resolve_threads(self.n_jobs)) as team:
            rows = PlacedRows(group, n_features, team)
            given = [_computed(each, group.client) for each in validation]
            plain = InputPreparation(encoding, None, np.dtype(np.float64))
            X_val, y_val, val_weight = self._check_validation_input(plain, *given)
            n_samples = rows.shape[0]
            if isinstance(self.class_weight, str):
                factors = balanced_factors(rows.totals())
            early = self._stops_early(n_samples, X_val is not None)
            if early and X_val is None:
                removed = rows.hold_out(*self._how_many_held(n_samples, seed), remove=True)
                assert removed is not None
                X_val, y_val, val_weight = removed
            if (rows.class_counts() > 0).sum() < 2:
                raise ValueError(
                    "y has training samples of positive weight in fewer than two classes: at least "
                    "two classes are needed"
                    + (", also without the validation part" if early else "")
                )
            inputs = self._scale_placed(group, encoding, tables, rows.shape[0], start)
            group.tell("weigh", factors)
            held = None
            if self._holds_out(n_samples, X_val is not None):
                held = rows.hold_out(*self._how_many_held(rows.shape[0], seed), remove=False)
            m = rows.shape[0]
            data = TrainingData(
                np.broadcast_to(np.zeros(1, dtype=inputs.dtype), (m, n_features)),
                np.broadcast_to(np.int64(0), m),
                len(self.classes_),
                np.broadcast_to(1.0, m),
                None if X_val is None else inputs.scaled(X_val),
                y_val,
                val_weight,
                n_samples,
                None if held is None else np.empty(0, dtype=np.int64),
                rows=rows,
                categorical=encoding is not None and encoding.mostly_categories,
            )
            if start is not None:
                self._refuse_changes(start, data)
                start = self._with_new_classes(start, data)
            self._train(data, inputs, start, early, seed, on_round)

    def _encode_placed(self, group: Group, tables: Tables) -> tuple[TableEncoding | None, int]:
        """Encode the categories of all shards; return how, and the number of features."""
        reading = tables.reading
        if not reading.has_categories:
            return None, tables.n_columns
        rows = Rows.joined([each for each, _ in group.ask("facts")])
        places = list(tables.categories)
        found = group.ask("cells", places, rows)
        cells = {
            place: Cells.joined([each[number] for each in found])
            for number, place in enumerate(places)
        }
        columns = learn_columns(reading, rows, len(tables.classes), cells.__getitem__)
        return make_encoding(reading, columns), group.tell("encode", columns)[0]

    def _scale_placed(
        self,
        group: Group,
        encoding: TableEncoding | None,
        tables: Tables,
        n_samples: int,
        start: FittedModel | None,
    ) -> InputPreparation:
        """Scale the features of all shards; return how."""
        if start is not None:
            inputs = start.inputs
        else:
            ends = np.array(group.ask("column_range"))
            span = ColumnSpan.of(np.stack([ends[:, 0].min(axis=0), ends[:, 1].max(axis=0)]))
            unit = finest_unit(max(group.ask("peak", None)), n_samples)
            means = span.means(np.sum(group.ask("column_sums", unit, span, None), axis=0))
            squares = np.sum(group.ask("column_sums", unit, span, means), axis=0)
            scaling = StandardScaling.from_moments(span, means, span.means(squares))
            inputs = InputPreparation(encoding, scaling, tables.dtype)
        group.tell("scale", inputs.scaling)
        return inputs

    # -- the fitted model --------------------------------------------------------------------

    def to_local(self) -> RandomBoostClassifier:
        """Return the fitted model as a `RandomBoostClassifier`.

        Returns
        -------
        RandomBoostClassifier
            The same model, for data in memory.
        """
        check_is_fitted(self)
        parameters = self.get_params(deep=False)
        del parameters["client"], parameters["out_of_core"]
        local = RandomBoostClassifier(**parameters)
        _copy_features(self, local)
        local.set_fitted(self.model_, self.train_history_, self.stopped_)
        return local

    def take_over(self, model: RandomBoostClassifier) -> DaskRandomBoostClassifier:
        """Take over the fitted model of a `RandomBoostClassifier`, to go on from it.

        Parameters
        ----------
        model : RandomBoostClassifier
            A fitted classifier; with ``warm_start=True``, `fit` adds rounds to its own.

        Returns
        -------
        self
            The estimator, with the model.
        """
        check_is_fitted(model)
        _copy_features(model, self)
        self.set_fitted(model.model_, model.train_history_, model.stopped_)
        return self

    def save(self, path: Any, *, dense: bool = False, notes: dict[str, Any] | None = None) -> None:
        """Write the fitted model to a file, as that of a `RandomBoostClassifier`.

        Parameters
        ----------
        path : path
            The file.
        dense : bool, default=False
            Also store what can be regenerated from the seed.
        notes : dict or None, default=None
            Anything JSON can hold, kept in the file.
        """
        self.to_local().save(path, dense=dense, notes=notes)

    def predict(self, X: Any) -> Any:
        """Return the class with the highest score.

        Parameters
        ----------
        X : Dask array or dataframe of shape (n_samples, n_features)
            Data.

        Returns
        -------
        Dask array or series of shape (n_samples,)
            Class labels, not computed yet, with the chunks and the index of X.
        """
        return lazy_labels(self.to_local(), X)

    def predict_proba(self, X: Any, *, sparse_output: bool = False) -> Any:
        """Return class probabilities.

        Parameters
        ----------
        X : Dask array or dataframe of shape (n_samples, n_features)
            Data.
        sparse_output : bool, default=False
            Not supported on Dask.

        Returns
        -------
        Dask array or dataframe of shape (n_samples, n_classes)
            Probabilities, not computed yet, with the chunks and the index of X.
        """
        if sparse_output:
            raise ValueError("sparse_output=True is for data in memory: use to_local()")
        return lazy_probabilities(self.to_local(), X)

    def predict_topk(self, X: Any, n: int = 5) -> tuple[Any, Any]:
        """Return the n most probable classes of every sample, the most probable first.

        Parameters
        ----------
        X : Dask array or dataframe of shape (n_samples, n_features)
            Data.
        n : int, default=5
            How many classes; all of them where there are fewer.

        Returns
        -------
        labels, probabilities : Dask arrays or dataframes of shape (n_samples, n)
            Class labels and their probabilities, not computed yet.
        """
        return lazy_topk(self.to_local(), X, n)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy.

        Parameters
        ----------
        X : Dask array or dataframe of shape (n_samples, n_features)
            Data.
        y : Dask array or series of shape (n_samples,)
            True labels, divided like X.
        sample_weight : Dask array or series, default=None
            Weights.

        Returns
        -------
        float
            Share of the labels that are predicted.
        """
        source = Source(X, y, sample_weight, "from_dtype")
        return lazy_accuracy(self.to_local(), source, self.client)

    def decision_function(self, X: Any) -> NDArray:
        """Raise: scores are for data in memory."""
        raise TypeError("decision_function is for data in memory: use to_local()")


def _copy_features(source: RandomBoostClassifier, target: RandomBoostClassifier) -> None:
    """Copy what is known of the features."""
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(source, name):
            setattr(target, name, getattr(source, name))


def _computed(given: Any, client: Any) -> Any:
    """Return validation data in memory."""
    return client.compute(given).result() if is_dask_collection(given) else given
