"""Threads: every item once, errors reach the caller, and nothing is left running."""

import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from randomboost.runtime.parallel import ThreadTeam, resolve_threads


@given(
    n_threads=st.integers(1, 4),
    n_items=st.integers(0, 30),
    grain=st.integers(0, 12),
)
@settings(deadline=None, max_examples=60)
def test_team_covers_every_item_once(n_threads, n_items, grain):
    ranges = []
    with ThreadTeam(n_threads) as team:
        team.run(lambda start, stop: ranges.append((start, stop)), n_items, grain)
    covered = sorted(item for start, stop in ranges for item in range(start, stop))
    assert covered == list(range(n_items))
    assert len(ranges) <= n_threads
    if len(ranges) > 1:
        assert min(stop - start for start, stop in ranges) >= grain
    if n_items >= n_threads and grain <= 1:
        assert len(ranges) == n_threads


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_an_error_in_a_thread_reaches_the_caller(failing):
    def work(start, stop):
        if start == failing:
            raise RuntimeError(f"part {failing}")

    with ThreadTeam(3) as team, pytest.raises(RuntimeError, match=f"part {failing}"):
        team.run(work, 3)


@pytest.mark.parametrize("how", ["run", "for_each"])
def test_a_team_works_on_after_an_error_and_waits_for_all(how):
    began, ended = [], []

    def work(start, *stop):
        began.append(start)
        if start == 0:
            raise KeyboardInterrupt
        time.sleep(0.02)
        ended.append(start)

    before = threading.active_count()
    with ThreadTeam(3) as team:
        assert threading.active_count() == before  # threads start when they are needed
        for _ in range(3):
            with pytest.raises(KeyboardInterrupt):
                getattr(team, how)(work, 3)
            assert sorted(began) == sorted([*ended, *[0] * began.count(0)])
        assert threading.active_count() == before + 2
    assert threading.active_count() == before


def test_n_jobs(monkeypatch):
    monkeypatch.setattr("randomboost.runtime.parallel.cpu_count", lambda: 6)
    monkeypatch.delenv("NUMBA_NUM_THREADS", raising=False)
    asked = [None, -1, -2, -6, -100, 1, 4, 20]
    assert [resolve_threads(n) for n in asked] == [6, 6, 5, 1, 1, 1, 4, 20]
    monkeypatch.setenv("NUMBA_NUM_THREADS", "2")
    assert [resolve_threads(n) for n in (None, -1, 4)] == [2, 6, 4]
