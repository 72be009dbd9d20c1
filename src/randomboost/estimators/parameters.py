"""What the parameters of an estimator may be (temporary: through its private attributes)."""

from __future__ import annotations

from typing import Any


def check_parameters(estimator: Any) -> None:
    """Check the parameters of an estimator.

    Parameters
    ----------
    estimator : estimator
        A classifier of randomboost, fitted or not.

    Raises
    ------
    ValueError
        If a parameter is invalid; the message names it and the remedy.
    """
    estimator._validate_params()
    estimator._get_loss()


def constraints_of(estimator: Any) -> dict[str, list[Any]]:
    """Return the constraints of every parameter.

    Parameters
    ----------
    estimator : estimator
        A classifier of randomboost, fitted or not.

    Returns
    -------
    dict of str to list
        The constraints by the name of the parameter, in the form of scikit-learn.
    """
    return dict(estimator._parameter_constraints)
