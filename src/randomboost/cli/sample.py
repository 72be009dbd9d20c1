"""``randomboost sample``: a small table to try the other commands on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..runtime.writing import whole_file
from .console import Terminal
from .outputs import check_writable

_SEED = 0
_ROWS_PER_SPECIES = 200
_NEW_ROWS = 100  # at the end, written without their species
_MISSING = 0.04  # share of the cells of a column without a value
_SITES = ("meadow", "roadside", "shore", "wood")
_SITE_CHANCES = {  # of every species, in the order of the sites
    "setosa": (0.55, 0.25, 0.05, 0.15),
    "versicolor": (0.2, 0.3, 0.3, 0.2),
    "virginica": (0.1, 0.1, 0.6, 0.2),
}
_COLUMNS = ("sepal length", "sepal width", "petal length", "petal width")


def flowers() -> Any:
    """Return flowers drawn after Fisher's irises, with text and missing values; always the same.

    Returns
    -------
    DataFrame
        600 rows: ``site``, four measures in cm, ``species``.
    """
    import pandas as pd
    from sklearn.datasets import load_iris

    iris = load_iris()
    rng = np.random.default_rng(_SEED)
    parts = []
    for number, name in enumerate(iris.target_names):
        known = iris.data[iris.target == number]
        drawn = rng.multivariate_normal(known.mean(axis=0), np.cov(known.T), _ROWS_PER_SPECIES)
        part = pd.DataFrame(np.maximum(drawn, 0.1).round(1), columns=list(_COLUMNS))
        part.insert(0, "site", rng.choice(_SITES, _ROWS_PER_SPECIES, p=_SITE_CHANCES[str(name)]))
        parts.append(part.assign(species=str(name)))
    table = pd.concat(parts).iloc[rng.permutation(len(parts) * _ROWS_PER_SPECIES)]
    table = table.reset_index(drop=True)
    for name in ("site", *_COLUMNS):
        table[name] = table[name].mask(rng.random(len(table)) < _MISSING)
    return table


def write_sample(terminal: Terminal, out: str, *, force: bool) -> None:
    """Write the table to a CSV file, and its last rows without the species to another one.

    Parameters
    ----------
    terminal : Terminal
        Where to print.
    out : str
        The file.
    force : bool
        Whether existing files are replaced.
    """
    path = Path(out)
    if path.suffix != ".csv":
        raise ValueError(f"{out} has to end in .csv: the sample is a CSV file")
    new = path.with_name(f"{path.stem}-new.csv")
    existing = [str(found) for found in (path, new) if found.exists()]
    if existing and not force:
        raise ValueError(f"{existing[0]} exists already: --force replaces it")
    check_writable(path)
    table = flowers()
    known, unknown = table.iloc[:-_NEW_ROWS], table.iloc[-_NEW_ROWS:].drop(columns="species")
    for target, rows in ((path, known), (new, unknown)):
        with whole_file(target) as draft:
            rows.to_csv(draft, index=False)
    terminal.result(
        {"file": str(path), "rows": len(known), "target": "species", "new": str(new)},
        f"{path}: {len(known)} flowers, three species\n"
        f"{new}: {len(unknown)} more, without the species\n"
        f"next: randomboost train {path} --target species --out {path.stem}.rboost",
    )
