"""Columns of categories in pandas tables."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from randomboost import AdaBoostECCClassifier, RandomBoostClassifier, RBoostRankClassifier
from randomboost.preprocessing.categories import TableEncoding, category_columns

pd = pytest.importorskip("pandas")


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


def model(**parameters):
    return RandomBoostClassifier(20, random_state=0, **parameters)


@pytest.mark.parametrize("kind", ["object", "category", "string"])
def test_categories_are_learned(table, kind):
    X, y = table
    X = X.astype({"kind": kind})
    fitted = model().fit(X[::2], y[::2])
    assert fitted.score(X[1::2], y[1::2]) > 0.95
    assert list(fitted.feature_names_in_) == list(X.columns)
    assert len(fitted.feature_importances_) == X.shape[1]
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))


def test_the_kind_of_column_does_not_matter(table):
    X, y = table
    first = model().fit(X, y).decision_function(X)
    second = model().fit(X.astype({"kind": "category"}), y).decision_function(X)
    np.testing.assert_array_equal(first, second)


def test_places_put_categories_of_one_class_side_by_side(table):
    X, y = table
    places = TableEncoding.learn(X, y).places
    assert list(places) == ["kind"]
    together = sorted(places["kind"][name] for name in "ux")
    assert sorted(places["kind"].values()) == list(range(6))
    assert together in ([0, 1], [4, 5])


def test_missing_and_unknown_categories_are_missing_values(table):
    X, y = table
    X.loc[::5, "kind"] = None
    encoding = TableEncoding.learn(X, y)
    other = X.copy()
    other.loc[1, "kind"] = "new"
    encoded = encoding.apply(other)
    assert encoded["kind"].dtype == np.float64
    assert encoded["kind"].isna().sum() == (X["kind"].isna().sum() + 1)
    assert other["kind"][1] == "new"  # the table itself is left alone
    fitted = model().fit(X, y)
    other["kind"] = "new"
    assert set(fitted.predict(other)) <= set(y)


def test_columns_without_categories_are_left_alone(table):
    X, y = table
    numbers = X[["size", "count", "flag"]]
    assert category_columns(numbers) == []
    assert model().fit(numbers, y).model_.inputs.encoding is None
    assert category_columns(pd.DataFrame({0: [1.5, 2.5], 1: ["a", "b"]})) == [1]


def test_a_column_of_one_category_and_one_of_all_different_ones(table):
    X, y = table
    X["same"] = "s"
    X["name"] = [f"n{i}" for i in range(len(X))]
    assert np.isfinite(model().fit(X, y).decision_function(X)).all()


def test_warm_start_keeps_the_numbers(table):
    X, y = table
    fitted = model(warm_start=True).fit(X, y)
    places = fitted.model_.inputs.encoding.places
    fitted.set_params(n_estimators=25).fit(X, y)
    assert fitted.n_estimators_ == 25
    assert fitted.model_.inputs.encoding.places == places


def test_bad_input_is_refused(table):
    X, y = table
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model().fit(X, y[:-1])
    with pytest.raises(ValueError, match=r"columns of categories, such as 'kind'.*OneHotEncoder"):
        RBoostRankClassifier(5).fit(X, y)
    with pytest.raises(ValueError, match="columns of categories"):
        AdaBoostECCClassifier(5).fit(X, y)
    fitted = model().fit(X, y)
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.predict(X.drop(columns="kind"))
    with pytest.raises(ValueError, match="could not convert"):
        fitted.predict(X.assign(size="large"))
