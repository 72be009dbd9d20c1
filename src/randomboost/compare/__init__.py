"""Comparing classifiers: models and peers by name, folds, scores, time and size."""
