"""Pages about a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..reading import DataError, feature_table, label_words, read_table
from .console import in_bytes
from .fitting import classifier_of
from .saved import SavedModel


def write_evaluation(
    path: str,
    saved: SavedModel,
    data: str,
    target: str,
    *,
    format: str | None,
    header: bool,
) -> None:
    """Write a page about a model on a table with known classes, which is read into memory.

    Parameters
    ----------
    path : str
        The page.
    saved : SavedModel
        The model.
    data : str
        The file with the table.
    target : str
        Its target column.
    format, header
        As in `randomboost.reading.read_table`.
    """
    from ..report import write_training_report

    table = read_table(data, format=format, header=header)
    words = label_words(table.frame[target])
    labels: dict[str | None, Any] = {str(label): label for label in saved.classes}
    known = words.isin(set(labels)).to_numpy()
    if not known.any():
        raise DataError(f"{data} has no row with a class that the model knows")
    frame = table.frame[known].reset_index(drop=True)
    X: Any
    if saved.columns is None:
        X = frame.drop(columns=target).to_numpy(np.float64)
    else:
        X = feature_table(frame, saved.columns)
    facts = {
        "data": Path(data).name,
        "model": type(classifier_of(saved.model)).__name__,
        "rounds": classifier_of(saved.model).n_estimators_,
        "file": in_bytes(saved.description["bytes"]),
    }
    write_training_report(
        path,
        saved.model,
        X,
        np.array([labels[word] for word in words[known]]),
        title=f"{Path(data).name}: {target}",
        facts=facts,
    )
