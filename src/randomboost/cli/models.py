"""The models of the command line by name, and their settings from words."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import typer

import randomboost

MODELS = {
    "rank": "RBoostRankClassifier",
    "rank-paper": "RBoostRankClassifier",
    "proj": "RBoostProjClassifier",
    "adaboost": "AdaBoostClassifier",
    "ecc": "AdaBoostECCClassifier",
    "mh": "AdaBoostMHClassifier",
    "mo": "AdaBoostMOClassifier",
    "multiboost": "MultiBoostClassifier",
}
TITLES = {
    "rank": "RBoost-rank",
    "rank-paper": "RBoost-rank (paper)",
    "proj": "RBoost-proj",
    "adaboost": "AdaBoost",
    "ecc": "AdaBoost.ECC",
    "mh": "AdaBoost.MH",
    "mo": "AdaBoost.MO",
    "multiboost": "MultiBoost",
}
_WORDS = {"none": None, "true": True, "false": False}
_ELSEWHERE = {
    "random_state": "--seed",
    "verbose": "--quiet",
    "warm_start": "--resume",
}


def make_model(name: str, settings: Sequence[str] = (), **parameters: Any) -> Any:
    """Return a classifier.

    Parameters
    ----------
    name : str
        One of `MODELS`.
    settings : sequence of str
        ``name=value`` for parameters.
    **parameters
        Further parameters.

    Returns
    -------
    classifier
        Not fitted, with valid parameters.
    """
    if name not in MODELS:
        raise typer.BadParameter(
            f"{name!r} is not one of {', '.join(MODELS)}", param_hint="--model"
        )
    kind = getattr(randomboost, MODELS[name])
    model = kind.paper() if name == "rank-paper" else kind()
    model.set_params(**_parsed(model, settings), **parameters)
    try:
        model._validate_params()
        model._get_loss()
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--set") from error
    return model


def _parsed(model: Any, settings: Sequence[str]) -> dict[str, Any]:
    known = [name for name in model.get_params() if name not in _ELSEWHERE]
    found = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        name = name.strip()
        if not equals:
            raise typer.BadParameter(f"{setting!r} is not name=value", param_hint="--set")
        if name in _ELSEWHERE:
            raise typer.BadParameter(f"for {name} use {_ELSEWHERE[name]}", param_hint="--set")
        if name not in known:
            near = difflib.get_close_matches(name, known, n=4, cutoff=0.4) or sorted(known)
            raise typer.BadParameter(
                f"{type(model).__name__} has no parameter {name!r}; near it: {', '.join(near)}",
                param_hint="--set",
            )
        found[name] = _value(value.strip(), model._parameter_constraints.get(name, []))
    return found


def _value(word: str, constraints: list[Any]) -> Any:
    """Return what a word means for a parameter: 1e5 is a whole number where one is wanted."""
    options = [option for rule in constraints for option in getattr(rule, "options", ())]
    if word in options:
        return word
    if word.lower() in _WORDS:
        return _WORDS[word.lower()]
    try:
        value = ast.literal_eval(word)
    except (ValueError, SyntaxError):
        return word
    types = {getattr(rule, "type", rule) for rule in constraints}
    whole = Integral in types and Real not in types
    return int(value) if whole and isinstance(value, float) and value.is_integer() else value


def needs_preparation(model: Any) -> bool:
    """Return whether a table has to be made numbers without gaps before a classifier sees it.

    Parameters
    ----------
    model : classifier
        The classifier.

    Returns
    -------
    bool
        False for trees of RBoost-rank, which take categories and missing values.
    """
    return not model._allows_missing()
