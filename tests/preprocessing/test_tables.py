"""Tables of pandas, polars and Arrow: the same model for the same data, and clear refusals."""

from __future__ import annotations

import datetime
import pickle

import numpy as np
import pytest

from randomboost import AdaBoostECCClassifier, RandomBoostClassifier, RBoostRankClassifier
from randomboost.preprocessing.categories import TablePreparation, category_columns
from randomboost.preprocessing.encoding import read_training

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

GRADES = ["low", "middle", "high"]


@pytest.fixture
def table():
    """A table whose classes follow a column of categories and a number."""
    rng = np.random.default_rng(0)
    n = 400
    X = pd.DataFrame(
        {
            "kind": rng.choice(list("uvwxyz"), n),
            "size": rng.standard_normal(n),
            "count": pd.array(rng.choice([1, 2, None], n), dtype="Int64"),
            "flag": rng.random(n) < 0.5,
        }
    )
    y = np.where(np.isin(X["kind"], ["u", "x"]), "p", np.where(X["size"] > 0, "q", "r"))
    return X, y


@pytest.fixture
def everything(table):
    """The same with all other types of columns, and gaps."""
    X, y = table
    rng = np.random.default_rng(1)
    n = len(X)
    X["city"] = rng.choice([f"city {i}" for i in range(60)], n)
    X["day"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 500, n), unit="D")
    X["seen"] = X["day"].dt.tz_localize("Europe/Berlin") + pd.to_timedelta(90, unit="s")
    X["wait"] = pd.to_timedelta(rng.integers(0, 10**6, n), unit="s")
    X["grade"] = pd.Categorical(rng.choice(GRADES, n), categories=GRADES, ordered=True)
    X.loc[::7, ["kind", "day", "wait", "grade"]] = None
    return X, y


def as_polars(X):
    """Return a pandas table as polars has it: ordered categories are an Enum."""
    grades = pl.Series("grade", X["grade"].astype(object).where(X["grade"].notna(), None).tolist())
    table = pl.from_pandas(X.drop(columns="grade")).with_columns(grades.cast(pl.Enum(GRADES)))
    return table.select(X.columns.tolist())


def as_arrow(X):
    return pa.Table.from_pandas(X, preserve_index=False)


def model(**parameters):
    return RandomBoostClassifier(20, random_state=0, **parameters)


@pytest.mark.parametrize("kind", ["object", "category", "string"])
def test_categories_are_learned(table, kind):
    X, y = table
    X = X.astype({"kind": kind})
    fitted = model().fit(X[::2], y[::2])
    assert fitted.score(X[1::2], y[1::2]) > 0.95
    assert list(fitted.feature_names_in_) == list(X.columns)
    assert len(fitted.feature_importances_) == X.shape[1] == fitted.n_features_in_
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))


def test_the_kind_of_column_does_not_matter(table):
    X, y = table
    first = model().fit(X, y).decision_function(X)
    second = model().fit(X.astype({"kind": "category"}), y).decision_function(X)
    np.testing.assert_array_equal(first, second)


def test_the_library_of_the_table_does_not_matter(everything):
    X, y = everything
    tables = [X, as_polars(X), as_arrow(X)]
    fitted = [model().fit(each, y) for each in tables]
    expected = fitted[0].predict_proba(X)
    for each, one in zip(tables, fitted, strict=True):
        assert list(one.feature_names_in_) == list(X.columns)
        np.testing.assert_array_equal(one.predict_proba(each), expected)
        np.testing.assert_array_equal(fitted[0].predict_proba(each), expected)
        np.testing.assert_array_equal(one.feature_importances_, fitted[0].feature_importances_)


def test_numbers_of_all_types(everything):
    X, _ = everything
    for each in (X, as_polars(X), as_arrow(X)):
        reading = read_training(each)
        values = dict(zip(X.columns, reading.values.T, strict=True))
        np.testing.assert_array_equal(values["flag"], X["flag"])
        np.testing.assert_array_equal(values["count"], X["count"].to_numpy(float, na_value=np.nan))
        np.testing.assert_array_equal(values["grade"], X["grade"].cat.codes.replace(-1, np.nan))
        days = (X["day"] - pd.Timestamp(0)) / pd.Timedelta(days=1)
        np.testing.assert_array_equal(values["day"], days)
        moments = (X["seen"] - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(days=1)
        np.testing.assert_allclose(values["seen"], moments, rtol=1e-15)
        np.testing.assert_allclose(values["wait"], X["wait"] / pd.Timedelta(days=1), rtol=1e-15)
        assert [name for name, _ in reading.categories.values()] == ["kind", "city"]
        assert list(reading.orders.values()) == [("grade", GRADES)]


def test_objects_are_taken_for_what_they_are():
    day = datetime.date(1970, 1, 3)
    columns = {
        "flags": [True, None, False],
        "mixed": [1, "a", None],
        "days": [day, None, datetime.date(1969, 12, 31)],
        "moments": [datetime.datetime(1970, 1, 1, 12), None, datetime.datetime(1970, 1, 2)],
        "times": [datetime.time(6), None, datetime.time(18)],
        "numbers": [1, 2.5, None],
    }
    frame = pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns.items()})
    values = dict(zip(columns, read_training(frame).values.T, strict=True))
    np.testing.assert_array_equal(values["flags"], [1, np.nan, 0])
    np.testing.assert_array_equal(values["days"], [2, np.nan, -1])
    np.testing.assert_array_equal(values["moments"], [0.5, np.nan, 1])
    np.testing.assert_array_equal(values["times"], [0.25, np.nan, 0.75])
    np.testing.assert_array_equal(values["numbers"], [1, 2.5, np.nan])
    assert category_columns(frame) == ["mixed"]


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (pa.array([[1], [2], None]), "List"),
        (pa.array([{"a": 1}, None, {"a": 2}]), "Struct"),
        (pa.array([b"a", b"b", None]), "Binary"),
    ],
)
def test_columns_that_are_no_features_are_named(column, kind):
    table = pa.table({"x": [1.0, 2.0, 3.0], "odd one": column})
    with pytest.raises(ValueError, match=f"column 'odd one' of X has type {kind}.*leave it out"):
        model().fit(table, [0, 1, 0])
    with pytest.raises(ValueError, match=r"column 'odd one' of X.*leave it out"):
        model().fit(pd.DataFrame({"odd one": column.to_pylist()}), [0, 1, 0])


def test_lazy_tables_are_refused(everything):
    X, y = everything
    with pytest.raises(ValueError, match="collect"):
        model().fit(as_polars(X).lazy(), y)


@pytest.mark.parametrize("convert", [lambda X: X, as_polars, as_arrow])
def test_other_columns_are_refused_as_by_scikit_learn(everything, convert):
    X, y = everything
    fitted = model().fit(convert(X), y)
    whole = pd.DataFrame(X)
    with pytest.raises(ValueError, match="must be in the same order"):
        fitted.predict(convert(whole[whole.columns[::-1]]))
    with pytest.raises(ValueError, match=r"seen at fit time, yet now missing:\n- size"):
        fitted.predict(convert(whole.drop(columns="size")))
    with pytest.raises(ValueError, match=r"column 'size' of X has text or categories, but had num"):
        fitted.predict(convert(whole.assign(size="large")))


def test_single_precision_is_kept(table):
    X, y = table
    single = X[["size"]].astype(np.float32).assign(other=np.float32(2) * X["size"].to_numpy("f4"))
    for each in (single, pl.from_pandas(single), as_arrow(single)):
        assert model().fit(each, y).model_.inputs.dtype == np.float32


def test_methods_without_categories(everything):
    X, y = everything
    with pytest.raises(ValueError, match=r"columns of categories, such as 'kind'.*OneHotEncoder"):
        RBoostRankClassifier(5).fit(X, y)
    with pytest.raises(ValueError, match="columns of categories"):
        AdaBoostECCClassifier(5).fit(as_polars(X), y)
    rest = X[["size", "flag", "seen"]]
    fitted = AdaBoostECCClassifier(5, random_state=0).fit(rest, y)
    np.testing.assert_array_equal(fitted.predict(as_arrow(rest)), fitted.predict(rest))


def test_bad_input_is_refused(table):
    X, y = table
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model().fit(X, y[:-1])
    with pytest.raises(ValueError, match="infinity"):
        model().fit(X.assign(size=np.inf), y)


def test_preparation_of_tables(everything):
    X, y = everything
    first = TablePreparation().fit(X, y)
    expected = first.transform(X)
    assert np.isfinite(expected).all()
    assert expected.shape[1] == len(first.get_feature_names_out())
    for each in (as_polars(X), as_arrow(X)):
        np.testing.assert_array_equal(TablePreparation().fit(each, y).transform(each), expected)


def test_a_table_of_columns_with_one_level_each():
    """No tree can tell its rows apart, which is an error that says so; a gap can be told."""
    same = pd.DataFrame({"colour": ["red"] * 8, "shape": ["round"] * 8})
    y = np.arange(8) // 4
    with pytest.raises(ValueError, match="no tree separates any two samples"):
        RandomBoostClassifier().fit(same, y)
    same.loc[4:, "shape"] = None
    assert RandomBoostClassifier().fit(same, y).score(same, y) == 1.0
