"""A second process: it makes its call, and nothing that happens to it is an error."""

import subprocess
import time

import pytest

from randomboost.runtime import second_process
from randomboost.runtime.second_process import SecondProcess


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(second_process, "cache_folder", lambda: str(tmp_path))


def test_makes_its_call():
    process = SecondProcess(time.sleep, 0)
    process.wait()
    assert process._process.returncode == 0
    assert not process.runs


def test_an_error_in_it_is_none_here():
    process = SecondProcess(time.sleep, -1)
    process.wait()
    assert process._process.returncode == 1


def test_is_ended():
    process = SecondProcess(time.sleep, 600)
    assert process.runs
    process.stop()
    assert not process.runs
    process.wait()
    process.stop()


def test_is_not_waited_for_too_long(monkeypatch):
    monkeypatch.setattr(second_process, "_PATIENCE", 0.01)
    process = SecondProcess(time.sleep, 600)
    process.wait()
    assert not process.runs


def _forbidden(*_, **__):
    raise PermissionError("no processes here")


@pytest.mark.parametrize("reason", ["forbidden", "no interpreter", "cache"])
def test_is_left_out_where_it_cannot_help(reason, tmp_path, monkeypatch):
    if reason == "forbidden":
        monkeypatch.setattr(subprocess, "Popen", _forbidden)
    elif reason == "no interpreter":
        monkeypatch.setattr("sys.executable", "")
    else:  # a folder that cannot be written to
        monkeypatch.setattr(second_process, "cache_folder", lambda: str(tmp_path / "missing"))
    process = SecondProcess(time.sleep, 600)
    assert process._process is None
    assert not process.runs
    process.wait()
    process.stop()
