"""The command line: the sample table that the pages use."""

from __future__ import annotations

import json

import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
pytest.importorskip("typer")

from typer.testing import CliRunner  # noqa: E402

from randomboost.cli import app  # noqa: E402
from randomboost.cli.sample import flowers  # noqa: E402


def run(*arguments, code=0):
    result = CliRunner().invoke(app, ["sample", *(str(argument) for argument in arguments)])
    assert result.exit_code == code, (result.exit_code, result.stdout, result.stderr)
    return result


def test_the_two_files(tmp_path):
    path = tmp_path / "flowers.csv"
    found = json.loads(run(path, "--json").stdout)
    known, new = pd.read_csv(path), pd.read_csv(found["new"])
    assert (len(known), len(new), found["rows"]) == (500, 100, 500)
    assert "species" not in new.columns
    assert set(known["species"]) == {"setosa", "versicolor", "virginica"}
    assert known["site"].dtype == object or str(known["site"].dtype) == "str"
    assert 0 < known.isna().to_numpy().sum() < 0.1 * known.size
    assert known["species"].notna().all()


def test_the_table_is_always_the_same_and_like_the_irises():
    from sklearn.datasets import load_iris

    table, again, iris = flowers(), flowers(), load_iris()
    pd.testing.assert_frame_equal(table, again)
    for number, name in enumerate(iris.target_names):
        mean = table.loc[table["species"] == name, "petal length"].mean()
        assert mean == pytest.approx(iris.data[iris.target == number, 2].mean(), abs=0.15)


def test_existing_files_stay(tmp_path):
    path = tmp_path / "flowers-new.csv"
    path.write_text("mine")
    assert "--force replaces it" in run(tmp_path / "flowers.csv", code=1).stderr
    assert path.read_text() == "mine"
    run(tmp_path / "flowers.csv", "--force")
    assert path.read_text() != "mine"


def test_a_missing_folder_is_named(tmp_path):
    assert "none: create it first" in run(tmp_path / "none" / "a.csv", code=1).stderr


def test_another_ending_is_refused(tmp_path):
    assert "has to end in .csv" in run(tmp_path / "flowers.parquet", code=1).stderr
