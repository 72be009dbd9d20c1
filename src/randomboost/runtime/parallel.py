"""Threads: a small team that runs compiled kernels, which release the GIL, on ranges.

Kernels are compiled without numba's own threading, so that they need no threading layer, survive
fork and may be called from several Python threads at once. How a range is divided never changes a
result: kernels treat the items of a range independently.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import pairwise
from queue import SimpleQueue
from typing import Any, ClassVar

from joblib import cpu_count
from threadpoolctl import ThreadpoolController


def resolve_threads(n_jobs: int | None) -> int:
    """Return the number of threads for `n_jobs`.

    Parameters
    ----------
    n_jobs : int or None
        As in scikit-learn (-1: all cores, -2: all but one), except that None also means all
        cores, or, inside a joblib worker process, the share of that worker.

    Returns
    -------
    int
        At least 1.
    """
    cores = cpu_count()
    if n_jobs is None:
        # joblib sets this variable to the share of a worker process
        return max(1, min(cores, int(os.environ.get("NUMBA_NUM_THREADS", cores))))
    return max(1, cores + 1 + n_jobs) if n_jobs < 0 else n_jobs


@cache
def _blas_libraries() -> list[Any]:
    """Return the BLAS libraries of NumPy and SciPy; looking for them takes milliseconds."""
    import scipy.linalg  # noqa: F401 (loads its library)

    return ThreadpoolController().select(user_api="blas").lib_controllers


class OneBlasThread:
    """A context in which BLAS uses one thread, shared by all fits of the process.

    The limit applies to the process: the first fit to begin sets it and the last one to end
    restores it, in whatever order they overlap.
    """

    _lock = threading.Lock()
    _users = 0
    _limits: ClassVar[list[tuple[Any, int]]] = []

    def __enter__(self) -> OneBlasThread:
        cls = OneBlasThread
        with cls._lock:
            if cls._users == 0:
                cls._limits = [(each, each.num_threads) for each in _blas_libraries()]
                for library, _ in cls._limits:
                    _set_threads(library, 1)
            cls._users += 1
        return self

    def __exit__(self, *_: Any) -> None:
        cls = OneBlasThread
        with cls._lock:
            cls._users -= 1
            if cls._users == 0:
                for library, n_threads in cls._limits:
                    _set_threads(library, n_threads)


class OutsideForks:
    """A context during which no other thread forks the process, for long calls of BLAS.

    A child that is forked while a thread is inside BLAS may find its locks taken for ever.
    """

    _changed = threading.Condition()
    _inside = 0

    def __enter__(self) -> OutsideForks:
        with OutsideForks._changed:
            OutsideForks._inside += 1
        return self

    def __exit__(self, *_: Any) -> None:
        with OutsideForks._changed:
            OutsideForks._inside -= 1
            OutsideForks._changed.notify_all()


def _set_threads(library: Any, n_threads: int) -> None:
    """Set the number of threads of a BLAS library from any thread.

    From version 3.7 on threadpoolctl lets one thread of the process do so and ignores the others;
    the lock of `OneBlasThread` keeps its users from disturbing each other.
    """
    getattr(library, "_real_set_num_threads", library.set_num_threads)(n_threads)


class _Worker:
    """A thread that runs jobs, with less delay than a pool of futures.

    Waking threads is most of the overhead of threads in a round of a millisecond.
    """

    def __init__(self) -> None:
        self._jobs: SimpleQueue[tuple[Callable[[], Any], SimpleQueue] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            work, done = job
            error = None
            try:
                work()
            except BaseException as raised:
                error = raised
            del job, work  # release what they refer to
            done.put(error)

    def submit(self, work: Callable[[], Any], done: SimpleQueue) -> None:
        """Run `work` in the thread; then put its error, or None, into `done`."""
        self._jobs.put((work, done))

    def stop(self) -> None:
        """End the thread after its jobs."""
        self._jobs.put(None)
        self._thread.join()


class ThreadTeam:
    """A context manager around the threads of one fit or prediction.

    Parameters
    ----------
    n_threads : int
        Number of threads, including the caller; the others start when they are needed.
    """

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads
        self._workers: list[_Worker] = []

    def __enter__(self) -> ThreadTeam:
        return self

    def __exit__(self, *_: Any) -> None:
        while self._workers:
            self._workers.pop().stop()

    def _together(self, own: Callable[[], Any], others: Sequence[Callable[[], Any]]) -> None:
        """Run one job here and the others in threads; wait for all of them, also after errors."""
        while len(self._workers) < len(others):
            self._workers.append(_Worker())
        done: SimpleQueue[BaseException | None] = SimpleQueue()
        for worker, work in zip(self._workers, others, strict=False):
            worker.submit(work, done)
        try:
            own()
        finally:
            errors = [done.get() for _ in others]
        for error in errors:
            if error is not None:
                raise error

    def for_each(self, work: Callable[[int], Any], n_items: int) -> None:
        """Call ``work(item)`` for every item; Ctrl-C waits for the running items only.

        Parameters
        ----------
        work : callable
            Receives the number of an item.
        n_items : int
            Number of items.
        """
        left = iter(range(n_items))
        ended = False

        def take() -> None:
            nonlocal ended
            try:
                for item in left:
                    if ended:
                        return
                    work(item)
            except BaseException:
                ended = True
                raise

        self._together(take, [take] * (min(self.n_threads, n_items) - 1))

    def run(self, work: Callable[[int, int], Any], n_items: int, grain: int = 1) -> None:
        """Call ``work(start, stop)`` on ranges that cover ``range(n_items)``.

        Parameters
        ----------
        work : callable
            Receives the two ends of a range.
        n_items : int
            Number of items.
        grain : int
            Smallest number of items per range, so that small work is not divided.
        """
        parts = min(self.n_threads, n_items // max(grain, 1))
        if parts > 1:
            ends = [n_items * part // parts for part in range(parts + 1)]
            pieces = [partial(work, *piece) for piece in pairwise(ends)]
            self._together(pieces[0], pieces[1:])
        elif n_items:  # small work, which is frequent, runs here
            work(0, n_items)


def _before_fork() -> None:
    """Take what no other thread may hold while the process is forked."""
    OutsideForks._changed.acquire()
    OutsideForks._changed.wait_for(lambda: OutsideForks._inside == 0)
    OneBlasThread._lock.acquire()


def _after_fork() -> None:
    OneBlasThread._lock.release()
    OutsideForks._changed.release()


def _after_fork_in_child() -> None:
    """Forget the fits of the parent process, which do not run in the child."""
    if OneBlasThread._users:
        for library, n_threads in OneBlasThread._limits:
            _set_threads(library, n_threads)
    OneBlasThread._users = 0
    _after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child
    )
