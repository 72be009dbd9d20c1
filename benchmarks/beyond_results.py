"""The measurements of the page on defaults: a CSV file to which rows are added, never changed."""

from __future__ import annotations

import csv
from dataclasses import asdict, dataclass, fields
from pathlib import Path

OK, FAILED, EXCEEDED = "ok", "failed", "time limit"


@dataclass(frozen=True)
class Row:
    """One model on one split of a set.

    Parameters
    ----------
    set, model : str
        Their names.
    split : int
        Seed of the split and of the model.
    status : str
        "ok"; or "failed" or "time limit", and what came with it.
    error : float
        Test error in percent.
    log_loss : float
        Mean log loss of the test part.
    fit_s, predict_s : float
        Seconds of the fit and of the labels of the test part.
    busy : int
        1 if the machine may have had other work, so that times are not valid.
    versions : str
        Packages of the model.
    commit : str
        The commit of our source, for our models.
    """

    set: str
    split: int
    model: str
    status: str
    error: float = float("nan")
    log_loss: float = float("nan")
    fit_s: float = float("nan")
    predict_s: float = float("nan")
    busy: int = 1
    versions: str = ""
    commit: str = ""

    @property
    def key(self) -> tuple[str, int, str]:
        """Return what the row is a measurement of."""
        return self.set, self.split, self.model

    @property
    def good(self) -> bool:
        """Return whether there are figures."""
        return self.status == OK


NAMES = [field.name for field in fields(Row)]
_TYPES = {"int": int, "float": float, "str": str}
_READ = {field.name: _TYPES[str(field.type)] for field in fields(Row)}


def read(path: Path) -> list[Row]:
    """Return all rows of a file in their order, none if it does not exist."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return [
            Row(**{name: _READ[name](text) for name, text in line.items()})
            for line in csv.DictReader(file)
        ]


def append(path: Path, row: Row) -> None:
    """Add a row to a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = not path.exists()
    values = {
        name: f"{value:.6g}" if isinstance(value, float) else value
        for name, value in asdict(row).items()
    }
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, NAMES, lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerow(values)


def latest(rows: list[Row], quiet: bool = False) -> dict[tuple[str, int, str], Row]:
    """Return the last row of each measurement; of a quiet machine only, if that is wanted."""
    return {row.key: row for row in rows if not (quiet and row.busy)}
