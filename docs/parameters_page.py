"""Writes the page on all parameters from the table that the classifiers are checked by.

``python docs/parameters_page.py`` prints it; building the documentation writes it to
docs/reference.
"""

from __future__ import annotations

from numbers import Integral, Real
from pathlib import Path
from typing import Any

from randomboost.estimators import CLASSIFIERS
from randomboost.estimators.parameters import TABLE, conditions_of, constraints_of, defaults_of

NAMES = {kind: kind.__name__.removesuffix("Classifier") for kind in CLASSIFIERS.values()}
_PLAIN = {
    "boolean": "bool",
    "verbose": "int",
    "random_state": "int, RandomState or None",
    "array-like": "array",
}


def _bounds(rule: Any) -> str:
    """Return an interval of scikit-learn's constraints in words."""
    kind = {Integral: "int", Real: "float"}[rule.type]
    parts = []
    if rule.left is not None:
        parts.append(f"{'>=' if rule.closed in ('left', 'both') else '>'} {rule.left}")
    if rule.right is not None:
        parts.append(f"{'<=' if rule.closed in ('right', 'both') else '<'} {rule.right}")
    return f"{kind} {' and '.join(parts)}"


def _rule_text(rule: Any) -> str:
    """Return one rule of scikit-learn's constraints in words."""
    if hasattr(rule, "left"):
        return _bounds(rule)
    if hasattr(rule, "options"):
        return ", ".join(f'`"{option}"`' for option in sorted(rule.options))
    if hasattr(rule, "methods"):
        methods = rule.methods if isinstance(rule.methods, list) else [rule.methods]
        return "object with " + " and ".join(f"`{name}`" for name in methods)
    if isinstance(rule, str):
        return _PLAIN[rule]
    return {None: "None", Integral: "int", dict: "dict", tuple: "tuple"}[rule]


def _by_class(values: dict[str, str]) -> str:
    """Return texts by class; the text that most of them share comes last."""
    groups: dict[str, list[str]] = {}
    for name, text in values.items():
        groups.setdefault(text, []).append(name)
    if len(groups) == 1:
        return next(iter(groups))
    common = max(groups, key=lambda text: len(groups[text]))
    lines = [f"{', '.join(names)}: {text}" for text, names in groups.items() if text != common]
    names = groups[common]
    return "<br>".join([*lines, f"{names[0] if len(names) == 1 else 'others'}: {common}"])


def _default(value: Any) -> str:
    return f"`{value!r}`".replace("'", '"')


def _row(name: str) -> str:
    """Return the line of a parameter."""
    has = [kind for kind in NAMES if name in defaults_of(kind)]
    values = {
        NAMES[kind]: ", ".join(_rule_text(rule) for rule in constraints_of(kind)[name])
        for kind in has
    }
    defaults = {NAMES[kind]: _default(defaults_of(kind)[name]) for kind in has}
    needed: dict[str, list[str]] = {}
    for kind in has:
        for condition in conditions_of(kind):
            if name in condition.names:
                needed.setdefault(condition.remedy, []).append(NAMES[kind])
    needs = [
        remedy if len(names) == len(has) else f"{', '.join(names)}: {remedy}"
        for remedy, names in needed.items()
    ]
    where = "all" if len(has) == len(NAMES) else ", ".join(NAMES[kind] for kind in has)
    cells = [f"`{name}`", TABLE[name].meaning, _by_class(values), _by_class(defaults)]
    return "| " + " | ".join([*cells, "<br>".join(needs), where]) + " |"


def table() -> str:
    """Return the table of all parameters, in the order of `TABLE`."""
    head = ["parameter", "meaning", "values", "default", "to have an effect", "classifiers"]
    used = {name for kind in NAMES for name in defaults_of(kind)}
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *(_row(name) for name in TABLE if name in used)]) + "\n"


def write(folder: Path) -> None:
    """Write the table where docs/parameters.md includes it.

    Parameters
    ----------
    folder : Path
        The folder.
    """
    folder.mkdir(exist_ok=True)
    (folder / "parameters.txt").write_text(table(), encoding="utf-8")


if __name__ == "__main__":
    print(table().replace("<br>", "; "))
