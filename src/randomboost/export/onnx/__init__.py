"""Models as ONNX graphs, by themselves (`to_onnx`) or in pipelines of skl2onnx (`register`)."""

try:
    import onnx as _onnx  # noqa: F401
except ImportError as error:  # pragma: no cover
    raise ImportError(
        "randomboost.export.onnx needs the package onnx: pip install randomboost[onnx]"
    ) from error

from .pipelines import register
from .whole_model import to_onnx

__all__ = ["register", "to_onnx"]
