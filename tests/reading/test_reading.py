"""Tables from files: every format gives the same table; columns and target are detected."""

from __future__ import annotations

import bz2
import gzip
import lzma

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

from randomboost.reading import (  # noqa: E402
    Account,
    Column,
    DataError,
    choose_columns,
    class_labels,
    delimited,
    feature_table,
    features_of,
    find_target,
    label_strings,
    left_out_of,
    open_rows,
    read_table,
)


@pytest.fixture(scope="module")
def mixed():
    """A table with columns of every kind."""
    rng = np.random.default_rng(0)
    n = 60
    return pd.DataFrame(
        {
            "id": np.arange(100, 100 + n),
            "size": rng.normal(size=n),
            "count": rng.integers(0, 9, n),
            "colour": rng.choice(["red", "dark blue", "a,b"], n),
            "flag": rng.random(n) < 0.5,
            "when": pd.date_range("2020-01-01", periods=n, freq="7D"),
            "name": [f"name {i}" for i in range(n)],
            "constant": "x",
            "gaps": np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n)),
            "class": rng.choice(["yes", "no"], n),
        }
    )


KINDS = {
    "size": "number",
    "count": "number",
    "colour": "category",
    "flag": "flag",
    "when": "date",
    "gaps": "number",
}


def chosen(frame, **options):
    decisions = choose_columns(frame, **options)
    columns = [Column(one.name, one.kind) for one in features_of(decisions)]
    return columns, left_out_of(decisions)


def features(frame):
    decisions = choose_columns(frame.drop(columns="class"))
    columns = features_of(decisions)
    return columns, left_out_of(decisions), feature_table(frame, columns)


def write(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


FORMS = {
    "plain.csv": lambda t: t.to_csv(index=False).encode(),
    "tabs.tsv": lambda t: t.to_csv(index=False, sep="\t").encode(),
    "excel.csv": lambda t: b"\xef\xbb\xbf" + t.to_csv(index=False, sep=";", decimal=",").encode(),
    "bars.txt": lambda t: t.to_csv(index=False, sep="|", na_rep="?").encode(),
    "windows.csv": lambda t: t.to_csv(index=False, lineterminator="\r\n", na_rep="NA").encode(),
    "wide.csv": lambda t: t.to_csv(index=False).encode("utf-16"),
    "packed.csv.gz": lambda t: gzip.compress(t.to_csv(index=False).encode()),
    "packed.csv.bz2": lambda t: bz2.compress(t.to_csv(index=False).encode()),
    "packed.csv.xz": lambda t: lzma.compress(t.to_csv(index=False).encode()),
    "table.parquet": lambda t: t.to_parquet(index=False),
}


@pytest.mark.parametrize("name", [*FORMS, "table.feather"])
def test_every_format_gives_the_same_features(mixed, tmp_path, name):
    if name == "table.feather":
        mixed.to_feather(tmp_path / name)
    else:
        write(tmp_path, name, FORMS[name](mixed))
    columns, left_out, X = features(read_table(str(tmp_path / name)).frame)
    assert {column.name: column.kind for column in columns} == KINDS
    assert [column.name for column in left_out] == ["id", "name", "constant"]
    pd.testing.assert_series_equal(X["size"], mixed["size"])
    pd.testing.assert_series_equal(X["gaps"], mixed["gaps"])
    assert X["count"].tolist() == mixed["count"].tolist()
    assert X["colour"].tolist() == mixed["colour"].tolist()
    assert X["flag"].tolist() == mixed["flag"].astype(float).tolist()
    assert X["when"].tolist() == [18262.0 + 7 * i for i in range(len(mixed))]


@pytest.mark.parametrize("name", ["plain.csv", "excel.csv", "packed.csv.gz", "table.parquet"])
def test_streaming_gives_the_same_rows_in_pieces(mixed, tmp_path, name, monkeypatch):
    path = write(tmp_path, name, FORMS[name](mixed))
    columns, _, whole = features(read_table(path).frame)
    monkeypatch.setattr(delimited, "_BLOCK", 700)
    monkeypatch.setattr("randomboost.reading.rows._CELLS", 50)
    with open_rows(path) as rows:
        assert rows.names == list(mixed.columns)
        chunks = list(rows.chunks({column.name for column in columns}))
    assert len(chunks) > 3
    parts = [feature_table(chunk, columns) for chunk in chunks]
    together = pd.concat([part.astype({"colour": object}) for part in parts], ignore_index=True)
    pd.testing.assert_frame_equal(together, whole.astype({"colour": object}), check_dtype=False)


def test_arff(tmp_path):
    path = write(
        tmp_path,
        "t.arff",
        "% remark\n@relation t\n@attribute size numeric\n@attribute colour {red, blue}\n"
        "@attribute class {p, q}\n@data\n1.5,red,p\n?,blue,q\n2,?,p\n",
    )
    columns, _, X = features(read_table(path).frame)
    assert columns == [Column("size", "number"), Column("colour", "category")]
    np.testing.assert_array_equal(X["size"], [1.5, np.nan, 2.0])
    assert X["colour"].astype(object).where(X["colour"].notna(), None).tolist() == [
        "red",
        "blue",
        None,
    ]


def test_libsvm_numbers_features_as_the_file_does(tmp_path):
    path = write(tmp_path, "t.libsvm", "2 1:0.5 3:2\n-1 2:1 # remark\n\n2 1:3\n")
    frame = read_table(path).frame
    assert list(frame.columns) == ["f1", "f2", "f3", "target"]
    assert frame.to_numpy().tolist() == [[0.5, 0, 2, 2], [0, 1, 0, -1], [3, 0, 0, 2]]
    with open_rows(path) as rows:
        assert rows.names is None
        (chunk,) = rows.chunks({"f3", "f7", "target"})
    assert chunk[["f3", "f7", "target"]].to_numpy().tolist() == [[2, 0, 2], [0, 0, -1], [0, 0, 2]]


def test_samples_of_scikit_learn():
    frame = read_table("sklearn:iris").frame
    assert frame.shape == (150, 5)
    assert sorted(set(frame["target"])) == ["setosa", "versicolor", "virginica"]
    with pytest.raises(DataError, match="sklearn:wine"):
        read_table("sklearn:none")


def test_quotes_newlines_spaces_and_empty_lines(tmp_path):
    text = 'a, b ,class\n"x\ny", 1.5,u\n\n"say ""hi"", you", ?,v\n'
    frame = read_table(write(tmp_path, "t.csv", text)).frame
    assert list(frame.columns) == ["a", "b", "class"]
    assert frame["a"].tolist() == ["x\ny", 'say "hi", you']
    assert label_strings(frame["b"]).tolist() == ["1.5", None]


def test_an_empty_line_is_a_missing_value_in_a_file_of_one_column(tmp_path):
    frame = read_table(write(tmp_path, "t.csv", "a\n1\n\n3\n")).frame
    assert label_strings(frame["a"]).tolist() == ["1", None, "3"]


def test_older_windows_text(tmp_path):
    table = read_table(write(tmp_path, "t.csv", "a,b\nréd,1\n".encode("cp1252")))
    assert table.frame["a"].tolist() == ["réd"]
    assert table.remarks == ["the encoding is cp1252"]


def test_rows_with_one_cell_more_than_the_header(tmp_path):
    ended = read_table(write(tmp_path, "a.csv", "a,b\n1,2,\n3,4,\n"))
    assert list(ended.frame.columns) == ["a", "b", "column_3"]
    assert ended.remarks == ["the last column has no name in the header"]
    from_r = read_table(write(tmp_path, "r.csv", '"a","b"\n"1",5,x\n"2",6,y\n'))
    assert list(from_r.frame.columns) == ["column_1", "a", "b"]
    assert from_r.frame["b"].tolist() == ["x", "y"]
    with pytest.raises(DataError, match="line 202 of"):
        read_table(write(tmp_path, "b.csv", "a,b\n" + "1,2,\n" * 200 + "1,2\n"))


def test_rows_that_repeat_the_header_are_left_out(tmp_path):
    path = write(tmp_path, "t.csv", "a, b ,c\n1,x,2\na,b,c\n a ,b , c\n3,y,4\na,z,5\n")
    table = read_table(path)
    assert table.frame["b"].tolist() == ["x", "y", "z"]
    assert table.remarks == ["2 rows repeat the header: left out"]


def test_no_header(tmp_path):
    path = write(tmp_path, "t.csv", "1.5,2,x\n3.5,4,y\n1,2,z\n")
    frame = read_table(path, header=False).frame
    assert list(frame.columns) == ["column_1", "column_2", "column_3"]
    assert len(frame) == 3
    with pytest.raises(DataError, match="--no-header"):
        read_table(write(tmp_path, "n.csv", "1.5,2\n3.5,4\n"))
    counted = read_table(write(tmp_path, "c.csv", "0,1,2\n3.5,4,5\n")).frame
    assert list(counted.columns) == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"a,b\n", "no rows"),
        (b"a,b,c\n1,2,3\n1,2\n", "line 3 of .* has 2 cells instead of 3: '1,2'"),
        (b"a,b,c\n1,2,3\n1,2,3,4\n", "4 cells instead of 3"),
        (
            b"A title\n\na,b,c\n1,2,3\n1,2,3\n",
            "3 cells, but its first line has 1: delete the lines",
        ),
        (b'[{"a": 1, "b": 2}]', "is a JSON file: save the table as CSV"),
        (b"\n<html><table></table></html>", "is an HTML or XML file"),
        (b"\x00\x01" * 500, "binary data"),
        (b"PK\x03\x04rest", "compressed and damaged"),
        (b"PAR1 and no more", "cannot read .* as parquet"),
        (b"ARROW1 and no more", "cannot read .* as feather"),
        (b"\x1f\x8b\x08\x00cut", "compressed and damaged"),
        (gzip.compress(b"a,b\n1,2\n" * 5000, mtime=0)[:-12], "compressed and damaged"),
        (gzip.compress(b"a,b\n1,2\n" * 5000, mtime=0)[:40] + b"?" * 99, "compressed and damaged"),
    ],
)
def test_files_that_are_not_tables(tmp_path, content, message):
    with pytest.raises(DataError, match=message):
        read_table(write(tmp_path, "t.csv", content))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.arff", "@relation t\n@attribute a string\n@data\nx\n"),
        ("t.arff", "@relation t\n@attribute a numeric\n@data\nword\n"),
        ("t.libsvm", "1 a:b\n"),
        ("t.libsvm", "words\n"),
    ],
)
def test_files_that_are_not_arff_or_libsvm(tmp_path, name, content):
    with pytest.raises(DataError, match="cannot read"):
        read_table(write(tmp_path, name, content))


def test_unreadable_paths(tmp_path):
    with pytest.raises(DataError, match="No such file"):
        read_table(str(tmp_path / "none.csv"))
    with pytest.raises(DataError, match="folder"):
        read_table(str(tmp_path))


# -- columns -----------------------------------------------------------------------------------


def frame_of(n=40, **columns):
    return pd.DataFrame({name: values[:n] for name, values in columns.items()})


def test_identifiers_are_left_out_and_can_be_kept():
    frame = frame_of(
        user_id=list(np.random.default_rng(0).permutation(1000)[:40]),
        running=list(range(40)),
        unique_measure=[i * 2.5 for i in range(40)],
        grid=[3, 1, 2, 4] * 10,
        words=[f"w{i}" for i in range(40)],
    )
    columns, left_out = chosen(frame)
    assert [column.name for column in columns] == ["unique_measure", "grid"]
    assert [column.name for column in left_out] == ["user_id", "running", "words"]
    columns, left_out = chosen(frame, keep=["words"], drop=["grid"], categories=["running"])
    assert Column("words", "category") in columns
    assert "grid" not in [column.name for column in columns]


def test_numbers_too_long_to_tell_apart_are_identifiers():
    long = [str(10**24 + number) for number in range(40)]
    _, (found,) = chosen(frame_of(a=long, b=[1, 2] * 20))
    assert (found.name, found.reason) == ("a", "an identifier: nearly every row has its own value")


def test_errors_of_spreadsheets_are_missing_in_text():
    (found,) = choose_columns(frame_of(a=["red", "#VALUE!", "blue", "#REF!"] * 10))
    assert (found.read_as, found.n_missing) == ("category", 20)


def test_few_rows_may_all_be_different():
    columns, left_out = chosen(pd.DataFrame({"word": list("abcde")}))
    assert columns == [Column("word", "category")]
    assert not left_out


def test_empty_columns_are_left_out():
    frame = frame_of(nothing=[None] * 40, words=["unknown", None] * 20, a=[1, 2] * 20)
    columns, left_out = chosen(frame)
    assert columns == [Column("words", "category"), Column("a", "number")]
    assert [(one.name, one.reason) for one in left_out] == [("nothing", "empty")]


def test_no_column_is_left():
    with pytest.raises(DataError, match=r"no column is left.*constant"):
        choose_columns(pd.DataFrame({"a": [1, 1, 1]}))


@pytest.mark.parametrize("option", ["keep", "drop", "categories"])
def test_options_name_columns_that_are_there(option):
    with pytest.raises(DataError, match="no such column"):
        choose_columns(pd.DataFrame({"a": [1, 2]}), **{option: ["b"]})


def test_nested_cells_are_not_a_feature():
    frame = pd.DataFrame({"a": [1, 2, 3], "list": [[1], [2], [3]]})
    _, left_out = chosen(frame)
    assert [column.name for column in left_out] == ["list"]
    with pytest.raises(DataError, match="'list' cannot be used"):
        choose_columns(frame, keep=["list"])


@pytest.mark.parametrize(
    ("kind", "bad", "message"),
    [
        ("number", "two", "not a number, the first in row 2; the most frequent one is 'two'"),
        ("flag", "maybe", "not yes or no"),
        ("date", "soon", "not a date"),
        ("duration", "long", "not a duration"),
    ],
)
def test_cells_of_another_kind(kind, bad, message):
    good = {"number": "1", "flag": "yes", "date": "2020-01-01", "duration": "1:00:00"}[kind]
    column = Column("a", kind)
    account = Account("t.csv")
    X = feature_table(pd.DataFrame({"a": [good, bad] + [good] * 30}), [column], account.add)
    assert X["a"].isna().tolist() == [False, True] + [False] * 30
    account.check()  # few enough
    assert "1 cells are not" in account.remarks()[0]
    assert "first in row 2" in account.remarks()[0]
    feature_table(pd.DataFrame({"a": [bad] * 3}), [column], account.add)
    with pytest.raises(DataError, match=message):
        account.check()


def test_infinite_values_are_missing():
    X = feature_table(pd.DataFrame({"a": [1.0, np.inf, -np.inf]}), [Column("a", "number")])
    np.testing.assert_array_equal(X["a"], [1.0, np.nan, np.nan])


def test_a_flag_is_the_same_however_it_is_written():
    expected = [1.0, 0.0, np.nan]
    for values in (["TRUE", "false", None], [True, False, None], [1, 0, None], ["1", "0", "?"]):
        X = feature_table(pd.DataFrame({"a": values}), [Column("a", "flag")])
        np.testing.assert_array_equal(X["a"], expected)


def test_a_category_that_is_a_number_is_the_same_however_it_is_written():
    for values in ([7, 8], [7.0, 8.0], ["07", "8"], ["7.0", "8.00"], ["7", " 8 "]):
        X = feature_table(pd.DataFrame({"a": values}), [Column("a", "category")])
        assert X["a"].tolist() == ["7", "8"]
    X = feature_table(pd.DataFrame({"a": [0.5, 1e300, None]}), [Column("a", "category")])
    assert X["a"].dropna().tolist()[0] == "0.5"
    odd = ["1e5", "nan1", "٣", "-", "7.5.1", "9" * 30]
    X = feature_table(pd.DataFrame({"a": odd}), [Column("a", "category")])
    assert X["a"].tolist() == odd


def test_strings_of_values_do_not_depend_on_their_type():
    assert label_strings(pd.Series([1, 2])).tolist() == ["1", "2"]
    assert label_strings(pd.Series([1.0, np.nan, 2.5])).tolist() == ["1", None, "2.5"]
    assert label_strings(pd.Series([" a ", "?", None])).tolist() == ["a", None, None]
    assert label_strings(pd.Series([True, False])).tolist() == ["True", "False"]
    assert label_strings(pd.Series(["a", None], dtype="category")).tolist() == ["a", None]
    assert label_strings(pd.Series([2**60, 2**60 + 1])).tolist() == [str(2**60), str(2**60 + 1)]


# -- target ------------------------------------------------------------------------------------


def test_target_by_name_and_number():
    names = ["a", "b", "3"]
    assert find_target(names, "b") == "b"
    assert find_target(names, "1") == "a"
    assert find_target(names, "3") == "3"
    assert find_target(names, "-2") == "b"
    assert find_target(["x", "Class"], None) == "Class"
    for wrong, message in (("4", "number 4"), ("0", "number 0"), ("bb", "did you mean 'b'"),
                           ("C", "did you mean 'c'")):  # fmt: skip
        with pytest.raises(DataError, match=message):
            find_target(["a", "b", "c"], wrong)
    with pytest.raises(DataError, match="--target"):
        find_target(["a", "b"], None)


def test_labels_keep_whole_numbers_and_strings():
    assert class_labels(pd.Series([1.0, 2.0, 1.0])).tolist() == [1, 2, 1]
    assert class_labels(pd.Series([1, 2])).dtype == np.int64
    assert class_labels(pd.Series(["a", "b"])).tolist() == ["a", "b"]
    assert class_labels(pd.Series([True, False])).tolist() == ["True", "False"]
    assert class_labels(pd.Series([0.5, 1.5, 0.5])).tolist() == ["0.5", "1.5", "0.5"]


def test_regression_and_wrong_columns_are_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(DataError, match="regression"):
        class_labels(pd.Series(rng.normal(size=50)))
    with pytest.raises(DataError, match="right column"):
        class_labels(pd.Series([f"n{i}" for i in range(50)]))
    with pytest.raises(DataError, match="only one class"):
        class_labels(pd.Series(["a", "a"]))
