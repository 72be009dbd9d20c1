"""Says before a fit begins that its columns will not fit into memory."""

from __future__ import annotations

from pathlib import Path


def available_memory() -> int | None:
    """Return the bytes of memory that are free for use, or None where it is not known."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return 1024 * next(int(s.split()[1]) for s in lines if s.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError):
        return None


def check_memory(n_columns: int, n_points: int, bytes_a_point: int) -> None:
    """Raise where the columns of a search would take more memory than there is.

    Parameters
    ----------
    n_columns, n_points : int
        Shape of the table that is to be made.
    bytes_a_point : int
        Size of an entry.

    Raises
    ------
    MemoryError
        With the sizes and the remedies.
    """
    needed, free = n_columns * n_points * bytes_a_point, available_memory()
    if free is not None and needed > 0.9 * free:
        raise MemoryError(
            f"{n_columns:,} columns of {n_points:,} points take {needed / 2**30:.1f} GiB at "
            f"{bytes_a_point} bytes a point, and {free / 2**30:.1f} GiB are free: lower "
            "n_projections, or set max_bins=255 (1 byte a point)"
        )
