"""What the parameters of other boosting libraries are called here, for error messages."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Iterable
from difflib import get_close_matches
from typing import Any

_WORDS = {
    "n_estimators": "n_iter max_iter iterations num_iterations num_boost_round num_round nrounds "
    "n_rounds num_trees n_trees",
    "learning_rate": "eta shrinkage shrinkage_rate",
    "max_leaf_nodes": "num_leaves max_leaves",
    "max_depth": "depth",
    "min_samples_leaf": "min_child_samples min_data_in_leaf min_child_weight",
    "l2_regularization": "reg_lambda lambda_l2 l2_leaf_reg",
    "subsample": "bagging_fraction subsample_freq",
    "max_features": "colsample_bytree colsample_bylevel colsample_bynode feature_fraction rsm",
    "max_bins": "max_bin border_count",
    "n_iter_no_change": "early_stopping_rounds early_stopping_round od_wait",
    "categorical_features": "cat_features categorical_feature enable_categorical",
    "class_weight": "scale_pos_weight is_unbalance class_weights auto_class_weights",
    "random_state": "seed random_seed",
    "n_jobs": "nthread num_threads thread_count",
    "verbose": "verbosity verbose_eval logging_level silent",
    "warm_start": "init_model xgb_model",
    "X_val": "eval_set",
    "sample_weight_val": "eval_sample_weight sample_weight_eval_set",
    "on_round": "callbacks",
}
_OURS = {theirs: ours for ours, words in _WORDS.items() for theirs in words.split()}
_OF_FIT = ("X_val", "sample_weight_val", "on_round")
_UNNEEDED = {
    "objective": "the classes are found in y",
    "num_class": "the classes are found in y",
    "eval_metric": "loss and error of X_val are in train_history_",
}


def our_word(name: str, parameters: Collection[str]) -> str | None:
    """Return what to use in place of a parameter of another library.

    Parameters
    ----------
    name : str
        An unknown parameter.
    parameters : collection of str
        The parameters of the classifier.

    Returns
    -------
    str or None
        A remedy, or None if there is none.
    """
    ours = _OURS.get(name, name)
    if ours == "X_val":
        return "pass fit(..., X_val=, y_val=)"
    if ours in _OF_FIT:
        return f"pass {ours} to fit"
    if ours in parameters:
        also = ", with early_stopping=True" if ours == "n_iter_no_change" else ""
        return f"set {ours} of the classifier{also}"
    return f"leave it out, {_UNNEEDED[name]}" if name in _UNNEEDED else None


def unknown_parameter(owner: str, names: Iterable[str], parameters: Collection[str]) -> str | None:
    """Return the error message for misspelt names, and for those of other libraries.

    Parameters
    ----------
    owner : str
        What has the parameters.
    names : iterable of str
        Given names that are unknown.
    parameters : collection of str
        The parameters of the classifier.

    Returns
    -------
    str or None
        The message; None where no name has a counterpart here.
    """
    for name in names:
        remedy = our_word(name, parameters)
        near = get_close_matches(name, parameters, n=1)
        if remedy is None and near:
            remedy = f"did you mean {near[0]} of the classifier?"
        if remedy is not None:
            return f"{owner} has no parameter {name!r}: {remedy}"
    return None


def names_our_words(method: Callable[..., Any], of_fit: bool = False) -> Callable[..., Any]:
    """Return a method that names our word for a keyword of another library.

    Parameters
    ----------
    method : callable
        ``__init__`` or ``fit`` of a classifier.
    of_fit : bool
        Whether it is ``fit``.

    Returns
    -------
    callable
        The method, with the same signature.
    """
    known = inspect.signature(method).parameters

    @functools.wraps(method)
    def checked(self: Any, *args: Any, **kwargs: Any) -> Any:
        unknown = [name for name in kwargs if name not in known]
        if unknown:
            name = type(self).__name__
            parameters = inspect.signature(type(self).__init__).parameters
            owner = f"{name}.fit" if of_fit else name
            message = unknown_parameter(owner, unknown, parameters)
            if message is not None:
                raise TypeError(message)
        return method(self, *args, **kwargs)

    return checked
