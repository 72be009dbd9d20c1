"""How fast the kernels that fill histograms are beside what this machine can do.

Measures the memory (copies, sums of arrays) and the additions of rows of lanes to a histogram in
the first cache, on one thread and on all. Neither can be exceeded, so the larger one of two times
bounds a histogram from below: that of reading the samples, and that of its additions.

    python benchmarks/roofline.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from randomboost.runtime.compiling import kernel
from randomboost.runtime.parallel import ThreadTeam, resolve_threads
from randomboost.trees.lanes import add_lanes, empty_lanes, lane_kind
from randomboost.trees.splitting import TOGETHER, empty_block, fill_all

N_BINS = 255
LINE = 64  # bytes of a line of the cache
_STREAM = 1 << 24  # numbers of an array that no cache holds
_ADDED = 512  # rows of lanes that are added again and again
_TIMES, _REPEATS = 2000, 5


class Node(NamedTuple):
    """A node of a tree whose histograms are filled.

    Parameters
    ----------
    name : str
        What it stands for.
    n_samples, n_directions : int
        Shape of the bins of all samples.
    share : int
        One of so many samples is in the node, at random.
    family : int
        Directions that it draws from.
    n_drawn : int
        Directions that it draws.
    n_lanes : int
        Lanes of a sample.
    """

    name: str
    n_samples: int
    n_directions: int
    share: int
    family: int
    n_drawn: int
    n_lanes: int


NODES = (
    Node("1 000 000 x 50, all samples", 1_000_000, 268, 1, 120, 25, 8),
    Node("1 000 000 x 50, one of 64", 1_000_000, 268, 64, 120, 25, 8),
    Node("50 000 x 30, all samples", 50_000, 580, 1, 300, 16, 16),
    Node("50 000 x 30, one of 64", 50_000, 580, 64, 300, 16, 16),
)


@kernel
def _copy(source: NDArray, target: NDArray, first: int, last: int) -> None:
    for i in range(first, last):
        target[i] = source[i]


@kernel
def _add(source: NDArray, target: NDArray, first: int, last: int) -> None:
    for i in range(first, last):
        target[i] += source[i]


@kernel
def _add_rows(histogram: NDArray, bins: NDArray, words: NDArray, n_times: int, kind: int) -> None:
    """Add rows of lanes to bins, as histograms are filled, all of it in the first cache."""
    for _ in range(n_times):
        for p in range(len(bins)):
            add_lanes(histogram, np.int64(bins[p]), words, p, kind)


def best_seconds(work: Callable[[], Any]) -> float:
    """Return the shortest time of some runs, after one that compiles."""
    work()
    found = []
    for _ in range(_REPEATS):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return min(found)


def bandwidth(team: ThreadTeam, work: Any, bytes_each: int) -> float:
    """Return the bytes a second that a kernel on two long arrays moves."""
    source, target = np.ones(_STREAM), np.ones(_STREAM)

    def run() -> None:
        team.run(lambda first, last: work(source, target, first, last), _STREAM)

    return bytes_each * _STREAM / best_seconds(run)


def addition_rate(team: ThreadTeam, n_lanes: int) -> float:
    """Return the rows of lanes a second that are added to a histogram in the first cache."""
    rng = np.random.default_rng(0)
    bins = rng.integers(0, N_BINS, _ADDED, dtype=np.uint8)
    words = empty_lanes(_ADDED, n_lanes)
    words[:] = 1
    histograms = [empty_lanes(N_BINS, n_lanes) for _ in range(team.n_threads)]

    def run() -> None:
        team.for_each(
            lambda t: _add_rows(histograms[t], bins, words, _TIMES, lane_kind(n_lanes)),
            team.n_threads,
        )

    return team.n_threads * _TIMES * _ADDED / best_seconds(run)


@kernel
def _fill_nodes(
    bins: NDArray, columns: NDArray, rows: NDArray, words: NDArray, n: int, local: NDArray,
    histograms: NDArray, kind: int,
) -> None:  # fmt: skip
    """Fill the histograms of nodes of n samples each."""
    for begin in range(0, len(rows) - n + 1, n):
        fill_all(
            bins, columns, rows, words, begin, begin + n, local, histograms, 0, N_BINS, kind
        )  # fmt: skip


def fill_seconds(node: Node, team: ThreadTeam) -> float:
    """Return the time in which every thread fills the histograms of all nodes of a size."""
    rng = np.random.default_rng(0)
    m, n = node.n_samples, node.n_samples // node.share
    bins = rng.integers(0, N_BINS, (m, node.n_directions), dtype=np.uint8)
    parts = []
    for _ in range(team.n_threads):
        order = rng.permutation(m)[: n * node.share].reshape(node.share, n)
        rows = np.sort(order, axis=1).ravel().astype(np.uint32)
        words = empty_lanes(len(rows), node.n_lanes)
        words[:] = 1
        histograms = empty_lanes(TOGETHER * N_BINS, node.n_lanes)
        columns = np.sort(rng.choice(node.family, node.n_drawn, replace=False))
        parts.append((columns, rows, words, n, empty_block(), histograms, lane_kind(node.n_lanes)))
    return best_seconds(
        lambda: team.for_each(lambda thread: _fill_nodes(bins, *parts[thread]), team.n_threads)
    )


def sample_bytes(node: Node) -> float:
    """Return the bytes that are read of a sample: lines of bins, its lanes and its number."""
    lines = node.family / LINE
    touched = lines * (1 - (1 - 1 / lines) ** node.n_drawn)  # if directions were drawn one by one
    return LINE * touched + 4 * node.n_lanes + 4


def measure() -> dict[str, Any]:
    """Return what the machine does, and how its histograms are beside it."""
    machine, nodes = [], []
    for n_threads in sorted({1, resolve_threads(None)}):
        with ThreadTeam(n_threads) as team:
            limits = {
                "copy": bandwidth(team, _copy, 16),
                "sum": bandwidth(team, _add, 24),
                "additions": {str(width): addition_rate(team, width) for width in (8, 16)},
            }
            machine.append({"threads": n_threads, **limits})
            for node in NODES:
                seconds = fill_seconds(node, team)
                n = n_threads * node.share * (node.n_samples // node.share)
                additions, read = n * node.n_drawn, n * sample_bytes(node)
                least = max(
                    additions / limits["additions"][str(node.n_lanes)],
                    read / max(limits["copy"], limits["sum"]),
                )
                nodes.append(
                    {
                        "node": node.name,
                        "threads": n_threads,
                        "additions": additions / seconds,
                        "read": read / seconds,
                        "share": least / seconds,
                    }
                )
    return {"machine": machine, "nodes": nodes}


def tables(found: dict[str, Any]) -> str:
    """Return what `measure` found as tables of a page."""
    lines = [
        "| threads | copy, GB/s | sum, GB/s | additions of 8 lanes, 10^9/s | of 16 lanes |",
        "|---|---|---|---|---|",
    ]
    for each in found["machine"]:
        rates = (each["copy"], each["sum"], *each["additions"].values())
        lines.append(f"| {each['threads']} | " + " | ".join(f"{x / 1e9:.2f}" for x in rates) + " |")
    lines += [
        "",
        "| histograms of a node | threads | additions, 10^9/s | read, GB/s | share of the bound |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {each['node']} | {each['threads']} | {each['additions'] / 1e9:.2f} | "
        f"{each['read'] / 1e9:.2f} | {each['share']:.2f} |"
        for each in found["nodes"]
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(tables(measure()))
