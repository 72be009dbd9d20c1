"""Fitted classifiers as a header and arrays, and back.

A classifier is its parameters, what all fitted ones have (classes, features, scaling, history),
what its class keeps beside that (`_kept`), and the `Model` that its `_finish` takes.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from .. import _HOMES, __version__
from ..estimators.base import BaseBoostingClassifier
from ..estimators.mh import AdaBoostMHClassifier
from ..estimators.multiboost import MultiBoostClassifier
from ..estimators.proj import RBoostProjClassifier
from ..estimators.rank import RBoostRankClassifier
from ..preprocessing.categories import TableEncoding, TablePreparation
from ..preprocessing.scaling import StandardScaling
from ..projections import projection_arrays as projected
from ..runtime.memory import check_memory
from ..training.rounds import Model
from ..training.side_by_side import HypothesisRow, StumpRow
from ..training.voting import VoteBoostingClassifier
from ..trees.forest import Forest, Tree
from ..trees.views import ClassView, SharedView
from ..weak_learners import hypothesis_arrays as weak
from ..weak_learners.hypotheses import FittedEstimator, Stump
from ..weak_learners.hypothesis_arrays import Arrays, Taken, count, floats, ints, need
from .container import ModelFileError
from .json_values import NotSaved, decode, decode_labels, encode, encode_labels

CLASSIFIERS = tuple(name for name in _HOMES if name.endswith("Classifier"))
_DTYPES = ("float32", "float64")
_SCALING = ("peak", "center", "spread")


# -- tables ------------------------------------------------------------------------------------


def _pack_encoding(encoding: TableEncoding) -> list[Any]:
    for name, places in encoding.places.items():
        for value in (name, *places):
            if not isinstance(value, str | bool | int | float | np.generic):
                raise ModelFileError(
                    f"column {name!r} has categories of type {type(value).__name__}, which cannot "
                    "be saved: make strings of them"
                )
    return [
        [encode(name), [[encode(category), place] for category, place in places.items()]]
        for name, places in encoding.places.items()
    ]


def _unpack_encoding(described: Any) -> TableEncoding:
    places: dict[Any, dict[Any, float]] = {}
    try:
        for name, pairs in described:
            places[decode(name)] = {decode(value): float(place) for value, place in pairs}
    except (TypeError, ValueError) as error:
        raise ModelFileError("the model file is damaged: its categories cannot be read") from error
    return TableEncoding(places)


def _pack_preparation(preparation: TablePreparation) -> tuple[dict[str, Any], Arrays]:
    described: dict[str, Any] = {"categories": _pack_encoding(preparation.encoding_)}
    names = getattr(preparation, "feature_names_in_", None)
    described["feature_names"] = None if names is None else encode_labels(names)
    return described, {"preparation.means": preparation.means_}


def _unpack_preparation(described: Any, taken: Taken, n_features: int) -> TablePreparation:
    need(isinstance(described, dict), "its preparation is not described")
    preparation = TablePreparation()
    preparation.encoding_ = _unpack_encoding(described.get("categories"))
    preparation.means_ = taken.real("preparation.means", n_features)
    preparation.n_features_in_ = n_features
    _set_names(preparation, described.get("feature_names"), n_features)
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
    if not isinstance(model, BaseBoostingClassifier) or name not in CLASSIFIERS:
        raise ModelFileError(f"{name} is no classifier of randomboost: use pickle or skops")
    if not hasattr(model, "n_estimators_"):
        raise ModelFileError(f"this {name} is not fitted: call fit before save")
    rounds = model._model()
    header, arrays = _pack_fitted(model)
    header["weak"], more = weak.pack(rounds.hypotheses)
    header["corrective"] = rounds.path is not None
    arrays |= more
    arrays["weights"] = np.asarray(rounds.weights, dtype=np.float64)
    if rounds.codes:
        codes = np.asarray(rounds.codes)
        arrays["codes"] = ints(codes) if codes.dtype.kind == "i" else floats(codes)
    for key, values in rounds.state.items():
        arrays[f"state.{key}"] = values
    if dense:
        arrays |= _made_from_seed(model)
        if rounds.path is not None:
            arrays["path.sizes"] = ints([len(part) for part in rounds.path])
            arrays["path.weights"] = np.concatenate([np.ravel(part) for part in rounds.path])
    return header, arrays


def _pack_fitted(model: Any) -> tuple[dict[str, Any], Arrays]:
    """Return header and arrays of a fitted classifier without its rounds."""
    names = getattr(model, "feature_names_in_", None)
    header = {
        "class": type(model).__name__,
        "randomboost": __version__,
        "parameters": {key: encode(value) for key, value in model.get_params(deep=False).items()},
        "classes": encode_labels(model.classes_),
        "n_features": model.n_features_in_,
        "feature_names": None if names is None else encode_labels(names),
        "categories": None if model._encoding is None else _pack_encoding(model._encoding),
        "n_rounds": model.n_estimators_,
        "stopped": model.stopped_,
        "stops_early": bool(model._stopping),
        "dtype": np.dtype(model._dtype).name,
        "seed": model._seed,
        "probability_scale": model._proba_scale,
        "scaled": model._scaling is not None,
    }
    arrays = {"importances": np.asarray(model.feature_importances_, dtype=np.float32)}
    for key, values in model.train_history_.items():
        arrays[f"history.{key}"] = np.asarray(values, dtype=np.float64)
    if model._scaling is not None:
        for key in _SCALING:
            arrays[f"scaling.{key}"] = floats(getattr(model._scaling, key))
    kept, more = _pack_kept(model)
    return header | kept, arrays | more


def _pack_kept(model: Any) -> tuple[dict[str, Any], Arrays]:
    header: dict[str, Any] = {"kept": {}}
    arrays: Arrays = {}
    for key in model._kept:
        value = getattr(model, key, None)
        if key == "_projection":
            header["projection"], more = projected.pack(value)
            arrays |= more
        elif isinstance(value, np.ndarray):
            arrays[f"kept.{key}"] = floats(value)
        elif value is not None:
            header["kept"][key] = encode(value)
    return header, arrays


def _made_from_seed(model: Any) -> Arrays:
    """Return what follows from the seed and matters to predictions."""
    if isinstance(model, RBoostProjClassifier):
        return {"dense.votes": floats(model._effective)}
    if not isinstance(model, RBoostRankClassifier):
        return {}
    view, rounds = model._projection, model._hypotheses
    if isinstance(rounds, Forest):
        used = np.unique(rounds.columns[rounds.columns >= 0]).astype(np.int64)
    else:
        mixes = [one.combination for one in rounds if getattr(one, "combination", None)]
        others = [one.columns for one in rounds if isinstance(one, FittedEstimator)]
        plain = [one.column for one in rounds if getattr(one, "column", -1) >= 0]
        parts = [np.array(plain, dtype=np.int64), *(mix.columns for mix in mixes), *others]
        used = np.unique(np.concatenate(parts))
    made = {"dense.numbers": ints(used)}
    if isinstance(view, SharedView):
        rows = view.along(used)
        made |= {
            "dense.sizes": ints(np.diff(rows.indptr)),
            "dense.features": ints(rows.indices),
            "dense.coefficients": floats(rows.data),
        }
    else:
        inner = view.projection if isinstance(view, ClassView) else view
        made["dense.rows"] = floats(inner.rows(used, (0, model.n_features_in_), np.float64))
    return made


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
    n_features, n_rounds = count(header, "n_features", 2**31), count(header, "n_rounds", 2**31)
    taken.real("importances", n_features)  # the file is at least so long
    classes = _classes(header)
    model.classes_, model.n_features_in_, model.n_estimators_ = classes, n_features, n_rounds
    check_memory(
        8 * len(classes) * (n_features + 400),
        f"a model of {len(classes):,} classes and {n_features:,} features",
        "load it on a machine with more",
    )
    _set_names(model, header.get("feature_names"), n_features)
    categories = header.get("categories")
    model._encoding = None if categories is None else _unpack_encoding(categories)
    _set_plain(model, header)
    model._scaling = None
    if header.get("scaled"):
        scaling = [taken.real(f"scaling.{key}", n_features) for key in _SCALING]
        need((scaling[0] > 0).all() and (scaling[2] > 0).all(), "its scaling divides by zero")
        model._scaling = StandardScaling(*scaling)
    model.train_history_ = {
        name.removeprefix("history."): taken.real_or_missing(name)
        for name in taken.names("history.")
    }
    n_columns = _set_kept(model, header, taken)
    rounds = _unpack_rounds(model, header, taken, n_columns)
    _check_rounds(model, rounds)
    model._finish(rounds)
    if taken.names("dense."):
        for name, values in _made_from_seed(model).items():
            stored = taken.real(name, *values.shape)
            need(np.array_equal(values, stored), "its projections are not those of its seed")
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
    name, parameters = header.get("class"), header.get("parameters")
    need(name in CLASSIFIERS, "it is of no known class")
    need(isinstance(parameters, dict), "it has no parameters")
    assert isinstance(name, str)
    assert isinstance(parameters, dict)
    kind = getattr(import_module(f"..{_HOMES[name]}", __package__), name)
    known = set(kind._get_param_names())
    need(set(parameters) <= known, f"it has unknown parameters {sorted(set(parameters) - known)}")
    values = {key: decode(value) for key, value in parameters.items()}
    plain = {key: value for key, value in values.items() if not isinstance(value, NotSaved)}
    try:
        kind(**plain)._validate_params()
    except ValueError as error:
        raise ModelFileError(f"the model file is damaged: {error}") from error
    return kind(**values)


def _set_plain(model: Any, header: dict[str, Any]) -> None:
    need(isinstance(header.get("stopped"), str), "it does not say why its fit ended")
    need(header.get("dtype") in _DTYPES, "its precision is unknown")
    scale = header.get("probability_scale")
    if not isinstance(scale, int | float) or not 0 < scale < 1e6:
        raise ModelFileError("the model file is damaged: it has no scale of probabilities")
    model.stopped_ = header["stopped"]
    model._stopping = bool(header.get("stops_early"))
    model._dtype = np.dtype(header["dtype"])
    model._seed, model._proba_scale = count(header, "seed", 2**63 - 1), float(scale)


def _set_kept(model: Any, header: dict[str, Any], taken: Taken) -> int:
    """Set what the class keeps beside the model; return how many columns there are."""
    n_columns = n_features = model.n_features_in_
    kept = header.get("kept")
    need(isinstance(kept, dict), "what it keeps is not described")
    assert isinstance(kept, dict)
    for key in model._kept:
        if key == "_projection":
            view = projected.unpack(
                header.get("projection"), taken, len(model.classes_), n_features
            )
            model._projection = view
            if isinstance(model, RBoostRankClassifier):
                n_columns = getattr(view, "n_directions", None) or view.n_projections
        elif f"kept.{key}" in taken:
            setattr(model, key, taken.real_matrix(f"kept.{key}"))
        elif key in kept:
            setattr(model, key, decode(kept[key]))
        else:
            need(key == "_baseline", f"it has no {key!r}")  # which only trees have
    return n_columns


def _check_rounds(model: Any, rounds: Model) -> None:
    """Check that the parts of a model fit together."""
    n_rounds, n_classes, shape = len(rounds.hypotheses), len(model.classes_), rounds.weights.shape
    codes = np.array(rounds.codes)
    if isinstance(model, RBoostRankClassifier):
        fits = shape == (n_rounds,) and _view_fits(model, rounds)
    elif isinstance(model, RBoostProjClassifier):
        selection, n = getattr(model, "_selection", None), model._projection.n_projections
        fits = selection in ("code", "violation") and codes.shape == (n_rounds,)
        fits = fits and shape == ((n_rounds,) if selection == "code" else (n,))
        fits = fits and bool(((codes >= 0) & (codes < n)).all())
    elif isinstance(model, MultiBoostClassifier):
        fits = shape == (n_rounds * n_classes,) and codes.shape == (n_rounds,)
    elif isinstance(rounds.hypotheses[0], HypothesisRow | StumpRow):
        sizes = {len(row.members()) for row in rounds.hypotheses}
        code = getattr(model, "code_", np.eye(n_classes))
        fits = sizes == {code.shape[-1]} and shape == (n_rounds, code.shape[-1])
        fits = (
            fits and code.shape[:-1] == (n_classes,) and getattr(model, "_shared", False) is False
        )
        fits = fits and isinstance(getattr(model, "_code_settings", ()), tuple)
    else:
        fits = shape[:1] == (n_rounds,) and codes.shape == (n_rounds, n_classes)
        fits = fits and isinstance(model, VoteBoostingClassifier | AdaBoostMHClassifier)
        fits = fits and getattr(model, "_shared", True) is True
    need(fits, "its parts do not fit together")


def _view_fits(model: Any, rounds: Model) -> bool:
    view, first = model._projection, rounds.hypotheses[0]
    if isinstance(view, SharedView | ClassView) != isinstance(first, Tree):
        return False
    if not isinstance(first, Tree):
        return isinstance(first, Stump | FittedEstimator)
    baseline = getattr(model, "_baseline", np.empty(0))
    families = rounds.state.get("families", np.empty((3, len(view.weights))))
    return (
        baseline.shape == (len(model.classes_),)
        and all((tree.codes < len(view.codes)).all() for tree in rounds.hypotheses)
        and families.shape == (3, len(view.weights))
        and rounds.state.get("low", np.empty(())).shape == ()
    )


def _unpack_rounds(model: Any, header: dict[str, Any], taken: Taken, n_columns: int) -> Model:
    n_rounds = model.n_estimators_
    found = weak.unpack(str(header.get("weak")), taken, n_rounds, n_columns)
    weights = taken.real_matrix("weights")
    codes: list[Any] = []
    if "codes" in taken:
        array = taken.real_matrix("codes")
        need(len(array) == n_rounds, "its codes do not fit")
        codes = list(array)
    path: list[NDArray] | None = None
    if header.get("corrective"):
        path = _unpack_path(taken, n_rounds) if "path.sizes" in taken else []
    state = {name.removeprefix("state."): taken.real_matrix(name) for name in taken.names("state.")}
    return Model(found, weights, path, codes, state)


def _unpack_path(taken: Taken, n_rounds: int) -> list[NDArray]:
    sizes = taken.whole("path.sizes", np.int64, n_rounds)
    values = taken.real("path.weights", None)
    need((sizes >= 0).all() and sizes.sum() == len(values), "its weights by round do not add up")
    return np.split(values, np.cumsum(sizes)[:-1])
