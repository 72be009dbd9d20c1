"""A measurement in a process of its own, ended when it takes too much time or memory."""

from __future__ import annotations

import multiprocessing
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from measure import memory_of

Stage = Callable[[str], None]
_POLL = 0.05  # seconds between two looks at the process
_DONE = "done"


@dataclass(frozen=True)
class Limits:
    """What a measurement may take.

    Parameters
    ----------
    seconds : float
        Time of every stage: loading, fitting, predicting.
    gigabytes : float
        Resident memory of the process.
    """

    seconds: float
    gigabytes: float

    def allow_more(self, record: dict[str, Any]) -> bool:
        """Return whether a record is of a run that exceeded a limit lower than this one."""
        kind = record.get("exceeded")
        return kind is not None and getattr(self, kind) > record["limit"]


def _work(work: Callable[[Stage], dict[str, Any]], pipe: Any) -> None:
    """Do the work and send what it returns; run in the new process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, which ends this
    try:
        found = work(lambda name: pipe.send((name, None)))
    except BaseException as error:  # sent to the parent, which goes on with other measurements
        found = {"failed": type(error).__name__, "message": str(error)}
    pipe.send((_DONE, found))


def _watch(process: Any, pipe: Any, limits: Limits) -> dict[str, Any]:
    """Wait for the result of a process, or for a limit."""
    stage, began = "start", time.monotonic()
    while True:
        if pipe.poll(_POLL):
            try:
                name, found = pipe.recv()
            except EOFError:
                process.join()
                message = f"the process ended with {process.exitcode} during the stage {stage!r}"
                return {"failed": "ProcessEnded", "message": message}
            if name == _DONE:
                return found
            stage, began = name, time.monotonic()
        if memory_of(process.pid) > 1e9 * limits.gigabytes:
            return {"exceeded": "gigabytes", "limit": limits.gigabytes, "stage": stage}
        if time.monotonic() - began > limits.seconds:
            return {"exceeded": "seconds", "limit": limits.seconds, "stage": stage}


def run_alone(work: Callable[[Stage], dict[str, Any]], limits: Limits) -> dict[str, Any]:
    """Return what `work` returns in a process of its own.

    Parameters
    ----------
    work : callable
        Takes a function that it calls with the name of every stage it begins; can be pickled.
    limits : Limits
        Where a limit is exceeded the process is ended, and the record says which and when.

    Returns
    -------
    dict
        The record; with "failed" where there was an error, "exceeded" where there was a limit.
    """
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(work, sender))  # joblib gives daemons one thread
    process.start()
    sender.close()
    try:
        return _watch(process, receiver, limits)
    finally:
        process.kill()
        process.join()
        receiver.close()
