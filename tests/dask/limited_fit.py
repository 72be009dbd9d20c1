"""Fits to a Parquet file, or predicts it, in a process whose memory is limited.

Arguments: the file, the model file, MiB allowed beyond what imports and a first small fit take, and
what to do: "fit" writes the model, out of core, "fit-in-memory" tries to, "score" loads it.
"""

from __future__ import annotations

import resource
import sys
from pathlib import Path

import dask.dataframe as dd
import numpy as np
import pandas as pd
from distributed import Client

from randomboost import load
from randomboost.dask import DaskRandomBoostClassifier

SETTINGS = {
    "n_estimators": 3,
    "projection": "axis",
    "n_landmarks": 0,
    "max_leaf_nodes": 8,
    "early_stopping": False,
    "random_state": 0,
    "n_jobs": 1,
}


def data_bytes() -> int:
    """Return the bytes that count for RLIMIT_DATA: private memory, not mapped files."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmData"))


def fit(read, client, out_of_core):
    model = DaskRandomBoostClassifier(**SETTINGS, client=client, out_of_core=out_of_core)
    return model.fit(read.drop(columns="y"), read["y"])


def main(path: str, out: str, allowed: int, what: str) -> None:
    out_of_core = what != "fit-in-memory"
    with Client(
        processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None, memory_limit=0
    ) as client:
        rng = np.random.default_rng(0)
        few = pd.DataFrame(rng.normal(size=(500, 3)), columns=list("abc")).assign(y=[0, 1] * 250)
        small = f"{out}.small.parquet"
        few.to_parquet(small, row_group_size=100)
        first = dd.read_parquet(small, split_row_groups=True)  # starts the threads of pyarrow
        fit(first, client, out_of_core).predict(first.drop(columns="y")).compute()
        limit = data_bytes() + allowed * 2**20
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
        read = dd.read_parquet(path, split_row_groups=True)
        if what == "score":
            model = DaskRandomBoostClassifier(client=client).take_over(load(out))
            right = model.score(read.drop(columns="y"), read["y"])
            print(f"accuracy {right:.3f}")
        else:
            fit(read, client, out_of_core).save(out)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4])
