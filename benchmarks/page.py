"""Writes the page on performance from the results, and from nothing else."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any

from asked import QUESTIONS
from costs import Plan
from measure import state_of_trees
from peers import BASE, PEERS, table_key
from pictures import draw_scaling, draw_trade_off
from scaling import BASE as SCALING_BASE
from scaling import DIMENSIONS_A_ROUND, MODELS, SIZES, curves, exponent

OURS = "RandomBoost"  # whose rows may be of an earlier state of its trees
STATE = "trees"  # of a measurement: see `state_of_trees`
OLD = "†"
MEASUREMENTS = "measurements.json"  # what a page is made of, in the folder of its pictures
FIELDS = ("error", "fit_s", "predict_s", "single_ms", "bytes", "peak_bytes", "rounds")
HEAD = (
    "model",
    "rounds",
    "test error, %",
    "fit, s",
    f"/ {BASE}",
    "predict 10 000 rows, s",
    f"/ {BASE}",
    "predict 1 row, ms",
    "model, kB",
    "peak memory of the fit, MB",
)
INTRO = """\
# Performance

Made by `RANDOMBOOST_DATA=folder python benchmarks/performance.py{options}`; do not edit by hand.
{remark}
## Setting

{cores} cores; Python {python}; {packages}.

All models run in one process, one after the other, run by run, and use all cores; AdaBoost has no
threads. Each is warmed up before its first timing, so nothing is compiled while the clock runs.
A suite that was stopped and went on has measured some models of a set later than others.
{figures}
Peak memory is the rise of the resident memory during the fit. A model's size is that of its pickle.
Fits that were expected to take more than 3 minutes, or more than 10 GB, are left out except for a
few, and their rows say so. The measurements are in `{measurements}`.

The paper's sets are split 75/25 at random and scaled to [-1, 1]; pendigits-100 and usps-100 have
100 samples per class. MNIST is used as pixels in [0, 1] and as "hog": deslanted, HOG on three
levels, PCA to 90 % of the variance. Generated data are Gaussian clusters, three per class.

"RandomBoost" is `RandomBoostClassifier`; with a number of rounds it has no early stopping. "rank
exact" is RBoost-rank in the paper's setting, stumps on n = 20000 dimensions that are all searched
every round. "rank part" searches some of them, drawn again every round: 3e6 / (m k), between 2 and
400, for m rows and k classes; it may take 2 GB for them. "proj" with a number of rounds is
RBoost-proj with n = 1000 and tol = 0; from 10 000 rows on it takes 255 bins a feature. The rounds
of the random forest are trees. Columns
"/ {base}" are times divided by {base}'s in the same setting.
"""
REMARK = f"""
Figures of RandomBoost with {OLD} are of an earlier state of its trees, and so are its points in
the pictures: for its present defaults see [many classes](many-classes.md) and [which model
when](beyond.md).
"""
SINGLE = """\
## Single figures

| | measured |
|---|---|
{rows}
"""
SCALING = """\
## Scaling

The time of a fit when one size grows and the others stay at {base}, on generated data; "rank part"
searches {part} dimensions a round, "RandomBoost" has n directions for its trees, {base_model} has
no n. In legends and table: the exponent, fitted on the larger half.

![Time of a fit over m, n, k, d and T]({picture})

| | {axes} |
|---|{rule}|
{rows}
"""


def number(value: float) -> str:
    """Return a number with three digits that count."""
    if abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.3g}"


def row(cells: tuple[str, ...] | list[str]) -> str:
    """Return a row of a table."""
    return "| " + " | ".join(cells) + " |"


def merged(
    records: dict[str, Any], prefix: str, fields: tuple[str, ...] = FIELDS
) -> dict[str, Any] | None:
    """Return the medians over the runs of one model, or why it failed, or None."""
    runs = [record for key, record in records.items() if key.startswith(prefix + "/")]
    good = [record for record in runs if "error" in record]
    if not good:
        return runs[0] if runs else None
    old = any(record.get(STATE) != state_of_trees() for record in good)
    found = {field: median(r[field] for r in good) for field in fields}
    return found | {"runs": len(good), "old": old}


def _is_old(records: dict[str, Any]) -> bool:
    """Return whether a measurement of RandomBoost is of an earlier state of its trees."""
    state = state_of_trees()
    return any(f"/{OURS}/" in key and record.get(STATE) != state for key, record in records.items())


def _cells(found: dict[str, Any], base: dict[str, Any] | None) -> list[str]:
    def ratio(field: str) -> str:
        return number(found[field] / base[field]) if base else "-"

    return [
        f"{found['error']:.2f}",
        number(found["fit_s"]) + ("*" if found["runs"] == 1 else ""),
        ratio("fit_s"),
        number(found["predict_s"]),
        ratio("predict_s"),
        number(found["single_ms"]),
        number(found["bytes"] / 1e3),
        number(found["peak_bytes"] / 1e6),
    ]


def _model_row(
    records: dict[str, Any], plan: Plan, name: str, model: str, rounds: int | None
) -> str:
    label = "default" if rounds is None else str(rounds)
    cost = plan.cost(name, model, rounds)
    found = merged(records, table_key(name, model, rounds))
    if found is None or "failed" in found:
        why = "not measured"
        if found is not None:
            why = f"failed: {found['failed']}"
        elif isinstance(cost, str):
            why = f"left out: {cost}"
        return row([model, label, why, *[""] * (len(HEAD) - 3)])
    base = merged(records, table_key(name, BASE, rounds))
    if base is not None and "failed" in base:
        base = None
    if rounds is None:
        label = f"default ({found['rounds']:.0f})"
    elif found["rounds"] < rounds:
        label = f"{rounds} (ended after {found['rounds']:.0f})"
    if model == OURS and found["old"]:
        model += OLD
    return row([model, label, *_cells(found, base)])


def _set_section(records: dict[str, Any], plan: Plan, name: str) -> str:
    shape = records[f"set/{name}"]
    rows = [
        _model_row(records, plan, name, model, rounds)
        for rounds in plan.settings(name)
        for model in PEERS
        if plan.cost(name, model, rounds) is not None
    ]
    about = (
        f"{shape['rows']} training rows, {shape['features']} features, {shape['classes']} classes."
    )
    rule = "|---" * len(HEAD) + "|"
    return "\n".join([f"## {name}", "", about, "", row(HEAD), rule, *rows, ""])


def _value(value: float | bool | str, unit: str) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = value if isinstance(value, str) else number(value)
    if unit == "bytes":
        text = f"{value:.0f}"
    return f"{text} {unit}".strip()


def _check_row(check: dict[str, Any], old: bool) -> str:
    """Return what was measured."""
    mark = OLD if old and check["what"].startswith(OURS) else ""
    return row([check["what"], _value(check["value"], check["unit"]) + mark])


def _single_section(records: dict[str, Any]) -> str:
    rows = []
    for name in QUESTIONS:
        record = records.get(name)
        if record is not None and "failed" in record:
            rows.append(row([f"question {name[-1]}", f"failed: {record['failed']}"]))
        for check in (record or {}).get("checks", []):
            rows.append(_check_row(check, record.get(STATE) != state_of_trees()))
    return SINGLE.format(rows="\n".join(rows)) if rows else ""


def _scaling_section(records: dict[str, Any], out: Path) -> str:
    found = curves(records)
    if not found:
        return ""
    picture = out.with_suffix("") / "scaling.svg"
    draw_scaling(records, picture)
    rows = [
        row(
            [
                model,
                *(
                    f"{exponent(*found[axis, model]):.2f}" if (axis, model) in found else "-"
                    for axis in SIZES
                ),
            ]
        )
        for model in MODELS
    ]
    return SCALING.format(
        base=", ".join(f"{axis} = {size}" for axis, size in SCALING_BASE.items()),
        part=DIMENSIONS_A_ROUND,
        base_model=BASE,
        picture=picture.relative_to(out.parent).as_posix(),
        axes=" | ".join(SIZES),
        rule="|".join(["---"] * len(SIZES)),
        rows="\n".join(rows),
    )


def _trade_off_section(records: dict[str, Any], plan: Plan, names: list[str], out: Path) -> str:
    points: dict[str, dict[str, tuple[float, float]]] = {}
    for name in names:
        rounds = plan.settings(name)[0]
        found = {model: merged(records, table_key(name, model, rounds)) for model in PEERS}
        points[f"{name}, {rounds} rounds"] = {
            model: (record["fit_s"], record["error"])
            for model, record in found.items()
            if record is not None and "failed" not in record
        }
    picture = out.with_suffix("") / "trade-off.svg"
    draw_trade_off(points, picture)
    link = picture.relative_to(out.parent).as_posix()
    return f"## Error and time at a glance\n\n![Test error over the time of a fit]({link})\n"


def _figures(records: dict[str, Any], plan: Plan, names: list[str]) -> str:
    """Return the sentence on how many runs the figures stand for."""
    found = [
        merged(records, table_key(name, model, rounds))
        for name in names
        for rounds in plan.settings(name)
        for model in PEERS
    ]
    runs = [record["runs"] for record in found if record and "failed" not in record]
    several = [count for count in runs if count > 1]
    if not several:
        return "Figures are of one run."
    star = "; those of one run bear a star (*)" if 1 in runs else ""
    return (
        f"Figures are medians of at least {min(several)} runs with different seeds, and different "
        f"splits where the\nsplit is random{star}."
    )


def write_page(records: dict[str, Any], plan: Plan, out: Path) -> None:
    """Write the page and its pictures."""
    setting = records["environment"]
    versions = {k: v for k, v in setting.items() if k not in ("cores", "python")}
    names = [name for name in plan.sets if f"set/{name}" in records]
    intro = INTRO.format(
        options=" --quick" if plan.quick else "",
        remark=REMARK if _is_old(records) else "",
        cores=setting["cores"],
        python=setting["python"],
        packages=", ".join(f"{name} {number}" for name, number in versions.items()),
        figures=_figures(records, plan, names),
        base=BASE,
        measurements=f"{out.stem}/{MEASUREMENTS}",
    )
    sections = [intro, _single_section(records)]
    if names:
        sections.append(_trade_off_section(records, plan, names, out))
    sections += [_set_section(records, plan, name) for name in names]
    sections.append(_scaling_section(records, out))
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("\n".join(section for section in sections if section))
