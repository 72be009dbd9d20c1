"""The model is that of one machine, bit for bit, however the rows are divided."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pytest.importorskip("distributed")
pd = pytest.importorskip("pandas")

from randomboost import RandomBoostClassifier  # noqa: E402
from randomboost.dask import DaskRandomBoostClassifier  # noqa: E402

SMALL = {"n_estimators": 4, "n_projections": 30, "effort": "fast", "random_state": 0}


def divided(array, n_parts, seed=0):
    """Return a Dask array with chunks of uneven sizes, some of them empty."""
    cuts = np.sort(np.random.default_rng(seed).integers(0, len(array) + 1, n_parts - 1))
    sizes = tuple(np.diff([0, *cuts, len(array)]).tolist())
    chunks = (sizes,) if array.ndim == 1 else (sizes, (array.shape[1],))
    return da.from_array(array, chunks=chunks)


def table(seed=0, n=700):
    """Return a table with numbers, gaps, text of few and of many levels, and ordered categories."""
    rng = np.random.default_rng(seed)
    level = rng.integers(0, 40, n)
    size = pd.Categorical(rng.choice(["s", "m", "l"], n), ["s", "m", "l"], ordered=True)
    X = pd.DataFrame(
        {
            "x": rng.normal(size=n).round(2),
            "town": np.array([f"t{number}" for number in level], dtype=object),
            "colour": pd.Categorical(rng.choice(["red", "green", "blue"], n)),
            "size": size,
        }
    )
    y = np.array(["a", "b", "c"])[(level % 3 + (X["x"] > 1)).to_numpy() % 3]
    X.loc[rng.random(n) < 0.05, "x"] = np.nan
    X.loc[rng.random(n) < 0.03, "town"] = None
    return X, pd.Series(y, name="y")


@pytest.mark.parametrize(("n_workers", "n_parts"), [(1, 1), (2, 7), (3, 40), (5, 4)])
def test_workers_partitions_and_order_change_nothing(workers, saved, task, n_workers, n_parts):
    workers(n_workers)
    local = RandomBoostClassifier(**SMALL).fit(*task)
    order = np.random.default_rng(n_parts).permutation(len(task[1]))
    parts = [divided(each[order], n_parts) for each in task]
    fitted = DaskRandomBoostClassifier(**SMALL).fit(*parts)
    assert saved(fitted.to_local()) == saved(local)
    assert saved(fitted) == saved(local)
    assert fitted.stopped_ == local.stopped_
    np.testing.assert_array_equal(fitted.classes_, local.classes_)


def test_shards_without_rows_and_classes_of_one_sample(workers, saved):
    workers(5)
    X = np.repeat(np.arange(4.0), 30)[:, None]
    y = np.repeat([0, 1, 1, 0], 30)
    X, y = np.append(X, [[9.0]], axis=0), np.append(y, 2)
    local = RandomBoostClassifier(**SMALL).fit(X, y)
    fitted = DaskRandomBoostClassifier(**SMALL).fit(divided(X, 4), divided(y, 4))
    assert saved(fitted) == saved(local)


CASES = {
    "a validation part": {"early_stopping": True, "n_estimators": 30, "n_iter_no_change": 2},
    "four members": {"effort": "default", "n_estimators": 2},
    "several starts": {"effort": "best", "n_estimators": 2},
    "balanced": {"class_weight": "balanced"},
    "a class of weight 0": {"class_weight": {0: 1, 1: 0, 2: 2.5, 3: 1}},
    "no landmarks": {"n_landmarks": 0},
    "all samples": {"subsample": 1.0, "max_leaf_nodes": 5, "min_samples_leaf": 20},
    "single features": {"projection": "axis", "n_projections": 550},
}


@pytest.mark.parametrize("changed", CASES.values(), ids=CASES)
def test_settings(workers, saved, task, changed):
    workers(3)
    settings = SMALL | changed
    local = RandomBoostClassifier(**settings).fit(*task)
    fitted = DaskRandomBoostClassifier(**settings).fit(*(divided(each, 5) for each in task))
    assert saved(fitted) == saved(local)


def test_single_precision(workers, saved, task):
    workers(3)
    X, y, _ = task
    local = RandomBoostClassifier(**SMALL).fit(X.astype(np.float32), y)
    fitted = DaskRandomBoostClassifier(**SMALL)
    fitted.fit(divided(X.astype(np.float32), 5), divided(y, 5))
    assert saved(fitted) == saved(local)
    assert fitted.predict_proba(divided(X.astype(np.float32), 5)).dtype == np.float32


def test_many_classes(workers, saved):
    workers(3)
    rng = np.random.default_rng(0)
    y = rng.integers(0, 100, 1500)
    X = rng.normal(size=(100, 4))[y] + 0.2 * rng.normal(size=(1500, 4))
    local = RandomBoostClassifier(**SMALL).fit(X, y)
    fitted = DaskRandomBoostClassifier(**SMALL).fit(divided(X, 5), divided(y, 5))
    assert saved(fitted) == saved(local)


@pytest.mark.parametrize("known", [True, False])
def test_tables_with_categories(workers, saved, known):
    workers(3)
    X, y = table()
    local = RandomBoostClassifier(**SMALL).fit(X, y)
    order = np.random.default_rng(0).permutation(len(y))
    shuffled, labels = X.iloc[order], y.iloc[order]
    if known:
        shuffled, labels = (each.reset_index(drop=True) for each in (shuffled, labels))
    parts = [dd.from_pandas(each, npartitions=6, sort=known) for each in (shuffled, labels)]
    fitted = DaskRandomBoostClassifier(**SMALL).fit(*parts)
    assert saved(fitted) == saved(local)
    found = fitted.predict(parts[0])
    assert found.npartitions == parts[0].npartitions
    computed = found.compute()
    np.testing.assert_array_equal(computed.index, shuffled.index)
    np.testing.assert_array_equal(computed, local.predict(shuffled))


def test_parquet_files(workers, saved, tmp_path):
    """Dask would read more row groups at once where there are fewer columns."""
    workers(3)
    X, y = table()
    X.assign(y=y).to_parquet(tmp_path / "table.parquet", row_group_size=100)
    read = dd.read_parquet(tmp_path / "table.parquet", split_row_groups=True)
    assert read.npartitions == 7
    fitted = DaskRandomBoostClassifier(**SMALL).fit(read.drop(columns="y"), read["y"])
    assert saved(fitted) == saved(RandomBoostClassifier(**SMALL).fit(X, y))


def test_listed_categories(workers, saved, task):
    workers(3)
    X, y, _ = task
    X = np.column_stack([np.nan_to_num(X[:, 0]), np.arange(len(y)) % 30])
    settings = SMALL | {"categorical_features": [1]}
    local = RandomBoostClassifier(**settings).fit(X, y)
    fitted = DaskRandomBoostClassifier(**settings).fit(divided(X, 5), divided(y, 5))
    assert saved(fitted) == saved(local)


def test_validation_data_and_unknown_chunks(workers, saved, task):
    workers(3)
    X, y, weight = task
    settings = SMALL | {"early_stopping": True, "n_estimators": 20, "n_iter_no_change": 2}
    local = RandomBoostClassifier(**settings)
    local.fit(X[:800], y[:800], X_val=X[800:], y_val=y[800:], sample_weight_val=weight[800:])
    frame = dd.from_pandas(pd.DataFrame(X[:800]), npartitions=4)
    labels = dd.from_pandas(pd.Series(y[:800]), npartitions=4)
    unknown = frame.to_dask_array()
    assert np.isnan(unknown.chunks[0]).all()
    order = np.random.default_rng(0).permutation(np.arange(800, len(y)))
    fitted = DaskRandomBoostClassifier(**settings).fit(
        unknown,
        labels.to_dask_array(),
        X_val=divided(X[order], 3),
        y_val=divided(y[order], 3),
        sample_weight_val=divided(weight[order], 3),
    )
    assert saved(fitted) == saved(local)


def test_warm_start(workers, saved, task):
    workers(3)
    X, y, _ = task
    parts = divided(X, 5), divided(y, 5)
    local = RandomBoostClassifier(**SMALL, warm_start=True).fit(X, y)
    fitted = DaskRandomBoostClassifier(**SMALL, warm_start=True).fit(*parts)
    for model, data in ((local, (X, y)), (fitted, parts)):
        model.set_params(n_estimators=6).fit(*data)
    assert saved(fitted) == saved(local)


def test_fits_side_by_side(workers, saved, task):
    workers(3)
    parts = [divided(each, 5) for each in task]
    alone = [RandomBoostClassifier(**SMALL | {"random_state": seed}).fit(*task) for seed in (1, 2)]

    def fit(seed):
        return DaskRandomBoostClassifier(**SMALL | {"random_state": seed}).fit(*parts)

    with ThreadPoolExecutor(2) as pool:
        fitted = list(pool.map(fit, (1, 2)))
    assert [saved(each) for each in fitted] == [saved(each) for each in alone]


def test_partitions_of_one_class(workers, saved, task):
    """The last partition has a class that no other one has."""
    workers(3)
    X, y, _ = task
    y = np.where(np.arange(len(y)) == 17, 9, y)
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    sizes = tuple(np.unique(y, return_counts=True)[1].tolist())
    parts = da.from_array(X, chunks=(sizes, (X.shape[1],))), da.from_array(y, chunks=(sizes,))
    fitted = DaskRandomBoostClassifier(**SMALL).fit(*parts)
    assert saved(fitted) == saved(RandomBoostClassifier(**SMALL).fit(X, y))


def test_warm_start_with_categories(workers, saved):
    workers(2)
    X, y = table()
    parts = [dd.from_pandas(each, npartitions=4) for each in (X, y)]
    local = RandomBoostClassifier(**SMALL, warm_start=True).fit(X, y)
    fitted = DaskRandomBoostClassifier(**SMALL, warm_start=True).take_over(local)
    local.set_params(n_estimators=6).fit(X, y)
    assert saved(fitted.set_params(n_estimators=6).fit(*parts)) == saved(local)
    other = X.assign(town=X["town"].where(X["town"] != "t3", "elsewhere"))
    with pytest.raises(ValueError, match="set it to False to start again"):
        fitted.set_params(n_estimators=8).fit(dd.from_pandas(other, npartitions=4), parts[1])
