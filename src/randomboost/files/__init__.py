"""Model files: ``.rboost``, arrays and JSON only, safe to read, the same bits everywhere.

The format is described in docs/file-format.md; `container` has the bytes and their checks,
`packing` what stands in them, `json_values` labels and parameters; ensembles pack themselves.
"""

from __future__ import annotations

import json
import os
from typing import Any

from ..runtime.checked_arrays import ModelFileError
from . import container, packing
from .json_values import NotSaved, decode, decode_labels

__all__ = ["ModelFileError", "NotSaved", "describe", "load", "save"]


def save(
    model: Any,
    path: str | os.PathLike[str],
    *,
    dense: bool = False,
    notes: dict[str, Any] | None = None,
) -> None:
    """Write a fitted model to a file.

    Parameters
    ----------
    model : estimator or Pipeline
        A fitted classifier of randomboost, or a pipeline of a `TablePreparation` and one.
    path : path
        The file; one that is there is replaced, as a whole or not at all.
    dense : bool, default=False
        Store also what can be made from the seed, and the weights after every round of totally
        corrective models.
    notes : dict or None, default=None
        Anything JSON can hold, for `describe`.

    Raises
    ------
    ModelFileError
        If the model cannot be saved, for example because of weak classifiers of the user's own.
    """
    header, arrays = packing.pack(model, dense=dense)
    try:
        header["notes"] = json.loads(json.dumps({} if notes is None else notes, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise ModelFileError(f"notes cannot be saved: {error}; use what JSON can hold") from error
    container.write(path, header, arrays)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model from a file.

    No code from the file is run, and nothing is allocated that its length does not cover.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    estimator or Pipeline
        The fitted model; its scores are those of the model that was saved, bit for bit.
        Parameters that were objects are `NotSaved`; predictions do not need them.

    Raises
    ------
    ModelFileError
        If the file is damaged, of another kind, or from a later version.
    """
    return packing.unpack(*container.read(path))


def describe(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the description of a model file, without building the model.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    dict
        "class", "randomboost" (the version that wrote it), "parameters", "classes", "n_features",
        "feature_names", "categories" (the columns that have them), "n_rounds", "stopped",
        "importances", "history", "bytes", "dense", "prepared", "notes".
    """
    header, arrays = container.read(path)
    names = header.get("feature_names")
    preparation = header.get("preparation") or {}
    categories = header.get("categories") or preparation.get("categories") or []
    try:
        return {
            "class": str(header["class"]),
            "randomboost": str(header["randomboost"]),
            "parameters": {key: decode(value) for key, value in header["parameters"].items()},
            "classes": decode_labels(header["classes"]).tolist(),
            "n_features": int(preparation.get("n_columns", header["n_features"])),
            "feature_names": None if names is None else decode_labels(names).tolist(),
            "categories": [decode(entry[0]) for entry in categories],
            "n_rounds": int(header["n_rounds"]),
            "stopped": str(header["stopped"]),
            "importances": arrays["importances"].tolist(),
            "history": {
                name.removeprefix("history."): values.tolist()
                for name, values in arrays.items()
                if name.startswith("history.")
            },
            "bytes": os.path.getsize(path),
            "dense": any(name.startswith(("dense.", "path.")) for name in arrays),
            "prepared": "preparation" in header,
            "notes": header.get("notes", {}),
        }
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelFileError("the model file is damaged: its header is incomplete") from error
