"""Fitted classifiers as a header and arrays, and back.

A classifier is its parameters, its fitted model (classes, preparation of the input, ensemble) and
its history. An ensemble turns itself into arrays (see `ensembles.base`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from .. import __version__, estimators
from ..ensembles import KINDS
from ..ensembles.base import ModelShape
from ..ensembles.fitted_model import FittedModel
from ..estimators.parameters import check_parameters, defaults_of
from ..preprocessing.categories import TablePreparation
from ..preprocessing.encoding import Codebook, TableEncoding
from ..preprocessing.inputs import InputPreparation
from ..preprocessing.scaling import StandardScaling
from ..runtime.checked_arrays import Arrays, ModelFileError, Taken, count, floats, need
from ..runtime.memory import check_memory
from .json_values import NotSaved, decode, decode_labels, encode, encode_labels

_DTYPES = ("float32", "float64")
_SCALING = ("peak", "center", "spread")


# -- tables ------------------------------------------------------------------------------------


def _pack_encoding(encoding: TableEncoding | None) -> list[Any] | None:
    if encoding is None:
        return None
    for book in encoding.codebooks.values():
        for value in (book.name, *book.levels):
            if not isinstance(value, str | bool | int | float | np.generic):
                raise ModelFileError(
                    f"column {book.name!r} has categories of type {type(value).__name__}, which "
                    "cannot be saved: make strings of them"
                )
    return [
        [encode(book.name), column, [encode(level) for level in book.levels], book.values.tolist()]
        for column, book in encoding.codebooks.items()
    ]


def _unpack_encoding(described: Any, n_columns: int, names: NDArray | None) -> TableEncoding:
    """Return the encoding of a table; older files have pairs of a category and its number."""
    books = {}
    try:
        for entry in described:
            name, column, levels, values = entry if len(entry) == 4 else _as_now(entry, names)
            table = np.array(values, dtype=np.float64).reshape(len(levels), -1 if levels else 0)
            need(np.isfinite(table).all(), "its categories have no numbers")
            need(0 <= column < n_columns, "its categories are of no column")
            levels = [decode(level) for level in levels]
            books[int(column)] = Codebook(decode(name), levels, table)
    except (TypeError, ValueError) as error:
        raise ModelFileError("the model file is damaged: its categories cannot be read") from error
    return TableEncoding(books, n_columns)


def _as_now(entry: Any, names: NDArray | None) -> tuple[Any, int, list[Any], list[Any]]:
    """Return an entry of pairs of a category and its number as entries are now."""
    name, pairs = entry
    column = int(name) if names is None else names.tolist().index(decode(name))
    levels, numbers = [list(part) for part in zip(*pairs, strict=True)] if pairs else ([], [])
    return name, column, levels, [[number] for number in numbers]


def _pack_preparation(preparation: TablePreparation) -> tuple[dict[str, Any], Arrays]:
    described: dict[str, Any] = {"categories": _pack_encoding(preparation.encoding_)}
    names = getattr(preparation, "feature_names_in_", None)
    described["feature_names"] = None if names is None else encode_labels(names)
    described["n_columns"] = preparation.n_features_in_
    return described, {"preparation.means": preparation.means_}


def _unpack_preparation(described: Any, taken: Taken, n_features: int) -> TablePreparation:
    need(isinstance(described, dict), "its preparation is not described")
    preparation = TablePreparation()
    n_columns = count(described, "n_columns", 2**31) if "n_columns" in described else n_features
    _set_names(preparation, described.get("feature_names"), n_columns)
    names = getattr(preparation, "feature_names_in_", None)
    preparation.encoding_ = _unpack_encoding(described.get("categories"), n_columns, names)
    need(len(preparation.encoding_.sources) == n_features, "its categories do not fit")
    preparation.means_ = taken.real("preparation.means", n_features)
    preparation.n_features_in_ = n_columns
    return preparation


def _set_names(estimator: Any, described: Any, n_features: int) -> None:
    if described is not None:
        names = decode_labels(described)
        fine = len(names) == n_features and all(isinstance(name, str) for name in names)
        need(fine, "the names of its features do not fit")
        estimator.feature_names_in_ = names.astype(object)


# -- classifiers -------------------------------------------------------------------------------


def pack(model: Any, *, dense: bool) -> tuple[dict[str, Any], Arrays]:
    """Return header and arrays of a fitted classifier, or of a preparation and a classifier.

    Parameters
    ----------
    model : estimator or Pipeline
        The model.
    dense : bool
        Store also what can be made from the seed, and the weights after every round.

    Returns
    -------
    tuple of (dict, dict of str to ndarray)
        What `unpack` takes.
    """
    if isinstance(model, Pipeline):
        steps = [step for _, step in model.steps]
        if len(steps) != 2 or not isinstance(steps[0], TablePreparation):
            raise ModelFileError(
                "of pipelines only a TablePreparation and a classifier of randomboost can be saved "
                "in this format: use pickle or skops, or export it to ONNX"
            )
        header, arrays = pack(steps[1], dense=dense)
        header["preparation"], more = _pack_preparation(steps[0])
        return header, arrays | more
    name = type(model).__name__
    if type(model) is not estimators.CLASSIFIERS.get(name):
        raise ModelFileError(f"{name} is no classifier of randomboost: use pickle or skops")
    if not hasattr(model, "model_"):
        raise ModelFileError(f"this {name} is not fitted: call fit before save")
    header, arrays = _pack_fitted(model)
    described, more = model.model_.ensemble.to_arrays(dense=dense)
    header["ensemble"] = {"kind": model.model_.ensemble.kind} | described
    return header, arrays | more


def _pack_fitted(model: Any) -> tuple[dict[str, Any], Arrays]:
    """Return header and arrays of a fitted classifier without its ensemble."""
    names = getattr(model, "feature_names_in_", None)
    fitted = model.model_
    inputs = fitted.inputs
    header = {
        "class": type(model).__name__,
        "randomboost": __version__,
        "parameters": {key: encode(value) for key, value in model.get_params(deep=False).items()},
        "classes": encode_labels(fitted.classes),
        "n_features": fitted.n_columns,
        "feature_names": None if names is None else encode_labels(names),
        "categories": _pack_encoding(inputs.encoding),
        "n_rounds": fitted.ensemble.n_rounds,
        "stopped": model.stopped_,
        "dtype": np.dtype(inputs.dtype).name,
        "seed": fitted.seed,
        "probability_scale": fitted.probability_scale,
        "scaled": inputs.scaling is not None,
    }
    arrays = {"importances": np.asarray(model.feature_importances_, dtype=np.float32)}
    for key, values in model.train_history_.items():
        arrays[f"history.{key}"] = np.asarray(values, dtype=np.float64)
    if inputs.scaling is not None:
        for key in _SCALING:
            arrays[f"scaling.{key}"] = floats(getattr(inputs.scaling, key))
    return header, arrays


def unpack(header: dict[str, Any], arrays: Arrays) -> Any:
    """Return the model that `pack` was given.

    Parameters
    ----------
    header : dict
        JSON.
    arrays : dict of str to ndarray
        Arrays.

    Returns
    -------
    estimator or Pipeline
        The fitted model.
    """
    taken = Taken(arrays)
    model = _new_classifier(header)
    n_columns, n_rounds = count(header, "n_features", 2**31), count(header, "n_rounds", 2**31)
    need(n_rounds > 0, "it has no rounds")
    taken.real("importances", n_columns)  # the file is at least so long
    _set_names(model, header.get("feature_names"), n_columns)
    encoding = None
    if header.get("categories") is not None:
        names = getattr(model, "feature_names_in_", None)
        encoding = _unpack_encoding(header["categories"], n_columns, names)
    n_features = n_columns if encoding is None else len(encoding.sources)
    classes = _classes(header)
    check_memory(
        8 * len(classes) * (n_features + 400),
        f"a model of {len(classes):,} classes and {n_features:,} features",
        "load it on a machine with more",
    )
    inputs = _inputs(header, taken, n_features, encoding)
    shape = ModelShape(len(classes), n_features, n_rounds, inputs.dtype)
    ensemble = _ensemble(header.get("ensemble"), taken, shape, model.ensemble_kinds)
    history = {
        name.removeprefix("history."): taken.real_or_missing(name)
        for name in taken.names("history.")
    }
    seed, scale = count(header, "seed", 2**63 - 1), _probability_scale(header)
    need(isinstance(header.get("stopped"), str), "it does not say why its fit ended")
    fitted = FittedModel(classes, n_features, inputs, seed, scale, ensemble)
    model.set_fitted(fitted, history, header["stopped"])
    if "preparation" not in header:
        return model
    preparation = _unpack_preparation(header["preparation"], taken, n_features)
    return Pipeline([("preparation", preparation), ("classifier", model)])


def _classes(header: dict[str, Any]) -> NDArray:
    classes = decode_labels(header.get("classes"))
    try:
        rising = bool((classes[:-1] < classes[1:]).all())
    except TypeError:
        rising = False
    need(len(classes) > 1 and rising, "its classes are not in order")
    return classes


def _new_classifier(header: dict[str, Any]) -> Any:
    kind = estimators.CLASSIFIERS.get(str(header.get("class")))
    if kind is None:
        raise ModelFileError("the model file is damaged: it is of no known class")
    parameters = header.get("parameters")
    if not isinstance(parameters, dict):
        raise ModelFileError("the model file is damaged: it has no parameters")
    unknown = sorted(set(parameters) - set(defaults_of(kind)))
    need(not unknown, f"it has unknown parameters {unknown}")
    values = {key: decode(value) for key, value in parameters.items()}
    plain = {key: value for key, value in values.items() if not isinstance(value, NotSaved)}
    need("n_jobs" in plain or "n_jobs" not in values, "'n_jobs' is no number")  # predict needs it
    try:
        check_parameters(kind(**plain))
    except ValueError as error:
        raise ModelFileError(f"the model file is damaged: {error}") from error
    return kind(**values)


def _inputs(
    header: dict[str, Any], taken: Taken, n_features: int, encoding: TableEncoding | None
) -> InputPreparation:
    need(header.get("dtype") in _DTYPES, "its precision is unknown")
    scaling = None
    if header.get("scaled"):
        parts = [taken.real(f"scaling.{key}", n_features) for key in _SCALING]
        need((parts[0] > 0).all() and (parts[2] > 0).all(), "its scaling divides by zero")
        scaling = StandardScaling(*parts)
    return InputPreparation(encoding, scaling, np.dtype(header["dtype"]))


def _probability_scale(header: dict[str, Any]) -> float:
    scale = header.get("probability_scale")
    if not isinstance(scale, int | float) or not 0 < scale < 1e6:
        raise ModelFileError("the model file is damaged: it has no scale of probabilities")
    return float(scale)


def _ensemble(described: Any, taken: Taken, shape: ModelShape, allowed: tuple[str, ...]) -> Any:
    """Return the ensemble; what a file has of what follows from the seed must be that."""
    need(isinstance(described, dict), "its ensemble is not described")
    need(described.get("kind") in allowed, "its ensemble is of no kind that its class has")
    ensemble = KINDS[described["kind"]].from_arrays(described, taken, shape)
    if taken.names("dense."):
        for name, values in ensemble.to_arrays(dense=True)[1].items():
            if name.startswith("dense."):
                stored = taken.real(name, *values.shape)
                need(np.array_equal(values, stored), "its projections are not those of its seed")
    return ensemble
