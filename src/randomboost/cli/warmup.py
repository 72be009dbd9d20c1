"""``randomboost warmup``: compiles the kernels of models, once for a machine."""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .. import files
from ..runtime.compiling import cache_folder
from ..runtime.units import format_seconds
from .console import Terminal
from .fitting import fit
from .models import make_model

_ROUNDS = 3
_MORE_CLASSES = 10  # whose trees have twice as many lanes as those of few


def warm_up(terminal: Terminal, names: Sequence[str]) -> None:
    """Fit small models and predict with them, so that their kernels are compiled and cached.

    Parameters
    ----------
    terminal : Terminal
        Where to print.
    names : sequence of str
        Names of the models.
    """
    models = [(name, make_model(name, [f"n_estimators={_ROUNDS}"])) for name in names]
    seconds = {}
    for name, model in models:
        began = time.perf_counter()
        for X, y in _tables(two_classes=name == "adaboost"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # three rounds are too few
                fitted = fit(
                    model.set_params(random_state=0), X, y, Terminal(quiet=True), resume=False
                )
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / "model.rboost"
                files.save(fitted, file)
                loaded = files.load(file)  # its arrays are of other types than those of a fit
            for rows in (X, X[:1]):  # a single row has kernels of its own
                loaded.predict(rows)
                loaded.predict_proba(rows)
        seconds[name] = time.perf_counter() - began
        terminal.message(f"{name}: ready after {format_seconds(seconds[name])}")
    folder = cache_folder()
    terminal.result({"cache": folder, "seconds": seconds}, f"the kernels are in {folder}")


def _tables(*, two_classes: bool) -> list[tuple[Any, Any]]:
    """Return tables with numbers only, and with categories and gaps; the last has more classes."""
    import pandas as pd

    rng = np.random.default_rng(0)
    n_rows = 240
    y = rng.integers(0, 2 if two_classes else 4, n_rows)
    more = rng.permutation(np.arange(n_rows) % (2 if two_classes else _MORE_CLASSES))
    numbers = pd.DataFrame(rng.normal(size=(n_rows, 3)) + y[:, None], columns=list("abc"))
    mixed = numbers.assign(d=pd.Categorical(rng.choice(["u", "v", "w"], n_rows)))
    mixed.loc[::7, "a"] = np.nan
    words = np.array(["one", "two", "three", "four"])
    return [(numbers, y), (mixed, words[y]), (numbers, more)]
