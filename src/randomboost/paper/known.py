"""Runs that were made elsewhere: a run goes on from the rows of their runs.csv."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from .cells import Cell
from .experiments import EXPERIMENTS
from .runs import Row, read, text_of
from .store import write_text


class KnownRuns:
    """The rows of a runs.csv, which count as finished cells.

    Parameters
    ----------
    path : Path or None
        The file, which need not exist yet; None for no rows.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._rows = read(path) if path is not None and path.exists() else []

    def row(self, cell: Cell) -> Row | None:
        """Return the row of a cell, or None.

        A row with nu by the paper's grid is one of a cell with the coarse grid as well. Runs
        without the errors by round that a cell keeps do not count, nor do boundaries, whose grids
        of predictions are in no row.

        Parameters
        ----------
        cell : Cell
            A reported cell.

        Returns
        -------
        dict or None
            The row.
        """
        if cell.measure == "boundary":
            return None
        for row in self._rows:
            if (
                row["repeat"] == cell.repeat
                and row["grid"] in (cell.grid, "paper" if cell.grid else "")
                and _same_settings(row, cell)
                and not (cell.curve and row.get("wrong@1") is None and cell.measure != "time")
            ):
                return row
        return None

    def nu(self, cells: Iterable[Cell]) -> float | None:
        """Return the nu of the first row that had the same trials as one of some cells.

        Parameters
        ----------
        cells : iterable of Cell
            Cells that share their trials. Those with the coarse grid do so with all repeats.

        Returns
        -------
        float or None
            The tuned nu; None if no row has it.
        """
        for cell in cells:
            for row in self._rows:
                shared = cell.grid == "coarse" or row["repeat"] == cell.repeat
                if shared and row["grid"] == cell.grid and _same_settings(row, cell):
                    return row["nu"]
        return None

    def add(self, rows: Sequence[Row]) -> list[Path]:
        """Write new rows into the file, in the order of the experiment.

        They replace the rows of the same repeats, and those of the same set and method with other
        settings, which cannot be compared with them.

        Parameters
        ----------
        rows : sequence of dict
            The rows.

        Returns
        -------
        list of Path
            The file, if there is one and something is new.
        """
        if self._path is None or not rows:
            return []
        repeats = {(row["set"], row["method"], row["repeat"]) for row in rows}
        settings = {(row["set"], row["method"]): _settings(row) for row in rows}
        kept = [
            row
            for row in self._rows
            if (row["set"], row["method"], row["repeat"]) not in repeats
            and settings.get((row["set"], row["method"]), _settings(row)) == _settings(row)
        ]
        self._rows = sorted([*kept, *rows], key=_place)
        write_text(self._path, text_of(self._rows))
        return [self._path]


def _settings(row: Row) -> tuple:
    return row["estimator"], json.loads(row["parameters"])


def _same_settings(row: Row, cell: Cell) -> bool:
    """Whether a row is of the set, method and parameters of a cell, rounds included."""
    parameters = {"n_estimators": cell.rounds, **cell.parameters}
    return (row["set"], row["method"]) == (cell.set, cell.method) and _settings(row) == (
        cell.estimator,
        parameters,
    )


def _place(row: Row) -> tuple[int, int, int]:
    """Return where a row stands: by set and method as in the table, then by repeat."""
    experiment = EXPERIMENTS[row["experiment"]]
    places = [
        names.index(name) if name in names else len(names)
        for name, names in (
            (row["set"], list(experiment.sets)),
            (row["method"], [method.key for method in experiment.methods]),
        )
    ]
    return places[0], places[1], row["repeat"]
