"""Writes the tables and the picture of the page on many classes; its text is written by hand."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from many_cases import MODELS, OURS, SET_NAMES, cases, class_count
from page import merged, number, table
from pictures import draw_classes

PAGE = Path(__file__).resolve().parent.parent / "docs" / "many-classes.md"
FIELDS = ("error", "fit_s", "predict_s", "single_ms", "bytes", "peak_bytes")
ALL_FIELDS = (*FIELDS, "log_loss")
FROM_CLASSES = 100  # exponents are of the times from here on
HEAD = [
    "model",
    "test error, %",
    "log loss",
    "fit, s",
    "predict 10 000 rows, s",
    "predict 1 row, ms",
    "model, MB",
    "peak memory of the fit, MB",
]
NOTHING = "Not measured yet.\n"


def why_not(record: dict[str, Any]) -> str:
    """Return why a model was not measured."""
    if "failed" in record:
        return f"failed: {record['failed']}"
    limit = f"{record['limit']:g} {'GB' if record['exceeded'] == 'gigabytes' else 's'}"
    return f"ended after {limit} ({record['stage']})"


def cells(found: dict[str, Any]) -> list[str]:
    """Return the figures of a model."""
    return [
        f"{found['error']:.2f}",
        f"{found['log_loss']:.3f}" if "log_loss" in found else "-",
        number(found["fit_s"]),
        number(found["predict_s"]),
        number(found["single_ms"]),
        number(found["bytes"] / 1e6),
        number(found["peak_bytes"] / 1e6),
    ]


def by_model(records: dict[str, Any], name: str) -> dict[str, dict[str, Any]]:
    """Return the medians over the splits of every model that was tried on a set."""
    found = {model: merged(records, f"{name}/{model}", ALL_FIELDS) for model in MODELS}
    return {model: record for model, record in found.items() if record is not None}


def model_rows(found: dict[str, dict[str, Any]]) -> list[list[str]]:
    """Return the rows of a table of models."""
    return [
        [model, *cells(record)]
        if "error" in record
        else [model, why_not(record), *[""] * (len(HEAD) - 2)]
        for model, record in found.items()
    ]


def shape(records: dict[str, Any], name: str) -> str:
    """Return the size of the training data in words."""
    shapes = (
        r["shape"] for key, r in records.items() if key.startswith(f"{name}/") and "shape" in r
    )
    found = next(shapes, None)
    if found is None:
        return ""
    return (
        f"{found['rows']:,} training rows, {found['features']} features, "
        f"{found['classes']:,} classes.\n\n"
    )


def model_section(records: dict[str, Any], name: str) -> str:
    """Return the table of one set, and ours divided by the others'."""
    found = by_model(records, name)
    if not found:
        return NOTHING
    text = shape(records, name) + table(HEAD, model_rows(found))
    ours = found.get(OURS, {})
    others = {model: r for model, r in found.items() if model != OURS and "error" in r}
    if "error" not in ours or not others:
        return text
    ratios = [
        [f"RandomBoost / {model}", *(number(ours[field] / max(r[field], 1e-9)) for field in FIELDS)]
        for model, r in others.items()
    ]
    return text + "\n" + table(["", "error", "fit", "predict", "1 row", "model", "memory"], ratios)


def generated_section(records: dict[str, Any]) -> str:
    """Return the table of generated-1000; the other libraries were measured earlier."""
    found = by_model(records, "generated-1000")
    if OURS not in found:
        return NOTHING
    return shape(records, "generated-1000") + table(HEAD, model_rows(found))


def slope(sizes: list[int], figures: list[float]) -> float:
    """Return the slope of a figure over a size, both as logarithms, by least squares."""
    return float(np.polyfit(np.log(sizes), np.log(figures), 1)[0])


def class_curves(records: dict[str, Any], names: list[str]) -> dict[str, dict[int, dict[str, Any]]]:
    """Return what was measured by model and number of classes."""
    curves: dict[str, dict[int, dict[str, Any]]] = {}
    for name in names:
        for model in MODELS:
            record = records.get(f"{name}/{model}/0")
            if record is not None:
                curves.setdefault(model, {})[class_count(name)] = record
    return curves


def class_table(curves: dict[str, dict[int, dict[str, Any]]]) -> str:
    """Return the table of fits over the number of classes."""
    head = ["model", "classes", "test error, %", "fit, s", "a round, ms", "predict a row, µs"]
    head += ["model, MB", "peak memory of the fit, MB"]
    rows = []
    for model, curve in curves.items():
        for count, r in curve.items():
            if "error" not in r:
                rows.append([model, f"{count:,}", why_not(r), *[""] * (len(head) - 3)])
                continue
            one_round = number(1e3 * r["round_s"]) if "round_s" in r else "-"
            figures = number(100 * r["predict_s"]), number(r["bytes"] / 1e6)
            memory = number(r["peak_bytes"] / 1e6)
            error, fit = f"{r['error']:.2f}", number(r["fit_s"])
            rows.append([model, f"{count:,}", error, fit, one_round, *figures, memory])
    return table(head, rows)


def exponents(curves: dict[str, dict[int, dict[str, Any]]]) -> str:
    """Return the table of exponents in the number of classes."""
    rows = []
    for model, curve in curves.items():
        line = [model]
        for field in ("fit_s", "round_s", "predict_s", "bytes"):
            known = {k: r[field] for k, r in curve.items() if k >= FROM_CLASSES and field in r}
            enough = len(known) > 1 and min(known.values()) > 0
            line.append(f"{slope(list(known), list(known.values())):.2f}" if enough else "-")
        if any(cell != "-" for cell in line[1:]):
            rows.append(line)
    if not rows:
        return ""
    head = ["exponent in the number of classes, from 100 on", "fit", "round", "predict", "bytes"]
    return "\n" + table(head, rows)


def filled(text: str, parts: dict[str, str]) -> str:
    """Return a page with its measured parts replaced.

    Parameters
    ----------
    text : str
        The page; a part begins with the line ``<!-- measured: NAME -->`` and ends with
        ``<!-- end -->``.
    parts : dict of str to str
        What stands between the lines.

    Returns
    -------
    str
        The page.
    """
    for name, part in parts.items():
        place = re.compile(rf"(<!-- measured: {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        if len(place.findall(text)) != 1:
            raise ValueError(f"the page needs one part '<!-- measured: {name} -->'")
        text = place.sub(lambda found, part=part: f"{found[1]}\n{part}\n{found[2]}", text)
    return text


def setting(records: dict[str, Any]) -> str:
    """Return the machine and the versions in words."""
    if "environment" not in records:
        return NOTHING
    about = dict(records["environment"])
    cores, python = about.pop("cores"), about.pop("python")
    packages = ", ".join(f"{name} {version}" for name, version in about.items())
    return f"{cores} cores; Python {python}; {packages}.\n"


def write_page(records: dict[str, Any], quick: bool, out: Path) -> None:
    """Write the page and its picture; the text is that of docs/many-classes.md."""
    names = list(cases(quick))
    of_rows = [name for name in names if name.startswith("rows/")]
    curves = class_curves(records, [name for name in names if name.startswith("classes/")])
    parts = {name: model_section(records, name) for name in SET_NAMES}
    sections = dict.fromkeys(model_section(records, name) for name in of_rows)  # "not yet" once
    parts["rows"] = "\n".join(sections)
    parts["classes"] = class_table(curves) + exponents(curves) if curves else NOTHING
    parts["generated-1000"] = generated_section(records)
    parts["setting"] = setting(records)
    text = filled(PAGE.read_text(), parts)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(text)
    draw_classes(curves, out.with_suffix("") / "classes.svg")
