"""Predictions on Dask collections, clients, and errors of wrong use."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from test_same_bits import SMALL, divided, table

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")
pd = pytest.importorskip("pandas")

from randomboost import RandomBoostClassifier  # noqa: E402
from randomboost.dask import DaskRandomBoostClassifier  # noqa: E402
from randomboost.estimators.parameters import defaults_of  # noqa: E402


@pytest.fixture(scope="module")
def fitted(shared_client, task):
    return DaskRandomBoostClassifier(**SMALL).fit(*(divided(each, 4) for each in task))


def test_predictions_are_lazy_and_keep_chunks(client, fitted, task):
    X, y, weight = (divided(each, 6) for each in task)
    local = fitted.to_local()
    labels, probabilities = fitted.predict(X), fitted.predict_proba(X)
    best, shares = fitted.predict_topk(X, 2)
    for each in (labels, probabilities, best, shares):
        assert isinstance(each, da.Array)
        assert each.chunks[0] == X.chunks[0]
    np.testing.assert_array_equal(labels.compute(), local.predict(task[0]))
    np.testing.assert_array_equal(probabilities.compute(), local.predict_proba(task[0]))
    for found, expected in zip((best, shares), local.predict_topk(task[0], 2), strict=True):
        np.testing.assert_array_equal(found.compute(), expected)
    assert fitted.score(X, y, weight) == pytest.approx(local.score(*task))


def test_predictions_of_tables_keep_the_index(client):
    X, y = table(n=200)
    X.index = np.arange(200) * 2 + 5
    y.index = X.index
    parts = dd.from_pandas(X, npartitions=3), dd.from_pandas(y, npartitions=3)
    model = DaskRandomBoostClassifier(**SMALL).fit(*parts)
    local = model.to_local()
    assert list(local.feature_names_in_) == list(X.columns)
    found = model.predict_proba(parts[0])
    assert list(found.columns) == ["a", "b", "c"]
    assert found.divisions == parts[0].divisions
    pd.testing.assert_frame_equal(
        found.compute(), pd.DataFrame(local.predict_proba(X), index=X.index, columns=list("abc"))
    )
    best, shares = (each.compute() for each in model.predict_topk(parts[0], 2))
    np.testing.assert_array_equal(best.index, X.index)
    np.testing.assert_array_equal(best, local.predict_topk(X, 2)[0])
    np.testing.assert_array_equal(shares, local.predict_topk(X, 2)[1])


def test_the_client_can_be_given(client, task, saved):
    model = DaskRandomBoostClassifier(**SMALL, client=client)
    again = clone(model)
    assert again.client is client
    fitted = again.fit(*(divided(each, 4) for each in task))
    assert fitted.client is client
    unpickled = pickle.loads(pickle.dumps(fitted))
    assert unpickled.client is None
    assert saved(unpickled) == saved(RandomBoostClassifier(**SMALL).fit(*task))


def wrong(X, y, weight):
    """Return arguments of `fit` that do not fit, and what the message says of them."""
    frame = dd.from_pandas(pd.DataFrame(X), npartitions=3)
    labels = pd.Series(y, index=np.arange(len(y)) + 1)
    other = dd.from_map(
        lambda kind: pd.DataFrame({"x": np.array([kind] * 4, dtype=object), "z": range(4)}),
        ["a", 1.5],
        meta=pd.DataFrame({"x": pd.Series(dtype=object), "z": pd.Series(dtype=int)}),
    )
    few = divided(np.arange(8) % 2, 2)
    return {
        "an array": ((X, divided(y, 2)), TypeError, "from_array"),
        "labels in memory": ((divided(X, 2), y), TypeError, "y is of type ndarray"),
        "columns in chunks": (
            (da.from_array(X, chunks=(300, 2)), divided(y, 4)),
            ValueError,
            r"rechunk\(\{1: -1\}\)",
        ),
        "other partitions": ((divided(X, 3), divided(y, 4)), ValueError, "y has 4 partitions"),
        "other chunks": ((divided(X, 3), divided(y, 3, seed=1)), ValueError, "of other sizes"),
        "other divisions": (
            (frame, dd.from_pandas(labels, npartitions=3)),
            ValueError,
            "repartition",
        ),
        "unknown sizes": (
            (frame.to_dask_array(), divided(y, 3, seed=1)),
            ValueError,
            "a partition of X has",
        ),
        "weights": (
            (divided(X, 3), divided(y, 3), divided(weight, 2)),
            ValueError,
            "sample_weight has 2 partitions",
        ),
        "negative weights": (
            (divided(X, 3), divided(y, 3), divided(-weight, 3)),
            ValueError,
            "weights are >= 0",
        ),
        "one class": ((divided(X, 3), divided(0 * y, 3)), ValueError, "one class only"),
        "one dimension": ((divided(y, 3), divided(y, 3)), ValueError, "two dimensions"),
        "infinite": ((divided(X / 0.0, 3), divided(y, 3)), ValueError, "infinity"),
        "missing labels": (
            (frame, dd.from_pandas(pd.Series(y, dtype="Int64").where(y > 0), npartitions=3)),
            ValueError,
            "y has missing labels",
        ),
        "text and numbers": ((other, few.rechunk(4)), ValueError, "give it one type"),
    }


def test_wrong_use(client, task):
    with (
        np.errstate(divide="ignore", invalid="ignore"),
        dask.config.set({"dataframe.convert-string": False}),
    ):
        cases = wrong(*task)
    for name, (arguments, kind, message) in cases.items():
        model = DaskRandomBoostClassifier(**SMALL)
        with pytest.raises(kind, match=message):
            model.fit(*arguments)
        assert not hasattr(model, "model_"), name


def test_wrong_use_of_a_fitted_model(client, fitted, task):
    with pytest.raises(TypeError, match="to_local"):
        fitted.predict(task[0])
    with pytest.raises(TypeError, match="to_local"):
        fitted.decision_function(task[0])
    with pytest.raises(ValueError, match="to_local"):
        fitted.predict_proba(divided(task[0], 2), sparse_output=True)


def test_no_client(task, monkeypatch):
    from randomboost.dask import source

    def nothing():
        raise ValueError("No global client found")

    monkeypatch.setattr(source, "get_client", nothing)
    with pytest.raises(ValueError, match="there is no Dask client: make one first"):
        DaskRandomBoostClassifier(**SMALL).fit(*(divided(each, 4) for each in task))


def test_parameters_are_those_of_the_classifier_on_one_machine():
    both = defaults_of(RandomBoostClassifier)
    assert defaults_of(DaskRandomBoostClassifier) == {**both, "client": None, "out_of_core": False}
