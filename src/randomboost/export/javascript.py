"""A fitted classifier as one JavaScript file without dependencies, for web pages and Node."""

from __future__ import annotations

import base64
import json
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..ensembles.plain_tables import LandmarkTable, LinearTable, StumpTable, TreeTable
from ..runtime.checked_arrays import floats, ints
from .portable import PortableModel, check_name, portable

_KINDS = ("int8", "uint8", "int16", "uint16", "int32", "float32", "float64")
_RESERVED = {
    "arguments", "await", "break", "case", "catch", "class", "const", "continue", "debugger",
    "default", "delete", "do", "else", "enum", "eval", "export", "extends", "false", "finally",
    "for", "function", "if", "implements", "import", "in", "instanceof", "interface", "let", "new",
    "null", "package", "private", "protected", "public", "return", "static", "super", "switch",
    "this", "throw", "true", "try", "typeof", "var", "void", "while", "with", "yield",
}  # fmt: skip
_SCRIPT = """\
(function () {{
"use strict";
{predictor}
const made = load({data});
if (typeof module === "object" && module.exports) module.exports = made;
else globalThis.{name} = made;
}})();
"""
_MODULE = """\
{predictor}
const {name} = load({data});
export default {name};
export const {{ scores, predictProba, predict, classes, featureNames, categories }} = {name};
"""


def to_js(model: Any, *, name: str = "model", module: bool = False) -> str:
    """Return a fitted classifier as the text of a JavaScript file.

    The file needs nothing else. It gives an object with

    - ``scores(row)``, the scores of all classes as a Float64Array;
    - ``predictProba(row)``, their probabilities;
    - ``predict(row)``, the label of the class with the highest score;
    - ``classes``, ``featureNames``, and ``categories`` by the name of their column.

    A row is an array in the order of ``featureNames``, or an object with these names. Categories
    are given as in the training data; null and NaN are missing values for models that take them.
    Labels are those of `predict` in Python and probabilities differ by less than 1e-6.

    Parameters
    ----------
    model : estimator or Pipeline
        A fitted classifier of this package, or a pipeline of a `TablePreparation` and one. Its
        weak classifiers must be stumps, "wlda" or decision trees, not other estimators.
    name : str, default="model"
        Name of the object.
    module : bool, default=False
        Whether to write an ES module, for files that end in ``.mjs`` and ``<script
        type="module">``. If False, the file is for ``<script>``, where it sets the global variable
        `name`, and for ``require`` and ``import`` of Node.

    Returns
    -------
    str
        The file.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from randomboost import AdaBoostMHClassifier
    >>> from randomboost.export.javascript import to_js
    >>> model = AdaBoostMHClassifier(10).fit(*load_wine(return_X_y=True))
    >>> print(to_js(model).splitlines()[0])
    // AdaBoostMHClassifier of randomboost 0.1.0: 13 features, 3 classes.
    """
    check_name(name, "a variable of JavaScript", {*_RESERVED, "load"}, signs="_$")
    described = portable(model, encoded=True)
    predictor = (files(__package__) / "predictor.js").read_text(encoding="utf-8").strip()
    # no "<" of a label may end a script element that holds the file
    data = json.dumps(_data(described), separators=(",", ":")).replace("<", "\\u003c")
    usage = f"import {name} from ..." if module else f"in a page the variable {name}"
    head = (
        f"// {described.title}\n"
        f"// {usage}: scores(row), predictProba(row), predict(row), classes, featureNames\n"
    )
    return head + (_MODULE if module else _SCRIPT).format(predictor=predictor, data=data, name=name)


def input_columns(model: PortableModel) -> list[dict[str, Any]]:
    """Return the columns of a row: name, places among the features, numbers of the categories.

    Parameters
    ----------
    model : PortableModel
        The model.

    Returns
    -------
    list of dict
        "name"; "at", the features that the column becomes; "codes", for categories, pairs of a
        category and the value of each of those features.
    """
    columns = []
    for place, name in enumerate(model.column_names):
        at = [feature for feature, column in enumerate(model.columns) if column == place]
        column: dict[str, Any] = {"name": str(name), "at": at}
        if place in model.codebooks:
            book = model.codebooks[place]
            numbers = book.values.tolist()
            pairs = zip(book.levels, numbers, strict=True)
            column["codes"] = [[plain(level), each] for level, each in pairs]
        columns.append(column)
    return columns


def plain(value: Any) -> Any:
    """Return a label or a category as JSON can hold it: a boolean, a number or a string.

    Parameters
    ----------
    value : object
        The label.

    Returns
    -------
    bool, int, float or str
        The same, or its text; that of whole numbers which JavaScript would round.
    """
    value = value.item() if isinstance(value, np.generic) else value
    exact = isinstance(value, float) or (isinstance(value, int) and abs(value) <= 2**53)
    return value if exact else str(value)


def _data(model: PortableModel) -> dict[str, Any]:
    """Return all that the functions of predictor.js need, for JSON."""
    tables, scaling = model.tables, model.scaling
    stumps, trees = tables.stumps, tables.trees
    landmarks, linear = tables.landmarks, tables.linear
    n_rounds = 0 if tables.votes is None else len(tables.votes)
    return {
        "classes": [plain(label) for label in model.classes],
        "columns": input_columns(model),
        "nFeatures": model.n_features,
        "single": bool(model.dtype == np.float32),
        "missing": model.missing,
        "fill": _packed(model.fill),
        "scaling": None
        if scaling is None
        else [_packed(part) for part in (scaling.peak, scaling.center, scaling.spread)],
        "probabilityScale": float(model.probability_scale),
        "nViews": tables.n_views,
        "nValues": tables.n_values,
        **_mixtures(model),
        "stumps": None if stumps is None else _stumps(stumps),
        "trees": None if trees is None else _trees(trees),
        "leaves": None if trees is None or tables.votes is not None else _leaves(trees),
        "votes": _packed(tables.votes),
        "nRounds": n_rounds,
        "nMembers": _n_members(stumps, trees),
        "prior": _packed(tables.baseline),
        "landmarks": [_landmarks(each) for each in landmarks],
        "linear": None if linear is None else _linear(linear),
        "decoding": tables.decoding,
        "code": _packed(tables.code),
    }


def _n_members(stumps: StumpTable | None, trees: TreeTable | None) -> int:
    if stumps is not None:
        return int(stumps.columns.size)
    return 0 if trees is None else len(trees.starts) - 1


def _mixtures(model: PortableModel) -> dict[str, Any]:
    """Return how features are mixed: a seed, or a table, or neither."""
    tables = model.tables
    if tables.rows is None or not tables.n_values:
        return {"rows": None, "gaussian": None}
    if tables.gaussian is not None:
        projection, rows = tables.gaussian
        seed = [projection.seed & 0xFFFFFFFF, projection.seed >> 32]
        scale = float(1.0 / np.sqrt(projection.n_projections))
        stream = int(projection.stream)
        made = {"seed": seed, "stream": stream, "scale": scale, "rows": _packed(rows)}
        return {"rows": None, "gaussian": made}
    matrix = tables.rows(np.arange(tables.n_values))
    table = {
        "sizes": _packed(np.diff(matrix.indptr)),
        "features": _packed(matrix.indices),
        "coefficients": _packed(matrix.data),
    }
    return {"rows": table, "gaussian": None}


def _stumps(stumps: StumpTable) -> dict[str, Any]:
    parts = ("columns", "thresholds", "low", "high")
    return {part: _packed(getattr(stumps, part)) for part in parts}


def _trees(trees: TreeTable) -> dict[str, Any]:
    """Return splits and leaves; `outputs` only where a leaf gives a single number."""
    split = trees.left >= 0
    single = trees.leaf_starts is None
    return {
        "sizes": _packed(np.diff(trees.starts)),
        "left": _packed(np.maximum(trees.left, 0)),
        "columns": _packed(trees.columns[split]),
        "cuts": _packed(trees.thresholds[split]),
        "outputs": _packed(trees.values[~split]) if single else None,
    }


def _leaves(trees: TreeTable) -> dict[str, Any]:
    assert trees.leaf_starts is not None
    return {
        "sizes": _packed(np.diff(trees.leaf_starts)),
        "classes": _packed(trees.leaf_classes),
        "steps": _packed(trees.leaf_steps),
        "units": _packed(trees.leaf_units),
    }


def _landmarks(landmarks: LandmarkTable) -> dict[str, Any]:
    parts = ("points", "weights", "squares", "coefficients")
    packed = {part: _packed(getattr(landmarks, part)) for part in parts}
    return {"width": landmarks.width, **packed}


def _linear(linear: LinearTable) -> dict[str, Any]:
    return {part: _packed(getattr(linear, part)) for part in ("coefficients", "limits", "base")}


def _packed(array: NDArray | None) -> Any:
    """Return an array in the smallest type that holds it, as "kind:base64".

    Where fewer characters tell them, distinct values and their places: a pair of such texts.
    """
    if array is None:
        return None
    array = np.ravel(array)
    if array.dtype.kind == "f" and (array == np.rint(array)).all() and (abs(array) < 2**31).all():
        array = array.astype(np.int64)
    packed = ints(array) if array.dtype.kind in "iu" else floats(array)
    if packed.dtype.name not in _KINDS:
        raise ValueError("the model is too large for JavaScript: numbers above 2^31")
    text = _base64(packed)
    values, places = np.unique(packed, return_inverse=True)
    if packed.itemsize > 2 and len(values) < 2**16:
        pair = [_base64(values), _base64(ints(places))]
        return pair if sum(map(len, pair)) < len(text) else text
    return text


def _base64(array: NDArray) -> str:
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return f"{array.dtype.name}:{base64.b64encode(little.tobytes()).decode()}"
