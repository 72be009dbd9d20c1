"""Fits on Dask: a model of the time of a round, and a comparison with other libraries.

    python benchmarks/dask_rounds.py model --rows 400000
    python benchmarks/dask_rounds.py compare --rows 5000000

`model` measures kernels, the latency and the bandwidth of messages, predicts the time of a round
for 2 to 256 workers and 10^7 to 10^9 rows, checks the prediction with 1, 2 and 4 processes on this
machine, and draws it. `compare` fits our classifier and those of lightgbm.dask and xgboost.dask on
two processes.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from distributed import Client, LocalCluster

from randomboost import RandomBoostClassifier
from randomboost.dask import DaskRandomBoostClassifier, distributed_classifier
from randomboost.runtime.parallel import ThreadTeam
from randomboost.training.shared_rows import ShardRows, SharedRows
from randomboost.training.tree_member import Member
from randomboost.training.tree_settings import SketchSettings
from randomboost.trees.sparse_scores import make_prior

N_FEATURES, N_CLASSES = 30, 10
WORKERS = (2, 4, 8, 16, 32, 64, 128, 256)
ROWS = (10**7, 10**8, 10**9)
NETWORK = 1.25e9  # bytes a second of a worker in a cluster: 10 Gbit
LATENCY = 1e-3  # seconds of an exchange in a cluster


def generated(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return samples of classes that are three Gaussian clusters each, in single precision."""
    rng = np.random.default_rng(7)
    centres = 1.6 * rng.normal(size=(3 * N_CLASSES, 12))
    mixing = rng.normal(size=(12, N_FEATURES)) / 3.0
    rng = np.random.default_rng([seed, n])
    cluster = rng.integers(0, 3 * N_CLASSES, n)
    inner = centres[cluster] + rng.normal(size=(n, 12))
    X = inner @ mixing + 0.3 * rng.normal(size=(n, N_FEATURES))
    return X.astype(np.float32), (cluster % N_CLASSES).astype(np.int64)


class Costs(NamedTuple):
    """What a round costs: ``fixed + row * rows`` seconds on a worker, and its messages.

    Parameters
    ----------
    fixed, row : float
        Seconds of a round's kernels, whatever the rows, and for every row.
    waves : int
        Exchanges of a round.
    sent : int
        Bytes of histograms that a shard makes in a round.
    """

    fixed: float
    row: float
    waves: int
    sent: int

    def round(self, n_rows: float, n_workers: int, latency: float, bandwidth: float) -> float:
        """Return the predicted seconds of a round.

        Every worker sends the parts of its histograms that others search, and gets as many.
        """
        kernels = self.fixed + self.row * n_rows / n_workers
        if n_workers == 1:
            return kernels + 4 * latency
        bytes_ = 2 * self.sent * (n_workers - 1) / n_workers
        return kernels + self.waves * latency * (1 + math.log2(n_workers) / 8) + bytes_ / bandwidth


def kernel_costs(settings: SketchSettings, sizes: tuple[int, int]) -> Costs:
    """Measure the kernels of a round in this process, with one thread."""
    seconds, waves, sent = [], 0, 0
    for n in sizes:
        X, y = generated(n, 0)
        edges = np.quantile(X[:20_000], np.linspace(0, 1, settings.max_bins + 1)[1:-1], axis=0).T
        bins = np.stack(
            [np.searchsorted(edge, column) for edge, column in zip(edges, X.T, strict=True)], axis=1
        ).astype(np.uint8)
        keys = np.random.default_rng(0).integers(0, 2**63, n).astype(np.uint64)
        prior = make_prior(np.zeros(N_CLASSES))
        halves = [
            ShardRows(
                bins[part], y[part], np.ones(len(part)), keys[part], prior, settings.n_sketches,
                ThreadTeam(1),
            )
            for part in np.array_split(np.arange(n), 2)
        ]  # fmt: skip
        noted = {"waves": 0, "sent": 0}

        def ask(method: str, *arguments: Any, halves: Any = halves, noted: Any = noted) -> list:
            noted["waves"] += 1
            if method == "search":
                parts = [[other.part(here, 2)] for here, other in enumerate(reversed(halves))]
                return [
                    half.search(here, 2, *arguments, parts[here])
                    for here, half in enumerate(halves)
                ]
            found = [getattr(half, method)(*arguments) for half in halves]
            if method in ("begin_tree", "advance"):
                noted["sent"] += halves[0].part(0, 1).nbytes
            return found

        rows = SharedRows(ask, n, 2, prior, settings.n_sketches, ThreadTeam(1))
        bounds = np.array([[0, N_FEATURES]])
        member = Member(settings, rows, N_CLASSES, edges, bounds, np.ones(1), None, ThreadTeam(1))
        member.step()
        noted.update(waves=0, sent=0)
        began = time.process_time()
        for _ in range(3):
            member.step()
        seconds.append((time.process_time() - began) / 3)
        waves, sent = noted["waves"] // 3, noted["sent"] // 3
    row = (seconds[1] - seconds[0]) / (sizes[1] - sizes[0])
    return Costs(max(seconds[0] - row * sizes[0], 0.0) / 2, row, waves, sent)


class Echo:
    """An actor that returns as many bytes as it is asked for."""

    def give(self, n: int) -> np.ndarray:
        """Return an array."""
        return np.zeros(n, dtype=np.uint8)


def message_costs(client: Client) -> tuple[float, float]:
    """Return the seconds of an empty exchange, and the bytes that are sent a second."""
    echo = client.submit(Echo, actor=True).result()

    def median(n: int, times: int) -> float:
        found = []
        for _ in range(times):
            began = time.perf_counter()
            echo.give(n).result()
            found.append(time.perf_counter() - began)
        return float(np.median(found))

    latency = median(0, 50)
    large = 1 << 25
    return latency, large / max(median(large, 9) - latency, 1e-9)


def cluster_of(n_workers: int) -> LocalCluster:
    return LocalCluster(
        n_workers=n_workers, threads_per_worker=1, dashboard_address=":0", memory_limit=0
    )


def parted(client: Client, X: np.ndarray, y: np.ndarray, n_parts: int) -> tuple[Any, Any]:
    """Return data as collections that the workers have."""
    import dask.array as da

    size = -(-len(y) // n_parts)
    both = client.persist([da.from_array(X, chunks=(size, -1)), da.from_array(y, chunks=size)])
    return both[0], both[1]


def round_time(client: Client, X: np.ndarray, y: np.ndarray, rounds: int) -> float:
    """Return the median seconds of a round of a fit on a cluster."""
    times = [time.perf_counter()]
    model = DaskRandomBoostClassifier(
        rounds, projection="axis", early_stopping=False, random_state=0
    )
    model.fit(*parted(client, X, y, 16), on_round=lambda _: times.append(time.perf_counter()))
    return float(np.median(np.diff(times)[2:]))


def modelled(arguments: argparse.Namespace) -> None:
    n = arguments.rows
    distributed_classifier.ROWS_OF_A_SHARD = 1
    settings = SketchSettings.choose(n, N_FEATURES, N_CLASSES)
    costs = kernel_costs(settings, (n // 8, n // 2))
    large = kernel_costs(SketchSettings.choose(10**7, N_FEATURES, N_CLASSES), (n // 4, n))
    print(f"kernels: {1e9 * costs.row:.0f} ns a row and {1e3 * costs.fixed:.0f} ms a round")
    print(f"messages: {costs.waves} exchanges, {costs.sent / 1e6:.0f} MB a shard and round")
    X, y = generated(n, 1)
    checked = []
    for n_workers in (1, 2, 4):
        with cluster_of(n_workers) as cluster, Client(cluster) as client:
            latency, bandwidth = message_costs(client)
            round_time(client, X[:50_000], y[:50_000], 3)
            measured = round_time(client, X, y, arguments.rounds)
        slots = min(n_workers, os.cpu_count() or 1)  # processes that can run at once
        predicted = costs.round(n * n_workers / slots, n_workers, latency, bandwidth)
        checked.append((n_workers, measured, predicted, latency, bandwidth))
        print(
            f"{n_workers} workers: a round of {n:,} rows takes {measured:.3f} s, predicted "
            f"{predicted:.3f} s (latency {1e3 * latency:.1f} ms, {bandwidth / 1e9:.2f} GB/s)"
        )
    print(f"\na round in seconds, {NETWORK / 1e9} GB/s and {1e3 * LATENCY} ms between workers")
    print("workers " + " ".join(f"{rows:>12,}" for rows in ROWS))
    table = {}
    for n_workers in WORKERS:
        table[n_workers] = [large.round(rows, n_workers, LATENCY, NETWORK) for rows in ROWS]
        print(f"{n_workers:7d} " + " ".join(f"{each:12.2f}" for each in table[n_workers]))
    folder = Path(arguments.out)
    folder.mkdir(parents=True, exist_ok=True)
    found = {"costs": costs, "large": large, "checked": checked, "predicted": table}
    (folder / "model.json").write_text(json.dumps(found, indent=1))
    draw(table, checked, n, folder / "rounds.svg")


def draw(table: dict[int, list[float]], checked: list[tuple], n: int, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.5))
    workers = [each[0] for each in checked]
    left.plot(workers, [each[1] for each in checked], "o-", label="measured")
    left.plot(workers, [each[2] for each in checked], "s--", label="predicted")
    left.set(title=f"{n:,} rows, this machine", xlabel="processes", ylabel="seconds a round")
    left.set_ylim(bottom=0)
    left.legend()
    for place, rows in enumerate(ROWS):
        right.loglog(
            list(table), [each[place] for each in table.values()], label=f"{rows:.0e} rows"
        )
    right.set(title="predicted for a cluster", xlabel="workers", ylabel="seconds a round")
    right.legend()
    figure.tight_layout()
    figure.savefig(path)


def peers() -> dict[str, Callable[[Client], Any]]:
    def ours(client: Client) -> Any:
        return DaskRandomBoostClassifier(random_state=0, client=client)

    def lightgbm(client: Client) -> Any:
        from lightgbm import DaskLGBMClassifier

        return DaskLGBMClassifier(client=client, random_state=0, verbose=-1)

    def xgboost(client: Client) -> Any:
        from xgboost.dask import DaskXGBClassifier

        model = DaskXGBClassifier(random_state=0, tree_method="hist")
        model.client = client
        return model

    return {"RandomBoost": ours, "LightGBM": lightgbm, "XGBoost": xgboost}


def peak_memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def compared(arguments: argparse.Namespace) -> None:
    n = arguments.rows
    X, y = generated(n + 50_000, 2)
    X, X_test, y, y_test = X[:n], X[n:], y[:n], y[n:]
    if arguments.local:
        began = time.perf_counter()
        error = 1 - RandomBoostClassifier(random_state=0).fit(X, y).score(X_test, y_test)
        print(f"{'local':12s} {time.perf_counter() - began:7.1f} s, error {error:.4f}", flush=True)
    for name, make in peers().items():
        if arguments.models and name not in arguments.models:
            continue
        with cluster_of(arguments.workers) as cluster, Client(cluster) as client:
            data = parted(client, X, y, 4 * arguments.workers)
            small = parted(client, X[:60_000], y[:60_000], arguments.workers)
            make(client).fit(*small)  # compiles and loads
            began = time.perf_counter()
            model = make(client).fit(*data)
            took = time.perf_counter() - began
            memory = sum(client.run(peak_memory).values())
            found = model.predict(parted(client, X_test, y_test, 2)[0])
            error = float(np.mean(np.asarray(found.compute()) != y_test))
        print(
            f"{name:12s} {took:7.1f} s, error {error:.4f}, workers {memory / 1e9:.1f} GB",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["model", "compare"])
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--models", nargs="*")
    parser.add_argument("--local", action="store_true", help="also a local fit")
    parser.add_argument("--out", default="output/distributed")
    arguments = parser.parse_args()
    modelled(arguments) if arguments.what == "model" else compared(arguments)


if __name__ == "__main__":
    main()
