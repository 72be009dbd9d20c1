"""CPU time by phase of a fit, for those who ask: `measured` listens, trainers name their phases."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_listener: ContextVar[dict[str, float] | None] = ContextVar("listener", default=None)


@contextmanager
def measured() -> Iterator[dict[str, float]]:
    """Collect the CPU seconds of the phases that are run in this context.

    Yields
    ------
    dict of str to float
        Seconds by phase, filled in while the context lasts.
    """
    spent: dict[str, float] = defaultdict(float)
    token = _listener.set(spent)
    try:
        yield spent
    finally:
        _listener.reset(token)


@contextmanager
def phase(name: str) -> Iterator[None]:
    """Name what is run in this context.

    Parameters
    ----------
    name : str
        The phase.

    Yields
    ------
    None
        Nothing.
    """
    spent = _listener.get()
    if spent is None:
        yield
        return
    began = time.process_time()
    try:
        yield
    finally:
        spent[name] += time.process_time() - began
