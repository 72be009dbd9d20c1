"""Many measurements in a process of their own, each ended when it takes too long.

The clock counts the processor time of the process, so a machine that is busy with other work, or a
run that is stopped for a while (SIGSTOP), does not make a measurement too long.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

Item = TypeVar("Item")
Record = dict[str, Any]
_POLL = 0.2  # seconds between two looks at the process
_IDLE = 600.0  # seconds that a process may stand still, as one does that waits for itself


def processor_seconds(process: int) -> float:
    """Return the processor time of a process and its threads; 0 of one that has ended."""
    try:
        text = Path(f"/proc/{process}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    user, system = text.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def _serve(work: Callable[[Any], Record], items: Sequence[Any], pipe: Any) -> None:
    """Do the work item by item and send what it returns; run in the new process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, which ends this
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # libraries write their warnings there
    for item in items:
        try:
            found = work(item)
        except Exception as error:  # sent to the parent; the other items go on
            found = {"failed": f"{type(error).__name__}: {error}"}
        pipe.send(found)


def _answer(process: Any, pipe: Any, limit: float) -> Record:
    """Wait for the record of one item, or for its limit."""
    start = used = processor_seconds(process.pid)
    idle = 0.0
    while not pipe.poll(_POLL):
        before, used = used, processor_seconds(process.pid)
        idle = 0.0 if used > before else idle + _POLL  # the time of a stop does not count
        if used - start > limit or idle > _IDLE:
            return {"exceeded": limit}
    try:
        return pipe.recv()
    except EOFError:
        process.join()
        return {"failed": f"the process ended with {process.exitcode}"}


def watched(
    work: Callable[[Item], Record], items: Sequence[Item], limit: float
) -> Iterator[tuple[Item, Record]]:
    """Yield items and what `work` returns for them, in a process that does all of them.

    Parameters
    ----------
    work : callable
        Takes an item and returns its record; can be pickled.
    items : sequence
        What is to be done, in this order.
    limit : float
        Processor seconds of an item. Where they are exceeded the process is ended, and another
        one goes on with the next item.

    Yields
    ------
    item : object
        An item.
    record : dict
        Its record; with "failed" where there was an error, "exceeded" where there was the limit.
    """
    context = multiprocessing.get_context("spawn")
    rest = list(items)
    while rest:
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=_serve, args=(work, rest, sender))
        process.start()
        sender.close()
        try:
            while rest:
                record = _answer(process, receiver, limit)
                yield rest.pop(0), record
                if "exceeded" in record or not (rest and process.is_alive()):
                    break
        finally:
            process.kill()
            process.join()
            receiver.close()
