"""Fitted models as objects: what predicts, apart from how it was trained."""
