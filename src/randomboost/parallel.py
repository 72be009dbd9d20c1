"""Threads: a small team that runs compiled kernels, which release the GIL, on ranges.

The kernels are compiled without numba's own threading, so they start without a threading
layer, survive fork and may be called from several Python threads at once. How a range is cut
never changes a result: every kernel treats each item of a range on its own.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any

from joblib import cpu_count
from threadpoolctl import threadpool_limits


def resolve_threads(n_jobs: int | None) -> int:
    """Return the number of threads that `n_jobs` asks for.

    Parameters
    ----------
    n_jobs : int or None
        As in scikit-learn (-1: all cores, -2: all but one), except that None means all cores
        too; inside a joblib worker process it means that worker's share of them.

    Returns
    -------
    int
        At least 1.
    """
    cores = cpu_count()
    if n_jobs is None:
        # joblib's process workers are told their share of the cores through this variable
        return max(1, min(cores, int(os.environ.get("NUMBA_NUM_THREADS", cores))))
    return max(1, cores + 1 + n_jobs) if n_jobs < 0 else n_jobs


class OneBlasThread:
    """A context in which BLAS uses one thread, shared by all fits of the process.

    The limit belongs to the process: the first fit to begin sets it and the last one to end lifts
    it, in whatever order they overlap.
    """

    _lock = threading.Lock()
    _users = 0
    _limits: Any = None

    def __enter__(self) -> OneBlasThread:
        cls = OneBlasThread
        with cls._lock:
            if cls._users == 0:
                cls._limits = threadpool_limits(1, user_api="blas")
            cls._users += 1
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        cls = OneBlasThread
        with cls._lock:
            cls._users -= 1
            if cls._users == 0:
                cls._limits.restore_original_limits()


class ThreadTeam:
    """A context manager around the threads of one fit or prediction.

    Parameters
    ----------
    n_threads : int
        Number of threads; with 1 everything runs in the caller's.
    """

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads
        self._pool = ThreadPoolExecutor(n_threads) if n_threads > 1 else None

    def __enter__(self) -> ThreadTeam:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def for_each(self, work: Callable[[int], Any], n_items: int) -> None:
        """Call ``work(item)`` for every item; Ctrl-C waits for the items under way only.

        Parameters
        ----------
        work : callable
            Receives the number of an item.
        n_items : int
            Number of items.
        """
        if self._pool is None:
            for item in range(n_items):
                work(item)
            return
        jobs = [self._pool.submit(work, item) for item in range(n_items)]
        try:
            for job in jobs:
                job.result()
        except BaseException:
            for job in jobs:
                job.cancel()
            raise

    def run(self, work: Callable[[int, int], Any], n_items: int, grain: int = 1) -> None:
        """Call ``work(start, stop)`` on ranges that cover ``range(n_items)``.

        Parameters
        ----------
        work : callable
            Receives the two ends of a range.
        n_items : int
            Number of items.
        grain : int
            Ranges hold at least this many items, so that small work is not cut up.
        """
        parts = min(self.n_threads, n_items // max(grain, 1))
        if self._pool is None or parts <= 1:
            if n_items:
                work(0, n_items)
            return
        ends = [n_items * part // parts for part in range(parts + 1)]
        jobs = [self._pool.submit(work, ends[part], ends[part + 1]) for part in range(1, parts)]
        work(ends[0], ends[1])
        for job in jobs:
            job.result()


def _after_fork() -> None:
    """Forget the fits of the parent process, which are not under way in its child."""
    if OneBlasThread._users:
        OneBlasThread._limits.restore_original_limits()
    OneBlasThread._lock = threading.Lock()
    OneBlasThread._users = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
