"""Fitted models as programs of other languages: ONNX, C and JavaScript."""
