"""Makes the golden files of the format's present version that are missing.

Files that are there are left alone: they must load for ever, with the same scores. Only before the
first release those that do not are made again.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).parent
CHANGELOG = HERE.parents[2] / "CHANGELOG.md"
sys.path.insert(0, str(HERE.parents[1] / "support"))

import model_zoo  # noqa: E402

from randomboost import RandomBoostClassifier, files  # noqa: E402
from randomboost.files.container import VERSION  # noqa: E402

# with what follows from the seed, and the weights by round: one of every form of these
DENSE = (
    "trees", "trees-gaussian", "rank", "rank-total", "rank-coded", "proj-stump", "proj-code",
    "multi-stump",
)  # fmt: skip


def fault(path: Path, data: Any, expected: NDArray | None) -> str | None:
    """Return why a golden file has to be written, or None."""
    if not path.exists():
        return "it was missing"
    try:
        scores = files.load(path).decision_function(data)
    except ValueError as error:
        return f"the old one does not load: {error}"
    last_bits = 1e-12 if "-mo-" in path.name else 0.0  # decoding takes exponentials
    same = expected is not None and np.allclose(scores, expected, rtol=last_bits, atol=0.0)
    return None if same else "the old one has other scores"


def main() -> None:
    scores = dict(np.load(HERE / "scores.npz")) if (HERE / "scores.npz").exists() else {}
    models = {name: (model_zoo.make(name, 4), model_zoo.X) for name in model_zoo.SETTINGS}
    trees = RandomBoostClassifier(n_estimators=4, random_state=3)
    models["table"] = trees.fit(model_zoo.table(), model_zoo.y), model_zoo.table()
    models["pipeline-table"] = model_zoo.make_pipeline_of_table(), model_zoo.table()
    released = re.search(r"^## \[\d", CHANGELOG.read_text(), re.MULTILINE)
    written = 0
    for name, (model, data) in models.items():
        path = HERE / f"v{VERSION}-{name}.rboost"
        found = fault(path, data, scores.get(path.stem))
        if found is None:
            continue
        if released and path.exists():
            sys.exit(f"{path.name}: {found}; files of a released version must load for ever")
        files.save(model, path, dense=name in DENSE)
        scores[path.stem] = model.decision_function(data)
        written += 1
        print(f"{path.name} written, {found}")
    if written:
        np.savez_compressed(HERE / "scores.npz", **scores)


if __name__ == "__main__":
    main()
