"""One table of all parameters: what values they take, what they mean, when they have an effect.

The table drives the checks of every estimator, ``randomboost train --set`` and the page on
parameters. A parameter whose values differ between methods has its own entry in the estimator's
`_allowed`; a parameter that has no effect in a combination is refused (`Condition`).
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from ..projections.matrices import KINDS


@dataclass(frozen=True)
class Parameter:
    """A row of the table.

    Parameters
    ----------
    allowed : list
        Values, as scikit-learn's parameter constraints.
    meaning : str
        What it is, in a line.
    """

    allowed: list[Any]
    meaning: str


@dataclass(frozen=True)
class Condition:
    """When parameters have an effect.

    Parameters
    ----------
    names : tuple of str
        The parameters.
    holds : callable
        ``holds(estimator)`` tells whether they have.
    remedy : str
        What to do where they have none.
    refused : bool
        Whether other values than the default are refused where they have none; else a warning.
    """

    names: tuple[str, ...]
    holds: Callable[[Any], bool]
    remedy: str
    refused: bool = True


def _whole(lowest: int, highest: int | None = None) -> Interval:
    return Interval(Integral, lowest, highest, closed="left" if highest is None else "both")


_SHARE = Interval(Real, 0, 1, closed="right")
_POSITIVE = Interval(Real, 0, None, closed="neither")
_AT_LEAST_0 = Interval(Real, 0, None, closed="left")
OWN_LOSS = HasMethods(["value", "derivative"])

TABLE: dict[str, Parameter] = {
    "n_estimators": Parameter([_whole(1)], "largest number of rounds"),
    "effort": Parameter(
        [StrOptions({"fast", "default", "best"})], "how much time is spent for a lower error"
    ),
    "weak_learner": Parameter(
        [StrOptions({"stump", "real_stump", "wlda", "tree"}), HasMethods("fit")],
        "what is fitted in a round",
    ),
    "loss": Parameter([StrOptions({"exponential", "logistic"}), OWN_LOSS], "loss to minimise"),
    "learning_rate": Parameter([_POSITIVE], "shrinkage"),
    "max_leaf_nodes": Parameter([_whole(2, 2**20), None], "largest number of leaves of a tree"),
    "max_depth": Parameter([_whole(1), None], "largest number of splits on a path"),
    "min_samples_leaf": Parameter([_whole(1)], "least number of samples in a leaf"),
    "l2_regularization": Parameter([_AT_LEAST_0, None], "ridge penalty of the leaf values"),
    "subsample": Parameter([_SHARE], "share of the samples that a round looks at"),
    "n_sketches": Parameter([_whole(1), None], "random projections of the gradients"),
    "leaf_classes": Parameter([_whole(1)], "classes of which a leaf changes the score"),
    "n_landmarks": Parameter([_whole(0), None], "samples that boosting starts from"),
    "n_projections": Parameter(
        [Interval(Integral, 1, 2**31, closed="left")], "number of projected dimensions"
    ),
    "projection": Parameter(
        [StrOptions(set(KINDS)), tuple, HasMethods("matrices")], "kind of the projections"
    ),
    "projections_per_round": Parameter(
        [_whole(1), _SHARE, None], "projected dimensions that a round searches"
    ),
    "max_features": Parameter([_SHARE, None], "share of the directions tried at a node"),
    "correction": Parameter(
        [StrOptions({"stagewise", "total"})], "whether all weights are corrected after a round"
    ),
    "nu": Parameter([_AT_LEAST_0], "weight of the l1 penalty"),
    "selection": Parameter(
        [StrOptions({"code", "violation"})], "reading of Algorithm 2 of the paper"
    ),
    "stopping": Parameter([StrOptions({"objective", "violation"})], "what ends the training"),
    "tol": Parameter([_AT_LEAST_0], "tolerance at which training ends"),
    "solver_options": Parameter([dict, None], "options of L-BFGS-B"),
    "iterations_per_round": Parameter([_whole(1), None], "iterations of the solver after a round"),
    "max_bins": Parameter(
        [_whole(2, 65536), None], "bins of a feature; None searches all thresholds"
    ),
    "constant_stumps": Parameter(["boolean"], "whether a stump may be constant"),
    "max_memory": Parameter([_POSITIVE, None], "bytes that the search may take"),
    "votes": Parameter(
        [StrOptions({"per_class", "shared"})], "a weak classifier per class, or one for all"
    ),
    "partition": Parameter(
        [StrOptions({"random-half", "max-cut"}), "array-like"], "how a round parts the classes"
    ),
    "code": Parameter([StrOptions({"complete", "random"})], "which dichotomies are boosted"),
    "code_size": Parameter([_whole(1)], "number of dichotomies of a random code"),
    "decoding": Parameter([StrOptions({"loss", "hamming"})], "how votes become scores"),
    "categorical_features": Parameter(
        ["array-like", StrOptions({"from_dtype"})], "columns of numbers that are categories"
    ),
    "scale": Parameter(["boolean"], "whether features are standardised"),
    "class_weight": Parameter([StrOptions({"balanced"}), dict, None], "weights of the classes"),
    "early_stopping": Parameter(["boolean"], "whether to stop by the validation error"),
    "validation_fraction": Parameter(
        [Interval(Real, 0, 1, closed="neither")], "share of the data set aside for early stopping"
    ),
    "n_iter_no_change": Parameter([_whole(1)], "patience of early stopping in rounds"),
    "warm_start": Parameter(["boolean"], "whether to continue the last fit"),
    "random_state": Parameter(["random_state"], "seed"),
    "n_jobs": Parameter([Integral, None], "number of threads"),
    "verbose": Parameter(["verbose"], "1 shows a progress bar"),
}


def _may_stop_early(estimator: Any) -> bool:
    return bool(estimator.early_stopping)


STOPPING = (
    Condition(("validation_fraction",), _may_stop_early, "set early_stopping=True"),
    # scikit-learn's checks set this one for every classifier that has it
    Condition(("n_iter_no_change",), _may_stop_early, "set early_stopping=True", refused=False),
)


def defaults_of(kind: Any) -> dict[str, Any]:
    """Return the parameters of an estimator class with their defaults.

    Parameters
    ----------
    kind : type or estimator
        The class, or an instance.

    Returns
    -------
    dict
        Defaults by name, in the order of the signature.
    """
    kind = kind if isinstance(kind, type) else type(kind)
    signature = inspect.signature(kind.__init__)
    return {name: p.default for name, p in signature.parameters.items() if name != "self"}


def constraints_of(kind: Any) -> dict[str, list[Any]]:
    """Return the values that the parameters of an estimator take.

    Parameters
    ----------
    kind : type or estimator
        The class, or an instance.

    Returns
    -------
    dict of str to list
        scikit-learn's constraints by name.
    """
    return {name: kind._allowed.get(name) or TABLE[name].allowed for name in defaults_of(kind)}


def conditions_of(kind: Any) -> tuple[Condition, ...]:
    """Return when some parameters of an estimator have an effect.

    Parameters
    ----------
    kind : type or estimator
        The class, or an instance.

    Returns
    -------
    tuple of Condition
        The conditions.
    """
    return kind._conditions


def check_parameters(estimator: Any) -> None:
    """Check all parameters of an estimator.

    Parameters
    ----------
    estimator : estimator
        The estimator.

    Raises
    ------
    ValueError
        If a value makes no sense, or has no effect in this combination.
    """
    estimator._validate_params()
    if estimator.n_jobs == 0:
        raise ValueError("n_jobs=0 has no meaning: use None or -1 for all cores, or a number")
    defaults = defaults_of(estimator)
    for condition in conditions_of(estimator):
        if condition.holds(estimator):
            continue
        for name in condition.names:
            value = getattr(estimator, name)
            if _same(value, defaults[name]):
                continue
            problem = no_effect(name, value, defaults[name], condition.remedy)
            if condition.refused:
                raise problem
            warnings.warn(str(problem), UserWarning, stacklevel=4)
    estimator._check_settings()


def no_effect(name: str, value: Any, default: Any, remedy: str) -> ValueError:
    """Return the error of a parameter without effect.

    Parameters
    ----------
    name : str
        The parameter.
    value, default : object
        Its value and its default.
    remedy : str
        What to do.

    Returns
    -------
    ValueError
        The error.
    """
    return ValueError(
        f"{name}={value!r} has no effect here: {remedy}, or leave {name} at its default "
        f"({default!r})"
    )


def _same(value: Any, default: Any) -> bool:
    return value is default or bool(np.array_equal(value, default))
