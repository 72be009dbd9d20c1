"""Fits to training data in files, with Dask's workers in this process."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from .. import FitInterruptedWarning
from ..compare.scores import Scores, score_parts
from ..runtime.parallel import resolve_threads
from .console import Terminal
from .fitting import Checkpoint, Rounds
from .large_data import FeatureFiles, LargeTable

_ROWS_SCORED = 2_000_000  # probabilities in memory at a time


def need_dask() -> None:
    """Raise an error that names the remedy where Dask is not installed."""
    try:
        import dask.dataframe  # noqa: F401
        import distributed  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "training out of core needs Dask: pip install 'randomboost[dask]', or train in memory "
            "with --in-memory"
        ) from error


@contextmanager
def _client(n_threads: int) -> Iterator[Any]:
    """Start a scheduler and a worker in this process."""
    from distributed import Client

    logger = logging.getLogger("distributed")
    before = logger.level
    logger.setLevel(logging.CRITICAL)  # it would write to the terminal
    try:
        with Client(
            processes=False,
            n_workers=1,
            threads_per_worker=n_threads,
            dashboard_address=None,
            memory_limit=0,
            set_as_default=False,
        ) as client:
            yield client
    finally:
        logger.setLevel(before)


def _labels(files: FeatureFiles, classes: Any, part: int) -> Any:
    return classes[files.codes(part)]


def _collections(files: FeatureFiles, classes: Any) -> tuple[Any, Any]:
    """Return features and labels as Dask collections."""
    import dask
    import dask.array as da
    import dask.dataframe as dd

    parts = range(len(files.sizes))
    X = dd.from_map(files.features, parts, meta=files.features(0).iloc[:0])
    read = dask.delayed(partial(_labels, files, classes), pure=True)
    y = [
        da.from_delayed(read(part), (size,), dtype=classes.dtype)
        for part, size in zip(parts, files.sizes, strict=True)
    ]
    return X, da.concatenate(y)


def fit_large(
    model: Any,
    data: LargeTable,
    folder: str,
    terminal: Terminal,
    checkpoint: Checkpoint,
    *,
    resume: bool,
) -> Any:
    """Fit a `RandomBoostClassifier` to training data in files.

    Parameters
    ----------
    model : RandomBoostClassifier
        The classifier.
    data : LargeTable
        The data.
    folder : str
        Folder for files of the fit.
    terminal : Terminal
        Where to print messages.
    checkpoint : Checkpoint
        Where to save the rounds fitted so far.
    resume : bool
        Continue from the checkpoint, if there is one.

    Returns
    -------
    RandomBoostClassifier
        The fitted model; after Ctrl-C with the rounds fitted so far.
    """
    from ..dask import DaskRandomBoostClassifier

    settings, n_done = model.get_params(), 0
    with _client(resolve_threads(model.n_jobs)) as client:
        large = DaskRandomBoostClassifier(**settings, client=client, out_of_core=folder)
        if resume and checkpoint.path.exists():
            so_far = checkpoint.read()
            n_done = so_far.n_estimators_
            large.set_params(warm_start=True).take_over(so_far)
            terminal.message(f"continuing after round {n_done}, from {checkpoint.path}")
        rounds = Rounds(terminal, n_done, model.n_estimators, checkpoint, None)
        X, y = _collections(data.train, data.classes)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FitInterruptedWarning)  # reported by the caller
            large.fit(X, y, on_round=lambda so_far: rounds(lambda: so_far().to_local()))
        return large.to_local().set_params(warm_start=False, verbose=0)


def score_large(model: Any, data: LargeTable) -> Scores | None:
    """Return the scores of a model on the rows that are held out.

    Parameters
    ----------
    model : RandomBoostClassifier
        The model.
    data : LargeTable
        The data.

    Returns
    -------
    Scores or None
        The scores; None if no rows are held out.
    """
    if not data.test.sizes:
        return None
    rows = max(1, _ROWS_SCORED // len(model.classes_))

    def parts() -> Iterator[tuple[list[str], list[str], Any]]:
        for part in range(len(data.test.sizes)):
            X, truth = data.test.features(part), _labels(data.test, data.classes, part)
            for first in range(0, len(X), rows):
                some = X.iloc[first : first + rows]
                labels = [str(label) for label in model.predict(some)]
                known = [str(label) for label in truth[first : first + rows]]
                yield known, labels, model.predict_proba(some)

    return score_parts(parts(), model.classes_)
