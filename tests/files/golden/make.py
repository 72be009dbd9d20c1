"""Makes the golden files of the format's present version; run once for every version.

Files that are there are left alone: they must load for ever, with the same scores.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "support"))

import model_zoo  # noqa: E402

from randomboost import RandomBoostClassifier, files  # noqa: E402
from randomboost.files.container import VERSION  # noqa: E402

# with what follows from the seed, and the weights by round: one of every form of these
DENSE = (
    "trees", "trees-gaussian", "rank", "rank-total", "rank-coded", "proj-stump", "proj-code",
    "multi-stump",
)  # fmt: skip


def main() -> None:
    scores = dict(np.load(HERE / "scores.npz")) if (HERE / "scores.npz").exists() else {}
    models = {name: (model_zoo.make(name, 4), model_zoo.X) for name in model_zoo.SETTINGS}
    trees = RandomBoostClassifier(n_estimators=4, random_state=3)
    models["table"] = trees.fit(model_zoo.table(), model_zoo.y), model_zoo.table()
    models["pipeline-table"] = model_zoo.make_pipeline_of_table(), model_zoo.table()
    for name, (model, data) in models.items():
        path = HERE / f"v{VERSION}-{name}.rboost"
        if not path.exists():
            files.save(model, path, dense=name in DENSE)
            scores[path.stem] = model.decision_function(data)
    np.savez_compressed(HERE / "scores.npz", **scores)


if __name__ == "__main__":
    main()
