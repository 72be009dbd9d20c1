"""Decisions about columns: what is decided, the file that overrides it, leaks."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

from randomboost.reading import (  # noqa: E402
    Account,
    Column,
    DataError,
    choose_columns,
    decisions_text,
    feature_table,
    features_of,
    find_leaks,
    left_out_of,
    read_overrides,
    read_table,
)

FRAME = pd.DataFrame(
    {
        "price": ["$1,200", "$300", "$1,450.50", "-", "n/a"] * 8,
        "rate": ["1.234", "5.678", "9.100", "2.000", None] * 8,
        "day": ["01/02/2020", "03/04/2020", "05/06/2020", "07/08/2020", "01/01/2021"] * 8,
        "member": ["Y", "N", "y", "no", "unknown"] * 8,
        "word": ["red", "blue", "unknown", "-", "?"] * 8,
        "mostly": ["1", "2", "3", "4", "tall"] * 8,
        "few": [*(str(i % 7) for i in range(39)), "tall"],
        "id": range(40),
    }
)


def by_name(decisions):
    return {decision.name: decision for decision in decisions}


def test_what_is_decided_and_why():
    found = by_name(choose_columns(FRAME))
    assert {name: one.read_as for name, one in found.items()} == {
        "price": "number",
        "rate": "number",
        "day": "date",
        "member": "flag",
        "word": "category",
        "mostly": "category",
        "few": "number",
        "id": "left out",
    }
    assert found["price"].converted == (
        "unit $ 24, thousands separators 16; missing: '-' 8"  # n/a is missing everywhere
    )
    assert found["price"].n_missing == 16
    assert found["price"].examples == ("$1,200", "$300", "$1,450.50")
    assert found["rate"].note == ""  # the price has decimal points
    assert "ambiguous" in found["day"].note
    assert found["member"].converted == "missing: 'unknown' 8"
    assert found["word"].n_missing == 8
    assert "32 of 40 cells are numbers" in found["mostly"].note
    assert found["few"].converted == "unreadable, missing: 'tall' 1"
    assert found["id"].note == "an identifier: it numbers the rows"


@pytest.mark.parametrize("ending", ["csv", "json"])
def test_a_file_of_decisions_gives_the_same_decisions(ending, tmp_path):
    decisions = choose_columns(FRAME)
    path = tmp_path / f"columns.{ending}"
    path.write_text(decisions_text(decisions, str(path)))
    again = choose_columns(FRAME, overrides=read_overrides(str(path)))
    assert features_of(again) == features_of(decisions)
    assert [one.name for one in left_out_of(again)] == ["id"]


def test_an_edited_file_overrides(tmp_path):
    path = tmp_path / "columns.csv"
    path.write_text(decisions_text(choose_columns(FRAME), str(path)))
    lines = {line["column"]: line for line in csv.DictReader(path.open())}
    lines["rate"]["decimal"] = ","
    lines["day"]["order"] = "dmy"
    lines["mostly"] |= {"read_as": "number", "missing_words": "tall | 4"}
    lines["id"]["read_as"] = "category"
    lines["word"]["read_as"] = "left out"
    lines["price"]["missing_words"] = "$300"
    with path.open("w") as stream:
        writer = csv.DictWriter(stream, list(lines["id"]), delimiter=";")  # as some spreadsheets do
        writer.writeheader()
        writer.writerows(lines.values())
    found = by_name(choose_columns(FRAME, overrides=read_overrides(str(path))))
    X = feature_table(FRAME, [one.column for one in found.values() if one.column])
    assert X["rate"][:2].tolist() == [1234, 5678]
    assert X["day"][0] == (pd.Timestamp("2020-02-01") - pd.Timestamp(0)).days
    assert found["day"].note == ""
    assert X["mostly"][:3].tolist() == [1, 2, 3]
    assert X["mostly"][3:5].isna().all()
    assert X["id"].dtype == "category"
    assert found["word"].read_as == "left out"
    assert np.isnan(X["price"][1])


def test_a_short_file_decides_only_what_it_names(tmp_path):
    (tmp_path / "c.json").write_text(json.dumps([{"column": "few", "read_as": "category"}]))
    decisions = choose_columns(FRAME, overrides=read_overrides(str(tmp_path / "c.json")))
    kinds = {one.name: one.read_as for one in decisions}
    assert kinds["few"] == "category"
    assert kinds["price"] == "number"


def test_numbers_that_mean_missing(tmp_path):
    frame = pd.DataFrame({"a": [1.0, -999.0, 3.0]})
    (tmp_path / "c.csv").write_text("column,missing_words\na,-999\n")
    overrides = read_overrides(str(tmp_path / "c.csv"))
    columns = features_of(choose_columns(frame, overrides=overrides))
    np.testing.assert_array_equal(feature_table(frame, columns)["a"], [1, np.nan, 3])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("column,read_as\nfew,nummer\n", "read_as is 'nummer', but must be one of number, flag"),
        ("column,decimal\nfew,;\n", "decimal is ';', but must be one of"),
        ("column,order\nday,ymd\n", "order is 'ymd'"),
        ("column,kind\nfew,number\n", "has a field 'kind': the fields are column, read_as"),
        ("read_as\nnumber\n", "without the name of a column"),
        ("column\nfew\nfew\n", "two lines for column 'few'"),
        ("column,read_as\nnone,number\n", "--columns-file 'none': there is no such column"),
        ("column,read_as\nword,number\n", "cannot be read as number: 16 of 16 cells"),
    ],
)
def test_files_that_cannot_be_followed(content, message, tmp_path):
    (tmp_path / "c.csv").write_text(content)
    with pytest.raises(DataError, match=message):
        choose_columns(FRAME, overrides=read_overrides(str(tmp_path / "c.csv")))


@pytest.mark.parametrize("content", ["{", '{"column": "few"}', "[1]"])
def test_files_that_are_not_lists(content, tmp_path):
    (tmp_path / "c.json").write_text(content)
    with pytest.raises(DataError, match=r"c\.json"):
        read_overrides(str(tmp_path / "c.json"))


def test_a_column_is_saved_as_what_differs_from_the_usual():
    assert Column("a", "number").as_dict() == {"name": "a", "kind": "number"}
    full = Column("a", "number", decimal=",", unit="kg", missing=("-1",), forms=("unit kg",))
    assert json.loads(json.dumps(full.as_dict()))["missing"] == ["-1"]
    assert Column.from_dict(json.loads(json.dumps(full.as_dict()))) == full


def test_forms_that_the_training_data_did_not_have_are_reported():
    column = Column("a", "number", forms=("unit $",))
    account = Account("t.csv")
    feature_table(pd.DataFrame({"a": ["$1", "(2)", "unknown", "3"]}), [column], account.add)
    assert account.remarks() == [
        "column 'a': counted as missing: 'unknown' 1",
        "column 'a': in a form that the training data did not have: negative in parentheses 1",
    ]


# -- identifiers -------------------------------------------------------------------------------


def test_numbers_of_rows_in_any_order_are_identifiers():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "a": rng.permutation(60),
            "b": [f"{i:04d}" for i in range(60)],
            "c": np.flatnonzero(rng.random(90) < 0.9)[:60],
            "d": rng.choice(10**6, 60, replace=False),
        }
    )
    assert [one.name for one in left_out_of(choose_columns(frame))] == ["a", "b", "c"]


# -- files -------------------------------------------------------------------------------------


def test_columns_of_the_same_name(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,a,a_2,a,,\n1,2,3,4,5,6,7\n")
    table = read_table(str(tmp_path / "t.csv"))
    assert list(table.frame) == ["a", "b", "a_3", "a_2", "a_4", "column_6", "column_7"]
    assert table.remarks == ["several columns have the same name; renamed: a_3, a_4"]


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_columns_of_the_same_name_in_arrow_files(ending, tmp_path):
    import pyarrow as pa
    from pyarrow import feather, parquet

    from randomboost.reading import open_rows

    table = pa.table([pa.array([1, 2]), pa.array(["x", "?"])], names=["a", "a"])
    path = tmp_path / f"t.{ending}"
    (parquet.write_table if ending == "parquet" else feather.write_feather)(table, str(path))
    whole = read_table(str(path))
    assert list(whole.frame) == ["a", "a_2"]
    assert "renamed: a_2" in whole.remarks[0]
    with open_rows(str(path)) as rows:
        (chunk,) = rows.chunks({"a_2"})
    assert chunk["a_2"].tolist() == ["x", "?"]


def test_every_broken_row_is_named_by_its_line(tmp_path):
    text = 'a,b\n1,2\n"x\ny",3\n\n1,2,3\n4,5\n6\n'
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(DataError, match=r"line 6 of .* 3 cells instead of 2: '1,2,3'.*: 8\."):
        read_table(str(tmp_path / "t.csv"))


# -- leaks -------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 5])
def test_a_column_that_predicts_the_target_by_itself_is_found(n_classes):
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, 600)
    X = pd.DataFrame(
        {
            "noise": rng.normal(size=600),
            "helpful": y + rng.normal(size=600),
            "score": y + rng.random(600) * 0.99,
            "word": pd.Categorical(np.array(list("vwxyz"))[y]),
            "unique": pd.Categorical([f"w{i}" for i in range(600)]),
            "gaps": np.where(rng.random(600) < 0.5, np.nan, y),
        }
    )
    leaks = find_leaks(X, y)
    assert [leak.name for leak in leaks] == ["score", "word"]
    assert "predicts the target by itself (error 0.0 %" in leaks[1].note


def test_leaks_need_rows_and_more_than_a_frequent_class():
    X = pd.DataFrame({"a": np.arange(30.0) % 2})
    assert not find_leaks(X, X["a"].to_numpy())
    rng = np.random.default_rng(0)
    rare = rng.random(1000) < 0.008
    assert not find_leaks(pd.DataFrame({"a": rng.normal(size=1000)}), rare.astype(int))
