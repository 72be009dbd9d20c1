"""Fits on Dask: beside other libraries, beside the local fit, and a model of the time of a round.

    python benchmarks/dask_rounds.py                     # about half an hour on two cores
    python benchmarks/dask_rounds.py --only compare      # one part: compare, overhead or scale
    python benchmarks/dask_rounds.py --quick             # tiny sizes, to see that all of it works
    python benchmarks/dask_rounds.py --page-only

`compare` fits our classifier and those of lightgbm.dask and xgboost.dask to 5 000 000 rows on two
processes; `overhead` fits with one worker and locally; `scale` measures kernels, latency and
bandwidth of messages, predicts the time of a round for 2 to 256 workers and 10^7 to 10^9 rows, and
checks the prediction with 1, 2 and 4 processes. What is measured is kept at once: a run that was
stopped goes on where it was. Writes the tables and the picture of docs/distributed.md; the text
around them is written by hand.
"""

from __future__ import annotations

import argparse
import math
import os
import resource
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from distributed import Client, LocalCluster
from jobs import MEASUREMENTS, ROOT, Job, forget, run_jobs
from many_classes_page import NOTHING, filled, table
from measure import Results, environment
from page import number

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
PAGE = ROOT / "docs" / "distributed.md"
PARTS = ("compare", "overhead", "scale")
PROCESSES = (1, 2, 4)  # with which the model of a round is checked
TEST_ROWS = 50_000


class Sizes(NamedTuple):
    """How much is measured.

    Parameters
    ----------
    compare, overhead, scale : int
        Rows of the parts.
    rounds : int
        Rounds of a fit whose rounds are timed.
    """

    compare: int = 5_000_000
    overhead: int = 1_000_000
    scale: int = 400_000
    rounds: int = 8


QUICK = Sizes(40_000, 30_000, 16_000, 4)
# minutes on two cores at full size, roughly
COSTS = {
    "compare/RandomBoost": 6, "compare/LightGBM": 6, "compare/XGBoost": 6, "overhead/local": 2,
    "overhead/dask": 2, "scale/kernels": 3, "scale/1": 2, "scale/2": 2, "scale/4": 3,
}  # fmt: skip


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


def cluster_of(n_workers: int, n_threads: int = 1) -> LocalCluster:
    return LocalCluster(
        n_workers=n_workers, threads_per_worker=n_threads, dashboard_address=":0", memory_limit=0
    )


def parted(client: Client, n: int, n_parts: int, seed: int) -> tuple[Any, Any]:
    """Return samples as collections that the workers make and keep."""
    import dask
    import dask.array as da

    sizes = np.diff(np.linspace(0, n, n_parts + 1).astype(int)).tolist()
    made = [dask.delayed(generated)(size, seed + part) for part, size in enumerate(sizes)]
    X = [
        da.from_delayed(each[0], (size, N_FEATURES), np.float32)
        for each, size in zip(made, sizes, strict=True)
    ]
    y = [
        da.from_delayed(each[1], (size,), np.int64) for each, size in zip(made, sizes, strict=True)
    ]
    both = client.persist([da.concatenate(X), da.concatenate(y)])
    return both[0], both[1]


def round_time(client: Client, n: int, rounds: int) -> float:
    """Return the median seconds of a round of a fit on a cluster."""
    times = [time.perf_counter()]
    model = DaskRandomBoostClassifier(
        rounds, projection="axis", early_stopping=False, random_state=0
    )
    model.fit(*parted(client, n, 16, 1), on_round=lambda _: times.append(time.perf_counter()))
    return float(np.median(np.diff(times)[2:]))


def kernels(sizes: Sizes) -> dict[str, Any]:
    """Measure the kernels of a round of the data here, and of one of 10^7 rows."""
    n = sizes.scale
    settings = SketchSettings.choose(n, N_FEATURES, N_CLASSES)
    large = SketchSettings.choose(10**7, N_FEATURES, N_CLASSES)
    return {
        "here": kernel_costs(settings, (n // 8, n // 2))._asdict(),
        "large": kernel_costs(large, (n // 4, n))._asdict(),
    }


def rounds_of(n_workers: int, sizes: Sizes) -> dict[str, float]:
    """Measure rounds and messages of a cluster on this machine."""
    distributed_classifier.ROWS_OF_A_SHARD = 1
    with cluster_of(n_workers) as cluster, Client(cluster) as client:
        latency, bandwidth = message_costs(client)
        round_time(client, min(50_000, sizes.scale), 3)
        measured = round_time(client, sizes.scale, sizes.rounds)
    return {"seconds": measured, "latency": latency, "bandwidth": bandwidth}


def here(records: dict[str, Any], n_workers: int, n: int) -> tuple[float, float]:
    """Return the measured and the predicted seconds of a round on this machine."""
    costs, found = Costs(**records["scale/kernels"]["here"]), records[f"scale/{n_workers}"]
    slots = min(n_workers, os.cpu_count() or 1)  # processes that can run at once
    predicted = costs.round(n * n_workers / slots, n_workers, found["latency"], found["bandwidth"])
    return found["seconds"], predicted


def draw(checked: dict[int, tuple[float, float]], large: Costs, n: int, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.5))
    for place, (name, line) in enumerate((("measured", "o-"), ("predicted", "s--"))):
        left.plot(list(checked), [each[place] for each in checked.values()], line, label=name)
    left.set(title=f"{n:,} rows, this machine", xlabel="processes", ylabel="seconds per round")
    left.set(xticks=list(checked), ylim=(0, None))
    left.legend()
    for rows in ROWS:
        times = [large.round(rows, each, LATENCY, NETWORK) for each in WORKERS]
        right.loglog(WORKERS, times, label=f"{rows // 10**6:,} million rows")
    right.set(title="predicted for a cluster", xlabel="workers", ylabel="seconds per round")
    right.set_xticks(WORKERS, [str(each) for each in WORKERS])
    right.set_xticks([], minor=True)
    right.legend()
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    pyplot.close(figure)


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


def compared(name: str, n: int, n_workers: int = 2, n_threads: int = 1) -> dict[str, float]:
    """Fit a model on a cluster of its own; return its time, error and memory."""
    X_test, y_test = generated(TEST_ROWS, 10_000)
    with cluster_of(n_workers, n_threads) as cluster, Client(cluster) as client:
        small = parted(client, min(n, 60_000), n_workers, 5000)
        peers()[name](client).fit(*small)  # compiles and loads
        del small
        data = parted(client, n, 4 * n_workers, 2)
        client.gather(client.compute([each.sum() for each in data]))  # they are made
        began = time.perf_counter()
        model = peers()[name](client).fit(*data)
        took = time.perf_counter() - began
        memory = sum(client.run(peak_memory).values())
        import dask.array as da

        found = model.predict(da.from_array(X_test, chunks=(TEST_ROWS // 4, -1)))
        error = float(np.mean(np.asarray(found.compute()) != y_test))
    return {"fit_s": took, "error": 100 * error, "bytes": memory}


def local(n: int) -> dict[str, float]:
    """Fit our classifier in this process to the data of `compared` with one worker."""
    made = [
        generated(size, 2 + part)
        for part, size in enumerate(np.diff(np.linspace(0, n, 5).astype(int)).tolist())
    ]
    X, y = (np.concatenate(each) for each in zip(*made, strict=True))
    X_test, y_test = generated(TEST_ROWS, 10_000)
    RandomBoostClassifier(random_state=0).fit(X[:60_000], y[:60_000])
    began = time.perf_counter()
    model = RandomBoostClassifier(random_state=0).fit(X, y)
    took = time.perf_counter() - began
    return {"fit_s": took, "error": 100 * (1 - model.score(X_test, y_test))}


def chosen_jobs(sizes: Sizes, only: list[str], quick: bool) -> list[Job]:
    """Return the measurements of the chosen parts."""
    n_threads = os.cpu_count() or 1
    makers: dict[str, Callable[[], Any]] = {
        f"compare/{name}": partial(compared, name, sizes.compare) for name in peers()
    }
    makers["overhead/local"] = partial(local, sizes.overhead)
    makers["overhead/dask"] = partial(compared, "RandomBoost", sizes.overhead, 1, n_threads)
    makers["scale/kernels"] = partial(kernels, sizes)
    makers |= {f"scale/{each}": partial(rounds_of, each, sizes) for each in PROCESSES}
    return [
        Job(key, 60.0 * COSTS[key] / (20 if quick else 1), make)
        for key, make in makers.items()
        if key.split("/")[0] in only
    ]


def compare_part(records: dict[str, Any], sizes: Sizes) -> str:
    found = {name: records.get(f"compare/{name}", {}) for name in peers()}
    if not any("fit_s" in each for each in found.values()):
        return NOTHING
    rows = [
        [name, f"{each['error']:.2f}", number(each["fit_s"]), number(each["bytes"] / 1e9)]
        if "fit_s" in each
        else [name, each.get("message", "not measured"), "", ""]
        for name, each in found.items()
    ]
    head = ["model", "test error, %", "fit, s", "memory of the workers, GB"]
    about = (
        f"{sizes.compare:,} rows, {N_FEATURES} features, {N_CLASSES} classes, two workers of one "
        f"thread each, all models with their defaults, on {records['environment']['cores']} cores:"
    )
    return f"{about}\n\n{table(head, rows)}"


def overhead_part(records: dict[str, Any], sizes: Sizes) -> str:
    alone, dask = (records.get(f"overhead/{each}", {}) for each in ("local", "dask"))
    if "fit_s" not in alone or "fit_s" not in dask:
        return NOTHING
    return (
        f"With one worker a fit to {sizes.overhead:,} rows takes {number(dask['fit_s'])} s, and "
        f"the local fit {number(alone['fit_s'])} s: {dask['fit_s'] / alone['fit_s']:.2f} times as "
        "long.\n"
    )


def scale_part(records: dict[str, Any], sizes: Sizes, picture: Path) -> str:
    if not all("failed" not in records.get(f"scale/{each}", {"failed": ""}) for each in
               ("kernels", *PROCESSES)):  # fmt: skip
        return NOTHING
    costs, large = (Costs(**records["scale/kernels"][each]) for each in ("here", "large"))
    checked = {each: here(records, each, sizes.scale) for each in PROCESSES}
    draw(checked, large, sizes.scale, picture)
    head = ["processes here", "s per round", "predicted, s"]
    first = table(head, [[str(each), *map(number, both)] for each, both in checked.items()])
    head = ["workers", *(f"{rows:,} rows, s per round" for rows in ROWS)]
    lines = [
        [str(each), *(number(large.round(rows, each, LATENCY, NETWORK)) for rows in ROWS)]
        for each in WORKERS
    ]
    return (
        f"Kernels take {1e9 * costs.row:.0f} ns per row and {1e3 * costs.fixed:.0f} ms per round "
        f"of {sizes.scale:,} rows on one core; a shard makes {costs.sent / 1e6:.0f} MB of "
        f"histograms in {costs.waves} exchanges.\n\n{first}\n"
        f"Predicted for workers of one core, with {NETWORK / 1e9:g} GB/s and {1e3 * LATENCY:g} ms "
        f"between them:\n\n{table(head, lines)}\n"
        f"![Seconds per round, measured and predicted]({picture.parent.name}/{picture.name})\n"
    )


def write_page(records: dict[str, Any], sizes: Sizes, out: Path) -> None:
    """Write the page and its picture; the text is that of docs/distributed.md."""
    parts = {
        "compare": compare_part(records, sizes),
        "overhead": overhead_part(records, sizes),
        "scale": scale_part(records, sizes, out.with_suffix("") / "rounds.svg"),
    }
    text = filled(PAGE.read_text(), parts)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(text)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--only", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART", help="parts")
    add("--quick", action="store_true", help="tiny sizes, to see that all of it works")
    add("--fresh", action="store_true", help="forget earlier measurements of what is chosen")
    add("--page-only", action="store_true", help="measure nothing")
    chosen = parser.parse_args()
    sizes = QUICK if chosen.quick else Sizes()
    out = ROOT / "output" / "distributed-quick.md" if chosen.quick else PAGE
    results = Results(out.with_suffix("") / MEASUREMENTS)
    if not chosen.page_only:
        jobs = chosen_jobs(sizes, chosen.only, chosen.quick)
        if chosen.fresh:
            forget(results, jobs)
        jobs = [job for job in jobs if not results.done(job.key)]
        minutes = sum(job.cost for job in jobs) / 60
        print(f"{len(jobs)} measurements, about {minutes:.0f} minutes on two cores", flush=True)
        results.put("environment", environment())
        try:
            run_jobs(results, jobs)
        except KeyboardInterrupt:
            raise SystemExit("stopped; the same command goes on where it was") from None
    write_page(results.records, sizes, out)
    print(f"page: {out.name}")


if __name__ == "__main__":
    main()
