"""Fitted models as programs of other languages: ONNX and C."""
