"""``randomboost info``: a description of a model file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .. import files
from ..runtime.units import format_bytes, format_seconds
from .console import Terminal, first_names, plain_table
from .data import decision_table


def info(terminal: Terminal, path: str, *, columns: bool = False) -> None:
    """Print the description of a model file.

    Parameters
    ----------
    terminal : Terminal
        Where to print.
    path : str
        The model file.
    columns : bool
        Print how its columns are read instead.
    """
    if Path(path).is_dir():
        raise ValueError(f"{path} is a folder: pass a model file")
    found = files.describe(path)
    if columns:
        lines = found["notes"].get("decisions")
        if lines is None:
            raise ValueError(f"{path} was not written by randomboost train: it has no such table")
        terminal.result({"file": path, "columns": lines}, decision_table(lines))
        return
    table = plain_table("", "")
    table.show_header = False
    table.columns[1].justify = "left"
    for name, value in _lines(found):
        table.add_row(name, value)
    terminal.result({"file": path, **found}, table)


def _lines(found: dict[str, Any]) -> list[tuple[str, str]]:
    notes = found["notes"]
    classes = [str(label) for label in found["classes"]]
    kinds = {column["name"]: column["kind"] for column in notes.get("columns", ())}
    names = found["feature_names"] or list(kinds)
    features = [f"{name} ({kinds[name]})" if kinds.get(name, "number") != "number" else str(name)
                for name in names]  # fmt: skip
    listed = f": {first_names(features, 10)}" if names else ""
    lines = [
        ("algorithm", found["class"] + (", with a table preparation" if found["prepared"] else "")),
        ("rounds", f"{found['n_rounds']} ({found['stopped']})"),
        ("classes", f"{len(classes)}: {first_names(classes, 10)}"),
        ("features", f"{found['n_features']}{listed}"),
        ("size", format_bytes(found["bytes"]) + (", dense" if found["dense"] else "")),
        ("written by", f"randomboost {found['randomboost']}"),
    ]
    if "target" in notes:
        duration = format_seconds(notes["seconds"])
        settings = [notes["model"], *notes["settings"], f"seed {notes['seed']}"]
        lines += [
            ("target", notes["target"]),
            ("trained on", f"{notes['data']}, {notes['rows']} rows, in {duration}"),
            ("settings", ", ".join(settings)),
        ]
        for name, scores in notes.get("scores", {}).items():
            error = f"error {100 * scores['error']:.2f} %, log loss {scores['log_loss']:.4f}"
            lines.append((name.replace("_", " "), error))
    return lines
