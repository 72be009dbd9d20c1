"""Writes the page on defaults against defaults from the results, and from nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any

import numpy as np
from asked import Check
from page import check_row, met, number, row
from peers import BASE
from pictures import draw_ratios
from scipy.stats import rankdata

OURS = "RandomBoost"
SVM = "SVM"
LAST = "CatBoost"
ECE_BINS = 15
MNIST = "mnist-10k-pixels"
NEAR = ("satimage", "segment", "dna")  # to be within a standard deviation of LightGBM
BIG = 1000  # rows from which on fit times are compared
MANY = 10  # classes from which on one tree per round has to be smaller and faster
TARGET_WINS = 8

INTRO = """\
# Defaults against defaults

Made by `RANDOMBOOST_DATA=folder python benchmarks/beyond.py`; do not edit by hand.

Every model has its default parameters; {ours} is `RandomBoostClassifier()`. The SVM has an RBF
kernel, C = 10 and features scaled to [-1, 1] by the training part. The sets are the paper's 11
with more than two classes, complete: split 75/25 at random, stratified, with {splits}; MNIST has
its own test part. Models take turns on every split, CatBoost excepted, which comes last, and have
all of the {cores} cores (the SVM has one thread); each is warmed up first, so nothing is compiled
while the clock runs. Python {python}; {packages}.
{notes}"""
ERRORS = """\
## Test error

Mean in percent and, in brackets, standard deviation over the splits; the lowest of a row is bold.
Ratios are those of means on the splits that both models have, where an error counts as at least
half a wrong row.{fewer}

{table}
"""
LOSSES = """\
## Probabilities

Mean log loss on the test parts.{wins}

{losses}

Expected calibration error, {bins} bins of the confidence, in percent.

{calibration}
"""
TIMES = """\
## Time and size

Medians over the splits. "/ {base}" divides by {base}'s on the same splits; prediction is of
10 000 rows. A round of {base}, XGBoost and HistGradientBoosting is one tree per class; of {ours}
and CatBoost it is one tree.

{table}

By model, geometric means over the sets:

{others}
"""
TARGETS = """\
## Targets

| | measured | target | |
|---|---|---|---|
{rows}

{verdict}
"""
ABLATION = """\
## Variants of the default

Mean test error in percent on {splits}, and the geometric means over the sets of error and fit
time relative to the default on the same splits. Variants differ from the default in one parameter,
whose other values depend on the data. The paper's stumps are
`RBoostRankClassifier.paper(n_projections=2000, n_estimators=300)`.

{table}

![Error of the variants relative to the default]({picture})
"""

Runs = dict[int, dict[str, Any]]  # records by split


def cell_key(set_name: str, model: str, split: int | str, mark: str, *, variant: bool) -> str:
    """Return the name of a measurement."""
    return f"{'variant' if variant else 'cell'}/{set_name}/{model}/{split}/{mark}"


def geometric_mean(values: Iterable[float]) -> float:
    """Return the geometric mean, nan of nothing."""
    found = list(values)
    return float(np.exp(np.mean(np.log(found)))) if found else float("nan")


def error_of(runs: Iterable[dict[str, Any]]) -> float:
    """Return the mean error in percent, at least that of half a wrong row."""
    found = list(runs)
    floor = 50 / sum(record["test_rows"] for record in found)
    return max(mean(record["error"] for record in found), floor)


@dataclass
class Table:
    """The measurements by set and model, those with the models' present settings.

    Parameters
    ----------
    records : dict
        All results.
    models : list of str
        Their order.
    sets : list of str
        Their order.
    variants : bool
        Whether models are variants of our default.
    """

    records: dict[str, Any]
    models: list[str]
    sets: list[str]
    variants: bool = False

    def __post_init__(self) -> None:
        marks = self.records["settings"]
        self.cells: dict[tuple[str, str], Runs] = {}
        for key, record in self.records.items():
            kind, *place = key.split("/")
            if kind != ("variant" if self.variants else "cell") or "failed" in record:
                continue
            set_name, model, split, mark = place
            if mark == marks.get(model):
                self.cells.setdefault((set_name, model), {})[int(split)] = record
        self.models = [name for name in self.models if any(m == name for _, m in self.cells)]
        self.sets = [name for name in self.sets if any(s == name for s, _ in self.cells)]

    def runs(self, set_name: str, model: str) -> Runs:
        """Return the measurements of a model on a set."""
        return self.cells.get((set_name, model), {})

    def together(self, set_name: str, models: Iterable[str]) -> list[list[dict[str, Any]]]:
        """Return the measurements of models on the splits they all have, model by model."""
        found = [self.runs(set_name, model) for model in models]
        splits = sorted(set.intersection(*(set(runs) for runs in found)))
        return [[runs[split] for split in splits] for runs in found]

    def ratios(
        self, model: str, base: str, value: Callable[[list[dict[str, Any]]], float]
    ) -> dict[str, float]:
        """Return a model's value over another's, by set."""
        found = {}
        for set_name in self.sets:
            ours, theirs = self.together(set_name, (model, base))
            if ours:
                found[set_name] = value(ours) / value(theirs)
        return found

    def ranks(self, models: list[str]) -> tuple[dict[str, float], int]:
        """Return the average ranks by error on the sets that all models have, and how many."""
        rows = []
        for set_name in self.sets:
            found = self.together(set_name, models)
            if found[0]:
                rows.append(rankdata([mean(r["error"] for r in runs) for runs in found]))
        if not rows:
            return {}, 0
        return dict(zip(models, np.mean(rows, axis=0).tolist(), strict=True)), len(rows)


def field(name: str) -> Callable[[list[dict[str, Any]]], float]:
    """Return a function that takes the median of a field."""
    return lambda runs: median(record[name] for record in runs)


def mean_field(name: str) -> Callable[[list[dict[str, Any]]], float]:
    """Return a function that takes the mean of a field."""
    return lambda runs: mean(record[name] for record in runs)


def _markdown(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join([row(head), "|---" * len(head) + "|", *map(row, rows)])


def _title(records: dict[str, Any], name: str) -> str:
    shape = records[f"set/{name}"]
    return f"{name} (k = {shape['classes']}, {shape['rows']} rows)"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


def _spread(values: list[float]) -> float:
    return stdev(values) if len(values) > 1 else 0.0


def _lowest_bold(values: list[float | None], texts: list[str]) -> list[str]:
    lowest = min((value for value in values if value is not None), default=None)
    return [
        f"**{text}**" if value is not None and value == lowest else text
        for value, text in zip(values, texts, strict=True)
    ]


def _mean_rows(
    table: Table, models: list[str], name: str, show: Callable[[list[float]], str]
) -> list[list[str]]:
    """Return a row a set with the means of a field, the lowest in bold."""
    rows = []
    for set_name in table.sets:
        values: list[float | None] = []
        texts = []
        for model in models:
            found = [record[name] for record in table.runs(set_name, model).values()]
            values.append(mean(found) if found else None)
            texts.append(show(found) if found else "-")
        rows.append([_title(table.records, set_name), *_lowest_bold(values, texts)])
    return rows


def _most_splits(table: Table) -> int:
    return max((len(runs) for runs in table.cells.values()), default=0)


def _errors_section(table: Table) -> str:
    full = _most_splits(table)

    def show(errors: list[float]) -> str:
        few = "" if len(errors) == full else f" [{len(errors)}]"
        return f"{mean(errors):.2f} ({_spread(errors):.2f}){few}"

    rows = _mean_rows(table, table.models, "error", show)
    peers = [model for model in table.models if model != OURS]
    for models in _rankings(table):
        ranks, n_sets = table.ranks(models)
        if ranks:
            cells = [f"{ranks[m]:.2f}" if m in ranks else "-" for m in table.models]
            label = f"average rank, {_count(n_sets, 'set')}"
            rows.append([label, *_lowest_bold([ranks.get(m) for m in table.models], cells)])
    ratios = {model: table.ratios(OURS, model, error_of) for model in peers}
    lines: dict[str, Callable[[dict[str, float]], str]] = {
        "ours / it, geometric mean": lambda found: f"{geometric_mean(found.values()):.3f}",
        "ours / it, largest": lambda found: f"{max(found.values()):.2f} ({_worst(found)[0]})",
        "sets where ours is lower": lambda found: f"{_wins(found)} of {len(found)}{_ties(found)}",
    }
    for label, show_ratio in lines.items():
        cells = [show_ratio(ratios[m]) if ratios.get(m) else "-" for m in table.models]
        rows.append([label, *cells])
    few = any(len(table.runs(s, m)) != full for s in table.sets for m in table.models)
    fewer = f" A cell with fewer than {full} splits has their number in [ ]." if few else ""
    return ERRORS.format(fewer=fewer, table=_markdown(["", *table.models], rows))


def _rankings(table: Table) -> list[list[str]]:
    """Return the groups of models to rank: all, and those that have every set."""
    if OURS not in table.models:
        return []
    every = [m for m in table.models if all(table.runs(s, m) for s in table.sets)]
    return [table.models] if every == table.models else [table.models, every]


def _wins(ratios: dict[str, float]) -> int:
    return sum(value < 1 for value in ratios.values())


def _ties(ratios: dict[str, float]) -> str:
    equal = sum(value == 1 for value in ratios.values())
    return f", {equal} equal" if equal else ""


def _worst(ratios: dict[str, float]) -> tuple[str, float]:
    name = max(ratios, key=ratios.__getitem__)
    return name, ratios[name]


def _losses_section(table: Table) -> str:
    models = [m for m in table.models if m != SVM]
    head = ["", *models]
    losses = _mean_rows(table, models, "log_loss", lambda found: f"{mean(found):.3f}")
    calibration = _mean_rows(table, models, "ece", lambda found: f"{100 * mean(found):.2f}")
    ratios = table.ratios(OURS, BASE, mean_field("log_loss"))
    wins = ""
    if ratios:
        wins = (
            f" Ours is below {BASE}'s on {_wins(ratios)} of {len(ratios)} sets, and "
            f"{geometric_mean(ratios.values()):.3f} of it in the geometric mean."
        )
    return LOSSES.format(
        wins=wins,
        bins=ECE_BINS,
        losses=_markdown(head, losses),
        calibration=_markdown(head, calibration),
    )


def _times_section(table: Table, digits: Table) -> str:
    fields = ("fit_s", "predict_s", "bytes")
    rows = []
    for part, set_name in [*((table, s) for s in table.sets), *((digits, s) for s in digits.sets)]:
        ours, base = part.together(set_name, (OURS, BASE))
        if not ours:
            continue
        cells = [_title(part.records, set_name)]
        for name in fields:
            scale = 1e3 if name == "bytes" else 1.0
            value = field(name)(ours)
            cells += [number(value / scale), number(value / field(name)(base))]
        cells += [f"{field('trees')(ours):.0f}", f"{field('trees')(base):.0f}"]
        rows.append(cells)
    over = f"/ {BASE}"
    head = [f"{OURS} on", "fit, s", over, "predict, s", over, "pickle, kB", over]
    others = []
    for model in table.models:
        ratios = [table.ratios(model, BASE, field(name)) for name in fields]
        trees = [
            field("trees")(list(table.runs(s, model).values()))
            for s in table.sets
            if table.runs(s, model)
        ]
        cells = [number(geometric_mean(found.values())) if found else "-" for found in ratios]
        few, most = min(trees), max(trees)
        span = f"{few:.0f}" if few == most else f"{few:.0f} to {most:.0f}"
        others.append([model, *cells, span if most else "-"])
    head_others = ["", f"fit {over}", f"predict {over}", f"pickle {over}", "trees"]
    return TIMES.format(
        base=BASE,
        ours=OURS,
        table=_markdown([*head, "trees", f"{BASE}'s trees"], rows),
        others=_markdown(head_others, others),
    )


def _rank_checks(table: Table, peers: list[str]) -> Iterable[Check]:
    for group in ([m for m in peers if m != LAST], [m for m in peers if m == LAST], [SVM]):
        for models in reversed(_rankings(table)):  # that on most sets, if the group is in it
            ranks, n_sets = table.ranks(models)
            if group and set(group) <= set(ranks):
                theirs = ", ".join(f"{m} {ranks[m]:.2f}" for m in group)
                what = f"average rank on {_count(n_sets, 'set')}, ours {ranks[OURS]:.2f}"
                if group == [SVM]:
                    yield Check(f"{what}: the SVM's", round(ranks[SVM], 2))
                else:
                    below = all(ranks[OURS] < ranks[m] for m in group)
                    yield Check(f"{what}: below {theirs}", below)
                break


def _best_ratios(table: Table, peers: list[str]) -> dict[str, float]:
    """Return our error over that of the best peer, by set."""
    found: dict[str, float] = {}
    for peer in peers:
        for set_name, ratio in table.ratios(OURS, peer, error_of).items():
            found[set_name] = max(ratio, found.get(set_name, 0.0))
    return found


def _error_checks(table: Table, peers: list[str]) -> Iterable[Check]:
    for peer in peers:
        found = table.ratios(OURS, peer, error_of)
        if found and peer != LAST:
            what = f"sets of {len(found)} with an error below {peer}'s{_ties(found)}"
            yield Check(what, _wins(found), limit=TARGET_WINS, most=False)
    yield from _rank_checks(table, peers)
    found = table.ratios(OURS, BASE, error_of)
    if found:
        what = f"error / {BASE}'s, geometric mean over {_count(len(found), 'set')}"
        yield Check(what, geometric_mean(found.values()), limit=0.85)
    what = "error / that of the best of boosting and forest"
    yield from _largest(what, _best_ratios(table, peers), 1.3)


def _largest(what: str, ratios: dict[str, float], limit: float) -> Iterable[Check]:
    if ratios:
        name, value = _worst(ratios)
        over = [n for n in ratios if ratios[n] > limit]
        note = f"; above {limit:g} on {', '.join(over)}" if over else ""
        what = f"{what}, largest of {_count(len(ratios), 'set')} ({name}){note}"
        yield Check(what, value, limit=limit)


def _other_checks(table: Table, digits: Table) -> Iterable[Check]:
    found = table.ratios(OURS, BASE, mean_field("log_loss"))
    if found:
        what = f"sets of {len(found)} with a log loss below {BASE}'s"
        yield Check(what, _wins(found), limit=TARGET_WINS, most=False)
    shapes = {n: table.records[f"set/{n}"] for n in (*table.sets, *digits.sets)}

    def ratios(name: str, keep: Callable[[dict[str, int]], bool]) -> dict[str, float]:
        both = {**table.ratios(OURS, BASE, field(name)), **digits.ratios(OURS, BASE, field(name))}
        return {n: value for n, value in both.items() if keep(shapes[n])}

    big_few = ratios("fit_s", lambda s: s["classes"] <= 7 and s["rows"] > BIG)
    big_many = ratios("fit_s", lambda s: s["classes"] >= MANY and s["rows"] > BIG)
    yield from _largest(f"fit time / {BASE}'s, k <= 7, above {BIG} rows", big_few, 2.0)
    yield from _largest(f"fit time / {BASE}'s, k >= {MANY}, above {BIG} rows", big_many, 1.0)
    yield from _largest(f"time to predict / {BASE}'s", ratios("predict_s", lambda _: True), 1.0)
    sizes = ratios("bytes", lambda s: s["classes"] >= MANY)
    yield from _largest(f"bytes / {BASE}'s, k >= {MANY}", sizes, 1.0)
    for set_name in NEAR:
        ours, base = table.together(set_name, (OURS, BASE))
        if ours:
            theirs = [record["error"] for record in base]
            limit = mean(theirs) + _spread(theirs)
            what = f"{set_name}: error; target: {BASE}'s, {mean(theirs):.2f} %, and one std"
            yield Check(what, mean_field("error")(ours), "%", limit)
    for set_name in digits.sets:
        ours, base = digits.together(set_name, (OURS, BASE))
        if ours:
            what = f"MNIST, pixels, 10 000 training rows: error; target: {BASE}'s"
            yield Check(what, mean_field("error")(ours), "%", mean_field("error")(base))


def _target_section(table: Table, digits: Table) -> str:
    peers = [m for m in table.models if m not in (OURS, SVM)]
    checks = [asdict(c) for c in (*_error_checks(table, peers), *_other_checks(table, digits))]
    if not checks:
        return ""
    missed = [check["what"] for check in checks if not met(check)]
    verdict = "All targets are met."
    if missed:
        verdict = "Not met:\n\n" + "\n".join(f"- {what}" for what in missed)
    return TARGETS.format(rows="\n".join(map(check_row, checks)), verdict=verdict)


def _with_default(table: Table, variants: list[str]) -> Table:
    """Return the variants and the default on the same sets, the default under our name."""
    both = Table(table.records, variants, table.sets, variants=True)
    if both.models:
        both.models = [OURS, *both.models]
        for set_name in both.sets:
            both.cells[set_name, OURS] = table.runs(set_name, OURS)
    return both


def _ablation_section(table: Table, variants: list[str], out: Path) -> str:
    both = _with_default(table, variants)
    if not both.models:
        return ""
    rows, ratios = [], {}
    n_splits = max(len(both.runs(s, m)) for s in both.sets for m in both.models[1:])
    for model in both.models:
        cells = []
        for set_name in both.sets:
            runs = [r for split, r in both.runs(set_name, model).items() if split < n_splits]
            few = "" if len(runs) == n_splits else f" [{len(runs)}]"
            cells.append(f"{mean_field('error')(runs):.2f}{few}" if runs else "-")
        found = both.ratios(model, OURS, error_of)
        times = both.ratios(model, OURS, field("fit_s"))
        if found and model != OURS:
            ratios[model] = list(found.values())
        name = "the default" if model == OURS else model
        means = [f"{geometric_mean(part.values()):.2f}" if part else "-" for part in (found, times)]
        rows.append([name, *cells, *means])
    picture = out.with_suffix("") / "variants.svg"
    draw_ratios(ratios, picture)
    return ABLATION.format(
        splits=_count(n_splits, "split"),
        table=_markdown(["", *both.sets, "error / default's", "fit / default's"], rows),
        picture=picture.relative_to(out.parent).as_posix(),
    )


def _notes(table: Table, models: list[str], n_sets: int) -> str:
    """Return what is missing, failed or mixed."""
    notes = []
    by_count: dict[int, list[str]] = {}
    for model in models:
        have = sum(bool(table.runs(s, model)) for s in table.sets)
        by_count.setdefault(have, []).append(model)
    for have, names in by_count.items():
        if not have:
            notes.append(f"Left out, as not installed or not measured yet: {', '.join(names)}.")
        elif have < n_sets:
            notes.append(f"On {have} of the {n_sets} sets so far: {', '.join(names)}.")
    marks = set(table.records["settings"].values())
    shown = {key: r for key, r in table.records.items() if key.rsplit("/", 1)[-1] in marks}
    failed = [key for key, record in shown.items() if "failed" in record]
    if failed:
        notes.append(f"Failed: {', '.join(failed)}.")
    codes = {record["code"] for record in shown.values() if "code" in record}
    if len(codes) > 1:
        notes.append(f"Cells of ours come from {len(codes)} states of the source.")
    return "".join(f"\n- {note}" for note in notes) + "\n" if notes else ""


def write_page(
    records: dict[str, Any], models: list[str], variants: list[str], sets: list[str], out: Path
) -> None:
    """Write the page and its picture."""
    table, digits = Table(records, models, sets), Table(records, models, [MNIST])
    setting = records["environment"]
    versions = {k: v for k, v in setting.items() if k not in ("cores", "python")}
    intro = INTRO.format(
        ours=OURS,
        splits=_count(_most_splits(table), "seed"),
        cores=setting["cores"],
        python=setting["python"],
        packages=", ".join(f"{name} {number}" for name, number in versions.items()),
        notes=_notes(table, models, len(sets)),
    )
    sections = [intro]
    if table.models:
        sections += [_errors_section(table), _losses_section(table), _times_section(table, digits)]
    sections += [_target_section(table, digits), _ablation_section(table, variants, out)]
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("\n".join(section for section in sections if section))
