"""Models by name, with parameters given as text (``--model``, ``--set``)."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import typer

from ..compare.entrants import UnknownModelError, own_model
from ..estimators.parameters import check_parameters, constraints_of

_CONSTANTS = {"none": None, "true": True, "false": False}
_OTHER_OPTION = {"random_state": "--seed", "verbose": "--quiet", "warm_start": "--resume"}


def make_model(name: str, settings: Sequence[str] = (), **parameters: Any) -> Any:
    """Return a classifier.

    Parameters
    ----------
    name : str
        One of `randomboost.compare.entrants.MODELS`.
    settings : sequence of str
        Parameters as ``name=value``.
    **parameters
        Further parameters.

    Returns
    -------
    classifier
        Unfitted, with valid parameters.
    """
    try:
        model = own_model(name).make()
    except UnknownModelError as error:
        raise typer.BadParameter(str(error), param_hint="--model") from error
    model.set_params(**_parsed(name, model, settings), **parameters)
    try:
        check_parameters(model)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--set") from error
    return model


def _parsed(model_name: str, model: Any, settings: Sequence[str]) -> dict[str, Any]:
    constraints = constraints_of(model)
    known = [name for name in model.get_params() if name not in _OTHER_OPTION]
    found = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        name = name.strip()
        if not equals:
            raise typer.BadParameter(f"{setting!r} is not name=value", param_hint="--set")
        if name in _OTHER_OPTION:
            raise typer.BadParameter(f"for {name} use {_OTHER_OPTION[name]}", param_hint="--set")
        if name not in known:
            near = difflib.get_close_matches(name, known, n=4, cutoff=0.4) or sorted(known)
            raise typer.BadParameter(
                f"{model_name} has no parameter {name!r}; similar names: {', '.join(near)}",
                param_hint="--set",
            )
        found[name] = _value(text.strip(), constraints.get(name, []))
    return found


def _value(text: str, constraints: list[Any]) -> Any:
    """Return the value of a parameter given as text: 1e5 is an int where one is required."""
    options = [option for rule in constraints for option in getattr(rule, "options", ())]
    if text in options:
        return text
    if text.lower() in _CONSTANTS:
        return _CONSTANTS[text.lower()]
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    types = {getattr(rule, "type", rule) for rule in constraints}
    whole = Integral in types and Real not in types
    return int(value) if whole and isinstance(value, float) and value.is_integer() else value
