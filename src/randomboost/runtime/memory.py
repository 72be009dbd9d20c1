"""Available memory, and a clear error before a fit that would need more."""

from __future__ import annotations

from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup")  # limits of a container
_PROCESS = Path("/proc/self")


def _groups() -> list[Path]:
    """Return the folders of the control groups that this process is in, the innermost first."""
    try:
        lines = (_PROCESS / "cgroup").read_text().splitlines()
        inner = next(line[3:].strip("/") for line in lines if line.startswith("0::"))
    except (OSError, StopIteration):
        inner = ""
    folder = _CGROUP / inner
    return [folder, *(each for each in folder.parents if each.is_relative_to(_CGROUP))]


def _group_memory(folder: Path) -> int | None:
    """Return the bytes that a control group may still take, or None without a limit."""
    try:
        limit = (folder / "memory.max").read_text().strip()
        if limit == "max":
            return None
        used = int((folder / "memory.current").read_text())
        left = int(limit) - used
    except (OSError, ValueError):
        return None
    try:  # cached files count as used, and give way
        lines = (folder / "memory.stat").read_text().splitlines()
        left += next(int(line.split()[1]) for line in lines if line.startswith("inactive_file "))
    except (OSError, StopIteration, ValueError):
        pass
    return max(0, left)


def _limited_memory() -> list[int]:
    """Return the bytes that limits of the process (``ulimit -v``, ``ulimit -d``) leave to it."""
    try:
        import resource

        lines = (_PROCESS / "status").read_text().splitlines()
    except (ImportError, OSError):
        return []
    used = {line.split(":")[0]: line.split()[1] for line in lines if line.startswith("Vm")}
    left = []
    for kind, name in ((resource.RLIMIT_AS, "VmSize"), (resource.RLIMIT_DATA, "VmData")):
        limit = resource.getrlimit(kind)[0]
        if limit != resource.RLIM_INFINITY:
            left.append(max(0, limit - 1024 * int(used.get(name, 0))))
    return left


def available_memory() -> int | None:
    """Return the bytes of memory that this process may still take, or None if unknown.

    Control groups (containers) and the limits of the process count.
    """
    found = [left for left in map(_group_memory, _groups()) if left is not None]
    found += _limited_memory()
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        found.append(1024 * next(int(s.split()[1]) for s in lines if s.startswith("MemAvailable")))
    except (OSError, StopIteration, ValueError):
        pass
    return min(found, default=None)


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
