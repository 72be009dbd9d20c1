"""The runs of an experiment as rows of runs.csv, from which all tables are computed."""

from __future__ import annotations

import csv
import io
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .cells import Cell
from .store import write_text

Results = Sequence[tuple[Cell, dict[str, Any]]]
Row = dict[str, Any]
_TEXTS = {"experiment", "set", "method", "estimator", "parameters", "grid", "stopped", "stops"}
_STAGES = (50, 100, 500, 1000)  # that the paper's tables show
_POINTS = 200  # of a curve


def shown_rounds(rounds: int) -> list[int]:
    """Return the rounds after which the errors of a run are kept, evenly spaced in logarithms.

    Parameters
    ----------
    rounds : int
        Largest number of rounds.

    Returns
    -------
    list of int
        Their numbers, with those of the paper's tables.
    """
    curve = np.geomspace(1, rounds, _POINTS).round().astype(int).tolist()
    return sorted({*curve, *(t for t in _STAGES if t <= rounds)})


def rows_of(results: Results) -> list[Row]:
    """Return one row per run.

    Parameters
    ----------
    results : sequence of (Cell, dict)
        Finished cells.

    Returns
    -------
    list of dict
        The rows. ``wrong@t`` is the number of wrong predictions on the test part after t rounds,
        or after the last one of a shorter fit.
    """
    curves = [cell.rounds for cell, result in results if len(result["wrong"]) > 1]
    shown = shown_rounds(max(curves)) if curves else []
    return [_row(cell, result, shown) for cell, result in results]


def _row(cell: Cell, result: dict[str, Any], shown: Sequence[int]) -> Row:
    wrong = result["wrong"]
    last = wrong[-1] if wrong else None
    stages: dict[str, Any] = {f"wrong@{t}": None for t in shown}
    if len(wrong) > 1 or result["rounds"] == 1:
        stages = {f"wrong@{t}": wrong[min(t, len(wrong)) - 1] for t in shown}
    return {
        "experiment": cell.experiment,
        "set": cell.set,
        "method": cell.method,
        "repeat": cell.repeat,
        "seed": cell.repeat,
        "estimator": cell.estimator,
        "parameters": json.dumps({"n_estimators": cell.rounds, **cell.parameters}),
        "grid": cell.grid,
        "nu": result.get("nu"),
        "rounds": result["rounds"],
        "stopped": result["stopped"],
        "stops": json.dumps(result["stops"]) if "stops" in result else "",
        "error": None if last is None else 100.0 * last / result["n_test"],
        "n_train": result.get("n_train"),
        "n_test": result["n_test"],
        "wrong": last,
        "train_wrong": result.get("train_wrong"),
        "fit_seconds": round(result["seconds"], 4),
        "fit_cpu_seconds": round(result["cpu"], 4),
        "correction_cpu_seconds": result.get("correction_cpu"),
        "predict_seconds": result.get("predict_seconds"),
        **{f"version_{name}": version for name, version in result["versions"].items()},
        **stages,
    }


def text_of(rows: Sequence[Row]) -> str:
    """Return rows as the text of runs.csv.

    Parameters
    ----------
    rows : sequence of dict
        The rows.

    Returns
    -------
    str
        The text.
    """
    file = io.StringIO()
    columns = list(dict.fromkeys(column for row in rows for column in row))
    writer = csv.DictWriter(file, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


def write(folder: Path, rows: Sequence[Row]) -> list[Path]:
    """Write runs.csv, and runs.parquet if pandas and pyarrow are installed.

    Parameters
    ----------
    folder : Path
        The folder.
    rows : sequence of dict
        The rows; nothing is written if there are none.

    Returns
    -------
    list of Path
        The files.
    """
    if not rows:
        return []
    write_text(folder / "runs.csv", text_of(rows))
    files = [folder / "runs.csv"]
    try:
        import pandas as pd

        pd.DataFrame(rows).to_parquet(folder / ".runs.parquet.part")
    except ImportError:
        return files
    (folder / ".runs.parquet.part").replace(folder / "runs.parquet")
    return [*files, folder / "runs.parquet"]


def read(path: Path) -> list[Row]:
    """Read a runs.csv.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    list of dict
        The rows, with numbers as numbers and None for empty fields.
    """
    with path.open(encoding="utf-8", newline="") as file:
        return [
            {key: _value(key, text) for key, text in row.items()} for row in csv.DictReader(file)
        ]


def _value(key: str, text: str) -> Any:
    if key in _TEXTS or key.startswith("version_"):
        return text
    if not text:
        return None
    return float(text) if "." in text or "e" in text else int(text)


def by_set_and_method(rows: Iterable[Row]) -> dict[tuple[str, str], list[Row]]:
    """Group rows.

    Parameters
    ----------
    rows : iterable of dict
        The rows.

    Returns
    -------
    dict of (str, str) to list of dict
        The rows of all repeats, by set and method.
    """
    found: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        found[row["set"], row["method"]].append(row)
    return dict(found)


def error_at(row: Row, rounds: int | None = None) -> float:
    """Return the test error in % after some rounds, or after the last one of a shorter fit.

    Parameters
    ----------
    row : dict
        A row.
    rounds : int or None, default=None
        Number of rounds, one of `shown_rounds`; None for all.

    Returns
    -------
    float
        The error.
    """
    wrong = row["wrong"] if rounds is None else row[f"wrong@{rounds}"]
    return 100.0 * wrong / row["n_test"]


def stops(row: Row) -> dict[float, int]:
    """Return after how many rounds the objective first changed by less than some tolerances.

    Parameters
    ----------
    row : dict
        A row of a method with a penalty nu.

    Returns
    -------
    dict of float to int
        Rounds by tolerance; empty where they were not noted.
    """
    return {float(tol): t for tol, t in json.loads(row["stops"] or "{}").items()}
