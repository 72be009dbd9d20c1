"""Comparing classifiers: folds, peers, scores, measurements."""
