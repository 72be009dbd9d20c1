"""Remedies in the errors of scikit-learn about the input of a classifier."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

_TEXT = (
    "pass numbers, or a table such as a DataFrame of pandas or polars, whose columns of text are "
    "categories"
)


@contextmanager
def with_remedy(*, allows_missing: bool) -> Iterator[None]:
    """Add what to do to the errors of scikit-learn's checks of X and y.

    Parameters
    ----------
    allows_missing : bool
        Whether the classifier takes NaN as a missing value.
    """
    finite = "replace such values by finite numbers"
    if allows_missing:
        finite += ", or by NaN if they are missing"
    remedies = {
        "y contains NaN": "leave out samples whose label is missing",
        "X contains infinity": finite,
        "could not convert string to float": f"X has text: {_TEXT}",
    }
    try:
        yield
    except ValueError as error:
        for found, remedy in remedies.items():
            if found in str(error):
                raise ValueError(f"{str(error).removesuffix('.')}; {remedy}") from error
        raise
