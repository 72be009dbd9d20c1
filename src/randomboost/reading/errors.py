"""Errors in data files."""


class DataError(ValueError):
    """The data cannot be used; the message names the reason and the remedy."""
