"""The console blocks of a page: commands after ``$``, each followed by what it prints."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from typing import NamedTuple

_TIME = re.compile(r"\b\d+(\.\d+)? (ms|s|min)\b|\b\d+:\d\d:\d\d\b")
_SIZE = re.compile(r"\b\d+(\.\d+)? [kMG]?B\b")
_LONG = re.compile(r"\d\.\d{7,}(e-\d+)?")
_COMPILING = "randomboost: compiling kernels"  # only on a machine that has not done it
_RATE = re.compile(r"\d+\.\d+|\b\d+\b")


class Step(NamedTuple):
    """A command of a block, and what the page shows after it."""

    command: str
    line: int  # of the block, counted from 0, after the command
    shown: list[str]


def steps(block):
    """Return the commands of a block with the lines that the page shows after each."""
    found = []
    for number, line in enumerate(block.splitlines(), 1):
        if line.startswith("$ "):
            found.append(Step(line[2:], number, []))
        elif found and found[-1].command.endswith("\\") and not found[-1].shown:
            found[-1] = Step(f"{found[-1].command}\n{line}", number, [])
        else:
            found[-1].shown.append(line)
    return found


def environment(folder):
    """Return the environment of a terminal of 80 columns with ``randomboost`` on its path."""
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    program = programs / "randomboost"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m randomboost "$@"\n')
    program.chmod(0o755)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "COLUMNS": "80", "LC_ALL": "C.UTF-8"}


def own_arguments(command):
    """Return the arguments of a command that is ``randomboost`` and nothing else, or None."""
    words = shlex.split(command, comments=True)
    plain = words[:1] == ["randomboost"] and not set(command) & set("|&;<>$`*?")
    return words[1:] if plain else None


def commands(script):
    """Return the lines of a script, those that continue joined, without empty ones."""
    lines = script.replace("\\\n", "").splitlines()
    return [line for line in lines if line.strip()]


def printed(command, folder, variables):
    """Return the lines that a command prints, on either stream, and its exit code.

    Our own commands run in this process, which saves the time to import everything again.
    """
    arguments = own_arguments(command)
    if arguments is not None:
        from typer.testing import CliRunner

        from randomboost.cli import app

        done = CliRunner().invoke(app, arguments, env=variables, prog_name="randomboost")
        return done.output.splitlines(), done.exit_code
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=300,
    )
    return done.stdout.splitlines(), done.returncode


def comparable(line, *, numbers):
    """Return a line without what differs from run to run: times, sizes, the last digits."""
    if "━" in line:
        return "(progress)"
    line = _SIZE.sub("SIZE", _TIME.sub("TIME", line))
    line = re.sub(r"the kernels are in .*", "the kernels are in FOLDER", line)
    line = _LONG.sub(lambda found: f"{float(found[0]):.2g}", line)
    if not numbers:
        line = _RATE.sub("N", line)
    return " ".join(line.split())


def without_notes(lines):
    """Return lines without the note that is printed only where kernels are compiled."""
    return [line for line in lines if _COMPILING not in line]


def same(shown, found, *, numbers=True):
    """Return whether lines are as the page shows them; ``...`` stands for any lines."""
    shown = [comparable(line, numbers=numbers) for line in shown]
    found = [comparable(line, numbers=numbers) for line in without_notes(found)]
    pattern = "\n".join(r"(?:.*\n?)*?" if line == "..." else re.escape(line) for line in shown)
    pattern = pattern.replace(r"(?:.*\n?)*?" + "\n", r"(?:.*\n)*?")
    return re.fullmatch(pattern, "\n".join(found)) is not None
