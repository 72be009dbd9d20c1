"""``randomboost info``: what is in a model file."""

from __future__ import annotations

from typing import Any

from . import options


def info_command(
    model: options.ModelFile, quiet: options.Quiet = False, as_json: options.AsJson = False
) -> None:
    """Show what is in a model file: algorithm, classes, features, size, how it was trained.

    Example: randomboost info flowers.rboost
    """
    from pathlib import Path

    from .. import files
    from .console import Talk, plain_table

    if Path(model).is_dir():
        raise ValueError(f"{model} is a folder: name a model file")
    found = files.describe(model)
    table = plain_table("", "")
    table.show_header = False
    table.columns[1].justify = "left"
    for name, value in _lines(found):
        table.add_row(name, value)
    Talk(quiet=quiet, as_json=as_json).result({"file": model, **found}, table)


def _lines(found: dict[str, Any]) -> list[tuple[str, str]]:
    from .console import in_bytes, in_time, some

    notes = found["notes"]
    classes = [str(label) for label in found["classes"]]
    kinds = {column["name"]: column["kind"] for column in notes.get("columns", ())}
    names = found["feature_names"] or list(kinds)
    features = [f"{name} ({kinds[name]})" if kinds.get(name, "number") != "number" else str(name)
                for name in names]  # fmt: skip
    lines = [
        ("algorithm", found["class"] + (", with a table preparation" if found["prepared"] else "")),
        ("rounds", f"{found['n_rounds']} ({found['stopped']})"),
        ("classes", f"{len(classes)}: {some(classes, 10)}"),
        ("features", f"{found['n_features']}" + (f": {some(features, 10)}" if names else "")),
        ("size", in_bytes(found["bytes"]) + (", dense" if found["dense"] else "")),
        ("written by", f"randomboost {found['randomboost']}"),
    ]
    if "target" in notes:
        lines += [
            ("target", notes["target"]),
            (
                "trained on",
                f"{notes['data']}, {notes['rows']} rows, in {in_time(notes['seconds'])}",
            ),
            ("settings", ", ".join([notes["model"], *notes["settings"], f"seed {notes['seed']}"])),
        ]
        for what, scores in notes.get("scores", {}).items():
            error = f"error {100 * scores['error']:.2f} %, log loss {scores['log_loss']:.4f}"
            lines.append((what.replace("_", " "), error))
    return lines
