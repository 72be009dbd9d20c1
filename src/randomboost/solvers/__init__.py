"""Weights of the weak learners: one at a time (stagewise) or all at once (corrective)."""
