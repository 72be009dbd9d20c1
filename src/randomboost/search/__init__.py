"""Stump search: over sorted columns, binned columns, projected columns, or with class codes."""
