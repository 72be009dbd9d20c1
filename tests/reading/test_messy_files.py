"""A folder of messy files is read as the clean table, without hand work."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
pytest.importorskip("typer")

from messy_files import (  # noqa: E402
    CODES,
    NUMBERS,
    TARGET,
    TRAPS,
    clean_features,
    clean_table,
    write_all,
)
from typer.testing import CliRunner  # noqa: E402

from randomboost.cli import app  # noqa: E402
from randomboost.cli.data import read_training_table  # noqa: E402
from randomboost.reading import read_table  # noqa: E402


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_all(tmp_path_factory.mktemp("messy"))


def held_out_error(path, out):
    arguments = ["train", path, "-t", TARGET, "--set", "n_estimators=8", "--test-size", "0.3",
                 "--seed", "0", "-o", out, "--force", "--json"]  # fmt: skip
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.stderr
    assert "Traceback" not in result.stderr
    return json.loads(result.stdout)["scores"]["held_out"]["error"]


@pytest.fixture(scope="module")
def clean_error(folder, tmp_path_factory):
    return held_out_error(folder["clean.csv"], tmp_path_factory.mktemp("model") / "m.rboost")


def test_the_task_can_be_learned_but_not_perfectly(clean_error):
    assert 0.02 < clean_error < 0.4


@pytest.mark.parametrize("name", TRAPS)
def test_a_messy_file_gives_the_error_of_the_clean_one(name, folder, clean_error, tmp_path):
    assert held_out_error(folder[name], tmp_path / "m.rboost") <= 1.05 * clean_error


@pytest.mark.parametrize("name", ["clean.csv", *TRAPS])
def test_a_messy_file_is_read_as_the_clean_table(name, folder):
    table = read_training_table(str(folder[name]), TARGET)
    expected = clean_features(clean_table())
    X = table.X.rename(columns={"größe": "weight"})
    assert list(X.columns) == list(expected.columns)
    for column in (*NUMBERS, "member", "joined", "call"):
        np.testing.assert_allclose(X[column], expected[column], rtol=1e-12, err_msg=column)
    if name == "leading_zeros.csv":
        X["plan"] = X["plan"].cat.rename_categories({code: plan for plan, code in CODES.items()})
    pd.testing.assert_series_equal(
        X["plan"].astype(object), expected["plan"].astype(object), check_names=False
    )
    assert table.y.tolist() == clean_table()[TARGET].tolist()


# -- the table in the guide ----------------------------------------------------------------------

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "messy-files.md"
LINES = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.read_text().splitlines()
    if line.startswith("|")
][2:]
EXAMPLES = [(file, cell.strip("`"), value) for _, cell, value, file in LINES if cell]


def test_the_guide_has_every_trap():
    assert {file for *_, files in LINES for file in files.split(", ")} == set(TRAPS)


def as_shown(column, value):
    if value != value:
        return "missing"
    if column == "plan":
        return f"the category {value}"
    if column == "joined":
        return str((pd.Timestamp(0) + pd.Timedelta(days=value)).date())
    return f"{value:g} seconds" if column == "call" else f"{value:.6g}"


@pytest.mark.parametrize(("file", "cell", "value"), EXAMPLES)
def test_a_cell_of_the_guide_is_read_as_it_says(file, cell, value, folder):
    frame = read_table(str(folder[file])).frame
    table = read_training_table(str(folder[file]), TARGET)
    places = [
        (name, row) for name in table.X for row in np.flatnonzero(frame[name].astype(str) == cell)
    ]
    assert places
    for name, row in places:
        assert as_shown(name, table.X[name].iloc[row]) == value
