"""What those who join the project read: links lead somewhere, and CI runs what `.ci/run` runs."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/*.md")), *ROOT.glob("docs/guide/*.md")]
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")
WORKFLOW = (ROOT / ".github" / "workflows" / "ci.yml").read_text()


def targets(text):
    return re.findall(r"^(?:\s*- run: )?make (\S+)$", text, re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_to_files(page):
    linked = LINK.findall(page.read_text(encoding="utf-8"))
    assert not [name for name in linked if not (page.parent / name).exists()]


def test_the_workflow_runs_what_ci_runs():
    everything = targets((ROOT / ".ci" / "run").read_text())
    assert "- run: .ci/run" in WORKFLOW
    # on the newest Python, for which the oldest versions of the dependencies cannot be installed
    assert targets(WORKFLOW) == [target for target in everything if target != "test-oldest"]
    assert "test-oldest" in everything


def test_the_workflow_has_the_oldest_and_newest_python():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = re.findall(r"Python :: 3\.(\d+)", "\n".join(project["classifiers"]))
    minors = sorted(map(int, named))
    assert project["requires-python"] == f">=3.{minors[0]}"
    run = {int(minor) for minor in re.findall(r'python-version: "3\.(\d+)"', WORKFLOW)}
    assert {minors[0], minors[-1]} <= run <= set(minors)
