"""Writes docs/results/README.md and the tables beside it from the committed runs.

``python docs/results_page.py`` reads docs/results/*/runs.csv and writes table.md and times.md into
every folder, the figures that are made of runs, and README.md and proj-vowel.md from their
templates (``.jinja``). All figures of these pages are computed here; a test compares the files.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import mean, median

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from randomboost.paper import figures, results_page, runs, signed_ranks, tables
from randomboost.paper.experiments import EXPERIMENTS, Experiment

RESULTS = Path(__file__).parent / "results"
PAGES = ("README.md", "proj-vowel.md")
_SHORT = {"figure-curves": "table-multiclass"}  # whose runs a figure is made of


class Results:
    """The committed runs, with what the templates ask of them.

    Parameters
    ----------
    folder : Path
        Folder with a runs.csv for every experiment.
    """

    def __init__(self, folder: Path = RESULTS) -> None:
        self.folder = folder
        self._rows: dict[str, list[runs.Row]] = {}
        self._tables: dict[str, tables.Table] = {}

    def rows(self, name: str) -> list[runs.Row]:
        """Return the runs of an experiment."""
        if name not in self._rows:
            self._rows[name] = runs.read(self.folder / _SHORT.get(name, name) / "runs.csv")
        return self._rows[name]

    def table(self, name: str) -> tables.Table:
        """Return the table of an experiment."""
        if name not in self._tables:
            self._tables[name] = tables.table(EXPERIMENTS[name], self.rows(name))
        return self._tables[name]

    def entry(self, name: str, data: str, key: str) -> tables.Entry:
        """Return one entry of a table."""
        return self.table(name).entries[data, key]

    def error(self, name: str, data: str, key: str) -> str:
        """Return a mean, as printed."""
        return f"{self.entry(name, data, key).mean:.1f}"

    def errors(self, name: str, data: str, *keys: str) -> str:
        """Return the means of several columns of a set, as printed."""
        return ", ".join(self.error(name, data, key) for key in keys)

    def deviations(self, name: str, data: str, *keys: str) -> str:
        """Return the standard deviations of several columns of a set, as printed."""
        return ", ".join(f"{self.entry(name, data, key).spread:.1f}" for key in keys)

    def stages(self, name: str, data: str, key: str) -> str:
        """Return the mean errors after 50, 100 and 1000 rounds, as printed."""
        found = runs.by_set_and_method(self.rows(name))[data, key]
        means = [mean(runs.error_at(row, t) for row in found) for t in (50, 100, 1000)]
        return ", ".join(f"{error:.1f}" for error in means)

    def times(self, name: str) -> str:
        """Return the CPU seconds of the optimisation steps as Markdown."""
        return next(iter(tables.times(EXPERIMENTS[name], self.rows(name)).values())).rstrip()

    def markdown(self, name: str, *keys: str, sets: Iterable[str] = ()) -> str:
        """Return a table, or some of its columns and rows, as Markdown."""
        part = self._part(name, keys, sets)
        columns = [pair for pair in part.columns if any(pair[0] == key for _, key in part.entries)]
        return tables.markdown(tables.Table(part.sets, columns, part.entries)).rstrip()

    def _part(self, name: str, keys: Iterable[str], sets: Iterable[str]) -> tables.Table:
        """Return some columns and rows of a table, all of them if none are named."""
        table = self.table(name)
        columns = [pair for pair in table.columns if not keys or pair[0] in keys]
        entries = {
            (data, key): entry
            for (data, key), entry in table.entries.items()
            if (not sets or data in sets) and key in dict(columns)
        }
        chosen = [each for each in table.sets if any(each == data for data, _ in entries)]
        return tables.Table(chosen, columns, entries)

    def count(self, name: str, key: str, which: str = "within") -> str:
        """Return on how many sets an entry is within the paper's, as "9 of 11"."""
        hits, total = self.table(name).counts(which)[key]
        return f"{hits} of {total}"

    def wins(self, name: str, first: str, second: str) -> int:
        """Return on how many sets the first method has the lower printed error."""
        return self._test(name, first, second, "ours").wins

    def test(self, name: str, first: str, second: str, whose: str = "ours") -> str:
        """Return rank sum and p-value of Wilcoxon's test, in either order of the methods."""
        found = self._test(name, first, second, whose)
        return f"rank sum {found.statistic:g}, p = {found.p:.2f}"

    def _test(self, name: str, first: str, second: str, whose: str) -> signed_ranks.SignedRank:
        table = self.table(name)
        columns = [pair for key in (first, second) for pair in table.columns if pair[0] == key]
        found = signed_ranks.signed_ranks(tables.Table(table.sets, columns, table.entries))
        return next(each for each in found if each.whose == whose)

    def _on_same(self, name: str, *keys: str) -> dict[str, list[float]]:
        """Return the mean errors of some methods over the repeats that all of them have, by set."""
        found = runs.by_set_and_method(self.rows(name))
        means = {}
        for data in EXPERIMENTS[name].sets:
            stages = [key.partition("@") for key in keys]
            rows = [found.get((data, method), []) for method, _, _ in stages]
            common = set.intersection(*({row["repeat"] for row in each} for each in rows))
            if common:
                means[data] = [
                    mean(
                        runs.error_at(row, int(t) if t else None)
                        for row in each
                        if row["repeat"] in common
                    )
                    for each, (_, _, t) in zip(rows, stages, strict=True)
                ]
        return means

    def same_sets(self, name: str, *keys: str) -> int:
        """Return the number of sets on which all of some methods have a repeat in common."""
        return len(self._on_same(name, *keys))

    def wins_on_same(self, name: str, first: str, second: str) -> int:
        """Return on how many of these the first has the lower printed error, on these repeats."""
        both = self._on_same(name, first, second).values()
        return sum(round(one, tables.DIGITS) < round(other, tables.DIGITS) for one, other in both)

    def on_same(self, name: str, data: str, *keys: str) -> str:
        """Return the mean errors of some methods on a set, over the repeats that all have."""
        return " against ".join(f"{error:.1f}" for error in self._on_same(name, *keys)[data])

    def outside(self, name: str, why: dict[str, str]) -> str:
        """Return the entries that are not within the paper's, and why that may be.

        Reasons are looked up by "set method", by "method" for errors above the paper's, by "set".
        """
        table = self.table(name)
        titles = ["set", "method", "ours", "paper", "difference", "best explanation"]
        lines = []
        for data in table.sets:
            for key, title in table.columns:
                entry = table.entries.get((data, key))
                if entry is None or entry.paper is None or entry.within:
                    continue
                method = key.split("@")[0]
                known = [f"{data} {method}", *([] if entry.reached else [method]), data]
                unknown = "not known; ours is lower" if entry.reached else "not known"
                reason = next((why[each] for each in known if each in why), unknown)
                ours = f"{entry.mean:.1f}"
                ours += f" ± {entry.half_width:.1f}" if entry.count > 1 else " (one repeat)"
                paper = f"{entry.paper[0]:.1f} ({entry.paper[1]:.1f})"
                lines.append([data, title, ours, paper, f"{entry.difference:+.1f}", reason])
        return tables.markdown_table(titles, lines).rstrip()

    def settings(self, name: str, sets: Sequence[str] = ()) -> str:
        """Describe repeats and grids, of all sets or of some, and name the sets without runs."""
        table = self._part(name, (), sets)
        rows = [row for row in self.rows(name) if row["set"] in table.sets]
        text = f"{tables.repeats_note(table)} {tables.grids_note(rows)}".strip()
        without = [each for each in sets or EXPERIMENTS[name].sets if each not in table.sets]
        return f"{text} No runs on {', '.join(without)}." if without else text

    def rounds(self, name: str, key: str, tol: float | None = None) -> str:
        """Return median and range over the sets of the mean number of rounds of a fit.

        With `tol`, of the round after which the objective first changed by less.
        """
        found = self._mean_rounds(name, key, tol)
        return f"{median(found):.0f} ({min(found):.0f} to {max(found):.0f})"

    def _mean_rounds(self, name: str, key: str, tol: float | None) -> list[float]:
        grouped = runs.by_set_and_method(self.rows(name))
        return [
            mean(row["rounds"] if tol is None else runs.stops(row)[tol] for row in rows)
            for (_, method), rows in grouped.items()
            if method == key
        ]

    def ended_by_one_round(self, name: str, key: str) -> str:
        """Return how many of the fits that ended early did so by a single small change.

        These are the ones whose last change, below 1e-6, was also the first one below 1e-4.
        """
        stopped = [
            runs.stops(row)
            for row in self.rows(name)
            if row["method"] == key and row["stopped"] != "all rounds done"
        ]
        return f"{sum(found[1e-6] == found[1e-4] for found in stopped)} of {len(stopped)}"

    def better_when_stopped(self, name: str, key: str, tol: float) -> str:
        """Return on how many sets a fit ended by `tol` has a lower mean error than at its end."""
        shown = sorted(int(each[6:]) for each in self.rows(name)[0] if each.startswith("wrong@"))
        grouped = runs.by_set_and_method(self.rows(name))
        found = []
        for (_, method), rows in grouped.items():
            if method == key:
                ends = [max(t for t in shown if t <= runs.stops(row)[tol]) for row in rows]
                early = [runs.error_at(row, t) for row, t in zip(rows, ends, strict=True)]
                found.append(mean(early) < mean(runs.error_at(row) for row in rows))
        return f"{sum(found)} of {len(found)}"

    def stopped(self, name: str, key: str, tols: Iterable[float]) -> str:
        """Return a table of the errors of a method had it stopped at other tolerances."""
        tols = list(tols)
        grouped = runs.by_set_and_method(self.rows(name))
        shown = sorted(int(each[6:]) for each in self.rows(name)[0] if each.startswith("wrong@"))
        lines = []
        for data in EXPERIMENTS[name].sets:
            if (data, key) not in grouped:
                continue
            texts = []
            for tol in tols:
                ends = [runs.stops(row)[tol] for row in grouped[data, key]]
                errors = [
                    runs.error_at(row, max(t for t in shown if t <= end))
                    for row, end in zip(grouped[data, key], ends, strict=True)
                ]
                texts.append(f"{mean(errors):.1f} after {mean(ends):.0f}")
            lines.append([data, *texts])
        return tables.markdown_table(["set", *(f"{tol:g}" for tol in tols)], lines).rstrip()

    def earlier(self) -> str:
        """Return the runs without errors by round as a list, one line per experiment."""
        lines = []
        for path in sorted(self.folder.glob("*/runs.csv")):
            found: dict[str, list[str]] = {}
            for row in self.rows(path.parent.name):
                sets = found.setdefault(row["method"], [])
                if row.get("wrong@1") is None and row["set"] not in sets:
                    sets.append(row["set"])
            parts = [f"{method} on {', '.join(sets)}" for method, sets in found.items() if sets]
            if parts:
                whole = EXPERIMENTS[path.parent.name].measure in ("boundary", "time")
                lines.append(f"- {path.parent.name}: {'all' if whole else '; '.join(parts)}")
        return "\n".join(lines)

    def exponent(self, method: str, letter: str) -> str:
        """Return a fitted exponent of the training time."""
        return f"{tables.exponents(self.rows('table-complexity'))[method, letter][0]:.2f}"


def vowel_table(folder: Path = RESULTS) -> str:
    """Return the table of proj-vowel.md from proj-vowel.csv."""
    with (folder / "proj-vowel.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    titles = ["reading", "test error, %", "training error, %", "rounds", "CPU s a fit"]
    lines = []
    for row in rows:
        spread = f" ({row['deviation']})" if row["deviation"] else ""
        texts = row["reading"], row["error"] + spread, row["train_error"], row["rounds"], row["cpu"]
        lines.append(texts)
    return tables.markdown_table(titles, lines).rstrip()


def command(experiment: Experiment) -> str:
    """Return the command that makes the runs of an experiment."""
    return f"randomboost paper run {experiment.name}"


def texts(folder: Path = RESULTS) -> dict[Path, str]:
    """Return all texts that are made of runs, by file."""
    results = Results(folder)
    made = {}
    for path in sorted(folder.glob("*/runs.csv")):
        experiment = EXPERIMENTS[path.parent.name]
        rows = results.rows(experiment.name)
        made[path.parent / "table.md"] = results_page.markdown_of(
            experiment, rows, command(experiment)
        )
        times = results_page.times_of(experiment, rows)
        if times:
            made[path.parent / "times.md"] = times
    environment = Environment(
        loader=FileSystemLoader(folder), undefined=StrictUndefined, keep_trailing_newline=True
    )
    for name in PAGES:
        template = environment.get_template(f"{name}.jinja")
        made[folder / name] = template.render(
            r=results, vowel_table=lambda: vowel_table(folder), EXPERIMENTS=EXPERIMENTS
        )
    return made


def main() -> None:
    """Write all files."""
    for path, text in texts().items():
        path.write_text(text, encoding="utf-8")
    results = Results()
    for name in ("figure-curves", "figure-digits"):
        drawn = figures.draw_rows(EXPERIMENTS[name], results.rows(name))
        for title, figure in drawn.items():
            (RESULTS / name / f"{title}.svg").write_text(figures.svg(figure), encoding="utf-8")


if __name__ == "__main__":
    main()
