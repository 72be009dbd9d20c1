"""Sizes and durations as text."""

from randomboost.runtime.units import format_bytes, format_seconds


def test_sizes():
    sizes = [12, 34_500, 2e6, 5e9]
    assert [format_bytes(size) for size in sizes] == ["12 B", "34.5 kB", "2 MB", "5 GB"]


def test_durations():
    durations = [0.0123, 2.5, 600, 9000]
    shown = [format_seconds(seconds) for seconds in durations]
    assert shown == ["12.3 ms", "2.5 s", "10 min", "2.5 h"]
