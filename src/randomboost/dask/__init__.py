"""Fits and predictions on Dask collections, with the model of one machine bit for bit."""

from .distributed_classifier import DaskRandomBoostClassifier

__all__ = ["DaskRandomBoostClassifier"]
