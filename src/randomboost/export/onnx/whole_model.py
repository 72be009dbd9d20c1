"""A fitted classifier as an ONNX model of its own."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper

from ... import __version__
from ..portable import PortableModel, portable
from .graph import ML_DOMAIN, ML_OPSET, Graph
from .scoring import add_scores


def labels(classes: NDArray) -> NDArray:
    """Return class labels as ONNX can give them back.

    Parameters
    ----------
    classes : ndarray
        Class labels.

    Returns
    -------
    ndarray
        int64, or strings as objects.

    Raises
    ------
    ValueError
        If they are neither whole numbers nor strings.
    """
    if all(isinstance(label, str) for label in classes.tolist()):
        return classes.astype(object)
    try:
        whole = classes.astype(np.int64)
    except (TypeError, ValueError):
        whole = None
    if whole is None or (whole != classes).any():
        raise ValueError(
            f"class labels such as {classes[0]!r} have no place in ONNX: use whole numbers or "
            "strings as labels"
        )
    return whole


def add_classifier(
    graph: Graph,
    model: PortableModel,
    x: str,
    out: tuple[str, str],
    dtype: Any = np.float32,
    *,
    raw_scores: bool = False,
) -> None:
    """Add labels and probabilities of a model to a graph.

    Parameters
    ----------
    graph : Graph
        The graph.
    model : PortableModel
        The model.
    x : str
        Its input, shape (n_samples, n_features), float32 or float64.
    out : tuple of str
        Names of the labels and of the probabilities.
    dtype : dtype
        Precision of the probabilities.
    raw_scores : bool
        Give the scores instead of the probabilities.
    """
    scores = add_scores(graph, model, x)
    best = graph.add("ArgMax", scores, axis=1, keepdims=0)
    graph.add("Gather", graph.constant(labels(model.classes)), best, out=out[0])
    if not raw_scores:
        factor = graph.constant(np.array(model.probability_scale, dtype=model.dtype))
        scores = graph.add("Softmax", graph.add("Mul", scores, factor), axis=1)
    graph.cast(scores, dtype, out=out[1])


def to_onnx(
    model: Any,
    *,
    target_opset: int = 17,
    encoded: bool = False,
    raw_scores: bool = False,
) -> ModelProto:
    """Return a fitted classifier as an ONNX model.

    It has one input, ``X``, float32 of shape (n_samples, n_features), and two outputs, ``label``
    (int64 or strings) and ``probabilities`` (float32, of shape (n_samples, n_classes)). NaN is a
    missing value for models that take them. Features are scaled and compared within the graph in
    the precision of the training data, so that labels are those of ``predict`` for the same
    float32 numbers, and probabilities agree to about 1e-6. It takes memory in proportion to
    the rows that are given at once: give some thousands.

    Parameters
    ----------
    model : estimator or Pipeline
        A fitted classifier of this package, or a pipeline of a `TablePreparation` and one. Its
        weak classifiers must be stumps, "wlda" or decision trees, not other estimators.
    target_opset : int, default=17
        Version of the operators of ONNX, at least 13.
    encoded : bool, default=False
        Needed for a model with columns of categories: their numbers, which the metadata of the
        ONNX model lists under "categories", are its input; NaN for others. A column of categories
        may stand for several features: "columns" has the column of each.
    raw_scores : bool, default=False
        Give the scores of ``decision_function``, one for each class, instead of probabilities.

    Returns
    -------
    onnx.ModelProto
        The model; ``SerializeToString()`` gives what goes into a file.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from randomboost import AdaBoostMHClassifier
    >>> from randomboost.export.onnx import to_onnx
    >>> model = AdaBoostMHClassifier(10).fit(*load_wine(return_X_y=True))
    >>> [output.name for output in to_onnx(model).graph.output]
    ['label', 'probabilities']
    """
    described = portable(model, encoded=encoded)
    graph = Graph("", target_opset)
    add_classifier(graph, described, "X", ("label", "probabilities"), raw_scores=raw_scores)
    text = labels(described.classes).dtype == object
    made = helper.make_graph(
        graph.nodes,
        described.kind,
        [helper.make_tensor_value_info("X", TensorProto.FLOAT, ["n", described.n_features])],
        [
            helper.make_tensor_value_info(
                "label", TensorProto.STRING if text else TensorProto.INT64, ["n"]
            ),
            helper.make_tensor_value_info(
                "probabilities", TensorProto.FLOAT, ["n", len(described.classes)]
            ),
        ],
        graph.constants,
    )
    imports = [helper.make_opsetid("", target_opset), helper.make_opsetid(ML_DOMAIN, ML_OPSET)]
    result = helper.make_model(
        made,
        opset_imports=imports,
        ir_version=helper.find_min_ir_version_for(imports),
        producer_name="randomboost",
        producer_version=__version__,
    )
    helper.set_model_props(result, _metadata(described))
    return result


def _metadata(model: PortableModel) -> dict[str, str]:
    """Return what the graph does not say: names of the features, numbers of the categories."""
    properties = {}
    if model.feature_names:
        properties["feature_names"] = json.dumps(model.feature_names)
    if model.categories:
        pairs = {str(name): list(places.items()) for name, places in model.categories.items()}
        properties["categories"] = json.dumps(pairs, default=str)
        properties["columns"] = json.dumps(model.columns)
    return properties
