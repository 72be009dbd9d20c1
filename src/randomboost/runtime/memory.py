"""Available memory, and a clear error before a fit that would need more."""

from __future__ import annotations

from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup")  # limits of a container


def _container_memory() -> int | None:
    """Return the bytes that a container may still take, or None without a limit."""
    try:
        limit = (_CGROUP / "memory.max").read_text().strip()
        used = int((_CGROUP / "memory.current").read_text())
        return None if limit == "max" else max(0, int(limit) - used)
    except (OSError, ValueError):
        return None


def available_memory() -> int | None:
    """Return the bytes of available memory, or None if unknown."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        free = 1024 * next(int(s.split()[1]) for s in lines if s.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError):
        return None
    container = _container_memory()
    return free if container is None else min(free, container)


def memory_budget(max_memory: float | None) -> int:
    """Return the bytes that a search may take.

    Parameters
    ----------
    max_memory : float or None
        The limit of the user; None for half of the available memory.

    Returns
    -------
    int
        The budget.
    """
    if max_memory is not None:
        return int(max_memory)
    free = available_memory()
    return 2**32 if free is None else free // 2


def check_memory(needed: float, what: str, remedy: str, limit: float | None = None) -> None:
    """Raise an error if something would take more memory than there is.

    Parameters
    ----------
    needed : float
        Bytes needed.
    what : str
        What needs them, for the message.
    remedy : str
        What the user can do.
    limit : float or None
        Bytes that may be used; None for nine tenths of the available memory.

    Raises
    ------
    MemoryError
        With the numbers and the remedy.
    """
    if limit is None:
        free = available_memory()
        if free is None:
            return
        limit = 0.9 * free
    if needed > limit:
        raise MemoryError(
            f"{what} would take {needed / 2**30:.3g} GiB, and {limit / 2**30:.3g} GiB may be used: "
            f"{remedy}"
        )
