"""Whole scikit-learn pipelines through skl2onnx."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from onnx import helper

from ..portable import portable
from .graph import ML_DOMAIN, ML_OPSET, Graph
from .whole_model import add_classifier

_OPTIONS = {
    "zipmap": [True, False, "columns"],
    "nocl": [True, False],
    "raw_scores": [True, False],
}


def register() -> None:
    """Tell skl2onnx how to convert the classifiers of this package.

    After this ``skl2onnx.to_onnx`` and ``skl2onnx.convert_sklearn`` take pipelines,
    column transformers and searches with them. Options as for the classifiers of scikit-learn:
    ``zipmap``, ``nocl`` and ``raw_scores``. Calling it twice does no harm.

    Raises
    ------
    ImportError
        If skl2onnx is not installed.
    """
    try:
        from skl2onnx import update_registered_converter
        from skl2onnx.common.shape_calculator import calculate_linear_classifier_output_shapes
    except ImportError as error:
        raise ImportError(
            "pipelines need the package skl2onnx: pip install randomboost[onnx]"
        ) from error
    import randomboost

    for name in randomboost.__all__:
        kind = getattr(randomboost, name)
        if hasattr(kind, "predict_proba"):
            update_registered_converter(
                kind,
                f"Randomboost{name}",
                calculate_linear_classifier_output_shapes,
                _convert,
                options=_OPTIONS,
            )


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Add a classifier to the graph that skl2onnx is building."""
    from skl2onnx.common.data_types import DoubleTensorType

    model = operator.raw_operator
    options = container.get_options(model, {"raw_scores": False, "nocl": False})
    described = portable(model)
    if options["nocl"]:
        described = replace(described, classes=np.arange(len(described.classes)))
    prefix = f"{scope.get_unique_variable_name('randomboost')}_"
    graph = Graph(prefix, container.target_opset_any_domain(""))
    label, probabilities = operator.outputs
    add_classifier(
        graph,
        described,
        operator.inputs[0].full_name,
        (label.full_name, probabilities.full_name),
        np.float64 if isinstance(probabilities.type, DoubleTensorType) else np.float32,
        raw_scores=options["raw_scores"],
    )
    container.initializers.extend(graph.constants)
    for node in graph.nodes:
        attributes = {each.name: helper.get_attribute_value(each) for each in node.attribute}
        container.add_node(
            node.op_type,
            list(node.input),
            list(node.output),
            op_domain=node.domain,
            op_version=ML_OPSET if node.domain == ML_DOMAIN else None,
            name=node.name,
            **attributes,
        )
