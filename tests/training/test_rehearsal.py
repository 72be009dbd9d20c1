"""Compiling in two processes: what a first fit finds in the cache, and when there is no other."""

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_classification

import randomboost
from randomboost import RandomBoostClassifier
from randomboost.runtime.second_process import SecondProcess
from randomboost.training import rehearsal
from randomboost.training.rehearsal import rehearsed
from randomboost.training.tree_settings import SketchSettings

SOURCE = Path(randomboost.__file__).parents[1]
FLOAT = np.dtype(np.float64)
SETTINGS = SketchSettings(n_sketches=14, n_members=4)

FIRST_FIT = """
from numba.core import event
from sklearn.datasets import make_classification
from randomboost import RandomBoostClassifier
from randomboost.runtime.compiling import _load_numba

class Listener(event.Listener):
    compiled = []
    def on_start(self, event):
        self.compiled.append(event.data["dispatcher"].py_func.__qualname__.rpartition(".")[0])
    def on_end(self, event):
        pass

_load_numba()
event.register("numba:compile", Listener())
X, y = make_classification(600, 8, n_informative=6, n_classes=5, random_state=0)
model = RandomBoostClassifier(2, random_state=0, n_jobs=2).fit(X, y)
print(*Listener.compiled, sep=",")
n_compiled = len(Listener.compiled)
model.predict(X)
print(*Listener.compiled[n_compiled:], sep=",")
"""


def test_a_first_fit_finds_what_the_other_process_compiled(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(FIRST_FIT)],
        env={**os.environ, "PYTHONPATH": str(SOURCE), "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    in_fit, in_predict = (set(line.split(",")) for line in done.stdout.splitlines())
    assert "_fill_similarities.outer" in in_fit
    of_rounds = {"_run_round.outer", "find_leaves.outer", "_merge.outer", "_find_best.outer"}
    assert not in_fit & of_rounds
    assert in_predict <= {"", "_add_weighted.outer", "find_classes.outer"}  # if there was time


class Recorded:
    """Stands for a second process, and notes what is asked of it."""

    made: list
    runs = False

    def __init__(self, function, *arguments):
        self.calls = []
        self.made.append((function, arguments, self.calls))

    def wait(self):
        self.calls.append("wait")

    def stop(self):
        self.calls.append("stop")


@pytest.fixture
def made(monkeypatch):
    """Return the list of second processes; this one seems to have an empty cache."""
    Recorded.made = []
    monkeypatch.setattr(rehearsal, "SecondProcess", Recorded)
    monkeypatch.setattr(rehearsal, "has_compiled", lambda: True)
    monkeypatch.setattr(rehearsal, "_done", set())
    return Recorded.made


def test_every_kind_of_round_is_compiled_ahead_once(made):
    for n_samples, n_classes in [(1000, 5), (2000, 3), (1000, 9), (900, 9)]:
        with rehearsed(SETTINGS, n_samples, n_classes, FLOAT, 4):
            pass
    of_rounds = rehearsal.rehearse_rounds
    tasks = [(5, 4, 1), (9, 8, 1)]
    assert made == [(of_rounds, task, ["wait", "stop"]) for task in tasks]


def test_members_whose_threads_work_together_have_other_kernels(made):
    with rehearsed(SketchSettings(n_sketches=6), 100_000, 30, FLOAT, 2):
        pass
    with rehearsed(SketchSettings(n_sketches=30), 100_000, 10_000, FLOAT, 2):
        pass
    tasks = [(30, 6, 2), (65, 30, 2)]  # the number of many classes does not matter
    assert made == [(rehearsal.rehearse_rounds, task, ["wait", "stop"]) for task in tasks]


def test_an_error_ends_the_other_process(made):
    with pytest.raises(KeyboardInterrupt), rehearsed(SETTINGS, 1000, 5, FLOAT, 2):
        raise KeyboardInterrupt
    assert [calls for *_, calls in made] == [["stop"]]


def test_nothing_is_done_with_one_thread_or_a_filled_cache(made, monkeypatch):
    with rehearsed(SETTINGS, 1000, 5, FLOAT, 1):
        pass
    monkeypatch.setattr(rehearsal, "has_compiled", lambda: False)
    with rehearsed(SETTINGS, 1000, 5, FLOAT, 2):
        pass
    assert made == []


def test_a_fit_does_not_need_the_other_process(made, monkeypatch, tmp_path):
    def killed(*_):
        process = SecondProcess(time.sleep, 600)
        process._process.kill()
        return process

    X, y = make_classification(600, 8, n_informative=6, n_classes=5, random_state=0)
    one = RandomBoostClassifier(2, random_state=0, n_jobs=1).fit(X, y)
    monkeypatch.setattr(rehearsal, "SecondProcess", killed)
    two = RandomBoostClassifier(2, random_state=0, n_jobs=2).fit(X, y)
    assert rehearsal._done
    assert np.array_equal(one.decision_function(X), two.decision_function(X))


@pytest.mark.parametrize("case", [(2, 1, 1), (12, 6, 2), (65, 6, 1)])
def test_rounds_on_made_up_samples_run(case):
    rehearsal.rehearse_rounds(*case)
    rehearsal._rehearse_leaves(*case)
    member, _ = rehearsal._made_up(*case)
    assert isinstance(member.step(), dict)
    assert len(member.trees[0].columns) > 1
