"""Storage of finished cells, one small file each, written atomically."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..runtime.writing import whole_file


def write_text(path: Path, text: str) -> None:
    """Write a file atomically.

    Parameters
    ----------
    path : Path
        The file; its folder is created.
    text : str
        Its contents.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as draft:
        draft.write_text(text, encoding="utf-8")


class Store:
    """A folder of finished cells.

    Parameters
    ----------
    folder : Path
        The folder; it is created when the first cell is saved.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def load(self, name: str, description: dict[str, Any]) -> dict[str, Any] | None:
        """Return the result of a cell, or None if there is none with that description.

        Parameters
        ----------
        name : str
            Name of the cell.
        description : dict
            Everything the result depends on.

        Returns
        -------
        dict or None
            The result.
        """
        try:
            saved = json.loads((self._folder / f"{name}.json").read_text(encoding="utf-8"))
            return saved["result"] if saved["cell"] == description else None
        except (FileNotFoundError, json.JSONDecodeError, KeyError, TypeError):
            return None

    def save(self, name: str, description: dict[str, Any], result: dict[str, Any]) -> None:
        """Save the result of a cell.

        Parameters
        ----------
        name : str
            Name of the cell.
        description : dict
            Everything the result depends on.
        result : dict
            The measurements.
        """
        saved = {"cell": description, "result": result}
        write_text(self._folder / f"{name}.json", json.dumps(saved) + "\n")
