"""Fits on Dask whose workers are killed at random moments: all of them give the same model.

    python benchmarks/killed_workers.py --runs 20

starts a cluster of processes, kills one or two of them with SIGKILL during every fit, and compares
the saved models with that of a local fit.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import signal
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from distributed import Client, LocalCluster

from randomboost import RandomBoostClassifier
from randomboost.dask import DaskRandomBoostClassifier, distributed_classifier

SETTINGS = {"n_estimators": 12, "n_projections": 60, "random_state": 0}


def made(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 8))
    y = (X[:, 0] + X[:, 1] ** 2 > 1).astype(int) + 2 * (X[:, 2] * X[:, 3] > 0.1)
    X[rng.random(X.shape) < 0.03] = np.nan
    return X, y, rng.uniform(0.5, 2.0, n)


def digest(model: object) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.rboost"
        model.save(path)
        return hashlib.sha256(path.read_bytes()).hexdigest()


def killer(client: Client, seconds: list[float], killed: list[str]) -> threading.Thread:
    """Return a thread that kills a worker after every so many seconds."""

    def work() -> None:
        for wait in seconds:
            time.sleep(wait)
            try:
                pids = client.run(os.getpid, on_error="ignore")
                address = random.choice(sorted(pids))
                os.kill(pids[address], signal.SIGKILL)
                killed.append(address)
            except (OSError, IndexError, ValueError):
                continue

    return threading.Thread(target=work, daemon=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--samples", type=int, default=6000)
    arguments = parser.parse_args()
    distributed_classifier.ROWS_OF_A_SHARD = 1
    import dask.array as da

    data = made(arguments.samples)
    expected = digest(RandomBoostClassifier(**SETTINGS).fit(*data))
    size = arguments.samples // 9
    equal = 0
    with (
        LocalCluster(
            n_workers=arguments.workers, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        usual = 10.0
        for run in range(arguments.runs):
            random.seed(run)
            while len(client.scheduler_info(n_workers=-1)["workers"]) < arguments.workers:
                try:
                    client.wait_for_workers(arguments.workers, timeout=15)
                except TimeoutError:  # a nanny gave up a worker that was killed twice
                    cluster.scale(len(cluster.worker_spec) + 1)
            X, y, weight = data
            parts = (
                da.from_array(X, chunks=(size, -1)),
                *(da.from_array(each, chunks=size) for each in (y, weight)),
            )
            killed: list[str] = []
            waits = [random.uniform(0.0, 0.6 * usual) for _ in range(random.choice([1, 2]))]
            thread = killer(client, waits, killed)
            thread.start()
            began = time.perf_counter()
            fitted = DaskRandomBoostClassifier(**SETTINGS).fit(*parts)
            took = time.perf_counter() - began
            usual = 0.7 * usual + 0.3 * took
            same = digest(fitted) == expected
            equal += same
            print(f"run {run}: {len(killed)} killed, {took:.1f} s, same model: {same}", flush=True)
            thread.join()
    print(f"{equal} of {arguments.runs} models equal that of the local fit")


if __name__ == "__main__":
    main()
