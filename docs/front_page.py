"""The three figures of the front page, from the measurements of many classes."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median
from typing import Any

_SET, _OURS, _PEER = "geo-timezone", "RandomBoost", "XGBoost"


def _runs(records: dict[str, Any], model: str) -> list[dict[str, Any]]:
    """Return the runs of a model on all splits of the set."""
    start = f"{_SET}/{model}/"
    return [run for key, run in records.items() if key.startswith(start) and "error" in run]


def figures(measurements: Path) -> dict[str, str]:
    """Return the words that the front page takes from the measurements.

    Parameters
    ----------
    measurements : Path
        ``many-classes/measurements.json``.

    Returns
    -------
    dict of str to str
        Medians over the splits, by the names in ``index.md``.
    """
    records = json.loads(measurements.read_text())
    shape = _runs(records, _OURS)[0]["shape"]
    found = {
        "front_peer": _PEER,
        "front_classes": str(shape["classes"]),
        "front_rows": f"{shape['rows']:,}".replace(",", " "),
        "front_cores": str(records["environment"]["cores"]),
    }
    for model, end in ((_OURS, ""), (_PEER, "_peer")):
        runs = _runs(records, model)
        found[f"front_error{end}"] = f"{median(run['error'] for run in runs):.1f}"
        found[f"front_fit{end}"] = f"{median(run['fit_s'] for run in runs):.1f}"
        found[f"front_size{end}"] = f"{median(run['bytes'] for run in runs) / 1e6:.1f}"
    return found
