"""Writes the page on performance from the measurements, and from nothing else."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any

from growing import AXES, NAMES, OURS, Shape, key, shapes
from jobs import MEASUREMENTS, STATE
from measure import state_of_trees
from pictures import draw_growth
from roofline import tables

from randomboost.training.landmark_ridge import n_start_samples
from randomboost.training.tree_directions import direction_counts
from randomboost.training.tree_settings import SketchSettings
from randomboost.trees.lanes import n_lanes
from randomboost.trees.sketching import n_used

FIELDS = ("error", "fit_s", "predict_s", "single_ms", "bytes", "peak_bytes", "rounds")
_NEITHER = 80  # bytes of a sample that depend on neither classes nor sketches: weight, place, ...
INTRO = """\
# Performance

Made by `python benchmarks/performance.py`; do not edit by hand.
{remark}
How long a fit takes, how fast predictions are, and how much space models and fits need, for
default models as data grows. Usual data have {rows} training rows, {features} features and
{classes} classes; one of the three numbers grows in each panel. The data are generated:
`make_classification` of scikit-learn, three clusters per class, at most 15 informative
features.

{cores} cores; Python {python}; {packages}.

Every fit has a process of its own and uses all cores, after a warm-up, so that nothing is
compiled while the clock runs. Times of small data are medians of three fits. A model that takes
more than two minutes or 12 GB is left out there and on larger data. The measurements are in
`{measurements}`.
"""
REMARK = """
**The figures of RandomBoost are of an earlier state of its trees.**
"""
QUESTIONS = {
    "fit_s": ("How long does a fit take?", "seconds of a fit", 1.0),
    "predict_s": ("How fast is prediction?", "seconds for 10 000 rows", 1.0),
    "bytes": ("How large is a model?", "pickled model, MB", 1e-6),
    "peak_bytes": ("How much memory does a fit take?", "rise of the memory, MB", 1e-6),
}
NOTES = {
    "fit_s": "The time of a fit says little without the error that it leads to:",
    "predict_s": "A single row is another matter, as most of its time is spent around the trees:",
    "bytes": "",
    "peak_bytes": """\
RandomBoost takes about
`8 m d + max(m (D + M (12 k + 4 q + 8 L + {neither})), 16 s p + 48 p^2)` bytes for m rows,
d features, k classes (at most 64), q sketches, L lanes (8, 16, 32 or 64, at least q + 2),
D directions, M members and p landmarks that are fitted to s samples: one scaled copy of the
data (4 m d in single precision), and then either the landmarks' similarities or a byte for
every direction, with the scores, probabilities and lanes of every member. There are fewer
directions where m D would exceed 256 MB, but at least d + 55.
""",
}
ROOFLINE = """\
## What bounds a fit?

Most of the time of a fit on many rows is spent on histograms: for every node and every
direction that is drawn there, the lanes of its samples are added to the bins that these are in.
`benchmarks/roofline.py` compares that with what this machine can do: copies and sums of long
arrays for the memory, and additions of lanes to a histogram that stays in the first cache. The
bound is the larger one of two times, that of reading the lines with the bins of the samples
from memory, and that of the additions.

{tables}
What is between the bound and the measured time is the collection of bins: those of a sample lie
side by side, a line of the cache for 64 directions, and are first copied into a block with a
row per direction, two reads and a write for each. Additions without it come close to their
bound: two histograms at a time stay in the first cache. Lines of samples that are far apart are
fetched ahead of time, so that their latency does not count.
"""


def number(value: float) -> str:
    """Return a number with three digits that count."""
    if abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.3g}"


def row(cells: tuple[str, ...] | list[str]) -> str:
    """Return a row of a table."""
    return "| " + " | ".join(cells) + " |"


def table(head: list[str], rows: list[list[str]]) -> str:
    """Return a table."""
    return "\n".join([row(head), "|---" * len(head) + "|", *map(row, rows)]) + "\n"


def merged(
    records: dict[str, Any], prefix: str, fields: tuple[str, ...] = FIELDS
) -> dict[str, Any] | None:
    """Return the medians over the runs of one model, or why it failed, or None."""
    runs = [record for name, record in records.items() if name.startswith(prefix + "/")]
    good = [record for record in runs if "error" in record]
    if not good:
        return runs[0] if runs else None
    known = [field for field in fields if all(field in record for record in good)]
    return {field: median(record[field] for record in good) for field in known}


def _title(axis: str, size: int) -> str:
    return f"{size:,} {axis}".replace(",", " ")


def _points(quick: bool) -> dict[str, Shape]:
    """Return the sizes of the data by what they are called; the usual one comes once."""
    found: dict[Shape, str] = {}
    for axis in AXES:
        for shape in shapes(axis, quick):
            found.setdefault(shape, _title(axis, getattr(shape, axis)))
    return {title: shape for shape, title in found.items()}


def _cell(records: dict[str, Any], shape: Shape, model: str, field: str) -> str:
    record = records.get(key(shape, model), {})
    return number(record[field]) if field in record else "-"


def _field_table(records: dict[str, Any], quick: bool, field: str, what: str) -> str:
    """Return the table of a figure of all models that were measured, on all data."""
    points = _points(quick)
    rows = [
        [model, *(_cell(records, shape, model, field) for shape in points.values())]
        for model in NAMES
        if any(key(shape, model) in records for shape in points.values())
    ]
    return table([what, *points], rows)


def expected_bytes(shape: Shape) -> float:
    """Return the memory that a default fit of RandomBoost should take."""
    settings = SketchSettings.choose(*shape)
    n_directions = sum(direction_counts(settings, shape.rows, shape.features).values())
    q = n_used(settings.n_sketches, shape.classes)
    member = 12 * shape.classes + 4 * q + 8 * n_lanes(q) + _NEITHER
    n_landmarks = settings.n_landmarks
    compared = 16 * n_start_samples(shape.rows, n_landmarks) * n_landmarks + 48 * n_landmarks**2
    grown = shape.rows * (n_directions + settings.n_members * member)
    return 8 * shape.rows * shape.features + max(grown, compared)


def _memory_table(records: dict[str, Any], quick: bool) -> str:
    """Return the memory of RandomBoost beside what the formula says."""
    rows = []
    for shape in shapes("rows", quick):
        record = records.get(key(shape, OURS), {})
        if "peak_bytes" in record:
            figures = record["peak_bytes"], expected_bytes(shape)
            title = _title("rows", shape.rows)
            rows.append([title, *(number(figure / 1e6) for figure in figures)])
    return table(["RandomBoost", "measured, MB", "formula, MB"], rows)


def _question(records: dict[str, Any], quick: bool, field: str, out: Path) -> str:
    """Return the section of a question, and draw its picture."""
    title, label, factor = QUESTIONS[field]
    curves = {
        axis: {
            model: {
                getattr(shape, axis): factor * record[field]
                for shape in shapes(axis, quick)
                if field in (record := records.get(key(shape, model), {}))
            }
            for model in NAMES
        }
        for axis in AXES
    }
    picture = out.with_suffix("") / f"{field.removesuffix('_s').replace('_', '-')}.svg"
    draw_growth(curves, label, picture)
    parts = [f"## {title}\n", f"![{label}]({picture.relative_to(out.parent).as_posix()})\n"]
    if NOTES[field]:
        parts.append(NOTES[field].format(neither=_NEITHER).rstrip() + "\n")
    if field == "fit_s":
        parts.append(_field_table(records, quick, "error", "test error, %"))
        parts.append(_field_table(records, quick, "fit_s", "fit, s"))
    elif field == "predict_s":
        parts.append(_field_table(records, quick, "single_ms", "one row, ms"))
    elif field == "peak_bytes":
        parts.append(_memory_table(records, quick))
    return "\n".join(parts)


def _is_old(records: dict[str, Any]) -> bool:
    """Return whether a measurement of RandomBoost is of an earlier state of its trees."""
    state = state_of_trees()
    ours = (record for name, record in records.items() if name.endswith(f"/{OURS}"))
    return any(record.get(STATE) != state for record in ours)


def write_page(records: dict[str, Any], quick: bool, out: Path) -> None:
    """Write the page and its pictures."""
    about = dict(records["environment"])
    cores, python = about.pop("cores"), about.pop("python")
    usual = shapes("classes", quick)[0]
    intro = INTRO.format(
        remark=REMARK if _is_old(records) else "",
        rows=f"{usual.rows:,}".replace(",", " "),
        features=usual.features,
        classes=Shape().classes,
        cores=cores,
        python=python,
        packages=", ".join(f"{name} {version}" for name, version in about.items()),
        measurements=f"{out.stem}/{MEASUREMENTS}",
    )
    sections = [intro, *(_question(records, quick, field, out) for field in QUESTIONS)]
    if "additions" in str(records.get("roofline")):
        sections.append(ROOFLINE.format(tables=tables(records["roofline"])))
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("\n".join(sections))
