"""Categories as numbers: what they learn, and what they must not."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

from randomboost import RandomBoostClassifier
from randomboost.preprocessing import class_axes, encoding, level_means
from randomboost.preprocessing.categories import TablePreparation
from randomboost.preprocessing.class_axes import class_scores
from randomboost.preprocessing.encoding import TableEncoding, read_training
from randomboost.preprocessing.level_means import learn_encoding

pd = pytest.importorskip("pandas")


def model(**parameters):
    return RandomBoostClassifier(20, random_state=0, **parameters)


def learned(X, y, weight=None):
    labels = np.unique(y, return_inverse=True)[1]
    weight = np.ones(len(y)) if weight is None else weight
    return learn_encoding(read_training(X), labels, weight)


def informative(n_levels, n_classes, n_samples, seed=0, sharpness=0.3):
    """Return a table with a column whose levels have classes of their own, and noise."""
    rng = np.random.default_rng(seed)
    level = rng.integers(n_levels, size=n_samples)
    shares = rng.dirichlet(np.full(n_classes, sharpness), n_levels)
    y = (rng.random(n_samples)[:, None] > shares[level].cumsum(axis=1)).sum(axis=1)
    X = pd.DataFrame({"level": level.astype(str), "noise": rng.standard_normal(n_samples)})
    return X, np.minimum(y, n_classes - 1)


def few(seed=0):
    """Return a table in which the levels u and x are class p."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"kind": rng.choice(list("uvwxyz"), 400), "size": rng.standard_normal(400)})
    return X, np.where(np.isin(X["kind"], ["u", "x"]), "p", np.where(X["size"] > 0, "q", "r"))


# -- what is learned ---------------------------------------------------------------------------


def test_levels_of_one_class_are_side_by_side():
    X, y = few()
    book = learned(X, y)[0].codebooks[0]
    first = dict(zip(book.levels, book.values[:, 0], strict=True))
    together = [first["u"], first["x"]]
    others = [first[level] for level in "vwyz"]
    assert np.ptp(together) + np.ptp(others) < 0.2 * abs(np.mean(together) - np.mean(others))


def test_scores_against_a_plain_correspondence_analysis(monkeypatch):
    rng = np.random.default_rng(0)
    levels, labels = rng.integers(40, size=3000), rng.integers(12, size=3000)
    labels[levels < 20] //= 2
    weight = rng.integers(1, 4, 3000).astype(float)
    counts = np.zeros((40, 12))
    np.add.at(counts, (levels, labels), weight)
    total, rows, columns = counts.sum(), counts.sum(axis=1), counts.sum(axis=0)
    surplus = (counts - np.outer(rows, columns) / total) / np.sqrt(
        np.outer(rows + class_axes.PRIOR, columns + class_axes.PRIOR)
    )
    expected = np.linalg.svd(surplus)[2][:3].T / np.sqrt(columns + class_axes.PRIOR)[:, None]
    expected = (expected - columns @ expected / total) * np.sqrt(total)
    dense = class_scores(levels, labels, weight, 3)
    np.testing.assert_allclose(np.abs(dense), np.abs(expected), atol=1e-9)
    monkeypatch.setattr(class_axes, "_DENSE", 0)
    np.testing.assert_allclose(class_scores(levels, labels, weight, 3), dense, atol=1e-4)


def test_training_numbers_come_from_other_samples():
    """Slow and obvious: the mean score of the level's samples in other folds."""
    X, y = informative(60, 3, 1200)
    reading = read_training(X)
    _, training = learned(X, y)
    folds = level_means.find_folds(level_means.row_hashes(reading.values))
    level = reading.values[:, 0].astype(int)
    for sample in range(0, 1200, 100):
        others = folds != folds[sample]
        scores = class_scores(level, y, np.ones(1200), level_means._AXES)
        axes = class_scores(level[others], y[others], np.ones(others.sum()), level_means._AXES)
        axes = level_means._rotated(axes, scores, np.bincount(y))
        same = others & (level == level[sample])
        mean = axes[y[same]].sum(axis=0) / (same.sum() + class_axes.PRIOR)
        np.testing.assert_allclose(training[sample, :-1], mean, atol=1e-12)


def test_informative_levels_are_used():
    X, y = informative(200, 4, 8000)
    a, b = train_test_split(np.arange(8000), test_size=0.5, random_state=0)
    fitted = RandomBoostClassifier(100, random_state=0).fit(X.iloc[a], y[a])
    best = pd.Series(y[a]).groupby(X["level"].to_numpy()[a]).agg(lambda c: c.mode()[0])
    by_hand = np.mean(X["level"].iloc[b].map(best).to_numpy() == y[b])
    assert by_hand > 0.65
    assert fitted.score(X.iloc[b], y[b]) > by_hand - 0.06
    assert fitted.feature_importances_[0] > 0.7


def test_many_levels_and_many_classes_make_no_large_array():
    rng = np.random.default_rng(0)
    n = 20_000
    level = rng.integers(4000, size=n)
    y = (level + rng.integers(3, size=n)) % 1000
    X = pd.DataFrame({"level": level.astype(str), "noise": rng.standard_normal(n)})
    _, training = learned(X, y)
    same = np.abs(training[:, 0]) > 0  # the analysis found something in samples of other folds
    assert same.mean() > 0.5
    assert training.shape[1] > 2


# -- what must not be learned ------------------------------------------------------------------


@cache
def beside_noise(seed, n_levels):
    """Return error and importance of the last column, a random one if there are levels."""
    X, y = make_classification(4000, 10, n_informative=6, n_classes=4, random_state=seed)
    X = pd.DataFrame(X).rename(columns=str)
    if n_levels is not None:
        X["noise"] = np.random.default_rng(seed).integers(n_levels, size=4000).astype(str)
    a, b = train_test_split(np.arange(4000), random_state=seed, stratify=y)
    fitted = RandomBoostClassifier(60, random_state=0).fit(X.iloc[a], y[a])
    return 1 - fitted.score(X.iloc[b], y[b]), fitted.feature_importances_[-1]


@pytest.mark.parametrize("n_levels", [50, 500, 2000])
def test_random_levels_do_no_harm(n_levels):
    """A column of random categories once doubled the error, with importance 0.3."""
    clean = noisy = 0.0
    for seed in range(2):
        clean += beside_noise(seed, None)[0]
        error, importance = beside_noise(seed, n_levels)
        noisy += error
        assert importance < 0.05
    assert noisy <= 1.05 * clean


@pytest.mark.parametrize(("n_levels", "n_classes"), [(60, 3), (2000, 4), (500, 50), (100, 900)])
def test_random_levels_are_left_out(n_levels, n_classes):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        level = rng.integers(n_levels, size=2500).astype(str)
        X = pd.DataFrame({"level": level, "x": rng.standard_normal(2500)})
        found, training = learned(X, rng.integers(n_classes, size=2500))
        assert found.sources.tolist() == [1]
        np.testing.assert_array_equal(training, X[["x"]])


def test_identifiers_and_constants():
    X, y = few()
    X["same"] = "s"
    X["name"] = [f"n{i}" for i in range(len(X))]
    fitted = model().fit(X, y)
    assert np.isfinite(fitted.decision_function(X)).all()
    assert fitted.feature_importances_[2:].tolist() == [0, 0]


def test_a_column_that_tells_nothing_but_its_gaps():
    X, y = few()
    rng = np.random.default_rng(0)
    X["name"] = rng.integers(100, size=len(X)).astype(str)
    X.loc[X["size"] > 0, "name"] = None
    fitted = model().fit(X.drop(columns="size"), y)
    assert fitted.score(X.drop(columns="size"), y) > 0.95


def test_a_table_of_too_few_rows_to_be_sure():
    X = pd.DataFrame({"name": list("abcdefghijklmnopqrstuvwxyz") * 2})
    assert model().fit(X, np.arange(52) % 26 % 2).feature_importances_.tolist() == [1]


def test_one_column_of_repeated_rows():
    """Where whole rows are repeated, other folds would know nothing of them."""
    level = np.repeat(np.arange(200), 20)
    X, y = pd.DataFrame({"level": level.astype(str)}), level % 7
    assert model().fit(X, y).score(X, y) > 0.9


# -- missing, unknown, rare --------------------------------------------------------------------


def test_missing_and_unknown_categories_are_missing_values():
    X, y = few()
    X.loc[::5, "kind"] = None
    found, training = learned(X, y)
    missing = np.array(X["kind"].isna())
    np.testing.assert_array_equal(np.isnan(training[:, 0]), missing)
    other = X.copy()
    other.loc[1, "kind"] = "new"
    encoded = found.apply(encoding.read_again(other, found))
    missing[1] = True
    np.testing.assert_array_equal(np.isnan(encoded[:, 0]), missing)
    np.testing.assert_array_equal(encoded[~missing], training[~missing])
    fitted = model().fit(X, y)
    assert set(fitted.predict(other.assign(kind="new"))) <= set(y)


def test_levels_of_a_single_sample_are_unknown():
    X, y = informative(40, 3, 2000)
    X.loc[0, "level"] = "once"
    found, training = learned(X, y)
    assert "once" not in found.codebooks[0].levels
    assert np.isnan(training[0, 0])


# -- order, weights, columns -------------------------------------------------------------------


@pytest.mark.parametrize("n_levels", [8, 80])
def test_the_order_of_the_samples_does_not_matter(n_levels):
    X, y = informative(n_levels, 3, 900)
    order = np.random.default_rng(0).permutation(len(y))
    first, second = model().fit(X, y), model().fit(X.iloc[order], y[order])
    np.testing.assert_array_equal(first.predict_proba(X), second.predict_proba(X))


@pytest.mark.parametrize("n_levels", [8, 80])
def test_weights_count_as_copies(n_levels):
    X, y = informative(n_levels, 3, 900)
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    copies = np.repeat(np.arange(len(y)), weight)
    first = model().fit(X, y, weight)
    second = model().fit(X.iloc[copies], y[copies])
    np.testing.assert_array_equal(first.predict_proba(X), second.predict_proba(X))


def test_importances_are_those_of_the_columns():
    X, y = informative(200, 12, 4000, sharpness=0.1)
    fitted = model().fit(X, y)
    inputs = fitted.model_.inputs
    sources = inputs.sources(fitted.model_.n_features)
    assert len(sources) == fitted.model_.n_features > 3
    assert list(np.unique(sources)) == [0, 1]
    parts = fitted.model_.ensemble.importances(len(sources))
    np.testing.assert_allclose(fitted.feature_importances_, np.bincount(sources, parts))
    assert fitted.n_features_in_ == 2


def test_a_warm_start_continues_as_a_longer_fit():
    X, y = informative(80, 3, 900)
    fitted = model(warm_start=True, early_stopping=False).fit(X, y)
    before = fitted.model_.inputs.encoding
    fitted.set_params(n_estimators=30).fit(X, y)
    assert fitted.model_.inputs.encoding == before
    longer = model(early_stopping=False).set_params(n_estimators=30).fit(X, y)
    np.testing.assert_array_equal(fitted.predict_proba(X), longer.predict_proba(X))
    fitted.set_params(n_estimators=35).fit(X[100:], y[100:])  # other data, the same numbers
    assert fitted.model_.inputs.encoding == before
    with pytest.raises(ValueError, match=r"columns of categories.*categorical_features"):
        fitted.set_params(n_estimators=40).fit(X.assign(noise="a"), y)


# -- categorical_features ----------------------------------------------------------------------


@pytest.mark.parametrize("listed", [[1], [False, True, False], np.array([1])])
def test_numbers_in_arrays_can_be_categories(listed):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 3))
    X[:, 1] = rng.integers(0, 12, 600)
    y = np.isin(X[:, 1], [0, 3, 5, 8]).astype(int)
    fitted = model(categorical_features=listed, projection="axis").fit(X, y)
    book = fitted.model_.inputs.encoding.codebooks[1]
    assert sorted(book.levels) == list(range(12))
    assert len(np.unique(np.sign(book.values[:, 0] - book.values[:, 0].mean()))) == 2
    assert fitted.score(X, y) == 1
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).astype({"b": int})
    for table, name in ((frame, ["b"]), (frame.astype({"b": "category"}), "from_dtype")):
        other = model(categorical_features=name, projection="axis").fit(table, y)
        np.testing.assert_array_equal(other.predict_proba(table), fitted.predict_proba(X))
    X[:, 1] = 99  # unknown
    assert np.isfinite(fitted.predict_proba(X)).all()


def test_text_in_arrays_can_be_categories():
    X, y = few()
    array = X.to_numpy(dtype=object)
    fitted = model(categorical_features=[0]).fit(array, y)
    np.testing.assert_array_equal(fitted.predict_proba(array), model().fit(X, y).predict_proba(X))


@pytest.mark.parametrize(
    ("listed", "message"),
    [
        (["colour"], "'colour', which is no column of X"),
        ([7], "7, which is no column of X: use names of its columns, or numbers from 0 to 1"),
        ([True], "a mask of length 2"),
        ([[0]], "does not fit"),
        ("all", "categorical_features"),
    ],
)
def test_columns_that_are_not_there_are_refused(listed, message):
    X, y = few()
    with pytest.raises(ValueError, match=message):
        model(categorical_features=listed).fit(X, y)


def test_categories_of_sparse_data_are_refused():
    import scipy.sparse as sp

    with pytest.raises(ValueError, match="X is sparse"):
        model(categorical_features=[0]).fit(sp.eye_array(6, format="csr"), [0, 1] * 3)


def test_an_ordered_column_can_be_taken_without_its_order():
    X, y = few()
    kind = pd.Categorical(X["kind"], categories=list("zyxwvu"), ordered=True)
    ordered = X.assign(kind=kind)
    found = model().fit(ordered, y).model_.inputs.encoding.codebooks[0]
    assert found.levels == list("zyxwvu")
    np.testing.assert_array_equal(found.values[:, 0], np.arange(6))
    free = model(categorical_features=["kind"]).fit(ordered, y)
    np.testing.assert_array_equal(free.predict_proba(X), model().fit(X, y).predict_proba(X))


# -- TablePreparation --------------------------------------------------------------------------


def test_fit_transform_encodes_without_the_row_itself():
    X, y = informative(80, 3, 900)
    preparation = TablePreparation()
    training = preparation.fit_transform(X, y)
    plain = preparation.transform(X)
    assert training.shape == plain.shape
    assert not np.allclose(training[:, 0], plain[:, 0])
    np.testing.assert_array_equal(training[:, -1], plain[:, -1])
    names = preparation.get_feature_names_out()
    assert names[-1] == "noise"
    assert list(names[:-1]) == [f"level {part + 1}" for part in range(len(names) - 1)]


def test_names_and_numbers_of_encoded_columns():
    book = encoding.Codebook("c", ["x", "y"], np.array([[1.0, 2.0], [3.0, 4.0]]))
    made = TableEncoding({1: book}, 3)
    assert made.sources.tolist() == [0, 1, 1, 2]
    assert made.names("bcd") == ["b", "c 1", "c 2", "d"]
    assert made.numbers() == {1: {"x": 1.0, "y": 3.0}, 2: {"x": 2.0, "y": 4.0}}
    encoded = made.apply(np.array([[9.0, 1.0, 8.0], [7.0, np.nan, 6.0]]))
    np.testing.assert_array_equal(encoded, [[9, 3, 4, 8], [7, np.nan, np.nan, 6]])
