"""Sizes and durations as text with a suitable unit."""

from __future__ import annotations


def format_bytes(size: float) -> str:
    """Return a size as text.

    Parameters
    ----------
    size : float
        Number of bytes.

    Returns
    -------
    str
        Three significant digits and a unit.

    Examples
    --------
    >>> format_bytes(34_500)
    '34.5 kB'
    """
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"


def format_seconds(seconds: float) -> str:
    """Return a duration as text.

    Parameters
    ----------
    seconds : float
        The duration.

    Returns
    -------
    str
        Three significant digits and a unit.

    Examples
    --------
    >>> format_seconds(0.0123), format_seconds(600)
    ('12.3 ms', '10 min')
    """
    if seconds < 1:
        return f"{1000 * seconds:.3g} ms"
    if seconds < 100:
        return f"{seconds:.3g} s"
    return f"{seconds / 60:.3g} min" if seconds < 6000 else f"{seconds / 3600:.3g} h"
