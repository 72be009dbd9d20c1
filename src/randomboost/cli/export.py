"""``randomboost export``: models as ONNX, C and JavaScript files, and a list of their inputs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from rich.table import Table
from sklearn.pipeline import Pipeline

from ..compare.entrants import classifier_of
from ..reading import DataError
from ..runtime.units import format_bytes
from ..runtime.writing import whole_file
from .console import Terminal, first_names, plain_table
from .outputs import check_writable
from .saved import SavedModel

_STDOUT = "-"


def export(
    terminal: Terminal,
    path: str,
    *,
    onnx: str | None,
    c: str | None,
    js: str | None,
    encoded: bool,
) -> None:
    """Write a model as ONNX, C or JavaScript.

    Parameters
    ----------
    terminal : Terminal
        Where to print messages.
    path : str
        The model file.
    onnx, c, js : str or None
        The files to write, one of them '-' for standard output; a JavaScript file that ends in
        ``.mjs`` is an ES module.
    encoded : bool
        Whether the models in ONNX and C take categories as numbers; the one in JavaScript takes
        the categories themselves.
    """
    saved = SavedModel(path)
    numbered = onnx is not None or c is not None
    inputs = _inputs(saved) if numbered else _columns(saved)
    categorical = list(dict.fromkeys(e["column"] for e in inputs if "categories" in e))
    if categorical and not encoded and numbered:
        raise DataError(
            f"the model has categorical columns ({first_names(categorical)}) and a model in ONNX "
            "or C takes only numbers: pass --encoded, which lists the number of each category"
        )
    files = {"onnx": onnx, "c": c, "js": js}
    written = {kind: file for kind, file in files.items() if file is not None}
    if list(written.values()).count(_STDOUT) > 1 or (
        terminal.as_json and _STDOUT in files.values()
    ):
        raise DataError("only one thing can be written to standard output: pass files for the rest")
    for file in written.values():
        if file != _STDOUT:
            check_writable(file)
    for kind, file in written.items():
        content = _content(kind, saved.model, encoded=encoded, module=file.endswith(".mjs"))
        if file == _STDOUT:
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()
            continue
        with whole_file(file) as draft:
            draft.write_bytes(content)
    terminal.show(_table(inputs))
    for file in written.values():
        if file != _STDOUT:
            terminal.message(f"{file}: {format_bytes(Path(file).stat().st_size)}")
    if terminal.as_json:
        terminal.result({**written, "inputs": inputs})


def _content(kind: str, model: Any, *, encoded: bool, module: bool) -> bytes:
    """Return what a file holds: a model as ONNX, C or JavaScript."""
    if kind == "onnx":
        from ..export.onnx import to_onnx

        serialized: bytes = to_onnx(classifier_of(model), encoded=encoded).SerializeToString()
        return serialized
    if kind == "c":
        from ..export.c_source import to_c

        return to_c(classifier_of(model), encoded=encoded).encode()
    from ..export.javascript import to_js

    return to_js(model, module=module).encode()


def _columns(saved: SavedModel) -> list[dict[str, Any]]:
    """Return name, kind and categories of every column of the input."""
    if saved.columns is None:
        return _inputs(saved)
    books = {} if saved.encoding is None else saved.encoding.codebooks
    found: list[dict[str, Any]] = []
    for place, column in enumerate(saved.columns):
        entry: dict[str, Any] = {"name": column.name, "column": column.name, "kind": column.kind}
        if place in books:
            entry["categories"] = [str(level) for level in books[place].levels]
        found.append(entry)
    return found


def _inputs(saved: SavedModel) -> list[dict[str, Any]]:
    """Return name, column, kind, numbers of categories and value for missing cells."""
    columns = saved.columns
    if columns is None:
        return [{"name": f"x{j}", "kind": "number"} for j in range(saved.description["n_features"])]
    names, sources = [column.name for column in columns], list(range(len(columns)))
    numbers: dict[int, dict[Any, float]] = {}
    if saved.encoding is not None:
        sources, numbers = saved.encoding.sources.tolist(), saved.encoding.numbers()
        names = saved.encoding.names(names)
    found: list[dict[str, Any]] = []
    for place, (name, source) in enumerate(zip(names, sources, strict=True)):
        column = columns[source]
        entry: dict[str, Any] = {"name": name, "column": column.name, "kind": column.kind}
        if place in numbers:
            entry["categories"] = {str(level): number for level, number in numbers[place].items()}
        if isinstance(saved.model, Pipeline):
            entry["missing"] = float(saved.model[0].means_[place])
        found.append(entry)
    return found


def _table(inputs: list[dict[str, Any]], most: int = 40) -> Table:
    """Return the inputs; categories with their numbers where they are passed as such."""
    table = plain_table("input", "name", "value", "if missing")
    for column in table.columns[1:]:
        column.justify = "left"
    kinds = {"flag": "1 for yes, 0 for no", "date": "days since 1970-01-01", "number": "number"}
    for place, entry in enumerate(inputs[:most]):
        value = kinds.get(entry["kind"], entry["kind"])
        if "categories" in entry:
            names = entry["categories"]
            if isinstance(names, dict):
                names = [f"{name} {number:g}" for name, number in names.items()]
            value = first_names(names, 12)
        gap = f"{entry['missing']:g}" if "missing" in entry else ""
        table.add_row(str(place), entry["name"], value, gap)
    if len(inputs) > most:
        table.add_row("...", f"{len(inputs) - most} more", "(--json lists all)", "")
    return table
