"""The wheel: built, installed into an empty folder and used there, without the source tree."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

import randomboost

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "randomboost"
TOOLS = ("build", "hatchling", "pip")

USE = """
import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_iris

import randomboost

assert Path(randomboost.__file__).is_relative_to(sys.argv[1]), randomboost.__file__
X, y = load_iris(return_X_y=True)
model = randomboost.AdaBoostECCClassifier(n_estimators=5, random_state=0).fit(X, y)
model.save("model.rboost")
loaded = randomboost.load("model.rboost")
assert np.array_equal(loaded.decision_function(X), model.decision_function(X))
assert np.array_equal(loaded.predict(X), model.predict(X))
print(loaded.score(X, y))
"""


def missing(tool):
    try:
        distribution(tool)
    except PackageNotFoundError:
        return True
    return False


def run(arguments, folder, **variables):
    """Run Python in a folder; return what it prints."""
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=folder,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return a folder with the installed wheel and nothing else."""
    absent = [tool for tool in TOOLS if missing(tool)]
    if absent:
        pytest.skip(f"a wheel is made with {', '.join(absent)}: pip install randomboost[test]")
    folder = tmp_path_factory.mktemp("wheel")
    build = ["-m", "build", "--wheel", "--no-isolation", "--outdir", folder / "dist", ROOT]
    run(build, folder)
    (wheel,) = (folder / "dist").iterdir()
    assert wheel.name == f"randomboost-{randomboost.__version__}-py3-none-any.whl"
    alone = ["--no-deps", "--no-index", "--disable-pip-version-check", "--quiet"]
    run(["-m", "pip", "install", *alone, "--target", folder / "site", wheel], folder)
    return folder / "site"


def test_the_wheel_fits_saves_loads_and_predicts(site, tmp_path):
    printed = run(["-c", USE, site], tmp_path, PYTHONPATH=str(site))
    assert float(printed) > 0.9


def files_of(folder):
    found = (path for path in folder.rglob("*") if path.is_file())
    return {
        path.relative_to(folder).as_posix() for path in found if "__pycache__" not in path.parts
    }


def test_the_wheel_has_every_file_of_the_package(site):
    expected = files_of(SOURCE)
    assert files_of(site / "randomboost") == expected
    others = {Path(name).suffix for name in expected} - {".py"}
    assert {".typed", ".html", ".css", ".js"} <= others, "templates and the mark of types"


def test_the_wheel_has_nothing_else(site):
    version = randomboost.__version__
    folders = {path.name for path in site.iterdir()} - {"bin", "Scripts"}
    assert folders == {"randomboost", f"randomboost-{version}.dist-info"}


def test_the_command_is_installed(site):
    points = site / f"randomboost-{randomboost.__version__}.dist-info" / "entry_points.txt"
    assert "randomboost = randomboost.cli:main" in points.read_text()
    shown = run(["-m", "randomboost", "--version"], site, PYTHONPATH=str(site))
    assert randomboost.__version__ in shown
